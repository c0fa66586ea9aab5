"""Bad input: every mistake has its own message, which names the file and the remedy."""

import sys

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import (
    HEAVY,
    peptide_topology,
    peptide_trajectory,
    peptide_xyz,
    residue_topology,
)

import mdfuzzy as mf

# Readers of mdtraj that fail leave their file open.
from mdfuzzy.frames import _formats, _truncation, _xtc

# Readers of mdtraj that fail leave their file open.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NO_NETCDF4 = pytest.mark.filterwarnings("ignore:Warning. The 'netCDF4' Python package")
FORMATS = ["xtc", "trr", "dcd", "nc", "h5", "pdb", "gro", "lammpstrj", "xyz"]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(_formats, "_CHUNK_FRAMES", 7)


def save(trajectory, path):
    trajectory.save(str(path))
    return path


@pytest.fixture
def xtc(tmp_path):
    return save(peptide_trajectory(12), tmp_path / "a.xtc")


def load(path, **options):
    return mf.load(path, **{"top": peptide_topology(), **options})


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])
    return path


# ------------------------------------------------------------------------------------------------ files


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"`paths` must be an existing file; got '.*none\.xtc'"):
        load(tmp_path / "none.xtc")
    with pytest.raises(FileNotFoundError, match=r"pattern '.*none\*\.xtc', which matches none"):
        load(tmp_path / "none*.xtc")
    with pytest.raises(FileNotFoundError, match=r"`top` must be an existing file; got '.*none\.pdb'"):
        load(save(peptide_trajectory(2), tmp_path / "a.xtc"), top=tmp_path / "none.pdb")


@pytest.mark.parametrize("extension", FORMATS)
def test_empty_file(tmp_path, extension):
    path = tmp_path / f"a.{extension}"
    path.touch()
    with pytest.raises(ValueError, match=rf"a\.{extension}' is empty \(0 bytes\): 0 frames could be read"):
        load(path)


@NO_NETCDF4
@pytest.mark.parametrize("extension", FORMATS)
def test_file_that_is_no_trajectory(tmp_path, extension):
    path = tmp_path / f"a.{extension}"
    path.write_text("this is no trajectory\n" * 50)
    with pytest.raises(ValueError, match=rf"a\.{extension}' is truncated or corrupt: 0 frames could be read"):
        load(path)


@NO_NETCDF4
@pytest.mark.parametrize("extension", ["xtc", "trr", "dcd", "nc", "pdb", "gro", "lammpstrj", "xyz", "pdb.gz"])
def test_truncated_file(tmp_path, extension):
    """The file of 12 frames ends within frame 10."""
    trajectory = peptide_trajectory(12)
    whole = save(trajectory, tmp_path / f"whole.{extension}")
    if extension == "pdb.gz":
        path = cut(whole, int(0.7 * whole.stat().st_size))
        readable = r"\d+"
    else:
        short = save(trajectory[:11], tmp_path / f"short.{extension}").stat().st_size
        frame = whole.stat().st_size - short
        path = cut(whole, short - frame // 3)
        readable = 10
    with pytest.raises(
        ValueError, match=rf"whole\.{extension}' is truncated or corrupt: {readable} frames? could be read"
    ):
        load(path)


@pytest.mark.parametrize("extension", ["xtc", "trr"])
def test_rest_of_less_than_a_word(tmp_path, extension):
    """Up to three bytes of a next frame are taken for the end of the file by mdtraj."""
    trajectory = peptide_trajectory(12)
    size = save(trajectory[:11], tmp_path / f"short.{extension}").stat().st_size
    path = cut(save(trajectory, tmp_path / f"a.{extension}"), size + 3)
    with pytest.raises(ValueError, match=r"11 frames could be read, then the file ends too early"):
        load(path)


def test_truncated_hdf5(tmp_path):
    path = save(peptide_trajectory(12), tmp_path / "a.h5")
    with pytest.raises(ValueError, match=r"a\.h5' is truncated or corrupt: 0 frames could be read"):
        load(cut(path, path.stat().st_size // 2))


@pytest.mark.parametrize("extension", ["xtc", "trr", "dcd"])
def test_corrupt_file(tmp_path, extension):
    """All after frame 5 is overwritten with zeros."""
    trajectory = peptide_trajectory(13)
    path = save(trajectory, tmp_path / f"a.{extension}")
    good = save(trajectory[:6], tmp_path / f"short.{extension}").stat().st_size
    data = path.read_bytes()
    path.write_bytes(data[:good] + bytes(len(data) - good))
    with pytest.raises(ValueError, match=rf"a\.{extension}' is truncated or corrupt: 6 frames could be read"):
        load(path)


@NO_NETCDF4
def test_netcdf_header_is_read_right(tmp_path):
    for box in (True, False):
        path = save(peptide_trajectory(12, box=box), tmp_path / "a.nc")
        assert _truncation.netcdf_frames(str(path)) == (12, 12, None)
        size = path.stat().st_size
        frame = 12 * 12 + 4 + 48 * box  # coordinates, time, and the box as six doubles
        for less, whole in ((1, 11), (2 * frame, 10), (2 * frame + 1, 9)):
            claimed, present, problem = _truncation.netcdf_frames(str(cut(path, size - less)))
            assert (claimed, present) == (12, whole)
            assert str(problem) == "then the file ends too early"
    hdf5 = save(peptide_trajectory(12), tmp_path / "a.h5")
    assert _truncation.netcdf_frames(str(hdf5)) == (0, 0, None)


@NO_NETCDF4
@pytest.mark.parametrize("extra", [b"\0\0\0\0", b"frame" * 40])
def test_netcdf_that_is_longer_than_its_header_says(tmp_path, extra):
    path = save(peptide_trajectory(12), tmp_path / "a.nc")
    path.write_bytes(path.read_bytes() + extra)
    with pytest.raises(ValueError, match=rf"a\.nc' is truncated or corrupt: 12 .* {len(extra)} bytes longer"):
        load(path)


@NO_NETCDF4
def test_netcdf_with_a_damaged_header(tmp_path):
    path = save(peptide_trajectory(12), tmp_path / "a.nc")
    data = bytearray(path.read_bytes())
    data[8:20] = b"\xff" * 12
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.nc' is truncated or corrupt: 0 .* its header is damaged"):
        load(path)


def test_dcd_header_of_either_byte_order(tmp_path):
    path = tmp_path / "a.dcd"
    for order in ("<", ">"):
        for marker in ("i4", "i8"):
            path.write_bytes(
                np.array(84, order + marker).tobytes() + b"CORD" + np.array(77, order + "i4").tobytes()
            )
            assert _truncation.dcd_frames(str(path)) == 77
    path.write_bytes(b"nothing of the kind")
    assert _truncation.dcd_frames(str(path)) == 0


def test_file_without_frames(tmp_path):
    path = tmp_path / "a.xyz"
    path.write_text("\n")
    with pytest.raises(ValueError, match="0 frames could be read"):
        load(path)


def test_objects_without_frames():
    with pytest.raises(
        ValueError, match=r"trajectory 1 \(an array\) holds no frames: 0 frames could be read"
    ):
        mf.load([peptide_xyz(2), np.empty((0, 12, 3))])
    with pytest.raises(ValueError, match=r"trajectory 0 \(an md\.Trajectory\) holds no frames"):
        mf.load(md.Trajectory(np.empty((0, 12, 3)), peptide_topology()))


def test_unknown_extension(tmp_path, xtc):
    path = tmp_path / "a.txt"
    path.write_text("text")
    with pytest.raises(
        ValueError, match=r"`paths` must have an extension that mdtraj reads; .*'\.txt'.*\.xtc"
    ):
        load(path)
    with pytest.raises(ValueError, match=r"`top` must have an extension that mdtraj reads; .*'\.txt'.*\.pdb"):
        load(xtc, top=path)


def test_hdf5_without_tables_names_the_extra(tmp_path, monkeypatch):
    path = save(peptide_trajectory(3), tmp_path / "a.h5")
    monkeypatch.setitem(sys.modules, "tables", None)
    with pytest.raises(
        ImportError, match=r"a\.h5' needs the package `tables`: pip install 'mdfuzzy\[hdf5\]'"
    ):
        mf.load(path)
    with pytest.raises(ImportError, match=r"mdfuzzy\[hdf5\]"):
        mf.load(save(peptide_trajectory(3), tmp_path / "a.xtc"), top=path)


# --------------------------------------------------------------------------------------------- topology


@pytest.mark.parametrize("extension", ["xtc", "dcd", "lammpstrj"])
def test_topology_missing(tmp_path, extension):
    path = save(peptide_trajectory(3), tmp_path / f"a.{extension}")
    with pytest.raises(ValueError, match=rf"`top` must be given for the format of '.*a\.{extension}'"):
        mf.load(path)


def test_topology_of_a_wrong_type_or_content(tmp_path, xtc):
    with pytest.raises(
        TypeError, match=r"`top` must be a path, an md\.Topology or an md\.Trajectory; got int"
    ):
        load(xtc, top=3)
    path = tmp_path / "bad.pdb"
    path.write_text("REMARK nothing\n")
    with pytest.raises(ValueError, match=r"The topology in '.*bad\.pdb' (could not be read|has no atoms)"):
        load(xtc, top=path)
    path = tmp_path / "bad.prmtop"
    path.write_text("%VERSION\n")
    with pytest.raises(ValueError, match=r"The topology in '.*bad\.prmtop' (could not be read|has no atoms)"):
        load(xtc, top=path)


@NO_NETCDF4
@pytest.mark.parametrize("extension", FORMATS)
def test_topology_with_another_number_of_atoms(tmp_path, extension):
    path = save(peptide_trajectory(3), tmp_path / f"a.{extension}")
    message = rf"`top` must have the atoms of every trajectory; got 15 atoms, but '.*a\.{extension}' has 12"
    with pytest.raises(ValueError, match=message):
        load(path, top=peptide_topology(waters=1))


def test_atoms_differing_between_files(tmp_path, xtc):
    one = save(peptide_trajectory(3), tmp_path / "one.pdb")
    fewer = save(peptide_trajectory(3).atom_slice(HEAVY), tmp_path / "fewer.pdb")
    with pytest.raises(
        ValueError, match=r"same atoms; got '.*one\.pdb' and '.*fewer\.pdb' with 12 and 10 atoms"
    ):
        mf.load([one, fewer])
    other = peptide_trajectory(3)
    other.topology.atom(5).name = "CX"
    other = save(other, tmp_path / "other.pdb")
    with pytest.raises(ValueError, match=r"with ALA-CA and ALA-CX as atom 5"):
        mf.load([one, other])
    assert len(load([one, other])) == 6, "a given topology settles the names"
    with pytest.raises(ValueError, match=r"got 12 atoms, but '.*short\.xtc' has 10"):
        load([xtc, save(peptide_trajectory(3).atom_slice(HEAVY), tmp_path / "short.xtc")])


def test_atoms_differing_between_objects():
    with pytest.raises(
        ValueError,
        match=r"got trajectory 0 \(an md\.Trajectory\) and trajectory 1 \(an md\.Trajectory\) with 12 and 10",
    ):
        mf.load([peptide_trajectory(2), peptide_trajectory(2).atom_slice(HEAVY)])
    with pytest.raises(ValueError, match=r"got trajectory 1 \(an array\) with 10 atoms instead of 12"):
        mf.load([peptide_xyz(2), peptide_xyz(2)[:, :10]])
    with pytest.raises(ValueError, match=r"got trajectory 0 \(an array\) with 12 atoms instead of 15"):
        mf.load(peptide_xyz(2), top=peptide_topology(waters=1))


# -------------------------------------------------------------------------------------------- selection


@pytest.mark.parametrize("atoms", ["name CA and", "nonsense", "CA CB", ""])
def test_invalid_selection(xtc, atoms):
    with pytest.raises(ValueError, match=r"`atoms` must be a selection in the language of mdtraj"):
        load(xtc, atoms=atoms)


def test_selection_that_matches_nothing(xtc):
    with pytest.raises(
        ValueError, match=r"`atoms` must select at least 3 atoms; 'name ZZ' matches none of 12"
    ):
        load(xtc, atoms="name ZZ")
    with pytest.raises(ValueError, match=r"chosen by index matches none of 12"):
        load(xtc, atoms=[])
    water = md.Topology()
    chain = water.add_chain()
    for _ in range(4):
        water.add_atom("O", md.element.oxygen, water.add_residue("HOH", chain))
    with pytest.raises(
        ValueError, match=r"heavy atoms of the solute matches none of 4\. The topology may hold"
    ):
        mf.load(np.random.default_rng(0).random((2, 4, 3)), top=water)


def test_selection_of_fewer_than_three_atoms(xtc):
    with pytest.raises(
        ValueError, match=r"at least 3 atoms, or a rotation is not determined; 'name CA CB' matches 2"
    ):
        load(xtc, atoms="name CA CB")
    with pytest.raises(ValueError, match=r"at least 3 atoms, or a rotation is not determined; got 2 of 12"):
        mf.load(peptide_xyz(2), atoms=[0, 1])


def test_atom_indices(xtc):
    with pytest.raises(
        TypeError, match=r"one-dimensional array of atom indices; .*For a mask, pass np.flatnonzero"
    ):
        load(xtc, atoms=np.ones(12, bool))
    with pytest.raises(TypeError, match=r"shape \(1, 3\)"):
        load(xtc, atoms=[[0, 1, 2]])
    with pytest.raises(ValueError, match=r"indices in \[0, 11\]; got 12\. There are 12 atoms"):
        load(xtc, atoms=[0, 1, 12])
    with pytest.raises(ValueError, match=r"indices in \[0, 11\]; got -1"):
        load(xtc, atoms=[0, 1, -1])
    with pytest.raises(ValueError, match=r"each atom once"):
        load(xtc, atoms=[0, 1, 1, 2])
    with pytest.raises(ValueError, match=r"`atoms` must be indices if there is no topology; got 'name CA'"):
        mf.load(peptide_xyz(2), atoms="name CA")


def test_collinear_atoms(tmp_path):
    line = np.arange(5)[:, None] * np.array([0.1, 0.2, -0.05]) + np.zeros((10, 1, 1))
    with pytest.raises(ValueError, match=r"not all on one line.* are collinear in all 10 frames"):
        mf.load(line)
    line[9, 2, 0] += 0.03  # one frame is enough
    assert len(mf.load(line)) == 10


# -------------------------------------------------------------------------------------------- coordinates


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("box", [True, False])
@pytest.mark.parametrize("extension", ["trr", "dcd", "h5"])
def test_coordinates_that_are_not_finite(tmp_path, extension, bad, box):
    trajectory = peptide_trajectory(20, box=box)
    trajectory.xyz[16, 5, 1] = bad
    path = save(trajectory, tmp_path / f"a.{extension}")
    for stride in (1, 2, 4):
        with pytest.raises(
            ValueError, match=rf"'.*a\.{extension}' has NaN or infinite ones in frame 16 \(counted"
        ):
            load(path, stride=stride)
    assert len(load(path, stride=3)) == 7


def test_first_frame_of_a_restart_that_is_not_finite():
    xyz = peptide_xyz(5)
    xyz[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinite ones in frame 0"):
        mf.load([[peptide_xyz(4), xyz]])


def test_reader_that_lacks_a_package_or_memory_is_no_damage(tmp_path, xtc, monkeypatch):
    for kind in (ImportError, MemoryError):

        def fail(*_, kind=kind, **__):
            raise kind("of the reader")

        monkeypatch.setattr(_xtc, "chunks", fail)
        with pytest.raises(kind, match="of the reader") as caught:
            load(xtc)
        if kind is MemoryError:
            assert f"not enough memory to read {str(xtc)!r}" in str(caught.value)


def test_array_that_is_not_finite():
    xyz = peptide_xyz(5)
    xyz[3, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"trajectory 1 \(an array\) has NaN or infinite ones in frame 3"):
        mf.load([peptide_xyz(4), xyz])


# ---------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("stride", [0, -1])
def test_stride_below_one(xtc, stride):
    with pytest.raises(
        ValueError, match=rf"`stride` must be an int of at least 1; got {stride}\. 1 loads every"
    ):
        load(xtc, stride=stride)


def test_stride_of_a_wrong_type(xtc):
    with pytest.raises(TypeError, match=r"`stride` must be an int of at least 1; got 1\.5"):
        load(xtc, stride=1.5)


def test_timestep(xtc):
    with pytest.raises(
        ValueError, match=r"`timestep` must be a finite number > 0; got 0\.0\. It is the time"
    ):
        load(xtc, timestep=0.0)


def test_whole_where_it_cannot_be(tmp_path):
    path = save(peptide_trajectory(3, box=False), tmp_path / "a.xtc")
    with pytest.raises(
        ValueError, match=r"`whole` must not be True for frames without a periodic box; '.*a\.xtc'"
    ):
        load(path, whole=True)
    topology = peptide_topology()
    topology._bonds.clear()
    with pytest.raises(ValueError, match=r"`whole` must not be True if the topology has no bonds"):
        load(path, top=topology, whole=True)
    with pytest.raises(ValueError, match=r"`whole` must not be True for arrays"):
        mf.load(peptide_xyz(3), whole=True)
    with pytest.raises(TypeError, match=r"`whole` must be True, False or None; got 'yes'"):
        load(path, whole="yes")
    with pytest.raises(TypeError, match=r"`progress` must be True, False or None; got 7"):
        load(path, progress=7)


def test_box_without_bonds_warns(xtc):
    topology = peptide_topology()
    topology._bonds.clear()
    with pytest.warns(UserWarning, match=r"periodic box but the topology has no bonds"):
        load(xtc, top=topology)
    assert not load(xtc, top=topology, whole=False).whole


def test_paths_of_a_wrong_kind():
    with pytest.raises(TypeError, match=r"`paths` must be a path, an md\.Trajectory, .*; got int"):
        mf.load(3)
    with pytest.raises(ValueError, match=r"`paths` must name at least one file or object"):
        mf.load([])
    with pytest.raises(ValueError, match=r"`paths` must name at least one file or object"):
        mf.load([[]])
    with pytest.raises(ValueError, match=r"shape \(frames, atoms, 3\).*got shape \(5, 2\).*`Features`"):
        mf.load(np.zeros((5, 2)))


def test_lengths():
    for lengths in ([4, 5], [10, 0], [], [[10]], [5.0, 5.0]):
        with pytest.raises(
            ValueError, match=r"`lengths` must be positive ints that sum to the number of frames, 10"
        ):
            mf.load(peptide_xyz(10), lengths=lengths)
    with pytest.raises(TypeError, match=r"`lengths` is for one array; `paths` is list"):
        mf.load([peptide_xyz(10)], lengths=[10])


# ----------------------------------------------------------------------------------------------- warnings


def test_several_molecules_warn():
    topology = peptide_topology(copies=2)
    xyz = np.concatenate([peptide_xyz(3), peptide_xyz(3, seed=1)], axis=1)
    with pytest.warns(UserWarning, match=r"belong to 2 molecules, so RMSD sees their relative position"):
        mf.load(xyz, top=topology)
    topology._bonds.clear()
    with pytest.warns(UserWarning, match=r"belong to 2 chains"):
        mf.load(xyz, top=topology)
    assert mf.load(xyz, top=topology, atoms="chainid 0 and not element H").n_atoms == 10


@pytest.mark.parametrize("residue", ["PHE", "TYR", "ASP", "GLU", "ARG"])
def test_symmetry_equivalent_atoms_warn_and_the_named_selection_avoids_it(residue):
    topology = residue_topology(["ALA", residue, "SER"])
    topology._bonds.clear()
    topology.create_standard_bonds()
    xyz = np.random.default_rng(0).random((2, topology.n_atoms, 3))
    xyz[:, :, 2] = 0  # flat
    with pytest.warns(
        UserWarning, match=rf"equivalent atoms of .*{residue}, .*'backbone or name CB' avoid it"
    ):
        mf.load(xyz, top=topology)
    assert mf.load(xyz, top=topology, atoms="backbone or name CB").n_atoms == 15


def test_pieces_that_overlap_in_time_warn(tmp_path):
    trajectory = peptide_trajectory(12)
    first, second = save(trajectory[:8], tmp_path / "a.xtc"), save(trajectory[5:], tmp_path / "b.xtc")
    with pytest.warns(UserWarning, match=r"b\.xtc' starts at 22\.5 ps, before the end of .* at 27\.5 ps"):
        frames = load([[first, second]])
    assert len(frames) == 15


def test_residues_without_symmetry_do_not_warn():
    topology = residue_topology(["ALA", "SER"])
    assert len(mf.load(np.random.default_rng(0).random((2, topology.n_atoms, 3)), top=topology)) == 2


def test_equivalent_hydrogens_warn():
    topology = peptide_topology()
    for _ in range(3):
        hydrogen = topology.add_atom("HX", md.element.hydrogen, topology.residue(2))
        topology.add_bond(topology.atom(11), hydrogen)
    xyz = np.random.default_rng(0).random((2, 15, 3))
    with pytest.warns(UserWarning, match=r"symmetry-equivalent hydrogens"):
        mf.load(xyz, top=topology, atoms="all")
    assert mf.load(xyz, top=topology).n_atoms == 10
    assert mf.load(xyz[:, :12], top=peptide_topology(), atoms="all").n_atoms == 12


# --------------------------------------------------------------------------------------- Frames, Features


def test_frames_arguments():
    frames = mf.load(peptide_trajectory(4))
    with pytest.raises(ValueError, match=r"`values` must have one row per frame; got shape \(3,\).*4 frames"):
        frames.split([1, 2, 3])
    with pytest.raises(IndexError, match=r"`indices` must be in \[0, 3\]; got 4"):
        frames.locate(4)
    with pytest.raises(IndexError, match=r"`indices` must be in \[0, 3\]; got -1"):
        frames.trajectory([0, -1])
    with pytest.raises(TypeError, match=r"`indices` must be frame numbers; .*np.flatnonzero"):
        frames.trajectory(np.ones(4, bool))
    with pytest.raises(ValueError, match=r"`indices` must be a list of at least one frame"):
        frames.trajectory([])
    with pytest.raises(ValueError, match=r"`atoms` must be one of 'loaded', 'all'; got 'heavy'"):
        frames.trajectory([0], atoms="heavy")
    with pytest.raises(ValueError, match=r"no topology, because they come from arrays"):
        mf.load(peptide_xyz(3)).trajectory([0])
    with pytest.raises(ValueError, match=r"no sources to read them from again"):
        mf.Frames(frames.xyz, [4], topology=frames.topology).trajectory([0], atoms="all")


def test_frames_constructor():
    xyz = mf.load(peptide_xyz(4)).xyz
    with pytest.raises(ValueError, match=r"`xyz` must have shape \(frames, atoms, 3\); got \(4, 12\)"):
        mf.Frames(xyz[:, :, 0], [4])
    with pytest.raises(ValueError, match=r"`xyz` must be finite and centred"):
        mf.Frames(xyz + 1, [4])
    with pytest.raises(ValueError, match=r"`xyz` must be finite and centred"):
        mf.Frames(np.full_like(xyz, np.nan), [4])
    with pytest.raises(ValueError, match=r"`lengths` must be positive and sum to the number of frames, 4"):
        mf.Frames(xyz, [3])
    with pytest.raises(ValueError, match=r"`times` must have shape \(4,\); got \(3,\)"):
        mf.Frames(xyz, [4], times=[0, 1, 2])
    with pytest.raises(ValueError, match=r"`phi` must have shape \(4, 1\); got \(4, 2\)"):
        mf.Frames(xyz, [4], phi=np.zeros((4, 2)), residues=("ALA1",))
    with pytest.raises(ValueError, match=r"`topology` must have the atoms of `xyz`, 12; got 15"):
        mf.Frames(xyz, [4], topology=peptide_topology(waters=1))


def test_features():
    arrays = [np.arange(6.0).reshape(3, 2), np.array([[179.0, 1.0], [-179.0, 2.0]])]
    features = mf.Features(arrays, periodic=[0])
    assert features.lengths.tolist() == [3, 2]
    np.testing.assert_array_equal(features.values, np.concatenate(arrays))
    assert [len(part) for part in features.split(features.values)] == [3, 2]
    assert features.locate(4) == (1, 1)
    embedded = features.embedded
    assert embedded.shape == (5, 3)
    np.testing.assert_array_equal(embedded[:, 0], features.values[:, 1])
    chord = np.linalg.norm(embedded[3, 1:] - embedded[4, 1:])
    np.testing.assert_allclose(chord, 2.0, rtol=1e-4)  # 2 degrees apart, across the end of the period
    radians = mf.Features(np.radians(arrays[1][:, :1]), periodic=[0], period=2 * np.pi)
    np.testing.assert_allclose(np.linalg.norm(radians.embedded, axis=1), 1.0, rtol=1e-12)
    assert repr(mf.Features(arrays[0])) == "Features(3 vectors of 2 in 1 trajectory)"
    np.testing.assert_array_equal(mf.Features(arrays[0]).embedded, arrays[0])


def test_features_bad_input():
    with pytest.raises(ValueError, match=r"same number of features; got shapes \[\(3, 2\), \(3, 1\)\]"):
        mf.Features([np.zeros((3, 2)), np.zeros((3, 1))])
    with pytest.raises(ValueError, match=r"For one feature pass array\[:, None\]"):
        mf.Features([np.zeros(3)])
    with pytest.raises(ValueError, match=r"none empty"):
        mf.Features([])
    with pytest.raises(ValueError, match=r"`arrays` must be finite; got nan at index \(1, 0\)"):
        mf.Features(np.array([[0.0], [np.nan]]))
    with pytest.raises(ValueError, match=r"`periodic` must be different columns in \[0, 1\]; got \[2\]"):
        mf.Features(np.zeros((3, 2)), periodic=[2])
    with pytest.raises(ValueError, match=r"`period` must be a finite number > 0"):
        mf.Features(np.zeros((3, 2)), periodic=[1], period=0.0)
    with pytest.raises(AttributeError, match=r"`Features` cannot be changed; tried to set 'times'"):
        mf.Features(np.zeros((3, 2))).times = 3.0


@pytest.mark.parametrize("columns", [[0.5], [True], ["phi"]])
def test_periodic_columns_that_are_no_numbers_of_columns(columns):
    with pytest.raises(ValueError, match=r"`periodic` must be different columns in \[0, 1\]; got"):
        mf.Features(np.zeros((3, 2)), periodic=columns)


def test_a_period_of_no_column():
    with pytest.raises(ValueError, match=r"`period` must be left out .*; got 6\.28"):
        mf.Features(np.zeros((3, 2)), period=6.28)


def test_masked_entries():
    values = np.ma.masked_greater(np.arange(6.0).reshape(3, 2), 4)
    with pytest.raises(ValueError, match=r"`arrays` must not have masked entries; got 1 of them\. Leave"):
        mf.Features([values])
    assert len(mf.Features(np.ma.array(np.zeros((3, 2))))) == 3, "none is masked"
    with pytest.raises(ValueError, match=r"`paths` must not have masked entries; got \d+ of them"):
        mf.load(np.ma.masked_less(peptide_xyz(3), 0.9))

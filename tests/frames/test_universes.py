"""Universes and atom groups of MDAnalysis: the same frames as through mdtraj, and the universe left alone."""

import subprocess
import sys
from pathlib import Path

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import HEAVY, N_ATOMS, centred, peptide_topology, peptide_trajectory, peptide_xyz

import mdfuzzy as mf
from mdfuzzy.frames import _formats
from mdfuzzy.frames._mdanalysis import open_universes
from mdfuzzy.frames._mdanalysis_topology import universe_topology

mda = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed: pip install '.[mdanalysis]'")

#: MDAnalysis multiplies the nm of GROMACS files by ten in float32, mdfuzzy divides again: two roundings of
#: half a unit in the last place of a coordinate of at most 4 nm, and the same of the centroid.
ROUNDING = 4 * np.spacing(np.float32(4.0))
HEAVY_NAMES = "not name H HA"

pytestmark = [
    # What MDAnalysis says about the small files that are made here.
    pytest.mark.filterwarnings("ignore:.*(missing|guess|Unit cell|No coordinate reader|dt information)"),
    pytest.mark.filterwarnings("ignore:1 A\\^3 CRYST1"),
]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    """Read in chunks of seven frames, so that every test crosses the ends of chunks."""
    monkeypatch.setattr(_formats, "_CHUNK_FRAMES", 7)


@pytest.fixture
def top(tmp_path):
    path = tmp_path / "top.pdb"
    peptide_trajectory(1).save(path)
    return path


def save(trajectory, path):
    trajectory.save(str(path))
    return path


def universe_of(trajectory, **options):
    """Return a universe in memory with the atoms, bonds, times and boxes of an `md.Trajectory`."""
    atoms = list(trajectory.topology.atoms)
    residues = list(trajectory.topology.residues)
    universe = mda.Universe.empty(
        len(atoms),
        n_residues=len(residues),
        n_segments=trajectory.topology.n_chains,
        atom_resindex=[atom.residue.index for atom in atoms],
        residue_segindex=[residue.chain.index for residue in residues],
        trajectory=True,
    )
    universe.add_TopologyAttr("names", [atom.name for atom in atoms])
    universe.add_TopologyAttr("elements", [atom.element.symbol for atom in atoms])
    universe.add_TopologyAttr("resnames", [residue.name for residue in residues])
    universe.add_TopologyAttr("bonds", [(a.index, b.index) for a, b in trajectory.topology.bonds])
    box = None
    if trajectory.unitcell_lengths is not None:
        box = np.column_stack([10 * trajectory.unitcell_lengths, trajectory.unitcell_angles])
    return universe.load_new(10 * trajectory.xyz, dimensions=box, dt=2.5, **options)


def assert_same(frames, expected, atol=ROUNDING):
    """The same frames through both libraries."""
    assert frames.xyz.dtype == np.float32
    np.testing.assert_allclose(frames.xyz, expected.xyz, rtol=0, atol=atol)
    assert frames.lengths.tolist() == expected.lengths.tolist()
    assert frames.atoms.tolist() == expected.atoms.tolist()
    assert frames.topology == expected.topology
    assert frames.residues == expected.residues
    assert frames.whole == expected.whole
    np.testing.assert_allclose(frames.phi, expected.phi, rtol=0, atol=1e-3)
    np.testing.assert_allclose(frames.psi, expected.psi, rtol=0, atol=1e-3)


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("extension", ["xtc", "trr", "dcd", "nc", "pdb"])
@pytest.mark.filterwarnings("ignore:Warning. The 'netCDF4' Python package")
def test_the_same_frames_through_both_libraries(tmp_path, top, extension, stride):
    # MDAnalysis reads no box from a PDB file with several models, above which it stands once.
    path = save(peptide_trajectory(23, box=extension != "pdb"), tmp_path / f"run.{extension}")
    universe = mda.Universe(top, path)
    assert universe.trajectory[5].frame == 5
    frames = mf.load(universe, stride=stride)
    assert_same(frames, mf.load(path, top=top, stride=stride))
    if extension in ("xtc", "trr", "nc"):
        np.testing.assert_allclose(frames.times, 10 + 2.5 * np.arange(0, 23, stride), rtol=1e-6)
    assert (frames.times is None) == (extension == "pdb")  # MDAnalysis reads the step in a DCD file
    assert universe.trajectory.frame == 5


@pytest.fixture(scope="module")
def universe_result(copied_peptide):
    """The bundled trajectories through MDAnalysis, clustered as `peptide_result` is through mdtraj."""
    files = [copied_peptide / "ala2_00.xtc", copied_peptide / "ala2_03.xtc"]
    frames = mf.load([mda.Universe(copied_peptide / "ala2.pdb", file) for file in files], stride=5)
    return mf.cluster(frames, mf.Settings(n_jobs=1))


def test_the_bundled_files_give_the_same_states(universe_result, peptide_result):
    found, known = universe_result, peptide_result
    assert_same(found.data, known.data, atol=5e-8)
    assert found.data.times.tolist() == known.data.times.tolist()
    assert found.n_states == 5
    np.testing.assert_array_equal(found.labels, known.labels)
    np.testing.assert_array_equal(found.cores.core_of, known.cores.core_of)
    np.testing.assert_allclose(found.memberships.values, known.memberships.values, rtol=0, atol=1e-6)


def test_structures_are_those_of_files(universe_result, peptide_result, tmp_path):
    written = []
    for number, result in enumerate((universe_result, peptide_result)):
        place = mf.exports.write_structures(tmp_path / str(number), result, n=2)
        written.append({path.name: md.load(path).xyz for path in sorted(place.rglob("*.pdb"))})
    assert written[0].keys() == written[1].keys()
    assert len(written[0]) > 5
    for name, xyz in written[0].items():
        np.testing.assert_allclose(written[1][name], xyz, rtol=0, atol=1.01e-4)  # of the PDB format


def test_a_universe_in_memory(top, tmp_path):
    path = save(peptide_trajectory(23), tmp_path / "run.xtc")
    universe = mda.Universe(top, path, in_memory=True)
    before = universe.trajectory.get_array().copy()
    assert_same(mf.load(universe), mf.load(path, top=top))
    np.testing.assert_array_equal(universe.trajectory.get_array(), before)


def test_an_atom_group_is_the_selection(top, tmp_path):
    path = save(peptide_trajectory(23), tmp_path / "run.xtc")
    group = mda.Universe(top, path).select_atoms("name CH3 CB or (resname NME and name C)")
    frames = mf.load(group)
    assert_same(frames, mf.load(path, top=top, atoms=group.indices))
    assert frames.residues == ("ALA1",)  # from the atoms that were not selected
    assert frames.selection == "the AtomGroup (3 of 12 atoms)"
    assert_same(mf.load(group[::-1]), frames, atol=0)  # in the order of the universe
    assert_same(mf.load(group.universe, atoms="name CH3 CB or (resname NME and name C)"), frames, atol=0)
    assert mf.load(group.universe.residues[1:2]).n_atoms == 7  # other groups have atoms, too


def test_lists_keep_the_boundaries(top, tmp_path):
    paths = [save(peptide_trajectory(9 + i, seed=i), tmp_path / f"{i}.xtc") for i in range(3)]
    universes = [mda.Universe(top, path) for path in paths]
    frames = mf.load([universe.select_atoms(HEAVY_NAMES) for universe in universes])
    assert_same(frames, mf.load(paths, top=top, atoms=HEAVY))
    assert frames.lengths.tolist() == [9, 10, 11]


@pytest.mark.parametrize("stride", [1, 4])
def test_a_list_in_the_list_holds_the_pieces_of_one(top, tmp_path, stride):
    whole = peptide_trajectory(20)
    parts = [save(whole[:12], tmp_path / "a.xtc"), save(whole[11:], tmp_path / "b.xtc")]
    universes = [mda.Universe(top, path) for path in parts]
    frames = mf.load([universes], stride=stride)
    assert_same(frames, mf.load([parts], top=top, stride=stride))
    np.testing.assert_allclose(frames.times, whole.time[::stride], rtol=1e-6)
    np.testing.assert_allclose(
        frames.trajectory([0, 3], atoms="all").xyz, whole.xyz[[0, 3 * stride]], atol=1e-3
    )


def test_the_files_of_a_universe_are_trajectories_unless_they_continue(top, tmp_path):
    whole = peptide_trajectory(20)
    parts = [save(whole[:12], tmp_path / "a.xtc"), save(whole[12:], tmp_path / "b.xtc")]
    universe = mda.Universe(top, [str(part) for part in parts])
    frames = mf.load(universe, stride=3)
    assert_same(frames, mf.load(parts, top=top, stride=3))
    np.testing.assert_allclose(frames.times, np.r_[whole.time[:12:3], whole.time[12::3]], rtol=1e-6)
    assert [(source.first, source.count) for source in frames.sources] == [(0, 4), (12, 3)]
    back = frames.trajectory([1, 5], atoms="all")
    np.testing.assert_allclose(back.xyz, whole.xyz[[3, 15]], rtol=0, atol=1e-3)
    continuous = mda.Universe(top, [str(part) for part in parts], continuous=True)
    assert mf.load(continuous).lengths.tolist() == [20]


@pytest.mark.parametrize("triclinic", [False, True])
def test_divided_molecules_are_made_whole(triclinic):
    whole = peptide_trajectory(16, box=False)
    vectors = np.diag([3.0, 3.0, 3.0])
    if triclinic:
        vectors = np.array([[3.0, 0, 0], [1.0, 2.8, 0], [-0.9, 0.7, 2.6]])
    shifts = np.random.default_rng(3).integers(-1, 2, (16, N_ATOMS, 3)) @ vectors
    divided = md.Trajectory(whole.xyz + shifts, whole.topology)
    divided.unitcell_vectors = np.tile(vectors, (16, 1, 1))
    universe = universe_of(divided)
    frames = mf.load(universe.atoms[[0, 7, 11]])  # which only the atoms between them hold together
    np.testing.assert_allclose(frames.xyz, centred(whole.xyz[:, [0, 7, 11]]), rtol=0, atol=5e-6)
    assert frames.whole
    assert np.ptp(mf.load(universe.atoms, whole=False).xyz, axis=1).max() > 2
    back = frames.trajectory([3], atoms="all")
    np.testing.assert_allclose(centred(back.xyz), centred(whole.xyz[[3]]), rtol=0, atol=5e-6)


# --- the topology


def bonds_of(topology):
    return {tuple(sorted((a.index, b.index))) for a, b in topology.bonds}


def test_own_bonds_are_taken_as_they_are():
    trajectory = peptide_trajectory(1, box=False)
    assert universe_topology(universe_of(trajectory)) == trajectory.topology
    assert bonds_of(universe_topology(universe_of(trajectory))) == bonds_of(trajectory.topology)


def test_missing_bonds_come_from_the_names_in_standard_residues():
    trajectory = md.Trajectory(np.zeros((1, N_ATOMS + 6, 3)), peptide_topology(waters=2))
    universe = universe_of(trajectory)  # all atoms at one place: no distance could tell
    universe.delete_bonds(universe.bonds)
    expected = peptide_topology(waters=2)
    assert bonds_of(universe_topology(universe)) == bonds_of(expected)
    universe.add_bonds([(0, 1)])  # some of them: CONECT records, for example
    assert bonds_of(universe_topology(universe)) == bonds_of(expected)


@pytest.mark.parametrize("types", [None, [f"opls_{i}" for i in range(N_ATOMS)]])
@pytest.mark.parametrize("divided", [False, True])
def test_missing_bonds_of_other_residues_come_from_distances(types, divided):
    trajectory = peptide_trajectory(1)
    if divided:
        trajectory.xyz = np.mod(trajectory.xyz + 2.2, 3.0)
    universe = universe_of(trajectory)
    universe.delete_bonds(universe.bonds)
    universe.residues.resnames = ["ACE", "LIG", "NME"]
    if types:
        universe.add_TopologyAttr("types", types)
    assert bonds_of(universe_topology(universe)) == bonds_of(peptide_topology())
    assert len(universe.bonds) == 0  # the universe is not changed


def test_elements_are_guessed_from_names_where_they_are_missing():
    universe = universe_of(md.Trajectory(np.zeros((1, N_ATOMS + 3, 3)), peptide_topology(waters=1)))
    expected = [atom.element for atom in universe_topology(universe).atoms]
    universe.del_TopologyAttr("elements")
    assert [atom.element for atom in universe_topology(universe).atoms] == expected
    assert mf.load(universe_of(peptide_trajectory(4))).atoms.tolist() == HEAVY.tolist()


def test_a_universe_without_any_names():
    universe = mda.Universe.empty(5, trajectory=True)
    universe.load_new(10 * np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32))
    frames = mf.load(universe)  # taken for beads
    assert frames.n_atoms == 5
    assert str(frames.topology.atom(0)) == "UNK1-X"


def test_atoms_of_a_residue_that_do_not_stand_together_keep_their_order():
    universe = mda.Universe.empty(6, n_residues=2, atom_resindex=[0, 0, 1, 1, 0, 1], trajectory=True)
    universe.add_TopologyAttr("names", list("ABCDEF"))
    universe.add_TopologyAttr("resnames", ["ONE", "TWO"])
    part = universe_topology(universe).subset([1, 2, 4, 5])
    assert [str(atom) for atom in part.atoms] == ["ONE1-B", "TWO2-C", "ONE1-E", "TWO2-F"]


def test_universes_with_other_water_have_the_molecule_in_common():
    systems = [peptide_topology(waters=waters) for waters in (2, 5)]
    xyz = [np.concatenate([peptide_xyz(4), np.zeros((4, top.n_atoms - N_ATOMS, 3))], 1) for top in systems]
    universes = [universe_of(md.Trajectory(x, top)) for x, top in zip(xyz, systems, strict=True)]
    frames = mf.load([universe.select_atoms("name N CA C") for universe in universes])
    assert frames.lengths.tolist() == [4, 4]
    assert frames.residues == ("ALA2",)
    np.testing.assert_array_equal(frames.xyz[:4], frames.xyz[4:])
    assert frames.trajectory([0, 5], atoms="all").n_atoms == N_ATOMS
    with pytest.raises(ValueError, match=r"must have the same atoms.*got 18 and 27 atoms"):
        mf.load(universes)


def test_equal_molecules_of_one_universe_are_trajectories():
    xyz = np.concatenate([peptide_xyz(4), peptide_xyz(4, seed=1)], axis=1)
    universe = universe_of(md.Trajectory(xyz, peptide_topology(copies=2)))
    frames = mf.load([universe.atoms[HEAVY], universe.atoms[N_ATOMS + HEAVY]])
    np.testing.assert_allclose(frames.xyz[:4], centred(peptide_xyz(4)[:, HEAVY]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(frames.xyz[4:], centred(peptide_xyz(4, seed=1)[:, HEAVY]), rtol=0, atol=1e-6)
    second = frames.trajectory([6], atoms="all")
    np.testing.assert_allclose(second.xyz, peptide_xyz(4, seed=1)[[2]], rtol=0, atol=1e-6)


# --- the universe is left alone, memory is bounded


def test_a_universe_stays_where_it_was_also_after_an_error(top, tmp_path):
    broken = peptide_trajectory(23)
    broken.xyz[15] = np.nan
    universe = mda.Universe(top, save(broken, tmp_path / "run.dcd"))
    assert universe.trajectory[20].frame == 20
    with pytest.raises(ValueError, match=r"trajectory 0 \(an MDAnalysis Universe\) has NaN .* in frame 15"):
        mf.load(universe)
    assert universe.trajectory.frame == 20
    frames = mf.load(mda.Universe(top, save(peptide_trajectory(9), tmp_path / "good.xtc")))
    frames.sources[0].data.universe.trajectory[4]
    frames.trajectory([7, 2], atoms="all")
    assert frames.sources[0].data.universe.trajectory.frame == 4


def test_transformations_of_the_universe_are_seen(top, tmp_path):
    from MDAnalysis.transformations import translate

    universe = mda.Universe(top, save(peptide_trajectory(9), tmp_path / "a.xtc"))
    universe.trajectory.add_transformations(translate([10.0, 0, 0]))
    moved = mf.load(universe).trajectory([3], atoms="all").xyz
    np.testing.assert_allclose(moved - [1.0, 0, 0], peptide_trajectory(9).xyz[[3]], rtol=0, atol=1e-3)


def test_chunks_are_of_bounded_size(top, tmp_path):
    universe = mda.Universe(top, save(peptide_trajectory(23), tmp_path / "a.xtc"))
    opened = open_universes(universe)
    sizes = [len(chunk) for chunk in opened.trajectories[0][0].chunks(opened.topology)]
    assert sizes == [7, 7, 7, 2]


MEASURE = """
import resource, sys
import MDAnalysis as mda
import mdfuzzy as mf

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

path, top = sys.argv[1:]
universe = mda.Universe(top, path)
mf.load(universe.atoms, stride=100)  # everything is imported and warm
before = peak()
frames = mf.load([universe.atoms] * 10)
print(peak() - before, frames.xyz.nbytes + frames.phi.nbytes + frames.psi.nbytes + frames.times.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
@pytest.mark.filterwarnings("ignore")
def test_peak_memory_has_no_second_copy_of_the_result(tmp_path):
    trajectory = md.Trajectory(np.tile(peptide_xyz(50), (20, 20, 1)), peptide_topology(copies=20))
    top = save(trajectory[0], tmp_path / "top.pdb")
    command = [sys.executable, "-c", MEASURE, str(save(trajectory, tmp_path / "a.dcd")), str(top)]
    root = Path(mf.__file__).parents[1]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, timeout=200)
    grown, result = map(int, run.stdout.split()[-2:])
    assert result > 28e6
    limit = 1.25 * result + 3 * _formats._CHUNK_BYTES
    assert grown < limit, f"{grown / 1e6:.1f} MB for {result / 1e6:.1f} MB"


# --- what cannot be loaded


@pytest.fixture
def universe():
    return universe_of(peptide_trajectory(12))


def test_groups_without_enough_atoms(universe):
    with pytest.raises(ValueError, match="at least 3 atoms, or a rotation is not determined; got no atoms"):
        mf.load(universe.atoms[[]])
    with pytest.raises(ValueError, match=r"at least 3 atoms.*got 2 atoms"):
        mf.load(universe.atoms[:2])
    with pytest.raises(ValueError, match=r"at least 3 atoms.*got 1 atom\."):
        mf.load([universe.atoms[:1]])


def test_groups_with_an_atom_twice(universe):
    with pytest.raises(ValueError, match=r"each atom once.*group.unique"):
        mf.load(universe.atoms[:4] + universe.atoms[:1])


def test_groups_of_other_atoms(universe):
    with pytest.raises(ValueError, match=r"same atoms, by residue and name.*got 4 and 5 atoms.*number 1"):
        mf.load([universe.atoms[:4], universe.atoms[:5]])
    with pytest.raises(ValueError, match="got ACE-O and ALA-N as atom 2"):
        mf.load([universe.atoms[:3], universe.atoms[[0, 1, 3]]])
    other = universe_of(md.Trajectory(np.zeros((2, 2 * N_ATOMS, 3)), peptide_topology(copies=2)))
    other.add_bonds([(0, N_ATOMS)])
    with pytest.raises(ValueError, match="got 12 and 24 atoms in the molecules that they are part of"):
        mf.load([universe.atoms[:5], other.atoms[:5]])


def test_groups_that_change_from_frame_to_frame(universe):
    array = universe.trajectory.get_array()
    array[:, 5:7, 0] = [[-99, 99]] * 8 + [[99, -99]] * 4  # one atom for another from frame 8 on
    assert universe.trajectory[3].frame == 3
    for selection in ("prop x < 50", "index 0:2 or (index 5 and prop x < 0)"):
        group = universe.select_atoms(selection, updating=True)
        count = len(group) - (selection != "prop x < 50")
        with pytest.raises(
            ValueError, match=rf"in every frame; .* is updating, and has {count} atoms in frame 8, not the"
        ):
            mf.load(group)
        assert universe.trajectory.frame == 3
    assert mf.load(universe.select_atoms("name N CA C", updating=True)).n_atoms == 6


def test_boxes_in_some_frames_only(universe):
    universe.trajectory.add_transformations(
        lambda frame: (
            setattr(frame, "dimensions", None if frame.frame == 3 else [30, 30, 30, 90, 90, 90]) or frame
        )
    )
    with pytest.warns(UserWarning, match="has a periodic box in some frames only"):
        frames = mf.load(universe)
    assert frames.whole  # the second chunk


def test_subclasses_of_universes(top, tmp_path):
    class Special(mda.Universe):
        """A universe of someone else's."""

    path = save(peptide_trajectory(6), tmp_path / "a.xtc")
    assert_same(mf.load(Special(top, path)), mf.load(path, top=top))


def test_arguments_that_a_universe_has_itself(universe):
    with pytest.raises(TypeError, match=r"`atoms` must not be given with an AtomGroup.*got 'name CA'"):
        mf.load(universe.atoms, atoms="name CA")
    with pytest.raises(TypeError, match="`top` must not be given with universes"):
        mf.load(universe, top=peptide_topology())
    with pytest.raises(TypeError, match="`lengths` must not be given with universes"):
        mf.load(universe, lengths=[6, 6])


def test_universes_without_a_trajectory():
    universe = mda.Universe.empty(5)
    for item in (universe, universe.atoms):
        with pytest.raises(ValueError, match="must have a trajectory; <Universe with 5 atoms> has none"):
            mf.load(item)


def test_frames_without_positions(tmp_path, top):
    universe = mda.Universe(top, save(peptide_trajectory(4), tmp_path / "a.trr"))
    universe.trajectory.add_transformations(
        lambda frame: setattr(frame, "has_positions", frame.frame < 2) or frame
    )
    with pytest.raises(ValueError, match="has no positions in frame 2"):
        mf.load(universe)


def test_what_is_neither_universe_nor_group(universe):
    with pytest.raises(TypeError, match="must stand alone; got PosixPath"):
        mf.load([universe, Path("run.xtc")])
    with pytest.raises(TypeError, match="must stand alone; got list"):
        mf.load([[universe, [universe]]])
    with pytest.raises(ValueError, match="at least one universe or atom group in every list; got an empty"):
        mf.load([[universe], []])
    with pytest.raises(TypeError, match="universes only, or atom groups only; got both"):
        mf.load([universe, universe.atoms])
    with pytest.raises(TypeError, match=r"universes or groups of atoms of MDAnalysis; got Atom\. Use univ"):
        mf.load(universe.atoms[0])


def test_times_that_are_not_known_are_not_made_up(tmp_path, top):
    path = save(peptide_trajectory(6), tmp_path / "run.pdb")
    universe = mda.Universe(top, path)
    assert mf.load(universe).times is None
    assert mf.load(universe, timestep=2.0).times.tolist() == [0, 2, 4, 6, 8, 10]
    assert mf.load(mda.Universe(top, path, dt=4.0)).times.tolist() == [0, 4, 8, 12, 16, 20]

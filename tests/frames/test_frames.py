"""Loading: every format, boundaries, times, torsions, and what `Frames` can do."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import (
    HEAVY,
    N_ATOMS,
    centred,
    peptide_topology,
    peptide_trajectory,
    peptide_xyz,
    torsion,
)

import mdfuzzy as mf
from mdfuzzy.frames import _formats, _readers
from mdfuzzy.frames.metric import Metric

FORMATS = ["xtc", "trr", "dcd", "nc", "h5", "pdb", "gro", "lammpstrj"]
MORE_FORMATS = ["xyz", "mdcrd", "cif", "pdb.gz", "dtr"]
TIMED = {"xtc", "trr", "nc", "h5", "gro", "dtr"}
NO_NETCDF4 = pytest.mark.filterwarnings("ignore:Warning. The 'netCDF4' Python package")


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    """Read files in chunks of seven frames, so that every test crosses the ends of chunks."""
    monkeypatch.setattr(_formats, "_CHUNK_FRAMES", 7)
    monkeypatch.setattr(_readers, "_OBJECT_FRAMES", 7)


@pytest.fixture
def top(tmp_path):
    path = tmp_path / "top.pdb"
    peptide_trajectory(1).save(path)
    return path


def save(trajectory, path):
    trajectory.save(str(path))
    return path


def assert_frames(frames, xyz, atol=2e-6):
    """The heavy atoms of the given frames, centred, and nothing else."""
    expected = centred(xyz[:, HEAVY])
    assert frames.xyz.shape == expected.shape
    assert frames.xyz.dtype == np.float32
    np.testing.assert_allclose(frames.xyz, expected, rtol=0, atol=atol)


@NO_NETCDF4
@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("extension", FORMATS + MORE_FORMATS)
def test_every_format_gives_the_frames_that_were_written(tmp_path, extension, stride):
    trajectory = peptide_trajectory(23)
    path = save(trajectory, tmp_path / f"run.{extension}")
    frames = mf.load(path, top=trajectory, stride=stride)
    assert_frames(frames, trajectory.xyz[::stride])
    assert frames.lengths.tolist() == [-(-23 // stride)]
    if extension in TIMED:
        np.testing.assert_allclose(frames.times, trajectory.time[::stride], rtol=1e-6)
    else:
        assert frames.times is None, "mdtraj's frame count is no time"


@NO_NETCDF4
@pytest.mark.parametrize("extension", FORMATS + MORE_FORMATS)
def test_all_atoms_are_read_back_from_every_format(tmp_path, extension):
    trajectory = peptide_trajectory(23)
    path = save(trajectory, tmp_path / f"run.{extension}")
    with pytest.warns(UserWarning, match="is given twice"):
        frames = mf.load([path, path], top=trajectory, stride=2, whole=False)
    chosen = [11, 3, 17, 3]  # the second trajectory starts at 12
    back = frames.trajectory(chosen, atoms="all")
    np.testing.assert_allclose(back.xyz, trajectory.xyz[[22, 6, 10, 6]], rtol=0, atol=2e-6)
    assert back.topology == trajectory.topology
    if extension in TIMED:
        np.testing.assert_allclose(back.time, trajectory.time[[22, 6, 10, 6]], rtol=1e-6)
    if extension != "xyz":
        np.testing.assert_allclose(back.unitcell_lengths, 3.0, rtol=1e-6)


def test_netcdf_without_the_netcdf4_package(tmp_path, monkeypatch):
    trajectory = peptide_trajectory(23)
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    with pytest.warns(UserWarning, match="netCDF4"):
        path = save(trajectory, tmp_path / "run.nc")
    with pytest.warns(UserWarning, match="netCDF4"):
        frames = mf.load(path, top=trajectory)
    assert_frames(frames, trajectory.xyz)


@pytest.mark.parametrize("extension", ["h5", "pdb", "gro"])
def test_formats_with_atom_names_need_no_topology(tmp_path, extension):
    trajectory = peptide_trajectory(5)
    frames = mf.load(save(trajectory, tmp_path / f"run.{extension}"))
    assert_frames(frames, trajectory.xyz)
    assert [atom.name for atom in frames.topology.atoms] == [peptide_topology().atom(i).name for i in HEAVY]


@pytest.mark.parametrize("extension", ["dcd", "lammpstrj", "pdb"])
def test_timestep_is_used_where_the_format_has_no_times(tmp_path, extension):
    trajectory = peptide_trajectory(23)
    path = save(trajectory, tmp_path / f"run.{extension}")
    frames = mf.load(path, top=trajectory, timestep=0.5, stride=4)
    np.testing.assert_allclose(frames.times, 0.5 * np.arange(0, 23, 4), rtol=1e-12)


def test_timestep_replaces_other_times_of_a_file_and_missing_ones_are_not_made_up(tmp_path, top):
    trajectory = peptide_trajectory(5)
    timed, untimed = save(trajectory, tmp_path / "a.xtc"), save(trajectory, tmp_path / "a.dcd")
    with pytest.warns(
        UserWarning, match=r"`timestep` is 9 ps and replaces the times in '.*a.xtc': they are 2.5"
    ):
        np.testing.assert_array_equal(mf.load(timed, top=top, timestep=9.0).times, 9.0 * np.arange(5))
    with pytest.warns(UserWarning, match=r"a.dcd' holds no times, so the times of all frames are dropped"):
        assert mf.load([timed, untimed], top=top).times is None
    step = float(np.diff(trajectory.time)[0])
    right = mf.load(timed, top=top, timestep=step)  # no warning, and the file's own times
    np.testing.assert_allclose(right.times, trajectory.time, rtol=1e-6)
    with pytest.warns(UserWarning, match=r"replaces the times in 1 of 2 files, the first") as caught:
        both = mf.load([timed, untimed], top=top, timestep=9.0)
    assert len(caught) == 1
    np.testing.assert_array_equal(both.times, [*9.0 * np.arange(5), *9.0 * np.arange(5)])


def test_a_pattern_that_catches_the_topology(tmp_path, top):
    trajectory = peptide_trajectory(5)
    save(trajectory, tmp_path / "a.dcd")
    pdb = save(trajectory[0], tmp_path / "top.pdb")
    with pytest.warns(UserWarning, match=r"top.pdb' is the topology and also one of the trajectories"):
        assert mf.load(tmp_path / "*", top=pdb).lengths.tolist() == [5, 1]
    assert len(mf.load(pdb, top=pdb)) == 1  # nothing odd about that


# --- some of the frames


@pytest.fixture
def four_runs(tmp_path, top):
    runs = [peptide_trajectory(20, seed=n) for n in range(4)]
    runs[2].time += 100.0  # goes on from run 1
    paths = [save(run, tmp_path / f"run{n}.xtc") for n, run in enumerate(runs)]
    return mf.load([paths[0], [paths[1], paths[2]], paths[3]], top=top, stride=2)


@pytest.mark.parametrize(
    "chosen",
    [
        slice(None),
        slice(3, None, 3),
        slice(-5, None),
        [0, 1, 2, 7, 9, 11, 30, 39],
        np.arange(40) % 7 == 0,
        np.random.default_rng(0).random(40) < 0.4,
        range(12, 14),
    ],
    ids=str,
)
def test_some_frames_keep_all_that_belongs_to_them(four_runs, chosen):
    some = four_runs[chosen]
    numbers = np.arange(40)[list(chosen) if isinstance(chosen, range) else chosen]
    assert some.n_frames == len(some) == len(numbers)
    for name in ("xyz", "times", "phi", "psi"):
        np.testing.assert_array_equal(getattr(some, name), getattr(four_runs, name)[numbers])
    _, kept = np.unique(four_runs.locate(numbers)[0], return_counts=True)
    assert some.lengths.tolist() == kept.tolist()
    assert some.topology == four_runs.topology
    # Read back from the files, they are the same frames.
    whole = some.trajectory(atoms="all").xyz[:, four_runs.atoms]
    np.testing.assert_array_equal(whole, four_runs.trajectory(numbers, atoms="all").xyz[:, four_runs.atoms])
    assert [source.trajectory for source in some.sources] == sorted(s.trajectory for s in some.sources)
    assert sum(source.count for source in some.sources) == len(some)
    again = some[:1]
    np.testing.assert_array_equal(again.xyz, four_runs.xyz[numbers[:1]])
    assert some.reading is None


@pytest.mark.parametrize(
    ("chosen", "error", "match"),
    [
        (5, TypeError, r"takes a slice, a mask, or a list of frame numbers .*; got 5. For a single frame"),
        (np.ones(3, bool), TypeError, r"takes a slice, a mask, or a list"),
        ([3, 2], ValueError, r"in ascending order, at least one and none twice; got \[3, 2\]. `trajectory`"),
        ([2, 2], ValueError, r"none twice; got \[2, 2\]"),
        (slice(5, 5), ValueError, r"at least one"),
        ([0.5], TypeError, r"`indices` must be frame numbers"),
        ([40], IndexError, r"`indices` must be in \[0, 39\]; got 40"),
    ],
    ids=str,
)
def test_frames_that_cannot_be_chosen(four_runs, chosen, error, match):
    with pytest.raises(error, match=match):
        four_runs[chosen]


def test_frames_of_files_can_be_read_again(four_runs):
    again = mf.load(**json.loads(json.dumps(four_runs.reading)))
    np.testing.assert_array_equal(again.xyz, four_runs.xyz)
    np.testing.assert_array_equal(again.lengths, four_runs.lengths)
    assert again.selection == four_runs.selection
    assert mf.load(four_runs.trajectory()).reading is None
    path = four_runs.sources[0].path
    assert mf.load(path, top=four_runs.top, atoms=np.arange(4)).reading["atoms"] == [0, 1, 2, 3]
    assert mf.load([path], top=four_runs.trajectory(atoms="all").topology).reading is None


def test_what_counts_as_a_time():
    real, counted = np.array([0.0, 1.0]), np.array([0, 1])
    assert _formats.has_times("a.xtc", real)
    assert _formats.has_times(None, real)
    assert not _formats.has_times("a.dcd", real)
    assert not _formats.has_times("a.nc", counted)
    assert not _formats.has_times(None, counted)


def test_gro_titles_without_a_time(tmp_path):
    path = save(peptide_trajectory(3), tmp_path / "a.gro")
    path.write_text("\n".join(line.split(",")[0] for line in path.read_text().splitlines()) + "\n")
    assert mf.load(path).times is None


def test_lists_and_globs_keep_the_boundaries_in_natural_order(tmp_path, top):
    runs = {number: peptide_trajectory(3 + number, seed=number) for number in (1, 2, 10)}
    for number, run in runs.items():
        save(run, tmp_path / f"run{number}.xtc")
    expected = np.concatenate([run.xyz for run in runs.values()])
    for paths in (tmp_path / "run*.xtc", [str(tmp_path / "run?.xtc"), tmp_path / "run10.xtc"]):
        frames = mf.load(paths, top=top)
        assert frames.lengths.tolist() == [4, 5, 13]
        assert_frames(frames, expected)
    assert [Path(source.path).name for source in frames.sources] == ["run1.xtc", "run2.xtc", "run10.xtc"]


@pytest.mark.parametrize("stride", [1, 2, 5])
@pytest.mark.parametrize("extension", ["xtc", "dcd"])
def test_restart_pieces_are_joined_and_their_shared_frame_dropped(tmp_path, top, extension, stride):
    trajectory = peptide_trajectory(30)
    pieces = [trajectory[:8], trajectory[7:21], trajectory[21:]]  # the first two share frame 7
    for number, piece in enumerate(pieces):
        save(piece, tmp_path / f"part{number}.{extension}")
    other = save(peptide_trajectory(4, seed=5), tmp_path / f"other.{extension}")
    frames = mf.load([[tmp_path / f"part*.{extension}"], other], top=top, stride=stride, timestep=2.5)
    assert frames.lengths.tolist() == [-(-30 // stride), -(-4 // stride)]
    joined, _ = frames.split(frames.xyz)
    np.testing.assert_allclose(joined, centred(trajectory.xyz[::stride, HEAVY]), rtol=0, atol=2e-6)
    start = 10.0 if extension == "xtc" else 0.0
    np.testing.assert_allclose(
        frames.split(frames.times)[0], start + 2.5 * np.arange(0, 30, stride), rtol=1e-6
    )
    back = frames.trajectory(np.arange(frames.lengths[0]), atoms="all")
    np.testing.assert_allclose(back.xyz, trajectory.xyz[::stride], rtol=0, atol=2e-6)


@pytest.mark.parametrize("extension", ["xtc", "dcd"])
def test_frames_of_a_span_of_time(tmp_path, top, extension):
    trajectory = peptide_trajectory(30)  # from 10 ps, 2.5 ps apart; DCD files have no times
    paths = [save(trajectory, tmp_path / f"a.{extension}"), save(trajectory[:9], tmp_path / f"b.{extension}")]
    start = 10.0 if extension == "xtc" else 0.0
    window = {"begin": start + 10, "end": start + 50, "timestep": 2.5}
    frames = mf.load(paths, top=top, stride=3, **window)
    assert frames.lengths.tolist() == [6, 2]
    expected = np.concatenate([trajectory.xyz[4:21:3], trajectory.xyz[4:9:3]])
    np.testing.assert_allclose(frames.xyz, centred(expected[:, HEAVY]), rtol=0, atol=2e-6)
    np.testing.assert_allclose(frames.times[:6], start + 2.5 * np.arange(4, 21, 3))
    np.testing.assert_allclose(frames.trajectory(atoms="all").xyz, expected, rtol=0, atol=2e-6)
    again = mf.load(**json.loads(json.dumps(frames.reading)))
    np.testing.assert_array_equal(again.xyz, frames.xyz)


def test_a_span_of_time_of_joined_pieces(tmp_path, top):
    trajectory = peptide_trajectory(30)
    save(trajectory[:8], tmp_path / "part0.xtc")
    save(trajectory[7:], tmp_path / "part1.xtc")
    frames = mf.load([[tmp_path / "part*.xtc"]], top=top, begin=15, end=60, stride=2)
    np.testing.assert_allclose(frames.times, 10 + 2.5 * np.arange(2, 21, 2))
    np.testing.assert_allclose(frames.trajectory(atoms="all").xyz, trajectory.xyz[2:21:2], rtol=0, atol=2e-6)


def test_a_trajectory_outside_the_span_of_time_is_left_out(tmp_path, top):
    trajectory = peptide_trajectory(30)
    paths = [save(trajectory[:5], tmp_path / "short.xtc"), save(trajectory, tmp_path / "long.xtc")]
    with pytest.warns(
        UserWarning, match=r"short\.xtc' is left out: it has no frames from 40 ps, but from 10 ps to 20 ps"
    ):
        frames = mf.load(paths, top=top, begin=40)
    assert frames.lengths.tolist() == [18]
    assert [source.trajectory for source in frames.sources] == [0]
    with (
        pytest.warns(UserWarning, match="is left out"),
        pytest.raises(
            mf.InputError, match=r"`begin` and `end` must leave some frames; .* from 400 ps to 500 ps"
        ),
    ):
        mf.load(paths, top=top, begin=400, end=500)


def test_bad_spans_of_time(tmp_path, top):
    path = save(peptide_trajectory(5), tmp_path / "a.dcd")
    with pytest.raises(mf.InputError, match="`begin` must not be later than `end`; got 3 ps and 2 ps"):
        mf.load(path, top=top, begin=3, end=2)
    with pytest.raises(mf.InputError, match=r"`end` must be a finite number; got nan\. It is a time in ps"):
        mf.load(path, top=top, end=np.nan)
    with pytest.raises(
        mf.InputError, match=r"`begin` must be left out if the frames have no times; .* `timestep`"
    ):
        mf.load(path, top=top, begin=3)


def test_equal_frames_at_different_times_are_not_shared(tmp_path, top):
    trajectory = peptide_trajectory(6)
    save(trajectory[:3], tmp_path / "a.xtc")
    later = trajectory[2:]
    later.time += 2.5
    save(later, tmp_path / "b.xtc")
    assert len(mf.load([[tmp_path / "a.xtc", tmp_path / "b.xtc"]], top=top)) == 7


def test_trajectory_objects_are_loaded_and_left_alone():
    trajectory = peptide_trajectory(20)
    trajectory.xyz[:, 5:] += np.float32(3.0) * (np.arange(20) % 2)[:, None, None]  # half of them divided
    before = trajectory.xyz.copy(), trajectory.time.copy(), trajectory.unitcell_lengths.copy()
    frames = mf.load([trajectory, trajectory[:5]])
    assert frames.lengths.tolist() == [20, 5]
    for now, then in zip((trajectory.xyz, trajectory.time, trajectory.unitcell_lengths), before, strict=True):
        np.testing.assert_array_equal(now, then)
    assert trajectory._rmsd_traces is None
    np.testing.assert_allclose(frames.times[:20], trajectory.time)
    back = frames.trajectory([21], atoms="all")
    assert back.n_atoms == N_ATOMS


def test_trajectory_objects_without_times_get_none():
    bare = md.Trajectory(peptide_xyz(4), peptide_topology())
    assert mf.load(bare).times is None
    np.testing.assert_allclose(mf.load(bare, timestep=2.0).times, [0, 2, 4, 6])


def test_arrays_with_lengths():
    xyz = peptide_xyz(10)
    frames = mf.load(xyz, lengths=[4, 6])
    assert frames.lengths.tolist() == [4, 6]
    np.testing.assert_allclose(frames.xyz, centred(xyz), rtol=0, atol=1e-6)
    assert frames.topology is None
    assert frames.phi is None
    many = mf.load([xyz[:4], xyz[4:]], timestep=0.1)
    np.testing.assert_array_equal(many.xyz, frames.xyz)
    np.testing.assert_allclose(many.times, [*0.1 * np.arange(4), *0.1 * np.arange(6)])


def test_arrays_with_a_topology_are_selected_from_and_read_back():
    xyz = peptide_xyz(10)
    frames = mf.load(xyz, top=peptide_topology(), atoms="name N CA C")
    assert frames.n_atoms == 6
    assert frames.residues == ("ALA1",)
    back = frames.trajectory([7], atoms="all")
    np.testing.assert_allclose(centred(back.xyz), centred(xyz[[7]]), rtol=0, atol=1e-6)


def test_centring_is_exact_far_from_the_origin():
    xyz = peptide_xyz(5).astype(np.float64)
    near, far = mf.load(xyz), mf.load(xyz + 1e6)
    np.testing.assert_allclose(far.xyz, near.xyz, rtol=0, atol=1e-7)
    assert np.abs(near.xyz.mean(axis=1, dtype=np.float64)).max() < 3e-8


def test_the_default_selection_is_the_heavy_atoms_of_the_solute():
    topology = peptide_topology(waters=5, ions=2)
    xyz = np.random.default_rng(0).uniform(0, 3, (3, topology.n_atoms, 3))
    frames = mf.load(md.Trajectory(xyz, topology))
    np.testing.assert_array_equal(frames.atoms, HEAVY)
    assert frames.selection == f"heavy atoms of the solute (10 of {N_ATOMS + 17} atoms)"
    assert frames.selection in frames.summary()


def test_the_default_selection_takes_alpha_carbons_and_beads():
    for name, symbol in (("CA", md.element.carbon), ("BB", md.element.virtual)):
        topology = md.Topology()
        chain = topology.add_chain()
        for _ in range(4):
            topology.add_atom(name, symbol, topology.add_residue("ALA", chain))
        topology.add_atom("CA", md.element.calcium, topology.add_residue("CA", chain))
        frames = mf.load(md.Trajectory(np.random.default_rng(0).random((2, 5, 3)), topology))
        assert frames.atoms.tolist() == [0, 1, 2, 3]


def test_selection_by_string_and_by_index_agree(tmp_path, top):
    path = save(peptide_trajectory(4), tmp_path / "a.xtc")
    by_name = mf.load(path, top=top, atoms="resname ALA and not element H")
    by_index = mf.load(path, top=top, atoms=[9, 3, 5, 7, 8])
    np.testing.assert_array_equal(by_name.xyz, by_index.xyz)
    assert by_index.atoms.tolist() == [3, 5, 7, 8, 9]


def test_torsions_come_from_the_full_topology(tmp_path, top):
    trajectory = peptide_trajectory(20)
    path = save(trajectory, tmp_path / "a.xtc")
    frames = mf.load(path, top=top, atoms="name CH3 CB O", stride=3)
    names = [(atom.residue.name, atom.name) for atom in trajectory.topology.atoms]
    c0, n1, ca, c1, n2 = (
        names.index(name) for name in [("ACE", "C"), ("ALA", "N"), ("ALA", "CA"), ("ALA", "C"), ("NME", "N")]
    )
    xyz = trajectory.xyz[::3]
    np.testing.assert_allclose(frames.phi[:, 0], torsion(xyz[:, [c0, n1, ca, c1]]), rtol=0, atol=2e-3)
    np.testing.assert_allclose(frames.psi[:, 0], torsion(xyz[:, [n1, ca, c1, n2]]), rtol=0, atol=2e-3)
    assert len(frames.residues) == 1


def test_torsion_labels_name_the_chain_where_there_are_several():
    topology = peptide_topology(copies=2)
    xyz = np.concatenate([peptide_xyz(3), peptide_xyz(3, seed=1) + 1], axis=1)
    with pytest.warns(UserWarning, match="belong to 2 molecules"):
        frames = mf.load(xyz, top=topology)
    assert [label.split(":")[0] for label in frames.residues] == ["0", "1"]
    assert frames.phi.shape == (3, 2)


@pytest.mark.parametrize("extension", ["xtc", "dcd", "nc", "h5", "gro"])
@NO_NETCDF4
def test_divided_molecules_are_made_whole_before_the_selection(tmp_path, extension):
    whole = peptide_trajectory(16)
    divided = peptide_trajectory(16)
    divided.xyz = np.mod(divided.xyz + 2.2, 3.0)  # the boundary cuts through the molecule
    assert np.ptp(divided.xyz[:, HEAVY], axis=1).max() > 2
    path = save(divided, tmp_path / f"a.{extension}")
    # Without the atoms between them these three could not be put together.
    frames = mf.load(path, top=whole, atoms="name CH3 CB or (resname NME and name C)")
    chosen = [0, 7, 11]
    np.testing.assert_allclose(frames.xyz, centred(whole.xyz[:, chosen]), rtol=0, atol=2e-3)
    assert frames.whole
    reference = mf.load(whole)
    np.testing.assert_allclose(frames.phi, reference.phi, rtol=0, atol=0.6)
    as_is = mf.load(path, top=whole, atoms=chosen, whole=False)
    assert np.ptp(as_is.xyz, axis=1).max() > 2
    np.testing.assert_allclose(as_is.phi, reference.phi, rtol=0, atol=0.6)  # by the nearest images
    back = frames.trajectory([3], atoms="all")
    np.testing.assert_allclose(centred(back.xyz), centred(whole.xyz[[3]]), rtol=0, atol=2e-3)


def test_whole_in_a_triclinic_box():
    whole = peptide_trajectory(8, box=False)
    vectors = np.array([[3.0, 0, 0], [1.0, 2.8, 0], [-0.9, 0.7, 2.6]])
    shifts = np.random.default_rng(3).integers(-1, 2, (8, N_ATOMS, 3)) @ vectors
    divided = md.Trajectory(whole.xyz + shifts, whole.topology)
    divided.unitcell_vectors = np.tile(vectors, (8, 1, 1))
    np.testing.assert_allclose(mf.load(divided).xyz, mf.load(whole).xyz, rtol=0, atol=2e-6)


def test_frames_are_frozen():
    frames = mf.load(peptide_xyz(3))
    with pytest.raises(ValueError, match="read-only"):
        frames.xyz[0, 0, 0] = 1
    with pytest.raises(AttributeError):
        frames.xyz = None


def test_columns_and_periods_of_features():
    features = mf.Features(np.arange(12.0).reshape(4, 3), periodic=[2, 0], period=90.0)
    np.testing.assert_array_equal(features.columns, features.values)
    assert features.periods == (90.0, None, 90.0)


class Unsuperposed(mf.Frames):
    """Frames that are compared as they are."""

    metric = Metric("RMSD without superposition", "nm", superpose=False)
    points = property(lambda self: self.xyz.reshape(len(self), -1))


def test_another_metric_keeps_its_type_and_is_drawn():
    frames = Unsuperposed(centred(peptide_xyz(12)[:, :5]), np.array([12]))
    assert type(frames.subset(np.array([3, 1]))) is Unsuperposed
    assert type(frames[2:7]) is Unsuperposed
    assert frames.periods == (None,) * 15
    np.testing.assert_array_equal(mf.plots.project(frames, columns=(4, 0)).values, frames.points[:, [4, 0]])


def test_split_and_locate_agree():
    frames = mf.load(peptide_xyz(9), lengths=[2, 3, 4])
    parts = frames.split(np.arange(9))
    trajectory, frame = frames.locate(np.arange(9))
    assert [int(parts[t][f]) for t, f in zip(trajectory, frame, strict=True)] == list(range(9))
    assert frames.locate(8) == (2, 3)
    assert frames.locate(np.int64(0)) == (0, 0)


def test_trajectory_of_the_loaded_atoms(tmp_path, top):
    trajectory = peptide_trajectory(6)
    frames = mf.load(save(trajectory, tmp_path / "a.xtc"), top=top)
    chosen = frames.trajectory([4, 1])
    np.testing.assert_array_equal(chosen.xyz, frames.xyz[[4, 1]])
    np.testing.assert_allclose(chosen.time, trajectory.time[[4, 1]], rtol=1e-6)
    assert chosen.topology == frames.topology
    chosen.xyz[:] = 0  # a copy
    assert np.abs(frames.xyz).max() > 0
    assert frames.trajectory().n_frames == 6


def test_repr_says_what_there_is(tmp_path, top):
    frames = mf.load(save(peptide_trajectory(6), tmp_path / "a.xtc"), top=top)
    assert repr(frames).startswith(
        "Frames(6 frames of 10 atoms in 1 trajectory; 12.5 ps, a frame every 2.5 ps; phi"
    )
    assert "a.xtc: 6 frames" in frames.summary()
    assert "uneven" in repr(mf.Frames(frames.xyz, [6], times=[0, 1, 2, 3, 4, 9]))


def test_progress_bar_in_a_terminal_only(tmp_path, top, capsys):
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    path = save(peptide_trajectory(6), tmp_path / "a.xtc")
    mf.load(path, top=top)
    assert capsys.readouterr().err == ""
    mf.load(path, top=top, progress=True)
    assert "6/6" in capsys.readouterr().err
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))  # rows, columns
    code = f"import mdfuzzy as mf; mf.load({str(path)!r}, top={str(top)!r})"
    root = Path(mf.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], stderr=terminal, check=True, cwd=root, timeout=120)
    os.close(terminal)
    assert b"6/6" in os.read(master, 10_000)
    os.close(master)


MEASURE = """
import resource, sys
import mdtraj as md
import mdfuzzy as mf

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

path, small, top, times = sys.argv[1:]
topology = md.load_topology(top)
mf.load(small, top=topology, timestep=1.0)  # everything is imported and warm
before = peak()
frames = mf.load([path] * int(times), top=topology, timestep=1.0)
result = frames.xyz.nbytes + frames.phi.nbytes + frames.psi.nbytes + frames.times.nbytes
print(peak() - before, result, len(frames))
"""


def measure(path, small, top, times):
    """Load a file so many times in a process of its own: how much its peak grew, bytes loaded, frames."""
    command = [sys.executable, "-c", MEASURE, path, small, top, str(times)]
    root = Path(mf.__file__).parents[1]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, timeout=200)
    return map(int, run.stdout.split()[-3:])


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
def test_peak_memory_has_no_second_copy_of_the_result(tmp_path, top):
    path = save(md.Trajectory(np.tile(peptide_xyz(50), (1000, 1, 1)), peptide_topology()), tmp_path / "a.xtc")
    small = save(peptide_trajectory(50, box=False), tmp_path / "small.xtc")
    grown, result, frames = measure(path, small, top, 10)
    assert frames == 500_000
    assert result > 60e6
    assert grown < 1.25 * result + _formats._CHUNK_BYTES, f"{grown / 1e6:.1f} MB for {result / 1e6:.1f} MB"


@pytest.mark.parametrize("extension", ["xtc", "dcd"])
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
def test_peak_memory_is_the_result_and_one_chunk(tmp_path, extension):
    """A solvated system of 87 MB with all its atoms, of which the result keeps 0.2 MB."""
    topology = peptide_topology(waters=1500)
    rng = np.random.default_rng(0)
    place = rng.uniform(0, 4.5, (topology.n_atoms, 3))
    n = 1600
    block = np.tile(place, (50, 1, 1)).astype(np.float32)
    block[:, :N_ATOMS] = peptide_xyz(50)
    cell = np.full((50, 3), 4.5, np.float32), np.full((50, 3), 90.0, np.float32)
    chunk = md.Trajectory(block, topology, None, *cell)
    top, path, small = tmp_path / "top.pdb", tmp_path / f"a.{extension}", tmp_path / f"small.{extension}"
    chunk[0].save(top)
    chunk.save(str(small))
    with md.open(str(path), "w") as file:
        for start in range(0, n, 50):
            if extension == "xtc":
                time = np.arange(start, start + 50, dtype=np.float32)
                file.write(block, time=time, step=np.arange(start, start + 50), box=chunk.unitcell_vectors)
            else:
                file.write(block * 10, cell_lengths=cell[0] * 10, cell_angles=cell[1])
    grown, result, frames = measure(path, small, top, 1)
    assert frames == n
    everything = n * topology.n_atoms * 12
    assert everything > 80e6
    assert grown < result + _formats._CHUNK_BYTES + 8e6, f"{grown / 1e6:.1f} MB more than before"

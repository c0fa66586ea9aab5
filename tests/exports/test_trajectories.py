"""Trajectories of the states: the right frames in the right order, read in parts, for every viewer."""

from dataclasses import replace
from pathlib import Path

import mdtraj as md
import numpy as np
import pandas as pd
import pytest
from helpers.molecules import HEAVY, N_ATOMS, peptide_trajectory
from helpers.results import result_of
from helpers.states import memberships_of

import mdfuzzy as mf
from mdfuzzy.exports import trajectory_files
from mdfuzzy.exports.trajectory_files import Superposition
from mdfuzzy.frames import _formats, _reading_back

#: Two trajectories of 60 and 30 loaded frames from files of three formats; three states and a fourth without
#: frames of its own.
N = 90
_rng = np.random.default_rng(3)
VALUES = _rng.dirichlet(np.ones(3), size=N)
VALUES[:20] = [1, 0, 0]
VALUES = np.column_stack([VALUES, np.zeros(N)])
MEMBERSHIPS = memberships_of(VALUES)
LABELS = MEMBERSHIPS.hard
_peaks = [3, *(int(VALUES[:, state].argmax()) for state in (1, 2)), 80]
_cores = np.full(N, -1)
_cores[_peaks] = range(4)
CORES = mf.Cores(np.maximum(LABELS, 0), _cores, _peaks, [np.inf, 3.0, 2.0, 1.0])
DENSITY = _rng.normal(size=N)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> mf.Assignment:
    folder = tmp_path_factory.mktemp("trajectories")
    paths = [folder / name for name in ("a.xtc", "b.trr", "c.dcd")]
    for seed, (path, length) in enumerate(zip(paths, (80, 40, 60), strict=True)):
        peptide_trajectory(length, seed=seed, first=1000.0 * seed).save(path)
    peptide_trajectory(1).save(folder / "top.pdb")
    options = {"top": folder / "top.pdb", "stride": 2, "timestep": 2.5, "atoms": HEAVY, "whole": False}
    frames = mf.load([[paths[0], paths[1]], paths[2]], **options)
    assert len(frames) == N
    regions = mf.find_transition_regions(frames, MEMBERSHIPS, CORES, threshold=0.3)
    return result_of(frames, CORES, MEMBERSHIPS, regions, DENSITY)


def distances(xyz: np.ndarray) -> np.ndarray:
    """Return all distances between atoms of every frame: what superposing leaves as it is."""
    return np.linalg.norm(xyz[:, :, None] - xyz[:, None], axis=-1)


def read(folder: Path, name: str) -> md.Trajectory:
    path = next(path for path in folder.glob(f"{name}.*"))
    return md.load(path) if path.suffix == ".pdb" else md.load(path, top=folder / "topology.pdb")


@pytest.mark.parametrize("format", ["xtc", "dcd", "pdb"])
def test_every_frame_of_every_state_in_order(result, tmp_path: Path, format: str):
    folder = mf.exports.write_trajectories(tmp_path / "new", result, format=format)
    assert {path.stem for path in folder.glob(f"state_*.{format}")} == {"state_0", "state_1", "state_2"}
    for state in range(3):
        found = read(folder, f"state_{state}")
        original = result.data.trajectory(np.flatnonzero(state == LABELS), atoms="all")
        assert found.n_atoms == N_ATOMS > result.data.n_atoms
        assert found.n_frames == original.n_frames
        np.testing.assert_allclose(distances(found.xyz), distances(original.xyz), rtol=0, atol=3e-3)
        if format == "xtc":
            np.testing.assert_allclose(found.time, result.data.times[state == LABELS])


@pytest.mark.parametrize("name", ["state_1.xtc", "trajectories.csv"])
def test_files_of_others_are_refused_before_trajectories_are_read(
    result, tmp_path: Path, monkeypatch, name: str
):
    (tmp_path / name).write_text("mine")
    monkeypatch.setattr(
        trajectory_files, "_parts", lambda *arguments: pytest.fail("the trajectories were read")
    )
    with pytest.raises(FileExistsError, match=f"holds '{name}', which no earlier export wrote"):
        mf.exports.write_trajectories(tmp_path, result, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_mdanalysis_reads_them(result, tmp_path: Path):
    mda = pytest.importorskip("MDAnalysis")
    folder = mf.exports.write_trajectories(tmp_path, result)
    universe = mda.Universe(str(folder / "topology.pdb"), str(folder / "state_1.xtc"))
    assert universe.trajectory.n_frames == np.count_nonzero(LABELS == 1)
    assert universe.atoms.n_atoms == N_ATOMS


def test_transitions_lead_from_one_state_to_the_other(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path, result)
    index = pd.read_csv(folder / "trajectories.csv")
    for (a, b), frames in zip(result.transition_regions.pairs, result.transition_regions.frames, strict=True):
        rows = index[index["file"] == f"transition_{a}_{b}.xtc"]
        assert np.array_equal(rows["place"], np.arange(len(frames)))
        numbers = np.array([0, 60])[rows["trajectory"]] + rows["frame"].to_numpy()
        assert sorted(numbers) == sorted(frames)
        share = VALUES[numbers, b] / (VALUES[numbers, a] + VALUES[numbers, b])
        assert np.all(np.diff(share) >= 0)
        original = result.data.trajectory(numbers, atoms="all")
        found = read(folder, f"transition_{a}_{b}")
        np.testing.assert_allclose(distances(found.xyz), distances(original.xyz), rtol=0, atol=3e-3)


def test_the_best_frames_come_first(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path, result, n=5)
    index = pd.read_csv(folder / "trajectories.csv")
    first = index[index["file"] == "state_0.xtc"]
    core = np.flatnonzero(VALUES[:, 0] == 1)  # memberships of 1: the densest of these
    assert first["frame"].tolist() == core[np.argsort(-DENSITY[core])][:5].tolist()
    assert np.all(np.diff(index[index["file"] == "state_1.xtc"]["membership"]) <= 0)
    assert "the 5 best frames of state S, the best first" in (folder / "README.txt").read_text()


def test_every_nth_frame(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path, result, every=4)
    index = pd.read_csv(folder / "trajectories.csv")
    numbers = np.array([0, 60])[index["trajectory"]] + index["frame"].to_numpy()
    for state in range(3):
        expected = np.flatnonzero(state == LABELS)[::4]
        assert numbers[index["file"] == f"state_{state}.xtc"].tolist() == expected.tolist()


def test_the_table_says_where_each_frame_comes_from(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path, result, superpose=False)
    index = pd.read_csv(folder / "trajectories.csv")
    for row in index.iloc[::7].to_dict("records"):
        written = read(folder, row["file"].partition(".")[0])[row["place"]]
        source = md.load(row["source"], top=result.data.top)[row["source_frame"]]  # by mdtraj alone
        np.testing.assert_allclose(written.xyz, source.xyz, rtol=0, atol=1e-3)
        np.testing.assert_allclose(written.unitcell_lengths, 3.0, rtol=0, atol=1e-6)
        number = int([0, 60][row["trajectory"]] + row["frame"])
        assert row["state"] == LABELS[number]
        assert row["time_ps"] == result.data.times[number]
        assert row["membership"] == pytest.approx(VALUES[number].max(), abs=1e-6)


def test_frames_are_superposed_by_the_clustered_atoms(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path, result)
    reference = result.data.trajectory(CORES.peaks[:1], atoms="all")
    for path in folder.glob("*.xtc"):
        found = read(folder, path.stem)
        assert found.unitcell_lengths is None
        best = found[:].superpose(reference, atom_indices=result.data.atoms)
        np.testing.assert_allclose(found.xyz, best.xyz, rtol=0, atol=2e-3)


@pytest.mark.parametrize("turn", [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
def test_frames_turned_by_half_a_turn_are_turned_back(turn):
    # mdtraj's own superposition does not converge for them, and leaves them as they are.
    first = peptide_trajectory(1)
    second = peptide_trajectory(1)
    second.xyz = second.xyz * np.array(turn, np.float32) + 3
    frames = mf.load(first, atoms=HEAVY, whole=False)
    found = Superposition(frames, first, "all")(second)
    np.testing.assert_allclose(found.xyz, first.xyz, rtol=0, atol=1e-5)


def test_parts_of_any_size_give_the_same_files(result, tmp_path: Path, monkeypatch):
    one = mf.exports.write_trajectories(tmp_path / "one", result)
    monkeypatch.setattr(_formats, "chunk_frames", lambda n_atoms: 3)
    monkeypatch.setattr(_reading_back, "_DENSE", 0)  # frame by frame, not all frames of a file
    monkeypatch.setattr(trajectory_files, "_BATCH_BYTES", 7 * 12 * N_ATOMS)
    monkeypatch.setattr(trajectory_files, "_ROWS", 4)
    monkeypatch.setattr(trajectory_files, "_OPEN", 2)
    read_part, sizes = trajectory_files.TrajectoryWriter.append, []
    monkeypatch.setattr(
        trajectory_files.TrajectoryWriter,
        "append",
        lambda self, part: sizes.append(part.n_frames) or read_part(self, part),
    )
    other = mf.exports.write_trajectories(tmp_path / "other", result)
    assert max(sizes) <= 7
    for path in one.iterdir():
        if path.suffix == ".xtc":  # the number of atoms may change the rounding of a superposition
            top = one / "topology.pdb"
            xyz = md.load(other / path.name, top=top).xyz
            np.testing.assert_allclose(xyz, md.load(path, top=top).xyz, rtol=0, atol=2.1e-3)
        else:
            assert path.read_bytes() == (other / path.name).read_bytes()


def test_the_loaded_atoms_alone(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path / "a", result, atoms="loaded")
    assert read(folder, "state_0").n_atoms == result.data.n_atoms
    frames = result.data
    alone = mf.Frames(frames.xyz, frames.lengths, topology=frames.topology)
    folder = mf.exports.write_trajectories(tmp_path / "b", replace(result, data=alone))
    assert read(folder, "state_0").n_atoms == frames.n_atoms
    assert "with the clustered atoms" in (folder / "README.txt").read_text()


def test_a_folder_with_other_letters(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path / "Zustände é", result)
    assert len(list(folder.glob("state_*.xtc"))) == 3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 3, "every": 2}, ValueError, "`n` and `every` must not be given both; got n=3 and every=2"),
        ({"n": 0}, ValueError, "`n` must be an int of at least 1; got 0"),
        ({"every": 0}, ValueError, "`every` must be an int of at least 1; got 0"),
        ({"format": "trr"}, ValueError, "`format` must be one of .*'xtc'.*; got 'trr'"),
        ({"atoms": "CA"}, ValueError, "`atoms` must be one of .*'loaded'.*; got 'CA'"),
    ],
)
def test_options_that_are_not_possible(result, tmp_path: Path, options, error, message):
    with pytest.raises(error, match=message):
        mf.exports.write_trajectories(tmp_path / "new", result, **options)
    assert list(tmp_path.iterdir()) == []


def test_files_that_changed_leave_nothing(result, tmp_path: Path):
    source = Path(result.data.sources[0].path)
    kept = source.read_bytes()
    peptide_trajectory(80, seed=9).save(source)
    try:
        with pytest.raises(ValueError, match=r"a.xtc' was changed since its frames were loaded: frame"):
            mf.exports.write_trajectories(tmp_path / "new", result)
        peptide_trajectory(30, seed=0).save(source)
        with pytest.raises(ValueError, match="was changed since its frames were loaded"):
            mf.exports.write_trajectories(tmp_path / "new", result)
    finally:
        source.write_bytes(kept)
    assert list(tmp_path.iterdir()) == []


# --- medoids


def test_medoids_have_the_least_mean_rmsd(result):
    frames = result.data
    for state, medoid in enumerate(mf.exports.find_medoids(result)):
        members = np.flatnonzero(state == LABELS)
        if len(members) == 0:
            assert medoid == -1
            continue
        part = frames.trajectory(members)
        means = [md.rmsd(part, part, place).mean() for place in range(len(members))]
        assert medoid == members[int(np.argmin(means))]


# --- a reference structure


def test_rmsd_to_a_reference(result, tmp_path: Path):
    frames = result.data
    crystal = frames.trajectory([25], atoms="all")
    turn = np.linalg.qr(_rng.normal(size=(3, 3)))[0]
    crystal.xyz = crystal.xyz @ (turn * np.sign(np.linalg.det(turn))).astype(np.float32)
    crystal.save(tmp_path / "crystal.pdb")
    found = mf.exports.reference_rmsd(result, tmp_path / "crystal.pdb")
    rmsd = md.rmsd(frames.trajectory(), frames.trajectory([25]))
    assert len(found) == 4
    assert found.n_atoms == frames.n_atoms
    for state in range(3):
        rows = state == LABELS
        np.testing.assert_allclose(found.mean[state], rmsd[rows].mean(), rtol=0, atol=2e-4)
        np.testing.assert_allclose(found.std[state], rmsd[rows].std(), rtol=0, atol=2e-4)
        np.testing.assert_allclose(found.minimum[state], rmsd[rows].min(), rtol=0, atol=2e-4)
        np.testing.assert_allclose(found.peak[state], rmsd[CORES.peaks[state]], rtol=0, atol=2e-4)
        assert found.closest[state] == np.flatnonzero(rows)[rmsd[rows].argmin()]
    assert np.isnan(found.mean[3])
    assert found.closest[3] == -1
    assert "RMSD to crystal.pdb in nm" in str(found)
    table = pd.read_csv(found.write(tmp_path / "reference.csv"))
    np.testing.assert_allclose(table["rmsd_mean_nm"][:3], found.mean[:3], rtol=0, atol=1e-5)


def test_atoms_of_a_reference_are_found_by_number_or_by_order(result):
    crystal = result.data.trajectory([25], atoms="all")
    known = mf.exports.reference_rmsd(result, crystal)
    for residue in crystal.topology.residues:
        residue.resSeq += 100
    np.testing.assert_allclose(mf.exports.reference_rmsd(result, crystal).mean[:3], known.mean[:3])
    heavy = crystal.atom_slice(result.data.atoms)  # no other atoms
    np.testing.assert_allclose(mf.exports.reference_rmsd(result, heavy).mean[:3], known.mean[:3])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # mdtraj leaves it open
def test_references_that_do_not_fit(result, tmp_path: Path):
    crystal = result.data.trajectory([25], atoms="all")
    with pytest.raises(ValueError, match=r"`reference` must have all \d+ clustered atoms.* are missing"):
        mf.exports.reference_rmsd(result, crystal.atom_slice([0, 1, 2, 3]))
    with pytest.raises(FileNotFoundError, match=r"`reference` must be an existing file; got 'none\.pdb'"):
        mf.exports.reference_rmsd(result, "none.pdb")
    with pytest.raises(TypeError, match=r"`reference` must be a structure file or an md\.Trajectory; got"):
        mf.exports.reference_rmsd(result, 5)
    (tmp_path / "broken.pdb").write_text("nothing\n")
    with pytest.raises(ValueError, match="`reference` must be a structure that mdtraj reads"):
        mf.exports.reference_rmsd(result, tmp_path / "broken.pdb")

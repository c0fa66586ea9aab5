"""Structures with all their atoms: the right frames, superposed, in every format, with a true table."""

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
from mdfuzzy.exports import structure_files
from mdfuzzy.exports.structure_files import core_frames

STRIDE = 2
#: Two trajectories of 30 and 20 loaded frames, in three files; three states, one with a core of one frame.
N = 50
LABELS = np.full(N, -1)
LABELS[5:17] = 0
LABELS[[30, 33, 36, 40]] = 1
LABELS[48] = 2
CORES = mf.Cores(np.repeat([0, 1, 2], [25, 20, 5]), LABELS, [10, 33, 48], [np.inf, 2.0, 1.0])
_values = np.random.default_rng(0).dirichlet(np.ones(3), size=N)
_values[LABELS >= 0] = np.eye(3)[LABELS[LABELS >= 0]]
MEMBERSHIPS = memberships_of(_values)


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> mf.Frames:
    folder = tmp_path_factory.mktemp("trajectories")
    paths = [folder / name for name in ("a.xtc", "b.trr", "c.dcd")]
    for seed, (path, length) in enumerate(zip(paths, (40, 20, 39), strict=True)):
        peptide_trajectory(length, seed=seed, first=1000.0 * seed).save(path)
    peptide_trajectory(1).save(folder / "top.pdb")
    return mf.load(
        [[paths[0], paths[1]], paths[2]],
        top=folder / "top.pdb",
        stride=STRIDE,
        timestep=2.5,
        atoms=HEAVY,
        whole=False,
    )


@pytest.fixture(scope="module")
def transition_regions(frames: mf.Frames) -> mf.TransitionRegions:
    return mf.find_transition_regions(frames, MEMBERSHIPS, CORES, threshold=0.2, min_frames=2)


@pytest.fixture(scope="module")
def result(frames: mf.Frames, transition_regions: mf.TransitionRegions) -> mf.Assignment:
    return result_of(frames, CORES, MEMBERSHIPS, transition_regions)


def read_index(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "structures.csv", keep_default_na=False)


def distances(xyz: np.ndarray) -> np.ndarray:
    """Return all distances between atoms of every frame: what superposing leaves as it is."""
    return np.linalg.norm(xyz[:, :, None] - xyz[:, None], axis=-1)


def test_peaks_medoids_cores_and_transition_regions_are_there(
    frames, result, transition_regions, tmp_path: Path
):
    assert len(transition_regions) == 3
    folder = mf.exports.write_structures(tmp_path / "new", result, n=3)
    assert folder == tmp_path / "new"
    expected = {f"state_{state}_peak.pdb": [peak] for state, peak in enumerate(CORES.peaks)}
    expected["state_0_core.pdb"] = [6, 11, 15]  # the middles of thirds of 5-9, 11-16
    expected["state_1_core.pdb"] = [30, 36, 40]
    expected |= {
        f"state_{state}_medoid.pdb": [frame] for state, frame in enumerate(mf.exports.find_medoids(result))
    }
    for (a, b), ranked in zip(transition_regions.pairs, transition_regions.frames, strict=True):
        values = MEMBERSHIPS.values[ranked[:3]]  # the most mixed, from a to b
        expected[f"transition_{a}_{b}.pdb"] = ranked[:3][np.argsort(values[:, b] / values[:, a])].tolist()
    found = {path.name: path for path in folder.glob("*.pdb")}
    assert found.keys() == expected.keys(), "and none for the core of state 2, which is its peak alone"
    index = read_index(folder)
    starts = np.array([0, frames.lengths[0]])
    for name, numbers in expected.items():
        structure = md.load(found[name])
        assert structure.n_atoms == N_ATOMS > frames.n_atoms
        original = frames.trajectory(numbers, atoms="all")
        np.testing.assert_allclose(distances(structure.xyz), distances(original.xyz), rtol=0, atol=3e-4)
        rows = index[index["structure"] == name]
        assert np.array_equal(rows["place"], np.arange(len(numbers)))
        assert np.array_equal(starts[rows["trajectory"]] + rows["frame"], numbers)


def test_files_are_read_in_batches_of_bounded_size(frames, result, tmp_path: Path, monkeypatch):
    one = mf.exports.write_structures(tmp_path / "one", result)
    monkeypatch.setattr(structure_files, "_BATCH_BYTES", 7 * 12 * N_ATOMS)
    read, sizes = mf.Frames.trajectory, []
    monkeypatch.setattr(
        mf.Frames,
        "trajectory",
        lambda self, chosen, **more: sizes.append(len(chosen)) or read(self, chosen, **more),
    )
    other = mf.exports.write_structures(tmp_path / "other", result)
    assert len(sizes) > 2
    assert max(sizes) <= 12
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes()


def test_the_index_says_where_each_structure_comes_from(frames, result, tmp_path: Path):
    folder = mf.exports.write_structures(tmp_path, result, n=4, superpose=False)
    index = read_index(folder)
    assert {Path(path).name for path in index["source"]} == {"a.xtc", "b.trr", "c.dcd"}
    top = frames.top
    for row in index.to_dict("records"):
        written = md.load(folder / row["structure"])[row["place"]]
        read = md.load(row["source"], top=top)[row["source_frame"]]  # by mdtraj alone
        np.testing.assert_allclose(written.xyz, read.xyz, rtol=0, atol=2e-4)
        number = int(np.cumsum([0, *frames.lengths])[row["trajectory"]] + row["frame"])
        assert row["time_ps"] == frames.times[number]
        assert row["core"] == LABELS[number]
        assert row["state"] == MEMBERSHIPS.hard[number]
        memberships = [row[f"membership_{state}"] for state in range(3)]
        np.testing.assert_allclose(memberships, MEMBERSHIPS.values[number], rtol=0, atol=1e-6)
        torsions = [row[f"phi_{frames.residues[0]}"], row[f"psi_{frames.residues[0]}"]]
        expected = [frames.phi[number, 0], frames.psi[number, 0]]
        np.testing.assert_allclose(torsions, expected, rtol=0, atol=1e-3)


def test_structures_are_superposed_by_the_clustered_atoms(frames, result, tmp_path: Path):
    folder = mf.exports.write_structures(tmp_path, result)
    reference = frames.trajectory([CORES.peaks[0]], atoms="all")
    for path in folder.glob("*.pdb"):
        structure = md.load(path)
        assert structure.unitcell_lengths is None
        best = structure[:]
        best.superpose(reference, atom_indices=frames.atoms)
        np.testing.assert_allclose(structure.xyz, best.xyz, rtol=0, atol=3e-4)
    assert "superposed on the peak of state 0" in (folder / "README.txt").read_text()


def test_not_superposed_they_are_as_in_the_files(frames, result, tmp_path: Path):
    folder = mf.exports.write_structures(tmp_path, result, superpose=False)
    structure = md.load(folder / "state_1_peak.pdb")
    np.testing.assert_allclose(structure.unitcell_lengths, 3.0, rtol=0, atol=1e-6)
    assert "are taken from the source files unchanged" in (folder / "README.txt").read_text()


@pytest.mark.filterwarnings("ignore:.*netCDF4.*")
@pytest.mark.parametrize("format", [*structure_files._WITH_ATOMS, *structure_files._COORDINATES])
def test_every_format_can_be_read_again(frames, result, tmp_path: Path, format: str):
    if format == ".gsd":
        pytest.importorskip("gsd.hoomd")
    superpose = format not in structure_files._WITH_BOX
    folder = mf.exports.write_structures(tmp_path, result, n=2, format=format, superpose=superpose)
    index = read_index(folder)
    top = folder / "topology.pdb"
    assert top.exists() == (format not in structure_files._WITH_ATOMS)
    peaks = [row for row in index.to_dict("records") if "_core" in row["structure"]]
    assert len(peaks) == 4
    for row in peaks:
        path = str(folder / row["structure"])
        whole = md.load(path, top=str(top)) if top.exists() else md.load(path)
        number = int(np.cumsum([0, *frames.lengths])[row["trajectory"]] + row["frame"])
        original = frames.trajectory([number], atoms="all")
        found = whole[row["place"]].xyz
        np.testing.assert_allclose(distances(found), distances(original.xyz), rtol=0, atol=3e-3)


def test_the_formats_are_those_of_mdtraj():
    known = set(md.Trajectory(np.zeros((1, 1, 3)), None)._savers())
    assert {*structure_files._WITH_ATOMS, *structure_files._COORDINATES} <= known


def test_without_sources_the_loaded_atoms_are_written(frames, result, tmp_path: Path):
    alone = mf.Frames(frames.xyz, frames.lengths, topology=frames.topology)
    folder = mf.exports.write_structures(tmp_path, replace(result, data=alone))
    structure = md.load(folder / "state_0_core.pdb")
    assert structure.n_atoms == frames.n_atoms
    chosen = core_frames(CORES, 0, 5)
    np.testing.assert_allclose(distances(structure.xyz), distances(frames.xyz[chosen]), rtol=0, atol=3e-4)
    assert not {"source", "time_ps"} & set(read_index(folder))
    assert "with the clustered atoms" in (folder / "README.txt").read_text()


def test_core_frames_are_spread_evenly():
    labels = np.zeros(1001, int)
    cores = mf.Cores(labels, labels, [1000], [np.inf])
    assert core_frames(cores, 0, 5).tolist() == [100, 300, 500, 700, 900]
    assert core_frames(cores, 0, 5000).tolist() == list(range(1000))
    assert len(core_frames(mf.Cores([0], [0], [0], [np.inf]), 0, 5)) == 0


def test_two_kinds_of_export_in_one_folder(frames, result, tmp_path: Path):
    mf.exports.write_structures(tmp_path, result)
    (tmp_path / "README.txt").rename(tmp_path / "notes.txt")
    mf.exports.write_pyemma(tmp_path, result, overwrite=True)
    assert (tmp_path / "structures.csv").exists()
    assert (tmp_path / "state_0_peak.pdb").exists()


# --- bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"format": "docx"}, ValueError, "`format` must be one that mdtraj writes: pdb, .*; got 'docx'"),
        (
            {"format": "rst7"},
            ValueError,
            "`format` must be one without a periodic box.*'rst7'.*superpose=False",
        ),
        ({"n": 0}, ValueError, "`n` must be an int of at least 1; got 0"),
        ({"n": 2.5}, TypeError, "`n` must be an int"),
    ],
)
def test_options_that_are_not_possible(frames, result, tmp_path: Path, options, error, message):
    with pytest.raises(error, match=message):
        mf.exports.write_structures(tmp_path / "new", result, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_format_that_needs_a_box_which_is_not_there(frames, result, tmp_path: Path):
    alone = mf.Frames(frames.xyz, frames.lengths, topology=frames.topology)
    with pytest.raises(ValueError, match=r"because these frames have none; got 'lammpstrj'. Give another"):
        mf.exports.write_structures(
            tmp_path / "new", replace(result, data=alone), format="lammpstrj", superpose=False
        )


def test_a_format_whose_package_is_missing(frames, result, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(structure_files, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="`format` 'h5' needs the package `tables`"):
        mf.exports.write_structures(tmp_path / "new", result, format="h5")


def test_features_without_topology_have_no_structures(result, tmp_path: Path):
    features = mf.Features(np.zeros((N, 1)))
    with pytest.raises(ValueError, match=r"no topology.* or `frames` to `Features`"):
        mf.exports.write_structures(tmp_path / "new", replace(result, data=features))


def test_frames_without_topology_have_no_structures(result, tmp_path: Path):
    frames = mf.load(np.random.default_rng(0).normal(size=(N, 5, 3)))
    with pytest.raises(ValueError, match="These frames have no topology"):
        mf.exports.write_structures(tmp_path / "new", replace(result, data=frames))
    assert list(tmp_path.iterdir()) == []


def test_arguments_of_other_frames_or_states(frames, result, tmp_path: Path):
    with pytest.raises(ValueError, match="`memberships` must be of the frames of `data`, 50; got 49"):
        mf.exports.write_structures(
            tmp_path / "new", replace(result, memberships=memberships_of(MEMBERSHIPS.values[1:]))
        )
    with pytest.raises(TypeError, match="`transition_regions` must be `TransitionRegions`; got Memberships"):
        mf.exports.write_structures(tmp_path / "new", replace(result, transition_regions=MEMBERSHIPS))
    far = mf.TransitionRegions(
        pairs=[[0, 1]],
        sizes=[1],
        fractions=[0.1],
        mixing=[1.0],
        transitions=[0],
        frames=([N],),
        threshold=0.5,
    )
    with pytest.raises(
        ValueError, match=r"`transition_regions` must be between the 3 states and among the 50 frames"
    ):
        mf.exports.write_structures(tmp_path / "new", replace(result, transition_regions=far))
    assert list(tmp_path.iterdir()) == []


def test_failing_in_the_middle_leaves_no_folder(frames, result, tmp_path: Path, monkeypatch):
    save, calls = md.Trajectory.save, []

    def fail(*arguments: object) -> None:
        calls.append(1)
        if len(calls) > 3:
            raise OSError(28, "No space left on device")
        save(*arguments)

    monkeypatch.setattr(md.Trajectory, "save", fail)
    with pytest.raises(OSError, match="No space left"):
        mf.exports.write_structures(tmp_path / "new", result)
    assert list(tmp_path.iterdir()) == []

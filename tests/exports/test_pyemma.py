"""A real PyEMMA, in an environment of its own, takes what is written for it and finds what deeptime finds."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from helpers.results import result_of
from helpers.states import chain_of_states, memberships_of

import mdfuzzy as mf
from mdfuzzy.exports._names import trajectory_names

LAGS = (1, 7, 30)

#: Run by PyEMMA's Python in the exported folder; everything it finds goes into one file.
READ_AND_ESTIMATE = """
import csv, sys, warnings
import numpy as np
from pyemma import msm
from pyemma.util.discrete_trajectories import load_dtraj, read_dtraj

warnings.simplefilter("ignore")  # of trajectories that do not begin in a core
names = [row["name"] for row in csv.DictReader(open("trajectories.csv"))]
text = [read_dtraj(f"cores/{name}.dtraj") for name in names]
arrays = [load_dtraj(f"cores/{name}.npy") for name in names]
states = [read_dtraj(f"states/{name}.dtraj") for name in names]
found = {"text": np.concatenate(text), "arrays": np.concatenate(arrays), "states": np.concatenate(states)}
found["lengths"] = [len(each) for each in text]
core_set = read_dtraj("core_set.txt")
for lag in map(int, sys.argv[2:]):
    for kind, dtrajs in (("text", text), ("arrays", arrays)):
        model = msm.estimate_markov_model(dtrajs, lag, core_set=core_set)
        found[f"matrix-{kind}-{lag}"] = model.transition_matrix
        found[f"timescales-{kind}-{lag}"] = model.timescales()
    found[f"active-{lag}"] = model.active_set
    found[f"stationary-{lag}"] = model.stationary_distribution
offsets = model.dtrajs_milestone_counting_offsets
found["offsets"] = [-1 if offset is None else offset for offset in offsets]
found["milestoned"] = np.concatenate(model.discrete_trajectories_full)

model = msm.estimate_markov_model(arrays, 7, core_set=core_set)
values = [np.load(f"memberships/{name}.npy") for name in names]
values = np.concatenate([u[offset:] for u, offset in zip(values, offsets) if offset is not None])
mean = np.array([values[found["milestoned"] == state].mean(axis=0) for state in model.active_set])
test = model.cktest(len(core_set), memberships=mean, mlags=[0, 1, 2], show_progress=False)
found |= {"memberships": mean, "predictions": test.predictions, "estimates": test.estimates}
np.savez(sys.argv[1], **found)
"""


@pytest.fixture(scope="module")
def run_pyemma(tmp_path_factory: pytest.TempPathFactory):
    """A function that runs PyEMMA's Python with arguments, in a folder, and returns what it prints."""
    python = os.environ.get("MDFUZZY_PYEMMA_PYTHON")
    if not python:
        pytest.skip(
            "there is no PyEMMA: `bash .ci/pyemma FOLDER` makes an environment with it; set "
            "MDFUZZY_PYEMMA_PYTHON to FOLDER/bin/python"
        )
    config = tmp_path_factory.mktemp("config")
    (config / "pyemma.cfg").write_text("[pyemma]\ncheck_version = False\n")  # otherwise it asks a server
    environment = {**os.environ, "PYEMMA_CFG_DIR": str(config)}
    environment.pop("PYEMMA_NJOBS", None)  # it starts processes, as it does for its users

    def run(folder: Path, *arguments: str) -> str:
        done = subprocess.run(
            [python, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


#: One trajectory begins outside every core, one (the third) is too short to touch any.
CHAIN = chain_of_states([4000, 2500, 3, 6000], seed=2)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data, cores, memberships = CHAIN
    with pytest.warns(UserWarning, match="1 of 4 trajectories touch no core"):
        return mf.exports.write_pyemma(
            tmp_path_factory.mktemp("export") / "new", result_of(data, cores, memberships), lag=7
        )


@pytest.fixture(scope="module")
def found(run_pyemma, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    path = tmp_path_factory.mktemp("found") / "found.npz"
    run_pyemma(exported, "-c", READ_AND_ESTIMATE, str(path), *map(str, LAGS))
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def milestoned() -> mf.kinetics.Milestoned:
    data, cores, _ = CHAIN
    with pytest.warns(UserWarning, match="touch no core"):
        return mf.kinetics.milestoned_dtrajs(data, cores)


def test_the_chain_has_the_difficult_cases(milestoned):
    assert milestoned.untouched == (2,)
    assert np.any(milestoned.offsets > 0)


def test_pyemma_reads_both_formats(found):
    data, cores, memberships = CHAIN
    assert np.array_equal(found["text"], cores.core_of)
    assert np.array_equal(found["arrays"], cores.core_of)
    assert np.array_equal(found["states"], memberships.hard)
    assert np.array_equal(found["lengths"], data.lengths)


def test_pyemma_milestones_as_we_do(found, milestoned):
    assert np.array_equal(found["milestoned"], np.concatenate(milestoned.dtrajs))
    touched = found["offsets"][found["offsets"] >= 0]
    assert np.array_equal(touched, milestoned.offsets)


@pytest.mark.parametrize("kind", ["text", "arrays"])
@pytest.mark.parametrize("lag", LAGS)
def test_pyemma_and_deeptime_estimate_the_same_model(found, milestoned, lag: int, kind: str):
    ours = mf.kinetics.markov_model(milestoned, lag=lag)
    assert np.array_equal(found[f"active-{lag}"], ours.states)
    np.testing.assert_allclose(found[f"matrix-{kind}-{lag}"], ours.transition_matrix, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[f"stationary-{lag}"], ours.stationary, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[f"timescales-{kind}-{lag}"], ours.timescales, rtol=1e-5)


def test_the_test_of_chapman_and_kolmogorov_takes_memberships(found, milestoned):
    soft = found["memberships"]
    data, _, memberships = CHAIN
    parts = data.split(memberships.values)
    parts = [parts[i][start:] for i, start in zip(milestoned.trajectories, milestoned.offsets, strict=True)]
    values, states = np.concatenate(parts), np.concatenate(milestoned.dtrajs)
    expected = [values[states == state].mean(axis=0) for state in range(4)]
    np.testing.assert_allclose(soft, expected, rtol=0, atol=1e-12)
    # What it computes, from our own model: the flow between fuzzy sets after 0, 1 and 2 lags.
    ours = mf.kinetics.markov_model(milestoned, lag=7)
    start = soft * ours.stationary[:, None]
    start /= start.sum(axis=0)
    for steps in (1, 2):
        expected = start.T @ np.linalg.matrix_power(ours.transition_matrix, steps) @ soft
        np.testing.assert_allclose(found["predictions"][steps], expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["estimates"][1], found["predictions"][1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("arguments", [(), ("30",)], ids=["lag of the export", "another lag"])
def test_the_script_runs_as_it_is(run_pyemma, exported: Path, milestoned, tmp_path: Path, arguments: tuple):
    output = run_pyemma(tmp_path, str(exported / "estimate_msm.py"), *arguments)  # from any folder
    lines = dict(line.split(":", 1) for line in output.splitlines() if ":" in line)
    lag = int(*arguments) if arguments else 7
    ours = mf.kinetics.markov_model(milestoned, lag=lag)
    printed = [float(word) for word in lines["timescales"].split()[:-1]]
    np.testing.assert_allclose(printed, ours.timescales, rtol=0, atol=1e-3)
    assert lines["timescales"].endswith("frames")
    assert f"model at lag time {lag} frames" in output
    assert lines["states"].split() == ["0", "1", "2", "3"]
    assert float(output.split()[-1]) < 0.05, "the chain is a Markov chain, so the test must be passed"


@pytest.mark.parametrize("arguments", [(), ("30",)], ids=["lag of the export", "another lag"])
def test_the_script_for_deeptime_runs_as_it_is(exported: Path, milestoned, tmp_path: Path, arguments: tuple):
    command = [sys.executable, str(exported / "estimate_msm_deeptime.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    ours = mf.kinetics.markov_model(milestoned, lag=int(*arguments) if arguments else 7)
    lines = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    printed = [float(word) for word in lines["timescales"].split()[:-1]]
    np.testing.assert_allclose(printed, ours.timescales, rtol=0, atol=1e-3)
    populations = [float(word) for word in lines["stationary populations"].split()]
    np.testing.assert_allclose(populations, ours.stationary, rtol=0, atol=1e-4)
    passage = [[float(word) for word in line.split()] for line in done.stdout.splitlines()[-4:]]
    np.testing.assert_allclose(passage, ours.mfpt, rtol=1e-3)


def test_the_script_for_deeptime_takes_one_state(tmp_path: Path):
    data, cores, _ = chain_of_states([50, 60], n_states=1)
    folder = mf.exports.write_pyemma(
        tmp_path / "new", result_of(data, cores, memberships_of(np.ones((110, 1))))
    )
    command = [sys.executable, "estimate_msm_deeptime.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "states: 0\n" in done.stdout


def test_times_are_in_picoseconds_where_they_are_known(run_pyemma, tmp_path: Path):
    _, cores, memberships = CHAIN
    n = len(memberships)
    frames = mf.load(np.random.default_rng(0).normal(size=(n, 4, 3)), timestep=0.5)
    folder = mf.exports.write_pyemma(tmp_path / "new", result_of(frames, cores, memberships), lag=6)
    output = run_pyemma(folder, "estimate_msm.py")
    ours = mf.kinetics.markov_model(mf.kinetics.milestoned_dtrajs(frames, cores), lag=6, timestep=0.5)
    assert "model at lag time 3.0 ps" in output
    printed = next(line for line in output.splitlines() if line.startswith("timescales:")).split()[1:-1]
    np.testing.assert_allclose([float(word) for word in printed], ours.timescales, rtol=0, atol=1e-3)


def test_one_state_alone_ends_well(run_pyemma, tmp_path: Path):
    data, cores, _ = chain_of_states([50, 60], n_states=1)
    memberships = mf.Memberships(
        values=np.ones((110, 1)), lost=np.zeros(110), beta=2.0, log_weights=np.zeros(110), exponent=1.0
    )
    folder = mf.exports.write_pyemma(tmp_path / "new", result_of(data, cores, memberships))
    assert "states: 0\n" in run_pyemma(folder, "estimate_msm.py")


def test_the_page_about_pyemma_says_what_works(run_pyemma, exported: Path):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "feed-pyemma.md"
    if not page.exists():
        pytest.skip("the tests are run without the repository around them")
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    code = "".join(blocks).replace('["ala2_00", "ala2_03"]', '["0", "1", "3"]').replace("for-pyemma", ".")
    make = """
    microstates = [3 * np.load(f"states/{name}.npy") for name in names]
    microstates = [states + np.arange(len(states)) % 3 for states in microstates]
    """
    code = code.replace("values =", f"{dedent(make)}values =")
    code += "print(its.timescales.shape, test.memberships.shape)"
    assert run_pyemma(exported, "-W", "ignore", "-c", code).endswith("(6, 3) (12, 4)\n")


def test_names_of_files_that_are_too_long_or_equal(tmp_path):
    """Stems of 250 bytes leave no room for a suffix; two of them that differ at the end stay different."""
    frames = mf.datasets.alanine_dipeptide(stride=100)
    stems = ["ü" * 120 + "a", "ü" * 120 + "b", "x" * 250]
    for first, stem in enumerate(stems):
        frames.trajectory(np.arange(first, first + 60)).save(tmp_path / "short.xtc")
        (tmp_path / "short.xtc").rename(tmp_path / f"{stem}.xtc")
    frames.trajectory([0]).save(tmp_path / "top.pdb")
    for first, folder in enumerate(("one", "two")):
        (tmp_path / folder).mkdir()
        frames.trajectory(np.arange(100 + first, 160 + first)).save(tmp_path / "short.xtc")
        (tmp_path / "short.xtc").rename(tmp_path / folder / f"{stems[2]}.xtc")
    paths = [tmp_path / f"{stem}.xtc" for stem in stems[:2]]
    paths += [tmp_path / folder / f"{stems[2]}.xtc" for folder in ("one", "two")]
    names = trajectory_names(mf.load(paths, top=tmp_path / "top.pdb"))
    assert len(set(names)) == 4
    assert max(len(f"{name}.dtraj".encode()) for name in names) <= 130
    assert names[0][:50] == "ü" * 50
    for name in names:
        (tmp_path / f"{name}.dtraj").touch()

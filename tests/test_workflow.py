"""The Snakemake pipeline in examples/: run by a real snakemake, on the bundled trajectories."""

import csv
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mdfuzzy as mf

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "snakemake"
if not EXAMPLE.is_dir():
    pytest.skip("the tests are run without the repository around them", allow_module_level=True)
if find_spec("snakemake") is None:
    pytest.skip("snakemake is not installed: pip install '.[workflow]'", allow_module_level=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A copy of the example that reads the bundled trajectories, every 4 ps."""
    folder = tmp_path_factory.mktemp("workflow") / "with a space"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".snakemake", "results"))
    text = (folder / "config.yaml").read_text()
    text = text.replace("../../mdfuzzy/datasets/ala2", str(mf.datasets.folder()))
    text = text.replace("--stride 5", "--stride 20 --prominence 1").replace("lag: 10", "lag: 2")
    (folder / "config.yaml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def snakemake(folder):
    """A function that runs snakemake in the folder, with the copy of mdfuzzy that is tested."""
    programs = folder.parent / "programs"
    programs.mkdir()
    for name, start in (("mdfuzzy", "from mdfuzzy.cli import main; sys.exit(main())"), ("python", None)):
        command = f"'{sys.executable}'" if start is None else f"'{sys.executable}' -c 'import sys; {start}'"
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(mf.__file__).parents[1]),
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
    }

    def run(*options: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *options]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=250
        )

    return run


@pytest.fixture(scope="module")
def finished(snakemake, folder) -> Path:
    done = snakemake()
    logs = "\n".join(log.read_text() for log in folder.glob("results/logs/*"))
    assert done.returncode == 0, done.stderr + logs
    return folder / "results"


def test_from_trajectories_to_the_markov_model(finished):
    result = mf.RunDir(finished / "states").load()
    dtrajs = mf.kinetics.milestoned_dtrajs(result.data, result.milestones)
    model = mf.kinetics.markov_model(dtrajs, lag=2, timestep=result.data.timestep)
    with open(finished / "markov_model.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:3] == ["state", "population", f"mean_passage_to_{model.states[0]}_ps"]
    values = np.array(rows, float)
    np.testing.assert_array_equal(values[:, 0], model.states)
    np.testing.assert_allclose(values[:, 1], model.stationary, rtol=2e-5)
    np.testing.assert_allclose(values[:, 2:], model.mfpt, rtol=2e-5)
    assert len(values) >= 3
    scales = np.loadtxt(finished / "timescales.csv", delimiter=",", skiprows=1)
    assert scales[0, 0] == pytest.approx(4.0)
    assert (finished / "timescales.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_is_done_twice_and_other_settings_go_on_from_what_is_there(finished, snakemake, folder):
    again = snakemake()
    assert again.returncode == 0
    assert "Nothing to be done" in again.stdout + again.stderr
    neighbours = finished / "states" / "data" / "neighbors.json"
    before = neighbours.stat().st_mtime_ns
    config = folder / "config.yaml"
    config.write_text(config.read_text().replace("--prominence 1", "--prominence 1 --beta 0.5"))
    colder = snakemake("results/states/data/visits.json")
    assert colder.returncode == 0, colder.stderr
    assert mf.RunDir(finished / "states").settings.beta == 0.5
    assert neighbours.stat().st_mtime_ns == before


def test_a_pattern_that_matches_no_file(snakemake):
    done = snakemake("--dry-run", "--config", "trajectories=nowhere/*.xtc")
    assert done.returncode != 0
    assert "`trajectories` in config.yaml matches no file: 'nowhere/*.xtc'" in done.stdout + done.stderr

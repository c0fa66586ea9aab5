"""`mdfuzzy run`, killed at five random moments and started again each time, ends as if undisturbed."""

import json
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf

KILLS = 5
#: The command line, with small blocks of the search. Before and after each write it says so and waits for a
#: word, so that however fast or slow the machine is it cannot end before it is killed.
PROGRAM = """
import sys
from mdfuzzy.store import _array_folder
from mdfuzzy.neighbors import rmsd
from mdfuzzy.cli import main

rmsd.BLOCK = 2
put = _array_folder.ArrayFolder.put

def told(self, name, key="", /, **arrays):
    print("begin", name, flush=True)
    sys.stdin.readline()
    put(self, name, key, **arrays)
    print("end", name, flush=True)
    sys.stdin.readline()

_array_folder.ArrayFolder.put = told
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory) -> list[str]:
    """The command without its output folder, on 1,500 frames."""
    folder = tmp_path_factory.mktemp("files")
    frames = mf.datasets.alanine_dipeptide(stride=20)
    for number, part in enumerate(frames.split(np.arange(len(frames)))):
        frames.trajectory(part).save(folder / f"run{number}.xtc")
    frames.trajectory([0]).save(folder / "top.pdb")
    files = [str(path) for path in sorted(folder.glob("*.xtc"))]
    options = ["--top", str(folder / "top.pdb"), "--prominence", "1", "--no-scan-beta", "--bare"]
    return [sys.executable, "-c", PROGRAM, "run", *files, *options, "-k", "10", "-o"]


def start(command: list[str], folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [*command, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(mf.__file__).parents[1],
    )


def writes(process: subprocess.Popen):
    """Yield each word about a write; the process goes on when the next is asked for."""
    for line in process.stdout:
        if line.startswith(("begin ", "end ")):
            yield line.strip()
            process.stdin.write("go on\n")
            process.stdin.flush()


def finish(command: list[str], folder: Path) -> list[str]:
    """Run to the end and return what was written."""
    with start(command, folder) as process:
        written = [line.split()[1] for line in writes(process) if line.startswith("end")]
        errors = process.stderr.read()
    assert process.returncode == 0, errors
    return written


def results(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Return all arrays of all steps."""
    store = mf.RunDir(folder)
    keys = {step: json.loads((folder / "data" / f"{step}.json").read_text())["key"] for step in store.steps}
    return {f"{step} {key}": store.get(step, key=key) for step, key in keys.items()}


def test_a_run_that_is_killed_five_times(command, tmp_path):
    rng = np.random.default_rng(0)
    undisturbed = finish(command, tmp_path / "undisturbed")
    blocks = sum(name.startswith("neighbors-") for name in undisturbed)
    assert blocks > KILLS
    killed_at = []
    for _ in range(KILLS):
        with start(command, tmp_path / "disturbed") as process:
            *_, event = islice(writes(process), int(rng.integers(1, 6)))
            assert process.poll() is None, process.stderr.read()
            process.stdin.write("go on\n")
            process.stdin.flush()
            time.sleep(rng.uniform(0, 0.02))  # at work on the next block, at a write, or waiting
            process.kill()
            process.wait()
            killed_at.append(event)
    assert any(event.startswith("begin neighbors-") for event in killed_at)
    rest = finish(command, tmp_path / "disturbed")
    assert 0 < len(rest) < len(undisturbed)  # it went on, and did not begin anew
    expected, found = results(tmp_path / "undisturbed"), results(tmp_path / "disturbed")
    assert found.keys() == expected.keys()
    for step, arrays in expected.items():
        assert found[step].keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[step][name].dtype == array.dtype
            assert_array_equal(found[step][name], array, err_msg=f"{step} {name}")
    assert not list((tmp_path / "disturbed").rglob("*.draft"))
    assert not (tmp_path / "disturbed" / "neighbors.parts").exists()

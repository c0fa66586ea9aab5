"""Files are written on the workers of a Dask cluster: the same bytes, and lost workers."""

import os
import signal
from pathlib import Path

import pytest

import mdfuzzy as mf
from mdfuzzy.cli import main
from mdfuzzy.exports import table
from mdfuzzy.workers import queue

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def result(files):
    return mf.cluster(mf.load(**files), mf.Settings(prominence=1.0))


def content(folder: Path) -> dict[str, bytes]:
    """Return the content of all files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("options", [{}, {"every": 7, "superpose": False}, {"n": 20}, {"format": "dcd"}])
def test_trajectories(client, result, tmp_path, options):
    here = mf.exports.write_trajectories(tmp_path / "here", result, **options)
    there = mf.exports.write_trajectories(tmp_path / "there", result, client=client, **options)
    assert content(there) == content(here)
    assert len([name for name in content(here) if name.startswith("state_")]) == result.n_states


@pytest.mark.parametrize("name", ["frames.csv", "frames.csv.gz", "frames.parquet"])
def test_table(client, result, tmp_path, name, monkeypatch):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(table, "_CHUNK", 700)
    here = mf.exports.write_table(tmp_path / f"here-{name}", result)
    there = mf.exports.write_table(tmp_path / f"there-{name}", result, client=client)
    assert there.read_bytes() == here.read_bytes()


def test_a_worker_that_is_lost_costs_its_files(client, result, tmp_path, monkeypatch):
    in_order, killed = queue.results_in_order, []

    def kill_after_two(*arguments):
        for number, found in enumerate(in_order(*arguments)):
            if number == 2:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
            yield found

    here = mf.exports.write_trajectories(tmp_path / "here", result)
    monkeypatch.setattr(queue, "results_in_order", kill_after_two)
    there = mf.exports.write_trajectories(tmp_path / "there", result, client=client)
    assert len(killed) == 1
    assert content(there) == content(here)


def test_files_that_changed(client, files, tmp_path):
    trajectory = mf.load(**files).trajectory()
    trajectory.save(str(tmp_path / "a.xtc"))
    result = mf.cluster(mf.load(tmp_path / "a.xtc", top=files["top"]), mf.Settings(prominence=1.0))
    trajectory.xyz = trajectory.xyz[::-1] * 0.9
    trajectory.save(str(tmp_path / "a.xtc"))
    with pytest.raises(mf.InputError, match="was changed since its frames were loaded"):
        mf.exports.write_trajectories(tmp_path / "out", result, superpose=False, client=client)
    assert not (tmp_path / "out").exists()


def test_the_command_line(client, files, tmp_path):
    address, out = client.scheduler.address, str(tmp_path / "out")
    options = ["--top", files["top"], "--prominence", "1.0", "--bare", "--dask", address]
    assert main(["run", files["paths"], *options, "-o", out]) == 0
    for name, more in (("here", []), ("there", ["--dask", address])):
        given = ["export", out, "--trajectories", "--table", "-o", str(tmp_path / name)]
        assert main([*given, *more]) == 0
    for name in ("frames.csv", "trajectories/state_0.xtc", "trajectories/state_1.xtc"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()

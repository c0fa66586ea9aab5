"""Whole runs on a Dask cluster: reading, states of a sample, memberships of all frames and exports."""

import os
import signal

import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.pipeline import extension

pytest.importorskip("distributed")

SETTINGS = mf.Settings(fit_frames=1000, prominence=1.0)


def run(files, folder, client=None) -> tuple[mf.Clustering, bytes]:
    """Return the clustering and the table of all frames."""
    store = mf.RunDir(folder / "run")
    frames = mf.load(**files, scratch=store.scratch_folder, client=client)
    result = mf.cluster(frames, SETTINGS, store=store, client=client)
    return result, mf.exports.write_table(folder / "frames.csv", result, client=client).read_bytes()


def assert_same(there: mf.Clustering, here: mf.Clustering) -> None:
    """Check that all numbers agree to the bit."""
    assert_array_equal(there.log_density, here.log_density)
    for name in ("values", "lost", "log_weights"):
        assert_array_equal(getattr(there.memberships, name), getattr(here.memberships, name))
    for name in ("frames", "nearest", "distances"):
        assert_array_equal(getattr(there.sample, name), getattr(here.sample, name))
    assert there.sample.error == here.sample.error
    for name in ("cores", "milestones"):
        assert_array_equal(getattr(there, name).core_of, getattr(here, name).core_of)


@pytest.fixture(scope="module")
def here(files, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extension, "CHUNK", 250)
        return run(files, tmp_path_factory.mktemp("here"))


def test_one_worker_and_two_give_the_bits_of_one_machine(client, files, here, tmp_path, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(extension, "CHUNK", 250)
    folders = {1: tmp_path / "one", 2: tmp_path / "two"}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as alone,
    ):
        found = {1: run(files, folders[1], alone)}
    found[2] = run(files, folders[2], client)
    for result, table in found.values():
        assert_same(result, here[0])
        assert table == here[1]


def test_a_worker_killed_in_the_middle_costs_its_tasks(client, files, here, tmp_path, monkeypatch):
    monkeypatch.setattr(extension, "CHUNK", 250)
    assigned, killed, done = extension._assigned_on_workers, [], []

    def kill_after_two(*arguments):
        for chunk, found in assigned(*arguments):
            done.append(chunk.start)
            if len(done) == 2:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
            yield chunk, found

    monkeypatch.setattr(extension, "_assigned_on_workers", kill_after_two)
    result, table = run(files, tmp_path, client)
    assert len(killed) == 1
    assert sorted(done) == list(range(0, 3000, 500))  # each chunk once, though a worker was lost
    assert_same(result, here[0])
    assert table == here[1]

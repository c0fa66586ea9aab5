"""Neighbours on a Dask cluster with real worker processes: the bits of one machine, and what goes wrong."""

import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

distributed = pytest.importorskip("distributed")

from helpers.worker_tasks import compiled, give_up, peak_memory  # noqa: E402

import mdfuzzy as mf  # noqa: E402
from mdfuzzy.cli import main  # noqa: E402
from mdfuzzy.frames.symmetry import Equivalence, Symmetry  # noqa: E402
from mdfuzzy.neighbors import _choice, rmsd  # noqa: E402
from mdfuzzy.neighbors._dask import replicated  # noqa: E402
from mdfuzzy.neighbors.growing import SPARE  # noqa: E402
from mdfuzzy.pipeline import extension  # noqa: E402
from mdfuzzy.store import rundir  # noqa: E402
from mdfuzzy.workers import cluster as workers  # noqa: E402

Client = distributed.Client
K = 12
#: Shorter waits of Dask for what is lost. But a nanny is not given up: 15 s after a worker ended Dask would
#: close it if the next one has just been killed, too.
QUICK = {
    "distributed.comm.timeouts.connect": "3s",
    "distributed.scheduler.worker-ttl": "10s",
    "distributed.deploy.lost-worker-timeout": "1h",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    """Two worker processes of one thread each."""
    import dask

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": "4GB"}
    with (
        dask.config.set(QUICK),
        distributed.LocalCluster(n_workers=2, silence_logs=logging.CRITICAL, **options) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster) -> Iterator[Client]:
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def frames() -> mf.Frames:
    return mf.datasets.alanine_dipeptide(stride=20)


@pytest.fixture(scope="module")
def local(frames) -> mf.Neighbors:
    return mf.rmsd_neighbors(frames, n_neighbors=K)


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    """Fifteen blocks or so, in several tasks each."""
    monkeypatch.setattr(rmsd, "BLOCK", 2)
    monkeypatch.setattr(replicated, "TASK", 1)


both_layouts = pytest.mark.parametrize("layout", ["scattered", "sharded"])


def assert_same(found: mf.Neighbors, expected: mf.Neighbors) -> None:
    """Check that two searches agree to the bit."""
    assert_array_equal(found.indices, expected.indices)
    assert_array_equal(found.distances.view(np.int32), expected.distances.view(np.int32))
    assert (found.exact, found.recall) == (expected.exact, expected.recall)


class Kept(dict):
    """Keeps blocks in memory, and calls something once two of them are there."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self.then = then

    def put(self, name: str, **arrays: np.ndarray) -> None:
        self[name] = arrays
        if len(self) == 2:
            self.then()


# --- the same bits


@both_layouts
class TestSameBits:
    def test_from_files(self, client, frames, local, layout):
        assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout=layout), local)

    def test_from_arrays_in_small_blocks(self, client, frames, local, layout, small_blocks, caplog):
        with caplog.at_level(logging.INFO, "mdfuzzy"):
            found = mf.rmsd_neighbors(frames.xyz, n_neighbors=K, client=client, layout=layout)
        assert_same(found, mf.rmsd_neighbors(frames.xyz, n_neighbors=K))
        assert ("1,500 frames, sent to the workers" in caplog.text) == (layout == "sharded")

    def test_equally_near_frames(self, client, frames, layout, small_blocks):
        xyz = np.repeat(frames.xyz[::10], 7, axis=0)[np.random.default_rng(0).permutation(1050)]
        here = mf.rmsd_neighbors(xyz, n_neighbors=K)
        assert_same(mf.rmsd_neighbors(xyz, n_neighbors=K, client=client, layout=layout), here)

    def test_new_frames(self, client, frames, layout, small_blocks):
        options = {"n_neighbors": K, "queries": frames[1000:]}
        here = mf.rmsd_neighbors(frames[:1000], **options)
        assert_same(mf.rmsd_neighbors(frames[:1000], client=client, layout=layout, **options), here)

    @pytest.mark.parametrize("new", [False, True])
    def test_within_a_radius(self, client, frames, layout, new, small_blocks):
        fitted, queries = (frames[:1000], frames[1000:]) if new else (frames, None)
        here, there = (
            mf.rmsd_neighbors_within(fitted, radius=0.03, queries=queries, **options)
            for options in ({}, {"client": client, "layout": layout})
        )
        for name in ("indptr", "indices", "distances"):
            assert_array_equal(getattr(there, name), getattr(here, name))

    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
    def test_memory_stays_below_what_was_logged(self, client, frames, layout, caplog):
        with caplog.at_level(logging.INFO, "mdfuzzy"):
            mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout=layout)
        estimate = float(re.search(r"at most ([\d.]+) GB on a worker", caplog.text)[1])
        assert re.search(r"1,500 frames on 2 workers of at least 4.0 GB, 2 threads: ", caplog.text)
        assert max(client.run(peak_memory).values()) / 1e9 <= estimate + 0.05

    def test_progress(self, client, frames, layout, capfd):
        mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout=layout, progress=True)
        assert "1500/1500" in capfd.readouterr().err


@both_layouts
def test_workers_with_threads(frames, local, layout, small_blocks):
    """Four workers in this process, so there are two copies of each of two shards."""
    options = {"threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=4, **options) as cluster, Client(cluster) as client:
        assert workers.find_workers(client).threads == 8
        assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout=layout), local)


def test_approximate_search_on_copies_of_the_index(client, monkeypatch):
    monkeypatch.setattr("mdfuzzy.neighbors._choice.FEW", 10**9)  # by cells
    monkeypatch.setattr("mdfuzzy.neighbors._recall.WORTH", 0)
    frames = mf.datasets.alanine_dipeptide(stride=3)
    here = mf.rmsd_neighbors(frames, n_neighbors=K, recall=0.9)
    assert here.recall is not None
    found = mf.rmsd_neighbors(frames, n_neighbors=K, recall=0.9, client=client, layout="scattered")
    assert_same(found, here)


def test_tiles_on_workers(client, frames, local, monkeypatch):
    class Tiles(_choice.Way):
        def __init__(self, name, *rest):
            super().__init__("tiles", *rest)

    monkeypatch.setattr(_choice, "Way", Tiles)
    assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout="scattered"), local)


def test_equivalent_atoms_on_workers(client, frames, small_blocks):
    swap = Equivalence(np.array([1, 4]), np.array([[0, 1], [1, 0]]), "two atoms")
    data = replace(frames, symmetry=Symmetry((swap,), frames.n_atoms), reading=None)
    expected = mf.rmsd_neighbors(data, n_neighbors=K)
    assert_same(mf.rmsd_neighbors(data, n_neighbors=K, client=client), expected)
    with pytest.raises(ValueError, match=r"`layout` must be 'scattered' for frames with equivalent atoms"):
        mf.rmsd_neighbors(data, n_neighbors=K, client=client, layout="sharded")


def test_points_on_workers(client):
    points = np.random.default_rng(0).normal(size=(2000, 7))
    here = mf.euclidean_neighbors(points, n_neighbors=K)
    assert_same(mf.euclidean_neighbors(points, n_neighbors=K, client=client), here)


def test_workers_take_the_kernels_from_the_disk(client, frames):
    for layout in ("scattered", "sharded"):
        mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout=layout)
    assert set(client.run(compiled).values()) == {(1, 0)}


# --- what goes wrong


def kill_a_worker(client: Client) -> None:
    """Kill one of the workers; its nanny will start another."""
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def wait_for_another(client: Client, before: set[str]) -> None:
    """Wait until there are two workers again, not those of before."""
    for _ in range(600):
        now = set(client.nthreads())
        if len(now) == 2 and now != before:
            return
        time.sleep(0.1)
    pytest.fail("no worker was killed, or none took its place")


@both_layouts
def test_kept_pairs_within_a_radius(cluster, client, frames, layout, small_blocks, caplog):
    here = mf.rmsd_neighbors_within(frames, radius=0.03)
    lost = Client(cluster)
    store = Kept(then=lost.close)
    with pytest.raises(ConnectionError, match="is lost"):
        mf.rmsd_neighbors_within(frames, radius=0.03, client=lost, layout=layout, store=store)
    assert 2 <= len(store) < 14
    kept = {name: block["rows"] for name, block in store.items()}
    left = len(frames) - sum(map(len, kept.values()))
    with caplog.at_level(logging.INFO, "mdfuzzy"):
        there = mf.rmsd_neighbors_within(frames, radius=0.03, client=client, layout=layout, store=store)
    assert len(store) > len(kept)
    assert all(store[name]["rows"] is rows for name, rows in kept.items())
    assert_array_equal(np.sort(np.concatenate([block["rows"] for block in store.values()])), np.arange(1500))
    for name in ("indptr", "indices", "distances"):
        assert_array_equal(getattr(there, name), getattr(here, name))
    estimate = re.search(
        rf"1,500 frames within 0.03 nm \({left:,} of them remaining\) on 2 workers .* "
        rf"([\d,]+) pairs, [\d.]+ GB; {layout}",
        caplog.text,
    )
    assert 0.4 < int(estimate[1].replace(",", "")) / len(here.indices) < 2.5


@both_layouts
@pytest.mark.parametrize("source", ["files", "arrays"])
def test_a_worker_is_killed_in_the_middle(client, frames, local, layout, source, small_blocks):
    data = frames if source == "files" else frames.xyz
    before = set(client.nthreads())
    store = Kept(then=lambda: kill_a_worker(client))
    expected = local if source == "files" else mf.rmsd_neighbors(data, n_neighbors=K)
    assert_same(mf.rmsd_neighbors(data, n_neighbors=K, client=client, layout=layout, store=store), expected)
    wait_for_another(client, before)


def lose_the_index(client: Client) -> None:
    """Let Dask drop the copies of the index that no task needs now, and kill the worker with the last."""
    (index,) = (key for key in client.futures if key.startswith("RmsdIndex"))
    while len(holders := client.who_has()[index]) > 1:
        client.amm.run_once()  # as it does by itself every two seconds
        time.sleep(0.01)
    os.kill(client.run(os.getpid)[holders[0]], signal.SIGKILL)


def test_the_last_copy_of_the_index_is_lost(client, frames, local, small_blocks, caplog):
    before = set(client.nthreads())
    store = Kept(then=lambda: lose_the_index(client))
    with caplog.at_level(logging.INFO, "mdfuzzy"):
        found = mf.rmsd_neighbors(frames, n_neighbors=K, client=client, layout="scattered", store=store)
    assert_same(found, local)
    assert caplog.text.count("all workers with some of the data are lost: it is sent again") == 1
    wait_for_another(client, before)


@both_layouts
def test_a_client_that_disconnects_goes_on_from_the_run_directory(
    cluster, client, frames, layout, small_blocks, tmp_path, monkeypatch
):
    settings = mf.Settings(prominence=1.0, k=K // 2)
    expected = mf.cluster(frames, settings)
    run = mf.RunDir(tmp_path)
    lost = Client(cluster)
    put, written = rundir.ArrayFolder.put, []

    def put_and_count(self, name, key="", /, **arrays):
        put(self, name, key, **arrays)
        written.append(name)
        if len(written) == 2:
            lost.close()

    monkeypatch.setattr(rundir.ArrayFolder, "put", put_and_count)
    with pytest.raises(
        ConnectionError, match=r"The Dask cluster of `client` is lost, .* kept in the run directory"
    ):
        mf.cluster(frames, settings, store=run, client=lost, layout=layout)
    kept = set(written)
    assert 2 <= len(kept) < 14
    assert all(name.startswith(f"neighbors-{K + SPARE}-1-") for name in kept)
    written.clear()
    result = mf.cluster(frames, settings, store=run, client=client, layout=layout)
    assert not kept & set(written)
    assert_same(result.neighbors, expected.neighbors)
    assert_array_equal(result.memberships.values, expected.memberships.values)
    assert not list(tmp_path.glob("*.parts"))


def test_blocks_of_a_cluster_are_those_of_one_machine(cluster, frames, local, small_blocks):
    lost = Client(cluster)
    store = Kept(then=lost.close)
    with pytest.raises(ConnectionError, match="is lost"):
        mf.rmsd_neighbors(frames, n_neighbors=K, client=lost, store=store)
    kept = len(store)
    assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, store=store), local)
    assert len(store) > kept


def test_pairs_of_a_cluster_are_those_of_one_machine(client, frames, small_blocks):
    here, there = Kept(), Kept()
    mf.rmsd_neighbors_within(frames, radius=0.03, store=here)
    mf.rmsd_neighbors_within(frames, radius=0.03, client=client, layout="scattered", store=there)
    assert here.keys() == there.keys()
    for name, block in here.items():
        assert there[name].keys() == block.keys()
        for each, array in block.items():
            assert there[name][each].dtype == array.dtype
            assert_array_equal(there[name][each], array)


def test_the_only_worker_comes_late_and_is_lost(frames, local, small_blocks, caplog, monkeypatch):
    import dask

    with (
        dask.config.set(QUICK),
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as alone,
        Client(alone) as client,
        caplog.at_level(logging.INFO, "mdfuzzy"),
    ):
        timer = threading.Timer(0.5, alone.scale, [1])
        timer.start()
        assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, client=client), local)
        assert "waiting for the first worker of" in caplog.text
        store = Kept(then=lambda: kill_a_worker(client))
        assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, client=client, store=store), local)
        monkeypatch.setattr(workers, "_RETURN", 0.1)

        def end_it() -> None:
            alone.scale(0)
            while client.nthreads():
                time.sleep(0.01)

        store = Kept(then=end_it)
        with pytest.raises(ConnectionError, match="all workers with some of the data"):
            mf.rmsd_neighbors(frames, n_neighbors=K, client=client, store=store)
        timer.join()


def test_the_error_of_a_task_is_raised_here(client):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(workers.results(client, iter([(0, lambda: client.submit(open, "/nowhere"))]), 1))


def test_a_block_that_ends_every_worker(client):
    with pytest.raises(RuntimeError, match="Several workers ended while they computed the same block"):
        list(workers.results(client, iter([(0, lambda: client.submit(give_up, "block"))]), 1))


def test_a_block_that_is_always_forgotten(client):
    tries = []

    def submit() -> distributed.Future:
        tries.append(client.submit(abs, -1, pure=False))
        tries[-1].cancel()
        return tries[-1]

    with pytest.raises(RuntimeError, match=r"data of a block were lost 4 times, .* rerun with more"):
        list(workers.results(client, iter([(0, submit)]), 1))
    assert len(tries) == 4


def test_files_that_changed(client, frames, tmp_path):
    frames.trajectory().save(tmp_path / "run.xtc")
    frames.trajectory([0]).save(tmp_path / "top.pdb")
    loaded = mf.load(tmp_path / "run.xtc", top=tmp_path / "top.pdb")
    frames.trajectory(np.arange(len(frames))[::-1]).save(tmp_path / "run.xtc")
    with pytest.raises(ValueError, match=r"files must be the same for the workers .* got other coordinates"):
        mf.rmsd_neighbors(loaded, n_neighbors=K, client=client, layout="sharded")
    (tmp_path / "run.xtc").unlink()  # then they are sent
    found = mf.rmsd_neighbors(loaded, n_neighbors=K, client=client, layout="sharded")
    assert_same(found, mf.rmsd_neighbors(loaded, n_neighbors=K))


def test_workers_with_another_version(client, frames, monkeypatch):
    monkeypatch.setattr(mf, "__version__", "9.9")
    with pytest.raises(ValueError, match=r"must be the same on the workers of `client` as here, 9.9; got 0"):
        mf.rmsd_neighbors(frames, client=client)


def test_workers_without_mdfuzzy(client, frames, monkeypatch):
    answers = {"tcp://gone": OSError("closed"), "tcp://a": ModuleNotFoundError("No module named 'mdfuzzy'")}
    monkeypatch.setattr(client, "run", lambda function, on_error: answers)
    with pytest.raises(
        ImportError, match="must be installed on the workers of `client`, as it is here; tcp://a"
    ):
        mf.rmsd_neighbors(frames, client=client)


def test_a_client_that_is_closed(cluster, frames):
    client = Client(cluster)
    client.close()
    with pytest.raises(ConnectionError, match="is lost"):
        mf.rmsd_neighbors(frames, client=client)


# --- bad values


@pytest.mark.parametrize("client", ["tcp://127.0.0.1:8786", object()])
def test_no_client(frames, client):
    with pytest.raises(
        TypeError, match=r"`client` must be a `distributed.Client` that is not asynchronous; got"
    ):
        mf.rmsd_neighbors(frames, client=client)


def test_layouts(client, frames):
    with pytest.raises(ValueError, match="`layout` must be one of 'scattered', 'sharded'; got 'spread'"):
        mf.rmsd_neighbors(frames, client=client, layout="spread")
    with pytest.raises(ValueError, match="`layout` must be None without `client`; got 'sharded'"):
        mf.rmsd_neighbors(frames, layout="sharded")
    with pytest.raises(ValueError, match=r"`recall` must be 1 where the index is sharded; got 0.9"):
        mf.rmsd_neighbors(frames, recall=0.9, client=client, layout="sharded")
    with pytest.raises(
        ValueError, match="'scattered' for so few frames: a shard needs 82 of them; got 100 in all"
    ):
        mf.rmsd_neighbors(frames[:100], n_neighbors=80, client=client, layout="sharded")


def test_features_are_searched_on_the_workers_too(client):
    points = np.random.default_rng(0).normal(size=(300, 2))
    points[:150] += 6
    settings = mf.Settings(k=20)
    found, known = mf.cluster(points, settings, client=client), mf.cluster(points, settings)
    np.testing.assert_array_equal(found.memberships.values, known.memberships.values)
    with pytest.raises(ValueError, match="`layout` must be None for features; got 'sharded'"):
        mf.cluster(points, client=client, layout="sharded")


def test_without_dask(frames, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"needs the package `distributed`: pip install 'mdfuzzy\[dask\]'"):
        mf.rmsd_neighbors(frames, client="anything")
    assert main(["run", "a.xtc", "--dask", "local:2"]) == 1
    assert "pip install 'mdfuzzy[dask]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "kind", "message"),
    [
        (
            "tcp://127.0.0.1:9",
            ConnectionRefusedError,
            "address of a running scheduler, .* where none answers",
        ),
        ("nonsense", ValueError, "address of a scheduler with its port.* got 'nonsense'"),
        ("", ValueError, "address of a scheduler with its port.* got ''"),
        ("ftp://10.0.0.1:21", ConnectionRefusedError, "where none answers .unknown address scheme"),
        ("scheduler.json", FileNotFoundError, "got 'scheduler.json', and there is no such file"),
        ("local:0", ValueError, "'local:N' with a number of workers N of at least 1.* got 'local:0'"),
        ("local:-2", ValueError, "got 'local:-2'"),
        ("local:", ValueError, "got 'local:'"),
    ],
)
def test_addresses_at_which_nobody_answers(address, kind, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workers, "_PATIENCE", 1)
    begin = time.monotonic()
    with pytest.raises(kind, match=message), workers.connect(address):
        pass
    assert time.monotonic() - begin < 5


# --- the command line


@pytest.fixture(scope="module")
def files(frames, tmp_path_factory) -> list[str]:
    """The arguments that read the frames from a file."""
    folder = tmp_path_factory.mktemp("files")
    frames.trajectory().save(folder / "run.xtc")
    frames.trajectory([0]).save(folder / "top.pdb")
    options = ["--top", str(folder / "top.pdb"), "--prominence", "1", "-k", "6", "--no-scan-beta", "--bare"]
    return [str(folder / "run.xtc"), *options]


def test_run_on_a_cluster(cluster, files, tmp_path, capsys):
    for name, options in {
        "here": [],
        "address": ["--dask", cluster.scheduler_address, "--layout", "sharded"],
        "local": ["--dask", "local:1"],
    }.items():
        assert main(["run", *files, "-o", str(tmp_path / name), *options]) == 0
        assert (" GB on a worker" in capsys.readouterr().err) == (name != "here")
    here, *others = (mf.RunDir(tmp_path / name).load() for name in ("here", "address", "local"))
    for other in others:
        assert_same(other.neighbors, here.neighbors)


def test_run_reads_the_file_of_a_scheduler(client, cluster, files, tmp_path):
    client.write_scheduler_file(tmp_path / "scheduler.json")
    options = ["--dask", str(tmp_path / "scheduler.json"), "-o", str(tmp_path / "out")]
    assert main(["run", *files, *options]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dask", "tcp://127.0.0.1:9"], "--dask must be the address of a running scheduler"),
        (["--dask", "local:none"], "got 'local:none'"),
        (["--layout", "sharded"], "--layout needs --dask"),
        (["--dask", "local:1", "--layout", "spread"], "'spread' is not one of 'scattered', 'sharded'"),
    ],
)
def test_bad_options_write_nothing(files, tmp_path, capsys, options, message):
    begin = time.monotonic()
    assert main(["run", *files, "-o", str(tmp_path / "out"), *options]) == 2
    assert time.monotonic() - begin < 15
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


# --- a picture of the workers


def test_what_workers_offer(client):
    found = workers.find_workers(client)
    assert (len(found.addresses), found.threads, found.memory) == (2, 2, 4_000_000_000)
    assert str(replace(found, memory=None)) == "2 workers without a limit, 2 threads"


def listening(process: int) -> set[str]:
    """The addresses and ports at which a process listens, in hexadecimal as Linux lists them."""
    links = [os.readlink(each) for each in Path(f"/proc/{process}/fd").iterdir() if os.path.lexists(each)]
    sockets = {link[8:-1] for link in links if link.startswith("socket:[")}
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {line[1] for line in lines if line[3] == "0A" and line[9] in sockets}


def test_workers_on_this_machine_are_reached_from_this_machine_alone():
    before = listening(os.getpid())  # of clusters that other tests started
    with workers.connect("local:2") as client:
        others = list(client.run(os.getpid).values())
        found = set().union(*map(listening, {os.getpid(), *others})) - before
    assert {address.split(":")[0] for address in found} == {"0100007F"}, "127.0.0.1"


# --- assigning frames that were not fitted


class OneWorkerLost:
    """Keeps no chunks, and kills a worker when the first is done."""

    def __init__(self, client: Client) -> None:
        self.client, self.done = client, 0

    def get(self, name: str) -> None:
        return None

    def put(self, name: str, /, **arrays: np.ndarray) -> None:
        self.done += 1
        if self.done == 1:
            kill_a_worker(self.client)


def test_frames_are_assigned_on_workers_with_the_same_bits(client, frames, monkeypatch):
    monkeypatch.setattr(extension, "CHUNK", 300)
    settings = mf.Settings(fit_frames=800, prominence=1.0)
    here = mf.cluster(frames, settings)
    there = mf.cluster(frames, settings, client=client)
    for name in ("values", "lost", "log_weights"):
        assert_array_equal(getattr(there.memberships, name), getattr(here.memberships, name))
    assert_array_equal(there.sample.distances, here.sample.distances)


def test_a_worker_that_is_lost_while_frames_are_assigned_costs_its_chunks(client, frames, monkeypatch):
    monkeypatch.setattr(extension, "CHUNK", 100)
    fit = mf.cluster(frames[::3], mf.Settings(prominence=1.0))
    fitted = extension.Fitted(fit.data, fit.memberships, fit.k, fit.settings)
    numbers = np.arange(0, len(frames), 3)
    here = extension.extend_to_all(frames, numbers, fitted, n_jobs=1)
    before, blocks = set(client.nthreads()), OneWorkerLost(client)
    there = extension.extend_to_all(frames, numbers, fitted, n_jobs=1, blocks=blocks, client=client)
    for name in ("nearest", "distances", "values", "lost"):
        assert_array_equal(getattr(there, name), getattr(here, name))
    assert blocks.done == 6  # of half as many frames as were fitted
    wait_for_another(client, before)


def test_workers_refuse_files_that_were_changed(client, tmp_path):
    import mdtraj as md

    part = mf.datasets.alanine_dipeptide(stride=20).trajectory()
    part.save(str(tmp_path / "a.xtc"))
    frames = mf.load(tmp_path / "a.xtc", top=part.topology)
    fit = mf.cluster(frames[::3], mf.Settings(prominence=1.0))
    fitted = extension.Fitted(fit.data, fit.memberships, fit.k, fit.settings)
    md.Trajectory(part.xyz[::-1] * 0.9, part.topology).save(str(tmp_path / "a.xtc"))
    with pytest.raises(mf.InputError, match="The trajectory files must be the same for the workers"):
        extension.extend_to_all(frames, np.arange(0, len(frames), 3), fitted, n_jobs=1, client=client)


def test_superposed_frames_on_workers(client, frames, monkeypatch):
    class Tiles(_choice.Way):
        def __init__(self, name, *rest):
            super().__init__("tiles", *rest)

    monkeypatch.setattr(_choice, "Way", Tiles)
    monkeypatch.setattr("mdfuzzy.neighbors._recall.WORTH_SUPERPOSED", 0)
    monkeypatch.setattr("mdfuzzy.neighbors._recall._seconds", lambda *rest: 0.0)
    here = mf.rmsd_neighbors(frames, n_neighbors=K, recall=0.8)
    assert here.recall is not None
    assert_same(mf.rmsd_neighbors(frames, n_neighbors=K, recall=0.8, client=client, layout="scattered"), here)

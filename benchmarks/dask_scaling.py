"""The search for neighbours on a Dask cluster against the same number of threads in one process.

    python benchmarks/dask_scaling.py                                     # 142,074 frames
    python benchmarks/dask_scaling.py --frames 20000 --write docs/performance

Every number of workers has a `LocalCluster` of its own, with processes of one thread. Local and Dask are
measured in turn, in both layouts, and their results compared bit by bit. Starting the cluster and loading the
kernels in its workers are timed apart. Then a worker is killed in the middle of a search, whose log is kept.

What 10 and 100 million frames would take is computed from the results of neighbors.py and headline.py
beside the page.
"""

import argparse
import logging
import os
import re
import signal
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from dask_forecast import forecast, forecast_table, goal, table
from distributed import Client, LocalCluster, Worker
from measuring import machine
from neighbors import DATA, read

import mdfuzzy as mf
from mdfuzzy.neighbors._dask.memory import choose_layout
from mdfuzzy.neighbors._dask.shards import build_shard, divide, merge
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.neighbors.rmsd import BLOCK, GROUP
from mdfuzzy.workers.cluster import find_workers

SECONDS = time.perf_counter


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Client]:
    """Start workers of one thread each."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers)
        yield client


def peak_of(client: Client) -> float:
    """Return the largest memory of any worker so far, GB (on Linux; otherwise that of this moment)."""

    def peak(dask_worker: Worker) -> float:
        # not getrusage, whose number a process inherits from the one that started it
        status = Path("/proc/self/status")
        if not status.exists():
            return dask_worker.monitor.recent()["memory"] / 1e9
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1e6

    return max(client.run(peak).values())


def processor_time(client: Client) -> float:
    """Return the seconds that processors have spent on this process and all workers."""
    return time.process_time() + sum(client.run(time.process_time).values())


def estimate(client: Client, xyz: np.ndarray, n_neighbors: int, layout: str) -> float:
    """Return the memory of a worker that is logged before a search, GB."""
    size = {"n": len(xyz), "atoms": xyz.shape[1], "n_others": 0, "n_neighbors": n_neighbors}
    return choose_layout(find_workers(client), **size, block=GROUP * BLOCK, layout=layout).memory / 1e9


def same_bits(found: mf.Neighbors, expected: mf.Neighbors) -> bool:
    """Whether indices and distances agree to the bit."""
    return np.array_equal(found.indices, expected.indices) and np.array_equal(
        found.distances.view(np.int32), expected.distances.view(np.int32)
    )


def measure(xyz: np.ndarray, n_neighbors: int, n_workers: int, repeats: int) -> dict:
    """Time the search on threads of this process and on as many workers, in turn."""
    small = mf.datasets.alanine_dipeptide(stride=20)
    begin = SECONDS()
    with cluster_of(n_workers) as client:
        start = SECONDS() - begin
        begin = SECONDS()
        for layout in ("scattered", "sharded"):
            mf.rmsd_neighbors(small, n_neighbors=10, client=client, layout=layout)
        kernels = SECONDS() - begin
        seconds: dict[str, list[float]] = {"local": [], "scattered": [], "sharded": []}
        work: dict[str, list[float]] = {layout: [] for layout in seconds}
        memory, equal = {}, True
        for _ in range(repeats):
            for layout, laps in seconds.items():
                options = {} if layout == "local" else {"client": client, "layout": layout}
                begin, worked = SECONDS(), processor_time(client)
                found = mf.rmsd_neighbors(xyz, n_neighbors=n_neighbors, n_jobs=n_workers, **options)
                laps.append(SECONDS() - begin)
                work[layout].append(processor_time(client) - worked)
                if layout == "local":
                    local = found
                else:
                    memory.setdefault(layout, (peak_of(client), estimate(client, xyz, n_neighbors, layout)))
                equal &= same_bits(found, local)
    return {
        "workers": n_workers,
        "start": start,
        "kernels": kernels,
        **{layout: statistics.median(laps) for layout, laps in seconds.items()},
        "processor time": {layout: statistics.median(laps) for layout, laps in work.items()},
        "equal": equal,
        "memory": memory,
    }


@dataclass
class KillingStore:
    """Keeps nothing, and kills a worker when the first block is done."""

    client: Client
    blocks: int = 0

    def get(self, name: str) -> None:
        """Nothing is there yet."""

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Count the block."""
        self.blocks += 1
        if self.blocks == 1:
            address, pid = next(iter(self.client.run(os.getpid).items()))
            logging.getLogger("benchmark").info(f"killing the worker {address} (process {pid})")
            os.kill(pid, signal.SIGKILL)


class Lines(logging.Handler):
    """Collects messages, with the seconds since it was made."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._begin = SECONDS()

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != "distributed.core":  # every connection that opens or closes
            text = re.sub(r" \(stimulus_id=.*?\)", "", record.getMessage())
            self.lines.append(f"{SECONDS() - self._begin:6.1f} s  {record.name}: {text}")


def kill_a_worker(xyz: np.ndarray, n_neighbors: int) -> dict:
    """Search on two workers, of which one is killed; return the log."""
    local = mf.rmsd_neighbors(xyz, n_neighbors=n_neighbors)
    handler = Lines()
    loggers = [logging.getLogger(name) for name in ("mdfuzzy", "benchmark", "distributed")]
    with cluster_of(2) as client:
        for logger in loggers:
            logger.addHandler(handler)
        for logger in loggers[:2]:
            logger.setLevel(logging.INFO)
        store = KillingStore(client)
        found = mf.rmsd_neighbors(xyz, n_neighbors=n_neighbors, client=client, store=store)
        equal = same_bits(found, local)
        done = "the same bits as on one machine" if equal else "NOT the same as on one machine"
        loggers[1].info(f"done: {store.blocks} blocks, {done}")
        for logger in loggers:
            logger.removeHandler(handler)
    return {"equal": equal, "log": handler.lines}


def measure_shards(xyz: np.ndarray, n_neighbors: int, n_shards: int, sample: int = 512) -> dict:
    """Return how much more time of processors a search in shards takes, on a sample of groups of queries."""
    index = build_index(xyz)
    groups = index.own_chunks()
    chosen = groups.take(np.random.default_rng(0).permutation(len(groups))[:sample])
    begin = time.process_time()
    index.nearest(chosen, n_neighbors, n_jobs=1)
    whole = (time.process_time() - begin) / int(chosen.sizes.sum())
    del index, groups, chosen
    shards = [build_shard(xyz[each], each) for each in divide(xyz, n_shards).shards]
    seconds, queries = 0.0, 0
    for number, home in enumerate(shards):
        own = home.index.own_chunks()
        first = len(own) // 2
        part = own.take(slice(first, first + sample // n_shards))
        begin = time.process_time()
        found, visitors = home.nearest(part, n_neighbors)
        for each in sorted(range(n_shards), key=lambda shard: abs(shard - number))[1:]:
            farthest = found.squares.reshape(-1, n_neighbors)[:, -1]
            more = shards[each].receive(replace(visitors, limits=farthest), n_neighbors)
            found = merge([found, more], n_neighbors)
        seconds += time.process_time() - begin
        queries += int(part.sizes.sum())
    return {"cost_frames": len(xyz), "cost_shards": n_shards, "shard_cost": seconds / queries / whole}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, default=142_074)
    parser.add_argument("--neighbors", type=int, default=100)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--repeats", type=int, default=3, help="repetitions of each measurement; the median counts"
    )
    parser.add_argument("--shard-frames", type=int, default=1_420_738, help="of which shards are measured")
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    xyz = read(options.data, options.frames)
    mf.rmsd_neighbors(mf.datasets.alanine_dipeptide(stride=50), n_neighbors=10)  # compiled by now
    found = {"frames": len(xyz), "neighbors": options.neighbors, "runs": []}
    for n_workers in options.workers:
        run = measure(xyz, options.neighbors, n_workers, options.repeats)
        found["runs"].append(run)
        print(
            f"{n_workers} workers: cluster started in {run['start']:.1f} s, kernels loaded in "
            f"{run['kernels']:.1f} s",
            flush=True,
        )
    print(f"{len(xyz):,} frames, {options.neighbors} neighbours, median of {options.repeats}")
    print("\n".join(table(found)))
    print(f"overhead of Dask: {goal(found)}")
    found["killed"] = kill_a_worker(xyz, options.neighbors)
    print("\na worker is killed:\n" + "\n".join(found["killed"]["log"]))
    many = read(options.data, options.shard_frames)
    found["shards"] = measure_shards(many, options.neighbors, options.shards)
    pages = options.write or Path(__file__).parents[1] / "docs" / "performance"
    found["forecasts"] = forecast(pages, found["shards"]["shard_cost"])
    print(f"\n{options.shards} shards cost {found['shards']['shard_cost']:.1f} times as much as one index")
    print("\n" + "\n".join(forecast_table(found["forecasts"])))
    found["machine"] = machine("dask", "distributed")
    if options.write is not None:
        from performance import write_result

        write_result(options.write, "dask", found)


if __name__ == "__main__":
    main()

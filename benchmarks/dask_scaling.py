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
import json
import logging
import os
import signal
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from measuring import machine
from neighbors import DATA, read

import mdfuzzy as mf
from mdfuzzy._layout import choose_layout, index_bytes
from mdfuzzy.rmsd import BLOCK, GROUP
from mdfuzzy.workers import Workers

SECONDS = time.perf_counter
#: What Dask may cost.
GOAL = 0.20
#: Frames for which a forecast is made, each with workers of one thread and so many bytes.
FORECASTS = ((10_000_000, 32, 16e9), (100_000_000, 256, 8e9))
ATOMS = 10


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Client]:
    """Start workers of one thread each."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers)
        yield client


def peak_memory() -> float:
    """Return the peak memory of a worker, GB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


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
        equal = True
        for _ in range(repeats):
            for layout, laps in seconds.items():
                options = {} if layout == "local" else {"client": client, "layout": layout}
                begin = SECONDS()
                found = mf.rmsd_neighbors(xyz, n_neighbors=n_neighbors, n_jobs=n_workers, **options)
                laps.append(SECONDS() - begin)
                if layout == "local":
                    local = found
                equal &= same_bits(found, local)
        peak = max(client.run(peak_memory).values())
    return {
        "workers": n_workers,
        "start": start,
        "kernels": kernels,
        **{layout: statistics.median(laps) for layout, laps in seconds.items()},
        "equal": equal,
        "peak memory of a worker": peak,
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
        self.lines.append(f"{SECONDS() - self._begin:6.1f} s  {record.name}: {record.getMessage()}")


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


# --- what more frames would take


def forecast(folder: Path, shard_cost: float) -> list[dict]:
    """Return what more frames would take.

    From the measured cost of a query and its growth, which are read from `folder`; shards cost `shard_cost`
    times as much as one index.
    """
    searches = json.loads((folder / "neighbors.json").read_text(encoding="utf-8"))
    whole = json.loads((folder / "headline.json").read_text(encoding="utf-8"))
    k = searches["neighbors"]
    (n1, cost1), (n2, cost2) = sorted(
        (each["frames"], searches["machine"]["cores"] * each["seconds"] / each["frames"])
        for each in searches["results"]
    )[-2:]
    power = np.log(cost2 / cost1) / np.log(n2 / n1)
    steps = {step["name"]: step for step in whole["steps"]}
    found = []
    for n, count, memory in FORECASTS:
        workers = Workers(tuple(f"tcp://{each}" for each in range(count)), count, memory)
        layout = choose_layout(workers, n=n, atoms=ATOMS, n_others=0, n_neighbors=k, block=GROUP * BLOCK)
        frame = 12 * ATOMS + 24
        sent = n * frame * (layout.shards - 1) if layout.sharded else index_bytes(n, ATOMS) * count
        more = n / whole["frames"]
        found.append(
            {
                "frames": n,
                "workers": count,
                "limit of a worker": memory / 1e9,
                "layout": "sharded" if layout.sharded else "scattered",
                "shards": layout.shards,
                "power": power,
                "core hours": n * cost2 * (n / n2) ** power * (shard_cost if layout.sharded else 1) / 3600,
                "memory of a worker": layout.memory / 1e9,
                "between workers": sent / 1e9,
                "to the client": 8 * k * n / 1e9,
                "graph hours": more * steps["graph"]["seconds"] / 3600,
                "graph memory": more * steps["graph"]["memory"],
                "solve hours": more * steps["memberships"]["seconds"] / 3600,
                "solve memory": more * steps["memberships"]["memory"],
                "threads": whole["threads"],
            }
        )
    return found


def forecast_table(found: list[dict]) -> list[str]:
    """Return the forecasts as lines of Markdown."""
    heads = " | ".join(f"{each['frames'] / 1e6:.0f} million frames" for each in found)
    lines = [f"| | {heads} |", "|---|" + "--:|" * len(found)]

    def row(name: str, words: list[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(words) + " |")

    row("search, core hours", [f"{each['core hours']:.1f}" for each in found])
    row(
        "on so many workers of one thread",
        [f"{each['workers']} of {each['limit of a worker']:.0f} GB" for each in found],
    )
    row("that is", [_spell(each["core hours"] / each["workers"]) for each in found])
    row(
        "layout",
        [f"sharded, {each['shards']} shards" if each["shards"] > 1 else "scattered" for each in found],
    )
    row("memory of a worker, at most", [f"{each['memory of a worker']:.1f} GB" for each in found])
    row(
        "network, between all workers together",
        [f"{each['between workers']:,.0f} GB" for each in found],
    )
    row("network, results to the client", [f"{each['to the client']:,.0f} GB" for each in found])
    row(
        "graph, on one machine",
        [f"{_spell(each['graph hours'])}, {each['graph memory']:,.0f} GB" for each in found],
    )
    row(
        "memberships, on one machine",
        [f"{_spell(each['solve hours'])}, {each['solve memory']:,.0f} GB" for each in found],
    )
    row(
        "memberships take longer than the search on more than",
        [f"{each['core hours'] / each['solve hours']:.0f} workers" for each in found],
    )
    row(
        "memory of the one machine, set by memberships",
        [f"{each['solve memory']:,.0f} GB" for each in found],
    )
    return lines


def _spell(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 2 else f"{60 * hours:.0f} minutes"


# --- what was measured


def table(found: dict) -> list[str]:
    """Return the measurements as lines of Markdown."""
    lines = [
        "| workers | local threads, s | scattered, s | overhead | sharded, s | overhead | same bits "
        "| peak memory of a worker |",
        "|--:|--:|--:|--:|--:|--:|---|--:|",
    ]
    for each in found["runs"]:
        cost = [f"{each[layout] / each['local'] - 1:+.0%}" for layout in ("scattered", "sharded")]
        lines.append(
            f"| {each['workers']} | {each['local']:.1f} | {each['scattered']:.1f} | {cost[0]} "
            f"| {each['sharded']:.1f} | {cost[1]} | {'yes' if each['equal'] else 'NO'} "
            f"| {each['peak memory of a worker']:.2f} GB |"
        )
    return lines


def goal(found: dict) -> str:
    """Say whether the goal is met."""
    worst = max(each["scattered"] / each["local"] - 1 for each in found["runs"])
    return f"{worst:+.0%} at most, goal {GOAL:+.0%}: {'met' if worst <= GOAL else 'MISSED'}"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, default=142_074)
    parser.add_argument("--neighbors", type=int, default=100)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--repeats", type=int, default=3, help="of each measurement, of which the median is taken"
    )
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
    pages = Path(__file__).parents[1] / "docs" / "performance"
    last = found["runs"][-1]
    found["forecasts"] = forecast(options.write or pages, last["sharded"] / last["local"])
    print("\n" + "\n".join(forecast_table(found["forecasts"])))
    found["machine"] = machine("dask", "distributed")
    if options.write is not None:
        from performance import write_result

        write_result(options.write, "dask", found)


if __name__ == "__main__":
    main()

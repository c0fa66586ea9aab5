"""The search for neighbours on molecules of many kinds and on features, against other programs.

    python benchmarks/any_molecule.py --data villin --frames 20000 60000
    python benchmarks/any_molecule.py --data villin bpti kinase features --write docs/performance

Every search runs in one thread, one after the other, and what counts is the time of the processor in this
process: so it can be measured on a machine that does other things as well. villin: 36 C-alpha atoms of a
partly unfolded protein; bpti: 58 of a folded one; kinase: 214 C-alpha atoms, made of a random compact chain
that two hinges bend; features: points in wells. Recall is measured on a sample of queries.
"""

import os

os.environ |= dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from measuring import machine, peak_memory, reset_peak
from neighbors import DATA, features, on_first, read_villin, share_found

import mdfuzzy as mf
from mdfuzzy._kernels.search.rmsd import squared_distance
from mdfuzzy.neighbors import _choice
from mdfuzzy.neighbors._choice import Way

Result = TypeVar("Result")
#: The share of queries for which the slower way is timed.
SHARE = 0.05
#: What a process does to measure the wall time of a search.
SEARCH = """
import sys, time
import numpy as np
import mdfuzzy as mf

xyz, k, recall = np.load(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
mf.rmsd_neighbors(xyz[:10_000].copy(), n_neighbors=10, recall=recall)
begin = time.perf_counter()
mf.rmsd_neighbors(xyz, n_neighbors=k, recall=recall, progress=False)
print(time.perf_counter() - begin)
"""
#: Both ways, other programs and two threads are timed with at most so many frames.
MANY = 60_000
#: How often one thread and two are timed in turn.
TURNS = 3
#: With at most so many frames, both ways search for the neighbours of all frames, so many times in turn.
WHOLE, REPEATS = 10_000, 5


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    """Return the seconds of the processor that a call takes, and what it returns."""
    begin = time.process_time()
    found = function()
    return time.process_time() - begin, found


def kinase(n: int) -> np.ndarray:
    """Return n frames of 214 atoms, 0.38 nm apart in a compact chain whose three parts move as rigid
    bodies, slowly, and whose atoms vibrate by 0.05 nm.
    """
    random = np.random.default_rng(0)
    chain = np.cumsum(random.normal(size=(214, 3)), axis=0)
    chain = np.array([chain[max(0, i - 2) : i + 3].mean(axis=0) for i in range(214)])
    chain *= 1.65 / np.sqrt(np.square(chain - chain.mean(axis=0)).sum(axis=1).mean())
    frames = np.repeat(chain[None], n, axis=0)
    for first, last in ((30, 68), (120, 160)):
        angle, turn = np.zeros((n, 3)), random.normal(size=(n, 3)) * 0.04
        for i in range(1, n):
            angle[i] = 0.998 * angle[i - 1] + turn[i]
        part = frames[:, first:last] - frames[:, [first]]
        length = np.linalg.norm(angle, axis=1)[:, None, None] + 1e-9
        axis = angle[:, None] / length
        along = (part * axis).sum(axis=2, keepdims=True) * axis
        turned = along + (part - along) * np.cos(length) + np.cross(axis, part) * np.sin(length)
        frames[:, first:last] = turned + frames[:, [first]]
    return mf.load((frames + random.normal(scale=0.05, size=frames.shape)).astype(np.float32)).xyz


def by_mdtraj(xyz: np.ndarray, sample: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the seconds that all pairs take by md.rmsd, from a sample of queries, and their distances."""
    import mdtraj as md

    frames = md.Trajectory(xyz.copy(), None)
    frames.center_coordinates()

    def rows() -> np.ndarray:
        options = {"parallel": False, "precentered": True}
        return np.array([md.rmsd(frames, frames, int(i), **options) for i in sample])

    seconds, found = timed(rows)
    return seconds / len(sample) * len(xyz), found


def by_hnswlib(points: np.ndarray, k: int, ef: int) -> np.ndarray:
    """Return what hnswlib finds, without the points themselves."""
    import hnswlib

    index = hnswlib.Index(space="l2", dim=points.shape[1])
    index.init_index(max_elements=len(points), ef_construction=200, M=24)
    index.set_num_threads(1)
    index.add_items(points)
    index.set_ef(ef)
    indices, _ = index.knn_query(points, k=k + 1)
    itself = indices == np.arange(len(points))[:, None]
    itself[~itself.any(axis=1), -1] = True
    return indices[~itself].reshape(len(points), k)


def by_pynndescent(xyz: np.ndarray, k: int) -> np.ndarray:
    """Return what pynndescent finds with an RMSD metric; its trees get superposed coordinates."""
    import numba
    from pynndescent import NNDescent

    @numba.njit(fastmath=True)
    def metric(x, y):
        norms = np.float64(0)
        for j in range(len(x)):
            norms += x[j] * x[j] + y[j] * y[j]
        return np.sqrt(squared_distance(x, y, norms))

    options = {"metric": metric, "n_jobs": 1, "max_candidates": 20, "n_iters": 3}
    NNDescent(on_first(xyz[:500]), n_neighbors=10, **options)  # compiled by now
    seconds, found = timed(lambda: NNDescent(on_first(xyz), n_neighbors=k + 1, **options).neighbor_graph[0])
    by_pynndescent.seconds = seconds  # type: ignore[attr-defined]
    return found[:, 1:]


def sampled_way(way: str, xyz: np.ndarray, k: int) -> float:
    """Return the seconds of the search by cells or tiles, from a share of the queries."""
    building, made = timed(lambda: Way(way, xyz, None, 1))
    chosen = np.random.default_rng(1).permutation(len(made.chunks))
    part = made.chunks.take(np.sort(chosen[: max(16, int(SHARE * len(chosen)))]))
    searching, _ = timed(lambda: made.index.nearest(part, k, n_jobs=1))
    return building + searching / len(part) * len(made.chunks)


def known_way(name: str, xyz: np.ndarray) -> Way:
    """Return a way whose time need not be estimated, which would cost more than the choice does."""
    way = Way(name, xyz, None, 1)
    way.seconds = 0.0
    return way


def by_both_ways(xyz: np.ndarray, k: int) -> dict[str, float]:
    """Return the seconds of whole searches, by cells, by tiles, and by the one that is chosen: medians of
    searches in turn.
    """
    times: dict[str, list[float]] = {"seconds": [], "seconds by cells": [], "seconds by tiles": []}
    for _ in range(REPEATS):
        for name, seconds in times.items():
            way = name.removeprefix("seconds").removeprefix(" by ")
            given = patch.object(_choice, "choose_way", lambda xyz, *_, way=way, **__: known_way(way, xyz))
            with given if way else nullcontext():
                seconds.append(timed(lambda: mf.rmsd_neighbors(xyz, n_neighbors=k))[0])
    medians = {name: float(np.median(seconds)) for name, seconds in times.items()}
    better = min(medians["seconds by cells"], medians["seconds by tiles"])
    return medians | {"times the better of the two": medians["seconds"] / better}


def wall_of_two(xyz: np.ndarray, k: int, recall: float) -> float:
    """Return the wall time of a search with two threads, relative to one, from searches in turn."""
    times: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frames.npy"
        np.save(path, xyz)
        for _ in range(TURNS):
            for threads, seconds in times.items():
                names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
                done = subprocess.run(
                    [sys.executable, "-c", SEARCH, str(path), str(k), str(recall)],
                    env=os.environ | dict.fromkeys(names, str(threads)),
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
                seconds.append(float(done.stdout.splitlines()[-1]))
    return float(np.median(times[2]) / np.median(times[1]))


def measure_molecule(
    name: str, xyz: np.ndarray, k: int, recalls: list[float], peers: list[str], queries: int
) -> dict[str, object]:
    """Time the search of frames, its two ways, and other programs."""
    mf.rmsd_neighbors(xyz[:2500], n_neighbors=10)
    mf.rmsd_neighbors(xyz[:10_000], n_neighbors=10, recall=0.9)  # compiled by now
    n = len(xyz)
    sample = np.sort(np.random.default_rng(0).choice(n, queries, replace=False))
    reset_peak()
    seconds, exact = timed(lambda: mf.rmsd_neighbors(xyz, n_neighbors=k))
    result: dict[str, object] = {"data": name, "frames": n, "atoms": xyz.shape[1], "seconds": seconds}
    result["peak memory, GB"] = peak_memory()
    if n <= WHOLE:
        result |= by_both_ways(xyz, k)
    elif n <= MANY:
        result |= {f"seconds by {way}": sampled_way(way, xyz, k) for way in ("cells", "tiles")}
    brute, rows = by_mdtraj(xyz, sample)
    result |= {"seconds by md.rmsd": brute, "recall": share_found(exact.indices[sample], sample, rows)}
    for recall in recalls:
        less, found = timed(lambda recall=recall: mf.rmsd_neighbors(xyz, n_neighbors=k, recall=recall))
        result[f"seconds with recall={recall:g}"] = less
        result[f"share of the exact time with recall={recall:g}"] = less / seconds
        result[f"recall with recall={recall:g}"] = share_found(found.indices[sample], sample, rows)
    if "hnswlib" in peers:
        for ef in (2 * k, 6 * k):
            less, indices = timed(lambda ef=ef: by_hnswlib(on_first(xyz), k, ef))
            result[f"seconds by hnswlib, ef {ef}"] = less
            result[f"recall by hnswlib, ef {ef}"] = share_found(indices[sample], sample, rows)
    if "pynndescent" in peers:
        indices = by_pynndescent(xyz, k)
        result["seconds by pynndescent"] = by_pynndescent.seconds  # type: ignore[attr-defined]
        result["recall by pynndescent"] = share_found(indices[sample], sample, rows)
    return result


def measure_features(n: int, dimensions: int, k: int, peers: list[str], queries: int) -> dict[str, object]:
    """Time the search of feature vectors, and other programs."""
    from sklearn.neighbors import NearestNeighbors

    mf.euclidean_neighbors(features(3000, dimensions), n_neighbors=10)  # compiled by now
    points = features(n, dimensions)
    sample = np.sort(np.random.default_rng(0).choice(n, queries, replace=False))
    reset_peak()
    seconds, found = timed(lambda: mf.euclidean_neighbors(points, n_neighbors=k))
    result: dict[str, object] = {
        "data": "features",
        "frames": n,
        "dimensions": dimensions,
        "seconds": seconds,
    }
    result["peak memory, GB"] = peak_memory()
    for name in ("kd_tree", "brute"):
        search = NearestNeighbors(n_neighbors=k + 1, algorithm=name, n_jobs=1).fit(points)
        less, (distances, _) = timed(lambda search=search: search.kneighbors(points[sample]))
        result[f"seconds by scikit-learn, {name}"] = less / queries * n
    farthest = distances[:, -1:] * (1 + 1e-6)
    result["recall"] = float(np.mean(found.distances[sample] <= farthest))
    if "hnswlib" in peers:
        less, indices = timed(lambda: by_hnswlib(points, k, 2 * k))
        near = np.linalg.norm(points[indices[sample]] - points[sample][:, None], axis=-1)
        result[f"seconds by hnswlib, ef {2 * k}"] = less
        result[f"recall by hnswlib, ef {2 * k}"] = float(np.mean(near <= farthest * (1 + 1e-5)))
    return result


def with_known(folder: Path, results: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return results in place of older ones of the same data, and after the others of the page."""

    def kind(result: dict[str, object]) -> tuple[object, ...]:
        return tuple(result.get(name) for name in ("data", "frames", "atoms", "dimensions"))

    path = folder / "molecules.json"
    known = json.loads(path.read_text())["results"] if path.exists() else []
    new = {kind(result): result for result in results}
    return [new.pop(kind(result), result) for result in known] + list(new.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = ("villin", "bpti", "kinase", "features")
    parser.add_argument("--data", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--frames", type=int, nargs="+", help="other numbers than the usual ones")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[5, 10, 30])
    parser.add_argument("--neighbors", type=int, default=80)
    parser.add_argument("--recalls", type=float, nargs="*", default=[0.95, 0.98])
    parser.add_argument("--peers", nargs="*", default=["hnswlib", "pynndescent"])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--threads", action="store_true", help="wall times with two threads, for villin")
    parser.add_argument("--folder", type=Path, default=DATA)
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    usual = {"villin": [20_000, 60_000, 300_000], "bpti": [4_125], "kinase": [20_000], "features": [200_000]}
    results = []
    for kind in options.data:
        for n in options.frames or usual[kind]:
            if kind == "features":
                found = [
                    measure_features(n, d, options.neighbors, options.peers, options.queries)
                    for d in options.dimensions
                ]
            else:
                xyz = {
                    "villin": lambda n=n: read_villin(options.folder / "villin_go", n),
                    "bpti": lambda: (
                        mf.load(
                            options.folder / "real" / "bpti_ca.xtc",
                            top=options.folder / "real" / "bpti_ca.pdb",
                        ).xyz
                    ),
                    "kinase": lambda n=n: kinase(n),
                }[kind]()
                peers = options.peers if len(xyz) <= MANY else []
                rest = options.recalls, peers, options.queries
                found = [measure_molecule(kind, xyz, options.neighbors, *rest)]
                if options.threads and kind == "villin" and n <= MANY:
                    found[0] |= {
                        "wall time, two threads": wall_of_two(xyz, options.neighbors, 1.0),
                        "wall time, two threads, with recall=0.95": wall_of_two(xyz, options.neighbors, 0.95),
                    }
            for each in found:
                for name, value in each.items():
                    print(
                        f"{name:<36}" + (f"{value:>14,.4g}" if isinstance(value, float) else f"{value:>14}")
                    )
                print(flush=True)
            results += found
            if options.write is not None:
                from performance import write_result

                told = {"neighbors": options.neighbors, "results": with_known(options.write, results)}
                told["machine"] = machine("mdtraj")
                write_result(options.write, "molecules", told)


if __name__ == "__main__":
    main()

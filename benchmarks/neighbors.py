"""Exact RMSD neighbours against comparing all pairs, and against what else a user might try.

    python benchmarks/neighbors.py --frames 142074 --neighbors 100 --peers 142074
    python benchmarks/neighbors.py --frames 50000 142074 400000 1420738 --plot neighbors.svg

Searches exactly, then with --recall (1 leaves that out). Prints ratios to peers timed in the same run on the
same cores. Comparing all pairs is timed on a sample of queries and extrapolated: its cost per query is
constant. What a virtual machine takes to get memory from its host is left out. Data (--data): alanine
dipeptide, the 36 C-alpha atoms of villin, or feature vectors in --dimensions dimensions, which are
compared with scikit-learn and hnswlib:

    python benchmarks/neighbors.py --data villin --frames 20000 60000 --neighbors 80 --recall 0.98 --peers
    60000 python benchmarks/neighbors.py --data features --frames 200000 --neighbors 80 --dimensions 5 10 30
"""

import argparse
import multiprocessing
import os
import queue
import sys
import time
from pathlib import Path

import numba
import numpy as np
from measuring import held_memory, machine, peak_memory, reset_peak

import mdfuzzy as mf
from mdfuzzy._kernels.search.lanes import LANES, correlate, largest_eigenvalues
from mdfuzzy._kernels.search.rmsd import squared_distance
from mdfuzzy._threads import run_ranges, thread_count
from mdfuzzy.neighbors._index import build_index

DATA = Path(os.environ.get("MDFUZZY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SECONDS = time.perf_counter
#: GB that this process has before a search is timed, so that the first use of memory is not part of it.
MEMORY = 3.5
#: How often each search is timed; the fastest counts.
REPEATS = 2


def read_villin(folder: Path, n: int) -> np.ndarray:
    """Return n frames of villin, evenly spaced; beyond 60,000, perturbed copies by 0.02 nm."""
    packed = np.load(folder / "villin_go_01.npz")["picometres"].T.reshape(-1, 36, 3)
    pick = np.linspace(0, len(packed) - 1, min(n, len(packed))).astype(int)
    xyz = np.resize(packed[pick] / 1000.0, (n, 36, 3))
    xyz[len(pick) :] += np.random.default_rng(0).normal(scale=0.02, size=(n - len(pick), 36, 3))
    return mf.load(xyz.astype(np.float32)).xyz


def features(n: int, dimensions: int) -> np.ndarray:
    """Return points in twelve wells whose widths fall from dimension to dimension, as those of TICA do."""
    random, scale = np.random.default_rng(0), 0.8 ** np.arange(dimensions)
    wells = 3 * scale * random.normal(size=(12, dimensions))
    return wells[random.integers(12, size=n)] + scale * random.normal(size=(n, dimensions))


def measure_features(points: np.ndarray, k: int, queries: int) -> dict[str, float]:
    """Time the exact search of feature vectors, hnswlib, and scikit-learn's tree and brute force on a
    sample.
    """
    import hnswlib
    from sklearn.neighbors import NearestNeighbors

    n, dimensions = points.shape
    reset_peak()
    begin = SECONDS()
    found = mf.euclidean_neighbors(points, n_neighbors=k)
    seconds, memory = SECONDS() - begin, peak_memory()
    sample = np.random.default_rng(0).choice(n, queries, replace=False)
    result = {"points": n, "dimensions": dimensions, "seconds": seconds, "peak memory, GB": memory}
    for name in ("kd_tree", "brute"):
        search = NearestNeighbors(n_neighbors=k + 1, algorithm=name, n_jobs=thread_count(None)).fit(points)
        begin = SECONDS()
        distances = search.kneighbors(points[sample])[0]
        result[f"times scikit-learn's {name}"] = (SECONDS() - begin) / queries * n / seconds
    true = distances[:, -1:] * (1 + 1e-6)
    result["recall"] = float(np.mean(found.distances[sample] <= true))
    begin = SECONDS()
    index = hnswlib.Index(space="l2", dim=dimensions)
    index.init_index(max_elements=n, ef_construction=200, M=24)
    index.set_num_threads(thread_count(None))
    index.add_items(points)
    index.set_ef(2 * k)
    near = np.sqrt(index.knn_query(points, k=k + 1)[1][sample])
    result["times hnswlib"] = (SECONDS() - begin) / seconds
    result["recall of hnswlib"] = float(np.mean(near[:, 1:] <= true * (1 + 1e-5)))
    return result


def read(folder: Path, n: int) -> np.ndarray:
    """Return n frames: 142,074 are every second of trajectories 00 and 05, other numbers are spread over
    all.
    """
    files = sorted(folder.glob("ala2_*.npz"))
    if not files:
        sys.exit(f"no full-size data in {folder}; pass --folder FOLDER")
    chosen = [files[0], files[5]] if n == 142_074 else files
    xyz = np.concatenate([np.load(file)["picometres"].T.reshape(-1, 10, 3) for file in chosen])
    pick = np.arange(0, len(xyz), 2) if n == 142_074 else np.linspace(0, len(xyz) - 1, n).astype(int)
    return mf.load((xyz[pick] / 1000).astype(np.float32)).xyz


def by_mdtraj(xyz: np.ndarray, sample: np.ndarray) -> tuple[float, np.ndarray]:
    """Return seconds per query of comparing all pairs with md.rmsd on all cores, and the distances."""
    import mdtraj as md

    frames = md.Trajectory(xyz.copy(), None)
    frames.center_coordinates()
    md.rmsd(frames, frames, int(sample[0]), parallel=True, precentered=True)
    begin = SECONDS()
    rows = [md.rmsd(frames, frames, int(i), parallel=True, precentered=True) for i in sample]
    return (SECONDS() - begin) / len(sample), np.array(rows)


@numba.njit(nogil=True, error_model="numpy")
def _compare(blocks, norms, flat, sample, first, last, out):
    m, quartic = np.empty(9 * LANES, np.float32), np.empty(3 * LANES)
    start, top = np.empty(LANES), np.empty(LANES)
    for i in range(first, last):
        query = flat[sample[i]]
        for b in range(len(blocks)):
            correlate(blocks[b], query, m)
            for l in range(LANES):
                start[l] = 0.5 * (norms[sample[i]] + norms[b * LANES + l])
            largest_eigenvalues(m, start, 6, quartic, top)
            for l in range(LANES):
                out[i, b * LANES + l] = start[l] - top[l]


def by_vectorised_kernel(xyz: np.ndarray, sample: np.ndarray) -> float:
    """Return seconds per query of comparing all pairs with the vectorised kernel on all cores."""
    n = len(xyz) // LANES * LANES
    flat = np.ascontiguousarray(xyz[:n].reshape(n, -1))
    norms = np.einsum("ij,ij->i", flat, flat, dtype=float)
    blocks = np.ascontiguousarray(flat.reshape(-1, LANES, flat.shape[1]).transpose(0, 2, 1)).reshape(
        n // LANES, -1
    )
    sample = sample[sample < n]
    out = np.empty((len(sample), n))
    _compare(blocks[:1], norms, flat, sample, 0, 1, out)
    begin = SECONDS()
    run_ranges(lambda a, b: _compare(blocks, norms, flat, sample, a, b, out), len(sample), 1, None)
    return (SECONDS() - begin) / len(sample)


def share_found(found: np.ndarray, sample: np.ndarray, rows: np.ndarray) -> float:
    """Return the share of true neighbours among those found for the sample (ties of md.rmsd's precision
    count).
    """
    k = found.shape[1]
    rows = rows.copy()
    rows[np.arange(len(sample)), sample] = np.inf
    farthest = np.partition(rows, k - 1, axis=1)[:, k - 1 : k]
    return float(np.mean(np.take_along_axis(rows, found.astype(np.int64), axis=1) <= farthest + 2e-6))


def measure(xyz: np.ndarray, k: int, recall: float, queries: int) -> dict[str, float]:
    """Time the search, exact and with `recall`, and both ways to compare all pairs."""
    n = len(xyz)
    sample = np.sort(np.random.default_rng(0).choice(n, queries, replace=False))
    reset_peak()
    found = {1.0: mf.rmsd_neighbors(xyz, n_neighbors=k)}
    memory = peak_memory()
    times: dict[float, list[float]] = {1.0: [], recall: []}
    with held_memory(MEMORY):
        for wanted in (1.0, recall) * REPEATS:  # in turn; if 1 is wanted, that only
            found.pop(wanted, None)
            begin = SECONDS()
            found[wanted] = mf.rmsd_neighbors(xyz, n_neighbors=k, recall=wanted)
            times[wanted].append(SECONDS() - begin)
    mdtraj_seconds, rows = by_mdtraj(xyz, sample)
    kernel_seconds = by_vectorised_kernel(xyz, sample)
    seconds = min(times[1.0])
    index = build_index(xyz)
    chunks = index.own_chunks()
    part = chunks.take(np.random.default_rng(0).permutation(len(chunks))[:64])
    begin = SECONDS()
    counts = index.nearest(part, k)[2].sum(axis=0) / len(part.order)
    cells_seconds = (SECONDS() - begin) / len(part.order)
    result = {
        "frames": n, "seconds": seconds, "queries per second": n / seconds,
        "times md.rmsd": mdtraj_seconds * n / seconds,
        "times vectorised kernel": kernel_seconds * n / seconds,
        "times cells": cells_seconds * n / seconds,
        "recall": share_found(found[1.0].indices[sample], sample, rows),
        "share of pairs tested by cells": counts[2] / n, "share evaluated exactly by cells": counts[3] / n,
        "cells visited per query": counts[1], "peak memory, GB": memory,
    }  # fmt: skip
    if recall < 1:
        less, wanted = min(times[recall]), f"with recall={recall:g}: "
        result |= {
            f"{wanted}seconds": less,
            f"{wanted}share of the exact time": less / seconds,
            f"{wanted}recall reported": found[recall].recall or 1.0,
            f"{wanted}recall": share_found(found[recall].indices[sample], sample, rows),
        }
    return result


def on_first(xyz: np.ndarray) -> np.ndarray:
    """Return coordinates superposed on the first frame, flat."""
    import mdtraj as md

    frames = md.Trajectory(xyz.copy(), None).superpose(md.Trajectory(xyz[:1].copy(), None))
    return frames.xyz.reshape(len(xyz), -1)


def nndescent(xyz: np.ndarray, k: int, out: multiprocessing.Queue) -> None:
    """Neighbours by pynndescent with an RMSD metric.

    Its trees get superposed coordinates. It compares fewer candidates in fewer rounds than it would
    by itself, with which it gives no answer within ten minutes.
    """
    from pynndescent import NNDescent

    @numba.njit(fastmath=True)
    def metric(x, y):
        norms = np.float64(0)
        for j in range(len(x)):
            norms += x[j] * x[j] + y[j] * y[j]
        return np.sqrt(squared_distance(x, y, norms))

    options = {"metric": metric, "n_jobs": thread_count(None), "max_candidates": 20, "n_iters": 3}
    NNDescent(on_first(xyz[:500]), n_neighbors=10, **options)  # compiled by now
    begin = SECONDS()
    indices, _ = NNDescent(on_first(xyz), n_neighbors=k + 1, **options).neighbor_graph
    out.put((SECONDS() - begin, indices[:, 1:]))


def hnsw(xyz: np.ndarray, k: int, out: multiprocessing.Queue) -> None:
    """Neighbours by hnswlib on coordinates superposed on one reference."""
    import hnswlib

    begin = SECONDS()
    flat = on_first(xyz)
    index = hnswlib.Index(space="l2", dim=flat.shape[1])
    index.init_index(max_elements=len(flat), ef_construction=200, M=24)
    index.set_num_threads(thread_count(None))
    index.add_items(flat)
    index.set_ef(2 * k)
    indices, _ = index.knn_query(flat, k=k + 1)
    itself = indices == np.arange(len(flat))[:, None]
    itself[~itself.any(axis=1), -1] = True
    out.put((SECONDS() - begin, indices[~itself].reshape(len(flat), k)))


def compare_peers(xyz: np.ndarray, k: int, limit: float, queries: int) -> list[dict]:
    """Return, and print, what other programs reach within a time limit, each in a process of its own."""
    sample = np.sort(np.random.default_rng(0).choice(len(xyz), queries, replace=False))
    _, rows = by_mdtraj(xyz, sample)
    found = []
    print(f"\n{'program':<34}{'seconds':>10}{'recall':>10}")
    for name, run in (("hnswlib, superposed coordinates", hnsw), ("pynndescent, RMSD metric", nndescent)):
        context = multiprocessing.get_context("spawn")  # a fork would inherit the threads of OpenMP, and hang
        out = context.Queue()
        process = context.Process(target=run, args=(xyz, k, out), daemon=True)
        process.start()
        try:
            seconds, indices = out.get(timeout=limit)
            recall = share_found(indices[sample], sample, rows)
            print(f"{name:<34}{seconds:>10.1f}{recall:>10.4f}", flush=True)
        except queue.Empty:  # no answer in time
            seconds = recall = None
            print(f"{name:<34}{'> ' + format(limit, '.0f'):>10}{'none':>10}", flush=True)
        found.append({"program": name, "seconds": seconds, "recall": recall, "limit": limit})
        process.kill()
        process.join()
    return found


def draw(results: list[dict[str, float]], path: Path) -> None:
    """Draw the cost against the number of frames, with the fitted exponent."""
    import matplotlib.pyplot as plt

    n = np.array([result["frames"] for result in results])
    seconds = np.array([result["seconds"] for result in results])
    brute = seconds * np.array([result["times md.rmsd"] for result in results])
    power = np.polyfit(np.log(n), np.log(seconds), 1)
    figure, axes = plt.subplots(figsize=(5.5, 4), layout="constrained")
    axes.loglog(n, brute, "s:", color="#999999", label="md.rmsd, all pairs: exponent 2")
    axes.loglog(n, seconds, "o", color="#0072b2", label="mf.rmsd_neighbors")
    axes.loglog(
        n, np.exp(np.polyval(power, np.log(n))), color="#0072b2", label=f"fitted exponent {power[0]:.2f}"
    )
    axes.set(xlabel="frames", ylabel=f"seconds on {thread_count(None)} cores")
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"exponent {power[0]:.2f}; {path}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, nargs="+", default=[142_074])
    parser.add_argument("--neighbors", type=int, default=100)
    parser.add_argument("--recall", type=float, default=0.99, help="measured beside the exact search")
    parser.add_argument("--queries", type=int, default=100, help="queries compared with all frames")
    parser.add_argument(
        "--peers", type=int, metavar="N", help="run hnswlib and pynndescent on so many of --frames"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds that a peer may take")
    parser.add_argument("--plot", type=Path)
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    parser.add_argument("--data", choices=("ala2", "villin", "features"), default="ala2")
    parser.add_argument("--folder", type=Path, help="of the data sets; ../shared/data by default")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[5, 10, 30], help="of features")
    options = parser.parse_args()
    small = mf.datasets.alanine_dipeptide(stride=50)
    begin = SECONDS()
    mf.rmsd_neighbors(small, n_neighbors=10)
    mf.rmsd_neighbors(small, n_neighbors=10, recall=0.9)
    print(f"compiling or loading the kernels: {SECONDS() - begin:.1f} s")
    if options.data == "features":
        mf.euclidean_neighbors(features(300, 3), n_neighbors=10)
        for n in options.frames:
            for dimensions in options.dimensions:
                found = measure_features(features(n, dimensions), options.neighbors, options.queries)
                for name, value in found.items():
                    print(f"{name:<44}{value:>16,.6g}", flush=True)
                print()
        return
    results, peers = [], []
    folder = (options.folder or DATA) / {"ala2": "ala2", "villin": "villin_go"}[options.data]
    for n in options.frames:
        xyz = (read_villin if options.data == "villin" else read)(folder, n)
        results.append(measure(xyz, options.neighbors, options.recall, options.queries))
        for name, value in results[-1].items():
            print(f"{name:<44}{value:>16,.6g}", flush=True)
        print()
        if options.peers == n:
            peers = compare_peers(xyz, options.neighbors, options.limit, options.queries)
    if options.plot and len(results) > 1:
        draw(results, options.plot)
    if options.write is not None:
        from performance import write_result

        found = {"neighbors": options.neighbors, "results": results, "machine": machine("mdtraj")}
        found |= {"peers": peers, "frames of peers": options.peers}
        write_result(options.write, "neighbors", found)


if __name__ == "__main__":
    main()

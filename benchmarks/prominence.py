"""How often the automatic prominence finds the right number of states, on data where that number is known.

    python benchmarks/prominence.py --write docs/theory/prominence-table.md
    python benchmarks/prominence.py --neighbors "alanine dipeptide, 142,074 frames=folder/prefix"

The second form adds a row for neighbours that were saved as prefix_indices.npy and prefix_distances.npy.
"""

import argparse
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from pages import tell

import mdfuzzy as mf

KS = (15, 50)
HEADER = "| data | dimensions | points | modes | k | right | gap clear |"


def nearest(points: np.ndarray, m: int, tree: bool) -> mf.Neighbors:
    """Search with a tree where that prunes (few dimensions, separate modes), compare all elsewhere."""
    if tree:
        from scipy.spatial import cKDTree

        distances, indices = cKDTree(points).query(points, m + 1)
        return mf.Neighbors(indices[:, 1:], distances[:, 1:])
    from sklearn.neighbors import NearestNeighbors

    distances, indices = NearestNeighbors(n_neighbors=m, algorithm="brute").fit(points).kneighbors()
    return mf.Neighbors(indices, distances)


def one_mode(shape: str, d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a density with one mode (the cube's is a plateau)."""
    if shape == "Gaussian":
        return rng.normal(size=(n, d))
    if shape == "Laplace":
        return rng.laplace(size=(n, d))
    if shape == "Student t, 3 degrees":
        return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    return rng.random((n, d))


def mixture(modes: int, d: int, n: int, equal: bool, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Draw unit Gaussians with centres at least max(6, 2 sqrt(d)) apart: (points, size of the smallest)."""
    apart = max(6.0, 2 * np.sqrt(d))
    centres = [np.zeros(d)]
    while len(centres) < modes:
        step = rng.normal(size=d)
        step *= apart * (1 + 0.3 * rng.random()) / np.linalg.norm(step)
        centre = centres[rng.integers(len(centres))] + step
        if min(np.linalg.norm(centre - other) for other in centres) >= apart:
            centres.append(centre)
    weights = np.ones(modes) if equal else np.linspace(1, 3, modes)
    sizes = np.floor(n * weights / weights.sum()).astype(int)
    sizes[-1] += n - sizes.sum()
    return np.repeat(centres, sizes, axis=0) + rng.normal(size=(n, d)), int(sizes.min())


def judge(neighbors: mf.Neighbors, k: int, kde: bool = False) -> tuple[int, bool]:
    """Return (states, whether the gap is clear)."""
    part = mf.Neighbors(neighbors.indices[:, : 2 * k], neighbors.distances[:, : 2 * k])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a bandwidth at the end of its range
        log_density = mf.kde_log_density(part) if kde else mf.dtm_log_density(part)
    gap = mf.compute_persistence(part.graph(k=k), log_density, n_jobs=1).prominence_gap()
    return gap.n_states, gap.well_determined


def trial(case: tuple) -> list[tuple]:
    """Draw one data set and judge it for every k that it has room for."""
    name, d, n, modes, seed = case
    rng = np.random.default_rng([seed, d, n, modes])
    smallest = n
    if name.startswith("mixture"):
        points, smallest = mixture(modes, d, n, "unequal" not in name, rng)
    else:
        points = one_mode(name.removesuffix(", KDE"), d, n, rng)
    neighbors = nearest(points, 2 * max(KS), tree=d <= 5 or (d <= 10 and modes > 1))
    rows = []
    for k in KS:
        if 2 * k <= smallest / 2:
            rows.append(((name, d, n, modes, k), *judge(neighbors, k, kde="KDE" in name)))
    return rows


def one_thread() -> None:
    """Let a process of the pool use one core: the libraries below would each take all of them."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def cases() -> list[tuple]:
    """List every data set of the table."""
    sizes = (2_000, 20_000)
    out = [("Gaussian", d, n, 1, seed) for n, d, seed in product((500, *sizes), (1, 2, 5, 10, 20), range(20))]
    for n, d, modes, kind in product(sizes, (2, 5, 10, 20), (2, 4, 8), ("equal", "unequal")):
        out += [(f"mixture, {kind} weights", d, n, modes, seed) for seed in range(10)]
    for shape, d in product(("cube", "Laplace", "Student t, 3 degrees"), (1, 2, 5, 10)):
        out += [(shape, d, 2_000, 1, seed) for seed in range(20)]
    for d in (1, 2, 5, 10):
        out += [("Gaussian, KDE", d, 2_000, 1, seed) for seed in range(20)]
        out += [("mixture, equal weights, KDE", d, 2_000, 4, seed) for seed in range(10)]
    return out


def render(results: dict[tuple, list[tuple]]) -> str:
    """Lay the results out as a Markdown table."""
    lines = [HEADER, "|---|--:|--:|--:|--:|--:|--:|"]
    for (name, d, n, modes, k), trials in results.items():
        right = sum(states == modes for states, _ in trials)
        clear = sum(clear for _, clear in trials)
        count = len(trials)
        lines.append(f"| {name} | {d} | {n:,} | {modes} | {k} | {right} of {count} | {clear} of {count} |")
    return "\n".join(lines) + "\n"


def saved(argument: str) -> str:
    """Judge neighbours from disk: one table row per k."""
    name, prefix = argument.rsplit("=", 1)
    indices, distances = (np.load(f"{prefix}_{part}.npy", mmap_mode="r") for part in ("indices", "distances"))
    neighbors = mf.Neighbors(indices, distances)
    lines = [
        "| data | points | k | states | gap clear | noise | largest noise | threshold | smallest state |"
    ]
    lines.append("|---|--:|--:|--:|---|--:|--:|--:|--:|")
    for k in sorted({neighbors.k // 2, neighbors.k // 3, neighbors.k // 4, 15}, reverse=True):
        part = mf.Neighbors(indices[:, : 2 * k], distances[:, : 2 * k])
        peaks = mf.compute_persistence(part.graph(k=k), mf.dtm_log_density(part))
        gap = peaks.prominence_gap()
        lines.append(
            f"| {name} | {len(part):,} | {k} | {gap.n_states} | {'yes' if gap.well_determined else 'no'} "
            f"| {gap.noise:.3g} | {gap.largest_noise:.3g} | {gap.threshold:.3g} | {gap.smallest_state:.3g} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the whole table, or judge saved neighbours."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="write the table to this file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--max-points", type=int, default=20_000, help="leave out larger data sets")
    parser.add_argument("--neighbors", action="append", default=[], metavar="NAME=PREFIX")
    arguments = parser.parse_args()
    text = "\n".join(saved(argument) for argument in arguments.neighbors)
    if not arguments.neighbors:
        results, start = defaultdict(list), time.perf_counter()
        with ProcessPoolExecutor(arguments.jobs, initializer=one_thread) as pool:
            todo = [case for case in cases() if case[2] <= arguments.max_points]
            for rows in pool.map(trial, todo, chunksize=5):
                for key, states, clear in rows:
                    results[key].append((states, clear))
        text = render(results)
        print(f"{time.perf_counter() - start:.0f} s")
    tell(text, arguments.write)


if __name__ == "__main__":
    main()

"""How the number of states depends on k: on the bundled alanine dipeptide and on Gaussian mixtures.

    python benchmarks/choose_k.py --write docs/how-to/choose-k-table.md
    python benchmarks/choose_k.py --neighbors "142,074 frames=folder/prefix"

The second form adds rows for neighbours that were saved as prefix_indices.npy and prefix_distances.npy.
"""

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from pages import tell
from prominence import mixture, nearest

import mdfuzzy as mf

KS = (5, 10, 18, 25, 36, 50, 100, 200)
SEEDS = 10
SMALL = (15, 30, 60, 90, 120, 180, 240)
SIZES, DIMENSIONS, MODES = (500, 2_000), (2, 5, 10), (1, 4)


def divide(neighbors: mf.Neighbors, k: int) -> mf.ProminenceGap:
    """Divide the peaks into noise and states, with the graph of k and the density of 2k neighbours."""
    part = mf.Neighbors(neighbors.indices[:, : 2 * k], neighbors.distances[:, : 2 * k])
    return mf.compute_persistence(part.graph(k=k), mf.dtm_log_density(part), n_jobs=1).prominence_gap()


def frames_rows(name: str, neighbors: mf.Neighbors) -> Iterator[str]:
    """Yield a row of the table with the number of states for every k; brackets: poorly determined."""
    cells = []
    for k in KS:
        if 2 * k > neighbors.k:
            cells.append("")
            continue
        gap = divide(neighbors, k)
        cells.append(f"{gap.n_states}" if gap.well_determined else f"({gap.n_states})")
    yield f"| {name} | {mf.suggest_k(len(neighbors))} | " + " | ".join(cells) + " |"


def trial(case: tuple[int, int, int, int]) -> list[bool | None]:
    """Draw one mixture and say for every k whether its modes were found; None where 2k is too large."""
    n, d, modes, seed = case
    rng = np.random.default_rng([seed, d, n, modes])
    points, smallest = mixture(modes, d, n, True, rng)
    ks = [k for k in (*KS, mf.suggest_k(n)) if 2 * k < n]
    neighbors = nearest(points, 2 * max(ks), tree=d <= 5)
    found = {k: divide(neighbors, k).n_states == modes for k in ks}
    return [found.get(k) if 2 * k < smallest else None for k in (mf.suggest_k(n), *KS)]


def small_mode(case: tuple[int, int, int]) -> bool:
    """Draw a large and a small Gaussian, 5,000 points in all, and say whether k = 30 finds both."""
    size, d, seed = case
    points = np.random.default_rng([seed, d]).normal(size=(5_000, d))
    points[:size, 0] += max(8.0, 2.5 * np.sqrt(d))
    return divide(nearest(points, 60, tree=d <= 5), 30).n_states == 2


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--neighbors", action="append", default=[], metavar="NAME=PREFIX")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    ks = " | ".join(f"k = {k}" for k in KS)
    rule = "|---|--:|" + "--:|" * len(KS)
    lines = [f"| alanine dipeptide | default k | {ks} |", rule]
    frames = mf.datasets.alanine_dipeptide()
    bundled = mf.rmsd_neighbors(frames, n_neighbors=2 * max(KS), n_jobs=options.jobs)
    lines += frames_rows(f"bundled, {len(frames):,} frames", bundled)
    for each in options.neighbors:
        name, prefix = each.split("=")
        loaded = [np.load(f"{prefix}_{part}.npy") for part in ("indices", "distances")]
        lines += frames_rows(name, mf.Neighbors(*loaded))
    lines += ["", f"| modes, dimensions, points | default k | at the default | {ks} |", rule + "--:|"]
    cases = list(product(SIZES, DIMENSIONS, MODES))
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(trial, [(*case, seed) for case in cases for seed in range(SEEDS)]))
    for place, (n, d, modes) in enumerate(cases):
        found = results[place * SEEDS : (place + 1) * SEEDS]
        cells = ["" if None in column else f"{sum(column)}" for column in zip(*found, strict=True)]
        lines.append(f"| {modes}, {d}, {n:,} | {mf.suggest_k(n)} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"| points in the small one | {' | '.join(map(str, SMALL))} |",
        "|---|" + "--:|" * len(SMALL),
    ]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for d in DIMENSIONS:
            found = list(pool.map(small_mode, [(size, d, seed) for size in SMALL for seed in range(SEEDS)]))
            counts = np.reshape(found, (len(SMALL), SEEDS)).sum(axis=1)
            lines.append(f"| {d} dimensions | {' | '.join(map(str, counts))} |")
    text = "\n".join(lines) + "\n"
    tell(text, options.write)


if __name__ == "__main__":
    main()

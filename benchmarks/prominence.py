"""How often the automatic number of states is right, on data whose states are known.

    python benchmarks/prominence.py --write docs/theory/prominence-table.md
    python benchmarks/prominence.py --only clipped --write docs/theory/prominence-table.md
    python benchmarks/prominence.py --alanine --write docs/theory/prominence-alanine.md

The data are in made_molecules.py: single modes, mixtures, products of Ramachandran-like mixtures, rows of
wells of all depths, trajectories with memory, rare states, repeated, rounded and clipped points, few frames.
With --only, the other rows of the file stay as they are. --alanine makes the table of the full-size alanine
dipeptide set, with the prominences.
"""

import argparse
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from made_molecules import all_made
from pages import tell
from shared_data import DATA, load_frames

import mdfuzzy as mf
from mdfuzzy.states.clipping import doubt_clipped

HEADER = (
    "| data | dimensions | points | k | true states | number correct in | states found | well determined "
    "| well determined but wrong |"
)
ALANINE_HEADER = (
    "| frames | k | states | well determined | scale of the noise | most prominent noise | threshold "
    "| least prominent state |"
)


class Trial(NamedTuple):
    """One data set: its row, k, the states found, whether they are well determined, and whether states were
    missed, but only states below the printed size.
    """

    row: int
    k: int
    states: int
    well: bool
    announced: bool


def judge(points: np.ndarray, lengths: list[int] | None) -> mf.StateTree:
    """Return the tree of states, with every choice made from the data."""
    k = mf.suggest_k(len(points), n_different=len(np.unique(points, axis=0)))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k, n_jobs=1)
    graph, dimension = neighbors.graph(k=k), mf.intrinsic_dimension(neighbors, n_jobs=1)
    log_density = mf.dtm_log_density(neighbors, dimension=dimension)
    peaks = mf.compute_persistence(graph, log_density, n_jobs=1)
    tree = mf.build_state_tree(
        neighbors, graph, log_density, peaks, dimension=dimension, lengths=lengths, n_jobs=1
    )
    return doubt_clipped(tree, neighbors, peaks, points)


def trial(case: tuple[int, int]) -> Trial:
    """Draw one data set and judge it."""
    row, seed = case
    name, d, n, states, draw = all_made()[row]
    points, lengths, labels = draw(np.random.default_rng([seed, d, n, states, len(name)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = judge(points, lengths)
    visible = np.count_nonzero(np.bincount(labels[labels >= 0]) >= tree.smallest_state)
    found = len(tree.states)
    return Trial(row, tree.k, found, tree.well_determined, found == visible < states)


def one_thread() -> None:
    """Let a process of the pool use one core: the libraries below would each take all of them."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def render(results: dict[int, list[Trial]], former: str = "") -> str:
    """Lay the results out as a Markdown table, with the rows of a former table that were not measured."""
    made = all_made()
    rows = {key_of(line): line for line in former.splitlines()[2:]}
    for row, trials in results.items():
        name, d, n, states, _ = made[row]
        count, found = len(trials), [each.states for each in trials]
        wrong = [each for each in trials if each.well and each.states != states]
        announced = sum(each.announced for each in wrong)
        cells = [
            f"| {name}",
            str(d),
            f"{n:,}",
            span([each.k for each in trials]),
            str(states),
            f"{found.count(states)} of {count}",
            span(found),
            f"{sum(each.well for each in trials)} of {count}",
            f"{len(wrong)}" + (f" ({announced} announced)" if announced else ""),
        ]
        line = " | ".join(cells) + " |"
        rows[key_of(line)] = line
    keys = dict.fromkeys((name, str(d), f"{n:,}", str(states)) for name, d, n, states, _ in made)
    lines = [rows[key] for key in keys if key in rows]
    return "\n".join([HEADER, "|---|--:|--:|--:|--:|--:|---|--:|--:|", *lines]) + "\n"


def key_of(line: str) -> tuple[str, ...]:
    """Return what tells a row of the table from the others: the data, dimensions, points and states."""
    cells = line.strip("| ").split(" | ")
    return (*cells[:3], cells[4])


def span(numbers: list[int]) -> str:
    """Return the smallest and the largest number, or the only one."""
    return f"{min(numbers)}" if len(set(numbers)) == 1 else f"{min(numbers)} to {max(numbers)}"


def alanine(folder: Path, most: int) -> str:
    """Lay the prominences of alanine dipeptide out as a table, by numbers of frames and neighbours."""
    bundled, whole = mf.datasets.alanine_dipeptide(), load_frames(folder, None)
    starts = np.cumsum([0, *whole.lengths])
    half = np.concatenate([np.arange(starts[at], starts[at + 1], 2) for at in (0, 5)])
    sets = [
        ("30,000 (bundled)", bundled, (50, 33, 25, 15)),
        (f"{len(half):,} (every second of two trajectories)", whole.subset(half), (50, 33, 25, 15)),
        (f"{len(whole):,} (all)", whole, (50,)),
    ]
    lines = [ALANINE_HEADER, "|---|--:|--:|---|--:|--:|--:|--:|"]
    for name, data, ks in sets:
        if len(data) > most:
            continue
        neighbors = mf.rmsd_neighbors(data, n_neighbors=2 * max(ks))
        for k in ks:
            graph = neighbors.graph(k=k)
            dimension = mf.intrinsic_dimension(neighbors, n_neighbors=2 * k)
            log_density = mf.dtm_log_density(neighbors, n_neighbors=2 * k, dimension=dimension)
            peaks = mf.compute_persistence(graph, log_density)
            tree = mf.build_state_tree(
                neighbors, graph, log_density, peaks, dimension=dimension, lengths=data.lengths
            )
            gap = tree.gaps[0]
            verdict = f"no: {'; '.join(tree.doubts)}" if tree.doubts else "yes"
            noise = f"{gap.noise:.3g}{' (capped)' if gap.capped else ''}"
            lines.append(
                f"| {name} | {k} | {len(tree.states)} | {verdict} | {noise} | {gap.largest_noise:.3g} "
                f"| {gap.threshold:.3g} | {tree.prominences[tree.states, 0].min():.3g} |"
            )
            name = f"{len(data):,}"
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the whole table, or the rows whose names contain a word."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="write the table to this file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--trials", type=int, default=10, help="data sets of each kind")
    parser.add_argument("--max-points", type=int, default=2_000_000, help="leave out larger data sets")
    parser.add_argument("--only", default="", help="only rows whose names contain this")
    parser.add_argument("--alanine", action="store_true", help="the table of alanine dipeptide instead")
    parser.add_argument("--data", type=Path, default=DATA / "ala2", help="the folder of that set")
    arguments = parser.parse_args()
    if arguments.alanine:
        tell(alanine(arguments.data, arguments.max_points), arguments.write)
        return
    results, start = defaultdict(list), time.perf_counter()
    todo = [
        (row, seed)
        for row, (name, _, n, _, _) in enumerate(all_made())
        if n <= arguments.max_points and arguments.only in name
        for seed in range(arguments.trials if n <= 100_000 else min(arguments.trials, 2))
    ]
    with ProcessPoolExecutor(arguments.jobs, initializer=one_thread) as pool:
        for found in pool.map(trial, todo):
            results[found.row].append(found)
    print(f"{time.perf_counter() - start:.0f} s")
    former = arguments.write.read_text() if arguments.write and arguments.write.exists() else ""
    tell(render(results, former), arguments.write)


if __name__ == "__main__":
    main()

"""How often the automatic number of states is right, on data whose states are known.

    python benchmarks/prominence.py --write docs/theory/prominence-table.md

The data are in made_molecules.py: single modes, mixtures, products of Ramachandran-like mixtures, rows of
wells of all depths, trajectories with memory, rare states, repeated and rounded points, few frames.
"""

import argparse
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from made_molecules import all_made
from pages import tell

import mdfuzzy as mf

HEADER = (
    "| data | dimensions | points | k | true states | correct number | numbers found | well determined "
    "| well determined but wrong |"
)


def judge(points: np.ndarray, lengths: list[int] | None) -> mf.StateTree:
    """Return the tree of states, with every choice made from the data."""
    k = mf.suggest_k(len(points))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k, n_jobs=1)
    graph, dimension = neighbors.graph(k=k), mf.intrinsic_dimension(neighbors, n_jobs=1)
    log_density = mf.dtm_log_density(neighbors, dimension=dimension)
    peaks = mf.compute_persistence(graph, log_density, n_jobs=1)
    return mf.build_state_tree(
        neighbors, graph, log_density, peaks, dimension=dimension, lengths=lengths, n_jobs=1
    )


def trial(case: tuple[int, int]) -> tuple[int, int, bool]:
    """Draw one data set and judge it: its row, the states found, and whether they are well determined."""
    row, seed = case
    name, d, n, states, draw = all_made()[row]
    points, lengths, _ = draw(np.random.default_rng([seed, d, n, states, len(name)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = judge(points, lengths)
    return row, len(tree.states), tree.well_determined


def one_thread() -> None:
    """Let a process of the pool use one core: the libraries below would each take all of them."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def render(results: dict[int, list[tuple[int, bool]]]) -> str:
    """Lay the results out as a Markdown table."""
    lines = [HEADER, "|---|--:|--:|--:|--:|--:|---|--:|--:|"]
    made = all_made()
    for row, trials in results.items():
        name, d, n, states, _ = made[row]
        count, found = len(trials), sorted({number for number, _ in trials})
        right = sum(number == states for number, _ in trials)
        well = sum(sure for _, sure in trials)
        wrong = sum(sure and number != states for number, sure in trials)
        told = f"{found[0]}" if len(found) == 1 else f"{found[0]} to {found[-1]}"
        lines.append(
            f"| {name} | {d} | {n:,} | {mf.suggest_k(n)} | {states} | {right} of {count} | {told} "
            f"| {well} of {count} | {wrong} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the whole table, or the rows whose names contain a word."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="write the table to this file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--trials", type=int, default=10, help="data sets of each kind")
    parser.add_argument("--max-points", type=int, default=500_000, help="leave out larger data sets")
    parser.add_argument("--only", default="", help="only rows whose names contain this")
    arguments = parser.parse_args()
    results, start = defaultdict(list), time.perf_counter()
    todo = [
        (row, seed)
        for row, (name, _, n, _, _) in enumerate(all_made())
        if n <= arguments.max_points and arguments.only in name
        for seed in range(arguments.trials if n <= 100_000 else min(arguments.trials, 2))
    ]
    with ProcessPoolExecutor(arguments.jobs, initializer=one_thread) as pool:
        for row, states, well in pool.map(trial, todo):
            results[row].append((states, well))
    print(f"{time.perf_counter() - start:.0f} s")
    tell(render(results), arguments.write)


if __name__ == "__main__":
    main()

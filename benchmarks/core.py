"""Seconds, peak memory and the ratio to a peer for each step from neighbours to memberships, in one run.

    python benchmarks/core.py --frames 30000
    python benchmarks/core.py --frames 1420738 --neighbors folder/prefix
    python benchmarks/core.py --frames 1420738 --data ../shared/data/ala2
    python benchmarks/core.py --frames 142074 --data folder-of-trajectories --top ala2.pdb

By default the frames are points in five Gaussian wells. --neighbors takes neighbours that were saved as
prefix_indices.npy and prefix_distances.npy (--frames must then be their number, or left out); --data searches
them by RMSD, in the full-size alanine dipeptide set or in trajectories with the topology --top.

The peers are GUDHI's Tomato, given the same graph as arrays of indices, for the persistence; and for the
memberships scipy.sparse.linalg.cg, one column after the other, on the symmetric form of the same system
with Jacobi's preconditioner. Both use one thread. Their results are compared with ours.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np
from measuring import machine, peak_memory, reset_peak
from shared_data import load_frames

import mdfuzzy as mf
from mdfuzzy._threads import thread_count

#: Steps shorter than this many seconds are measured three times, in turn with their peer.
SHORT = 5.0
#: The peer's columns beyond the first are estimated from the first above this many frames.
ALL_COLUMNS = 200_000
MAX_ITERATIONS = 2_000


def timed(function: Callable[[], object]) -> tuple[object, float]:
    """Return the result of a call and its wall time in s."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def measure(
    rows: list[dict],
    name: str,
    ours: Callable[[], object],
    make_peer: Callable[[object], "Peer"] | None = None,
) -> object:
    """Run a step and its peer, in turn if they are short, print and keep the line, return our result."""
    reset_peak()
    result, seconds = timed(ours)
    memory, times, theirs = peak_memory(), [seconds], []
    peer = None if make_peer is None else make_peer(result)
    while peer is not None or seconds < SHORT:
        if peer is not None and (not theirs or theirs[0] < SHORT):
            theirs.append(timed(peer.compute)[1])
        if seconds >= SHORT or len(times) == 3:
            break
        times.append(timed(ours)[1])
    row = {"name": name, "seconds": statistics.median(times), "memory": memory, "peer_seconds": None}
    line = f"{name:28s}{row['seconds']:10.2f} s{memory:9.2f} GB"
    if peer is not None:
        other = peer.share * statistics.median(theirs)
        row |= {"peer_seconds": other, "verdict": peer.verdict(result)}
        line += f"{other:10.2f} s{other / row['seconds']:9.1f}   {row['verdict']}"
    print(line, flush=True)
    rows.append(row)
    return result


class Peer(Protocol):
    """Another program's way to the same result."""

    share: float  # all of the work over what was done

    def compute(self) -> None:
        """Do what is timed."""

    def verdict(self, ours: object) -> str:
        """Say what the peer is, and how its result compares."""


class Gudhi:
    """GUDHI's Tomato on the same graph and density."""

    share = 1.0

    def __init__(self, graph: mf.Graph, log_density: np.ndarray) -> None:
        self.rows = np.split(graph.indices, graph.indptr[1:-1])  # arrays, because lists are slower still
        self.log_density = log_density
        self.pairs = np.empty((0, 2))

    def compute(self) -> None:
        """Find births and deaths."""
        from gudhi.clustering.tomato import Tomato

        peer = Tomato(graph_type="manual", density_type="manual")
        peer.fit(self.rows, weights=self.log_density)
        self.pairs = np.asarray(peer.diagram_).reshape(-1, 2)

    def verdict(self, ours: mf.Persistence) -> str:
        """Compare births and deaths."""
        pairs = np.column_stack([ours.births, ours.deaths])[np.isfinite(ours.deaths)]
        same = np.array_equal(pairs[np.lexsort(pairs.T)], self.pairs[np.lexsort(self.pairs.T)])
        return f"GUDHI: {len(self.pairs):,} births and deaths, {'the same' if same else 'NOT THE SAME'}"


class ConjugateGradients:
    """The memberships by scipy's conjugate gradients, one column after the other."""

    def __init__(self, graph: mf.Graph, cores: mf.Cores, ours: mf.Memberships) -> None:
        from scipy.sparse import csr_array, eye_array

        # The walk steps from i to its neighbour j with probability g_j / S_i, S_i the sum of g around i.
        # With m_i = g_i S_i the system is symmetric in sqrt(m) mu; its matrix is I - N with
        # N_ij = sqrt(g_i g_j / (S_i S_j)), so its diagonal is 1: Jacobi's preconditioner is built in.
        logs, starts, n = ours.log_weights, graph.indptr[:-1], len(graph)
        tops = np.maximum.reduceat(logs[graph.indices], starts)
        sums = np.add.reduceat(np.exp(logs[graph.indices] - np.repeat(tops, graph.degrees)), starts)
        log_sums = tops + np.log(sums)
        half = (logs - log_sums) / 2
        values = np.exp(np.repeat(half, graph.degrees) + half[graph.indices])
        mass = logs + log_sums
        self.root = np.exp((mass - mass.max()) / 2)
        self.free = np.flatnonzero(cores.core_of < 0)
        rows = csr_array((values, graph.indices, graph.indptr), shape=(n, n))[self.free]
        self.matrix = (eye_array(len(self.free), format="csr") - rows[:, self.free]).tocsr()
        self.inflow = [rows @ np.where(cores.core_of == c, self.root, 0.0) for c in range(len(cores))]
        self.columns = range(len(cores)) if n <= ALL_COLUMNS else range(1)
        self.share = len(cores) / len(self.columns)
        self.solutions, self.failed = [], 0

    def compute(self) -> None:
        """Solve for the columns to a relative residual of 1e-8."""
        from scipy.sparse.linalg import cg

        solved = [cg(self.matrix, self.inflow[c], rtol=1e-8, maxiter=MAX_ITERATIONS) for c in self.columns]
        self.solutions = [solution for solution, _ in solved]
        self.failed = sum(info != 0 for _, info in solved)

    def verdict(self, ours: mf.Memberships) -> str:
        """Compare the memberships."""
        with np.errstate(all="ignore"):
            theirs = np.column_stack(self.solutions) / self.root[self.free, None]
        error = np.abs(theirs - ours.values[self.free][:, self.columns])
        error = float(np.where(np.isfinite(error), error, np.inf).max())
        number = f"{len(self.columns)} of {len(self.inflow)} columns" if self.share > 1 else "all columns"
        words = f"scipy cg, {number}: differs by up to {error:.1g}"
        return words + (f", {self.failed} not converged in {MAX_ITERATIONS} steps" if self.failed else "")


def wells(n: int, dimensions: int) -> np.ndarray:
    """Draw points in five Gaussian wells of different sizes, neighbours of each other."""
    rng = np.random.default_rng(0)
    centres = 4.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0.5]])
    which = rng.choice(5, size=n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    points = rng.normal(size=(n, dimensions))
    points[:, :2] += centres[which]
    return points


def find_neighbors(options: argparse.Namespace) -> mf.Neighbors:
    """Load or search the neighbours, and print how long a search took."""
    m = 2 * options.k
    if options.neighbors is not None:
        indices, distances = (np.load(f"{options.neighbors}_{part}.npy") for part in ("indices", "distances"))
        if options.frames not in (None, len(indices)) or indices.shape[1] < m:
            raise SystemExit(
                f"{options.neighbors}: {m} neighbours of each frame are needed; got {indices.shape}"
            )
        return mf.Neighbors(indices[:, :m], distances[:, :m])
    if options.data is not None:
        if options.top is None:
            frames = load_frames(options.data, options.frames)
        else:
            files = sorted(
                path for path in options.data.iterdir() if path.suffix in (".xtc", ".dcd", ".nc", ".h5")
            )
            frames = mf.load(files, top=options.top)
            chosen = np.linspace(0, len(frames) - 1, options.frames or len(frames)).astype(np.int64)
            frames = mf.Frames(frames.xyz[chosen], [len(chosen)])
        search = partial(mf.rmsd_neighbors, frames, n_neighbors=m, n_jobs=options.jobs)
    else:
        points = wells(options.frames or 30_000, options.dimensions)
        search = partial(mf.euclidean_neighbors, points, n_neighbors=m, n_jobs=options.jobs)
    reset_peak()
    neighbors, seconds = timed(search)
    print(f"{'neighbours':28s}{seconds:10.2f} s{peak_memory():8.2f} GB", flush=True)
    return neighbors


def compile_kernels(jobs: int | None) -> float:
    """Run every step on few points and return how long that took."""
    points = wells(500, 3)
    settings = mf.Settings(beta=0.2, n_jobs=jobs, prominence=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return timed(lambda: mf.cluster(points, settings))[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--frames", type=int, help="number of frames")
    parser.add_argument("--k", type=int, default=50, help="neighbours per frame in the graph")
    parser.add_argument("--dimensions", type=int, default=3, help="of the points that are drawn")
    parser.add_argument("--neighbors", metavar="PREFIX", help="saved neighbours")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="trajectories")
    parser.add_argument("--top", metavar="FILE", help="their topology; none for the full-size set")
    parser.add_argument("--beta", type=float, nargs="+", default=[1.0, 0.2], help="smaller is colder")
    parser.add_argument("--jobs", type=int, help="threads of ours; the peers use one")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    parser.add_argument("--no-peers", action="store_true", help="measure ours alone")
    options = parser.parse_args()
    names = ("mdfuzzy", "numpy", "numba", "scipy", "scikit-learn", "gudhi")
    print(", ".join(f"{name} {mf.__version__ if name == 'mdfuzzy' else version(name)}" for name in names))
    print(f"compiling, or loading what was compiled: {compile_kernels(options.jobs):.1f} s")
    neighbors = find_neighbors(options)
    print(f"{len(neighbors):,} frames, k = {options.k}, {thread_count(options.jobs)} threads")
    print(f"{'step':28s}{'seconds':>12s}{'peak':>12s}{'peer':>12s}{'ratio':>9s}")
    peers, rows = not options.no_peers, []
    step = partial(measure, rows)
    graph = step("graph", lambda: neighbors.graph(k=options.k))
    dimension = step("dimension", lambda: mf.intrinsic_dimension(neighbors))
    logf = step("density", lambda: mf.dtm_log_density(neighbors, dimension=dimension))
    peaks = step(
        "persistence",
        lambda: mf.compute_persistence(graph, logf, n_jobs=options.jobs),
        (lambda peaks: Gudhi(graph, logf)) if peers else None,
    )
    gap = step("prominence", peaks.prominence_gap)
    cores = step("cores", lambda: mf.find_cores(graph, logf, peaks, min_prominence=gap.threshold))
    for beta in options.beta:
        mu = step(
            f"memberships, beta = {beta:g}",
            partial(
                mf.solve_memberships, graph, logf, cores, beta=beta, dimension=dimension, n_jobs=options.jobs
            ),
            partial(ConjugateGradients, graph, cores) if peers else None,
        )
        print(f"{'':28s}residual {mu.residual:.1g}, rows sum to 1 within {mu.row_sum_error:.1g}")
    print(f"dimension {dimension:.3g}; {gap}; core sizes {cores.sizes.tolist()}")
    if options.write is not None:
        from performance import write_result

        found = {
            "frames": len(neighbors),
            "k": options.k,
            "threads": thread_count(options.jobs),
            "steps": rows,
        }
        write_result(options.write, "core", found | {"machine": machine("scikit-learn", "gudhi")})


if __name__ == "__main__":
    main()

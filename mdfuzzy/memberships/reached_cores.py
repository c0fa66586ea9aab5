"""Cores that the walk reaches: for each state the smallest core reached before the walk leaves the basin."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import check_real
from mdfuzzy._threads import using_threads
from mdfuzzy.memberships import _solver
from mdfuzzy.memberships.weights import walk_exponent, walk_pull
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.cores import Cores, find_cores
from mdfuzzy.states.persistence import Persistence, check_sampled, descending

#: The walk temperature at which cores are determined, whatever is used later: that of the simulation.
BETA = 2.0
#: The required probability to reach the core. See the theory page on cores.
REACH = 0.07
_TOLERANCE = 1e-4  # of the probabilities
_MAX_STEPS = 12  # of the search for a size
_CLOSE = 1.15  # a core is not made smaller if that could save less than this factor


@dataclass(frozen=True, eq=False)
class _Basin:
    """Hold the walk inside one basin, which ends at the first step out of the basin.

    The points of the basin come first, then a copy of each point outside that an edge leads to.
    """

    points: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    pull: np.ndarray

    def reach(self, core: np.ndarray, start: np.ndarray | None) -> tuple[float, np.ndarray]:
        """Return the probability to reach the core (a mask of the points) after a step into the basin.

        Steps in and out are equally frequent. So it is the weighted mean, over the edges that lead out, of
        the probability at their inner ends. Also returns the probabilities of all points.
        """
        targets = np.full(len(self.pull), -1, np.int32)
        targets[: len(self.points)][core] = 0
        targets[len(self.points) :] = 1
        solution = _solver.solve_walk(
            self.indptr, self.indices, self.distances, self.pull, 0.0, targets, 2,
            reversible=True, tolerance=_TOLERANCE, start=start,
        )  # fmt: skip
        inner = self.indices[self.indptr[len(self.points)] :]
        outer = np.repeat(
            np.arange(len(self.points), len(self.pull)), np.diff(self.indptr)[len(self.points) :]
        )
        weights = self.pull[inner] + self.pull[outer]
        weights = np.exp(weights - weights.max())
        return float(np.average(solution.values[inner, 0], weights=weights)), solution.values


def find_reached_cores(
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    min_prominence: float | None = None,
    states: npt.ArrayLike | None = None,
    sampled: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    reach: float = REACH,
    dimension: float | None = None,
    min_size: int = 2,
    n_jobs: int | None = None,
) -> Cores:
    r"""Find for each state the smallest core that the walk reaches before it leaves the basin.

    A core grows downwards from its peak, as with every rule. It begins with the core of Bonis and Oudot, and
    grows until a walk that has just stepped into the basin reaches the core with probability `reach` before
    it steps out again. A frame at the border then belongs equally to both sides, and no core attracts frames
    out of the adjacent basin. The walk always has :math:`\beta = 2` on this graph, whatever is used later, so
    a scan over beta has the same cores everywhere. The core of a state does not depend on the cores of other
    states.

    Parameters
    ----------
    graph, log_density, peaks, min_prominence, states, min_size
        As for `find_cores`.
    sampled, weights : (n,) arrays, optional
        For weighted points: the log density of the points as sampled, which the walk also needs, and the
        weights.
    reach : float
        The required probability, in (0, 0.99].
    dimension : float, optional
        The dimension d of the exponent of the walk; estimated by default.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    Cores

    See Also
    --------
    find_cores : The other rules.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 4 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> cores = mf.find_reached_cores(graph, log_density, peaks, min_prominence=0.5, reach=0.9)
    >>> smallest = mf.find_cores(graph, log_density, peaks, min_prominence=0.5, least=0.0)
    >>> bool(np.all(cores.sizes >= smallest.sizes))
    True
    """
    reach = check_real("reach", reach, above=0, at_most=0.99)
    plain = find_cores(
        graph,
        log_density,
        peaks,
        min_prominence=min_prominence,
        states=states,
        weights=weights,
        least=0.0,
        min_size=min_size,
    )
    log_density = np.asarray(log_density, np.float64)
    exponent = walk_exponent(graph, BETA, dimension=dimension)
    pull = walk_pull(log_density, check_sampled(graph, log_density, sampled), exponent, BETA)
    local = np.full(len(graph), -1, np.int32)
    order, rank = descending(log_density)
    core_of = plain.core_of.copy()
    with using_threads(n_jobs):
        for state in range(len(plain)):
            basin = _cut_out(graph, plain.basins == state, pull, local)
            flood = _flood_order(graph, order, rank, plain, state)
            size = _smallest_size(basin, local, flood, int(plain.sizes[state]), reach)
            core_of[flood[:size]] = state
            local[basin.points] = -1
    return replace(plain, core_of=core_of)


def _cut_out(graph: Graph, inside: np.ndarray, pull: np.ndarray, local: np.ndarray) -> _Basin:
    """Return the walk inside a basin, and number its points in `local`.

    Every edge out of the basin leads to a copy of its end point, and back, so the graph stays symmetric.
    """
    points = np.flatnonzero(inside)
    n = len(points)
    local[points] = np.arange(n, dtype=np.int32)
    degrees = graph.degrees[points]
    starts = np.concatenate([[0], np.cumsum(degrees)])
    edges = np.repeat(graph.indptr[points] - starts[:-1], degrees) + np.arange(starts[-1])
    ends, distances = graph.indices[edges], graph.distances[edges]
    del edges
    indices = local[ends]
    out = np.flatnonzero(indices < 0)
    outside, copies = np.unique(ends[out], return_inverse=True)
    indices[out] = n + copies
    rows = np.searchsorted(starts, out, side="right") - 1
    back = np.argsort(copies, kind="stable")
    counts = np.bincount(copies, minlength=len(outside))
    return _Basin(
        points=points,
        indptr=np.concatenate([starts, starts[-1] + np.cumsum(counts)]).astype(np.int64),
        indices=np.concatenate([indices, rows[back].astype(np.int32)]),
        distances=np.concatenate([distances, distances[out][back]]),
        pull=np.concatenate([pull[points], pull[outside]]),
    )


def _flood_order(graph: Graph, order: np.ndarray, rank: np.ndarray, cores: Cores, state: int) -> np.ndarray:
    """Return the points of a basin in the order of a flood that descends from its peak."""
    from mdfuzzy._kernels import tomato

    return tomato.flood(graph.indptr, graph.indices, order, rank, cores.basins, cores.peaks[state])


def _smallest_size(basin: _Basin, local: np.ndarray, flood: np.ndarray, first: int, reach: float) -> int:
    """Return the smallest number of points of the flood that the walk reaches with probability `reach`.

    The odds of reaching a core grow smoothly with the logarithm of its size. The search extrapolates a line
    through the last two sizes, inside the bounds found so far.
    """
    if len(basin.pull) == len(basin.points):  # no way out: every core is reached
        return first
    low, high = 0, len(flood)  # too small, large enough
    size, start = first, None
    known: list[tuple[float, float]] = []
    for _ in range(_MAX_STEPS):
        core = np.zeros(len(basin.points), bool)
        core[local[flood[:size]]] = True
        found, start = basin.reach(core, start)
        if found >= reach:
            high = size
            if size == first:
                return size
        else:
            low = size
        if high <= low + 1 or high <= low * _CLOSE:
            break
        known.append((np.log(size), np.log(max(found, 1e-9) / max(1 - found, 1e-9))))
        size = _next_size(known, np.log(reach / (1 - reach)), low, high)
    return high


def _next_size(known: list[tuple[float, float]], odds: float, low: int, high: int) -> int:
    """Return a size strictly between the bounds at which the odds are expected to be reached."""
    (x0, y0), (x1, y1) = known[-2:] if len(known) > 1 else ((known[0][0] - 1, known[0][1] - 1), known[0])
    slope = (y1 - y0) / (x1 - x0) if x1 != x0 and y1 != y0 else 1.0
    guess = x1 + (odds - y1) / max(slope, 0.2)
    if len(known) > 4:  # the line does not converge: halve the interval
        guess = 0.5 * (np.log(max(low, 1)) + np.log(high))
    # Slightly more than the line predicts, so that the bound is approached from above.
    size = int(np.ceil(np.exp(min(guess + 0.03, np.log(high)))))
    return int(np.clip(size, low + 1, high - 1))

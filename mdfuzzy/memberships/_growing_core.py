"""The walk inside the basin of one state, and a core that grows in it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mdfuzzy.memberships import _solver
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.cores import Cores

_TOLERANCE = 1e-6  # of the probabilities
_LEAST_REACH = 1e-9  # smaller probabilities to reach a core after a step into its basin count as this
_LEAST_GROWTH = 1.05  # of a core that is too small, in each round
_SLOPES = (0.5, 1.0)  # bounds of the slope of the log odds of reaching a core against its log size
_LOWEST = -600.0  # smaller logarithms of relative flows count as this
_SHOWN = 20_000  # points of a basin whose labels are predicted


@dataclass(frozen=True, eq=False)
class Basin:
    """Hold the walk inside one basin, which ends at the first step out of the basin.

    The points of the basin come first, then a copy of each point outside that an edge leads to.

    Attributes
    ----------
    points : (m,) int array
        The points of the basin.
    indptr, indices, distances, pull : arrays
        The walk on the points and the copies.
    adjacent : (a,) int array
        The adjacent states.
    beyond : (c,) int array
        For each copy, the place of its state in `adjacent`.
    inner, copy : (e,) int arrays
        The inner end of each edge that leads out, and the number of the copy at its outer end.
    flows : (e,) float64
        The relative frequency of steps along these edges.
    flood : (m,) int array
        The points in the order in which the core takes them, as places in `points`.
    """

    points: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    pull: np.ndarray
    adjacent: np.ndarray
    beyond: np.ndarray
    inner: np.ndarray
    copy: np.ndarray
    flows: np.ndarray
    flood: np.ndarray

    def solve(self, size: int, start: np.ndarray | None) -> np.ndarray:
        """Return the probabilities to reach the core of `size` points first, or to leave first, by state."""
        targets = np.full(len(self.pull), -1, np.int32)
        targets[self.flood[:size]] = 0
        targets[len(self.points) :] = 1 + self.beyond
        return _solver.solve_walk(
            self.indptr, self.indices, self.distances, self.pull, 0.0, targets, 1 + len(self.adjacent),
            reversible=True, tolerance=_TOLERANCE, start=start,
        ).values  # fmt: skip


@dataclass(eq=False)
class GrowingCore:
    """Hold a core that grows in its basin, and the ends of the walk inside the basin.

    Attributes
    ----------
    cut_out : callable
        Returns the walk inside the basin, which is too large to be kept.
    size : int
        The number of points of the core.
    counted : (n,) float64
        The weights of all points.
    members : (size,) int array
        The points of the core.
    n_points : int
        The number of points of the basin.
    adjacent : (a,) int array
        The adjacent states.
    shown, weights : (s, 1 + a) and (s,) float64
        From evenly spaced points of the basin: the probability to reach the core first, and to leave first
        for each adjacent state; and the weights of these points.
    entries : (a, 1 + a) float64
        The same probabilities after a step into the basin from each adjacent state.
    """

    cut_out: Callable[[], Basin]
    size: int
    counted: np.ndarray
    members: np.ndarray = field(init=False)
    n_points: int = field(init=False)
    adjacent: np.ndarray = field(init=False)
    shown: np.ndarray = field(init=False)
    weights: np.ndarray = field(init=False)
    entries: np.ndarray = field(init=False)
    _solution: np.ndarray | None = field(init=False, default=None)
    _known: list[tuple[float, float]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.grow_to(self.size)

    @property
    def complete(self) -> bool:
        """Whether the core cannot grow: it is the whole basin, or the walk cannot leave the basin."""
        return self.size == self.n_points or len(self.adjacent) == 0

    def grow_to(self, size: int) -> None:
        """Make the core larger and solve for the ends of the walk."""
        basin, self.size = self.cut_out(), size
        self.members = basin.points[basin.flood[:size]]
        self.n_points, self.adjacent = len(basin.points), basin.adjacent
        if len(self.adjacent) == 0:
            return
        self._solution = basin.solve(size, self._solution)
        ends, step = self._solution[: self.n_points], -(-self.n_points // _SHOWN)
        self.shown, self.weights = ends[::step].copy(), self.counted[basin.points[::step]]
        if not self.weights.any():
            self.weights = np.ones(len(self.weights))
        # Steps in and out are equally frequent. So the mean after a step into the basin is the mean over the
        # edges that lead out, weighted by their flows, at their inner ends.
        to, n = basin.beyond[basin.copy], len(basin.adjacent)
        flows = np.bincount(to, basin.flows, n)
        means = [np.bincount(to, basin.flows * each[basin.inner], n) / flows for each in ends.T]
        reach = np.clip(means[0], _LEAST_REACH, 1 - _LEAST_REACH)
        left = np.stack(means[1:], axis=1) + np.finfo(np.float64).tiny
        left *= ((1 - reach) / left.sum(axis=1))[:, None]
        self.entries = np.column_stack([reach, left])
        mean = np.average(reach, weights=flows)
        self._known.append((np.log(size), np.log(mean) - np.log1p(-mean)))

    def next_size(self, factor: float) -> int:
        """Return the size at which the odds of reaching the core are expected to be larger by a factor.

        The log odds grow almost linearly with the logarithm of the size.
        """
        slope = _SLOPES[1]
        if len(self._known) > 1:
            (x0, y0), (x1, y1) = self._known[-2:]
            slope = float(np.clip((y1 - y0) / (x1 - x0), *_SLOPES))
        whole = self.n_points
        larger = np.log(self.size) + max(np.log(factor) / slope, np.log(_LEAST_GROWTH))
        return min(max(int(np.exp(min(larger, np.log(whole)))), self.size + 1), whole)


def cut_out(
    graph: Graph,
    cores: Cores,
    state: int,
    pull: np.ndarray,
    local: np.ndarray,
    order: np.ndarray,
    rank: np.ndarray,
) -> Basin:
    """Return the walk inside a basin. `local` is a working array of -1 for all points.

    Every edge out of the basin leads to a copy of its end point, and back, so the graph stays symmetric.
    """
    from mdfuzzy._kernels import tomato

    points = np.flatnonzero(cores.basins == state)
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
    adjacent, beyond = np.unique(cores.basins[outside], return_inverse=True)
    steps = pull[points[rows]] + pull[ends[out]]
    flood = local[tomato.flood(graph.indptr, graph.indices, order, rank, cores.basins, cores.peaks[state])]
    local[points] = -1
    return Basin(
        points=points,
        indptr=np.concatenate([starts, starts[-1] + np.cumsum(counts)]).astype(np.int64),
        indices=np.concatenate([indices, rows[back].astype(np.int32)]),
        distances=np.concatenate([distances, distances[out][back]]),
        pull=np.concatenate([pull[points], pull[outside]]),
        adjacent=adjacent,
        beyond=beyond,
        inner=rows,
        copy=copies,
        flows=np.exp(np.maximum(steps - steps.max(initial=-np.inf), _LOWEST)),
        flood=flood,
    )

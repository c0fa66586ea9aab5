"""States and their cores: the basins of the prominent peaks, and the connected top of each basin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputValueError,
    ReadOnly,
    check_choice,
    check_finite,
    check_int,
    check_numbers,
    check_real,
    check_type,
    read_only,
)
from mdfuzzy._choices import DepthRule
from mdfuzzy._messages import warn_user
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.persistence import Persistence, check_log_density, check_symmetric, descending

#: The smallest share of a basin that a core holds. See the theory page on cores.
LEAST = 0.0002


@dataclass(frozen=True, eq=False)
class Cores(ReadOnly):
    """Hold the states of a data set: the basin and the core of each state.

    Cores are disjoint, connected in the graph, contain their peak, and lie inside their basin.

    Attributes
    ----------
    basins : (n,) int32
        The state of each point: the hard clusters of ToMATo; -1 in components of the graph that are too small
        for a state.
    core_of : (n,) int32
        The core of each point; -1 outside every core.
    peaks : (K,) int32
        The highest point of each state, sorted by basin size, the largest first.
    prominence : (K,) float64
        The height of each peak above the saddle to a higher state; infinite for the highest peak of each
        component of the graph.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> cores = mf.find_cores(graph, log_density, peaks, min_prominence=1.0)
    >>> cores
    Cores(3 states of 900 points, core sizes [...])
    >>> cores.core_of[cores.peaks]
    array([0, 1, 2], dtype=int32)
    """

    basins: np.ndarray
    core_of: np.ndarray
    peaks: np.ndarray
    prominence: np.ndarray

    def __post_init__(self) -> None:
        for name, dtype in (("basins", np.int32), ("core_of", np.int32), ("peaks", np.int32)):
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            object.__setattr__(self, name, read_only(array))
        object.__setattr__(self, "prominence", read_only(np.asarray(self.prominence, dtype=np.float64)))
        n, states = self.basins.shape, self.peaks.shape
        if len(n) != 1 or n != self.core_of.shape or len(states) != 1 or states != self.prominence.shape:
            raise InputValueError(
                f"`basins` and `core_of` must have one entry per point, `peaks` and `prominence` one per "
                f"state; got shapes {n}, {self.core_of.shape}, {states} and {self.prominence.shape}."
            )
        for name, low, high in (("basins", -1, len(self)), ("core_of", -1, len(self)), ("peaks", 0, *n)):
            array = getattr(self, name)
            if array.size and not low <= array.min() <= array.max() < high:
                raise InputValueError(
                    f"`{name}` must be in [{low}, {high - 1}]; got {array.min()} to {array.max()}."
                )

    def __len__(self) -> int:
        return len(self.peaks)

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.sizes[:8])) + (", ..." if len(self) > 8 else "")
        return f"Cores({len(self)} states of {len(self.basins)} points, core sizes [{sizes}])"

    @property
    def sizes(self) -> np.ndarray:
        """The number of points in each core, (K,)."""
        return np.bincount(self.core_of[self.core_of >= 0], minlength=len(self))

    @property
    def basin_sizes(self) -> np.ndarray:
        """The number of points in each basin, (K,)."""
        return np.bincount(self.basins[self.basins >= 0], minlength=len(self))


def find_cores(
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    min_prominence: float | None = None,
    states: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    rule: DepthRule = "prominence",
    share: float = 0.1,
    least: float = LEAST,
    min_size: int = 2,
) -> Cores:
    """Find the states, which are the peaks of at least `min_prominence`, and their cores, the connected tops.

    Parameters
    ----------
    graph : Graph
        The symmetric graph on which `peaks` was computed.
    log_density : (n,) array
        The log density from which `peaks` was computed.
    peaks : Persistence
        The peaks and their merge tree.
    min_prominence : float, optional
        The smallest prominence of a state, tau; positive.
    states : (K,) array of int, optional
        Instead of `min_prominence`: the numbers of the peaks that are states (`StateTree.states`). Tau is
        then at most the smallest of their prominences, which is also its default.
    weights : (n,) array, optional
        Non-negative weights of the points. They replace the counts of points in the order of the states, and
        in the share of a basin that a core holds.
    rule : {"prominence", "point", "saddle", "share"}
        The core of a state with peak x is the connected component of x in the graph of the points

        - `prominence`: above ``log_density[x] - tau / 2`` (Bonis and Oudot);
        - `point`: x alone (Chen and others), for comparison;
        - `saddle`: above half the depth from x to the highest saddle that joins the state to any other; for a
          state alone in its component of the graph, as `prominence`;
        - `share`: of its basin above the highest level at which this component holds the
          given share of the basin's points.
    share : float
        The share of a basin that its core holds, for the rule `share`; in (0, 1].
    least : float
        The smallest share of a basin that a core holds, for the rules `prominence` and `saddle`; in [0, 1]. A
        smaller core is extended downwards until it holds this share. In many dimensions hardly any point is
        near a peak, and tau falls as the number of points grows. Without this limit cores shrink to single
        points, and a walk that has to find them loses the memory of its starting point. With 0 the rules
        apply exactly as above.
    min_size : int
        Smallest number of points of a component. Every connected component of the graph is at least one
        state, because no path leads out of it. But the points of a component with fewer points than
        `min_size` get -1. With the default these are isolated points, which a radius graph can have; a
        component of a graph of k neighbours has at least k + 1 points.

    Returns
    -------
    Cores

    Warns
    -----
    UserWarning
        If points are left without a state because of `min_size`.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([0.0, 0.1, 0.2, 1.08, 2.0, 2.1, 2.3])[:, None]
    >>> graph = mf.euclidean_neighbors(points, n_neighbors=3).graph(k=2)
    >>> logf = [2.4, 3.0, 1.0, 0.0, 1.0, 2.0, 1.4]
    >>> peaks = mf.compute_persistence(graph, logf)
    >>> mf.find_cores(graph, logf, peaks, min_prominence=1.5).core_of
    array([ 0,  0, -1, -1, -1,  1,  1], dtype=int32)
    """
    from mdfuzzy._kernels import tomato

    log_density = check_log_density(graph, log_density)
    check_symmetric(graph)
    rule = check_choice("rule", rule, get_args(DepthRule))
    share = check_real("share", share, above=0, at_most=1)
    least = check_real("least", least, at_least=0, at_most=1, remedy="It is a share of each basin.")
    check_type("peaks", peaks, Persistence, remedy="`compute_persistence` gives one.")
    if len(peaks.ascents) != len(graph):
        raise InputValueError(
            f"`peaks` must belong to `graph`; got peaks of {len(peaks.ascents)} points for {len(graph)}."
        )
    if not np.array_equal(log_density[peaks.peaks], peaks.births):
        raise InputValueError(
            "`log_density` must be the one that `peaks` was computed from; got other values at the peaks."
        )
    min_size = check_int("min_size", min_size, 1)
    every = peaks.chosen(None if states is not None else min_prominence, states)
    counted = _check_weights(graph, weights)
    states, basins = _large_states(peaks, every, min_size, counted)
    lowest_state = peaks.prominences[states].min()
    if min_prominence is None:
        min_prominence = lowest_state if np.isfinite(lowest_state) else peaks.noise
    min_prominence = min(check_real("min_prominence", min_prominence, above=0, finite=False), lowest_state)
    tops = log_density[peaks.peaks[states]]
    order, rank = descending(log_density)
    levels = tops.copy()
    if rule == "prominence":
        levels = tops - min_prominence / 2
    elif rule == "saddle":
        saddle = np.full(len(peaks), -np.inf)
        saddle[every] = peaks.saddle_levels(states=every)
        saddle = saddle[states]
        levels = np.where(np.isneginf(saddle), tops - min_prominence / 2, (tops + saddle) / 2)
    held = {"share": share, "point": 0.0}.get(rule, least)
    if counted is None:
        smallest = np.ceil(held * np.bincount(basins[basins >= 0], minlength=len(states)))
    else:
        tops_of = peaks.peaks[states]
        floods = (
            tomato.flood(graph.indptr, graph.indices, order, rank, basins, peak) if held else tops_of[:1]
            for peak in tops_of
        )
        smallest = np.array([1 + _number_of_share(counted[points], held) for points in floods])
    # Rank of the lowest point strictly above each level; the peak itself always belongs.
    lowest = np.searchsorted(-log_density[order], -levels, side="left") - 1
    lowest = np.maximum(lowest, rank[peaks.peaks[states]])
    labels = np.full(len(graph), -1, np.int32)
    tomato.grow_cores(
        graph.indptr, graph.indices, order, rank, basins, peaks.peaks[states], lowest,
        np.maximum(smallest, 1).astype(np.int64), labels,
    )  # fmt: skip
    return Cores(basins, labels, peaks.peaks[states], peaks.prominences[states])


def find_milestones(
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    min_prominence: float | None = None,
    states: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    share: float = 0.4,
) -> Cores:
    """Find larger cores of the same states, which trajectories enter often, to count transitions.

    The cores that absorb the walk are small, and a trajectory of finite length hardly ever enters them.
    Transitions between them are missed, and a Markov model of them is far too slow. Milestones hold a given
    share of each basin. The states have the same peaks and numbers.

    Parameters
    ----------
    graph, log_density, peaks, min_prominence, states, weights
        As for `find_cores`.
    share : float
        The share of each basin that its milestone holds, in (0, 1].

    Returns
    -------
    Cores

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> milestones = mf.find_milestones(graph, log_density, peaks, min_prominence=1.0)
    >>> bool(np.all(milestones.sizes >= 0.4 * milestones.basin_sizes))
    True
    """
    return find_cores(
        graph,
        log_density,
        peaks,
        min_prominence=min_prominence,
        states=states,
        weights=weights,
        rule="share",
        share=share,
    )


def _check_weights(graph: Graph, weights: npt.ArrayLike | None) -> np.ndarray | None:
    """Return the weights of the points, or raise."""
    if weights is None:
        return None
    values = check_finite("weights", check_numbers("weights", weights))
    if values.shape != (len(graph),) or values.min() < 0:
        raise InputValueError(
            f"`weights` must have one value per point, shape ({len(graph)},), at least 0; got shape "
            f"{values.shape} and a smallest value of {values.min(initial=0):g}."
        )
    return values


def _number_of_share(weights: np.ndarray, share: float) -> int:
    """Return the number of points, minus one, whose summed weights reach a share of the total."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, share * sums[-1]))


def _large_states(
    peaks: Persistence, states: np.ndarray, min_size: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (numbers of the peaks that are states, state of each point), without the small components.

    States are numbered by the size of their basins (with weights: by the weight), the largest first. Among
    equal basins the one with the higher peak is first.
    """
    states = np.sort(states)
    basins, components = peaks.basins(states=states), peaks.basins(np.inf)
    small = np.bincount(components)[components] < min_size
    left_out = int(np.count_nonzero(small))
    if left_out == len(small):
        raise InputValueError(
            f"`min_size` must be at most the size of the largest component of the graph; got {min_size}. "
            "Use a graph with more neighbours or a larger radius."
        )
    if left_out:
        warn_user(
            f"{left_out} points are in components of the graph with fewer than {min_size} points and belong "
            "to no state. Use a graph with more neighbours or a larger radius, or set `min_size=1`."
        )
    kept = np.flatnonzero(~small[peaks.peaks[states]])
    sizes = np.bincount(basins, weights, minlength=len(states))
    kept = kept[np.argsort(-sizes[kept], kind="stable")]
    number = np.full(len(states), -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    return states[kept], number[basins]

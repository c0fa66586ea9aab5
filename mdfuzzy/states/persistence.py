"""The peaks of the density on a graph and their merge tree: the persistence of ToMATo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputValueError,
    ReadOnly,
    check_finite,
    check_numbers,
    check_real,
    check_type,
    read_only,
)
from mdfuzzy._messages import warn_user
from mdfuzzy._threads import share, using_threads
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.prominence import ProminenceGap, divide_prominences, expected_noise

_FIRST_BATCH = 1024  # points; each further batch is half as large as all before it


@dataclass(frozen=True, eq=False, kw_only=True)
class Persistence(ReadOnly):
    """Hold every peak of a function on a graph, from high to low, and its merger with a higher peak.

    Attributes
    ----------
    peaks : (P,) int32
        The point of each peak, the highest first; among equally high points the one with the smaller index is
        the peak.
    births : (P,) float64
        The log density at each peak.
    deaths : (P,) float64
        The log density at which the component of the peak meets a component with a higher peak; -inf for the
        highest peak of each connected component of the graph, which never dies.
    saddles : (P,) int32
        The point at which they meet; -1 for a peak that never dies.
    parents : (P,) int32
        The number (not the point) of the peak to which the other side of the saddle ascends; its own
        number for a peak that never dies. A peak that is not prominent enough joins the state of its parent.
    ascents : (n,) int32
        For every point the number of the peak that steepest ascent (repeated steps to the highest neighbour)
        reaches.
    noise : float
        The expected prominence of a noise peak, as a root mean square, if the density was estimated from
        `n_neighbors` neighbours; in the unit of the log density.
    n_neighbors : int
        Twice the number of neighbours of a point in the graph.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> peaks.states(1.0), np.bincount(peaks.basins(1.0)).shape
    (array([0, 1, 2]), (3,))
    """

    peaks: np.ndarray
    births: np.ndarray
    deaths: np.ndarray
    saddles: np.ndarray
    parents: np.ndarray
    ascents: np.ndarray
    noise: float
    n_neighbors: int

    def __post_init__(self) -> None:
        for name in ("peaks", "births", "deaths", "saddles", "parents", "ascents"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.peaks)

    def __repr__(self) -> str:
        top = ", ".join(f"{p:.3g}" for p in np.sort(self.prominences)[::-1][:6])
        rest = ", ..." if len(self) > 6 else ""
        return (
            f"Persistence({len(self)} peaks of {len(self.ascents)} points in {self.n_components} components, "
            f"prominences {top}{rest})"
        )

    @property
    def prominences(self) -> np.ndarray:
        """The birth minus the death of each peak, (P,); infinite for a peak that never dies."""
        return self.births - self.deaths

    @property
    def n_components(self) -> int:
        """The number of connected components of the graph, which is the number of peaks that never die."""
        return int(np.count_nonzero(np.isneginf(self.deaths)))

    def prominence_gap(self, *, level: float = 0.01, noise: float | None = None) -> ProminenceGap:
        """Divide the peaks into noise and states, and report how well the division is determined.

        Parameters
        ----------
        level : float
            The probability of calling noise a state anywhere in the data.
        noise : float, optional
            The expected scale of noise prominences; by default the attribute `noise`. Pass it if you supply a
            log density that does not come from twice as many neighbours as the graph has.

        Returns
        -------
        ProminenceGap

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> points = np.random.default_rng(0).normal(size=(2000, 2))
        >>> points[:800] += 6
        >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
        >>> peaks = mf.compute_persistence(neighbors.graph(), mf.dtm_log_density(neighbors))
        >>> gap = peaks.prominence_gap()
        >>> gap.n_states, gap.well_determined
        (2, True)
        """
        noise = self.noise if noise is None else check_real("noise", noise, above=0)
        return divide_prominences(
            self.prominences,
            noise=noise,
            n_neighbors=self.n_neighbors,
            n_points=len(self.ascents),
            level=level,
        )

    def suggest_prominence(self, *, level: float = 0.01, noise: float | None = None) -> float:
        """Return the prominence that noise would exceed anywhere in the data with probability `level`.

        `prominence_gap` returns more details of the same division.

        Parameters
        ----------
        level : float
            The probability that any noise peak in the whole data set is taken for a state.
        noise : float, optional
            The expected scale of noise prominences; by default the attribute `noise`.

        Returns
        -------
        float
            The threshold, in the units of the log density.

        Warns
        -----
        UserWarning
            If a level ten times stricter or five times laxer would give different states.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> points = np.random.default_rng(0).normal(size=(2000, 2))
        >>> points[:800] += 6
        >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
        >>> peaks = mf.compute_persistence(neighbors.graph(), mf.dtm_log_density(neighbors))
        >>> len(peaks.states(peaks.suggest_prominence()))
        2
        """
        gap = self.prominence_gap(level=level, noise=noise)
        if not gap.well_determined:
            warn_user(
                f"The number of states is poorly determined. Found {gap}. Look at the `prominences`, "
                "compare several k with `states_by_k`, and choose the smallest prominence of a state "
                "yourself (`prominence` of `Settings`, `min_prominence` of `find_cores`)."
            )
        return gap.threshold

    def states(self, min_prominence: float | None) -> np.ndarray:
        """Return the numbers of the peaks of at least `min_prominence`, from high to low, (K,) int64."""
        least = check_real("min_prominence", min_prominence, above=0, finite=False, remedy=_REMEDY)
        return np.flatnonzero(self.prominences >= least)

    def basins(
        self, min_prominence: float | None = None, *, states: npt.ArrayLike | None = None
    ) -> np.ndarray:
        """Assign every point to its state, with all other peaks merged into the states.

        Parameters
        ----------
        min_prominence : float
            The smallest prominence of a state, positive. Infinity leaves one state per component of the
            graph.
        states : (K,) array of int
            Instead of a prominence: the numbers of the peaks that are states, in any order.

        Returns
        -------
        (n,) int32
            The clusters of ToMATo, numbered from the highest peak down; with `states`, in the order of
            `states`.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> points = np.array([0.0, 0.1, 0.2, 1.08, 2.0, 2.1, 2.3])[:, None]
        >>> graph = mf.euclidean_neighbors(points, n_neighbors=3).graph(k=2)
        >>> peaks = mf.compute_persistence(graph, [1.0, 3.0, 1.0, 0.0, 1.0, 2.0, 1.0])
        >>> peaks.basins(1.5)
        array([0, 0, 0, 0, 1, 1, 1], dtype=int32)
        """
        return self._state_of_peaks(self.chosen(min_prominence, states))[self.ascents]

    def chosen(self, min_prominence: float | None, states: npt.ArrayLike | None) -> np.ndarray:
        """Return the numbers of the peaks that are states, by their prominence or as passed, or raise.

        Parameters
        ----------
        min_prominence : float or None
            The smallest prominence of a state.
        states : (K,) array of int or None
            Instead of a prominence: numbers of peaks, each once. The highest peak of every component of the
            graph must be among them; otherwise its frames would belong to no state.
        """
        if states is None:
            return self.states(min_prominence)
        if min_prominence is not None:
            raise InputValueError(
                "`min_prominence` must be None if `states` is given; got both. Leave one out."
            )
        states = np.asarray(states)
        remedy = "Give the numbers of peaks, each once; `StateTree.at` finds such sets."
        if states.ndim != 1 or not np.issubdtype(states.dtype, np.integer) or len(states) == 0:
            raise InputValueError(f"`states` must be a list of integers, not empty; got {states!r}. {remedy}")
        if states.min() < 0 or states.max() >= len(self) or len(np.unique(states)) != len(states):
            raise InputValueError(
                f"`states` must be different numbers in [0, {len(self) - 1}]; got {states.tolist()}. {remedy}"
            )
        missing = np.setdiff1d(np.flatnonzero(np.isneginf(self.deaths)), states)
        if len(missing):
            raise InputValueError(
                f"`states` must hold the highest peak of every component of the graph, for no path leads out "
                f"of it; got none for {len(missing)} of {self.n_components} (peak {missing[0]}). {remedy}"
            )
        return states.astype(np.int64)

    def saddle_levels(
        self, min_prominence: float | None = None, *, states: npt.ArrayLike | None = None
    ) -> np.ndarray:
        """Return the level of the highest saddle that joins each state to any other state, (K,) float64.

        It is -inf for a state that is alone in its component of the graph.

        Parameters
        ----------
        min_prominence : float
            The smallest prominence of a state.
        states : (K,) array of int
            Instead of a prominence: the numbers of the peaks that are states.

        Returns
        -------
        (K,) float64
            One level per state.
        """
        states = self.chosen(min_prominence, states)
        other = self._state_of_peaks(states)[self.parents[states]]
        levels = self.deaths[states].copy()
        np.maximum.at(levels, other, self.deaths[states])
        return levels

    def _state_of_peaks(self, states: np.ndarray) -> np.ndarray:
        """Return the first ancestor of each peak that is a state, (P,) int32, numbered as in `states`."""
        target = self.parents.copy()
        target[states] = states
        while True:
            further = target[target]
            if np.array_equal(further, target):
                break
            target = further
        number = np.empty(len(self), np.int32)
        number[states] = np.arange(len(states), dtype=np.int32)
        return number[target]


_REMEDY = "`Persistence.suggest_prominence()` finds one; `Persistence.prominences` lists them all."


def compute_persistence(
    graph: Graph,
    log_density: npt.ArrayLike,
    *,
    sampled: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Persistence:
    """Find the peaks of a log density on a graph, and the level at which each merges into a higher peak.

    The points are swept from high to low. A point without a higher neighbour is a peak and starts a
    component. Where components meet, the component with the lower peak ends (the elder rule).

    Parameters
    ----------
    graph : Graph
        A symmetric graph: a `union` or `radius` graph of a point set with itself.
    log_density : (n,) array
        One finite value per point. Ties are broken by index, so that the result does not depend on the order
        of the edges. Adding a constant only shifts births and deaths.
    sampled : (n,) array, optional
        The log density of the points as sampled, if `log_density` is the log density of weighted points. It
        determines the scale of the noise.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    Persistence
        The peaks, births, deaths and merge tree. Hard labels for any threshold follow without another sweep.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([0.0, 0.1, 0.2, 1.08, 2.0, 2.1, 2.3])[:, None]
    >>> graph = mf.euclidean_neighbors(points, n_neighbors=3).graph(k=2)
    >>> peaks = mf.compute_persistence(graph, [1.0, 3.0, 1.0, 0.0, 1.0, 2.0, 1.0])
    >>> peaks.peaks, peaks.prominences
    (array([1, 5], dtype=int32), array([inf,  2.]))
    """
    from mdfuzzy._kernels import tomato

    log_density = check_log_density(graph, log_density)
    check_symmetric(graph)
    order, rank = descending(log_density)
    rows = graph.indptr, graph.indices
    with using_threads(n_jobs):
        up = np.empty_like(rank)
        share(tomato.highest_neighbors, len(rank), *rows, rank, up)
        ascents, peaks = tomato.ascend(order, up)
        joined = np.arange(len(peaks), dtype=np.int32)
        saddles, parents = np.full_like(joined, -1), joined.copy()
        # Most components meet early. After that few points touch two of them. Those few are found in
        # parallel, in growing batches, each marked with the components of the previous batch.
        start, stop = 0, _FIRST_BATCH
        while start < len(order):
            points = order[start:stop]
            border = np.zeros(len(points), bool)
            share(tomato.find_borders, len(points), *rows, rank, ascents, joined, points, border)
            tomato.merge_peaks(*rows, rank, ascents, points[border], joined, saddles, parents)
            start, stop = stop, stop + stop // 2
    births = log_density[peaks]
    deaths = np.where(saddles >= 0, log_density[saddles], -np.inf)
    noise, n_neighbors = expected_noise(graph, check_sampled(graph, log_density, sampled))
    return Persistence(
        peaks=peaks,
        births=births,
        deaths=deaths,
        saddles=saddles,
        parents=parents,
        ascents=ascents,
        noise=noise,
        n_neighbors=n_neighbors,
    )


def descending(log_density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points from high to low, with ties by index, and the rank of each point."""
    order = np.argsort(-log_density, kind="stable").astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return order, rank


def check_log_density(graph: Graph, log_density: npt.ArrayLike, *, name: str = "log_density") -> np.ndarray:
    """Return a log density as a float64 array with one finite value per point of `graph`, or raise."""
    check_type("graph", graph, Graph, remedy="Make one with `Neighbors.graph`.")
    log_density = check_numbers(name, log_density)
    if log_density.shape != (len(graph),):
        raise InputValueError(
            f"`{name}` must have one value per point of the graph, shape ({len(graph)},); "
            f"got shape {log_density.shape}."
        )
    remedy = "A density of zero has no logarithm: leave such points out, or give them a small density."
    return check_finite(name, log_density, remedy=remedy)


def check_sampled(graph: Graph, log_density: np.ndarray, sampled: npt.ArrayLike | None) -> np.ndarray:
    """Return the log density of the points as sampled; `log_density` by default."""
    return log_density if sampled is None else check_log_density(graph, sampled, name="sampled")


def check_symmetric(graph: Graph) -> None:
    """Raise unless `graph` is symmetric."""
    if not graph.symmetric:
        raise InputValueError(
            f"`graph` must be symmetric; got {graph!r}. Make it with `Neighbors.graph(k, kind='union')`."
        )

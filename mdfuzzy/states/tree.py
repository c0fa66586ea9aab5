"""The tree of states: every possible split of the density, with its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, check_type, read_only
from mdfuzzy._messages import counted
from mdfuzzy.frames.weights import effective_frames
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.correlation import NeighborsInTime
from mdfuzzy.states.noise import NoiseModel, measure_noise, smooth_log_density
from mdfuzzy.states.persistence import Persistence, check_sampled, compute_persistence
from mdfuzzy.states.prominence import ProminenceGap, fit_noise
from mdfuzzy.states.reweighting import standardise, variance_factors

#: Levels of smoothing: none, once, twice.
N_LEVELS = 3
#: With fewer independent neighbourhoods of 2k frames than this the number of states cannot be determined.
_FEW = 10
#: A graph of one state becomes disconnected by chance with fewer than (0.7 + 1.5 / d) ln n neighbours per
#: point. This is the smallest number for which at most 1 in 100 samples of one mode did so (8 to 10,000
#: points in 1 to 10 dimensions).
_CONNECTED, _CONNECTED_LINE = 0.7, 1.5
#: More duplicates than this fraction of the points form spurious components of the graph.
_MANY_DUPLICATES = 0.1
#: Frames are not independent if their effective number is less than this fraction of their number.
_DEPENDENT = 2 / 3


@dataclass(frozen=True, eq=False, kw_only=True)
class StateTree(ReadOnly):
    """Hold every peak of the density as a possible state: its merger, and its evidence against noise.

    Attributes
    ----------
    prominences : (P, L) float64
        The prominence of each peak without smoothing (first column, as in `Persistence`), and of its hill in
        the log density smoothed once, twice, ...; NaN where it is no longer a hill.
    p_values : (P, L) float64
        The probability, at each level, that noise alone produces such a hill anywhere in the data; 1 where
        there is no hill.
    clearance : (P,) float64
        The prominence in units of the smallest prominence that is not noise; the largest over the levels.
        States have 1 or more. Infinite for the highest peak of each component of the graph.
    parents : (P,) int32
        The peak whose state each peak joins.
    states : (K,) int64
        The peaks that are states, from the clearest.
    gaps : tuple of L ProminenceGap
        The division into noise and states at each level.
    noise : NoiseModel
        The noise of each level.
    n_frames : int
        The number of frames.
    k : int
        Neighbours per frame in the graph.
    level : float
        The probability of calling noise a state anywhere in the data, at any level.
    duplicates : float
        The fraction of the frames that have at least k exact duplicates.
    standardised : (P, L) float64 or None
        If frames have weights: the tested prominences, divided by the factor by which the weights near a peak
        and its saddle increase the noise; None without weights.
    n_effective : float or None
        The effective number of frames if frames have weights; None without weights.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> tree = mf.build_state_tree(neighbors, graph, log_density, peaks)
    >>> len(tree.states), tree.well_determined, tree.at(n_states=2).tolist()
    (3, True, [0, 2])
    """

    prominences: np.ndarray
    p_values: np.ndarray
    clearance: np.ndarray
    parents: np.ndarray
    states: np.ndarray
    gaps: tuple[ProminenceGap, ...]
    noise: NoiseModel
    n_frames: int
    k: int
    level: float
    duplicates: float = 0.0
    standardised: np.ndarray | None = None
    n_effective: float | None = None

    def __post_init__(self) -> None:
        for name in ("prominences", "p_values", "clearance", "parents", "states"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))
        if self.standardised is not None:
            object.__setattr__(self, "standardised", read_only(self.standardised))

    def __len__(self) -> int:
        return len(self.clearance)

    def __repr__(self) -> str:
        return f"StateTree({counted(len(self.states), 'state')} of {counted(len(self), 'peak')})"

    @property
    def p(self) -> np.ndarray:
        """The probability that noise alone produces each peak at any level, (P,); 0 for components."""
        return np.minimum(1.0, len(self.gaps) * self.p_values.min(axis=1))

    @property
    def in_time(self) -> NeighborsInTime | None:
        """The neighbours that are close in time; None if the trajectories are unknown."""
        return self.noise.in_time

    @property
    def n_components(self) -> int:
        """The number of components of the graph, which is the number of peaks that never merge."""
        return int(np.isinf(self.prominences[:, 0]).sum())

    @property
    def capped(self) -> bool:
        """Whether peaks taken for noise are more prominent than noise should produce, on every level."""
        return all(gap.capped for gap in self.gaps)

    @property
    def p_state(self) -> float:
        """The probability under noise of the least certain state."""
        return float(self.p[self.states].max())

    @property
    def p_noise(self) -> float:
        """The probability under noise of the peak that comes closest to being a state; 1 if there is none."""
        others = np.delete(self.p, self.states)
        return float(others.min()) if len(others) else 1.0

    @property
    def n_independent(self) -> float:
        """The number of independent frames, given the weights and the neighbours close in time."""
        frames = self.n_frames if self.n_effective is None else self.n_effective
        return frames / float(self.noise.inflation[0]) ** 2

    @property
    def dependent(self) -> bool:
        """Whether there are clearly fewer independent frames, by correlation in time or by repetition."""
        return float(self.noise.inflation[0]) ** 2 > 1 / _DEPENDENT

    @property
    def smallest_state(self) -> int:
        """The number of such frames that hold 2k independent frames: no smaller state can be detected."""
        return int(np.ceil(2 * self.k * self.n_frames / self.n_independent))

    @property
    def enough_frames(self) -> int:
        """The number of such frames that would hold ten states of the smallest size that can be detected."""
        return int(np.ceil(2 * _FEW * self.k * self.n_frames / self.n_independent))

    @property
    def doubts(self) -> tuple[str, ...]:
        """The reasons why the number of states is poorly determined, as clauses; empty if there are none."""
        found = []
        if self.p_state >= self.level / 10:
            found.append(f"one state could be noise (p = {self.p_state:.1g})")
        if self.p_noise <= 5 * self.level:
            found.append(f"one peak taken for noise could be a state (p = {self.p_noise:.1g})")
        if self.capped:
            found.append("peaks taken for noise are more prominent than noise should produce")
        if self.n_frames < self.enough_frames:
            equal = "" if self.n_effective is None else f" (effectively {self.n_effective:,.0f})"
            found.append(
                f"{self.n_frames:,} frames{equal} are too few (at least {self.enough_frames:,} are needed: "
                f"states of fewer than {self.smallest_state:,} frames cannot be detected)"
            )
        elif self.in_time is not None and self.dependent:
            found.append(f"frames are not independent ({self.in_time})")
        if self.n_components > 1 and self.k < needed_k(self.n_frames, self.noise.dimension):
            found.append(
                f"the graph of {counted(self.n_components, 'component')} may have fallen apart by chance "
                f"(k = {self.k} is small; use at least {needed_k(self.n_frames, self.noise.dimension)})"
            )
        if self.duplicates > _MANY_DUPLICATES:
            found.append(
                f"{self.duplicates:.0%} of the frames have {self.k} exact duplicates or more, as rounded or "
                "clipped features have"
            )
        return tuple(found)

    @property
    def well_determined(self) -> bool:
        """Whether there is no reason to doubt the number of states."""
        return not self.doubts

    @property
    def words(self) -> str:
        """The number of states and how well it is determined, as a sentence without a full stop."""
        number = counted(len(self.states), "state")
        if self.doubts:
            return f"{number}, POORLY determined: {'; '.join(self.doubts)}"
        return (
            f"{number}, well determined. Noise alone would produce the least certain state with a "
            f"probability of {self.p_state:.1g}, and the strongest rejected peak with {self.p_noise:.1g}. "
            f"States of fewer than {self.smallest_state:,} frames "
            f"({100 * self.smallest_state / self.n_frames:.2g} %) cannot be detected"
        )

    def at(self, *, n_states: int | None = None, prominence: float | None = None) -> np.ndarray:
        """Return the peaks that are states at another level of the tree, the clearest first.

        Parameters
        ----------
        n_states : int, optional
            The number of states, between the number of components of the graph and the number of peaks.
        prominence : float, optional
            Instead of `n_states`: the smallest prominence of a state, without smoothing.

        Returns
        -------
        (K,) int64
            The peaks, for the argument `states` of `find_cores`.
        """
        order = self.order
        if prominence is not None:
            if n_states is not None:
                raise InputValueError(
                    "`n_states` must be None if `prominence` is given; got both. Leave one out."
                )
            prominence = check_real("prominence", prominence, above=0)
            return order[self.prominences[order, 0] >= prominence]
        if n_states is None:
            return self.states
        remedy = f"The graph has {counted(self.n_components, 'component')}, each at least a state."
        return order[: check_int("n_states", n_states, max(1, self.n_components), len(self), remedy=remedy)]

    def core_prominence(self, states: npt.ArrayLike | None = None) -> float:
        """Return the prominence that limits the cores of `states`, peaks of this tree; by default its states.

        It is the largest prominence of noise, or the smallest prominence of these states if one of them
        exceeds the noise only after smoothing.
        """
        chosen = self.states if states is None else np.asarray(states)
        largest_noise = self.gaps[0].threshold
        if not np.isfinite(largest_noise):  # a single peak: there is nothing to divide
            largest_noise = float(self.noise.scales[0])
        return float(min(largest_noise, self.prominences[chosen, 0].min()))

    @property
    def order(self) -> np.ndarray:
        """All peaks from the clearest to the least clear, (P,) int64."""
        return np.lexsort((-self.prominences[:, 0], -self.clearance))

    def table(self, *, n_splits: int | None = None) -> str:
        """Return the splits as a table, the clearest first: prominences by level, p-value, verdict on noise.

        Parameters
        ----------
        n_splits : int, optional
            The number of splits; by default the states and five more.
        """
        count = len(self.states) + 5 if n_splits is None else n_splits
        header = " ".join(
            f"{'smoothed ' + str(at) + 'x' if at else 'prominence':>12}" for at in range(len(self.gaps))
        )
        lines = [f"peak  joins {header} {'p (noise)':>10}"]
        for peak in self.order[:count]:
            values = " ".join(
                f"{'-' if np.isnan(x) else format(x, '.3g'):>12}" for x in self.prominences[peak]
            )
            joins = "-" if self.parents[peak] == peak else str(self.parents[peak])
            mark = "" if peak in self.states else "  noise"
            lines.append(f"{peak:>4} {joins:>6} {values} {self.p[peak]:>10.1g}{mark}")
        return "\n".join(lines)


def build_state_tree(
    neighbors: Neighbors,
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    dimension: float | None = None,
    lengths: npt.ArrayLike | None = None,
    sampled: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    level: float = 0.01,
    n_levels: int = N_LEVELS,
    seed: int = 0,
    n_jobs: int | None = None,
) -> StateTree:
    """Test every peak of a log density against noise, at several levels of smoothing.

    The log density is averaged over nearest neighbours once, twice, ... Averaging reduces noise more than it
    reduces a broad hill, but removes a narrow one. Each level is therefore tested against its own noise, with
    the probability of a false state divided among the levels. A peak is a state if it exceeds the noise at
    any level.

    A hill of a smoothed level belongs to the most prominent of the peaks inside its basin. Where two hills
    merge, the less prominent of their two peaks ends.

    Parameters
    ----------
    neighbors : Neighbors
        At least 2k neighbours of every frame.
    graph : Graph
        The symmetric graph of k neighbours on which `peaks` was computed.
    log_density : (n,) array
        The log density from which `peaks` was computed.
    peaks : Persistence
        The peaks of the log density and their merge tree.
    dimension : float, optional
        The dimension of the density; estimated by default.
    lengths : (T,) array of int, optional
        Frames per trajectory, in order. They let the noise account for neighbours that are close in time.
    sampled, weights : (n,) arrays, optional
        If frames have weights: the log density of the frames as sampled, and the weights. `log_density` is
        then the log density of the weighted frames (`reweighted_log_density`). Where few frames hold most of
        the weight, hills have to be higher to exceed the noise.
    level : float
        Probability of calling noise a state anywhere in the data, at any level.
    n_levels : int
        The number of levels: one more than rounds of smoothing.
    seed : int
        Random seed of the measurement of the noise.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    StateTree

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(2000, 2))
    >>> points[:800] += 6
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> tree = mf.build_state_tree(neighbors, graph, log_density, mf.compute_persistence(graph, log_density))
    >>> tree
    StateTree(2 states of ... peaks)
    """
    from mdfuzzy.states.dimension import intrinsic_dimension

    check_type("peaks", peaks, Persistence, remedy="`compute_persistence` gives one.")
    level = check_real("level", level, above=0, at_most=0.5)
    n_levels = check_int("n_levels", n_levels, 1)
    log_density = np.asarray(log_density, np.float64)
    k = graph.k if graph.k is not None else max(1, neighbors.k // 2)
    if dimension is None:
        dimension = intrinsic_dimension(neighbors, n_neighbors=min(2 * k, neighbors.k), n_jobs=n_jobs)
    as_sampled = check_sampled(graph, log_density, sampled)
    noise = measure_noise(
        neighbors, graph, as_sampled, dimension=dimension, lengths=lengths, n_levels=n_levels, seed=seed,
        n_jobs=n_jobs,
    )  # fmt: skip
    variances = None
    if weights is not None:
        variances = variance_factors(
            neighbors, weights, n_neighbors=min(2 * k, neighbors.k), dimension=dimension
        )
    columns, tested, gaps, tests = [], [], [], []
    smoothed = peaks
    for at in range(n_levels):
        if at:
            log_density = smooth_log_density(neighbors, log_density, k=k, n_jobs=n_jobs)
            smoothed = compute_persistence(graph, log_density, n_jobs=n_jobs)
            if variances is not None:
                variances = smooth_log_density(neighbors, variances, k=k, n_jobs=n_jobs)
        spectrum = standardise(smoothed, variances)
        columns.append(peaks.prominences if at == 0 else match_peaks(peaks, smoothed))
        tested.append(spectrum if at == 0 else match_peaks(peaks, smoothed, values=spectrum))
        gap, test = fit_noise(
            spectrum,
            noise=float(noise.scales[at]),
            n_neighbors=float(noise.n_neighbors[at]),
            n_points=len(neighbors),
            level=level / n_levels,
            dimension=dimension,
            looks=len(neighbors) / peaks.n_neighbors,
        )
        gaps.append(gap)
        tests.append(test)
    prominences = np.column_stack(columns)
    known = np.nan_to_num(np.column_stack(tested), nan=0.0, posinf=np.inf)
    thresholds = np.array([gap.threshold for gap in gaps])
    clearance = (known / thresholds).max(axis=1)
    clearance[np.isinf(peaks.prominences)] = np.inf
    states = np.flatnonzero(clearance >= 1)
    order = np.lexsort((-prominences[states, 0], -clearance[states]))
    return StateTree(
        prominences=prominences,
        p_values=np.column_stack(
            [test.p_values(column) for test, column in zip(tests, known.T, strict=True)]
        ),
        clearance=clearance,
        parents=peaks.parents,
        states=states[order],
        gaps=tuple(gaps),
        noise=noise,
        n_frames=len(neighbors),
        k=k,
        level=level,
        duplicates=float(np.mean(neighbors.distances[:, min(k, neighbors.k) - 1] == 0)),
        standardised=None if weights is None else np.column_stack(tested),
        n_effective=None if weights is None else effective_frames(np.asarray(weights, np.float64)),
    )


def match_peaks(peaks: Persistence, smoothed: Persistence, *, values: np.ndarray | None = None) -> np.ndarray:
    """Return the prominence of each peak among the hills of a smoothed density, (P,); NaN without a hill.

    A hill belongs to the most prominent peak in its basin. From the least prominent hill up, each hill joins
    the hill with which it merges. The less prominent of their two peaks ends, with the prominence of this
    merger. Hills without a peak are ignored.

    Parameters
    ----------
    peaks : Persistence
        The peaks without smoothing.
    smoothed : Persistence
        The hills.
    values : (H,) float64, optional
        The values to return for each hill instead of its prominence.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.arange(9.0)[:, None]
    >>> graph = mf.euclidean_neighbors(points, n_neighbors=2).graph(k=2)
    >>> rough = mf.compute_persistence(graph, [0, 5, 4, 4.5, 1, 3, 7, 6, 0])
    >>> smooth = mf.compute_persistence(graph, [1, 3, 4.2, 3.5, 2, 4, 6, 5, 2])
    >>> rough.peaks, match_peaks(rough, smooth)
    (array([6, 1, 3], dtype=int32), array([inf, 2.2, nan]))
    """
    seniority = np.lexsort((np.arange(len(peaks)), -peaks.prominences))
    rank = np.empty(len(peaks), np.int64)
    rank[seniority] = np.arange(len(peaks))
    best = np.full(len(smoothed), -1, np.int64)
    for peak in seniority[::-1]:  # the most prominent last, so that it stays
        best[smoothed.ascents[peaks.peaks[peak]]] = peak
    joined = np.arange(len(smoothed))

    def root(hill: int) -> int:
        while joined[hill] != hill:
            joined[hill] = joined[joined[hill]]
            hill = joined[hill]
        return hill

    found = np.full(len(peaks), np.nan)
    heights = smoothed.prominences
    values = heights if values is None else values
    for hill in np.argsort(heights, kind="stable"):
        if np.isinf(heights[hill]):
            if best[hill] >= 0:
                found[best[hill]] = np.inf
            continue
        other = root(int(smoothed.parents[hill]))
        joined[hill] = other
        one, two = best[hill], best[other]
        if one < 0:
            continue
        if two < 0:
            best[other] = one
            continue
        if rank[one] < rank[two]:
            best[other], one = one, two
        found[one] = values[hill]
    return found


def needed_k(n: int, dimension: float) -> int:
    """Return the number of neighbours that keeps the graph of n points of one state connected.

    Examples
    --------
    >>> needed_k(1000, 1.0), needed_k(1000, 2.0), needed_k(1_000_000, 10.0)
    (16, 11, 12)
    """
    return int(np.ceil((_CONNECTED + _CONNECTED_LINE / max(dimension, 1.0)) * np.log(max(n, 2))))


def merged_numbers(n_states: int, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the number of each state after the merger of groups of states, (K,) int64.

    The merged state takes the place of the first of its members, and the states are renumbered without gaps.

    Parameters
    ----------
    n_states : int
        The number of states.
    groups : sequence of sequences of int
        Each group holds the numbers of the states to merge; a state is in one group at most.

    Examples
    --------
    >>> merged_numbers(6, [[2, 5]])
    array([0, 1, 2, 3, 4, 2])
    """
    target = np.arange(n_states)
    seen: set[int] = set()
    for group in groups:
        members = [
            check_int("groups", state, 0, n_states - 1, remedy="Give numbers of states.") for state in group
        ]
        if len(members) < 2 or len(set(members)) != len(members) or seen & set(members):
            raise InputValueError(
                f"`groups` must hold at least 2 different states each, and each state once; got {group!r}. "
                "Put states that become one into one group."
            )
        seen |= set(members)
        target[members] = min(members)
    return np.unique(target, return_inverse=True)[1]

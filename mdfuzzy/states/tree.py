"""The tree of states: every possible split of the density, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, read_only
from mdfuzzy._messages import counted
from mdfuzzy.states.correlation import NeighborsInTime
from mdfuzzy.states.noise import NoiseModel
from mdfuzzy.states.prominence import TOO_PROMINENT, ProminenceGap

#: With fewer independent neighbourhoods of 2k frames than this the number of states cannot be determined.
_FEW = 10
#: A graph of one state becomes disconnected by chance with fewer than (0.7 + 1.5 / d) ln n neighbours per
#: point. This is the smallest number for which at most 1 in 100 samples of one mode did so (8 to 10,000
#: points in 1 to 10 dimensions).
_CONNECTED, _CONNECTED_LINE = 0.7, 1.5
#: More duplicates than this fraction of the points form spurious components of the graph.
_MANY_DUPLICATES = 0.1
#: So many clipped features are named.
_NAMED = 4
#: Copies are mentioned if there are at least this many frames for each different frame.
_COPIES = 1.5
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
        The prominence divided by the smallest prominence that noise does not explain; the largest over the
        levels. States have 1 or more. Infinite for the highest peak of each component of the graph.
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
    clipped : tuple of str
        The clipped features at whose limits there are states, in words.
    n_clipped : int
        The number of states at the limits of clipped features.

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
    clipped: tuple[str, ...] = ()
    n_clipped: int = 0

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
        """The number of independent frames, given weights, copies, and neighbours close in time."""
        frames = self.n_frames if self.n_effective is None else self.n_effective
        return frames / float(self.noise.inflation[0]) ** 2

    @property
    def dependent(self) -> bool:
        """Whether there are clearly fewer independent frames because of their correlation in time."""
        return self._in_time_factor > 1 / _DEPENDENT

    @property
    def _in_time_factor(self) -> float:
        """How many frames carry the information of one, because of correlation in time alone."""
        return round(float(self.noise.inflation[0]) ** 2 / self.noise.copies, 9)

    @property
    def _per_independent(self) -> float:
        """The number of frames, copies left out, per independent frame."""
        weights = 1.0 if self.n_effective is None else self.n_frames / self.n_effective
        return weights * self._in_time_factor

    @property
    def smallest_state(self) -> int:
        """The number of such frames that fill a neighbourhood of 2k frames: smaller states can be missed.

        Where frames are correlated or have unequal weights, more are needed. With copies, 2k frames still
        fill a neighbourhood.
        """
        return int(np.ceil(2 * self.k * self._per_independent))

    @property
    def enough_frames(self) -> int:
        """The number of such frames that would hold ten states of the smallest size that is not missed."""
        return int(np.ceil(2 * _FEW * self.k * self._per_independent))

    @property
    def connected_k(self) -> int:
        """The smallest k that keeps the graph of one state connected, copies counted as one frame."""
        copies = self.noise.copies
        return int(np.ceil(copies * needed_k(round(self.n_frames / copies), self.noise.dimension)))

    @property
    def doubts(self) -> tuple[str, ...]:
        """The reasons why the number of states is poorly determined, as clauses; empty if there are none."""
        found = []
        if self.p_state >= self.level / 10:
            found.append(f"one state could be noise (p = {self.p_state:.1g})")
        if self.p_noise <= 5 * self.level:
            found.append(f"one peak taken for noise could be a state (p = {self.p_noise:.1g})")
        if self.capped:
            found.append(TOO_PROMINENT)
        if self.n_frames < self.enough_frames:
            equal = "" if self.n_effective is None else f" (effectively {self.n_effective:,.0f})"
            found.append(
                f"{self.n_frames:,} frames{equal} are too few (at least {self.enough_frames:,} are needed)"
            )
        elif self.in_time is not None and self.dependent:
            found.append(f"frames are not independent ({self.in_time})")
        if self.n_components > 1 and self.k < self.connected_k:
            copies = self.noise.copies
            several, sample = "", ""
            if copies >= _COPIES:
                several = (
                    f", with {round(copies, 1 if copies < 10 else None):,} frames for each different one"
                )
                sample = ", or find the states on fewer frames"
            found.append(
                f"the graph of {counted(self.n_components, 'component')} may have fallen apart by chance "
                f"(k = {self.k} is small{several}; use at least {self.connected_k:,}{sample})"
            )
        if self.duplicates > _MANY_DUPLICATES:
            found.append(
                f"{self.duplicates:.0%} of the frames have {self.k} exact duplicates or more, as rounded or "
                "clipped features have"
            )
        if self.clipped:
            found.append(
                f"{counted(self.n_clipped, 'state')} may be due to clipping, at the limits of "
                f"{', '.join(self.clipped[:_NAMED])}{', ...' if len(self.clipped) > _NAMED else ''} "
                "(do not clip these features, or leave them out)"
            )
        return tuple(found)

    @property
    def well_determined(self) -> bool:
        """Whether there is no reason to doubt the number of states."""
        return not self.doubts

    @property
    def words(self) -> str:
        """The number of states and how well it is determined, as sentences without the last full stop."""
        number = counted(len(self.states), "state")
        if self.doubts:
            return f"{number}, POORLY determined: {'; '.join(self.doubts)}. {self.limit}"
        return (
            f"{number}, well determined. Noise alone would produce the least certain state with a "
            f"probability of {self.p_state:.1g}, and the strongest rejected peak with a probability of "
            f"{self.p_noise:.1g}. {self.limit}"
        )

    @property
    def limit(self) -> str:
        """How small a state may be to be missed, as a sentence without a full stop."""
        share = f"{100 * self.smallest_share:.2g} %"
        return f"States of fewer than {self.smallest_state:,} frames ({share}) can be missed"

    @property
    def smallest_share(self) -> float:
        """The fraction of the frames below which a state can be missed."""
        return min(self.smallest_state / self.n_frames, 1.0)

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
        header = " ".join(f"{level_title(at):>14}" for at in range(len(self.gaps)))
        lines = [f"peak  joins {header} {'p (noise)':>10}"]
        for peak in self.order[:count]:
            values = " ".join(
                f"{'-' if np.isnan(x) else format(x, '.3g'):>14}" for x in self.prominences[peak]
            )
            joins = "-" if self.parents[peak] == peak else str(self.parents[peak])
            mark = "" if peak in self.states else "  noise"
            lines.append(f"{peak:>4} {joins:>6} {values} {self.p[peak]:>10.1g}{mark}")
        return "\n".join(lines)


def level_title(at: int) -> str:
    """Return the heading of a column of prominences after `at` rounds of smoothing.

    Examples
    --------
    >>> [level_title(at) for at in range(4)]
    ['prominence', 'smoothed once', 'smoothed twice', 'smoothed 3x']
    """
    return ("prominence", "smoothed once", "smoothed twice")[at] if at < 3 else f"smoothed {at}x"


def needed_k(n: int, dimension: float) -> int:
    """Return the number of neighbours that keeps the graph of n points of one state connected.

    Examples
    --------
    >>> needed_k(1000, 1.0), needed_k(1000, 2.0), needed_k(1_000_000, 10.0)
    (16, 11, 12)
    """
    return int(np.ceil((_CONNECTED + _CONNECTED_LINE / max(dimension, 1.0)) * np.log(max(n, 2))))

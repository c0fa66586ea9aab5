"""The fraction of the frames, or of their weight, in each state, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputValueError,
    ReadOnly,
    check_finite,
    check_int,
    check_numbers,
    check_real,
    read_only,
)
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.bootstrap import (
    ENOUGH_TRAJECTORIES,
    bootstrap_units,
    interval,
    statistical_inefficiency,
)
from mdfuzzy.frames.weights import effective_frames
from mdfuzzy.states.correlation import check_lengths

#: Fewer effective frames than this determine no population: even if they were independent, a population
#: would have a relative standard error of 14 % (1 / sqrt(50)).
FEW_EFFECTIVE = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class StateFractions(ReadOnly):
    """Hold the fraction of frames in each state, with its bootstrap interval.

    Attributes
    ----------
    values : (K,) float64
        The fraction of all frames that belongs to each state. If frames have weights, it is the fraction of
        the total weight: the population of the state in the reweighted ensemble.
    low, high : (K,) float64
        The ends of the confidence interval; NaN if there are too few data for a bootstrap.
    effective : (K,) float64
        The effective number of frames of each state; without weights the number of frames.
    n_effective : float
        The effective number of all frames.
    n_frames : int
        The number of all frames.
    confidence : float
        The confidence level of the intervals.
    drawn : str
        The units that the bootstrap drew, in words; empty without a bootstrap.
    weighted : bool
        Whether the frames have weights.

    See Also
    --------
    state_fractions : Compute them.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> labels = np.random.default_rng(1).integers(2, size=900)
    >>> found = mf.state_fractions(labels, [900])
    >>> found.values.round(1), bool(found.low[0] < 0.5 < found.high[0]), found.drawn
    (array([0.5, 0.5]), True, '90 blocks of 10 frames')
    """

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    effective: np.ndarray
    n_effective: float
    n_frames: int
    confidence: float
    drawn: str
    weighted: bool

    def __post_init__(self) -> None:
        for name in ("values", "low", "high", "effective"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def words(self) -> str:
        """The effective number of frames and the origin of the intervals, in one or two sentences."""
        words = f"The weights leave {self.n_effective:,.0f} effective frames of {self.n_frames:,}."
        if not self.weighted:
            words = f"All {self.n_frames:,} frames have equal weight."
        if self.drawn:
            words += f" The {100 * self.confidence:g} % intervals come from a bootstrap of {self.drawn}."
        return words


def state_fractions(
    states: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    n_states: int | None = None,
    weights: npt.ArrayLike | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> StateFractions:
    r"""Estimate the fraction of frames in each state, with intervals from a bootstrap of the trajectories.

    With weights w the fraction of a state is :math:`\sum_{i \in s} w_i / \sum_i w_i`. The bootstrap draws
    whole trajectories, with replacement, if there are five or more. Fewer trajectories are cut into blocks
    that are long compared with the correlation time of :math:`w_i (1_{i \in s} - f_s)`. The states are held
    fixed.

    Parameters
    ----------
    states : (n,) array of int, or (n, K) array
        The state of each frame, -1 for none; or the memberships of each frame.
    lengths : (T,) array of int
        Frames per trajectory, in order.
    n_states : int, optional
        The number of states, K, if `states` are labels; one more than the largest by default.
    weights : (n,) array, optional
        Weights of the frames.
    n_bootstrap : int
        Number of bootstrap samples.
    confidence : float
        The confidence level of the intervals, in (0, 1).
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    StateFractions

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.state_fractions([0, 0, 1, 1], [4], weights=[1.0, 1.0, 3.0, 3.0], n_bootstrap=0).values
    array([0.25, 0.75])
    """
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, 0)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    columns, n = _shares(states, n_states)
    lengths = check_lengths(lengths, n)
    given = np.ones(n) if weights is None else check_finite("weights", check_numbers("weights", weights))
    if given.shape != (n,) or given.min() < 0 or not given.any():
        raise InputValueError(
            f"`weights` must have one value per frame, shape ({n},), at least 0 and not all 0; got "
            f"shape {given.shape}."
        )
    values = np.array([given @ column() for column in columns]) / given.sum()
    effective = [effective_frames(given * column()) for column in columns]
    inefficiency = 1.0
    if len(lengths) < ENOUGH_TRAJECTORIES and n_bootstrap:
        ends = np.cumsum(lengths)[:-1]
        for column, value in zip(columns, values, strict=True):  # one at a time: there may be many states
            residuals = np.split(given * (column() - value), ends)
            inefficiency = max(inefficiency, statistical_inefficiency(residuals))
    units = bootstrap_units(lengths, inefficiency=inefficiency)
    draws = units.draw(n_bootstrap, seed=seed)
    starts = np.concatenate([[0], np.cumsum(units.lengths)[:-1]])
    sums = np.stack([np.add.reduceat(given * column(), starts) for column in columns], axis=1)
    totals = draws @ np.add.reduceat(given, starts)
    kept = totals > 0
    low, high = interval((draws @ sums)[kept] / totals[kept, None], confidence)
    return StateFractions(
        values=values,
        low=low,
        high=high,
        effective=np.array(effective),
        n_effective=effective_frames(given),
        n_frames=n,
        confidence=confidence,
        drawn=units.words if len(draws) else "",
        weighted=weights is not None,
    )


def warn_of_few_effective(found: StateFractions) -> None:
    """Warn if weights leave fewer than 50 effective frames in all, or in some of the states.

    Examples
    --------
    >>> import pytest
    >>> few = state_fractions([0, 0, 1, 1], [4], weights=[1.0, 1.0, 3.0, 3.0], n_bootstrap=0)
    >>> with pytest.warns(UserWarning, match="leave 3 effective frames of 4"):
    ...     warn_of_few_effective(few)
    """
    if not found.weighted:
        return
    poor = [
        f"{state} ({effective:.0f})"
        for state, effective in enumerate(found.effective)
        if effective < FEW_EFFECTIVE
    ]
    if found.n_effective < FEW_EFFECTIVE:
        warn_user(
            f"The weights leave {found.n_effective:.0f} effective frames of {found.n_frames:,}. With fewer "
            f"than {FEW_EFFECTIVE}, populations are poorly determined. Simulate longer, or leave out the "
            "beginning of the run, where the bias grows."
        )
    elif poor:
        warn_user(
            f"Some states hold fewer than {FEW_EFFECTIVE} effective frames, so that their populations are "
            f"poorly determined: state {', '.join(poor)}."
        )


def _shares(states: npt.ArrayLike, n_states: int | None) -> tuple[Sequence[Callable[[], np.ndarray]], int]:
    """Return, for each state, a function that gives the share of each frame, (n,) float64; and n."""
    states = np.asarray(states)
    if states.ndim == 2:
        values = check_finite("states", check_numbers("states", states))
        columns = [partial(values.__getitem__, (slice(None), state)) for state in range(values.shape[1])]
        return columns, len(values)
    if states.ndim != 1 or len(states) == 0 or not np.issubdtype(states.dtype, np.integer):
        raise InputValueError(
            "`states` must be the number of the state of each frame, or memberships (frames, states); got an "
            f"array of type {states.dtype} and shape {states.shape}."
        )
    least = int(states.max()) + 1
    count = max(least, 1) if n_states is None else check_int("n_states", n_states, max(least, 1))
    return [partial(_indicator, states, state) for state in range(count)], len(states)


def _indicator(states: np.ndarray, state: int) -> np.ndarray:
    return np.asarray(states == state, np.float64)

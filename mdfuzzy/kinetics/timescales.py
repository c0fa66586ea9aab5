"""Is a Markov model right at a lag: implied timescales and the Chapman-Kolmogorov test, with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import check_int, check_real, read_only
from mdfuzzy.kinetics.dtrajs import Milestoned
from mdfuzzy.kinetics.markov import (
    check_dtrajs,
    check_lag,
    estimate,
    pair_counts,
    relaxation_times,
    time_unit,
)

#: Numbers of lags and of timescales, if not said otherwise.
_LAGS, _TIMESCALES = 12, 10


@dataclass(frozen=True, eq=False, repr=False)
class ImpliedTimescales:
    """Relaxation times of Markov models at several lags, with intervals from resampled trajectories.

    Attributes
    ----------
    lags : (m,) int64
        In frames.
    lag_times : (m,) float64
        The same in `unit`.
    values : (m, p) float64
        Slowest first; NaN where a timescale is not longer than its lag, and where states are not connected.
    lower, upper : (m, p) float64
        The ends of the interval; NaN where the resamples do not determine them.
    unit : {"ps", "frames"}
        Of all times.
    complete : (m,) int64
        In how many of the resamples the trajectories connect all states.
    n_resamples : int
        How many there are; 0 if there is one trajectory only.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> print(mf.kinetics.implied_timescales(dtrajs, lags=[1, 10], timestep=0.5))
    implied timescales in ps, 90 % intervals from 50 resamples of whole trajectories
      lag 0.5: ...
      lag 5: ...
    """

    lags: np.ndarray
    lag_times: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    unit: str
    complete: np.ndarray | None = None
    n_resamples: int = 0
    confidence: float = 0.9

    def __post_init__(self) -> None:
        object.__setattr__(self, "lags", read_only(np.asarray(self.lags, np.int64)))
        complete = np.zeros(len(self.lags)) if self.complete is None else self.complete
        object.__setattr__(self, "complete", read_only(np.asarray(complete, np.int64)))
        for name in ("lag_times", "values", "lower", "upper"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.lags)

    def __repr__(self) -> str:
        return f"ImpliedTimescales({self.values.shape[1]} timescales at {len(self)} lags)"

    def __str__(self) -> str:
        lines = [
            f"implied timescales in {self.unit}, {self.confidence:.0%} intervals from {self.n_resamples} "
            "resamples of whole trajectories".replace("%", " %")
        ]
        for lag, values, lower, upper, complete in zip(
            self.lag_times, self.values, self.lower, self.upper, self.complete, strict=True
        ):
            known = [
                f"{value:.3g} ({low:.3g} to {high:.3g})".replace("nan", "?")
                for value, low, high in zip(values, lower, upper, strict=True)
                if not np.isnan(value)
            ]
            lost = self.n_resamples - complete
            note = f"; {lost} resamples do not connect all states" if lost else ""
            lines.append(f"  lag {lag:.3g}: {', '.join(known) or 'none longer than the lag'}{note}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class ChapmanKolmogorov:
    """Transition probabilities over several lags: as one model predicts them, and as estimated directly.

    Attributes
    ----------
    lag_times : (s,) float64
        1, 2, ..., s lags, in `unit`.
    predicted : (s, K, K) float64
        Powers of the transition matrix at the lag.
    estimated : (s, K, K) float64
        The transition matrices of models at these multiples of the lag; NaN for states not connected there.
    lower, upper : (s, K, K) float64
        The interval of `estimated` from resampled trajectories. Resamples that do not connect a state count
        as 0 in the one and as 1 in the other.
    states : (K,) int64
        Which states the rows and columns are.
    unit : {"ps", "frames"}
        Of the times.
    complete : (s,) int64
        In how many of the resamples the trajectories connect all states.
    n_resamples : int
        How many there are; 0 if there is one trajectory only.
    confidence : float
        Of the interval.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> test = mf.kinetics.chapman_kolmogorov(dtrajs, lag=5, n_steps=4)
    >>> test
    ChapmanKolmogorov(2 states, 4 steps of 5 frames; 16 of 16 predictions inside the intervals)
    """

    lag_times: np.ndarray
    predicted: np.ndarray
    estimated: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    states: np.ndarray
    unit: str
    complete: np.ndarray | None = None
    n_resamples: int = 0
    confidence: float = 0.9

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", read_only(np.asarray(self.states, np.int64)))
        complete = np.zeros(len(self.lag_times)) if self.complete is None else self.complete
        object.__setattr__(self, "complete", read_only(np.asarray(complete, np.int64)))
        for name in ("lag_times", "predicted", "estimated", "lower", "upper"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.lag_times)

    def __repr__(self) -> str:
        inside = (self.lower <= self.predicted) & (self.predicted <= self.upper)
        return (
            f"ChapmanKolmogorov({len(self.states)} states, {len(self)} steps of {self.lag_times[0]:.3g} "
            f"{self.unit}; {np.count_nonzero(inside)} of {inside.size} predictions inside the intervals)"
        )


def implied_timescales(
    dtrajs: Sequence[np.ndarray] | Milestoned,
    *,
    lags: Sequence[int] | None = None,
    timestep: float | None = None,
    n_timescales: int | None = None,
    n_resamples: int = 50,
    confidence: float = 0.9,
    seed: int = 0,
) -> ImpliedTimescales:
    """Estimate the relaxation times of Markov models at several lags.

    The frames of one trajectory are not independent, trajectories are: so the intervals come from drawing
    whole trajectories anew, as many as there are, with replacement. Where a resample does not connect a state
    that all the data connects, one timescale of it counts as infinite, at the slow end. An end of an interval
    that falls on such an infinite value is not determined by the data, and is NaN.

    Parameters
    ----------
    dtrajs : Milestoned, or sequence of (n_i,) int arrays
        One array of states per trajectory, none negative.
    lags : sequence of int, optional
        In frames; by default up to 12, even in the logarithm, from 1 to a tenth of the longest trajectory,
        without those at the end at which no timescale is longer than the lag.
    timestep : float, optional
        Time between frames in ps; without it all times are in frames.
    n_timescales : int, optional
        How many; by default all, but at most 10.
    n_resamples : int
        How many times trajectories are drawn anew; 0 for no intervals.
    confidence : float
        The share of the resamples inside the interval.
    seed : int
        Of the random numbers.

    Returns
    -------
    ImpliedTimescales

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> result = mf.kinetics.implied_timescales(dtrajs, lags=[1, 10, 30])
    >>> exact = -1 / np.log(0.98)
    >>> bool(np.all((result.lower < exact) & (exact < result.upper)))
    True
    """
    dtrajs = check_dtrajs(dtrajs)
    unit, scale = time_unit(timestep)
    automatic = lags is None
    if automatic:
        lags = np.geomspace(1, max(1, max(map(len, dtrajs)) // 10), _LAGS).round().astype(int)
    lags = np.array(sorted({check_lag(int(lag), dtrajs, "lags") for lag in lags}))
    draws = draw_trajectories(len(dtrajs), n_resamples, seed)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    states, p = None, None
    values, lower, upper, complete = [], [], [], []
    for lag in lags:
        counts = pair_counts(dtrajs, lag)
        if states is None:
            states = len(_symbols(estimate(counts.sum(axis=0), lag)))
            if states < 2:
                raise ValueError("one state only")
            p = min(
                states - 1,
                _TIMESCALES if n_timescales is None else check_int("n_timescales", n_timescales, 1),
            )
        own, _ = _timescales(counts.sum(axis=0), lag, states, p)
        drawn = [_timescales(each, lag, states, p) for each in _weighted(counts, draws)]
        complete.append(sum(whole for _, whole in drawn))
        low, high = interval(np.array([times for times, _ in drawn]).reshape(-1, p), confidence)
        unknown = np.isnan(own) | ~(own > lag) | np.isinf(own)
        for rows, row in ((values, own), (lower, low), (upper, high)):
            rows.append(scale * np.where(unknown | np.isinf(row), np.nan, row))
    keep = len(lags)
    while automatic and keep > 1 and np.isnan(values[keep - 1]).all():
        keep -= 1
    return ImpliedTimescales(
        lags[:keep],
        scale * lags[:keep],
        np.array(values[:keep]),
        np.array(lower[:keep]),
        np.array(upper[:keep]),
        unit,
        np.array(complete[:keep]),
        len(draws),
        confidence,
    )


def chapman_kolmogorov(
    dtrajs: Sequence[np.ndarray] | Milestoned,
    *,
    lag: int,
    n_steps: int = 5,
    timestep: float | None = None,
    n_resamples: int = 50,
    confidence: float = 0.9,
    seed: int = 0,
) -> ChapmanKolmogorov:
    """Compare what a Markov model predicts over several lags with what is estimated there directly.

    Parameters
    ----------
    dtrajs : Milestoned, or sequence of (n_i,) int arrays
        One array of states per trajectory, none negative.
    lag : int
        Of the model that predicts, in frames.
    n_steps : int
        Up to how many lags; at least one trajectory must be longer than all of them together.
    timestep : float, optional
        Time between frames in ps; without it all times are in frames.
    n_resamples : int
        How many times trajectories are drawn anew; 0 for no intervals.
    confidence : float
        The share of the resamples inside the interval.
    seed : int
        Of the random numbers.

    Returns
    -------
    ChapmanKolmogorov

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> test = mf.kinetics.chapman_kolmogorov(dtrajs, lag=5, n_steps=3)
    >>> bool(abs(test.predicted - test.estimated).max() < 0.03)
    True
    """
    dtrajs = check_dtrajs(dtrajs)
    unit, scale = time_unit(timestep)
    n_steps = check_int("n_steps", n_steps, 1)
    lag = check_lag(lag, dtrajs)
    check_lag(lag * n_steps, dtrajs, "lag * n_steps")
    model = estimate(pair_counts(dtrajs, lag).sum(axis=0), lag)
    if model is None:
        raise ValueError("one state only")
    states = _symbols(model)
    draws = draw_trajectories(len(dtrajs), n_resamples, seed)
    predicted, estimated, lower, upper, complete = [], [], [], [], []
    for step in range(1, n_steps + 1):
        counts = pair_counts(dtrajs, step * lag)
        predicted.append(np.linalg.matrix_power(model.transition_matrix, step))
        estimated.append(_probabilities(counts.sum(axis=0), step * lag, states))
        drawn = np.array([_probabilities(each, step * lag, states) for each in _weighted(counts, draws)])
        drawn = drawn.reshape(-1, len(states), len(states))
        complete.append(np.count_nonzero(~np.isnan(drawn).any(axis=(1, 2))))
        low, _ = interval(np.where(np.isnan(drawn), 0.0, drawn), confidence)
        _, high = interval(np.where(np.isnan(drawn), 1.0, drawn), confidence)
        lower.append(low)
        upper.append(high)
    return ChapmanKolmogorov(
        scale * lag * np.arange(1, n_steps + 1),
        np.array(predicted),
        np.array(estimated),
        np.array(lower),
        np.array(upper),
        states,
        unit,
        np.array(complete),
        len(draws),
        confidence,
    )


def draw_trajectories(trajectories: int, n_resamples: int, seed: int) -> np.ndarray:
    """Return how often each trajectory is drawn in each resample; none if there is one trajectory only."""
    n_resamples = check_int("n_resamples", n_resamples, 0)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(trajectories, size=(n_resamples if trajectories > 1 else 0, trajectories))
    return np.array([np.bincount(each, minlength=trajectories) for each in drawn]).reshape(-1, trajectories)


def interval(values: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the middle share of the rows; NaN where they are infinite or there are no rows."""
    if len(values) == 0:
        return (np.full(values.shape[1:], np.nan),) * 2
    tail = (1 - confidence) / 2
    low = np.quantile(values, tail, axis=0, method="lower")
    high = np.quantile(values, 1 - tail, axis=0, method="higher")
    return np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high)


def _weighted(counts: np.ndarray, draws: np.ndarray) -> Iterator[np.ndarray]:
    return (np.tensordot(weights, counts, axes=1) for weights in draws)


def _symbols(model: object) -> np.ndarray:
    return np.zeros(0, np.int64) if model is None else model.count_model.state_symbols


def _timescales(counts: np.ndarray, lag: int, states: int, p: int) -> tuple[np.ndarray, bool]:
    """Return p timescales in frames, infinite for each state that is missing, and whether none is.

    Timescales of eigenvalues that are not positive are 0: shorter than any lag.
    """
    model = estimate(counts, lag)
    found = (
        np.zeros(0)
        if model is None
        else np.nan_to_num(relaxation_times(model.eigenvalues()[1:], lag), posinf=np.inf)
    )
    missing = max(0, states - 1 - len(found))
    return np.concatenate([np.full(missing, np.inf), found])[:p], missing == 0


def _probabilities(counts: np.ndarray, lag: int, states: np.ndarray) -> np.ndarray:
    """Return the transition matrix between `states`; NaN in the rows and columns of those not connected."""
    model = estimate(counts, lag)
    matrix = np.full((len(counts), len(counts)), np.nan)
    if model is not None:
        matrix[np.ix_(_symbols(model), _symbols(model))] = model.transition_matrix
    return matrix[np.ix_(states, states)]

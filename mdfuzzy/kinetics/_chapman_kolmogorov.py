"""The Chapman-Kolmogorov test: what a Markov model predicts over several lags, and what is found there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import ReadOnly, check_int, check_real, read_only
from mdfuzzy.kinetics._bootstrap_counts import bootstrap_sums, draw_trajectories, interval
from mdfuzzy.kinetics.dtrajs import Milestoned
from mdfuzzy.kinetics.markov import (
    check_dtrajs,
    check_lag,
    connected_model,
    estimate,
    pair_counts,
    time_unit,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChapmanKolmogorov(ReadOnly):
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
        The interval of `estimated` from a bootstrap over trajectories. A bootstrap sample that does not
        connect a state counts as 0 in `lower` and as 1 in `upper`.
    states : (K,) int64
        Which states the rows and columns are.
    unit : {"ps", "frames"}
        Of the times.
    complete : (s,) int64
        In how many of the bootstrap samples the trajectories connect all states.
    n_bootstrap : int
        How many there are; 0 if there is one trajectory only.
    confidence : float
        Of the interval.

    See Also
    --------
    kinetics.chapman_kolmogorov : Make the test.
    plots.chapman_kolmogorov : Draw it.

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
    complete: np.ndarray = None  # type: ignore[assignment]  # none, if it is not given
    n_bootstrap: int = 0
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
        return (
            f"ChapmanKolmogorov({len(self.states)} states, {len(self)} steps of {self.lag_times[0]:.3g} "
            f"{self.unit}; {self.verdict})"
        )

    @property
    def verdict(self) -> str:
        """How many predictions are inside their intervals, in words.

        An interval that reaches from 0 to 1 is open: nothing could be outside, and it does not count.
        """
        opened = (self.lower <= 0.0) & (self.upper >= 1.0)
        inside = (self.lower <= self.predicted) & (self.predicted <= self.upper) & ~opened
        count, number = np.count_nonzero(opened), inside.size
        words = f"{np.count_nonzero(inside)} of {number - count} predictions inside the intervals"
        return f"{words}, the other {count} intervals open" if count else words


def chapman_kolmogorov(
    dtrajs: Sequence[np.ndarray] | Milestoned,
    *,
    lag: int,
    n_steps: int = 5,
    timestep: float | None = None,
    n_bootstrap: int = 50,
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
    n_bootstrap : int
        How many times trajectories are drawn anew; 0 for no intervals.
    confidence : float
        The share of the bootstrap samples inside the interval.
    seed : int
        Of the random numbers.

    Returns
    -------
    ChapmanKolmogorov

    Raises
    ------
    ValueError
        If the states are negative, the lag leaves no pair of frames, or no two states are connected at it.
    TypeError
        If `dtrajs` is no list of arrays of int.

    See Also
    --------
    kinetics.markov_model : The model that is tested.
    plots.chapman_kolmogorov : Draw the test.
    validate_model : The test for a clustering.

    References
    ----------
    * J.-H. Prinz et al., *Markov Models of Molecular Kinetics: Generation and Validation*, J. Chem. Phys. 134
      (2011) 174105.

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
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    draws = draw_trajectories(len(dtrajs), n_bootstrap, seed)
    model = connected_model(pair_counts(dtrajs, lag).sum(axis=0), lag)
    states = model.count_model.state_symbols
    predicted, estimated, lower, upper = (np.empty((n_steps, len(states), len(states))) for _ in range(4))
    complete = np.zeros(n_steps, np.int64)
    for row in range(n_steps):
        steps = row + 1
        counts = pair_counts(dtrajs, steps * lag)[:, states][:, :, states]
        predicted[row] = np.linalg.matrix_power(model.transition_matrix, steps)
        estimated[row] = _probabilities(counts.sum(axis=0), steps * lag)
        drawn = np.array([_probabilities(each, steps * lag) for each in bootstrap_sums(counts, draws)])
        drawn = drawn.reshape(len(draws), len(states), len(states))
        complete[row] = np.count_nonzero(~np.isnan(drawn).any(axis=(1, 2)))
        lower[row] = interval(np.nan_to_num(drawn, nan=0.0), confidence)[0]
        upper[row] = interval(np.nan_to_num(drawn, nan=1.0), confidence)[1]
    times = scale * lag * np.arange(1, n_steps + 1)
    return ChapmanKolmogorov(
        lag_times=times,
        predicted=predicted,
        estimated=estimated,
        lower=lower,
        upper=upper,
        states=states,
        unit=unit,
        complete=complete,
        n_bootstrap=len(draws),
        confidence=confidence,
    )


def _probabilities(counts: np.ndarray, lag: int) -> np.ndarray:
    """Return the transition matrix, with NaN in the rows and columns of states that are not connected."""
    matrix = np.full(counts.shape, np.nan)
    model = estimate(counts, lag)
    if model is not None:
        matrix[np.ix_(*[model.count_model.state_symbols] * 2)] = model.transition_matrix
    return matrix

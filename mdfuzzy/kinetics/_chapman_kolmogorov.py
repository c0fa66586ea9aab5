"""The Chapman-Kolmogorov test: predictions of a Markov model over several lags, and direct estimates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import ReadOnly, check_int, check_real, read_only
from mdfuzzy.kinetics._bootstrap_counts import CountSampler, interval
from mdfuzzy.kinetics.dtrajs import Milestoned
from mdfuzzy.kinetics.markov import (
    check_dtrajs,
    check_lag,
    connected_model,
    estimate,
    pair_counts,
    unit_of_times,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChapmanKolmogorov(ReadOnly):
    """Hold transition probabilities over several lags: predicted by one model, and estimated directly.

    Attributes
    ----------
    lag_times : (s,) float64
        1, 2, ..., s lags, in `unit`.
    predicted : (s, K, K) float64
        Powers of the transition matrix at the lag.
    estimated : (s, K, K) float64
        The transition matrices of models at these multiples of the lag; NaN for states that are not connected
        at that lag.
    lower, upper : (s, K, K) float64
        The bootstrap interval of `estimated`, at least as wide as one independent transition more or less;
        NaN if there are no bootstrap samples. A sample that does not connect a state counts as 0 in `lower`
        and as 1 in `upper`.
    states : (K,) int64
        The states of the rows and columns.
    unit : {"ps", "frames"}
        The unit of the times.
    complete : (s,) int64
        The number of bootstrap samples in which the trajectories connect all states.
    n_bootstrap : int
        The number of bootstrap samples.
    confidence : float
        The confidence level of the interval.
    drawn : str
        The kind of the samples, in words.

    See Also
    --------
    kinetics.chapman_kolmogorov : Make the test.
    plots.chapman_kolmogorov : Plot the test.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> test = mf.kinetics.chapman_kolmogorov(dtrajs, lag=5, n_steps=4)
    >>> test
    ChapmanKolmogorov(2 states, 4 steps of 5 frames; passed, with 12 of 12 predictions inside the 90 % ...)
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
    drawn: str = "bootstrap samples"

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
    def judged(self) -> np.ndarray:
        """Which predictions have an interval that they could miss, (s, K, K) bool.

        Predictions of the first step do not count, because the model reproduces them by construction. Neither
        do predictions whose interval reaches from 0 to 1 or does not exist.
        """
        judged = np.isfinite(self.lower) & np.isfinite(self.upper)
        judged &= (self.lower > 0.0) | (self.upper < 1.0)
        judged[:1] = False
        return judged

    @property
    def inside(self) -> np.ndarray:
        """Which of the judged predictions are inside their intervals, (s, K, K) bool."""
        return self.judged & (self.lower <= self.predicted) & (self.predicted <= self.upper)

    @property
    def passed(self) -> bool | None:
        """Whether the model predicts well; None if the data cannot tell.

        It passes if at least the share `confidence` of the judged predictions is inside their intervals. The
        data cannot tell if fewer than half of the predictions beyond the first step can be judged.
        """
        if np.count_nonzero(self.judged) < max(1, self.judged[1:].size / 2):
            return None
        return bool(np.count_nonzero(self.inside) >= self.confidence * np.count_nonzero(self.judged))

    @property
    def verdict(self) -> str:
        """The outcome of the test in words, without a full stop."""
        judged, beyond = np.count_nonzero(self.judged), self.judged[1:].size
        counts = (
            f"{np.count_nonzero(self.inside)} of {judged} predictions inside the "
            f"{100 * self.confidence:.3g} % intervals"
        )
        if beyond == 0:
            return "not tested: the trajectories are too short for two steps of this lag"
        if self.n_bootstrap == 0 and judged == 0:
            return "not tested: there are no intervals (`n_bootstrap` is 0)"
        if judged < beyond:
            counts += f"; the other {beyond - judged} have no closed interval"
        if self.passed is None:
            return (
                f"undecided, with {counts}, because only few trajectories connect some of the states "
                f"({self.complete.min()} of {self.n_bootstrap} {self.drawn} connect all)"
            )
        return f"{'passed' if self.passed else 'FAILED'}, with {counts}"


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
    """Compare predictions of a Markov model over several lags with direct estimates at these lags.

    Parameters
    ----------
    dtrajs : Milestoned, or sequence of (n_i,) int arrays
        One array of states per trajectory, none negative.
    lag : int
        The lag of the predicting model, in frames.
    n_steps : int
        The largest number of lags; at least one trajectory must be longer than all of them together.
    timestep : float, optional
        Time between frames in ps; without it all times are in frames.
    n_bootstrap : int
        Number of bootstrap samples; 0 for no intervals. The samples are drawn as in `implied_timescales`.
    confidence : float
        The share of the bootstrap samples inside the interval.
    seed : int
        Random seed of the bootstrap.

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
    kinetics.markov_model : The tested model.
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
    unit, scale = unit_of_times(timestep)
    n_steps = check_int("n_steps", n_steps, 1)
    lag = check_lag(lag, dtrajs)
    check_lag(lag * n_steps, dtrajs, "lag * n_steps")
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    sampler = CountSampler(dtrajs, check_int("n_bootstrap", n_bootstrap, 0), seed)
    model = connected_model(pair_counts(dtrajs, lag).sum(axis=0), lag)
    states = model.count_model.state_symbols
    predicted, estimated, lower, upper = (np.empty((n_steps, len(states), len(states))) for _ in range(4))
    complete = np.zeros(n_steps, np.int64)
    for row in range(n_steps):
        steps = row + 1
        counts, samples = sampler.counts(steps * lag, states)
        predicted[row] = np.linalg.matrix_power(model.transition_matrix, steps)
        estimated[row] = _probabilities(counts, steps * lag)
        drawn = np.array([_probabilities(each, steps * lag, sampler.reversible) for each in samples])
        drawn = drawn.reshape(len(sampler), len(states), len(states))
        complete[row] = np.count_nonzero(~np.isnan(drawn).any(axis=(1, 2)))
        low = interval(np.nan_to_num(drawn, nan=0.0), confidence)[0]
        high = interval(np.nan_to_num(drawn, nan=1.0), confidence)[1]
        one = steps * lag / np.maximum(counts.sum(axis=1, keepdims=True), steps * lag)
        lower[row] = np.minimum(low, np.fmax(estimated[row] - one, 0.0))
        upper[row] = np.maximum(high, np.fmin(estimated[row] + one, 1.0))
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
        n_bootstrap=len(sampler),
        confidence=confidence,
        drawn=sampler.words,
    )


def _probabilities(counts: np.ndarray, lag: int, reversible: bool = True) -> np.ndarray:
    """Return the transition matrix, with NaN in the rows and columns of states that are not connected."""
    matrix = np.full(counts.shape, np.nan)
    model = estimate(counts, lag, reversible=reversible)
    if model is not None:
        matrix[np.ix_(*[model.count_model.state_symbols] * 2)] = model.transition_matrix
    return matrix

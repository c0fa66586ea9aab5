"""Implied timescales: the relaxation times of Markov models at several lags, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, read_only
from mdfuzzy.kinetics._bootstrap_counts import CountSampler, interval
from mdfuzzy.kinetics.dtrajs import Milestoned
from mdfuzzy.kinetics.markov import (
    check_dtrajs,
    check_lag,
    connected_model,
    estimate,
    pair_counts,
    relaxation_times,
    unit_of_times,
)

#: Default numbers of lags and of timescales.
_LAGS, _TIMESCALES = 12, 10
#: The number of samples of the posterior. Its upper tail is long, so few samples would make its quantiles
#: uncertain.
_POSTERIOR = 200


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ImpliedTimescales(ReadOnly):
    """Hold relaxation times of Markov models at several lags, with bootstrap intervals.

    Attributes
    ----------
    lags : (m,) int64
        In frames.
    lag_times : (m,) float64
        The same in `unit`.
    values : (m, p) float64
        Slowest first; NaN where a timescale is not longer than its lag, and where states are not connected.
    lower, upper : (m, p) float64
        The ends of the interval; NaN without bootstrap samples, and where there is no timescale.
    unit : {"ps", "frames"}
        Of all times.
    complete : (m,) int64
        The number of bootstrap samples in which the trajectories connect all states.
    n_bootstrap : int
        The number of bootstrap samples.
    confidence : float
        The confidence level of the interval.
    drawn : str
        The kind of the samples, in words.

    See Also
    --------
    kinetics.implied_timescales : Compute the timescales.
    plots.implied_timescales : Plot the timescales.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> print(mf.kinetics.implied_timescales(dtrajs, lags=[1, 10], timestep=0.5))
    implied timescales in ps, 90 % intervals from 50 bootstrap samples of whole trajectories
      lag 0.5: ...
      lag 5: ...
    """

    lags: np.ndarray
    lag_times: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    unit: str
    complete: np.ndarray = None  # type: ignore[assignment]  # none, if it is not given
    n_bootstrap: int = 0
    confidence: float = 0.9
    drawn: str = "bootstrap samples"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lags", read_only(np.asarray(self.lags, np.int64)))
        if self.complete is None:
            object.__setattr__(self, "complete", np.zeros(len(self.lags)))
        object.__setattr__(self, "complete", read_only(np.asarray(self.complete, np.int64)))
        for name in ("lag_times", "values", "lower", "upper"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.lags)

    def __repr__(self) -> str:
        return f"ImpliedTimescales({self.values.shape[1]} timescales at {len(self)} lags)"

    def __str__(self) -> str:
        intervals = "no intervals"
        if self.n_bootstrap:
            intervals = f"{100 * self.confidence:.3g} % intervals from {self.n_bootstrap} {self.drawn}"
        lines = [f"implied timescales in {self.unit}, {intervals}"]
        for lag, values, lower, upper, complete in zip(
            self.lag_times, self.values, self.lower, self.upper, self.complete, strict=True
        ):
            known = [
                f"{value:.3g} ({low:.3g} to {high:.3g})".replace("nan", "?")
                for value, low, high in zip(values, lower, upper, strict=True)
                if not np.isnan(value)
            ]
            lost = self.n_bootstrap - complete
            note = f"; {lost} bootstrap samples do not connect all states" if lost else ""
            lines.append(f"  lag {lag:.3g}: {', '.join(known) or 'none longer than the lag'}{note}")
        return "\n".join(lines)


def implied_timescales(
    dtrajs: Sequence[np.ndarray] | Milestoned,
    *,
    lags: Sequence[int] | None = None,
    timestep: float | None = None,
    n_timescales: int | None = None,
    n_bootstrap: int = 50,
    confidence: float = 0.9,
    seed: int = 0,
) -> ImpliedTimescales:
    """Estimate the relaxation times of Markov models at several lags.

    Trajectories are independent, but frames of one trajectory are not. So the intervals come from a bootstrap
    of whole trajectories. Fewer than five trajectories are cut into blocks that are long compared with the
    time that the molecule stays in a state. If there are also fewer than five blocks, the samples are drawn
    from the posterior of the Markov model, which takes every lag as an independent observation. If a
    bootstrap sample does not connect a state that all data together connect, its slowest timescale counts as
    infinite. A limit of an interval that would be infinite for this reason is taken from the posterior
    instead, which is finite even for a state that is entered and left once.

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
    n_bootstrap : int
        Number of bootstrap samples; 0 for no intervals.
    confidence : float
        The fraction of the bootstrap samples inside the interval.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    ImpliedTimescales

    Raises
    ------
    ValueError
        If the states are negative, the lag leaves no pair of frames, or no two states are connected at it.
    TypeError
        If `dtrajs` is no list of arrays of int.

    See Also
    --------
    kinetics.markov_model : The model at one lag.
    plots.implied_timescales : Plot the timescales.

    References
    ----------
    * W. C. Swope, J. W. Pitera and F. Suits, *Describing Protein Folding Kinetics by Molecular Dynamics
      Simulations. 1. Theory*, J. Phys. Chem. B 108 (2004) 6571-6581.
    * J.-H. Prinz et al., *Markov Models of Molecular Kinetics: Generation and Validation*, J. Chem. Phys. 134
      (2011) 174105.

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
    unit, scale = unit_of_times(timestep)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    sampler = CountSampler(dtrajs, check_int("n_bootstrap", n_bootstrap, 0), seed)
    automatic = lags is None
    asked: Sequence[int] | np.ndarray
    if lags is None:
        asked = np.geomspace(1, max(1, max(map(len, dtrajs)) // 10), _LAGS).round().astype(int)
    else:
        asked = lags
    used = np.array(sorted({check_lag(lag, dtrajs, "lags") for lag in asked}), np.int64)
    if len(used) == 0:
        raise InputValueError(
            "`lags` must hold at least one lag; got none. Leave it out for an automatic range."
        )
    # States that are connected at a lag are connected at every shorter one.
    states = connected_model(pair_counts(dtrajs, used[0]).sum(axis=0), used[0]).count_model.state_symbols
    p = _TIMESCALES if n_timescales is None else check_int("n_timescales", n_timescales, 1)
    p = min(p, len(states) - 1)
    values, lower, upper = (np.full((len(used), p), np.nan) for _ in range(3))
    complete = np.zeros(len(used), np.int64)
    for row, lag in enumerate(used):
        counts, samples = sampler.counts(int(lag), states)
        found = _timescales(counts, lag)[:p]
        drawn = np.array([_timescales(each, lag, sampler.reversible) for each in samples])
        drawn = drawn.reshape(len(sampler), len(states) - 1)
        complete[row] = np.count_nonzero(np.isfinite(drawn).all(axis=1))
        known = (found > lag) & np.isfinite(found)
        low, high = interval(drawn[:, :p], confidence)
        if sampler.reversible and np.isnan([low, high]).any() and len(drawn):
            modelled = sampler.posterior(counts, lag, _POSTERIOR)
            ends = interval(np.array([_timescales(each, lag, False)[:p] for each in modelled]), confidence)
            low = np.where(np.isnan(low), np.fmin(ends[0], found), low)
            high = np.where(np.isnan(high), np.fmax(ends[1], np.fmax(found, low)), high)
        for table, times in ((values, found), (lower, low), (upper, high)):
            table[row, known] = scale * times[known]
    kept = len(used)
    while automatic and kept > 1 and np.isnan(values[kept - 1]).all():
        kept -= 1
    return ImpliedTimescales(
        lags=used[:kept],
        lag_times=scale * used[:kept],
        values=values[:kept],
        lower=lower[:kept],
        upper=upper[:kept],
        unit=unit,
        complete=complete[:kept],
        n_bootstrap=len(sampler),
        confidence=confidence,
        drawn=sampler.words,
    )


def _timescales(counts: np.ndarray, lag: int, reversible: bool = True) -> np.ndarray:
    """Return one timescale less than there are states, slowest first, in frames.

    Each state that is not connected with the rest makes one of them infinite. They are 0 for
    eigenvalues that are not positive: shorter than any lag.
    """
    times = np.full(len(counts) - 1, np.inf)
    model = estimate(counts, lag, reversible=reversible)
    if model is not None:
        found = np.nan_to_num(relaxation_times(model.eigenvalues()[1:], lag), posinf=np.inf)
        times[len(times) - len(found) :] = found
    return times

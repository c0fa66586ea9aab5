"""Is a Markov model of the states right, and at which lag: the two usual tests, with the lag chosen."""

import warnings
from dataclasses import dataclass

import numpy as np

from mdfuzzy.clustering import Clustering
from mdfuzzy.kinetics import (
    ChapmanKolmogorov,
    ImpliedTimescales,
    chapman_kolmogorov,
    implied_timescales,
    milestoned_dtrajs,
    timestep,
)

#: Without intervals, timescales that differ by less than this share count as the same.
_LEVEL = 0.1
#: Steps of the Chapman-Kolmogorov test.
_STEPS = 5


@dataclass(frozen=True, eq=False)
class Validation:
    """The tests of a Markov model of the states of a clustering. Made by `validate_model`.

    Attributes
    ----------
    timescales : ImpliedTimescales or None
        Over a range of lags; None if the trajectories connect no two states.
    lag : int or None
        The lag that was chosen, in frames.
    test : ChapmanKolmogorov or None
        At that lag.
    reason : str
        Why this lag, or why there is none.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> hops = [np.cumsum(rng.random(3000) < 0.01) % 2 for _ in range(4)]
    >>> result = mf.cluster([8 * hop[:, None] + rng.normal(size=(3000, 2)) for hop in hops])
    >>> validation = mf.validate_model(result)
    >>> validation.lag, validation.test.states
    (1, array([0, 1]...))
    """

    timescales: ImpliedTimescales | None
    lag: int | None
    test: ChapmanKolmogorov | None
    reason: str


def validate_model(result: Clustering, *, n_resamples: int = 50, seed: int = 0) -> Validation:
    """Test Markov models between the cores of a clustering, and choose the lag of one.

    Discrete trajectories are milestoned: a frame between cores belongs to the core that was visited last. The
    lag is the shortest one from which on the slowest timescale is level: at every longer lag it lies inside
    the interval that it has at this one (without intervals: within 10 %).

    Parameters
    ----------
    result : Clustering
        Of frames or features of trajectories.
    n_resamples : int
        How many times whole trajectories are drawn anew for the intervals.
    seed : int
        Of the random numbers.

    Returns
    -------
    Validation
        Without tests, and with the reason, if the trajectories do not pass between any two cores.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=10), mf.Settings(prominence=1.0))
    >>> validation = mf.validate_model(result)
    >>> print(validation.reason)
    The slowest timescale ... at a lag of ... ps...
    """
    if result.data is None:
        return Validation(
            None, None, None, "There are no trajectories: the clustering began with neighbours."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # trajectories that touch no core are left out
        try:
            dtrajs = milestoned_dtrajs(result.data, result.cores)
            options = {"timestep": timestep(result.data), "n_resamples": n_resamples, "seed": seed}
            scales = implied_timescales(dtrajs, **options)
        except ValueError as error:
            return Validation(None, None, None, f"There is no Markov model: {error}")
        place = level_from(scales)
        if place is None:
            reason = (
                "No timescale is longer than any lag: frames are too far apart, or states too short-lived."
            )
            return Validation(scales, None, None, reason)
        lag = int(scales.lags[place])
        longest = max(map(len, dtrajs.dtrajs))
        steps = min(_STEPS, (longest - 1) // lag)
        test = chapman_kolmogorov(dtrajs, lag=lag, n_steps=steps, **options)
    last = place == np.flatnonzero(~np.isnan(scales.values[:, 0]))[-1]
    verdict = "is still rising" if last and len(scales) > 1 else "is level from there on"
    value = f"{scales.values[place, 0]:.3g} {scales.unit}"
    reason = (
        f"The slowest timescale, {value} at a lag of {scales.lag_times[place]:.3g} {scales.unit}, {verdict}."
    )
    return Validation(scales, lag, test, reason)


def level_from(scales: ImpliedTimescales) -> int | None:
    """Return the place of the first lag from which on the slowest timescale is level; None without any.

    The last lag at which it is known always is one, for nothing comes after it.
    """
    slowest, lower, upper = (each[:, 0] for each in (scales.values, scales.lower, scales.upper))
    known = np.flatnonzero(~np.isnan(slowest))
    for place in known:
        low = lower[place] if not np.isnan(lower[place]) else (1 - _LEVEL) * slowest[place]
        high = upper[place] if not np.isnan(upper[place]) else (1 + _LEVEL) * slowest[place]
        later = slowest[known[known >= place]]
        if np.all((later >= low) & (later <= high)):
            return int(place)
    return None

"""Is a Markov model of the states right, and at which lag: the two usual tests, with the lag chosen."""

import warnings
from dataclasses import dataclass

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics._chapman_kolmogorov import ChapmanKolmogorov, chapman_kolmogorov
from mdfuzzy.kinetics.dtrajs import check_unbiased, milestoned_dtrajs, timestep
from mdfuzzy.kinetics.timescales import ImpliedTimescales, implied_timescales
from mdfuzzy.states.cores import Cores

#: Without intervals, a timescale that rises by less than this share is level.
_LEVEL = 0.1
#: Steps of the Chapman-Kolmogorov test, and the share of the slowest timescale that they should cover.
_STEPS, _COVERED = 5, 0.1


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
    (..., array([0, 1]...))
    """

    timescales: ImpliedTimescales | None
    lag: int | None
    test: ChapmanKolmogorov | None
    reason: str


def validate_cores(
    data: Trajectories | None, milestones: Cores, *, n_bootstrap: int = 50, seed: int = 0
) -> Validation:
    """Test Markov models of the states of a clustering, and choose the lag of one.

    Discrete trajectories are milestoned with `milestones`: a frame between these belongs to the one that was
    visited last. The lag is the shortest one beyond which the slowest timescale does not rise
    (at no longer lag above its interval at this one; without an interval: by no more than 10 %), and of which
    five steps, those of the Chapman-Kolmogorov test, are at least a tenth of it. At lags that are not short
    beside the trajectories it falls again, because the ends of trajectories cut it; that does not count.

    Parameters
    ----------
    data : Frames or Features or None
        What was clustered; None if only its neighbours are known.
    milestones : Cores
        Of its frames.
    n_bootstrap : int
        Bootstrap samples of the trajectories for the intervals.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Validation
        Without tests, and with the reason, if the trajectories do not connect two states.
    """
    if data is None:
        return Validation(
            None, None, None, "There are no trajectories: the clustering began with neighbours."
        )
    check_unbiased(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # trajectories that touch no core are left out
        try:
            dtrajs = milestoned_dtrajs(data, milestones)
            step = timestep(data)
            scales = implied_timescales(dtrajs, timestep=step, n_bootstrap=n_bootstrap, seed=seed)
        except ValueError as error:
            return Validation(None, None, None, f"There is no Markov model: {error}")
        place, level = choose_lag(scales)
        if place is None:
            reason = (
                "No timescale is longer than any lag: frames are too far apart, or states too short-lived."
            )
            return Validation(scales, None, None, reason)
        lag = int(scales.lags[place])
        longest = max(map(len, dtrajs.dtrajs))
        steps = min(_STEPS, (longest - 1) // lag)
        test = chapman_kolmogorov(
            dtrajs, lag=lag, n_steps=steps, timestep=step, n_bootstrap=n_bootstrap, seed=seed
        )
    value = f"{scales.values[place, 0]:.3g} {scales.unit}"
    verdict = "does not rise from there on" if level else "is still rising: no lag is long enough"
    reason = (
        f"The slowest timescale, {value} at a lag of {scales.lag_times[place]:.3g} {scales.unit}, {verdict}."
    )
    return Validation(scales, lag, test, reason)


def choose_lag(scales: ImpliedTimescales) -> tuple[int | None, bool]:
    """Return the place of the lag to take, None if no timescale is known, and whether it is level there."""
    slowest, upper = scales.values[:, 0], scales.upper[:, 0]
    known = np.flatnonzero(~np.isnan(slowest))
    if len(known) == 0:
        return None, False
    highest = np.where(np.isnan(upper), (1 + _LEVEL) * slowest, upper)
    level = [place for place in known if slowest[known[known >= place]].max() <= highest[place]]
    covered = [place for place in level if _STEPS * scales.lag_times[place] >= _COVERED * slowest[place]]
    place = covered[0] if covered else level[-1]
    return int(place), len(known) == 1 or level[0] != known[-1]

"""Validation of Markov models of the states: the two usual tests, and the choice of the lag."""

import warnings
from dataclasses import dataclass

import numpy as np

from mdfuzzy._messages import duration
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics._chapman_kolmogorov import ChapmanKolmogorov, chapman_kolmogorov
from mdfuzzy.kinetics.dtrajs import check_unbiased, milestoned_dtrajs, timestep
from mdfuzzy.kinetics.timescales import ImpliedTimescales, implied_timescales
from mdfuzzy.states.cores import Cores

#: A process is resolved at a lag if its timescale is at least this many times the lag.
RESOLVED = 3.0
#: Without intervals, a timescale that changes by less than this share has converged.
_SAME = 0.1
#: Steps of the Chapman-Kolmogorov test, and the share of the slowest timescale that they should cover.
_STEPS, _COVERED = 5, 0.1


@dataclass(frozen=True, eq=False)
class Validation:
    """Hold the tests of a Markov model of the states of a clustering, as made by `validate_model`.

    Attributes
    ----------
    timescales : ImpliedTimescales or None
        Over a range of lags; None if the trajectories connect no two states.
    lag : int or None
        The chosen lag, in frames.
    test : ChapmanKolmogorov or None
        At that lag.
    reason : str
        The reason for this lag, or for the lack of a lag.
    converged : int
        The number of slowest processes that are resolved at this lag and do not change at longer lags.

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
    converged: int = 0

    @property
    def passed(self) -> bool | None:
        """Whether a model is valid: timescales have converged, and it predicts well. None: undecided."""
        if self.test is None or self.converged == 0:
            return False
        return self.test.passed

    @property
    def words(self) -> str:
        """The outcome of both tests, for the command line."""
        if self.test is None:
            return f"Markov model: none. {self.reason}"
        return f"Markov model: {self.reason} Chapman-Kolmogorov test: {self.test.verdict}."


def validate_cores(
    data: Trajectories | None, milestones: Cores, *, n_bootstrap: int = 50, seed: int = 0
) -> Validation:
    """Test Markov models of the states of a clustering, and choose the lag of one.

    Discrete trajectories are milestoned with `milestones`: a frame between milestones belongs to the
    milestone that was visited last.

    A process is resolved at a lag if its timescale is at least three times the lag. It has converged at a lag
    if its timescale is the same at every longer lag that resolves it. Two timescales are the same if one of
    them is inside the interval of the other (without intervals: if they differ by at most 10 %). The lag is
    the one at which the most processes, counted from the slowest, are resolved and have converged. If several
    lags qualify, it is the shortest one at which the five steps of the Chapman-Kolmogorov test reach a tenth
    of the slowest timescale.

    Parameters
    ----------
    data : Frames or Features or None
        The clustered data; None if only the neighbours are known.
    milestones : Cores
        Of its frames.
    n_bootstrap : int
        Bootstrap samples of the trajectories for the intervals.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Validation
        If the trajectories do not connect two states, it holds no tests, but the reason.
    """
    if data is None:
        return Validation(
            None,
            None,
            None,
            "There are no trajectories: the clustering started from given neighbours.",
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
        choice = choose_lag(scales)
        if choice is None:
            reason = (
                f"No timescale is {RESOLVED:.0f} times as long as any lag time: the frames are too far apart "
                "in time, or the states too short-lived."
            )
            return Validation(scales, None, None, reason)
        place, converged = choice
        lag = int(scales.lags[place])
        longest = max(map(len, dtrajs.dtrajs))
        steps = max(1, min(_STEPS, (longest - 1) // lag))
        test = chapman_kolmogorov(
            dtrajs, lag=lag, n_steps=steps, timestep=step, n_bootstrap=n_bootstrap, seed=seed
        )
    return Validation(scales, lag, test, _reason(scales, place, converged), converged)


def choose_lag(scales: ImpliedTimescales) -> tuple[int, int] | None:
    """Return the place of the chosen lag, and the number of processes that have converged there.

    None if no process is resolved at any lag. Without a converged process it is the last lag at which the
    slowest one is resolved.
    """
    resolved = scales.values >= RESOLVED * scales.lag_times[:, None]  # NaN is not
    places = np.flatnonzero(resolved[:, 0])
    if len(places) == 0:
        return None
    counts = [_leading(resolved, _converged(scales, resolved, place), place) for place in range(len(scales))]
    most = max(counts)
    if most == 0:
        return int(places[-1]), 0
    best = [place for place, count in enumerate(counts) if count == most]
    times = scales.lag_times
    covered = [place for place in best if _STEPS * times[place] >= _COVERED * scales.values[place, 0]]
    return (covered[0] if covered else best[-1]), most


def _converged(scales: ImpliedTimescales, resolved: np.ndarray, place: int) -> np.ndarray:
    """Return which processes, (p,) bool, keep their timescale at all longer lags that resolve them.

    A timescale that is not resolved at any longer lag does not count as converged.
    """
    value, later = scales.values[place], scales.values[place + 1 :]
    low, high = _ends(scales, slice(place, place + 1))
    later_low, later_high = _ends(scales, slice(place + 1, None))
    same = ((low <= later) & (later <= high)) | ((later_low <= value) & (value <= later_high))
    looked = resolved[place + 1 :]
    return looked.any(axis=0) & (same | ~looked).all(axis=0)


def _ends(scales: ImpliedTimescales, rows: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals; a tenth of the value away where they are not known."""
    value, low, high = scales.values[rows], scales.lower[rows], scales.upper[rows]
    return (
        np.where(np.isnan(low), (1 - _SAME) * value, low),
        np.where(np.isnan(high), (1 + _SAME) * value, high),
    )


def _leading(resolved: np.ndarray, converged: np.ndarray, place: int) -> int:
    """Return how many processes from the slowest on are resolved and have converged."""
    good = resolved[place] & converged
    return int(len(good) if good.all() else good.argmin())


def _reason(scales: ImpliedTimescales, place: int, converged: int) -> str:
    """Say why this lag was chosen, and what its timescales are."""
    lag = duration(float(scales.lag_times[place]), scales.unit)
    values = scales.values[place]
    fast = int(len(values) - np.count_nonzero(values >= RESOLVED * scales.lag_times[place]))
    unresolved = f" and {fast} {'is' if fast == 1 else 'are'} too short to be resolved" if fast else ""
    slowest = duration(float(values[0]), scales.unit)
    if np.isfinite(scales.lower[place, 0]):
        ends = (float(scales.lower[place, 0]), float(scales.upper[place, 0]))
        told = [duration(end, scales.unit) if np.isfinite(end) else "unknown" for end in ends]
        slowest += f" ({100 * scales.confidence:.3g} % interval {told[0]} to {told[1]})"
    if converged == 0:
        return (
            f"The timescales do not converge at any lag time; at {lag}, the longest lag time that resolves "
            f"it, the slowest timescale is {slowest}."
        )
    return (
        f"At a lag time of {lag}, {converged} of {len(values)} implied timescale{'s' * (len(values) != 1)} "
        f"{'has' if converged == 1 else 'have'} converged{unresolved}; the slowest timescale is {slowest}."
    )

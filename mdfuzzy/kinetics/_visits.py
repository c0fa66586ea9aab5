"""Visits to the states: their number and duration, and whether these make a state metastable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import ReadOnly, check_int, check_real, read_only
from mdfuzzy._messages import counted
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_cores, check_unbiased, core_dtrajs, milestone, timestep
from mdfuzzy.states.cores import Cores

#: One-sided confidence of the bound below the mean dwell time.
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Visits(ReadOnly):
    """Hold the number of visits to each state, and its mean dwell time.

    Attributes
    ----------
    visits : (K,) int64
        The number of independent entries. An entry reaches the core from another core, or is the first core
        of a trajectory. Stays that miss the core are not counted.
    exits : (K,) int64
        The number of times that another core was reached next.
    mean_dwell : (K,) float64
        Mean duration of an uninterrupted stay in the basin of the state, in `unit`; infinite if the basin was
        never left.
    shuffled_dwell : (K,) float64
        The mean dwell time of frames in random order, in `unit`.
    unit : {"ps", "frames"}
        The unit of the times: ps if the frames are evenly spaced with a known timestep.
    metastable : (K,) bool
        Whether the dwell time clearly exceeds the dwell time of shuffled frames, with enough exits.
    reasons : tuple of str
        The reason why a state is not metastable; empty for metastable states.
    core_dwell : (K,) float64
        Mean time from first touching the core to first touching another core, in `unit`: the dwell time of
        milestoned trajectories. If it is many times `mean_dwell`, most stays miss the core, which is then too
        small for kinetics.

    See Also
    --------
    kinetics.visits : Compute the visits.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> labels = np.tile(np.repeat([0, 1], 25), 20)
    >>> cores = mf.Cores(labels, labels, [0, 25], [np.inf, 1.0])
    >>> print(mf.kinetics.visits(mf.Features(np.zeros((1000, 1))), cores))
    state  visits   mean dwell  core to core  metastable
        0      20    25 frames     25 frames  yes
        1      20  26.3 frames   26.3 frames  yes
    """

    visits: np.ndarray
    exits: np.ndarray
    mean_dwell: np.ndarray
    shuffled_dwell: np.ndarray
    unit: str
    metastable: np.ndarray
    reasons: tuple[str, ...]
    core_dwell: np.ndarray = None  # type: ignore[assignment]  # NaN, if it is not given

    def __post_init__(self) -> None:
        types: dict[str, type] = {"visits": np.int64, "exits": np.int64, "metastable": np.bool_}
        if self.core_dwell is None:
            object.__setattr__(self, "core_dwell", np.full(len(self.visits), np.nan))
        for name in ("visits", "exits", "mean_dwell", "shuffled_dwell", "metastable", "core_dwell"):
            array: np.ndarray = np.asarray(getattr(self, name), types.get(name, np.float64))
            object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.visits)

    def __repr__(self) -> str:
        return f"Visits({len(self)} states, {self.metastable.sum()} shown to be metastable)"

    def __str__(self) -> str:
        lines = [f"{'state':>5}  {'visits':>6}  {'mean dwell':>11}  {'core to core':>12}  metastable"]
        for state, count in enumerate(self.visits):
            dwell, core = (f"{each[state]:.3g} {self.unit}" for each in (self.mean_dwell, self.core_dwell))
            verdict = "yes" if self.metastable[state] else f"not shown: {self.reasons[state]}"
            lines.append(f"{state:>5}  {count:>6}  {dwell:>11}  {core:>12}  {verdict}")
        return "\n".join(lines)


def visits(data: Trajectories, cores: Cores, *, min_exits: int = 10, min_ratio: float = 5.0) -> Visits:
    r"""Count the independent visits to every state, and measure its mean dwell time.

    Visits are counted from core to core, so that recrossings of the border of two states do not count as new
    visits. The dwell time is measured in the whole basin: :math:`T / m` for the time :math:`T` in it and
    :math:`m` ends of unbroken stays, which is correct for exponential dwell times although the ends of
    trajectories cut some stays short. Recrossings of the border make it shorter, not longer. For shuffled
    frames with a fraction :math:`p` in the basin the dwell time is :math:`1 / (1 - p)` frames. A state is
    called metastable if its dwell time clearly exceeds this time.

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    cores : Cores
        The cores of these frames.
    min_exits : int
        The smallest number of exits for a judgement: with 10 exits the dwell time has a standard error of
        about 30 %.
    min_ratio : float
        The smallest ratio of the dwell time of a metastable state to the dwell time of shuffled frames. It
        must hold also at the lower end of the confidence interval (95 %, one-sided, by the number of exits).
        With a mean of 5 frames about one stay in five, :math:`1 - e^{-1/5}`, is shorter than the time between
        frames, and may not be seen.

    Returns
    -------
    Visits

    Raises
    ------
    ValueError
        If the cores are of other frames than `data`.

    See Also
    --------
    kinetics.milestoned_dtrajs : The discrete trajectories that define the visits.
    kinetics.transition_counts : Count the transitions between the states.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> labels = np.repeat([0, 1, 0], [400, 100, 500])
    >>> cores = mf.Cores(labels, labels, [0, 400], [np.inf, 1.0])
    >>> found = mf.kinetics.visits(mf.Features(np.zeros((1000, 1))), cores)
    >>> found.visits, found.mean_dwell, found.unit
    (array([2, 1]), array([900., 100.]), 'frames')
    >>> found.reasons[1]
    'it was left for another state only 1 time, too few to decide'
    """
    min_exits = check_int("min_exits", min_exits, 1)
    min_ratio = check_real("min_ratio", min_ratio, at_least=1)
    check_unbiased(data)
    check_cores(data, cores)
    states = len(cores)
    milestoned = milestone(core_dtrajs(data, cores)).dtrajs
    entered, left = _transitions(milestoned, states)
    carried = np.bincount(np.concatenate(milestoned), minlength=states)
    spent = np.bincount(cores.basins[cores.basins >= 0], minlength=states)
    _, ends = _transitions(data.split(cores.basins), states)
    with np.errstate(divide="ignore", invalid="ignore"):
        core_dwell = carried / left
    dwell, shuffled = dwell_times(spent, ends, len(data))
    verdicts = [
        clear_dwell(float(time), float(random), int(exits), min_exits=min_exits, min_ratio=min_ratio)
        for time, random, exits in zip(dwell, shuffled, left, strict=True)
    ]
    step = timestep(data)
    unit, scale = ("frames", 1.0) if step is None else ("ps", step)
    return Visits(
        visits=entered,
        exits=left,
        mean_dwell=scale * dwell,
        shuffled_dwell=scale * shuffled,
        unit=unit,
        metastable=np.array([clear for clear, _ in verdicts], bool),
        reasons=tuple(reason for _, reason in verdicts),
        core_dwell=scale * core_dwell,
    )


def dwell_times(spent: npt.ArrayLike, ends: npt.ArrayLike, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean dwell times, observed and for shuffled frames, in frames, from time spent and ended stays.

    Examples
    --------
    >>> [float(time) for time in dwell_times(300, 3, 1200)]
    [100.0, 1.3333333333333333]
    """
    spent, ends = np.asarray(spent, np.float64), np.asarray(ends, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return spent / ends, n / (n - spent)


def clear_dwell(
    dwell: float, shuffled: float, exits: int, *, min_exits: int = 10, min_ratio: float = 5.0
) -> tuple[bool, str]:
    """Return whether a dwell time clearly exceeds the one of shuffled frames, and the reason if it does not.

    Examples
    --------
    >>> clear_dwell(100.0, 1.3, 40)
    (True, '')
    >>> clear_dwell(100.0, 1.3, 4)
    (False, 'it was left for another state only 4 times, too few to decide')
    """
    from scipy.stats import gamma

    ratio = 0.0 if np.isinf(shuffled) else dwell / shuffled
    bound = ratio * exits / gamma.ppf(_CONFIDENCE, exits) if exits else 0.0
    if exits >= min_exits and bound >= min_ratio:
        return True, ""
    return False, _reason(exits, ratio, bound, min_exits, min_ratio)


def _transitions(dtrajs: list[np.ndarray], states: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each state was entered (beginnings of trajectories included), and how often left."""
    entered, left = np.zeros(states + 1, np.int64), np.zeros(states + 1, np.int64)
    for dtraj in dtrajs:
        moved = np.flatnonzero(np.diff(dtraj))
        np.add.at(entered, dtraj[np.append(0, moved + 1)], 1)
        np.add.at(left, dtraj[moved], 1)
    return entered[:states], left[:states]  # the last entry is for frames without a state, -1


def _reason(exits: int, ratio: float, bound: float, min_exits: int, min_ratio: float) -> str:
    if exits == 0:
        return "it was never left for another state"
    if exits < min_exits:
        return f"it was left for another state only {counted(exits, 'time')}, too few to decide"
    return (
        f"its dwell time is {ratio:.2g} times as long as with the frames in random order (lower bound "
        f"{bound:.2g}); at least {min_ratio:g} times is required"
    )

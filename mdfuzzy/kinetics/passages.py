"""Visits to the states: how many there are, how long they last, and whether that makes a state metastable."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import check_int, check_real, read_only
from mdfuzzy.cores import Cores
from mdfuzzy.features import Features
from mdfuzzy.frames import Frames
from mdfuzzy.kinetics.dtrajs import core_dtrajs, milestone, timestep

#: One-sided confidence of the bound below the mean dwell time.
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Visits:
    """How often each state was visited and how long it was dwelt in.

    Attributes
    ----------
    visits : (K,) int64
        Independent entries: stays between the core of the state and the core of another, beginnings of
        trajectories included.
    exits : (K,) int64
        How many of the visits were seen to end.
    mean_dwell : (K,) float64
        Time in the state per exit, in `unit`; infinite if it was never left, NaN if never visited.
    shuffled_dwell : (K,) float64
        What it would be if the frames came in random order, in `unit`.
    unit : {"ps", "frames"}
        Of the times: ps if the frames are evenly spaced in a known time.
    metastable : (K,) bool
        Whether the dwell time is clearly longer than that of frames in random order, judged by enough visits.
    reasons : tuple of str
        Why not, for each state; empty where it is.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> labels = np.tile(np.repeat([0, 1], 25), 20)
    >>> cores = mf.Cores(labels, labels, [0, 25], [np.inf, 1.0])
    >>> print(mf.kinetics.visits(mf.Features(np.zeros((1000, 1))), cores))
    state  visits  mean dwell  metastable
        0      20   25 frames  yes
        1      20 26.3 frames  yes
    """

    visits: np.ndarray
    exits: np.ndarray
    mean_dwell: np.ndarray
    shuffled_dwell: np.ndarray
    unit: str
    metastable: np.ndarray
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        types = {"visits": np.int64, "exits": np.int64, "metastable": np.bool_}
        for name in ("visits", "exits", "mean_dwell", "shuffled_dwell", "metastable"):
            array = np.asarray(getattr(self, name), types.get(name, np.float64))
            object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.visits)

    def __repr__(self) -> str:
        return f"Visits({len(self)} states, {self.metastable.sum()} metastable)"

    def __str__(self) -> str:
        lines = [f"{'state':>5}  {'visits':>6}  {'mean dwell':>10}  metastable"]
        for state, count in enumerate(self.visits):
            dwell = f"{self.mean_dwell[state]:.3g} {self.unit}"
            verdict = "yes" if self.metastable[state] else f"not shown: {self.reasons[state]}"
            lines.append(f"{state:>5}  {count:>6}  {dwell:>10}  {verdict}")
        return "\n".join(lines)


def visits(data: Frames | Features, cores: Cores, *, min_visits: int = 10, min_ratio: float = 3.0) -> Visits:
    r"""Count the independent visits to every state and measure how long they last.

    A visit begins with the first frame in the core of a state and ends with the first frame in the core of
    another: excursions that return to the same core do not end it. With :math:`T` the time in all visits to
    a state and :math:`m` the exits seen, the mean dwell time is :math:`T / m`, which is right for
    exponential dwell times although the ends of trajectories cut some visits short.

    In a random order of the same frames it would be :math:`n / (n_c - c)` frames, with :math:`c` of all
    :math:`n_c` core frames in the core of the state. A state is called metastable if its dwell time is at
    least `min_ratio` times as long, also at its lower bound of 95 % confidence.

    Parameters
    ----------
    data : Frames or Features
        What was clustered.
    cores : Cores
        Of its frames.
    min_visits : int
        Fewer exits are too few to say: with 10 the mean dwell time has a standard error of about 30 %.
    min_ratio : float
        How much longer than in random order a state must be dwelt in.

    Returns
    -------
    Visits

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> labels = np.repeat([0, 1, 0], [400, 100, 500])
    >>> cores = mf.Cores(labels, labels, [0, 400], [np.inf, 1.0])
    >>> found = mf.kinetics.visits(mf.Features(np.zeros((1000, 1))), cores)
    >>> found.visits, found.mean_dwell, found.unit
    (array([2, 1]), array([900., 100.]), 'frames')
    >>> found.reasons[1]
    'left 1 time only, too few to say'
    """
    from scipy.stats import gamma

    min_visits = check_int("min_visits", min_visits, 1)
    min_ratio = check_real("min_ratio", min_ratio, at_least=1)
    milestoned = milestone(core_dtrajs(data, cores)).dtrajs
    states = len(cores)
    entered, left, spent = (np.zeros(states, np.int64) for _ in range(3))
    for dtraj in milestoned:
        spent += np.bincount(dtraj, minlength=states)
        moved = np.flatnonzero(np.diff(dtraj))
        left += np.bincount(dtraj[moved], minlength=states)
        entered += np.bincount(dtraj[np.append(0, moved + 1)], minlength=states)
    others = cores.sizes.sum() - cores.sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        dwell, shuffled = spent / left, len(data) / others
        bound = spent / gamma.ppf(_CONFIDENCE, left)
    metastable = (left >= min_visits) & (bound >= min_ratio * shuffled)
    step = timestep(data)
    unit, scale = ("frames", 1.0) if step is None else ("ps", step)
    reasons = tuple(
        ""
        if metastable[state]
        else _reason(entered[state], left[state], min_visits, dwell[state] / shuffled[state])
        for state in range(states)
    )
    return Visits(entered, left, scale * dwell, scale * shuffled, unit, metastable, reasons)


def _reason(visits: int, exits: int, min_visits: int, ratio: float) -> str:
    if visits == 0:
        return "its core was never touched"
    if exits == 0:
        return "never left"
    if exits < min_visits:
        return f"left {exits} time{'s' if exits > 1 else ''} only, too few to say"
    return f"dwell time only {ratio:.2g} times that of frames in random order"

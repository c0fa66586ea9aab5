"""Discrete trajectories: one array of states per trajectory, never joined across a boundary."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError, ReadOnly, check_type, read_only
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

#: What is said where the kinetics of frames with weights would be shown.
LEFT_OUT = "Kinetics are left out: weights correct populations, but not the rates of transitions."
#: Why frames with weights have no kinetics, and what to do.
NO_KINETICS = (
    "A bias changes how fast states are left, and weights do not undo that. Take kinetics from unbiased runs "
    "(`assign` gives them memberships in the same states), or use TRAM of deeptime with the energies of the "
    "bias and the states in data.split(result.labels)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Milestoned(ReadOnly):
    """Hold discrete trajectories in which every frame is assigned to the last core touched.

    The frames before the first core of a trajectory are removed, because their last core is unknown. Frame
    `t` of ``dtrajs[i]`` is frame ``offsets[i] + t`` of trajectory ``trajectories[i]``.

    Attributes
    ----------
    dtrajs : list of (n_i,) int32
        One array for every trajectory that touches a core, as deeptime takes them.
    offsets : (m,) int64
        The first remaining frame of each trajectory.
    trajectories : (m,) int64
        The number of the trajectory of each array.
    untouched : tuple of int
        The trajectories that touch no core.

    See Also
    --------
    kinetics.milestoned_dtrajs : Compute milestoned trajectories.

    References
    ----------
    * N.-V. Buchete and G. Hummer, *Coarse Master Equations for Peptide Folding Dynamics*, J. Phys. Chem. B
      112 (2008) 6057-6069.
    * C. Schütte, F. Noé, J. Lu, M. Sarich and E. Vanden-Eijnden, *Markov State Models Based on Milestoning*,
      J. Chem. Phys. 134 (2011) 204105.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([np.zeros((5, 1)), np.zeros((2, 1))])
    >>> labels = np.array([-1, 0, -1, 1, -1, 1, 0])
    >>> cores = mf.Cores(np.maximum(labels, 0), labels, [1, 3], [np.inf, 1.0])
    >>> mf.kinetics.milestoned_dtrajs(data, cores)
    Milestoned(2 trajectories, 6 of 7 frames; 0 trajectories touch no core)
    """

    dtrajs: list[np.ndarray]
    offsets: np.ndarray
    trajectories: np.ndarray
    untouched: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("offsets", "trajectories"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.int64)))

    def __len__(self) -> int:
        return len(self.dtrajs)

    def __repr__(self) -> str:
        kept = sum(map(len, self.dtrajs))
        return (
            f"Milestoned({len(self)} trajectories, {kept:,} of {kept + int(self.offsets.sum()):,} frames; "
            f"{len(self.untouched)} trajectories touch no core)"
        )


def timestep(data: Trajectories) -> float | None:
    """Return the time between frames in ps; None if it is unknown or varies.

    Parameters
    ----------
    data : Frames or Features
        Features have no times.

    Returns
    -------
    float or None

    See Also
    --------
    load : Read frames, with times for files that hold none.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.kinetics.timestep(mf.datasets.alanine_dipeptide(stride=10))
    2.0
    """
    check_data(data)
    return data.timestep


def hard_dtrajs(data: Trajectories, memberships: Memberships) -> list[np.ndarray]:
    """Return the state of the largest membership of every frame, one array per trajectory.

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    memberships : Memberships
        Of its frames.

    Returns
    -------
    list of (n_i,) int32
        The states, -1 for frames that reach no core (there are none on a connected union graph).

    Raises
    ------
    ValueError
        If the memberships are of other frames than `data`.

    See Also
    --------
    kinetics.milestoned_dtrajs : Discrete trajectories without recrossings of the border.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([np.zeros((2, 1)), np.zeros((1, 1))])
    >>> values = [[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]]
    >>> mf.kinetics.hard_dtrajs(data, mf.Memberships(
    ...     values=values, lost=np.zeros(3), beta=2.0, log_weights=np.zeros(3), exponent=1.0)
    ... )
    [array([0, 1], dtype=int32), array([1], dtype=int32)]
    """
    check_unbiased(data)
    check_memberships(data, memberships)
    return [part.copy() for part in data.split(memberships.hard)]


def core_dtrajs(data: Trajectories, cores: Cores) -> list[np.ndarray]:
    """Return the core of every frame, one array per trajectory, as PyEMMA takes it with ``core_set``.

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    cores : Cores
        Of its frames.

    Returns
    -------
    list of (n_i,) int32
        The cores, -1 outside every core.

    Raises
    ------
    ValueError
        If the cores are of other frames than `data`.

    See Also
    --------
    kinetics.milestoned_dtrajs : Assign every frame to the core that was visited last.
    kinetics.hard_dtrajs : Assign every frame to the state of its largest membership.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([np.zeros((2, 1)), np.zeros((1, 1))])
    >>> mf.kinetics.core_dtrajs(data, mf.Cores([0, 0, 1], [0, -1, 1], [0, 2], [np.inf, 1.0]))
    [array([ 0, -1], dtype=int32), array([1], dtype=int32)]
    """
    check_unbiased(data)
    check_cores(data, cores)
    return [part.copy() for part in data.split(cores.core_of)]


def milestoned_dtrajs(data: Trajectories, cores: Cores) -> Milestoned:
    """Return the last core touched at every frame, one array per trajectory, as deeptime takes it.

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    cores : Cores
        Of its frames.

    Returns
    -------
    Milestoned
        The trajectories, with the frame at which each first touches a core.

    Raises
    ------
    ValueError
        If no trajectory touches a core.

    Warns
    -----
    UserWarning
        If trajectories touch no core. They are left out, and listed in `Milestoned.untouched`.

    See Also
    --------
    kinetics.markov_model : A Markov model of the result.
    find_milestones : Cores for this purpose.

    References
    ----------
    * N.-V. Buchete and G. Hummer, *Coarse Master Equations for Peptide Folding Dynamics*, J. Phys. Chem. B
      112 (2008) 6057-6069.
    * C. Schütte, F. Noé, J. Lu, M. Sarich and E. Vanden-Eijnden, *Markov State Models Based on Milestoning*,
      J. Chem. Phys. 134 (2011) 204105.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([np.zeros((5, 1)), np.zeros((2, 1))])
    >>> labels = np.array([-1, 0, -1, 1, -1, 1, 0])
    >>> cores = mf.Cores(np.maximum(labels, 0), labels, [1, 3], [np.inf, 1.0])
    >>> result = mf.kinetics.milestoned_dtrajs(data, cores)
    >>> result.dtrajs, result.offsets
    ([array([0, 0, 1, 1], dtype=int32), array([1, 0], dtype=int32)], array([1, 0]))
    """
    milestoned = milestone(core_dtrajs(data, cores))
    if milestoned.untouched:
        numbers = ", ".join(map(str, milestoned.untouched[:6])) + ", ..." * (len(milestoned.untouched) > 6)
        warn_user(
            f"{len(milestoned.untouched)} of {data.n_trajectories} trajectories touch no core and are left "
            f"out: {numbers}. Larger cores are touched more often: see `find_cores`."
        )
    return milestoned


def milestone(dtrajs: list[np.ndarray]) -> Milestoned:
    """Carry the last core forward in discrete trajectories with -1 outside every core; no warning.

    Examples
    --------
    >>> milestone([np.array([-1, 2, -1]), np.array([-1])]).dtrajs
    [array([2, 2], dtype=int32)]
    """
    kept, offsets, trajectories, untouched = [], [], [], []
    for number, dtraj in enumerate(dtrajs):
        inside = np.flatnonzero(dtraj >= 0)
        if len(inside) == 0:
            untouched.append(number)
            continue
        last = np.zeros(len(dtraj), np.int64)
        last[inside] = inside
        last = np.maximum.accumulate(last)[inside[0] :]
        kept.append(dtraj[last].astype(np.int32))
        offsets.append(inside[0])
        trajectories.append(number)
    if not kept:
        raise InputValueError(
            f"`cores` must be touched by at least one trajectory; got {len(dtrajs)} trajectories outside "
            "every core. Take larger cores (`rule` of `find_cores`), or those of these frames."
        )
    return Milestoned(kept, np.array(offsets), np.array(trajectories), tuple(untouched))


def transition_counts(data: Trajectories, cores: Cores) -> np.ndarray:
    """Count the observed transitions from each core to the next other core.

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    cores : Cores
        Of its frames.

    Returns
    -------
    (K, K) int64
        The number of transitions from the state of the row to the state of the column; zero on the diagonal.

    See Also
    --------
    kinetics.milestoned_dtrajs : The trajectories in which transitions are counted.
    kinetics.visits : Measure the duration of visits.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([np.zeros((5, 1)), np.zeros((2, 1))])
    >>> labels = np.array([-1, 0, -1, 1, -1, 1, 0])
    >>> cores = mf.Cores(np.maximum(labels, 0), labels, [1, 3], [np.inf, 1.0])
    >>> mf.kinetics.transition_counts(data, cores)
    array([[0, 1],
           [1, 0]])
    """
    check_unbiased(data)
    check_cores(data, cores)
    counts = np.zeros((len(cores), len(cores)), np.int64)
    for dtraj in milestone(core_dtrajs(data, cores)).dtrajs:
        moved = np.flatnonzero(np.diff(dtraj))
        np.add.at(counts, (dtraj[moved], dtraj[moved + 1]), 1)
    return counts


def check_memberships(data: Trajectories, memberships: Memberships) -> None:
    """Raise unless `memberships` are of the frames of `data`."""
    check_data(data)
    remedy = "`solve_memberships` makes them; a clustering holds them as `result.memberships`."
    check_type("memberships", memberships, Memberships, remedy=remedy)
    _check_rows("memberships", len(memberships), data)


def check_cores(data: Trajectories, cores: Cores) -> None:
    """Raise unless `cores` are of the frames of `data`."""
    check_data(data)
    remedy = "`find_cores` makes them; a clustering holds them as `result.cores`."
    check_type("cores", cores, Cores, remedy=remedy)
    _check_rows("cores", len(cores.core_of), data)


def check_data(data: Trajectories) -> None:
    """Raise unless `data` are frames or features."""
    if not isinstance(data, Trajectories):
        raise InputTypeError(
            f"`data` must be `Frames` or `Features`; got {type(data).__name__}. `load` and `Features` make "
            "them; a clustering holds them as `result.data`."
        )


def check_unbiased(data: Trajectories) -> None:
    """Raise if the frames have weights: a bias changes the kinetics, and weights cannot undo that."""
    if isinstance(data, Trajectories) and data.weights is not None:
        raise InputValueError(f"`data` must have no weights for kinetics; got {data!r}. {NO_KINETICS}")


def _check_rows(name: str, rows: int, data: Trajectories) -> None:
    if rows != len(data):
        raise InputValueError(f"`{name}` must be of the frames of `data`, {len(data)}; got {rows} frames.")

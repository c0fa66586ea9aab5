"""Observed outcomes of each frame: the next core that the molecule reaches, and the last one it left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, ReadOnly, check_choice, read_only
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_data, check_unbiased
from mdfuzzy.states.cores import Cores

Direction = Literal["next", "last"]


@dataclass(frozen=True, eq=False)
class Outcomes(ReadOnly):
    """Hold the core that follows and the core that precedes every frame in its trajectory.

    Attributes
    ----------
    next : (n,) int32
        The first core at or after each frame; -1 where the trajectory ends before it reaches one (censored).
    last : (n,) int32
        The last core at or before each frame; -1 where the trajectory begins after it.
    transitions : (n,) int64
        The run of frames outside all cores that each frame belongs to, numbered from 0; -1 inside cores. All
        frames of a run have the same outcome, so runs, not frames, can count as independent.
    n_states : int
        The number of cores, K.

    See Also
    --------
    kinetics.find_outcomes : Compute the outcomes.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> from mdfuzzy.kinetics import find_outcomes
    >>> data = mf.Features([[[0.0]] * 6, [[0.0]] * 3])
    >>> found = find_outcomes(data, [0, -1, -1, 1, -1, -1, -1, 1, -1])
    >>> found.next
    array([ 0,  1,  1,  1, -1, -1,  1,  1, -1], dtype=int32)
    >>> found.last
    array([ 0,  0,  0,  1,  1,  1, -1,  1,  1], dtype=int32)
    >>> found.transitions
    array([-1,  0,  0, -1,  1,  1,  2, -1,  3])
    """

    next: np.ndarray
    last: np.ndarray
    transitions: np.ndarray
    n_states: int

    def __post_init__(self) -> None:
        for name in ("next", "last", "transitions"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.next)

    def __repr__(self) -> str:
        return f"Outcomes({len(self):,} frames, {self.n_states} cores, {self.n_transitions:,} transitions)"

    @property
    def n_transitions(self) -> int:
        """The number of runs of frames outside all cores."""
        return int(self.transitions.max(initial=-1)) + 1


def find_outcomes(data: Trajectories, cores: Cores | npt.ArrayLike) -> Outcomes:
    """Find the next core that the molecule reaches after each frame, and the last one it came from.

    Parameters
    ----------
    data : Frames or Features
        The data, with the boundaries of the trajectories: outcomes do not cross them.
    cores : Cores or (n,) int array
        The core of each frame, -1 outside.

    Returns
    -------
    Outcomes

    Raises
    ------
    ValueError
        If the cores are of other frames than `data`.

    See Also
    --------
    kinetics.calibration : Compare memberships with the outcomes.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.kinetics.find_outcomes(mf.Features([[[0.0]] * 4]), [0, -1, -1, 1])
    Outcomes(4 frames, 2 cores, 1 transitions)
    """
    labels, n_states = core_labels(data, cores)
    first = np.zeros(len(labels), bool)
    first[np.cumsum(data.lengths)[:-1]] = True
    outside = labels < 0
    begins = outside & (first | ~np.concatenate([[False], outside[:-1]]))
    transitions = np.where(outside, np.cumsum(begins) - 1, -1)
    after = [_carry(part[::-1])[::-1] for part in data.split(labels)]
    before = [_carry(part) for part in data.split(labels)]
    return Outcomes(np.concatenate(after), np.concatenate(before), transitions, n_states)


def core_labels(data: Trajectories, cores: Cores | npt.ArrayLike) -> tuple[np.ndarray, int]:
    """Return (the core of each frame, -1 outside, (n,) int32; the number of cores), or raise."""
    check_data(data)
    check_unbiased(data)
    labels = np.asarray(cores.core_of if isinstance(cores, Cores) else cores)
    if labels.shape != (len(data),) or not np.issubdtype(labels.dtype, np.integer) or labels.min() < -1:
        raise InputValueError(
            f"`cores` must be Cores or an int array of the core of each of the {len(data)} frames, -1 "
            f"outside; got shape {labels.shape} of {labels.dtype}. Pass the data of the cores."
        )
    n_states = len(cores) if isinstance(cores, Cores) else int(labels.max()) + 1
    return labels.astype(np.int32), n_states


def _carry(labels: np.ndarray) -> np.ndarray:
    """Carry the last label that is not -1 forward."""
    at = np.maximum.accumulate(np.where(labels >= 0, np.arange(len(labels)), -1))
    return np.where(at >= 0, labels[at], -1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Case:
    """Define the outcomes to predict and the frames to score.

    Attributes
    ----------
    data : Frames or Features
        The trajectories.
    labels : (n,) int32
        The core of each frame, -1 outside.
    found : Outcomes
        The observed outcomes.
    scored : (n,) bool
        The frames that count.
    backward : bool
        Whether the outcome is the core that the molecule came from.
    """

    data: Trajectories
    labels: np.ndarray
    found: Outcomes
    scored: np.ndarray
    backward: bool

    @property
    def n_states(self) -> int:
        """The number of cores, K."""
        return self.found.n_states

    @property
    def outcomes(self) -> np.ndarray:
        """The core to be predicted, (n,) int32."""
        return self.found.last if self.backward else self.found.next

    @property
    def n_transitions(self) -> int:
        """How many of the transitions that count lead from one core to another."""
        found = self.found
        moved = self.scored & (found.last >= 0) & (found.next >= 0) & (found.last != found.next)
        return len(np.unique(found.transitions[moved]))

    def frequencies(self, train: np.ndarray) -> np.ndarray:
        """How often each core comes next after the frames of `train`, (K,)."""
        seen = self.outcomes[self.scored & train]
        return np.bincount(seen, minlength=self.n_states) / len(seen)


def make_case(
    data: Trajectories, cores: Cores | npt.ArrayLike, direction: str, frames: npt.ArrayLike | None
) -> Case:
    """Return what is to be predicted, or raise if it is always the same."""
    backward = check_choice("direction", direction, ("next", "last")) == "last"
    labels, _ = core_labels(data, cores)
    found = find_outcomes(data, cores)
    outcomes = found.last if backward else found.next
    scored = (labels < 0) & (outcomes >= 0)
    if frames is not None:
        frames = np.asarray(frames)
        if frames.shape != (len(data),) or frames.dtype != bool:
            raise InputValueError(
                f"`frames` must be a bool array with one entry per frame, shape ({len(data)},); got shape "
                f"{frames.shape} of {frames.dtype}."
            )
        scored &= frames
    if len(np.unique(outcomes[scored])) < 2:
        reached = np.unique(outcomes[scored]).tolist()
        raise InputValueError(
            "`data` must hold transitions to at least 2 different cores, in trajectories whose frames are in "
            f"the order of time; got {len(np.unique(found.transitions[scored]))} usable transitions, to "
            f"cores {reached}. Take larger cores (`core_rule='share'`), longer trajectories, or beta as a "
            "number."
        )
    return Case(data, labels, found, scored, backward)

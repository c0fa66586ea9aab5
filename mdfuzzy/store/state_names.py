"""Names that states keep from run to run, independent of their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, product
from string import ascii_uppercase

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError

#: A state with less than this fraction of the expected number of earlier frames has appeared.
_FEW = 0.1


@dataclass(frozen=True, kw_only=True)
class StateNames:
    """Hold the names of the states of a run, and the changes since the previous run.

    Every run numbers its states again, by the size of their basins. A name stays with the state that holds
    most of its frames.

    Attributes
    ----------
    names : tuple of str
        The name of each state, in the order of their numbers: ``"A"`` to ``"Z"``, then ``"AA"``.
    events : tuple of str
        The states that appeared, vanished, split or merged since the previous run, a sentence each.
    used : int
        The number of names ever assigned. A name is not assigned twice.

    See Also
    --------
    RunDir.name_states : Match the states of a run with the states of the previous run.

    Examples
    --------
    >>> first = match_states(None, [0, 0, 0, 1, 1], n_states=2)
    >>> first.names
    ('A', 'B')
    >>> later = match_states((first, [0, 0, 0, 1, 1]), [1, 1, 2, 0, 0], n_states=3)
    >>> later.names, later.events
    (('B', 'A', 'C'), ('C split off from A, with 33 % of its earlier frames',))
    """

    names: tuple[str, ...]
    events: tuple[str, ...]
    used: int

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> StateNames:
        """Return the names that `arrays` returned."""
        names, events = (tuple(arrays[name].tolist()) for name in ("names", "events"))
        return cls(names=names, events=events, used=int(arrays["used"]))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the names as arrays, to be saved."""
        texts = {"names": self.names, "events": self.events}
        return {name: np.array(text, np.str_) for name, text in texts.items()} | {"used": np.array(self.used)}

    def __len__(self) -> int:
        return len(self.names)

    @property
    def changed(self) -> bool:
        """Whether the names differ from the letters in order, or states changed since the previous run."""
        return bool(self.events) or self.names != tuple(islice(_letters(), len(self)))

    def __str__(self) -> str:
        lines = ["states, by number and name: " + ", ".join(f"{s} = {n}" for s, n in enumerate(self.names))]
        return "\n".join([*lines, *self.events])


def match_states(
    earlier: tuple[StateNames, npt.ArrayLike] | None,
    labels: npt.ArrayLike,
    *,
    n_states: int,
    frames: npt.ArrayLike | None = None,
) -> StateNames:
    """Name states by their overlap with the states of an earlier run.

    States are paired such that the paired states share as many frames as possible. A pair keeps its name if
    it shares more than half of the frames of one of the two.

    Parameters
    ----------
    earlier : (StateNames, (m,) array of int), optional
        The earlier names, and the earlier state of each of the m frames; -1 for none.
    labels : (n,) array of int
        The present state of every frame; -1 for none.
    n_states : int
        The present number of states.
    frames : (m,) array of int, optional
        The present numbers of the earlier frames; the first m frames by default.

    Returns
    -------
    StateNames

    Examples
    --------
    >>> first = match_states(None, [0, 0, 1, 1], n_states=2)
    >>> match_states((first, [0, 0, 1, 1]), [0, 0, 0, 0, 1], n_states=2).events
    ('B merged into A', 'C appeared')
    """
    labels = np.asarray(labels)
    if earlier is None:
        return StateNames(names=tuple(islice(_letters(), n_states)), events=(), used=n_states)
    before, old = earlier[0], np.asarray(earlier[1])
    known = labels[np.arange(len(old)) if frames is None else np.asarray(frames)]
    if known.shape != old.shape:
        raise InputValueError(
            f"`frames` must hold the number of each earlier frame; got {len(known)} for {len(old)} frames."
        )
    shared = np.zeros((len(before), n_states))
    both = (old >= 0) & (known >= 0)
    np.add.at(shared, (old[both], known[both]), 1)
    kept = _pairs(shared)
    fresh = islice(_letters(), before.used, None)
    names = tuple(before.names[kept[s]] if s in kept else next(fresh) for s in range(n_states))
    due = np.bincount(labels[labels >= 0], minlength=n_states) * len(old) / len(labels)
    events = [_vanished(before.names, names, shared, s) for s in range(len(before)) if s not in kept.values()]
    events += [
        _appeared(before.names, names, shared, s, float(due[s])) for s in range(n_states) if s not in kept
    ]
    return StateNames(names=names, events=tuple(events), used=before.used + n_states - len(kept))


def _pairs(shared: np.ndarray) -> dict[int, int]:
    """Return the earlier state whose name each state keeps."""
    from scipy.optimize import linear_sum_assignment

    sizes, earlier_sizes = shared.sum(axis=0), shared.sum(axis=1)
    return {
        int(state): int(old)
        for old, state in zip(*linear_sum_assignment(-shared), strict=True)
        if shared[old, state] > min(sizes[state], earlier_sizes[old]) / 2
    }


def _vanished(before: Sequence[str], names: Sequence[str], shared: np.ndarray, old: int) -> str:
    total = shared[old].sum()
    if total == 0:
        return f"{before[old]} vanished"
    first = int(shared[old].argmax())
    if shared[old, first] > total / 2:
        return f"{before[old]} merged into {names[first]}"
    return f"{before[old]} vanished: its frames are now in {_list(names, shared[old] / total)}"


def _appeared(before: Sequence[str], names: Sequence[str], shared: np.ndarray, state: int, due: float) -> str:
    total = shared[:, state].sum()
    if total <= _FEW * due:
        return f"{names[state]} appeared"
    first = int(shared[:, state].argmax())
    if shared[first, state] > total / 2:
        share = shared[first, state] / shared[first].sum()
        return (
            f"{names[state]} split off from {before[first]}, with {100 * share:.2g} % of its earlier frames"
        )
    return f"{names[state]} appeared, of frames of {_list(before, shared[:, state] / total)}"


def _list(names: Sequence[str], shares: np.ndarray) -> str:
    order = [int(at) for at in np.argsort(-shares, kind="stable")[:3] if shares[at] > 0]
    return ", ".join(f"{names[at]} ({100 * shares[at]:.2g} %)" for at in order)


def _letters() -> islice[str]:
    """Return A to Z, AA to ZZ, and so on."""
    words = ("".join(letters) for length in count(1) for letters in product(ascii_uppercase, repeat=length))
    return islice(words, None)

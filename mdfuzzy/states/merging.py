"""Numbers of states after mergers of some of them."""

from collections.abc import Sequence

import numpy as np

from mdfuzzy._check import InputValueError, check_int


def merged_numbers(n_states: int, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the number of each state after the merger of groups of states, (K,) int64.

    The merged state takes the place of the first of its members, and the states are renumbered without gaps.

    Parameters
    ----------
    n_states : int
        The number of states.
    groups : sequence of sequences of int
        Each group holds the numbers of the states to merge; a state is in one group at most.

    Examples
    --------
    >>> merged_numbers(6, [[2, 5]])
    array([0, 1, 2, 3, 4, 2])
    """
    target = np.arange(n_states)
    seen: set[int] = set()
    for group in groups:
        members = [
            check_int("groups", state, 0, n_states - 1, remedy="Give numbers of states.") for state in group
        ]
        if len(members) < 2 or len(set(members)) != len(members) or seen & set(members):
            raise InputValueError(
                f"`groups` must hold at least 2 different states each, and each state once; got {group!r}. "
                "Put states that become one into one group."
            )
        seen |= set(members)
        target[members] = min(members)
    return np.unique(target, return_inverse=True)[1]

"""Keep the nearest targets of 64 queries in lists that are cut to the k nearest when they are full.

Targets are ordered by squared distance and then by the number of the frame, so the result does not depend on
the order in which targets come.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.candidates import settle_ties, sort_in_space
from mdfuzzy._kernels.search.lanes import LANES

#: No limit yet, squared: beyond all squared distances, and finite in float32.
NO_LIMIT = 9e35


class Lists(NamedTuple):
    """The targets of 64 queries."""

    targets: np.ndarray  # (LANES, room)
    squares: np.ndarray  # (LANES, room) exact squared norms
    filled: np.ndarray  # (LANES,)
    limit: np.ndarray  # (LANES,) squared: no target beyond it is wanted
    old_keys: np.ndarray
    old_items: np.ndarray
    place: np.ndarray
    first: np.ndarray


def lists(room: int) -> Lists:
    """Return space for `room` targets of each query."""
    return Lists(
        targets=np.empty((LANES, room), np.int32), squares=np.empty((LANES, room)),
        filled=np.empty(LANES, np.int64), limit=np.empty(LANES), old_keys=np.empty(room),
        old_items=np.empty(room, np.int32), place=np.empty(room, np.int32),
        first=np.empty(2 * room + 2, np.int32),
    )  # fmt: skip


@compiled()
def cut(lane, k, order, lists):  # IN, OUT lists
    """Sort a query's targets, and keep the k nearest. With k = 0 all are kept."""
    size = lists.filled[lane]
    targets, squares = lists.targets[lane, :size], lists.squares[lane, :size]
    sort_in_space(squares, targets, lists.old_keys, lists.old_items, lists.place, lists.first)
    if k > 0:
        settle_ties(squares, targets, order)
        if size >= k:
            lists.filled[lane] = k
            lists.limit[lane] = min(lists.limit[lane], squares[k - 1])


@compiled()
def has_room(lane, more, k, order, lists):  # IN, OUT lists
    """Make room for `more` targets of a query, or return False."""
    room = lists.targets.shape[1]
    # often: with an outdated limit, the additional targets cost more time than sorting
    if k > 0 and lists.filled[lane] + more > min(room, k + max(k // 2, LANES)):
        cut(lane, k, order, lists)
    return lists.filled[lane] + more <= room


@compiled()
def begin_lists(radii, lists):  # OUT filled, limit of lists
    """Empty the lists of queries with these radii (norms); empty lanes repeat the last."""
    for l in range(LANES):
        lists.filled[l] = 0
        lists.limit[l] = min(radii[min(l, len(radii) - 1)] ** 2, NO_LIMIT)


@compiled()
def hand_over_lists(size, row, at, lists, sizes, targets, squares):  # OUT sizes, targets, squares
    """Copy the lists of `size` queries to `row` of the sizes and `at` of the others; return where they end.

    -1 if there is no room.
    """
    if at + lists.filled[:size].sum() > len(targets):
        return -1
    for l in range(size):
        sizes[row + l] = lists.filled[l]
        for i in range(lists.filled[l]):
            targets[at], squares[at] = lists.targets[l, i], lists.squares[l, i]
            at += 1
    return at

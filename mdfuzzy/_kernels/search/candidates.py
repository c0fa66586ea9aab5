"""Collect the targets that may be among the nearest of 64 queries, and select the nearest.

A query counts the upper bounds |D|^2 of its candidates in bins. Its threshold, an upper bound of the k
smallest distances, can then be updated at almost no cost. Exact distances are computed for the last few
candidates only.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.rmsd import Scratch, fill_squared_distances, scratch

#: Bins of a tally: 32 octaves of 32.
BINS = 1024


class Tally(NamedTuple):
    """The numbers of candidates of 64 queries in bins of their upper bounds |D|^2.

    The bins end with the highest bin that the k smallest need. Values below the first bin are counted in
    it.
    """

    bins: np.ndarray  # (LANES, BINS)
    inside: np.ndarray  # (LANES,) the total number
    highest: np.ndarray  # (LANES,)


@compiled()
def bin_of(squared):
    """Return the bin of a squared length among all positive float32 numbers, 32 to an octave: its exponent
    and five leading bits.
    """
    return np.int64(np.float32(squared).view(np.int32) >> 18)


@compiled()
def lower_edge(bin_number):
    """Return the smallest number of a bin."""
    return np.float64(np.int32(bin_number << 18).view(np.float32))


@compiled()
def sort_together(keys, items):  # IN, OUT keys, items
    """Sort `keys`, and `items` along with them."""
    n = len(keys)
    sort_in_space(
        keys, items, np.empty(n), np.empty_like(items), np.empty(n, np.int32), np.empty(2 * n + 2, np.int32)
    )


@compiled()
def sort_in_space(keys, items, old_keys, old_items, place, first):  # IN, OUT keys, items; OUT the others
    """Sort `keys` with `items` in given space, for n keys, n items, n places and 2 n + 2 bins.

    Keys are first sorted into bins of equal width, two for each key, without branches that could be
    mispredicted. Then only keys in the same bin may be out of order. Shell's method sorts these, beginning
    with gaps as long as the fullest bin.
    """
    n = len(keys)
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, keys[i]), max(high, keys[i])
    if not high - low > 1e-290:  # also if the width of the bins is zero
        return
    scale = 2 * n / (high - low)
    for b in range(2 * n + 2):
        first[b] = 0
    for i in range(n):
        old_keys[i], old_items[i] = keys[i], items[i]
        place[i] = np.int32((keys[i] - low) * scale)
        first[place[i] + 1] += 1
    gap = 1
    for b in range(2 * n + 1):
        gap = max(gap, first[b + 1])
        first[b + 1] += first[b]
    for i in range(n):
        at = first[place[i]]
        first[place[i]] = at + 1
        keys[at], items[at] = old_keys[i], old_items[i]
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for i in range(gap, n):
            key, item = keys[i], items[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j], items[j] = keys[j - gap], items[j - gap]
                j -= gap
            keys[j], items[j] = key, item


@compiled()
def settle_ties(exact, kept, order):  # IN, OUT kept
    """Order equal distances by frame, so that the nearest frames do not depend on the cells."""
    for i in range(1, len(kept)):
        item, hole = kept[i], i
        while hole > 0 and exact[hole - 1] == exact[i] and order[kept[hole - 1]] > order[item]:
            kept[hole] = kept[hole - 1]
            hole -= 1
        kept[hole] = item


@compiled()
def drop_distant(lane, targets, bounds, count, squared):  # IN, OUT targets, bounds
    """Drop a lane's candidates whose bound is above the threshold `squared`; return how many are left."""
    left = 0
    for i in range(count):
        targets[lane, left], bounds[lane, left] = targets[lane, i], bounds[lane, i]
        left += 1 if bounds[lane, i] <= squared else 0
    return left


class Settling(NamedTuple):
    """Work space of `settle`, allocated once, because repeated allocation takes time."""

    kept: np.ndarray
    exact: np.ndarray
    old_keys: np.ndarray
    old_items: np.ndarray
    place: np.ndarray
    first: np.ndarray
    distances: Scratch


def settling(width: int, room: int) -> Settling:
    """Return space to settle up to `room` candidates, frames of `width` numbers."""
    return Settling(
        kept=np.empty(room, np.int32), exact=np.empty(room), old_keys=np.empty(room),
        old_items=np.empty(room, np.int32), place=np.empty(room, np.int32),
        first=np.empty(2 * room + 2, np.int32), distances=scratch(width),
    )  # fmt: skip


@compiled()
def settle(lane, queries, members, cells, k, work):  # OUT targets, bounds, filled of work
    """Compute exact distances of a lane's candidates; keep, in order, the k nearest or, with k = 0, all.

    Candidates whose bound or distance is above the threshold are left out. Among equal distances, the frame
    of lower number comes first.
    """
    targets, bounds, space = work.targets, work.bounds, work.settling
    squared = work.threshold[lane] ** 2
    left = drop_distant(lane, targets, bounds, work.filled[lane], squared)
    kept, exact = space.kept[:left], space.exact[:left]
    for i in range(left):
        kept[i] = targets[lane, i]
    query, norm = queries.flat[members[lane]], work.norm[lane]
    fill_squared_distances(query, norm, cells.flat, cells.norms, kept, exact, space.distances)
    sort_in_space(exact, kept, space.old_keys, space.old_items, space.place, space.first)
    if k > 0:
        settle_ties(exact, kept, cells.order)
    size = 0
    while size < left and (size < k or k == 0) and (k > 0 or exact[size] <= squared):
        targets[lane, size], bounds[lane, size] = kept[size], exact[size]
        size += 1
    work.filled[lane] = size


@compiled(nogil=True)
def hand_over(targets, squares, order, atoms, rows, indices, distances):  # OUT indices, distances
    """Set the rows of the result that belong to queries: frames, and RMSDs from squared norms."""
    for l in range(len(rows)):
        row = rows[l]
        for i in range(indices.shape[1]):
            indices[row, i] = order[targets[l, i]]
        for i in range(indices.shape[1]):  # a separate loop, which the compiler can vectorise
            distances[row, i] = np.sqrt(squares[l, i] / atoms)

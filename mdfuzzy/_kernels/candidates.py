"""The targets that may be among the nearest of 64 queries, and how the nearest are picked out of them.

A query tallies the upper bounds |D|^2 of its candidates in bins, so that its threshold, an upper bound of the
k smallest distances, costs nothing to keep up. Exact distances are computed for the last few candidates only.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import kernel
from mdfuzzy._kernels.rmsd import squared_distances

#: Bins of a tally: 32 octaves of 32.
BINS = 1024


class Tally(NamedTuple):
    """How many candidates of 64 queries have an upper bound |D|^2 in which bin, up to the highest bin that
    the k smallest need. What is below the first bin counts there.
    """

    bins: np.ndarray  # (LANES, BINS)
    inside: np.ndarray  # (LANES,) how many in all
    highest: np.ndarray  # (LANES,)


@kernel()
def bin_of(squared):
    """Return the bin of a squared length among all positive float32 numbers, 32 to an octave: its exponent
    and five leading bits.
    """
    return np.int64(np.float32(squared).view(np.int32) >> 18)


@kernel()
def lower_edge(bin_number):
    """Return the smallest number of a bin."""
    return np.float64(np.int32(bin_number << 18).view(np.float32))


@kernel()
def sort_together(keys, items):  # IN, OUT keys, items
    """Sort `keys`, and `items` along with them.

    Into bins of equal width first, two for each key: no branches to mispredict. What is still out of order is
    so within a bin, and Shell's method ends it, beginning with gaps as long as the fullest bin.
    """
    n = len(keys)
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, keys[i]), max(high, keys[i])
    if not high - low > 1e-290:  # also a width of bins that divides by zero
        return
    old_keys, old_items = keys.copy(), items.copy()
    place, first = np.empty(n, np.int32), np.zeros(2 * n + 2, np.int32)
    scale = 2 * n / (high - low)
    for i in range(n):
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


@kernel()
def settle_ties(exact, kept, order):  # IN, OUT kept
    """Let the smaller frame come first among equal distances: so the nearest do not depend on the cells."""
    for i in range(1, len(kept)):
        item, hole = kept[i], i
        while hole > 0 and exact[hole - 1] == exact[i] and order[kept[hole - 1]] > order[item]:
            kept[hole] = kept[hole - 1]
            hole -= 1
        kept[hole] = item


@kernel()
def drop_distant(lane, targets, bounds, count, squared):  # IN, OUT targets, bounds
    """Drop a lane's candidates whose bound is above the threshold `squared`; return how many are left."""
    left = 0
    for i in range(count):
        targets[lane, left], bounds[lane, left] = targets[lane, i], bounds[lane, i]
        left += 1 if bounds[lane, i] <= squared else 0
    return left


@kernel()
def settle(
    first, last, queries, members, norm, cells, targets, bounds, filled, threshold, k
):  # OUT targets, bounds, filled
    """Compute exact distances of the candidates of some lanes; keep, in order, the k nearest or, with k = 0,
    all.

    Those whose bound, or distance, is above the threshold are left out; of equally near ones the first frames
    are nearer.
    """
    for l in range(first, last):
        squared = threshold[l] ** 2
        left = drop_distant(l, targets, bounds, filled[l], squared)
        kept, exact = targets[l, :left].copy(), np.empty(left)
        squared_distances(queries.flat[members[l]], norm[l], cells.flat, cells.norms, kept, exact)
        sort_together(exact, kept)
        if k > 0:
            settle_ties(exact, kept, cells.order)
        size = 0
        while size < left and (size < k or k == 0) and (k > 0 or exact[size] <= squared):
            targets[l, size], bounds[l, size] = kept[size], exact[size]
            size += 1
        filled[l] = size


@kernel(nogil=True)
def hand_over(targets, bounds, order, atoms, rows, indices, distances):  # OUT indices, distances
    """Set the rows of the result that belong to queries: frames, and RMSDs from squared norms."""
    for l in range(len(rows)):
        row = rows[l]
        for i in range(indices.shape[1]):
            indices[row, i] = order[targets[l, i]]
        for i in range(indices.shape[1]):  # a loop of its own, which vectorises
            distances[row, i] = np.sqrt(bounds[l, i] / atoms)

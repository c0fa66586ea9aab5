"""Improve neighbour lists: the neighbours of the neighbours of a frame are likely to be its neighbours.

Every round reads the lists of the previous round and writes new ones, so the result does not depend on the
order of frames or on threads.
"""

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.boxes import widened
from mdfuzzy._kernels.search.candidates import settle_ties, sort_in_space
from mdfuzzy._kernels.search.lanes import LANES, correlate, load_lanes
from mdfuzzy._kernels.search.rmsd import fill_squared_distances, scratch
from mdfuzzy._kernels.search.tiles import polynomial_signs


@compiled(fastmath=True, forceinline=True)
def sketch_distance(rows, i, j):
    """Return the squared distance of two sketches."""
    total = np.float32(0)
    for p in range(rows.shape[1]):
        d = rows[i, p] - rows[j, p]
        total += d * d
    return total


@compiled(forceinline=True)
def dismiss(i, queries, slack, limit, candidates, count, block, m, level, sign):  # IN, OUT candidates
    """Drop candidates whose leading modes are farther than the squared `limit`; return the number left.

    OUT, as space: block, m, level, sign.
    """
    kept = 0
    wanted, inverse = queries.norms[i] - limit, 0.5 * queries.inverse[i]
    for first in range(0, count, LANES):
        size = min(LANES, count - first)
        load_lanes(queries.lead, candidates, first, size, block)
        correlate(block, queries.lead[i], m)
        for l in range(LANES):
            c = candidates[first + min(l, size - 1)]
            reached = (wanted + queries.norms[c]) * inverse * queries.inverse[c]
            level[l] = reached - slack - queries.rest[i] * queries.rest[c]
        polynomial_signs(m, level, sign)
        for l in range(size):
            candidates[kept] = candidates[first + l]
            kept += 1 if sign[l] <= 0 else 0
    return kept


@compiled(nogil=True)
def descend(
    first, last, queries, order, slack, near, squares, fresh, known, window, new_near, new_squares, new_fresh
):  # OUT new_*
    """Set the nearest frames of `first` to `last` among the known neighbours and the neighbours of these.

    `near` and `squares` (n, k) are the lists of all frames, in order; `fresh` marks the entries that the
    previous round has found. Each frame is compared with the first window[1] neighbours of its first
    window[0] neighbours, except for pairs that the previous round, with the window `known`, has compared.
    """
    queries = borrowed(queries)
    n, k = near.shape
    width, reach = window
    rows, room = queries.sketches.rows, k + width * reach
    modes = queries.lead.shape[1]
    stamp = np.zeros(n, np.int64)
    candidates, exact = np.empty(room, np.int32), np.empty(room)
    old_keys, old_items = np.empty(room), np.empty(room, np.int32)
    place, bins = np.empty(room, np.int32), np.empty(2 * room + 2, np.int32)
    space = scratch(queries.flat.shape[1])
    block, m = np.empty(modes * LANES, np.float32), np.empty(9 * LANES, np.float32)
    level, sign = np.empty(LANES), np.empty(LANES, np.float32)
    for i in range(first, last):
        tag = 2 * i + 1  # of what is in the list, and tag + 1 of candidates
        stamp[i] = tag
        for a in range(k):
            stamp[near[i, a]] = tag
        farthest = squares[i, k - 1]
        limit = widened(farthest, 2 * queries.sketches.reach[i])
        count = 0
        for a in range(width):
            j = near[i, a]
            seen = known[1] if a < known[0] and not fresh[i, a] else 0
            for b in range(reach):
                c = near[j, b]
                if (b >= seen or fresh[j, b]) and stamp[c] < tag:
                    stamp[c] = tag + 1
                    candidates[count] = c
                    count += 1 if sketch_distance(rows, i, c) <= limit else 0
        if modes > 0:
            count = dismiss(i, queries, slack, farthest, candidates, count, block, m, level, sign)
        fill_squared_distances(
            queries.flat[i], queries.norms[i], queries.flat, queries.norms, candidates[:count], exact[:count],
            space,
        )  # fmt: skip
        kept = 0
        for a in range(count):
            candidates[kept], exact[kept] = candidates[a], exact[a]
            kept += 1 if exact[a] <= farthest else 0
        for a in range(k):
            candidates[kept], exact[kept] = near[i, a], squares[i, a]
            kept += 1
        sort_in_space(exact[:kept], candidates[:kept], old_keys, old_items, place, bins)
        settle_ties(exact[:kept], candidates[:kept], order)
        for a in range(k):
            new_near[i, a], new_squares[i, a] = candidates[a], exact[a]
            new_fresh[i, a] = stamp[candidates[a]] == tag + 1

"""Better neighbours from good ones: the neighbours of a frame's neighbours are likely to be its own.

Every round reads the lists of the round before and writes new ones, so the result does not depend on the
order in which frames are looked at, nor on threads.
"""

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.boxes import widened
from mdfuzzy._kernels.search.candidates import settle_ties, sort_in_space
from mdfuzzy._kernels.search.rmsd import fill_squared_distances, scratch


@compiled(fastmath=True, forceinline=True)
def sketch_distance(rows, i, j):
    """Return the squared distance of two sketches."""
    total = np.float32(0)
    for p in range(rows.shape[1]):
        d = rows[i, p] - rows[j, p]
        total += d * d
    return total


@compiled(nogil=True)
def descend(first, last, queries, order, near, squares, width, reach, new_near, new_squares):  # OUT new_*
    """Set the nearest frames of `first` to `last` among those known and the neighbours of their neighbours.

    `near` and `squares` (n, k) are the lists of all frames, in order. Of each frame's first `width`
    neighbours, the first `reach` neighbours are compared with it.
    """
    queries = borrowed(queries)
    n, k = near.shape
    rows, room = queries.sketches.rows, k + width * reach
    stamp = np.zeros(n, np.int32)
    candidates, exact = np.empty(room, np.int32), np.empty(room)
    old_keys, old_items = np.empty(room), np.empty(room, np.int32)
    place, bins = np.empty(room, np.int32), np.empty(2 * room + 2, np.int32)
    space = scratch(queries.flat.shape[1])
    for i in range(first, last):
        tag = i + 1
        stamp[i] = tag
        for a in range(k):
            stamp[near[i, a]] = tag
        farthest = squares[i, k - 1]
        limit = widened(farthest, 2 * queries.sketches.reach[i])
        count = 0
        for a in range(width):
            j = near[i, a]
            for b in range(reach):
                c = near[j, b]
                if stamp[c] != tag:
                    stamp[c] = tag
                    candidates[count] = c
                    count += 1 if sketch_distance(rows, i, c) <= limit else 0
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

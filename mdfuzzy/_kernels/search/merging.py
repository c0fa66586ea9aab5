"""Merge rows of neighbours."""

import numpy as np

from mdfuzzy._kernels.jit import compiled


@compiled(nogil=True)
def merge_rows(
    start_a,
    frames_a,
    squares_a,
    start_b,
    frames_b,
    squares_b,
    start,
    frames,  # OUT
    squares,  # OUT
):
    """Fill each row with the first of two rows, both in order of squares and then of frames.

    Row i is at start[i] to start[i + 1]; it is filled as far as there is room.
    """
    for row in range(len(start) - 1):
        a, b = start_a[row], start_b[row]
        end_a, end_b = start_a[row + 1], start_b[row + 1]
        for at in range(start[row], start[row + 1]):
            first = b == end_b
            if not first and a < end_a:
                first = squares_a[a] < squares_b[b] or (
                    squares_a[a] == squares_b[b] and frames_a[a] < frames_b[b]
                )
            if first:
                frames[at], squares[at] = frames_a[a], squares_a[a]
                a += 1
            else:
                frames[at], squares[at] = frames_b[b], squares_b[b]
                b += 1


@compiled(nogil=True)
def merge_least(
    sizes_a, targets_a, squares_a, sizes_b, targets_b, squares_b, itself, order, k, stamp, space
):  # OUT sizes_a, targets_a, squares_a, stamp, space
    """Merge two ordered lists for each query; of a target in both lists, the nearer entry is kept.

    The lists follow each other without gaps. At most `k` targets are kept (0: all); among equal distances,
    the first by `order`. `itself` is the target that is the same frame as a query of the second lists, or -1.
    `stamp` has a number for each target, smaller than the numbers used here, and at its end the last number
    used. Return the number of targets in all, or -1 if there is no room in `space` (targets, squares) or in
    the first lists.
    """
    new_targets, new_squares = space
    a = b = at = 0
    tag = stamp[-1]
    for row in range(len(sizes_a)):
        end_a, end_b, start = a + sizes_a[row], b + sizes_b[row], at
        tag += 1
        if itself[row] >= 0:
            stamp[itself[row]] = tag
        while (a < end_a or b < end_b) and (k == 0 or at - start < k):
            first = b == end_b
            if not first and a < end_a:
                first = squares_a[a] < squares_b[b] or (
                    squares_a[a] == squares_b[b] and order[targets_a[a]] < order[targets_b[b]]
                )
            target, squared = (targets_a[a], squares_a[a]) if first else (targets_b[b], squares_b[b])
            if first:
                a += 1
            else:
                b += 1
            if stamp[target] != tag:
                stamp[target] = tag
                if at == len(new_targets):
                    return -1
                new_targets[at], new_squares[at] = target, squared
                at += 1
        a, b, sizes_a[row] = end_a, end_b, at - start
    stamp[-1] = tag
    if at > len(targets_a):
        return -1
    targets_a[:at], squares_a[:at] = new_targets[:at], new_squares[:at]
    return at


@compiled(nogil=True)
def merge_with_new(
    first, last, indices, distances, reach, start, new_indices, new_distances, found, lengths
):  # OUT found, lengths
    """Merge the rows first to last of known lists with lists of new frames; an infinite distance ends a list.

    Known lists are rows of `indices` and `distances`. The new lists follow each other, row i at start[i] to
    start[i + 1]. Both are in order. If a known and a new frame have equal distances, their order is unknown
    because of rounding: the row then ends there. It also ends beyond its `reach`. Distances of zero are exact
    and are in the order of frames.
    """
    known, width = indices.shape[1], found.shape[1]
    for row in range(first, last):
        a, b, end, at = 0, start[row], start[row + 1], 0
        while at < width:
            one = distances[row, a] if a < known else np.float32(np.inf)
            other = new_distances[b] if b < end else np.float32(np.inf)
            if min(one, other) > reach[row] or (one == other and one > 0):
                break
            if one < other or (one == other and indices[row, a] < new_indices[b]):
                found[row, at], lengths[row, at] = indices[row, a], one
                a += 1
            else:
                found[row, at], lengths[row, at] = new_indices[b], other
                b += 1
            at += 1
        for i in range(at, width):
            found[row, i], lengths[row, i] = 0, np.inf

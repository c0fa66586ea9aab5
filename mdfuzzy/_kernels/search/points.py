"""Find exact neighbours of points in Euclidean distance, 64 queries against leaves of 64 targets.

Sketches in float32 dismiss targets (`boxes`). The distances of the remaining targets are computed in float64
from differences of coordinates, because |x|^2 + |y|^2 - 2 x.y would lose the digits of distances that are
small compared with |x|.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed, first_member, member_count
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.boxes import (
    Boxes,
    Front,
    Sketches,
    begin_group,
    front,
    leaf_block,
    next_leaves,
    queries_at_leaf,
    targets_at_leaf,
)
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.lists import (
    NO_LIMIT,
    Lists,
    begin_lists,
    cut,
    hand_over_lists,
    has_room,
    lists,
)


class PointQueries(NamedTuple):
    """The points whose neighbours are searched; points near each other are stored side by side."""

    points: np.ndarray  # (n, dimensions) float64
    sketches: Sketches


class Exchanges(NamedTuple):
    """Coordinates of equivalent atoms, in groups that are permuted independently of each other."""

    fixed: np.ndarray  # (1,) how many coordinates are first and stay
    start: np.ndarray  # (groups + 1,) where those of each group start, and the last one ends
    table: np.ndarray  # (groups + 1,) where the permutations of each group start, and the last one ends
    permutations: np.ndarray  # of all groups in turn: coordinates of the other point, by their columns


class PointTargets(NamedTuple):
    """The points among which neighbours are searched, in the order of the leaves."""

    points: np.ndarray  # (n, dimensions) float64
    boxes: Boxes
    exchanges: Exchanges


class PointWork(NamedTuple):
    """Work space for the search of 64 queries, allocated once."""

    lists: Lists
    front: Front


def point_work(targets: PointTargets, room: int) -> PointWork:
    """Return work space for groups of queries that hold up to `room` targets each."""
    return PointWork(lists(room), front(targets.boxes))


@compiled()
def squared_difference(x, i, y, j, dimensions):
    """Return |x[i] - y[j]|^2 over the first `dimensions`, summed in four parts.

    The order of the sum is always the same, so the value for (j, i) is identical.
    """
    a = b = c = d = 0.0
    whole = dimensions // 4 * 4
    for p in range(0, whole, 4):
        da, db = x[i, p] - y[j, p], x[i, p + 1] - y[j, p + 1]
        dc, dd = x[i, p + 2] - y[j, p + 2], x[i, p + 3] - y[j, p + 3]
        a, b, c, d = a + da * da, b + db * db, c + dc * dc, d + dd * dd
    for p in range(whole, dimensions):
        da = x[i, p] - y[j, p]
        a += da * da
    return (a + b) + (c + d)


@compiled()
def least_squared_difference(x, i, y, j, exchanges):
    """Return the least |x[i] - g y[j]|^2 over the permutations g: the sum of the least of each group."""
    total = squared_difference(x, i, y, j, exchanges.fixed[0])
    for group in range(len(exchanges.start) - 1):
        first, last = exchanges.start[group], exchanges.start[group + 1]
        least = np.inf
        for row in range(exchanges.table[group], exchanges.table[group + 1], last - first):
            squared = 0.0
            for p in range(last - first):
                d = x[i, first + p] - y[j, exchanges.permutations[row + p]]
                squared += d * d
            least = min(least, squared)
        total += least
    return total


@compiled(forceinline=True)
def search_points_group(queries, first, size, own, targets, radii, k, work, counts):
    """Find the k nearest targets, or with k = 0 all within its radius, of up to 64 queries.

    They are in the lists of `work`, in order. Return False if there is no room for them.
    """
    queries, targets, work = borrowed(queries), borrowed(targets), borrowed(work)
    boxes, lists, limit = targets.boxes, work.lists, work.lists.limit
    filled, listed, squares = lists.filled, lists.targets, lists.squares
    room = listed.shape[1]
    plain, dimensions = len(targets.exchanges.start) == 1, targets.points.shape[1]
    enough = min(room, k + max(k // 2, LANES)) if k > 0 else room
    begin_lists(radii, lists)
    begin_group(queries.sketches, first, size, boxes, work.front)
    leaves = np.empty(0, np.int64)
    for stage in range(2):
        leaves = next_leaves(stage, leaves, k, limit, boxes, work.front)
        for i in range(len(leaves)):
            leaf = leaves[i]
            block, base = leaf_block(boxes, leaf), leaf * LANES
            left = queries_at_leaf(leaf, stage, size, limit, boxes, work.front)
            counts[0] += LANES * member_count(left)
            while left:
                l = first_member(left)
                left &= left - np.uint64(1)
                bits = targets_at_leaf(l, first + l, own, leaf, limit[l], boxes, block, work.front)
                if not bits:
                    continue
                if filled[l] + LANES > enough and not has_room(l, LANES, k, boxes.order, lists):
                    return False
                counts[1] += member_count(bits)
                at, bound = filled[l], limit[l]
                while bits:
                    target = base + first_member(bits)
                    bits &= bits - np.uint64(1)
                    if plain:
                        squared = squared_difference(
                            queries.points, first + l, targets.points, target, dimensions
                        )
                    else:
                        squared = least_squared_difference(
                            queries.points, first + l, targets.points, target, targets.exchanges
                        )
                    listed[l, at], squares[l, at] = target, squared
                    at += 1 if squared <= bound else 0
                filled[l] = at
                if bound >= NO_LIMIT and 0 < k <= at:
                    cut(l, k, boxes.order, lists)
    for l in range(size):
        cut(l, k, boxes.order, lists)
    return True


@compiled(nogil=True)
def search_points(queries, first, last, own, targets, radii, k, work, sizes, found, squares, counts):
    """Search some groups of queries one after another; return the number of finished groups.

    The results are arranged as by `knn.search_groups`, with squared distances. The counts of each group are
    the pairs tested by sketches and the exact distances.
    """
    row = at = 0
    for g in range(len(first)):
        size = last[g] - first[g]
        limits = radii[row : row + size]
        if not search_points_group(queries, first[g], size, own, targets, limits, k, work, counts[g]):
            return g
        at = hand_over_lists(size, row, at, work.lists, sizes, found, squares)
        if at < 0:
            return g
        row += size
    return len(first)

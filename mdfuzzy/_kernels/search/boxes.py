"""Find points near a query in Euclidean space, by boxes around leaves of 64 points.

The points are *sketches*: a few coordinates whose distances are lower bounds of the true distances. For
feature vectors these are the coordinates on principal axes. For frames they are the distances of the atoms
from the centroid, on principal axes, because no superposition changes them:

    atoms * RMSD(x, y)^2  >=  sum_a (|x_a| - |y_a|)^2.

The last row may be the norm of the part of the vector that the axes leave out. The difference of two norms is
at most the norm of the difference, so this row can be used like any other coordinate.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.intrinsics import lanes_near, members_within
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.candidates import sort_together
from mdfuzzy._kernels.search.cells import FAR
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.lists import NO_LIMIT

#: Number of targets that are compared with a query together; runs of this length are kept compact, too.
PART = 8
#: Rounding of sketches and their differences: 16 times the unit of float32, as a share of the two norms.
SLACK = 2.0**-20


class Boxes(NamedTuple):
    """Sketches of targets in leaves. Squared norms of frames are below 1e30, so nothing overflows float32."""

    order: np.ndarray  # (n,) which frame or point each is
    blocks: np.ndarray  # (leaves * rows * LANES,) sketches
    low: np.ndarray  # (rows, leaves) their boxes
    high: np.ndarray  # (rows, leaves)
    reach: np.ndarray  # (leaves,) the largest norm of a member


class Sketches(NamedTuple):
    """Sketches of queries; queries that are near each other are stored side by side."""

    rows: np.ndarray  # (n, rows) float32; a multiple of 4 rows
    reach: np.ndarray  # (n,) norms, or more


@compiled(nogil=True)
def fill_boxes(sketches, boxes):  # OUT all but order of boxes
    """Put sketches, in the order of the targets, into leaves."""
    n, rows = sketches.rows.shape
    for leaf in range(len(boxes.reach)):
        base = leaf * LANES
        size = min(LANES, n - base)
        for p in range(rows):
            low = high = sketches.rows[base, p]
            at = (leaf * rows + p) * LANES
            for l in range(LANES):
                boxes.blocks[at + l] = FAR
            for l in range(size):
                x = sketches.rows[base + l, p]
                boxes.blocks[at + l] = x
                low, high = min(low, x), max(high, x)
            boxes.low[p, leaf], boxes.high[p, leaf] = low, high
        largest = 0.0
        for l in range(size):
            largest = max(largest, sketches.reach[base + l])
        boxes.reach[leaf] = largest


@compiled(fastmath=True)
def box_gaps(boxes, low, high, gaps, middles):  # OUT gaps, middles
    """Set the squared distance of every leaf's box from a box, and the squared distance of their centres."""
    for leaf in range(len(gaps)):
        gaps[leaf], middles[leaf] = 0, 0
    for p in range(len(low)):
        a, b, middle = low[p], high[p], np.float32(0.5) * (low[p] + high[p])
        lows, highs = boxes.low[p], boxes.high[p]
        for leaf in range(len(gaps)):
            gap = max(max(lows[leaf] - b, a - highs[leaf]), np.float32(0))
            off = np.float32(0.5) * (lows[leaf] + highs[leaf]) - middle
            gaps[leaf] += gap * gap
            middles[leaf] += off * off


@compiled(fastmath=True)
def queries_reached(sketch, boxes, leaf, limits, out):  # OUT out
    """Return which of 64 queries, a lane block, have a leaf's box within their squared limits (float32)."""
    for l in range(LANES):
        out[l] = 0
    for p in range(len(boxes.low)):
        a, b = boxes.low[p, leaf], boxes.high[p, leaf]
        at = np.int64(np.uint32(p)) * LANES
        for l in range(LANES):
            x = sketch[at + l]
            d = max(max(a - x, x - b), np.float32(0))
            out[l] += d * d
    return members_within(out, limits)


@compiled()
def leaf_block(boxes, leaf):
    """Return the sketches of a leaf, a lane block."""
    size = len(boxes.low) * LANES
    return boxes.blocks[leaf * size : (leaf + 1) * size]


@compiled()
def widened(squared, reach):
    """Return a squared limit in float32, wide enough for the rounding of sketches whose norms add up to
    `reach`.
    """
    if squared >= NO_LIMIT:
        return np.float32(NO_LIMIT)
    return np.float32((np.sqrt(squared) + SLACK * reach) ** 2)


@compiled()
def nearest_leaves(middles, count):
    """Return the leaves with the `count` smallest entries of `middles`, the smallest first."""
    count = min(count, len(middles))
    leaves, keys = np.empty(count, np.int64), np.full(count, np.inf)
    for leaf in range(len(middles)):
        if middles[leaf] < keys[count - 1]:
            at = count - 1
            while at > 0 and keys[at - 1] > middles[leaf]:
                keys[at], leaves[at] = keys[at - 1], leaves[at - 1]
                at -= 1
            keys[at], leaves[at] = middles[leaf], leaf
    return leaves


@compiled()
def leaves_within(gaps, middles, limit, seen):
    """Return the leaves whose gap is at most `limit`, except those in `seen`, the nearest centre first."""
    leaves, keys, count = np.empty(len(gaps), np.int64), np.empty(len(gaps)), 0
    for leaf in seen:
        gaps[leaf] = np.inf
    for leaf in range(len(gaps)):
        if gaps[leaf] <= limit:
            leaves[count], keys[count] = leaf, middles[leaf]
            count += 1
    sort_together(keys[:count], leaves[:count])
    return leaves[:count]


class Front(NamedTuple):
    """Data on 64 queries with respect to the leaves, allocated once to save time."""

    sketch: np.ndarray  # lane block of their sketches
    reach: np.ndarray  # (LANES,) their norms
    limits: np.ndarray  # (LANES,) float32: squared limits with respect to a leaf
    near: np.ndarray  # (LANES,) float32
    gaps: np.ndarray  # (leaves,) squared distances of the boxes from that of the queries
    middles: np.ndarray  # (leaves,) and between the middles of the boxes


def front(boxes: Boxes) -> Front:
    """Return work space for a search among these boxes."""
    single, leaves = np.float32, len(boxes.reach)
    return Front(
        np.empty(len(boxes.low) * LANES, single), np.empty(LANES), np.empty(LANES, single),
        np.empty(LANES, single), np.empty(leaves, single), np.empty(leaves, single),
    )  # fmt: skip


@compiled()
def begin_group(sketches, first, size, boxes, front):  # OUT front
    """Prepare the queries first to first + size (at most 64); empty lanes repeat the last."""
    rows = sketches.rows
    low, high = rows[first].copy(), rows[first].copy()
    for l in range(LANES):
        member = first + min(l, size - 1)
        front.reach[l] = sketches.reach[member]
        for p in range(rows.shape[1]):
            x = rows[member, p]
            front.sketch[p * LANES + l] = x
            low[p], high[p] = min(low[p], x), max(high[p], x)
    box_gaps(boxes, low, high, front.gaps, front.middles)


@compiled()
def next_leaves(stage, leaves, k, limit, boxes, front):
    """Return the leaves to visit: in the first stage the nearest to the queries, then all others in reach.

    `leaves` are the leaves of the previous stage.
    """
    if stage == 0:
        return nearest_leaves(front.middles, 2 + k // LANES)
    worst = widened(limit.max(), front.reach.max() + boxes.reach.max())
    return leaves_within(front.gaps, front.middles, worst, leaves)


@compiled(fastmath=True)
def leaf_limits(limit, reach, leaf_reach, limits):  # OUT limits
    """Set the squared limits of 64 queries with respect to a leaf, as `widened`; return the largest."""
    worst = np.float32(0)
    for l in range(LANES):
        limits[l] = min((np.sqrt(limit[l]) + SLACK * (reach[l] + leaf_reach)) ** 2, NO_LIMIT)
    for l in range(LANES):
        worst = max(worst, limits[l])
    return worst


@compiled()
def queries_at_leaf(leaf, stage, size, limit, boxes, front):  # OUT limits of front
    """Return which of the queries may be near a target of the leaf, and set their limits there."""
    reached = np.uint64(0)
    worst = leaf_limits(limit, front.reach, boxes.reach[leaf], front.limits)
    if stage == 0 or front.gaps[leaf] <= worst:
        reached = queries_reached(front.sketch, boxes, leaf, front.limits, front.near)
    return reached & (~np.uint64(0) >> np.uint64(LANES - size))


@compiled(forceinline=True)
def targets_at_leaf(l, member, own, leaf, limit, boxes, block, front):
    """Return which targets of the leaf may be near a query, without the query itself."""
    base = leaf * LANES
    bits = ~np.uint64(0) >> np.uint64(LANES - min(LANES, len(boxes.order) - base))
    if limit < NO_LIMIT:
        bits &= lanes_near(front.sketch, l, block, len(boxes.low), front.limits[l])
    if own and base <= member < base + LANES:
        bits &= ~(np.uint64(1) << np.uint64(member - base))
    return bits

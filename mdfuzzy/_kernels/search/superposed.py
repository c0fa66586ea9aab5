"""Find near frames among those that are near once all frames are superposed on one structure.

A superposed pair is at least as far apart as its RMSD, and near pairs are hardly farther. So the frames whose
sketches, the coordinates of superposed frames on principal axes, are nearest to that of a query hold most of
its neighbours. Only these candidates get an exact RMSD. What is missed is measured on a sample.

The frames have one order, and the leaves of each structure have another.
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
from mdfuzzy._kernels.search.candidates import BINS, Tally, bin_of, drop_distant, lower_edge
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.lists import Lists, begin_lists, cut, hand_over_lists, lists
from mdfuzzy._kernels.search.rmsd import Scratch, fill_squared_distances, scratch


class SuperposedQueries(NamedTuple):
    """Frames to find neighbours of, those near each other side by side."""

    flat: np.ndarray  # (n, width)
    norms: np.ndarray  # (n,) squared norms
    sketches: Sketches  # of each frame superposed on its structure


class SuperposedFrames(NamedTuple):
    """Frames to find neighbours among."""

    flat: np.ndarray  # (n, width)
    norms: np.ndarray  # (n,)
    order: np.ndarray  # (n,) which frame each of these is
    largest: float  # squared norm
    atoms: float


class SuperposedTargets(NamedTuple):
    """The same frames, superposed on one structure, in leaves."""

    rows: np.ndarray  # (n, rows) sketches, in the order of the leaves
    boxes: Boxes  # whose order leads to the frames


class SuperposedWork(NamedTuple):
    """Work space for the search of 64 queries, allocated once."""

    lists: Lists
    front: Front
    tally: Tally
    pending: np.ndarray  # (room,) candidates of a query
    exact: np.ndarray  # (room,) and their exact distances
    distances: Scratch


def superposed_work(frames: SuperposedFrames, targets: SuperposedTargets, room: int) -> SuperposedWork:
    """Return work space for groups of queries that hold up to `room` candidates each."""
    tally = Tally(np.empty((LANES, BINS), np.int32), np.empty(LANES, np.int64), np.empty(LANES, np.int64))
    return SuperposedWork(
        lists(room), front(targets.boxes), tally, np.empty(room, np.int32), np.empty(room),
        scratch(frames.flat.shape[1]),
    )  # fmt: skip


@compiled(fastmath=True, forceinline=True)
def sketch_distance(queries, i, targets, j):
    """Return the squared distance of two sketches."""
    total = np.float32(0)
    for p in range(queries.shape[1]):
        d = queries[i, p] - targets[j, p]
        total += d * d
    return total


@compiled(forceinline=True)
def search_superposed_group(queries, first, size, own, frames, targets, count, radii, k, work, counts):
    """Find the k nearest of about `count` candidates, those of the nearest sketches, for up to 64 queries.

    They are in the lists of `work`, in order. Return False if there is no room for them.
    """
    queries, frames = borrowed(queries), borrowed(frames)
    targets, work = borrowed(targets), borrowed(work)
    boxes, tally, limit = targets.boxes, work.tally, work.lists.limit
    bins, inside, highest = tally.bins, tally.inside, tally.highest
    filled, listed, squares = work.lists.filled, work.lists.targets, work.lists.squares
    room = listed.shape[1]
    rows, others, place_of = queries.sketches.rows, targets.rows, boxes.order
    lowest = bin_of(4 * frames.largest) - BINS + 2
    bins[:], inside[:], highest[:] = 0, 0, BINS - 1
    begin_lists(radii, work.lists)
    begin_group(queries.sketches, first, size, boxes, work.front)
    leaves = np.empty(0, np.int64)
    for stage in range(2):
        leaves = next_leaves(stage, leaves, count, limit, boxes, work.front)
        for i in range(len(leaves)):
            leaf = leaves[i]
            block, base = leaf_block(boxes, leaf), leaf * LANES
            left = queries_at_leaf(leaf, stage, size, limit, boxes, work.front)
            counts[0] += LANES * member_count(left)
            while left:
                l = first_member(left)
                left &= left - np.uint64(1)
                bits = targets_at_leaf(l, first + l, False, leaf, limit[l], boxes, block, work.front)
                if not bits:
                    continue
                if filled[l] + LANES > room:
                    filled[l] = drop_distant(l, listed, squares, filled[l], limit[l])
                    if filled[l] + LANES > room:
                        return False
                at, counted, top = filled[l], inside[l], highest[l]
                counts[1] += member_count(bits)
                while bits:
                    target = base + first_member(bits)
                    bits &= bits - np.uint64(1)
                    squared = sketch_distance(rows, first + l, others, target)
                    listed[l, at], squares[l, at] = place_of[target], squared
                    other = 0 if own and listed[l, at] == first + l else 1  # not itself
                    at += other
                    place = min(max(bin_of(squared) - lowest, 0), BINS - 1)
                    bins[l, place] += other
                    counted += other if place <= top else 0
                filled[l] = at
                while counted - bins[l, top] >= count:
                    counted -= bins[l, top]
                    top -= 1
                inside[l] = counted
                if top < highest[l]:
                    highest[l] = top
                    limit[l] = min(limit[l], lower_edge(lowest + top + 1))
    for l in range(size):
        filled[l] = drop_distant(l, listed, squares, filled[l], limit[l])
        counts[2] += filled[l]
        pending, exact = work.pending[: filled[l]], work.exact[: filled[l]]
        for i in range(filled[l]):
            pending[i] = listed[l, i]
        fill_squared_distances(
            queries.flat[first + l], queries.norms[first + l], frames.flat, frames.norms, pending, exact,
            work.distances,
        )  # fmt: skip
        for i in range(filled[l]):
            squares[l, i] = exact[i]
        cut(l, k, frames.order, work.lists)
    return True


@compiled(nogil=True)
def search_superposed(
    queries, first, last, own, frames, targets, count, radii, k, work, sizes, found, squares, counts
):
    """Search some groups of queries one after another; return the number of finished groups.

    As `knn.search_groups`: OUT, the queries of all groups in turn, how many targets each has (`sizes`), these
    and their squared norms without gaps, and the counts of each group: pairs tested by sketches, candidates,
    exact distances.
    """
    row = at = 0
    for g in range(len(first)):
        size = last[g] - first[g]
        limits = radii[row : row + size]
        if not search_superposed_group(
            queries, first[g], size, own, frames, targets, count, limits, k, work, counts[g]
        ):
            return g
        at = hand_over_lists(size, row, at, work.lists, sizes, found, squares)
        if at < 0:
            return g
        row += size
    return len(first)

"""Find exact neighbours under RMSD, skipping cells by the triangle inequality and frames by the screen.

A query keeps every target that could be nearer than its threshold t. The threshold is an upper bound of the k
smallest distances, and it falls as candidates are found. With k = 0 the threshold is a given radius and does
not change.

A search that need not be exact uses |D|^2 instead of atoms * RMSD^2; for near frames it is larger by a few
parts in ten thousand.

Newton's method converges from above, so an eigenvalue that has not converged only makes a cell appear nearer
than it is.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed, first_member, member_count, members_within
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.candidates import (
    BINS,
    Settling,
    Tally,
    bin_of,
    drop_distant,
    lower_edge,
    settle,
    settling,
    sort_together,
)
from mdfuzzy._kernels.search.cells import AXES, ROWS, Cells
from mdfuzzy._kernels.search.lanes import (
    LANES,
    correlate,
    displacements,
    largest_eigenvalues,
    load_lanes,
    newton,
    project,
    remaining_norms,
    residual_norms,
    rotations,
)
from mdfuzzy._kernels.search.screen import (
    NO_LIMIT,
    Screen,
    box_distances,
    bracket,
    leaf_distances,
    screen_limit,
    squared_difference,
)

#: What is counted, per group of queries: RMSDs to centres, visits of a cell, Euclidean tests, exact RMSDs
#: (an upper bound).
CENTRES, VISITED, TESTED, EVALUATED = range(4)


class Workspace(NamedTuple):
    """Work space for the search of groups of 64 queries, allocated once to save time."""

    # of the queries
    block: np.ndarray  # coordinates
    norm: np.ndarray
    spread: np.ndarray
    threshold: np.ndarray
    # of the queries with respect to a cell
    m: np.ndarray  # correlation with its centre
    quartic: np.ndarray  # for the largest eigenvalue
    start: np.ndarray
    top: np.ndarray
    rotation: np.ndarray
    squared: np.ndarray  # |u|^2
    active: np.ndarray  # whether the cell may contain near targets
    screen: Screen
    # of a leaf
    boxes: np.ndarray  # distances of the queries to its box
    near: np.ndarray  # distances of its targets to one query
    row: np.ndarray  # u of each query, of those that needed it in this cell
    hit: np.ndarray  # the targets that may be near
    squares: np.ndarray  # |D|^2 of these
    # the candidates so far
    tally: Tally
    targets: np.ndarray
    bounds: np.ndarray
    filled: np.ndarray
    settling: Settling


def workspace(cells: Cells, room: int) -> Workspace:
    """Return work space for groups of queries that hold up to `room` candidates each."""
    width = cells.flat.shape[1]

    def lanes(rows: int = 1, dtype: type = np.float64) -> np.ndarray:
        return np.empty(rows * LANES, dtype)

    single = np.float32
    return Workspace(
        block=lanes(width, single), norm=lanes(), spread=lanes(), threshold=lanes(),
        m=lanes(9, single), quartic=lanes(3), start=lanes(), top=lanes(), rotation=lanes(9, single),
        squared=lanes(1, single), active=lanes(1, np.bool_),
        screen=Screen(
            moved=lanes(width, single), coordinates=lanes(ROWS, single), nearness=lanes(), torque=lanes(),
            spread=lanes(), limit=lanes(1, single),
        ),
        boxes=lanes(1, single), near=lanes(1, single), row=np.zeros((LANES, cells.rows.shape[1]), single),
        hit=lanes(1, np.int32), squares=lanes(1, single),
        tally=Tally(np.empty((LANES, BINS), np.int32), lanes(1, np.int64), lanes(1, np.int64)),
        targets=np.empty((LANES, room), np.int32), bounds=np.empty((LANES, room)),
        filled=lanes(1, np.int64), settling=settling(width, room),
    )  # fmt: skip


@compiled()
def cell_gaps(cells, factor, pivot, slack):
    """Return for every cell a lower bound of the distance from the centre of `pivot` to its frames."""
    n_cells = len(cells.centres)
    gaps, everything = np.empty(n_cells), np.arange(n_cells)
    block, m = np.empty(cells.centres.shape[1] * LANES, np.float32), np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    for first in range(0, n_cells, LANES):
        last = min(first + LANES, n_cells)
        load_lanes(cells.centres, everything, first, last - first, block)
        correlate(block, cells.centres[pivot], m)
        for l in range(LANES):
            start[l] = 0.5 * (cells.centre_norms[min(first + l, last - 1)] + cells.centre_norms[pivot])
        largest_eigenvalues(m, start, 10, quartic, top)
        for l in range(last - first):
            distance = np.sqrt(max(2 * (start[l] - top[l]) - slack.square, 0.0))
            gaps[first + l] = distance - factor * cells.radii[first + l]
    return gaps


@compiled()
def cells_within(gaps, reach, pivot):
    """Return the other cells whose gap is at most `reach`, the smallest gap first."""
    cells, kept = np.empty(len(gaps), np.int64), np.empty(len(gaps))
    count = 0
    for cell in range(len(gaps)):
        if cell != pivot and gaps[cell] <= reach:
            cells[count], kept[count] = cell, gaps[cell]
            count += 1
    sort_together(kept[:count], cells[:count])
    return cells[:count]


@compiled(inline="always")
def search_cell(cells, cell, queries, members, own, slack, factor, k, lowest, work, counts):
    """Add to the candidates (OUT targets, bounds, filled, threshold, tally of `work`) every target of a cell
    that may be near.

    Return False if there is no room for them.
    """
    # Local variables and few branches: a mispredicted branch costs as much as ten steps.
    blocks, low, high, rows = cells.blocks, cells.low, cells.high, cells.rows
    screen, tally = work.screen, work.tally
    moved, coordinates, limits = screen.moved, screen.coordinates, screen.limit
    nearness, torques, spreads = screen.nearness, screen.torque, screen.spread
    boxes, near, row, hit, squares = work.boxes, work.near, work.row, work.hit, work.squares
    bins, inside, highest = tally.bins, tally.inside, tally.highest
    targets, bounds, filled, threshold = work.targets, work.bounds, work.filled, work.threshold
    exact, overlap = factor == 1, np.float32(1 - factor)
    width, room = len(moved) // LANES, targets.shape[1]
    known = np.uint64(0)  # the queries whose row is there
    n_leaves, home = cells.leaf_start[cell + 1] - cells.leaf_start[cell], 0
    if own and cells.cell_start[cell] <= members[0] < cells.cell_start[cell + 1]:
        home = (members[0] - cells.cell_start[cell]) // LANES
    for step in range(n_leaves):
        # their own leaf first, then farther leaves, so that the threshold is low early
        near_home = (step + 1) // 2 * (1 - 2 * (step % 2))
        leaf = cells.leaf_start[cell] + (home + near_home) % n_leaves
        base = cells.cell_start[cell] + (leaf - cells.leaf_start[cell]) * LANES
        box_distances(coordinates, low, high, leaf, boxes)
        reached = members_within(boxes, limits)
        counts[TESTED] += member_count(reached) * min(LANES, cells.cell_start[cell + 1] - base)
        while reached:
            l = first_member(reached)
            reached &= reached - np.uint64(1)
            leaf_distances(coordinates, l, blocks, leaf, overlap, near)
            bits = members_within(near, limits[l])
            if own and base <= members[l] < base + LANES:
                bits &= ~(np.uint64(1) << np.uint64(members[l] - base))  # not itself
            if not bits:
                continue
            if filled[l] + LANES > room:
                filled[l] = drop_distant(l, targets, bounds, filled[l], threshold[l] ** 2)
                if filled[l] + LANES > room // 2:  # too many are left: compute their exact distances
                    counts[EVALUATED] += filled[l]
                    settle(l, queries, members, cells, k, work)
                if filled[l] + LANES > room:
                    return False
            if not (known >> np.uint64(l)) & np.uint64(1):
                known |= np.uint64(1) << np.uint64(l)
                for j in range(width):
                    row[l, j] = moved[j * LANES + l]
            hits = 0
            while bits:
                hit[hits] = base + first_member(bits)
                squares[hits] = squared_difference(row, l, rows, hit[hits])
                bits &= bits - np.uint64(1)
                hits += 1
            at, counted, top = filled[l], inside[l], highest[l]
            for h in range(hits):
                lower = upper = np.float64(squares[h])
                if exact:
                    lower, upper = bracket(upper, nearness[l], torques[l], spreads[l], slack.length)
                targets[l, at], bounds[l, at] = hit[h], lower
                near_enough = 1 if squares[h] <= limits[l] else 0
                at += near_enough
                place = min(max(bin_of(upper) - lowest, 0), BINS - 1)
                bins[l, place] += near_enough
                counted += near_enough if place <= top else 0
            filled[l] = at
            if k > 0:
                while counted - bins[l, top] >= k:
                    counted -= bins[l, top]
                    top -= 1
                inside[l] = counted
                if top < highest[l]:
                    highest[l] = top
                    edge = lower_edge(lowest + top + 1)
                    threshold[l] = min(threshold[l], np.sqrt(edge) * (1 + 1e-15))
                    limits[l] = min(threshold[l] ** 2, NO_LIMIT)
                    if exact:
                        limits[l] = screen_limit(
                            threshold[l], nearness[l], torques[l], spreads[l], slack.length
                        )
    return True


@compiled(inline="always")
def search_group(queries, members, pivot, own, cells, gaps, slack, factor, radii, k, work, counts):
    """Find the k nearest targets, or with k = 0 all within its radius, of up to 64 queries near one cell.

    Targets beyond `radii` may be missing among the k nearest. The queries `members` are near the centre of
    the cell `pivot`, whose gaps to all cells are given. The first filled[l] entries of row l of `targets` and
    `bounds` (OUT of `work`) are their neighbours and squared norms. With `factor` below 1 the search is
    faster and not exact: cells and groups of queries are treated as smaller than they are, and the parts of
    displacements outside the axes are assumed to agree less than they may. Return False if `targets` has no
    room for all.
    """
    queries, cells, work = borrowed(queries), borrowed(cells), borrowed(work)
    block, m, quartic, start, top = work.block, work.m, work.quartic, work.start, work.top
    rotation, squared, active, screen = work.rotation, work.squared, work.active, work.screen
    norm, spread, threshold, tally = work.norm, work.spread, work.threshold, work.tally
    size = len(members)
    work.filled[:], tally.bins[:], tally.inside[:], tally.highest[:] = 0, 0, 0, BINS - 1
    lowest = bin_of(4 * slack.largest) - BINS + 2  # no |D| is longer than the norms of both frames together
    for l in range(LANES):
        norm[l] = queries.norms[members[min(l, size - 1)]]
        spread[l] = queries.spreads[members[min(l, size - 1)]]
        threshold[l] = radii[min(l, size - 1)]
    load_lanes(queries.flat, members, 0, size, block)
    span = 0.0  # from the centre of the pivot to the farthest query
    reach = 1.0 if factor == 1 else 0.5 * factor  # few queries are that far out
    sequence, position = np.full(1, pivot), 0
    while position < len(sequence):
        cell = sequence[position]
        position += 1
        worst = 0.0
        for l in range(size):
            worst = max(worst, threshold[l])
        if cell != pivot and gaps[cell] > worst + reach * span + slack.length:
            break
        correlate(block, cells.centres[cell], m)
        for l in range(LANES):
            start[l] = 0.5 * (norm[l] + cells.centre_norms[cell])
        largest_eigenvalues(m, start, 30 if cell == pivot else 5, quartic, top)
        some = cell == pivot
        for l in range(LANES):
            separation = 2 * (start[l] - top[l])
            length = np.sqrt(max(separation - slack.square, 0.0))
            active[l] = l < size and length - factor * cells.radii[cell] - slack.length <= threshold[l]
            some |= active[l]
        counts[CENTRES] += size
        if not some:
            continue
        newton(quartic, 10 if factor == 1 else 3, top)  # few are enough for an order
        rotations(m, top, rotation, screen.torque)
        displacements(block, rotation, cells.centres[cell], screen.moved, squared)
        project(screen.moved, cells.axes[cell], screen.coordinates)
        if factor == 1:
            residual_norms(screen.moved, cells.axes[cell], screen.coordinates, AXES)
        else:
            remaining_norms(squared, screen.coordinates, AXES)
        for l in range(LANES):
            if cell == pivot:
                span = max(span, np.sqrt(np.float64(squared[l])) + slack.length)
            screen.nearness[l] = min(np.sqrt(squared[l]), cells.radii[cell]) + slack.length
            screen.torque[l] += cells.torques[cell] + 2 * slack.square
            screen.spread[l] = spread[l] + cells.spreads[cell]
            screen.limit[l] = -1.0
            if active[l]:
                counts[VISITED] += 1
                screen.limit[l] = min(threshold[l] ** 2, NO_LIMIT)  # nearer than empty places
                if factor == 1:
                    screen.limit[l] = screen_limit(
                        threshold[l], screen.nearness[l], screen.torque[l], screen.spread[l], slack.length
                    )
        if not search_cell(cells, cell, queries, members, own, slack, factor, k, lowest, work, counts):
            return False
        if cell == pivot:
            worst = 0.0
            for l in range(size):
                worst = max(worst, threshold[l])
            sequence, position = cells_within(gaps, worst + reach * span + slack.length, pivot), 0
    for l in range(size):
        counts[EVALUATED] += work.filled[l]
        settle(l, queries, members, cells, k, work)
    return True


@compiled(nogil=True)
def search_groups(
    queries, first, last, pivots, own, cells, slack, factor, radii, k, work, sizes, targets, squares, counts
):
    """Search some groups of queries one after another; return the number of finished groups.

    The queries first[g] to last[g] are a group, near the centre of the cell pivots[g]; each query has its own
    radius. The results list the queries of all groups in turn: their numbers of targets (`sizes`), and the
    targets and their squared norms without gaps. There are also the counts of each group. If there is no room
    for the targets of a group, the search ends before this group.
    """
    gaps, row, at = np.empty(0), 0, 0
    for g in range(len(pivots)):
        if g == 0 or pivots[g] != pivots[g - 1]:
            gaps = cell_gaps(cells, factor, pivots[g], slack)
        members = np.arange(first[g], last[g])
        limits = radii[row : row + len(members)]
        if not search_group(
            queries, members, pivots[g], own, cells, gaps, slack, factor, limits, k, work, counts[g]
        ):
            return g
        if at + work.filled[: len(members)].sum() > len(targets):
            return g
        for l in range(len(members)):
            sizes[row] = work.filled[l]
            row += 1
            for i in range(work.filled[l]):
                targets[at], squares[at] = work.targets[l, i], work.bounds[l, i]
                at += 1
    return len(pivots)

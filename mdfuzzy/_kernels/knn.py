"""Exact neighbours under RMSD: cells skipped by the triangle inequality, frames by the superposed bound.

Lengths are norms, sqrt(atoms) * RMSD. Write u and v for the displacements of a query and a target from
the centre on which both are superposed, D = u - v. Then (docs/theory/neighbours)

    |D|^2  >=  atoms * RMSD^2  >=  |D|^2 - 2 (|D| m + e)^2 / (s2 - |D|^2),    m = min(|u|, |v|),

with s2 the sum of the two frames' two smallest eigenvalues of sum_i x_i x_i^T and e the torques that the
two superpositions leave. The right-hand side increases with |D| up to |D|^2 = s2 - m sqrt(2 s2), and a
target nearer than t has |D| <= 2 m + t. So where (2 m + t)^2 is below that limit, "can the target be
nearer than t" turns into "is |D|^2 at most y", a plain Euclidean test.

A query holds every target that could be nearer than its threshold t, an upper bound of the k smallest
distances that falls as candidates come in. With k = 0 the threshold is a given radius instead, and stays.

A search that need not be exact takes |D|^2, a few parts in ten thousand above atoms * RMSD^2 for near
frames, at its word.

Rounding: `slack.length` bounds the error of a displacement or of its coordinates, `slack.square` that of
twice an eigenvalue and of a torque; both are worst-case bounds of float32 sums over the atoms. Newton's
method comes down from above, so an eigenvalue that has not converged only makes a cell look nearer than
it is.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.bits import first_member
from mdfuzzy._kernels.candidates import (
    BINS,
    Tally,
    bin_of,
    drop_distant,
    lower_edge,
    settle,
    sort_together,
)
from mdfuzzy._kernels.cells import AXES, ROWS, load_lanes
from mdfuzzy._kernels.jit import kernel
from mdfuzzy._kernels.lanes import (
    LANES,
    correlate,
    displacements,
    largest_eigenvalues,
    newton,
    project,
    remaining_norms,
    residual_norms,
    rotations,
)

#: No limit yet; its square is finite in float64, and it survives a cast to float32.
NO_LIMIT = 1e18
#: What is counted, per group of queries: RMSDs to centres, visits of a cell, Euclidean tests, exact RMSDs
#: (an upper bound).
CENTRES, VISITED, TESTED, EVALUATED = range(4)


class Slack(NamedTuple):
    """Bounds of rounding errors (see above), and what they come from."""

    length: float
    square: float
    largest: float  # squared norm of a frame


class Screen(NamedTuple):
    """What is known of 64 queries with respect to one cell: lane blocks."""

    moved: np.ndarray  # displacement from the centre
    coordinates: np.ndarray  # on the cell's axes, and the norm of the rest
    nearness: np.ndarray  # m: the smaller of |u| and the cell's radius
    torque: np.ndarray  # e
    spread: np.ndarray  # s2
    limit: np.ndarray  # largest |D|^2 of a target that could be nearer than the threshold


class Space(NamedTuple):
    """Where `search_cell` keeps what it works on: made once for all cells, as making arrays takes time."""

    boxes: np.ndarray
    near: np.ndarray
    lanes: np.ndarray
    row: np.ndarray
    hit: np.ndarray
    squares: np.ndarray


@kernel()
def screen_limit(threshold, m, torque, s2, slack):
    """Return the largest |D|^2 that a target within `threshold` of the query can have, or NO_LIMIT."""
    if threshold >= NO_LIMIT:
        return NO_LIMIT
    # a looser threshold is always safe; this one keeps torque / threshold small
    t = max(threshold, np.sqrt(torque))
    m += torque / t
    # a superposition that leaves a torque makes |u| and |v| longer than the RMSD norms, each by at most this
    excess = 2 * torque / np.sqrt(s2) if s2 > 0 else NO_LIMIT
    reach = 2 * m + t + 2 * excess
    if reach * reach > s2 - m * np.sqrt(2 * s2):
        return NO_LIMIT
    b = s2 - 2 * m * m + t * t
    root = b * b - 4 * s2 * t * t
    if root < 0:
        return NO_LIMIT
    y = 2 * s2 * t * t / (b + np.sqrt(root))
    return (np.sqrt(y) + slack) ** 2


@kernel()
def bracket(squared, m, torque, s2, slack):
    """Return a lower and an upper bound of atoms * RMSD^2, given |D|^2."""
    length = np.sqrt(squared)
    short, long = max(length - slack, 0.0), length + slack
    lower = 0.0
    if short > 0:
        m += torque / short
        # the bound at the shortest |D| that rounding allows, if it increases up to the longest
        if long * long < s2 - m * np.sqrt(2 * s2):
            lower = short * short * (1 - 2 * m * m / (s2 - short * short))
    return lower, long * long


@kernel(fastmath=True)
def leaf_distances(coordinates, lane, blocks, leaf, overlap, limit, out):  # OUT out
    """Set out = squared distances of a lane's query to the 64 targets of a leaf; return how many are
    within `limit`.

    Of what the axes leave out, with norms p and q, (p - q)^2 is the least that it can add, and
    p^2 + q^2 what it adds on average if the two are unrelated: `overlap` = 2 would say so, 0 is safe.
    """
    # as uint32 it is known not to be negative; an index that might wrap around turns loads into gathers
    first = np.int64(np.uint32(leaf)) * (ROWS * LANES)
    for l in range(LANES):
        out[l] = 0
    for group in range(AXES // 4):
        o = 4 * group * LANES
        a, b = coordinates[o + lane], coordinates[o + LANES + lane]
        c, d = coordinates[o + 2 * LANES + lane], coordinates[o + 3 * LANES + lane]
        o += first
        for l in range(LANES):
            da, db = a - blocks[o + l], b - blocks[o + LANES + l]
            dc, dd = c - blocks[o + 2 * LANES + l], d - blocks[o + 3 * LANES + l]
            out[l] += da * da + db * db + dc * dc + dd * dd
    rest = coordinates[AXES * LANES + lane]
    shared = overlap * rest
    within = np.float32(0)  # a float, so that the sum vectorises with the rest
    for l in range(LANES):
        other = blocks[first + AXES * LANES + l]
        total = out[l] + (rest - other) ** 2 + shared * other
        out[l] = total
        within += np.float32(1) if total <= limit else np.float32(0)
    return within


@kernel(fastmath=True)
def members_within(distances, limit):
    """Return which of 64 distances are within `limit`, as bits."""
    bits = np.uint64(0)
    for l in range(LANES):
        bits |= np.uint64(distances[l] <= limit) << np.uint64(l)
    return bits


@kernel(fastmath=True)
def box_distances(coordinates, low, high, leaf, out):  # OUT out
    """Set out = squared distance of each lane's query to the box of a leaf."""
    for l in range(LANES):
        out[l] = 0
    for p in range(ROWS):
        a, b = low[leaf, p], high[leaf, p]
        for l in range(LANES):
            x = coordinates[p * LANES + l]
            d = max(max(a - x, x - b), np.float32(0))
            out[l] += d * d


@kernel(fastmath=True)
def squared_difference(row, rows, at):
    """Return |row - rows[at]|^2."""
    total = np.float32(0)
    for j in range(len(row)):
        d = row[j] - rows[at, j]
        total += d * d
    return total


@kernel(nogil=True)
def cell_gaps(cells, factor, pivot, slack):
    """Return a lower bound, for every cell, of the distance from the centre of `pivot` to any of its
    frames.
    """
    n_cells = len(cells.centres)
    gaps = np.empty(n_cells)
    block, m = np.empty(cells.centres.shape[1] * LANES, np.float32), np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    for first in range(0, n_cells, LANES):
        last = min(first + LANES, n_cells)
        load_lanes(cells.centres, np.arange(first, last), block)
        correlate(block, cells.centres[pivot], m)
        for l in range(LANES):
            start[l] = 0.5 * (cells.centre_norms[min(first + l, last - 1)] + cells.centre_norms[pivot])
        largest_eigenvalues(m, start, 10, quartic, top)
        for l in range(last - first):
            distance = np.sqrt(max(2 * (start[l] - top[l]) - slack.square, 0.0))
            gaps[first + l] = distance - factor * cells.radii[first + l]
    return gaps


@kernel()
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


@kernel()
def search_cell(
    screen, cells, cell, queries, members, own, norm, slack, factor, k, threshold, targets, bounds, filled,
    tally, space, counts,
):  # fmt: skip
    """Add to the candidates (OUT targets, bounds, filled, threshold, tally) every target of a cell that may
    be near.

    Return False if there is no room for them.
    """
    # Locals, and no slices below: a slice or a tuple of arrays costs more here than 64 distances. And
    # few branches: one that is mispredicted costs as much as ten steps.
    blocks, low, high, rows = cells.blocks, cells.low, cells.high, cells.rows
    moved, coordinates, limits = screen.moved, screen.coordinates, screen.limit
    nearness, torques, spreads = screen.nearness, screen.torque, screen.spread
    exact, overlap = factor == 1, np.float32(1 - factor)
    boxes, near, row = space.boxes, space.near, space.row
    lanes, hit, squares = space.lanes, space.hit, space.squares
    bins, inside, highest = tally.bins, tally.inside, tally.highest
    width, room = len(moved) // LANES, targets.shape[1]
    n_leaves, home = cells.leaf_start[cell + 1] - cells.leaf_start[cell], 0
    if own and cells.cell_start[cell] <= members[0] < cells.cell_start[cell + 1]:
        home = (members[0] - cells.cell_start[cell]) // LANES
    for step in range(n_leaves):
        # their own leaf first, then away from it: a low threshold early
        near_home = (step + 1) // 2 * (1 - 2 * (step % 2))
        leaf = cells.leaf_start[cell] + (home + near_home) % n_leaves
        base = cells.cell_start[cell] + (leaf - cells.leaf_start[cell]) * LANES
        box_distances(coordinates, low, high, leaf, boxes)
        reached = 0
        for l in range(len(members)):
            lanes[reached] = l
            reached += 1 if boxes[l] <= limits[l] else 0
        counts[TESTED] += reached * min(LANES, cells.cell_start[cell + 1] - base)
        for i in range(reached):
            l = lanes[i]
            limit = np.float32(limits[l])
            if leaf_distances(coordinates, l, blocks, leaf, overlap, limit, near) == 0:
                continue
            if filled[l] + LANES > room:
                filled[l] = drop_distant(l, targets, bounds, filled[l], threshold[l] ** 2)
                if filled[l] + LANES > room // 2:  # too many are left: the exact distances of those
                    counts[EVALUATED] += filled[l]
                    filled[l] = settle(
                        queries, members[l], norm[l], cells, l, targets, bounds, filled[l],
                        threshold[l] ** 2, k,
                    )  # fmt: skip
                if filled[l] + LANES > room:
                    return False
            bits = members_within(near, limit)
            if own and base <= members[l] < base + LANES:
                bits &= ~(np.uint64(1) << np.uint64(members[l] - base))  # not itself
            for j in range(width):
                row[j] = moved[j * LANES + l]
            hits = 0
            while bits:
                hit[hits] = base + first_member(bits)
                squares[hits] = squared_difference(row, rows, hit[hits])
                bits &= bits - np.uint64(1)
                hits += 1
            at, counted, top = filled[l], inside[l], highest[l]
            for h in range(hits):
                lower = upper = np.float64(squares[h])
                if exact:
                    lower, upper = bracket(upper, nearness[l], torques[l], spreads[l], slack.length)
                targets[l, at], bounds[l, at] = hit[h], lower
                near_enough = 1 if squares[h] <= limit else 0
                at += near_enough
                place = min(max(bin_of(upper) - tally.lowest, 0), BINS - 1)
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
                    edge = lower_edge(tally.lowest + top + 1)
                    threshold[l] = min(threshold[l], np.sqrt(edge) * (1 + 1e-15))
                    limits[l] = min(threshold[l] ** 2, NO_LIMIT)
                    if exact:
                        limits[l] = screen_limit(
                            threshold[l], nearness[l], torques[l], spreads[l], slack.length
                        )
    return True


@kernel(nogil=True)
def search_group(
    queries, members, pivot, own, cells, gaps, slack, factor, radii, k, targets, bounds, filled, counts
):
    """Find the k nearest targets, or with k = 0 all within its radius, of up to 64 queries near one cell.

    Of the k nearest those beyond `radii` may be missing. The queries `members` are near the centre of the
    cell `pivot`, whose gaps to all cells are given. The first filled[l] entries of row l of `targets` and
    `bounds` (OUT) are their neighbours and squared norms. With `factor` below 1 cells and groups of queries
    are taken to be smaller than they are, and the parts of displacements that no axis sees to agree less than
    they may: faster, and not exact. Return False if `targets` has no room for all.
    """
    width, size = queries.flat.shape[1], len(members)
    block = np.empty(width * LANES, np.float32)
    m, rotation = np.empty(9 * LANES, np.float32), np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    squared = np.empty(LANES, np.float32)
    screen = Screen(
        np.empty(width * LANES, np.float32), np.empty(ROWS * LANES, np.float32),
        np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES),
    )  # fmt: skip
    # no |D| is longer than the norms of both frames together
    tally = Tally(
        np.zeros((LANES, BINS), np.int32), np.zeros(LANES, np.int64), np.full(LANES, BINS - 1),
        bin_of(4 * slack.largest) - BINS + 2,
    )  # fmt: skip
    space = Space(
        np.empty(LANES, np.float32), np.empty(LANES, np.float32), np.empty(LANES + 1, np.int64),
        np.zeros(cells.rows.shape[1], np.float32), np.empty(LANES, np.int32), np.empty(LANES, np.float32),
    )  # fmt: skip
    active = np.empty(LANES, np.bool_)
    norm, spread, threshold = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    filled[:] = 0
    for l in range(LANES):
        norm[l] = queries.norms[members[min(l, size - 1)]]
        spread[l] = queries.spreads[members[min(l, size - 1)]]
        threshold[l] = radii[min(l, size - 1)]
    load_lanes(queries.flat, members, block)
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
        if not search_cell(
            screen, cells, cell, queries, members, own, norm, slack, factor, k, threshold, targets, bounds,
            filled, tally, space, counts,
        ):  # fmt: skip
            return False
        if cell == pivot:
            worst = 0.0
            for l in range(size):
                worst = max(worst, threshold[l])
            sequence, position = cells_within(gaps, worst + reach * span + slack.length, pivot), 0
    for l in range(size):
        counts[EVALUATED] += filled[l]
        filled[l] = settle(
            queries, members[l], norm[l], cells, l, targets, bounds, filled[l], threshold[l] ** 2, k
        )
    return True

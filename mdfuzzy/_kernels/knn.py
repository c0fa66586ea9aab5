"""Exact neighbours under RMSD: cells skipped by the triangle inequality, frames by the superposed bound.

Lengths are norms, sqrt(atoms) * RMSD. Write u and v for the displacements of a query and a target from
the centre on which both are superposed, D = u - v. Then (docs/theory/neighbours)

    |D|^2  >=  atoms * RMSD^2  >=  |D|^2 - 2 (|D| m + e)^2 / (s2 - |D|^2),    m = min(|u|, |v|),

with s2 the sum of the two frames' two smallest eigenvalues of sum_i x_i x_i^T and e the torques that the
two superpositions leave. The right-hand side increases with |D| up to |D|^2 = s2 - m sqrt(2 s2), and a
target nearer than t has |D| <= 2 m + t. So where (2 m + t)^2 is below that limit, "can the target be
nearer than t" turns into "is |D|^2 at most y", a plain Euclidean test.

A query keeps the k smallest upper bounds |D| in a heap, whose root is its threshold t, and every target
that could be nearer than t as a candidate. Exact distances are computed for the last few candidates only.
With k = 0 the threshold is a given radius instead, and stays.

Rounding: `slack.length` bounds the error of a displacement or of its coordinates, `slack.square` that of
twice an eigenvalue and of a torque; both are worst-case bounds of float32 sums over the atoms. Newton's
method comes down from above, so an eigenvalue that has not converged only makes a cell look nearer than
it is.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.cells import AXES, ROWS, load_lanes
from mdfuzzy._kernels.jit import kernel
from mdfuzzy._kernels.lanes import (
    LANES,
    correlate,
    displacements,
    largest_eigenvalues,
    newton,
    project,
    residual_norms,
    rotations,
)
from mdfuzzy._kernels.rmsd import squared_distances

#: No limit yet; its square is finite in float64, and it survives a cast to float32.
NO_LIMIT = 1e18
#: What is counted, per group of queries: RMSDs to centres, visits of a cell, Euclidean tests, exact RMSDs
#: (an upper bound).
CENTRES, VISITED, TESTED, EVALUATED = range(4)


class Slack(NamedTuple):
    """Bounds of rounding errors (see above)."""

    length: float
    square: float


class Screen(NamedTuple):
    """What is known of 64 queries with respect to one cell: lane blocks."""

    moved: np.ndarray  # displacement from the centre
    coordinates: np.ndarray  # on the cell's axes, and the norm of the rest
    nearness: np.ndarray  # m: the smaller of |u| and the cell's radius
    torque: np.ndarray  # e
    spread: np.ndarray  # s2
    limit: np.ndarray  # largest |D|^2 of a target that could be nearer than the threshold


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


@kernel()
def push(heaps, lane, value):  # OUT heaps
    """Replace the root of a lane's max-heap by a smaller value."""
    k = heaps.shape[1]
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= k:
            break
        if child + 1 < k and heaps[lane, child + 1] > heaps[lane, child]:
            child += 1
        if heaps[lane, child] <= value:
            break
        heaps[lane, hole] = heaps[lane, child]
        hole = child
    heaps[lane, hole] = value


@kernel()
def settle(queries, query, norm, cells, lane, targets, bounds, count, heaps, k):  # OUT targets, bounds, heaps
    """Compute exact distances of a lane's candidates; keep, in order, the k nearest or all within the radius.

    Return how many they are.
    """
    kept = np.empty(count, np.int32)
    left = 0
    for i in range(count):
        if bounds[lane, i] <= heaps[lane, 0]:
            kept[left] = targets[lane, i]
            left += 1
    exact = np.empty(left)
    squared_distances(queries.flat[query], norm, cells.flat, cells.norms, kept[:left], exact)
    rank = np.argsort(exact)
    size = 0
    for i in range(left):
        if size == k > 0 or (k == 0 and exact[rank[i]] > heaps[lane, 0]):
            break
        targets[lane, size] = kept[rank[i]]
        bounds[lane, size] = exact[rank[i]]
        size += 1
    for i in range(min(size, k)):
        heaps[lane, k - 1 - i] = bounds[lane, i]  # descending: a valid max-heap
    return size


@kernel()
def cell_gaps(cells, factor, pivot, slack, m, quartic, start, top, block):  # scratch: the last five
    """Return a lower bound, for every cell, of the distance from the centre of `pivot` to any of its
    frames.
    """
    n_cells = len(cells.centres)
    gaps = np.empty(n_cells)
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
    gaps[pivot] = -NO_LIMIT
    return gaps


@kernel()
def search_cell(
    screen, cells, cell, queries, members, own, norm, slack, factor, k, targets, bounds, filled, heaps, counts
):
    """Add to the candidates (OUT targets, bounds, filled, heaps) every target of a cell that may be near.

    Return False if there is no room for them.
    """
    # Locals, and no slices below: a slice or a tuple of arrays costs more here than 64 distances.
    blocks, low, high, rows = cells.blocks, cells.low, cells.high, cells.rows
    moved, coordinates, limits = screen.moved, screen.coordinates, screen.limit
    nearness, torques, spreads = screen.nearness, screen.torque, screen.spread
    overlap = np.float32(1 - factor)
    boxes, near = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    row, width = np.zeros(rows.shape[1], np.float32), len(moved) // LANES
    for leaf in range(cells.leaf_start[cell], cells.leaf_start[cell + 1]):
        base = cells.cell_start[cell] + (leaf - cells.leaf_start[cell]) * LANES
        size = min(LANES, cells.cell_start[cell + 1] - base)
        box_distances(coordinates, low, high, leaf, boxes)
        for l in range(len(members)):
            limit = np.float32(limits[l])
            if boxes[l] > limit:
                continue
            counts[TESTED] += size
            if leaf_distances(coordinates, l, blocks, leaf, overlap, limit, near) == 0:
                continue
            if filled[l] + LANES > targets.shape[1]:
                counts[EVALUATED] += filled[l]
                filled[l] = settle(
                    queries, members[l], norm[l], cells, l, targets, bounds, filled[l], heaps, k
                )
                if filled[l] + LANES > targets.shape[1]:
                    return False
            for j in range(width):
                row[j] = moved[j * LANES + l]
            m, torque, s2 = nearness[l], torques[l], spreads[l]
            root = np.sqrt(2 * s2)
            itself = members[l] if own else -1
            for t in range(size):
                if near[t] > limit or base + t == itself:
                    continue
                squared = squared_difference(row, rows, base + t)
                if squared > limit:
                    continue
                length = np.sqrt(np.float64(squared))
                short, long = max(length - slack.length, 0.0), length + slack.length
                # the bound at the shortest |D| that rounding allows, if it increases up to the longest
                lower = 0.0
                if short > 0:
                    m_torque = m + torque / short
                    if long * long < s2 - m_torque * root:
                        lower = short * short * (1 - 2 * m_torque * m_torque / (s2 - short * short))
                targets[l, filled[l]] = base + t
                bounds[l, filled[l]] = lower
                filled[l] += 1
                if k > 0 and long * long < heaps[l, 0]:
                    push(heaps, l, long * long)
            if k > 0:
                limits[l] = screen_limit(np.sqrt(heaps[l, 0]), m, torque, s2, slack.length)
    return True


@kernel(nogil=True)
def search_group(
    queries, members, pivot, own, cells, slack, factor, radius, k, targets, bounds, filled, counts
):
    """Find the k nearest targets, or with k = 0 all within `radius`, of up to 64 queries near one cell.

    The queries `members` are near the centre of the cell `pivot`. The first filled[l] entries of row l of
    `targets` and `bounds` (OUT) are their neighbours and squared norms.
    With `factor` below 1 cells and groups of queries are taken to be smaller than they are, and the parts
    of displacements that no axis sees to agree less than they may: faster, and not exact. Return False
    if `targets` has no room for all.
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
    active = np.empty(LANES, np.bool_)
    norm, spread, threshold = np.empty(LANES), np.empty(LANES), np.full(LANES, radius)
    heaps = np.full((LANES, max(k, 1)), radius * radius)
    filled[:] = 0
    for l in range(LANES):
        norm[l] = queries.norms[members[min(l, size - 1)]]
        spread[l] = queries.spreads[members[min(l, size - 1)]]
    gaps = cell_gaps(cells, factor, pivot, slack, m, quartic, start, top, block)
    load_lanes(queries.flat, members, block)
    span = 0.0  # from the centre of the pivot to the farthest query
    for cell in np.argsort(gaps):
        worst = 0.0
        for l in range(size):
            worst = max(worst, threshold[l])
        if gaps[cell] - factor * span - slack.length > worst:
            break
        correlate(block, cells.centres[cell], m)
        for l in range(LANES):
            start[l] = 0.5 * (norm[l] + cells.centre_norms[cell])
        largest_eigenvalues(m, start, 30 if cell == pivot else 5, quartic, top)
        some = False
        for l in range(LANES):
            separation = 2 * (start[l] - top[l])
            length = np.sqrt(max(separation - slack.square, 0.0))
            active[l] = l < size and length - factor * cells.radii[cell] - slack.length <= threshold[l]
            some |= active[l]
        counts[CENTRES] += size
        if not some and cell != pivot:
            continue
        newton(quartic, 10, top)
        rotations(m, top, rotation, screen.torque)
        displacements(block, rotation, cells.centres[cell], screen.moved, squared)
        project(screen.moved, cells.axes[cell], screen.coordinates)
        residual_norms(screen.moved, cells.axes[cell], screen.coordinates, AXES)
        for l in range(LANES):
            if cell == pivot:
                span = max(span, np.sqrt(np.float64(squared[l])) + slack.length)
            screen.nearness[l] = min(np.sqrt(squared[l]), cells.radii[cell]) + slack.length
            screen.torque[l] += cells.torques[cell] + 2 * slack.square
            screen.spread[l] = spread[l] + cells.spreads[cell]
            screen.limit[l] = -1.0
            if active[l]:
                counts[VISITED] += 1
                screen.limit[l] = screen_limit(
                    threshold[l], screen.nearness[l], screen.torque[l], screen.spread[l], slack.length
                )
        if not search_cell(
            screen, cells, cell, queries, members, own, norm, slack, factor, k, targets, bounds, filled,
            heaps, counts,
        ):  # fmt: skip
            return False
        for l in range(size):
            threshold[l] = np.sqrt(heaps[l, 0])
    for l in range(size):
        counts[EVALUATED] += filled[l]
        filled[l] = settle(queries, members[l], norm[l], cells, l, targets, bounds, filled[l], heaps, k)
    return True

"""Find exact neighbours under RMSD by tiles, 64 queries against leaves of 64 targets.

Nothing is superposed. Frames are dismissed by the distances of their atoms from the centroid (`boxes`),
then by the sign of a polynomial. Scale both frames to norm 1, M = sum_i x_i y_i^T. A target is farther than t
if the largest eigenvalue of Horn's matrix, the largest root of P(L) = L^4 - 2 p L^2 - 8 d L + (p^2 - 4 q), is
below L = (|x|^2 + |y|^2 - t^2) / (2 |x| |y|). All four roots are real, so this is the case if and only if P
and all of its derivatives are positive at L. No root has to be computed.

Rounding: M is summed in float32 over the atoms, at most `RUN` of them at a time. Its error moves the
eigenvalue by no more than `slack` (docs/theory/neighbours), by which L is lowered; P itself is computed in
float64.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed, correlate_eight, first_member, members_within
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.boxes import (
    PART,
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
from mdfuzzy._kernels.search.rmsd import Scratch, fill_squared_distances, scratch

#: Atoms whose products are summed in one run.
RUN = 128
#: A value of P, or of a derivative, below this share of its first term is rounding.
ROUNDING = 1e-12


class TileQueries(NamedTuple):
    """The frames whose neighbours are searched; frames near each other are stored side by side."""

    flat: np.ndarray  # (n, width)
    norms: np.ndarray  # (n,) squared norms
    unit: np.ndarray  # (n, width) scaled to norm 1
    lead: np.ndarray  # (n, 3 modes) leading modes of these; no modes: not used
    rest: np.ndarray  # (n,) the norm of what the modes leave out
    inverse: np.ndarray  # (n,) 1 / norm; 0 if all atoms are in one place
    sketches: Sketches


class TileTargets(NamedTuple):
    """The frames among which neighbours are searched, in the order of the leaves."""

    flat: np.ndarray  # (n, width)
    norms: np.ndarray  # (n,)
    inverse: np.ndarray  # (n,)
    parts: np.ndarray  # (parts * width * PART,) frames of norm 1, eight side by side
    lead_parts: np.ndarray  # (parts * 3 modes * PART,) their leading modes
    rest: np.ndarray  # (n,)
    boxes: Boxes
    atoms: float


class Batch(NamedTuple):
    """Sets of eight targets, each with one query, whose correlations are tested together."""

    m: np.ndarray  # (9 * LANES,)
    further: np.ndarray  # (9 * LANES,) sums of further runs of atoms
    level: np.ndarray  # (LANES,) L
    sign: np.ndarray  # (LANES,) float32: positive where a target is dismissed
    lane: np.ndarray  # (LANES // PART,) the query of each eight
    part: np.ndarray  # (LANES // PART,) and which eight it is
    slots: np.ndarray  # (1,) how many there are


def batch() -> Batch:
    """Return space for a batch."""
    single, eights = np.float32, LANES // PART
    return Batch(
        m=np.zeros(9 * LANES, single), further=np.zeros(9 * LANES, single), level=np.zeros(LANES),
        sign=np.empty(LANES, single), lane=np.zeros(eights, np.int64), part=np.zeros(eights, np.int64),
        slots=np.zeros(1, np.int64),
    )  # fmt: skip


class TileWork(NamedTuple):
    """Work space for the search of 64 queries, allocated once."""

    lists: Lists
    front: Front
    bits: np.ndarray  # (LANES,) uint64: the targets of a leaf that may be near each query
    lead: Batch
    whole: Batch
    pending: np.ndarray  # (LANES, LANES) targets of each query that wait for an exact distance
    waiting: np.ndarray  # (LANES,) how many
    exact: np.ndarray  # (LANES,)
    distances: Scratch


def tile_work(targets: TileTargets, room: int) -> TileWork:
    """Return work space for groups of queries that hold up to `room` targets each."""
    return TileWork(
        lists=lists(room), front=front(targets.boxes), bits=np.empty(LANES, np.uint64), lead=batch(),
        whole=batch(), pending=np.empty((LANES, LANES), np.int32), waiting=np.zeros(LANES, np.int64),
        exact=np.empty(LANES), distances=scratch(targets.flat.shape[1]),
    )  # fmt: skip


@compiled(nogil=True)
def fill_units(first, last, flat, norms, unit, inverse):  # OUT unit, inverse
    """Scale the frames first to last to norm 1."""
    for i in range(first, last):
        inverse[i] = 1 / np.sqrt(norms[i]) if norms[i] > 0 else 0.0
        for j in range(flat.shape[1]):
            unit[i, j] = flat[i, j] * inverse[i]


@compiled(nogil=True)
def fill_parts(first, last, unit, parts):  # OUT parts
    """Put frames side by side, the parts first to last of eight; empty places stay zero."""
    width = unit.shape[1]
    for part in range(first, last):
        base = part * PART
        for l in range(min(PART, len(unit) - base)):
            for j in range(width):
                parts[(part * width + j) * PART + l] = unit[base + l, j]


@compiled(fastmath=True)
def polynomial_signs(m, level, sign):  # OUT sign
    """Set the smallest of P and its derivatives at `level`, minus a bound of the rounding error.

    It is positive only if the largest root is below `level`.
    """
    for l in range(LANES):
        a, b, c = np.float64(m[l]), np.float64(m[LANES + l]), np.float64(m[2 * LANES + l])
        d, e, f = np.float64(m[3 * LANES + l]), np.float64(m[4 * LANES + l]), np.float64(m[5 * LANES + l])
        g, h, i = np.float64(m[6 * LANES + l]), np.float64(m[7 * LANES + l]), np.float64(m[8 * LANES + l])
        c0, c1, c2 = e * i - f * h, f * g - d * i, d * h - e * g
        c3, c4, c5 = c * h - b * i, a * i - c * g, b * g - a * h
        c6, c7, c8 = b * f - c * e, c * d - a * f, a * e - b * d
        p = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
        q = c0 * c0 + c1 * c1 + c2 * c2 + c3 * c3 + c4 * c4 + c5 * c5 + c6 * c6 + c7 * c7 + c8 * c8
        d8 = 8 * (a * c0 + b * c1 + c * c2)
        x = level[l]
        xx = x * x
        value = ((xx - 2 * p) * x - d8) * x + (p * p - 4 * q) - ROUNDING * xx * xx
        slope = 4 * (xx - p) * x - d8 - ROUNDING * xx * x
        curve = (3 - ROUNDING) * xx - p
        sign[l] = min(min(value, slope), min(curve, x))


@compiled(forceinline=True)
def correlate_part(parts, part, rows, member, batch, slot):  # OUT m of batch
    """Set the correlations of a query with eight targets, in the place `slot` of the batch."""
    atoms = rows.shape[1] // 3
    end = min(RUN, atoms)
    start = part * rows.shape[1] * PART
    correlate_eight(parts, start, rows, member, 0, end, batch.m, slot * PART)
    while end < atoms:
        begin, end = end, min(end + RUN, atoms)
        correlate_eight(parts, start, rows, member, begin, end, batch.further, 0)
        for j in range(9):
            for l in range(PART):
                batch.m[j * LANES + slot * PART + l] += batch.further[j * LANES + l]


@compiled(forceinline=True)
def set_levels(batch, queries, first, targets, limit, slack, share):  # OUT level of batch
    """Set L for each pair of a batch, lowered by `share` times the largest effect of the omitted modes."""
    for slot in range(batch.slots[0]):
        lane, base = batch.lane[slot], batch.part[slot] * PART
        member = first + lane
        wanted, inverse = queries.norms[member] - limit[lane], 0.5 * queries.inverse[member]
        rest = share * queries.rest[member]
        for l in range(PART):
            target = base + l
            level = (wanted + targets.norms[target]) * inverse * targets.inverse[target]
            batch.level[slot * PART + l] = level - slack - rest * targets.rest[target]


@compiled()
def settle_pending(lane, queries, member, targets, k, work, counts):  # OUT lists, waiting of work
    """Compute exact distances of waiting targets; list those within the limit. False if there is no room."""
    lists, count = work.lists, work.waiting[lane]
    counts[1] += count
    if not has_room(lane, count, k, targets.boxes.order, lists):
        return False
    pending, exact = work.pending[lane, :count], work.exact[:count]
    fill_squared_distances(
        queries.flat[member],
        queries.norms[member],
        targets.flat,
        targets.norms,
        pending,
        exact,
        work.distances,
    )
    at = lists.filled[lane]
    for i in range(count):
        lists.targets[lane, at], lists.squares[lane, at] = pending[i], exact[i]
        at += 1 if exact[i] <= lists.limit[lane] else 0
    lists.filled[lane], work.waiting[lane] = at, 0
    return True


@compiled(forceinline=True)
def add_pending(lane, target, queries, member, targets, k, work, counts):  # OUT pending, waiting of work
    """Queue a target for its exact distance; return False if there is no room."""
    work.pending[lane, work.waiting[lane]] = target
    work.waiting[lane] += 1
    return work.waiting[lane] < LANES or settle_pending(lane, queries, member, targets, k, work, counts)


@compiled(forceinline=True)
def screen_whole(queries, first, targets, k, slack, work, counts):  # OUT pending and lists of work
    """Queue the targets of a batch that may be within the limit of their query; False if there is no room."""
    batch = work.whole
    set_levels(batch, queries, first, targets, work.lists.limit, slack, 0.0)
    polynomial_signs(batch.m, batch.level, batch.sign)
    near = members_within(batch.sign, np.float32(0))
    slots = batch.slots[0]
    batch.slots[0] = 0
    for slot in range(slots):
        lane, part = batch.lane[slot], batch.part[slot]
        bits = (
            (near >> np.uint64(slot * PART))
            & (work.bits[lane] >> np.uint64(part % PART * PART))
            & np.uint64(255)
        )
        while bits:
            target = part * PART + first_member(bits)
            bits &= bits - np.uint64(1)
            if not add_pending(lane, target, queries, first + lane, targets, k, work, counts):
                return False
    return True


@compiled(forceinline=True)
def screen_lead(queries, first, targets, k, slack, work, counts):  # OUT bits and whole of work
    """Pass on the sets of eight with a target that may be within the limit; False if there is no room."""
    batch, whole, bits = work.lead, work.whole, work.bits
    set_levels(batch, queries, first, targets, work.lists.limit, slack, 1.0)
    polynomial_signs(batch.m, batch.level, batch.sign)
    near = members_within(batch.sign, np.float32(0))
    slots = batch.slots[0]
    batch.slots[0] = 0
    for slot in range(slots):
        lane, part = batch.lane[slot], batch.part[slot]
        shift = np.uint64(part % PART * PART)
        left = (near >> np.uint64(slot * PART)) & np.uint64(255)
        bits[lane] &= ~((~left & np.uint64(255)) << shift)
        if (bits[lane] >> shift) & np.uint64(255):
            place = whole.slots[0]
            whole.lane[place], whole.part[place] = lane, part
            correlate_part(targets.parts, part, queries.unit, first + lane, whole, place)
            whole.slots[0] = place + 1
            counts[2] += PART
            full = place + 1 == LANES // PART
            if full and not screen_whole(queries, first, targets, k, slack, work, counts):
                return False
    return True


@compiled(forceinline=True)
def search_leaf(leaf, stage, queries, first, size, own, targets, k, slack, work, counts):
    """Add the near targets of a leaf to the lists of the queries in `work`; False if there is no room."""
    boxes, limit = targets.boxes, work.lists.limit
    base, block = leaf * LANES, leaf_block(boxes, leaf)
    reached = queries_at_leaf(leaf, stage, size, limit, boxes, work.front)
    left = reached
    while left:
        l = first_member(left)
        left &= left - np.uint64(1)
        bits = targets_at_leaf(l, first + l, own, leaf, limit[l], boxes, block, work.front)
        work.bits[l] = bits
        if not bits:
            reached &= ~(np.uint64(1) << np.uint64(l))
        elif limit[l] >= NO_LIMIT:
            reached &= ~(np.uint64(1) << np.uint64(l))
            while bits:
                target = base + first_member(bits)
                bits &= bits - np.uint64(1)
                if not add_pending(l, target, queries, first + l, targets, k, work, counts):
                    return False
            if k > 0 and work.lists.filled[l] + work.waiting[l] >= k:  # the first limit
                if not settle_pending(l, queries, first + l, targets, k, work, counts):
                    return False
                cut(l, k, boxes.order, work.lists)
    lead = queries.lead.shape[1] > 0
    for eight in range(LANES // PART):
        part, left = leaf * PART + eight, reached
        while left:
            l = first_member(left)
            left &= left - np.uint64(1)
            if not (work.bits[l] >> np.uint64(eight * PART)) & np.uint64(255):
                continue
            batch = work.lead if lead else work.whole
            slot = batch.slots[0]
            batch.lane[slot], batch.part[slot] = l, part
            batch.slots[0] = slot + 1
            if lead:
                correlate_part(targets.lead_parts, part, queries.lead, first + l, batch, slot)
            else:
                correlate_part(targets.parts, part, queries.unit, first + l, batch, slot)
            if slot + 1 == LANES // PART:
                counts[0] += LANES
                if lead and not screen_lead(queries, first, targets, k, slack, work, counts):
                    return False
                if not lead and not screen_whole(queries, first, targets, k, slack, work, counts):
                    return False
    if not screen_lead(queries, first, targets, k, slack, work, counts):
        return False
    return screen_whole(queries, first, targets, k, slack, work, counts)


@compiled(forceinline=True)
def search_tiles_group(queries, first, size, own, targets, radii, k, slack, most, work, counts):
    """Find the k nearest targets, or with k = 0 all within its radius (a norm), of up to 64 queries.

    They are in the lists of `work`, in order. Return False if there is no room for them.
    """
    queries, targets, work = borrowed(queries), borrowed(targets), borrowed(work)
    boxes, lists, limit = targets.boxes, work.lists, work.lists.limit
    work.waiting[:], work.lead.slots[0], work.whole.slots[0] = 0, 0, 0
    begin_lists(radii, lists)
    begin_group(queries.sketches, first, size, boxes, work.front)
    leaves = np.empty(0, np.int64)
    for stage in range(2):
        leaves = next_leaves(stage, leaves, k, limit, boxes, work.front)
        for i in range(min(len(leaves), most) if stage == 1 else len(leaves)):
            if not search_leaf(leaves[i], stage, queries, first, size, own, targets, k, slack, work, counts):
                return False
    for l in range(size):
        if not settle_pending(l, queries, first + l, targets, k, work, counts):
            return False
        cut(l, k, boxes.order, lists)
    return True


@compiled(nogil=True)
def search_tiles(
    queries, first, last, own, targets, slack, most, radii, k, work, sizes, found, squares, counts
):
    """Search some groups of queries one after another; return the number of finished groups.

    The results are arranged as by `knn.search_groups`. The counts of each group are: pairs tested by leading
    modes (or by all coordinates, if there are no modes), exact distances, and pairs tested by all coordinates
    after the leading modes.
    """
    row = at = 0
    for g in range(len(first)):
        size = last[g] - first[g]
        limits = radii[row : row + size]
        if not search_tiles_group(
            queries, first[g], size, own, targets, limits, k, slack, most, work, counts[g]
        ):
            return g
        at = hand_over_lists(size, row, at, work.lists, sizes, found, squares)
        if at < 0:
            return g
        row += size
    return len(first)

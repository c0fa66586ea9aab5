"""Kernels that process all edges in every iteration: flows between points and groups, and relaxation.

Each kernel works on the rows (groups, blocks) from `first` to `last`; threads divide a job into such ranges.
Every row is computed by a single thread in a fixed order, so the results have the same bits for any number of
threads. Columns are taken eight at a time (see `columns`). Unsigned subscripts save numba the test for
negative ones.
"""

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.walk.columns import add, by_columns, load, store, subtract, times


@compiled(nogil=True)
def relax(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    rhs: np.ndarray,
    blocks: np.ndarray,
    x: np.ndarray,  # IN, OUT: (2, n, columns), old and new, the same before
) -> None:
    """Relax every row, x_i = rhs_i + sum_j P_ij x_j, one after the other in each block.

    A row uses the new values of rows in its own block and the old values of all others. The blocks are fixed,
    so the result does not depend on the number of threads.
    """
    width = np.uint64(x.shape[2])
    job = borrowed((indptr, indices, probs, rhs.reshape(-1), x.reshape(-1), x.shape[1], width))
    for b in range(first, last):
        start, stop = blocks[b], blocks[b + 1]
        for i in range(start, stop):
            by_columns(_relax_row, width, (i, start, stop), job)


@compiled(inline="always")
def _relax_row(like, c, where, job):
    i, start, stop = where
    indptr, indices, probs, rhs, x, n, width = job
    total = load(like, rhs, np.uint64(i) * width + c)
    for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        j = indices[e]
        row = np.uint64(j + n * (start <= j < stop))
        total = add(total, times(np.float64(probs[e]), load(like, x, row * width + c)))
    store(total, x, np.uint64(n + i) * width + c)


@compiled(nogil=True)
def flows(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    exits: np.ndarray,
    absorb: np.ndarray,
    net: np.ndarray,
    lift: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    x: np.ndarray,
    residual: np.ndarray,  # OUT
    out: np.ndarray,  # OUT
) -> None:
    """Set the net flow into every node of a group, and into its groups on every coarser level.

    On a coarser level only edges between different groups count. Flows between members of the same group
    cancel. They are left out, because a sum of cancelling numbers would hide the small net flow of a trap
    that is left once in 1e15 steps. The edges of a row are sorted by the number of levels on which they
    cross, so that one running sum serves all levels. The nodes of group g on level t are those from ``low[g,
    t]`` to ``high[g, t]``.

    Groups beyond the end of `out` are single nodes that are in no group of any level.
    """
    width = np.uint64(x.shape[1])
    flat = absorb.reshape(-1), x.reshape(-1), residual.reshape(-1), out.reshape(-1)
    bounds = low.reshape(-1), high.reshape(-1)
    job = borrowed((indptr, indices, probs, *bounds, exits, lift, net, *flat, width))
    for g in range(first, last):
        levels = 0
        if g < len(out):
            out[g] = 0.0
            levels = out.shape[1]
        for s in range(starts[g], starts[g + 1]):
            by_columns(_flow, width, (g, members[s], levels), job)


@compiled(inline="always")
def _flow(like, c, where, job):
    g, i, levels = where
    indptr, indices, probs, low, high, exits, lift, net, absorb, x, residual, out, width = job
    own = np.uint64(i) * width + c
    here = load(like, x, own)
    total = times(-exits[i], here)
    if len(absorb):
        total = add(total, load(like, absorb, own))
    t, first, last = levels, np.int32(0), np.int32(0)
    if t > 0:
        first, last = low[np.uint64(g * levels + t - 1)], high[np.uint64(g * levels + t - 1)]
    for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        while first <= indices[e] < last:
            t -= 1
            at = np.uint64(g * levels + t) * width + c
            store(add(load(like, out, at), times(lift[i], total)), out, at)
            first, last = np.int32(0), np.int32(0)
            if t > 0:
                first, last = low[np.uint64(g * levels + t - 1)], high[np.uint64(g * levels + t - 1)]
        there = load(like, x, np.uint64(indices[e]) * width + c)
        total = add(total, times(np.float64(probs[e]), subtract(there, here)))
    while t > 0:
        t -= 1
        at = np.uint64(g * levels + t) * width + c
        store(add(load(like, out, at), times(lift[i], total)), out, at)
    if len(net):
        for t in range(levels):
            at = np.uint64(g * levels + t) * width + c
            store(add(load(like, out, at), times(lift[i] * net[i, t], here)), out, at)
    if len(residual):
        store(total, residual, own)


@compiled(nogil=True)
def lift_flows(
    first: int,
    last: int,
    lift: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    inner: np.ndarray,
    out: np.ndarray,  # OUT
) -> None:
    """Sum the flows of the members of each group, for every level above the first."""
    levels, columns = out.shape[1], out.shape[2]
    for g in range(first, last):
        out[g] = 0.0
        for s in range(starts[g], starts[g + 1]):
            i = members[s]
            for t in range(levels):
                for c in range(columns):
                    out[g, t, c] += lift[i] * inner[i, t + 1, c]


@compiled(nogil=True)
def add_groups(
    first: int,
    last: int,
    group: np.ndarray,
    correction: np.ndarray,
    fresh: bool,
    x: np.ndarray,  # IN, OUT: (2, n, columns), old and new
) -> None:
    """Add the correction of its group to every node (`fresh`: to zero), and make old and new values equal."""
    for i in range(first, last):
        g = group[i]
        for c in range(x.shape[2]):
            value = np.float32(0.0) if fresh else x[1, i, c]
            if g >= 0:
                value += correction[g, c]
            x[0, i, c] = value
            x[1, i, c] = value

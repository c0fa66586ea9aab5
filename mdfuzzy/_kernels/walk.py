"""Kernels of the absorbing walk: transition matrix, aggregation, smoothing, and flows between aggregates.

Every row is worked out by one thread alone, in a fixed order, so that the results are bitwise the same
for any number of threads. Sums over all points go through blocks of a fixed size.
"""

import numpy as np
from numba import prange

from mdfuzzy._kernels.jit import kernel

#: Rows per partial sum; fixed, so that sums do not depend on the number of threads.
BLOCK = 4096


#: Log of the smallest weight, relative to the largest of its neighbourhood, that doubles hold comfortably.
LOWEST = -690.0


@kernel(parallel=True)
def log_row_sums(
    indptr: np.ndarray,
    indices: np.ndarray,
    pull: np.ndarray,
    lengths: np.ndarray,
    falloff: float,
    log_sums: np.ndarray,  # OUT
    log_ratios: np.ndarray,  # OUT
) -> None:
    """Log of the sum of the weights, and of the smallest over the largest, of every row."""
    for i in prange(len(indptr) - 1):
        top, low = -np.inf, np.inf
        for e in range(indptr[i], indptr[i + 1]):
            value = pull[indices[e]] - falloff * np.float64(lengths[e]) ** 2
            top = max(top, value)
            low = min(low, value)
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += np.exp(pull[indices[e]] - falloff * np.float64(lengths[e]) ** 2 - top)
        log_sums[i] = top + np.log(total)
        log_ratios[i] = low - top


@kernel(parallel=True)
def reach_further(indptr: np.ndarray, indices: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Mark, in place, points with an edge to a marked point; return which blocks of points changed.

    Whether a point sees a mark made in the same pass depends on the threads; what is marked in the end
    does not.
    """
    n = len(reached)
    changed = np.zeros((n + BLOCK - 1) // BLOCK, np.bool_)
    for b in prange(len(changed)):
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            if not reached[i]:
                for e in range(indptr[i], indptr[i + 1]):
                    if reached[indices[e]]:
                        reached[i] = True
                        changed[b] = True
                        break
    return changed


@kernel(parallel=True)
def transition_counts(
    indptr: np.ndarray, indices: np.ndarray, position: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Return how many edges of each point of `order` lead to points that have a position."""
    counts = np.empty(len(order), np.int64)
    for a in prange(len(order)):
        i = order[a]
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            if position[indices[e]] >= 0:
                count += 1
        counts[a] = count
    return counts


@kernel(parallel=True)
def transition_fill(
    indptr: np.ndarray,
    indices: np.ndarray,
    pull: np.ndarray,
    lengths: np.ndarray,
    falloff: float,
    log_sums: np.ndarray,
    position: np.ndarray,
    targets: np.ndarray,
    order: np.ndarray,
    out_indptr: np.ndarray,
    out_indices: np.ndarray,  # OUT
    out_probs: np.ndarray,  # OUT
    absorb: np.ndarray,  # OUT
) -> None:
    """Write the transition probabilities between free points, and from free points to each target."""
    for a in prange(len(order)):
        i = order[a]
        at = out_indptr[a]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            value = pull[j] - falloff * np.float64(lengths[e]) ** 2 - log_sums[i]
            p = np.exp(max(value, LOWEST))
            if position[j] >= 0:
                out_indices[at] = position[j]
                out_probs[at] = p
                at += 1
            else:
                absorb[a, targets[j]] += p


@kernel()
def aggregate(
    indptr: np.ndarray, indices: np.ndarray, probs: np.ndarray, order: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Group every node with a neighbour that it is strongly tied to; return (group, rank in it, groups).

    A node takes, of the neighbours with at least a quarter of its largest probability, the likeliest
    whose group has room; if there is none, the likeliest neighbour however large its group. So a group
    never reaches across a weak link from a node that has a strong one: traps are closed before they
    are joined to anything else.
    """
    n = len(indptr) - 1
    group = np.full(n, -1, np.int32)
    rank = np.zeros(n, np.int32)
    size = np.zeros(n, np.int32)
    groups = 0
    for i in order:
        if group[i] >= 0:
            continue
        top = 0.0
        strongest = -1
        for e in range(indptr[i], indptr[i + 1]):
            if probs[e] > top:
                top = probs[e]
                strongest = indices[e]
        choice = strongest
        if strongest >= 0 and group[strongest] >= 0 and size[group[strongest]] >= limit:
            best = 0.25 * top
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if probs[e] > best and (group[j] < 0 or size[group[j]] < limit):
                    best = probs[e]
                    choice = j
        if choice < 0:
            group[i] = groups
            size[groups] = 1
            groups += 1
        elif group[choice] < 0:
            group[choice] = groups
            group[i] = groups
            rank[i] = 1
            size[groups] = 2
            groups += 1
        else:
            group[i] = group[choice]
            rank[i] = size[group[i]]
            size[group[i]] += 1
    return group, rank, groups


@kernel(parallel=True)
def permute_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    order: np.ndarray,
    position: np.ndarray,
    out_indptr: np.ndarray,
    out_indices: np.ndarray,  # OUT
    out_probs: np.ndarray,  # OUT
) -> None:
    """Copy a matrix with rows and columns in another order."""
    for a in prange(len(order)):
        shift = indptr[order[a]] - out_indptr[a]
        for e in range(out_indptr[a], out_indptr[a + 1]):
            out_indices[e] = position[indices[e + shift]]
            out_probs[e] = probs[e + shift]


@kernel(parallel=True)
def coarse_counts(
    indptr: np.ndarray,
    indices: np.ndarray,
    group: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    n_chunks: int,
) -> np.ndarray:
    """Return to how many other groups the edges of each group lead."""
    n = len(first) - 1
    counts = np.zeros(n, np.int64)
    size = (n + n_chunks - 1) // n_chunks
    for chunk in prange(n_chunks):
        seen = np.full(n, -1, np.int32)
        for g in range(chunk * size, min(n, (chunk + 1) * size)):
            for s in range(first[g], first[g + 1]):
                i = members[s]
                for e in range(indptr[i], indptr[i + 1]):
                    h = group[indices[e]]
                    if h != g and seen[h] != g:
                        seen[h] = g
                        counts[g] += 1
    return counts


@kernel(parallel=True)
def coarse_fill(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    exits: np.ndarray,
    log_mass: np.ndarray,
    group: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    n_chunks: int,
    out_indptr: np.ndarray,
    out_indices: np.ndarray,  # OUT
    out_probs: np.ndarray,  # OUT
    out_exits: np.ndarray,  # OUT
    out_log_mass: np.ndarray,  # OUT
) -> None:
    """Lump the walk: probabilities from group to group, given that the group is left.

    Each member counts with its mass; edges inside a group are left out, never subtracted.
    """
    n = len(first) - 1
    size = (n + n_chunks - 1) // n_chunks
    for chunk in prange(n_chunks):
        slot = np.full(n, -1, np.int64)
        flow = np.zeros(n, np.float64)
        for g in range(chunk * size, min(n, (chunk + 1) * size)):
            top = -np.inf
            for s in range(first[g], first[g + 1]):
                top = max(top, log_mass[members[s]])
            at = out_indptr[g]
            out = 0.0
            leave = 0.0
            for s in range(first[g], first[g + 1]):
                i = members[s]
                mass = np.exp(log_mass[i] - top)
                leave += mass * exits[i]
                for e in range(indptr[i], indptr[i + 1]):
                    h = group[indices[e]]
                    if h == g:
                        continue
                    if slot[h] < out_indptr[g]:
                        slot[h] = at
                        flow[h] = 0.0
                        out_indices[at] = h
                        at += 1
                    flow[h] += mass * probs[e]
                    out += mass * probs[e]
            total = out + leave
            for e in range(out_indptr[g], out_indptr[g + 1]):
                out_probs[e] = flow[out_indices[e]] / total
            out_exits[g] = leave / total
            out_log_mass[g] = top + np.log(total)


@kernel(parallel=True)
def sort_by_levels_apart(
    indptr: np.ndarray,
    ancestors: np.ndarray,
    indices: np.ndarray,  # IN, OUT
    probs: np.ndarray,  # IN, OUT
    apart: np.ndarray,  # OUT
) -> None:
    """Write on how many coarser levels the ends of an edge are in different groups; sort rows by it, descending."""
    levels = len(ancestors)
    for i in prange(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        row_indices = indices[start:stop].copy()
        row_probs = probs[start:stop].copy()
        depth = np.zeros(stop - start, np.uint8)
        counts = np.zeros(levels + 2, np.int64)
        for e in range(stop - start):
            j = row_indices[e]
            t = 0
            while t < levels and ancestors[t, i] != ancestors[t, j]:
                t += 1
            depth[e] = t
            counts[levels - t + 1] += 1
        for t in range(levels + 1):
            counts[t + 1] += counts[t]
        for e in range(stop - start):
            t = levels - depth[e]
            at = start + counts[t]
            counts[t] += 1
            indices[at] = row_indices[e]
            probs[at] = row_probs[e]
            apart[at] = depth[e]


@kernel(inline="always")
def relax_row(indptr, indices, probs, rhs, x, i, out, row):  # noqa: D103
    # Two columns at a time, in registers; unsigned subscripts spare numba the test for negative ones.
    flat = x.reshape(-1)
    columns = np.uint64(x.shape[1])
    for c in range(np.uint64(0), columns, np.uint64(2)):
        a = np.float64(rhs[i, c])
        b = np.float64(rhs[i, c + np.uint64(1)])
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            p = np.float64(probs[e])
            at = np.uint64(indices[e]) * columns + c
            a += p * flat[at]
            b += p * flat[at + np.uint64(1)]
        out[row, c] = a
        out[row, c + np.uint64(1)] = b


@kernel(parallel=True)
def relax_slice(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    rhs: np.ndarray,
    start: int,
    stop: int,
    x: np.ndarray,  # IN, OUT
    out: np.ndarray,  # scratch
) -> None:
    """Relax the rows of one slice at the same time: x_i = rhs_i + sum_j P_ij x_j."""
    for i in prange(start, stop):
        relax_row(indptr, indices, probs, rhs, x, i, out, i - start)
    for i in prange(start, stop):
        for c in range(x.shape[1]):
            x[i, c] = out[i - start, c]


@kernel()
def relax_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    rhs: np.ndarray,
    x: np.ndarray,  # IN, OUT
) -> None:
    """Relax all rows one after the other (Gauss-Seidel), for levels too small to share out."""
    for i in range(len(x)):
        relax_row(indptr, indices, probs, rhs, x, i, x, i)


@kernel(inline="always")
def group_flow(  # noqa: D103
    indptr, indices, probs, apart, exits, absorb, net, lift, first, members, x, g, residual, out
):
    levels = out.shape[1]
    flat = x.reshape(-1)
    columns = np.uint64(x.shape[1])
    one = np.uint64(1)
    for t in range(levels):
        for c in range(x.shape[1]):
            out[g, t, c] = 0.0
    for s in range(first[g], first[g + 1]):
        i = members[s]
        for c in range(np.uint64(0), columns, np.uint64(2)):
            here_a = np.float64(x[i, c])
            here_b = np.float64(x[i, c + one])
            a = -exits[i] * here_a
            b = -exits[i] * here_b
            if len(absorb):
                a += absorb[i, c]
                b += absorb[i, c + one]
            t = levels
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                while t > apart[e]:
                    t -= 1
                    out[g, t, c] += lift[i] * a
                    out[g, t, c + one] += lift[i] * b
                p = np.float64(probs[e])
                at = np.uint64(indices[e]) * columns + c
                a += p * (flat[at] - here_a)
                b += p * (flat[at + one] - here_b)
            while t > 0:
                t -= 1
                out[g, t, c] += lift[i] * a
                out[g, t, c + one] += lift[i] * b
            if len(net):
                for t in range(levels):
                    out[g, t, c] += lift[i] * net[i, t] * here_a
                    out[g, t, c + one] += lift[i] * net[i, t] * here_b
            if len(residual):
                residual[i, c] = a
                residual[i, c + one] = b


@kernel(parallel=True)
def flows(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    apart: np.ndarray,
    exits: np.ndarray,
    absorb: np.ndarray,
    net: np.ndarray,
    lift: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    x: np.ndarray,
    residual: np.ndarray,  # OUT
    out: np.ndarray,  # OUT
) -> None:
    """Net flow into every node, and into its group as seen from every coarser level.

    On a coarser level only the edges count that cross between groups there. What flows between two
    members of the same group cancels; leaving it out, instead of adding numbers that cancel, is what
    keeps the balance of a trap accurate that is left once in 1e15 steps. The edges of a row are sorted
    by the number of levels on which they cross, so that one running sum serves all levels.
    """
    for g in prange(len(first) - 1):
        group_flow(
            indptr, indices, probs, apart, exits, absorb, net, lift, first, members, x, g, residual, out
        )


@kernel()
def flows_serial(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    apart: np.ndarray,
    exits: np.ndarray,
    absorb: np.ndarray,
    net: np.ndarray,
    lift: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    x: np.ndarray,
    residual: np.ndarray,  # OUT
    out: np.ndarray,  # OUT
) -> None:
    """Do the same as `flows` on one thread, for levels too small to share out."""
    for g in range(len(first) - 1):
        group_flow(
            indptr, indices, probs, apart, exits, absorb, net, lift, first, members, x, g, residual, out
        )


@kernel()
def lift_flows(
    lift: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    inner: np.ndarray,
    out: np.ndarray,  # OUT
) -> None:
    """Sum the flows of the members of each group, for every level above the first."""
    levels, columns = out.shape[1], out.shape[2]
    for g in range(len(first) - 1):
        out[g] = 0.0
        for s in range(first[g], first[g + 1]):
            i = members[s]
            for t in range(levels):
                for c in range(columns):
                    out[g, t, c] += lift[i] * inner[i, t + 1, c]


@kernel()
def add_groups(x: np.ndarray, group: np.ndarray, correction: np.ndarray) -> None:
    """Add to every node, in place, the correction of its group."""
    for i in range(len(x)):
        for c in range(x.shape[1]):
            x[i, c] += correction[group[i], c]


@kernel(parallel=True)
def block_dots(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the sums of left * right per column, in blocks of rows."""
    n, columns = left.shape
    sums = np.zeros(((n + BLOCK - 1) // BLOCK, columns))
    for b in prange(len(sums)):
        for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
            for c in range(columns):
                sums[b, c] += left[i, c] * right[i, c]
    return sums


@kernel()
def transpose(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, per node, the edges that lead to it: (starts, where they come from, where they are stored)."""
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    for e in range(len(indices)):
        starts[indices[e] + 1] += 1
    for j in range(n):
        starts[j + 1] += starts[j]
    fill = starts[:-1].copy()
    rows = np.empty(len(indices), np.int32)
    edges = np.empty(len(indices), np.int64)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            at = fill[indices[e]]
            fill[indices[e]] += 1
            rows[at] = i
            edges[at] = e
    return starts, rows, edges


@kernel()
def balance_visits(
    starts: np.ndarray,
    rows: np.ndarray,
    edges: np.ndarray,
    probs: np.ndarray,
    log_source: np.ndarray,
    log_visits: np.ndarray,  # IN, OUT
) -> None:
    """Set the visits of one node after the other to what comes in: v_j = source_j + sum_i v_i P_ij."""
    for j in range(len(log_visits)):
        here = log_visits[j]
        total = np.exp(log_source[j] - here)
        for s in range(starts[j], starts[j + 1]):
            total += probs[edges[s]] * np.exp(log_visits[rows[s]] - here)
        log_visits[j] = here + np.log(total)


@kernel()
def net_outflow(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    apart: np.ndarray,
    exits: np.ndarray,
    log_source: np.ndarray,
    log_visits: np.ndarray,
    outflow: np.ndarray,  # OUT
    net: np.ndarray,  # OUT
) -> None:
    """Per visit of a node, what leaves its group of every level from there, and that less what enters."""
    n, levels = net.shape
    for i in range(n):
        source = np.exp(log_source[i] - log_visits[i])
        for t in range(levels):
            outflow[i, t] = exits[i]
            net[i, t] -= source
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            into = probs[e] * np.exp(log_visits[i] - log_visits[j])
            for t in range(apart[e]):
                outflow[i, t] += probs[e]
                net[j, t] -= into
    for i in range(n):
        for t in range(levels):
            net[i, t] += outflow[i, t]

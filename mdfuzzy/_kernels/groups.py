"""Kernels that group the nodes of a walk, lump it, and balance what flows between the groups.

Those with `first` and `last` work on the rows between them (`coarse_...`: on groups), and threads share a job
by its ranges; each row is worked out by one thread alone.
"""

import numpy as np

from mdfuzzy._kernels.jit import kernel


@kernel(nogil=True)
def strongest_ties(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    exits: np.ndarray,
    strongest: np.ndarray,  # OUT
) -> None:
    """Set the edge to the likeliest other node that can be in a group; -1 if there is none."""
    for i in range(first, last):
        top = probs.dtype.type(0)
        strongest[i] = -1
        for e in range(indptr[i], indptr[i + 1]):
            if probs[e] > top and indices[e] != i and exits[indices[e]] < 0.5:
                top = probs[e]
                strongest[i] = e


@kernel()
def aggregate(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    exits: np.ndarray,
    strongest: np.ndarray,
    order: np.ndarray,
    limit: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Group every node with a neighbour that it is strongly tied to; return (group, rank in it, groups).

    A node takes, of the neighbours with at least a quarter of its largest probability, the likeliest
    whose group has room; if there is none, the likeliest neighbour however large its group. So a group
    never reaches across a weak link from a node that has a strong one: traps are closed before they
    are joined to anything else.

    A node that ends the walk at least every second time is pinned by that: it belongs to no group (-1),
    and would only hide, by its weight, what its neighbours do.
    """
    n = len(indptr) - 1
    group, rank, size = np.full(n, -1, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    # Whether a node can be joined, by itself or in its group: one small array to look at for every edge.
    free = (exits < 0.5).astype(np.uint8)
    last, before = np.empty(n, np.int32), np.empty(n, np.int32)  # members of a group, from the last one on
    groups = 0
    for i in order:
        if group[i] >= 0 or exits[i] >= 0.5:
            continue
        choice = i
        if strongest[i] >= 0:
            choice = indices[strongest[i]]
            if not free[choice]:
                best = 0.25 * probs[strongest[i]]
                for e in range(indptr[i], indptr[i + 1]):
                    if probs[e] > best and free[indices[e]] and indices[e] != i:
                        best = probs[e]
                        choice = indices[e]
        if group[choice] < 0:
            group[choice], size[groups], last[groups] = groups, 1, choice
            groups += 1
        if choice == i:
            continue
        g = group[choice]
        group[i], rank[i], before[i] = g, size[g], last[g]
        size[g], last[g] = size[g] + 1, i
        if size[g] > limit:
            free[i] = 0
        elif size[g] == limit:
            j = i
            for _ in range(limit):
                free[j] = 0
                j = before[j]
    return group, rank, groups


@kernel(nogil=True)
def permute_rows(
    first: int,
    last: int,
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
    for a in range(first, last):
        shift = indptr[order[a]] - out_indptr[a]
        for e in range(out_indptr[a], out_indptr[a + 1]):
            out_indices[e] = position[indices[e + shift]]
            out_probs[e] = probs[e + shift]


@kernel(nogil=True)
def coarse_counts(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    group: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    counts: np.ndarray,  # OUT, zero before
) -> None:
    """Count to how many other groups the edges of each group lead."""
    seen = np.full(len(starts) - 1, -1, np.int32)
    for g in range(first, last):
        for s in range(starts[g], starts[g + 1]):
            i = members[s]
            for e in range(indptr[i], indptr[i + 1]):
                h = group[indices[e]]
                if h >= 0 and h != g and seen[h] != g:
                    seen[h] = g
                    counts[g] += 1


@kernel(nogil=True)
def coarse_fill(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    exits: np.ndarray,
    log_mass: np.ndarray,
    group: np.ndarray,
    starts: np.ndarray,
    members: np.ndarray,
    out_indptr: np.ndarray,
    out_indices: np.ndarray,  # OUT
    out_probs: np.ndarray,  # OUT
    out_exits: np.ndarray,  # OUT
    out_log_mass: np.ndarray,  # OUT
) -> None:
    """Lump the walk: probabilities from group to group, given that the group is left.

    Each member counts with its mass; edges inside a group are left out, never subtracted.
    """
    slot = np.full(len(starts) - 1, -1, np.int64)
    for g in range(first, last):
        top = -np.inf
        for s in range(starts[g], starts[g + 1]):
            top = max(top, log_mass[members[s]])
        at = out_indptr[g]
        out = 0.0
        leave = 0.0
        for s in range(starts[g], starts[g + 1]):
            i = members[s]
            mass = np.exp(log_mass[i] - top)
            leave += mass * exits[i]
            for e in range(indptr[i], indptr[i + 1]):
                h = group[indices[e]]
                if h == g:
                    continue
                if h < 0:
                    leave += mass * probs[e]
                    continue
                if slot[h] < out_indptr[g]:
                    slot[h] = at
                    out_probs[at] = 0.0
                    out_indices[at] = h
                    at += 1
                out_probs[slot[h]] += mass * probs[e]
                out += mass * probs[e]
        total = out + leave
        for e in range(out_indptr[g], out_indptr[g + 1]):
            out_probs[e] /= total
        out_exits[g] = leave / total
        out_log_mass[g] = top + np.log(total)


@kernel(nogil=True)
def sort_by_levels_apart(
    first: int,
    last: int,
    indptr: np.ndarray,
    ancestors: np.ndarray,
    starts: np.ndarray,
    offsets: np.ndarray,
    indices: np.ndarray,  # IN, OUT
    probs: np.ndarray,  # IN, OUT
    apart: np.ndarray,  # OUT
) -> None:
    """Sort each row by the number of coarser levels on which an edge crosses between groups, descending.

    The nodes of group g of level t are those from ``starts[offsets[t] + g]`` to the next: to see whether a
    neighbour is among them takes its number alone, and no look at its own groups somewhere in memory.
    """
    levels = len(ancestors)
    longest = 0
    for i in range(first, last):
        longest = max(longest, indptr[i + 1] - indptr[i])
    row_indices, row_probs = np.empty(longest, indices.dtype), np.empty(longest, probs.dtype)
    depth, counts = np.empty(longest, np.uint8), np.empty(levels + 2, np.int64)
    low, high = np.empty(levels, np.int64), np.empty(levels, np.int64)
    for i in range(first, last):
        for t in range(levels):
            g = ancestors[t, i]
            low[t] = starts[offsets[t] + g] if g >= 0 else 0
            high[t] = starts[offsets[t] + g + 1] if g >= 0 else 0
        counts[:] = 0
        start, stop = indptr[i], indptr[i + 1]
        for e in range(stop - start):
            j = indices[start + e]
            t = 0
            while t < levels and not low[t] <= j < high[t]:
                t += 1
            row_indices[e] = j
            row_probs[e] = probs[start + e]
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
def group_sources(
    starts: np.ndarray,
    rows: np.ndarray,
    edges: np.ndarray,
    probs: np.ndarray,
    group: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    log_source: np.ndarray,
    log_visits: np.ndarray,
    out: np.ndarray,  # OUT
) -> None:
    """Log of what comes into each group from its sources and from nodes that belong to no group."""
    for g in range(len(first) - 1):
        top = -np.inf
        for s in range(first[g], first[g + 1]):
            top = max(top, log_visits[members[s]])
        total = 0.0
        for s in range(first[g], first[g + 1]):
            j = members[s]
            total += np.exp(log_source[j] - top)
            for a in range(starts[j], starts[j + 1]):
                if group[rows[a]] < 0:
                    total += probs[edges[a]] * np.exp(log_visits[rows[a]] - top)
        out[g] = top + np.log(total)


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

"""Kernels that group the nodes of a walk, lump it, and put its rows in order.

Kernels with `first` and `last` work on the rows between them (`lump_rows`: on groups). Threads divide a job
into such ranges; each row is computed by a single thread.
"""

import numpy as np

from mdfuzzy._kernels.jit import compiled

#: Replace the number of the group: for a node without a group, and for a node where the walk has ended.
ALONE, TARGET = -1, -2
#: A tie is strong if it has at least this share of the largest probability of its node.
STRONG = 0.25


@compiled(nogil=True)
def strong_ties(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    lengths: np.ndarray,
    groupable: np.ndarray,
    least: np.ndarray,  # OUT
    nearest: np.ndarray,  # OUT
) -> None:
    """Set the smallest probability of a strong tie, and the nearest strong node that can be in a group.

    The node itself is set as its nearest if there is none. Nodes that cannot be in a group are left out.
    """
    for i in range(first, last):
        if not groupable[i]:
            continue
        top = probs.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            if probs[e] > top and indices[e] != i:
                top = probs[e]
        least[i] = STRONG * top
        nearest[i] = i
        if top > 0.0:
            nearest[i] = _find_nearest(i, indptr, indices, probs, lengths, groupable, least[i], i)


@compiled(nogil=True)
def _find_nearest(i, indptr, indices, probs, lengths, allowed, least, otherwise):
    """Return the nearest other node that is allowed, of those with a probability of at least `least`.

    The nearest node has the shortest edge. If edges are equally long or have no lengths, it is the node of
    the largest probability.
    """
    found, length, prob = otherwise, np.inf, 0.0
    for e in range(indptr[i], indptr[i + 1]):
        far = np.float64(lengths[e]) if len(lengths) else np.inf
        nearer = far < length or (far == length and probs[e] > prob)
        if nearer and probs[e] >= least and allowed[indices[e]] and indices[e] != i:
            found, length, prob = indices[e], far, probs[e]
    return found


@compiled()
def aggregate(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    lengths: np.ndarray,
    groupable: np.ndarray,
    least: np.ndarray,
    nearest: np.ndarray,
    order: np.ndarray,
    limit: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Group every node in `order` with a strongly tied node; return (group, rank in it, groups).

    A node joins the nearest of its strongly tied nodes whose group has room; if no group has room, the
    nearest strongly tied node. A node with a strong tie is therefore never joined by a weak one, and the
    points of a trap form one group before they are joined to anything else. Choosing the nearest node gives
    round groups, with fewer neighbours than choosing the likeliest node, which always lies uphill.
    """
    n = len(indptr) - 1
    group, rank, size = np.full(n, ALONE, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    # Whether a node can be joined, alone or with its group: one small array that is read for every edge.
    free = groupable.copy()
    last, before = np.empty(n, np.int32), np.empty(n, np.int32)  # members of a group, beginning with the last
    groups = 0
    for i in order:
        if group[i] >= 0:
            continue
        choice = nearest[i]
        if not free[choice]:
            choice = _find_nearest(i, indptr, indices, probs, lengths, free, least[i], choice)
        if group[choice] < 0:
            group[choice], size[groups], last[groups] = groups, 1, choice
            groups += 1
        if choice == i:
            continue
        g = group[choice]
        group[i], rank[i], before[i] = g, size[g], last[g]
        size[g], last[g] = size[g] + 1, i
        if size[g] > limit:
            free[i] = False
        elif size[g] == limit:
            j = i
            for _ in range(limit):
                free[j] = False
                j = before[j]
    return group, rank, groups


@compiled(nogil=True)
def lump_rows(
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
    like: np.ndarray,
    counts: np.ndarray,  # OUT
    out_exits: np.ndarray,  # OUT
    out_log_mass: np.ndarray,  # OUT
) -> tuple[np.ndarray, np.ndarray]:
    """Lump the walk: return the probabilities of steps between groups, given that the walk leaves its group.

    Each member counts with its mass; edges inside a group are left out, never subtracted. The probabilities
    have the type of `like`. Their number is known only at the end. The function therefore allocates arrays of
    the largest possible length and returns the filled beginning; the system never provides memory for the
    rest.
    """
    most = 0
    for s in range(starts[first], starts[last]):
        most += indptr[members[s] + 1] - indptr[members[s]]
    out_indices, out_probs = np.empty(most, np.int32), np.empty(most, like.dtype)
    slot = np.full(len(starts) - 1, -1, np.int64)
    at = 0
    for g in range(first, last):
        top = -np.inf
        for s in range(starts[g], starts[g + 1]):
            top = max(top, log_mass[members[s]])
        begin = at
        out = 0.0
        leave = 0.0
        for s in range(starts[g], starts[g + 1]):
            i = members[s]
            mass = np.exp(log_mass[i] - top)
            leave += mass * exits[i]
            for e in range(indptr[i], indptr[i + 1]):
                h = group[indices[e]]
                if h in (g, TARGET):  # the probability of reaching targets is in `exits`
                    continue
                if h == ALONE:
                    leave += mass * probs[e]
                    continue
                if slot[h] < begin:
                    slot[h] = at
                    out_probs[at] = 0.0
                    out_indices[at] = h
                    at += 1
                out_probs[slot[h]] += mass * probs[e]
                out += mass * probs[e]
        total = out + leave
        for e in range(begin, at):
            out_probs[e] /= total
        counts[g] = at - begin
        out_exits[g] = leave / total
        out_log_mass[g] = top + np.log(total)
    return out_indices[:at], out_probs[:at]


@compiled(nogil=True)
def arrange_rows(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    position: np.ndarray,
    ancestors: np.ndarray,
    starts: np.ndarray,
    offsets: np.ndarray,
    out_indptr: np.ndarray,
    out: np.ndarray,  # OUT
) -> None:
    """Copy the values of the edges, with the nodes in another order; without values, the ends of the edges.

    `position` is the place of each node in the new order; nodes without a place (-1) are left out. Each row
    is sorted by the number of coarser levels on which an edge crosses between groups, descending. The nodes
    of group g of level t are consecutive and begin at ``starts[offsets[t] + g]``. Whether a neighbour is
    among them follows from its position alone, without reading the groups of the neighbour from memory.
    """
    levels = len(ancestors)
    longest = 0
    for i in range(first, last):
        longest = max(longest, indptr[i + 1] - indptr[i])
    ends, depth = np.empty(longest, np.int32), np.empty(longest, np.int32)
    counts = np.empty(levels + 2, np.int64)
    for i in range(first, last):
        a = position[i]
        if a < 0:
            continue
        start, length = indptr[i], indptr[i + 1] - indptr[i]
        for e in range(length):
            ends[e] = position[indices[start + e]]
            depth[e] = 0
        low, high = np.int32(0), np.int32(0)
        for t in range(levels):
            g = ancestors[t, a]
            if g >= 0:  # a group that is in no group itself holds the same nodes on all levels above
                low, high = np.int32(starts[offsets[t] + g]), np.int32(starts[offsets[t] + g + 1])
            for e in range(length):
                depth[e] += (ends[e] < low) | (ends[e] >= high)
        counts[:] = 0
        for e in range(length):
            counts[levels - depth[e] + 1] += ends[e] >= 0
        for t in range(levels + 1):
            counts[t + 1] += counts[t]
        for e in range(length):
            if ends[e] >= 0:
                t = levels - depth[e]
                at = out_indptr[a] + counts[t]
                counts[t] += 1
                out[at] = values[start + e] if len(values) else ends[e]

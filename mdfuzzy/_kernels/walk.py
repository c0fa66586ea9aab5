"""Kernels of the absorbing walk: transition matrix, aggregation, smoothing, and flows between aggregates.

Each works on the rows (groups, blocks) from `first` to `last`, and threads share a job by its ranges. Every
row is worked out by one thread alone, in a fixed order, so that the results are bitwise the same for any
number of threads. Sums over all points go through blocks of a fixed size.
"""

import numpy as np

from mdfuzzy._kernels.jit import kernel

#: Rows per partial sum; fixed, so that sums do not depend on the number of threads.
BLOCK = 4096


#: Log of the smallest weight, relative to the largest of its neighbourhood, that doubles hold comfortably.
LOWEST = -690.0


@kernel(nogil=True)
def log_row_sums(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    pull: np.ndarray,
    lengths: np.ndarray,
    falloff: float,
    log_sums: np.ndarray,  # OUT
    log_ratios: np.ndarray,  # OUT
) -> None:
    """Log of the sum of the weights, and of the smallest over the largest, of every row."""
    for i in range(first, last):
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


@kernel(nogil=True)
def reach_further(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    reached: np.ndarray,  # IN, OUT
    changed: np.ndarray,  # OUT
) -> None:
    """Mark points with an edge to a marked point, and the blocks of points in which there were some.

    Whether a point sees a mark made in the same pass depends on the threads; what is marked in the end
    does not.
    """
    for b in range(first, last):
        for i in range(b * BLOCK, min(len(reached), (b + 1) * BLOCK)):
            if not reached[i]:
                for e in range(indptr[i], indptr[i + 1]):
                    if reached[indices[e]]:
                        reached[i] = True
                        changed[b] = True
                        break
    return changed


@kernel(nogil=True)
def transition_counts(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    position: np.ndarray,
    order: np.ndarray,
    counts: np.ndarray,  # OUT
) -> None:
    """Count how many edges of each point of `order` lead to points that have a position."""
    for a in range(first, last):
        i = order[a]
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            if position[indices[e]] >= 0:
                count += 1
        counts[a] = count


@kernel(nogil=True)
def transition_fill(
    first: int,
    last: int,
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
    for a in range(first, last):
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


@kernel(nogil=True)
def relax(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    rhs: np.ndarray,
    blocks: np.ndarray,
    x: np.ndarray,  # IN, OUT: (2, n, columns), old and new
) -> None:
    """Relax every row, x_i = rhs_i + sum_j P_ij x_j: one after the other, but each block for itself.

    Rows of the same block are read from the new values, others from the old ones. The blocks are fixed,
    so that the result does not depend on the threads.
    """
    n = x.shape[1]
    columns = np.uint64(x.shape[2])
    two = np.uint64(2)
    flat = x.reshape(-1)
    for b in range(first, last):
        start, stop = blocks[b], blocks[b + 1]
        for i in range(start, stop):
            # Two columns at a time, in registers; unsigned subscripts spare numba the test for negative ones.
            for c in range(np.uint64(0), columns, two):
                left = np.float64(rhs[i, c])
                right = np.float64(rhs[i, c + np.uint64(1)])
                for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                    p = np.float64(probs[e])
                    j = indices[e]
                    row = np.uint64(j + n * (start <= j < stop))
                    at = row * columns + c
                    left += p * flat[at]
                    right += p * flat[at + np.uint64(1)]
                at = np.uint64(n + i) * columns + c
                flat[at] = left
                flat[at + np.uint64(1)] = right


@kernel()
def relax_serial(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    rhs: np.ndarray,
    x: np.ndarray,  # IN, OUT
) -> None:
    """Relax all rows one after the other (Gauss-Seidel), for levels too small to share out."""
    columns = x.shape[1]
    row = np.empty(columns)
    for i in range(len(x)):
        for c in range(columns):
            row[c] = rhs[i, c]
        for e in range(indptr[i], indptr[i + 1]):
            for c in range(columns):
                row[c] += probs[e] * x[indices[e], c]
        for c in range(columns):
            x[i, c] = row[c]


@kernel(nogil=True)
def flows(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    apart: np.ndarray,
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
    """Net flow into every node of a group, and into the group as seen from every coarser level.

    On a coarser level only the edges count that cross between groups there. What flows between two
    members of the same group cancels; leaving it out, instead of adding numbers that cancel, is what
    keeps the balance of a trap accurate that is left once in 1e15 steps. The edges of a row are sorted
    by the number of levels on which they cross, so that one running sum serves all levels.
    """
    levels = out.shape[1]
    flat = x.reshape(-1)
    columns = np.uint64(x.shape[1])
    one = np.uint64(1)
    for g in range(first, last):
        for t in range(levels):
            for c in range(x.shape[1]):
                out[g, t, c] = 0.0
        for s in range(starts[g], starts[g + 1]):
            i = members[s]
            for c in range(np.uint64(0), columns, np.uint64(2)):
                here_a = x[i, c]
                here_b = x[i, c + one]
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


@kernel(nogil=True)
def flows_alone(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    exits: np.ndarray,
    absorb: np.ndarray,
    nodes: np.ndarray,
    x: np.ndarray,
    residual: np.ndarray,  # OUT
) -> None:
    """Net flow into each of `nodes`, which are in no group."""
    for s in range(first, last):
        i = nodes[s]
        for c in range(x.shape[1]):
            total = -exits[i] * x[i, c]
            if len(absorb):
                total += absorb[i, c]
            for e in range(indptr[i], indptr[i + 1]):
                total += probs[e] * (x[indices[e], c] - x[i, c])
            residual[i, c] = total


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
        if group[i] >= 0:
            for c in range(x.shape[1]):
                x[i, c] += correction[group[i], c]


@kernel(nogil=True)
def block_dots(
    first: int,
    last: int,
    stack: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    sums: np.ndarray,  # OUT: (blocks, arrays, 2, columns), zero before
) -> None:
    """Sum over rows, in blocks, each array of `stack` times `left` and times `right`."""
    count, n, columns = stack.shape
    for b in range(first, last):
        for u in range(count):
            for i in range(b * BLOCK, min(n, (b + 1) * BLOCK)):
                for c in range(columns):
                    value = np.float64(stack[u, i, c])
                    sums[b, u, 0, c] += value * left[i, c]
                    sums[b, u, 1, c] += value * right[i, c]


@kernel(nogil=True)
def take_step(
    first: int,
    last: int,
    x: np.ndarray,  # IN, OUT
    correction: np.ndarray,
    shares: np.ndarray,
    steps: np.ndarray,
    changes: np.ndarray,
    step: np.ndarray,  # OUT
) -> None:
    """Move `x` by the correction less the shares of earlier steps and of what they changed."""
    for i in range(first, last):
        for c in range(x.shape[1]):
            value = np.float64(correction[i, c])
            for u in range(len(shares)):
                value -= shares[u, c] * (np.float64(steps[u, i, c]) + changes[u, i, c])
            step[i, c] = value
            x[i, c] += step[i, c]

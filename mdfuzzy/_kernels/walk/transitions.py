"""Kernels of the absorbing walk: the nodes that reach a target, and the transition matrix.

Each works on the rows (or blocks of them) from `first` to `last`, and threads share a job by its ranges.
"""

import numpy as np

from mdfuzzy._kernels.jit import compiled

#: The number of rows in a block.
BLOCK = 4096
#: Log of the smallest weight, relative to the largest of its neighbourhood, that doubles hold comfortably.
LOWEST = -690.0


@compiled(nogil=True)
def row_ranges(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    pull: np.ndarray,
    lengths: np.ndarray,
    falloff: float,
    targets: np.ndarray,
    log_tops: np.ndarray,  # OUT
    log_ratios: np.ndarray,  # OUT
    counts: np.ndarray,  # OUT
) -> None:
    """Find the logarithms of the largest weight of each row and of the smallest relative to it.

    The free ends of the rows are counted. The rows of targets are not changed.
    """
    for i in range(first, last):
        if targets[i] >= 0:
            continue
        top, low, count = -np.inf, np.inf, 0
        for e in range(indptr[i], indptr[i + 1]):
            value = pull[indices[e]] - falloff * np.float64(lengths[e]) ** 2
            top = max(top, value)
            low = min(low, value)
            count += targets[indices[e]] < 0
        log_tops[i] = top
        log_ratios[i] = low - top
        counts[i] = count


@compiled(nogil=True)
def reach_further(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    reached: np.ndarray,  # IN, OUT
    changed: np.ndarray,  # OUT
) -> None:
    """Mark points with an edge to a marked point, and the blocks of points with new marks.

    Whether a point sees a mark made in the same pass depends on the threads, but the final marks do not.
    """
    for b in range(first, last):
        for i in range(b * BLOCK, min(len(reached), (b + 1) * BLOCK)):
            if not reached[i]:
                for e in range(indptr[i], indptr[i + 1]):
                    if reached[indices[e]]:
                        reached[i] = True
                        changed[b] = True
                        break


@compiled()
def spread_back(starts: np.ndarray, rows: np.ndarray, reached: np.ndarray) -> None:  # IN, OUT reached
    """Mark all points with a path to a marked point, reading every edge to each point once."""
    waiting = np.empty(len(reached), np.int64)
    count = 0
    for i in range(len(reached)):
        if reached[i]:
            waiting[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = waiting[count]
        for e in range(starts[i], starts[i + 1]):
            if not reached[rows[e]]:
                reached[rows[e]] = True
                waiting[count] = rows[e]
                count += 1


@compiled(nogil=True)
def transition_fill(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    pull: np.ndarray,
    lengths: np.ndarray,
    falloff: float,
    targets: np.ndarray,
    begin: int,
    end: int,
    log_sums: np.ndarray,  # IN (log of the largest weight), OUT (log of their sum)
    probs: np.ndarray,  # OUT
    absorb: np.ndarray,  # OUT
) -> None:
    """Write the transition probabilities of every edge, and add up those to the targets from `begin` on.

    There are several short loops, so that the processor can read a whole row ahead instead of waiting for
    each value between two exponentials. The rows of targets are not changed.
    """
    longest = 0
    for i in range(first, last):
        longest = max(longest, indptr[i + 1] - indptr[i])
    weights = np.empty(longest)
    for i in range(first, last):
        if targets[i] >= 0:
            continue
        row = indices[indptr[i] : indptr[i + 1]]
        row_lengths = lengths[indptr[i] : indptr[i + 1]]
        top = log_sums[i]
        for e in range(len(row)):
            value = pull[row[e]] - falloff * np.float64(row_lengths[e]) ** 2
            weights[e] = max(value - top, LOWEST)
        for e in range(len(row)):
            weights[e] = np.exp(weights[e])
        total = 0.0
        for e in range(len(row)):
            total += weights[e]
        log_sums[i] = top + np.log(total)
        for e in range(len(row)):
            p = weights[e] / total
            probs[indptr[i] + e] = p
            if begin <= targets[row[e]] < end:
                absorb[i, targets[row[e]] - begin] += p

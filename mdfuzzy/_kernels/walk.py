"""Kernels of the absorbing walk: who reaches a target, and the transition matrix.

Each works on the rows (or blocks of them) from `first` to `last`, and threads share a job by its ranges.
"""

import numpy as np

from mdfuzzy._kernels.jit import kernel

#: Rows that are looked at together.
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

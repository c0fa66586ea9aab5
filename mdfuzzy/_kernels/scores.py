"""Dynamic programming for the entropic purity."""

import numpy as np

from mdfuzzy._kernels.jit import compiled


@compiled()
def best_shares(gains: np.ndarray) -> tuple[float, np.ndarray]:
    """Divide a set among labels with `gains[label, subset]`; return the largest sum and the division.

    If the labels up to `label` share `subset`, the part ``taken[label, subset]`` of it goes to `label`.
    """
    labels, n = gains.shape
    taken = np.zeros((labels, n), np.int64)
    best = gains[0].copy()
    for subset in range(n):
        taken[0, subset] = subset
    for label in range(1, labels):
        # Descending: the remaining parts are smaller numbers, not yet changed by this label.
        for subset in range(n - 1, -1, -1):
            top, choice = best[subset] + gains[label, 0], 0
            part = subset
            while part > 0:
                value = best[subset ^ part] + gains[label, part]
                if value > top:
                    top, choice = value, part
                part = (part - 1) & subset
            best[subset] = top
            taken[label, subset] = choice
    return best[n - 1], taken

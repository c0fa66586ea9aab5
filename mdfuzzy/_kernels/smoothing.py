"""Average over nearest neighbours, and compute density errors and time lags of neighbours."""

import numpy as np

from mdfuzzy._kernels.jit import compiled


@compiled(nogil=True)
def neighbor_means(
    first: int,
    last: int,
    indices: np.ndarray,
    k: int,
    values: np.ndarray,
    means: np.ndarray,  # OUT
) -> None:
    """Average the values of each point and of its k nearest neighbours."""
    for i in range(first, last):
        total = values[i]
        for c in range(k):
            total += values[indices[i, c]]
        means[i] = total / (k + 1)


@compiled(nogil=True)
def density_errors(
    first: int,
    last: int,
    indices: np.ndarray,
    distances: np.ndarray,
    m: int,
    dimension: float,
    weights: np.ndarray,
    errors: np.ndarray,  # OUT
) -> None:
    """Set the first-order change of the log density (distance to a measure) by weights of frames.

    The weight w of a neighbour at distance r changes -d/2 log(mean of squares) + log(mass) by
    (w - 1) (1 + d/2 (1 - r^2 / mean of squares)) / m.
    """
    for i in range(first, last):
        mean = 0.0
        for c in range(m):
            mean += np.float64(distances[i, c]) * distances[i, c]
        mean /= m
        total = 0.0
        for c in range(m):
            square = np.float64(distances[i, c]) * distances[i, c]
            leverage = 1.0 + 0.5 * dimension * (1.0 - square / mean) if mean > 0 else 1.0
            total += (weights[indices[i, c]] - 1.0) * leverage
        errors[i] = total / m


@compiled(nogil=True)
def count_lags(
    first: int,
    last: int,
    indices: np.ndarray,
    m: int,
    trajectories: np.ndarray,
    size: int,
    counts: np.ndarray,  # OUT, (parts, longest + 1), zero before
) -> None:
    """Count, part by part of `size` points, the neighbours at each lag within the same trajectory."""
    longest = counts.shape[1] - 1
    for part in range(first, last):
        for i in range(part * size, min((part + 1) * size, len(indices))):
            for c in range(m):
                j = indices[i, c]
                lag = abs(j - i)
                if lag <= longest and trajectories[i] == trajectories[j]:
                    counts[part, lag] += 1

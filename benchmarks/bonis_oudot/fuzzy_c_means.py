"""Fuzzy c-means, the peer of the paper: centres and memberships in turn until neither changes."""

import numpy as np


def fuzzy_c_means(
    points: np.ndarray,
    c: int,
    *,
    fuzzifier: float,
    seed: int = 0,
    restarts: int = 3,
    max_iterations: int = 300,
    tolerance: float = 1e-4,
) -> np.ndarray:
    """Return the memberships (n, c) with the smallest sum of mu**m times squared distance over some starts.

    Parameters
    ----------
    points : (n, d) array
        What is clustered.
    c : int
        Number of clusters.
    fuzzifier : float
        m, above 1; near 1 the clusters are those of k-means.
    seed, restarts : int
        Each start draws its centres from the points, far ones more often, as in k-means++.
    max_iterations : int
        Of each start.
    tolerance : float
        It ends when no membership changes by more than this.
    """
    from sklearn.cluster import kmeans_plusplus

    best, least = None, np.inf
    for start in range(restarts):
        centres, _ = kmeans_plusplus(points, c, random_state=seed + start)
        memberships = np.zeros((len(points), c))
        for _ in range(max_iterations):
            squares = _squared_distances(points, centres)
            before, memberships = memberships, _memberships(squares, fuzzifier)
            if np.abs(memberships - before).max() < tolerance:
                break
            weights = memberships**fuzzifier
            centres = weights.T @ points / weights.sum(axis=0)[:, None]
        loss = float((memberships**fuzzifier * squares).sum())
        if loss < least:
            best, least = memberships, loss
    return best


def _squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * points @ centres.T
    return np.maximum(squares, 1e-12)  # a point may be a centre


def _memberships(squares: np.ndarray, fuzzifier: float) -> np.ndarray:
    """Return mu_j in proportion to d_j ** (-2 / (m - 1)), without overflow."""
    logs = np.log(squares) / (1 - fuzzifier)
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    return values / values.sum(axis=1, keepdims=True)

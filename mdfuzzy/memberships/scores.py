"""Scores of memberships: their fuzziness, and their agreement with known labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_finite, check_int, check_numbers, check_real
from mdfuzzy.memberships.memberships import membership_entropy

#: Up to this many clusters the best map from clusters to labels is found exactly.
EXACT_CLUSTERS = 14


@dataclass(frozen=True)
class EntropicPurity:
    """Hold the entropic purity, its map from clusters to labels, and whether the map is exact.

    Attributes
    ----------
    value : float
        Mean log(epsilon + membership in the clusters of the right label); at most log(1 + epsilon).
    mapping : (K,) array
        The label of each cluster.
    exact : bool
        Whether it is the best of all maps (dynamic programming). Otherwise it is the best map of a local
        search; in small trials such a search missed the best map in about one case in ten.

    See Also
    --------
    entropic_purity : Compute the score.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> score = mf.entropic_purity([[1.0, 0.0], [0.8, 0.2]], ["folded", "folded"])
    >>> score.mapping.tolist(), score.exact
    (['folded', 'folded'], True)
    """

    value: float
    mapping: np.ndarray
    exact: bool


def clustering_entropy(memberships: npt.ArrayLike) -> float:
    """Return H, the mean over the points of the sum of mu log mu; it *falls* as the clustering gets fuzzier.

    Parameters
    ----------
    memberships : (n, K) array
        The memberships, such as `Memberships.values`.

    Returns
    -------
    float
        Between -log K and 0.

    Raises
    ------
    ValueError
        If the memberships are negative or have rows with a sum above 1.

    See Also
    --------
    scan_beta : The entropy at many walk temperatures.

    References
    ----------
    * T. Bonis and S. Oudot, *A Fuzzy Clustering Algorithm for the Mode-Seeking Framework*, Pattern
      Recognition Letters 102 (2018) 37-43, arXiv:1406.7130.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> round(mf.clustering_entropy([[1.0, 0.0], [0.5, 0.5]]), 3)
    -0.347
    """
    return float(membership_entropy(_check_memberships(memberships)).mean())


def purity(clusters: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return the fraction of points with the label of their cluster, the most common label of its points.

    Parameters
    ----------
    clusters : (n,) int array
        A hard assignment, such as `Memberships.hard`. Points with -1 count as wrong.
    labels : (n,) array
        The true labels, of any type.

    Raises
    ------
    ValueError
        If `clusters` are not ints of at least -1, or `labels` does not have one entry per point.

    See Also
    --------
    entropic_purity : The corresponding score of fuzzy memberships.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.purity([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    0.8
    """
    clusters = np.asarray(clusters)
    if clusters.ndim != 1 or not np.issubdtype(clusters.dtype, np.integer) or clusters.min(initial=0) < -1:
        raise InputValueError(
            f"`clusters` must be a 1-D array of ints of at least -1; got shape {clusters.shape} of "
            f"{clusters.dtype}. `Memberships.hard` is one."
        )
    _, codes = _check_labels(labels, len(clusters))
    inside = clusters >= 0
    table = np.zeros((clusters.max(initial=-1) + 1, codes.max() + 1), np.int64)
    np.add.at(table, (clusters[inside], codes[inside]), 1)
    return float(table.max(axis=1, initial=0).sum() / len(clusters))


def entropic_purity(
    memberships: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    epsilon: float = 1e-3,
    restarts: int = 10,
    seed: int = 0,
) -> EntropicPurity:
    r"""Score fuzzy memberships against true labels.

    .. math:: HP_\epsilon = \max_\pi \frac1n \sum_i \log\Bigl(\epsilon + \sum_{j: \pi(j) = y_i} \mu_j(i)\Bigr)

    over all maps :math:`\pi` from clusters to labels. Up to 14 clusters the maximum is exact, by dynamic
    programming over subsets of clusters, in :math:`O(n 2^K + L 3^K)`. Beyond that it is the best result of a
    local search that changes the label of one cluster at a time.

    Parameters
    ----------
    memberships : (n, K) array
        The memberships, such as `Memberships.values`.
    labels : (n,) array
        The true labels, of any type.
    epsilon : float
        A small number that keeps one confident mistake from dominating the score.
    restarts : int
        Number of random starts of the local search, in addition to the map to the most common labels.
    seed : int
        Random seed of these starts.

    Returns
    -------
    EntropicPurity

    Raises
    ------
    ValueError
        If the memberships are negative or have rows with a sum above 1, or `labels` does not have one entry
        per point.

    See Also
    --------
    purity : The corresponding score of hard clusters.
    clustering_entropy : The fuzziness of the memberships.

    References
    ----------
    * T. Bonis and S. Oudot, *A Fuzzy Clustering Algorithm for the Mode-Seeking Framework*, Pattern
      Recognition Letters 102 (2018) 37-43, arXiv:1406.7130.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> score = mf.entropic_purity([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["a", "a", "b"])
    >>> round(score.value, 3), score.mapping.tolist(), score.exact
    (-0.034, ['a', 'b'], True)
    """
    values = _check_memberships(memberships)
    names, codes = _check_labels(labels, len(values))
    epsilon = check_real("epsilon", epsilon, above=0)
    restarts = check_int("restarts", restarts, 0)
    exact = values.shape[1] <= EXACT_CLUSTERS
    if exact:
        total, mapping = _best_map(values, codes, len(names), epsilon)
    else:
        total, mapping = _search_map(
            values, codes, len(names), epsilon, restarts, np.random.default_rng(seed)
        )
    return EntropicPurity(total / len(values), names[mapping], exact)


def _best_map(
    values: np.ndarray, codes: np.ndarray, n_labels: int, epsilon: float
) -> tuple[float, np.ndarray]:
    """Distribute the clusters among the labels: the best map by subsets, one label after another."""
    from mdfuzzy._kernels.scores import best_shares

    clusters = values.shape[1]
    subsets = np.arange(2**clusters)
    bits = (subsets[:, None] >> np.arange(clusters) & 1).astype(np.float64)
    gains = np.zeros((n_labels, len(subsets)))
    for label in range(n_labels):
        mine = np.ascontiguousarray(values[codes == label])
        for rows in np.array_split(mine, max(1, len(mine) // 1024)):
            for part in np.array_split(subsets, max(1, len(subsets) // 1024)):
                gains[label, part] += np.log(epsilon + rows @ bits[part].T).sum(axis=0)
    best, taken = best_shares(gains)
    mapping = np.zeros(clusters, np.int64)
    left = len(subsets) - 1
    for label in range(n_labels - 1, -1, -1):
        mapping[(taken[label, left] >> np.arange(clusters) & 1).astype(bool)] = label
        left ^= taken[label, left]
    return float(best), mapping


def _search_map(
    values: np.ndarray,
    codes: np.ndarray,
    n_labels: int,
    epsilon: float,
    restarts: int,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray]:
    """Change the label of one cluster at a time while the sum of logarithms grows."""
    clusters = values.shape[1]
    groups = [np.flatnonzero(codes == label) for label in range(n_labels)]
    commonest = np.asarray(np.array([values[rows].sum(axis=0) for rows in groups]).argmax(axis=0))
    best_total, best = -np.inf, commonest
    for turn in range(restarts + 1):
        mapping = commonest.copy() if turn == 0 else np.asarray(rng.integers(n_labels, size=clusters))
        caught = [values[rows][:, mapping == label].sum(axis=1) for label, rows in enumerate(groups)]
        improved = True
        while improved:
            improved = False
            for j in range(clusters):
                old = mapping[j]
                without = np.maximum(caught[old] - values[groups[old], j], 0.0)
                loss = np.sum(np.log(epsilon + caught[old]) - np.log(epsilon + without))
                gains = np.array(
                    [
                        np.sum(np.log1p(values[rows, j] / (epsilon + caught[label])))
                        for label, rows in enumerate(groups)
                    ]
                )
                gains[old] = loss
                new = int(gains.argmax())
                if gains[new] > loss + 1e-9:
                    caught[old] = without
                    caught[new] = caught[new] + values[groups[new], j]
                    mapping[j] = new
                    improved = True
        total = float(sum(np.log(epsilon + part).sum() for part in caught))
        if total > best_total:
            best_total, best = total, mapping
    return best_total, best


def _check_memberships(memberships: npt.ArrayLike) -> np.ndarray:
    values = check_numbers("memberships", memberships)
    if values.ndim != 2 or values.size == 0:
        raise InputValueError(
            f"`memberships` must be an (n, K) array with n and K at least 1; got shape {values.shape}."
        )
    check_finite("memberships", values)
    if values.min() < 0.0 or values.sum(axis=1).max() > 1.0 + 1e-6:  # up to rounding
        raise InputValueError(
            f"`memberships` must be at least 0 with rows that sum to at most 1; got a smallest value of "
            f"{values.min():g} and a largest sum of {values.sum(axis=1).max():.8g}."
        )
    return values


def _check_labels(labels: npt.ArrayLike, n: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.asarray(labels)
    if labels.shape != (n,) or n == 0:
        raise InputValueError(
            f"`labels` must have one entry per point, shape ({n},); got shape {labels.shape}."
        )
    names, codes = np.unique(labels, return_inverse=True)
    return names, codes

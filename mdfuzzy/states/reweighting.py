"""The log density of weighted points, from the log density of the points as sampled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_finite, check_numbers
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.dimension import check_count, check_own
from mdfuzzy.states.persistence import Persistence

_NOTHING = 1e-3  # of the smallest mean weight of a neighbourhood: the mean weight of one without any weight
_CHUNK = 65_536  # points whose neighbours are looked up at a time


def reweighted_log_density(
    neighbors: Neighbors,
    log_density: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    n_neighbors: int | None = None,
) -> np.ndarray:
    r"""Compute the log density of weighted points from the log density of the points as sampled.

    Points sampled from q with weights w represent :math:`p = q w`. So :math:`\log p_i = \log q_i + \log \bar
    w_i`, with the mean weight of the neighbours of i and of i itself. The weights may come from a biased
    simulation, or give the number of times that a bootstrap drew each point.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of points among themselves.
    log_density : (n,) array
        The log density of the points without weights.
    weights : (n,) array
        Non-negative weights; their scale does not matter (the largest counts as 1).
    n_neighbors : int, optional
        The number of neighbours to use; all by default.

    Returns
    -------
    (n,) float64
        Equal weights leave the log density bitwise unchanged. Where a point and all its neighbours have the
        weight 0, a thousandth of the smallest mean weight anywhere replaces their mean weight, so that the
        result is finite.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors = mf.euclidean_neighbors([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> reweighted_log_density(neighbors, [0.0, 0.0, 0.0], [1.0, 1.0, 0.5]).round(3)
    array([ 0.   ,  0.   , -0.288])
    """
    check_own(neighbors)
    m = check_count(neighbors, n_neighbors, 1)
    log_density = np.asarray(log_density, np.float64)
    factors = check_finite("weights", check_numbers("weights", weights))
    if factors.shape != (len(neighbors),) or log_density.shape != factors.shape:
        raise InputValueError(
            f"`weights` and `log_density` must have one value per point, shape ({len(neighbors)},); got "
            f"shapes {factors.shape} and {log_density.shape}."
        )
    if factors.min() < 0 or not factors.any():
        raise InputValueError(
            f"`weights` must be at least 0, and not all 0; got {factors.min():g} to {factors.max():g}. Give "
            "each point the factor by which it counts."
        )
    factors = factors / factors.max()
    means = np.empty(len(factors))
    for start in range(0, len(factors), _CHUNK):
        rows = slice(start, start + _CHUNK)
        means[rows] = (factors[neighbors.indices[rows, :m]].sum(axis=1) + factors[rows]) / (m + 1)
    positive = means > 0
    means[~positive] = _NOTHING * means[positive].min()
    return log_density + np.log(means)


def variance_factors(
    neighbors: Neighbors,
    weights: npt.ArrayLike,
    *,
    n_neighbors: int | None = None,
    dimension: float,
) -> np.ndarray:
    r"""Return the factors by which weights increase the variance of a log density at each point.

    The log density by the distance to measure has the variance :math:`\frac{2d+4}{(d+4)m}`, and the log
    density of weighted points has :math:`\frac1m\left(\frac{2d+4}{d+4} + \frac{m}{m_\mathrm{eff}} - 1\right)`
    with :math:`m_\mathrm{eff} = (\sum w)^2 / \sum w^2` over the neighbours. The factor is their ratio.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of points among themselves.
    weights : (n,) array
        Non-negative weights.
    n_neighbors : int, optional
        The number of neighbours that the density uses, m; all by default.
    dimension : float
        The dimension d of the density.

    Returns
    -------
    (n,) float64
        1 for equal weights; infinite where all neighbours have the weight 0.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors = mf.euclidean_neighbors([[0.0], [1.0], [3.0]], n_neighbors=2)
    >>> variance_factors(neighbors, [1.0, 1.0, 0.0], dimension=1.0).round(2)
    array([1.83, 1.83, 1.  ])
    """
    m = check_count(neighbors, n_neighbors, 1)
    factors = np.asarray(weights, np.float64)
    factors = factors / factors.max()
    ratios = np.empty(len(neighbors))
    for start in range(0, len(ratios), _CHUNK):
        rows = slice(start, start + _CHUNK)
        near = factors[neighbors.indices[rows, :m]]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios[rows] = m * np.einsum("ij,ij->i", near, near) / near.sum(axis=1) ** 2
    ratios[np.isnan(ratios)] = np.inf
    return 1 + (ratios - 1) * (dimension + 4) / (2 * dimension + 4)


def standardise(peaks: Persistence, variances: np.ndarray | None) -> np.ndarray:
    """Return prominences in units of the noise at each peak and its saddle, (P,).

    Parameters
    ----------
    peaks : Persistence
        The peaks and their saddles.
    variances : (n,) float64 or None
        The factor by which weights increase the variance of the log density of each frame; None without
        weights.
    """
    if variances is None:
        return peaks.prominences
    merges = np.flatnonzero(peaks.saddles >= 0)
    found = peaks.prominences.copy()
    found[merges] /= np.sqrt((variances[peaks.peaks[merges]] + variances[peaks.saddles[merges]]) / 2)
    return found

"""The log density at every point, from the distances to its nearest neighbours only."""

from typing import Literal, get_args

import numpy as np

from mdfuzzy._check import check_choice, check_real
from mdfuzzy._choices import Density
from mdfuzzy._messages import warn_user
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.dimension import (
    check_count,
    check_own,
    check_points,
    distance_chunks,
    intrinsic_dimension,
    refuse_copies,
)

_BANDWIDTH_SAMPLE = 20_000  # points over which the likelihood of a bandwidth is averaged


def estimate_log_density(
    neighbors: Neighbors, *, density: Density, k: int, dimension: float, bandwidth: float | None = None
) -> np.ndarray:
    """Estimate the log density with the method that a setting names.

    Parameters
    ----------
    neighbors : Neighbors
        At least 2k neighbours of every point.
    density : {"dtm", "kde"}
        The method: `dtm_log_density` from 2k neighbours, or `kde_log_density` from all neighbours.
    k : int
        Neighbours per point in the graph.
    dimension : float
        The intrinsic dimension.
    bandwidth : float, optional
        The width of the kernel.

    Returns
    -------
    (n,) float64

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors = mf.euclidean_neighbors([[0.0], [1.0], [2.0], [4.0]], n_neighbors=2)
    >>> estimate_log_density(neighbors, density="dtm", k=1, dimension=1).round(3)
    array([-0.458, -0.   , -0.458, -0.936])
    """
    density = check_choice("density", density, get_args(Density))
    if density == "kde":
        return kde_log_density(neighbors, bandwidth=bandwidth, dimension=dimension)
    return dtm_log_density(neighbors, n_neighbors=2 * k, dimension=dimension)


def dtm_log_density(
    neighbors: Neighbors, *, n_neighbors: int | None = None, dimension: float | None = None
) -> np.ndarray:
    r"""Estimate the log density by the distance to measure.

    :math:`\log f(x) = -d \log \mathrm{DTM}(x)` with
    :math:`\mathrm{DTM}(x)^2 = \frac{1}{m} \sum_{j \le m} r_j(x)^2` over the m nearest neighbours of x, itself
    excluded, up to a constant (f is not normalised).

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours, with distances in any unit: a change of unit adds a constant.
    n_neighbors : int, optional
        The number of neighbours to use, m; all by default. Use twice as many as in the graph.
    dimension : float, optional
        The exponent d; by default the `intrinsic_dimension` of these m neighbours. The value 1 gives the
        logarithm of 1/DTM itself.

    Returns
    -------
    (n,) float64

    Warns
    -----
    UserWarning
        If the DTM of some points is zero, because they have m duplicates or more. They get the smallest
        positive DTM.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=2)
    >>> mf.dtm_log_density(neighbors, dimension=1).round(3)
    array([-0.458, -0.   , -0.458, -0.936])
    """
    check_points(neighbors)
    m = check_count(neighbors, n_neighbors, 1)
    if dimension is None:
        dimension = intrinsic_dimension(neighbors, n_neighbors=m)
    dimension = check_real("dimension", dimension, above=0)
    squares = np.empty(len(neighbors))
    for rows, distances in distance_chunks(neighbors, m):
        squares[rows] = np.einsum("ij,ij->i", distances, distances) / m
    if not squares.any():
        refuse_copies(neighbors, m)
    return -dimension / 2 * np.log(_floored(squares, "distance to measure"))


def kde_log_density(
    neighbors: Neighbors,
    *,
    kernel: Literal["gaussian", "uniform"] = "gaussian",
    bandwidth: float | None = None,
    dimension: float | None = None,
) -> np.ndarray:
    r"""Estimate the log density with a kernel of the same width everywhere.

    :math:`f(x) = \frac{1}{n} \sum_j K_h(d(x, x_j))` over all points, x included, with :math:`K_h` normalised
    in d dimensions. Only the nearest neighbours are known. The density beyond the last of them, at distance
    r, is taken to be the mean density of the ball of radius r. With all other points as neighbours this is
    the ordinary kernel density estimate.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours over which the kernel extends.
    kernel : {"gaussian", "uniform"}
        ``exp(-r**2 / 2 h**2)``, or 1 for r < h and 0 beyond.
    bandwidth : float, optional
        The width h, in the unit of the distances; by default from `kde_bandwidth`.
    dimension : float, optional
        The dimension d of the kernel; `intrinsic_dimension` by default.

    Returns
    -------
    (n,) float64
        The normalised log density, per unit of distance to the power d.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=3)
    >>> mf.kde_log_density(neighbors, kernel="uniform", bandwidth=1.5, dimension=1).round(3)
    array([-1.792, -1.386, -1.792, -2.485])
    """
    check_own(neighbors)
    kernel = check_choice("kernel", kernel, ("gaussian", "uniform"))
    if dimension is None:
        dimension = intrinsic_dimension(neighbors)
    dimension = check_real("dimension", dimension, above=0)
    if bandwidth is None:
        bandwidth = kde_bandwidth(neighbors, kernel=kernel, dimension=dimension)
    bandwidth = check_real("bandwidth", bandwidth, above=0)
    last = _last_distances(neighbors)
    sums = np.empty(len(neighbors))  # logs
    for rows, distances in distance_chunks(neighbors, neighbors.k):
        if kernel == "gaussian":
            seen = np.exp(-0.5 * (distances / bandwidth) ** 2).sum(axis=1)
        else:
            seen = (distances < bandwidth).sum(axis=1)
        unseen = _log_unseen(neighbors, last[rows], kernel, bandwidth, dimension)
        sums[rows] = np.logaddexp(np.log1p(seen), unseen)
    return sums - np.log(neighbors.n_targets) - _log_volume(kernel, bandwidth, dimension)


def kde_bandwidth(
    neighbors: Neighbors,
    *,
    kernel: Literal["gaussian", "uniform"] = "gaussian",
    dimension: float | None = None,
) -> float:
    r"""Choose the width of a kernel by the likelihood of each point given all others.

    The Gaussian bandwidth maximises :math:`\sum_i \log f_{-i}(x_i)`, where :math:`f_{-i}` leaves point i out.
    The uniform kernel has no such maximum, because a single isolated point excludes every smaller bandwidth.
    It gets the bandwidth with the same second moment: :math:`\sqrt{d + 2}` times the Gaussian one.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours. The bandwidth is sought between a tenth of the median distance to the first neighbour
        and the median distance to the last.
    kernel : {"gaussian", "uniform"}
        The kernel of the bandwidth.
    dimension : float, optional
        The dimension d of the kernel; `intrinsic_dimension` by default.

    Returns
    -------
    float
        The bandwidth, in the unit of the distances.

    Warns
    -----
    UserWarning
        If the likelihood is largest at an end of the range: more neighbours are needed (or, at the lower end,
        there are many duplicate points).

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(500, 1))
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=400)
    >>> round(mf.kde_bandwidth(neighbors, dimension=1), 1)
    0.3
    """
    from scipy.optimize import minimize_scalar

    check_own(neighbors)
    kernel = check_choice("kernel", kernel, ("gaussian", "uniform"))
    if dimension is None:
        dimension = intrinsic_dimension(neighbors)
    dimension = check_real("dimension", dimension, above=0)
    sample = np.unique(np.linspace(0, len(neighbors) - 1, _BANDWIDTH_SAMPLE).astype(np.int64))
    squares = neighbors.distances[sample].astype(np.float64) ** 2
    last = _last_distances(neighbors)[sample]
    first = np.median(squares[:, 0]) or squares[squares > 0].min()

    def loss(log_bandwidth: float) -> float:
        bandwidth = np.exp(log_bandwidth)
        exponents = squares / (-2 * bandwidth**2)
        seen = np.log(np.exp(exponents - exponents[:, :1]).sum(axis=1)) + exponents[:, 0]  # no underflow
        logs = np.logaddexp(seen, _log_unseen(neighbors, last, "gaussian", bandwidth, dimension))
        return -float(np.mean(logs)) + _log_volume("gaussian", bandwidth, dimension)

    low, high = np.log(0.1 * np.sqrt(first)), np.log(np.median(last))
    grid = np.linspace(low, high, 33)
    best = int(np.argmin([loss(value) for value in grid]))
    if best in (0, len(grid) - 1):
        side = (
            "the distances to the first neighbours" if best == 0 else "the distances to the last neighbours"
        )
        remedy = "Remove duplicate points" if best == 0 else "Search more neighbours"
        warn_user(
            f"The likelihood of the bandwidth is still rising at {np.exp(grid[best]):g}, the end of the "
            f"range set by {side}. {remedy}, or give `bandwidth`."
        )
        value = grid[best]
    else:
        value = minimize_scalar(loss, bounds=(grid[best - 1], grid[best + 1]), method="bounded").x
    return float(np.exp(value)) * (1.0 if kernel == "gaussian" else float(np.sqrt(dimension + 2)))


def _floored(values: np.ndarray, what: str) -> np.ndarray:
    """Replace zeros by the smallest positive value, with a warning."""
    zero = values == 0
    if not zero.any():
        return values
    warn_user(
        f"The {what} of {np.count_nonzero(zero)} points is zero, because they have at least as many copies "
        "as neighbours; they get the smallest positive value. Remove copies to avoid this."
    )
    return np.where(zero, values[~zero].min(), values)


def _last_distances(neighbors: Neighbors) -> np.ndarray:
    last = neighbors.distances[:, -1].astype(np.float64)
    if not last.any():
        refuse_copies(neighbors, neighbors.k)
    return _floored(last, "distance to the last neighbour")


def _log_unseen(
    neighbors: Neighbors, last: np.ndarray, kernel: str, bandwidth: float, dimension: float
) -> np.ndarray:
    """Return the log of the sum of the kernel over the points beyond the last neighbour, at distance `last`.

    The density there is taken to be the mean density up to the last neighbour. The computation uses
    logarithms, because volumes in many dimensions overflow or underflow.
    """
    from scipy.special import gammaincc

    if neighbors.k >= neighbors.n_targets - 1:
        return np.full(len(last), -np.inf)
    if kernel == "gaussian":
        balls = _log_volume("uniform", 1.0, dimension) + dimension * np.log(last)
        with np.errstate(divide="ignore", over="ignore"):
            outside = np.log(gammaincc(dimension / 2, 0.5 * (last / bandwidth) ** 2))
        return np.log(neighbors.k) - balls + _log_volume(kernel, bandwidth, dimension) + outside
    growth = dimension * np.log(np.maximum(bandwidth / last, 1.0))  # of the ball of the last neighbour
    with np.errstate(divide="ignore"):
        return np.log(neighbors.k) + growth + np.log1p(-np.exp(-growth))


def _log_volume(kernel: str, bandwidth: float, dimension: float) -> float:
    """Return the log of the integral of the kernel over d-dimensional space."""
    from scipy.special import gammaln

    if kernel == "gaussian":
        return dimension * (np.log(bandwidth) + 0.5 * np.log(2 * np.pi))
    return dimension * (np.log(bandwidth) + 0.5 * np.log(np.pi)) - float(gammaln(dimension / 2 + 1))

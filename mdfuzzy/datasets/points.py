"""Synthetic points that show properties of the algorithm."""

import numpy as np

from mdfuzzy._check import check_int

_FEWEST = 50  # points, so that no part of a set is empty


def unbalanced_gaussians(n: int, *, dimensions: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw points from a wide Gaussian with 85 % of the weight and a narrow one with 15 %.

    85 % of the points are around the origin with standard deviation 1, and 15 % around (4, 0, ...) with
    standard deviation 0.6. On such data Bonis and Oudot show that a walk that must hit a single point forgets
    where it began. The effect grows with the numbers of points and dimensions.

    Parameters
    ----------
    n : int
        Number of points, at least 50.
    dimensions : int
        Number of coordinates, at least 1.
    seed : int
        Random seed.

    Returns
    -------
    points : (n, dimensions) float64
        The points; the centres of the two Gaussians differ in the first coordinate.
    labels : (n,) int64
        0 for the left Gaussian, 1 for the right one.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> points, labels = mf.datasets.unbalanced_gaussians(1_000)
    >>> points.shape, int((labels == 1).sum())
    ((1000, 2), 150)
    """
    rng = _generator(n, seed)
    labels = _parts(n, [0.85, 0.15])
    points = np.array([1.0, 0.6])[labels, None] * rng.normal(size=(n, check_int("dimensions", dimensions, 1)))
    points[:, 0] += 4.0 * labels
    return points, labels


def two_links(n: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw two dense clusters joined by two links, one of uniform density and one with a gap.

    The clusters are Gaussians around (-3, 0) and (3, 0) with standard deviation 0.5. The links are bands of
    width 0.6 between them. The lower link is uniform; the density of the upper link falls to a twentieth in
    its middle. On such data Bonis and Oudot show the effect of the walk temperature.

    Parameters
    ----------
    n : int
        Number of points, at least 50.
    seed : int
        Random seed.

    Returns
    -------
    points : (n, 2) float64
        Points in the plane.
    parts : (n,) int64
        0 for the left cluster, 1 for the right one, 2 for the uniform link, 3 for the link with a gap.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points, parts = mf.datasets.two_links(1_000)
    >>> np.bincount(parts)
    array([250, 250, 250, 250])
    """
    rng = _generator(n, seed)
    parts = _parts(n, [0.25, 0.25, 0.25, 0.25])
    left, right, uniform, gap = np.bincount(parts)
    end, width = 3.0, 0.6
    places = np.linspace(-end, end, 1_001)
    density = 1.0 - 0.95 * np.exp(-0.5 * (places / 0.8) ** 2)
    below = np.cumsum(density) - density[0]  # the unscaled share of the link to the left of each position
    along = np.concatenate(
        [rng.uniform(-end, end, uniform), np.interp(rng.random(gap) * below[-1], below, places)]
    )
    across = rng.uniform(-width / 2, width / 2, uniform + gap) + np.repeat([-1.0, 1.0], [uniform, gap])
    clusters = rng.normal(scale=0.5, size=(left + right, 2))
    clusters[:, 0] += np.repeat([-end, end], [left, right])
    return np.concatenate([clusters, np.column_stack([along, across])]), parts


def spirals(n: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw two interleaved spirals in clutter; the head of each is close to the tail of the other.

    Each spiral makes one turn; it is densest at its head, the inner end. A tenth of the points is spread
    evenly over the square around them. On such data Bonis and Oudot show that only a walk at a low
    temperature distinguishes clusters that are separated by a gap in the density but not by distance.

    Parameters
    ----------
    n : int
        Number of points, at least 50.
    seed : int
        Random seed.

    Returns
    -------
    points : (n, 2) float64
        Points in the plane.
    labels : (n,) int64
        0 and 1 for the spirals, 2 for the clutter.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points, labels = mf.datasets.spirals(1_000)
    >>> np.bincount(labels)
    array([450, 450, 100])
    """
    rng = _generator(n, seed)
    labels = _parts(n, [0.45, 0.45, 0.1])
    arms = labels < 2
    # Positions from head (0) to tail (1); the density falls linearly to 0.3 of its value at the head.
    tail = 0.3
    along = (1 - np.sqrt(1 - (1 - tail**2) * rng.random(np.count_nonzero(arms)))) / (1 - tail)
    angles = 2 * np.pi * along + np.pi * labels[arms]
    radii = 0.6 + 0.8 * along
    points = rng.uniform(-1.6, 1.6, size=(n, 2))
    points[arms] = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    points[arms] += 0.05 * rng.normal(size=points[arms].shape)
    return points, labels


def _generator(n: int, seed: int) -> np.random.Generator:
    check_int("n", n, _FEWEST)
    return np.random.default_rng(check_int("seed", seed, 0))


def _parts(n: int, shares: list[float]) -> np.ndarray:
    """Return the part of each of n points, in order; the last part takes the remainder after rounding."""
    sizes = np.round(n * np.array(shares[:-1])).astype(np.int64)
    return np.repeat(np.arange(len(shares)), [*sizes, n - sizes.sum()])

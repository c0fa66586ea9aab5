"""A grid of bins over two coordinates, and statistics of the frames in each bin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputValueError,
    ReadOnly,
    check_finite,
    check_int,
    check_numbers,
    check_real,
    read_only,
)

#: A bin whose smoothed count is less than this is empty: a lone frame still shows as one bin.
_EMPTY = 0.1


@dataclass(frozen=True, eq=False)
class Bins(ReadOnly):
    """Hold frames in a grid of bins; the first index of a grid belongs to the first coordinate.

    Attributes
    ----------
    edges : tuple of (b + 1,) float64 arrays
        Edges of the bins along each coordinate.
    index : (n,) int32
        The bin of every frame, counted along the second coordinate first.
    counts : (b, b) int64
        The number of frames in each bin.
    periodic : tuple of 2 bool
        Whether the last bin along each coordinate is a neighbour of the first.
    weights : (n,) float64 or None
        The weight of every frame, by which means and free energies are weighted; None without.

    See Also
    --------
    plots.bin_points : Sort points into bins.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> bins = mf.plots.bin_points(np.random.default_rng(0).uniform(size=(1000, 2)), number=4)
    >>> bins.counts.shape, int(bins.counts.sum())
    ((4, 4), 1000)
    """

    edges: tuple[np.ndarray, np.ndarray]
    index: np.ndarray
    counts: np.ndarray
    periodic: tuple[bool, bool]
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(read_only(edges) for edges in self.edges))
        for name in ("index", "counts"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def masses(self) -> np.ndarray:
        """The weight of the frames in each bin, (b, b); their number without weights."""
        if self.weights is None:
            return self.counts
        return np.bincount(self.index, self.weights, minlength=self.counts.size).reshape(self.counts.shape)

    @property
    def centers(self) -> tuple[np.ndarray, np.ndarray]:
        """The middle of each bin along each coordinate."""
        x, y = ((edges[1:] + edges[:-1]) / 2 for edges in self.edges)
        return x, y

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the grid, as `Axes.imshow` takes them."""
        x, y = self.edges
        return float(x[0]), float(x[-1]), float(y[0]), float(y[-1])

    def mean(self, values: npt.ArrayLike) -> np.ndarray:
        """Return the (weighted) mean of `values`, one number or row per frame, in each bin.

        NaN where a bin is empty, or its frames have no weight.
        """
        values = self._check_values(values)
        columns = values.reshape(len(self), -1)
        if self.weights is not None:
            columns = columns * self.weights[:, None]
        sums = [np.bincount(self.index, column, minlength=self.counts.size) for column in columns.T]
        with np.errstate(invalid="ignore"):
            means = np.stack(sums, axis=-1) / self.masses.reshape(-1, 1)
        return means.reshape(*self.counts.shape, *values.shape[1:])

    def most_common(self, labels: npt.ArrayLike) -> np.ndarray:
        """Return the label (0 or more) that most frames of each bin have; -1 where none has any.

        Frames with a negative entry in `labels` do not count; among equally common ones, the smallest is
        returned.
        With weights, it is the label that holds most of the weight.
        """
        labels = self._check_values(labels)
        most, common = np.zeros(self.counts.size), np.full(self.counts.size, -1, np.int32)
        for label in np.unique(labels[labels >= 0]):
            those = labels == label
            weights = None if self.weights is None else self.weights[those]
            number = np.bincount(self.index[those], weights, minlength=self.counts.size)
            common[number > most] = label
            np.maximum(most, number, out=most)
        return common.reshape(self.counts.shape)

    def smooth_counts(self, width: float = 1.0) -> np.ndarray:
        """Return the counts blurred by a Gaussian of `width` bins, which wraps round periodic coordinates."""
        return self._smooth(self.counts, width)

    def _smooth(self, values: np.ndarray, width: float) -> np.ndarray:
        from scipy.ndimage import gaussian_filter

        width = check_real("width", width, at_least=0)
        modes = ["wrap" if periodic else "constant" for periodic in self.periodic]
        return gaussian_filter(values.astype(np.float64), width, mode=modes)

    def free_energy(self, width: float = 1.0) -> np.ndarray:
        """Return minus the logarithm of the smoothed counts (`width` in bins), in kT above the lowest bin.

        NaN where no frame is near. It is the free energy of the molecule if the frames sample its
        equilibrium. With weights, the weight of the frames is used instead of their number.
        """
        counts = self.smooth_counts(width)
        masses = counts if self.weights is None else self._smooth(self.masses, width)
        known = (counts >= _EMPTY) & (masses > 0)
        return -np.log(np.where(known, masses, np.nan) / masses.max())

    def _check_values(self, values: npt.ArrayLike) -> np.ndarray:
        values = np.asarray(values)
        if values.ndim == 0 or len(values) != len(self):
            raise InputValueError(
                f"`values` must have one entry or row per frame, {len(self)}; got shape {values.shape}."
            )
        return values


def suggest_bins(n: int) -> int:
    """Return the number of bins per coordinate for n points: from 24 to 180, more for more points.

    Examples
    --------
    >>> [suggest_bins(n) for n in (100, 1_000, 30_000, 1_400_000)]
    [24, 34, 79, 180]
    """
    return int(np.clip(round(6 * n**0.25), 24, 180))


def bin_points(
    points: npt.ArrayLike,
    *,
    number: int | None = None,
    periods: tuple[float | None, float | None] = (None, None),
    weights: npt.ArrayLike | None = None,
) -> Bins:
    """Count points in a grid of bins.

    Parameters
    ----------
    points : (n, 2) array
        Two coordinates of each.
    number : int, optional
        Bins along each coordinate; by default 24 to 180, more for more points.
    periods : tuple of 2 (float or None)
        The period of each coordinate. The grid of a periodic coordinate extends from minus half the period to
        half the period; other grids extend from the smallest to the largest value.
    weights : (n,) array, optional
        The weight of each point, for means and free energies.

    Returns
    -------
    Bins

    Raises
    ------
    ValueError
        If `points` is not of shape (n, 2).

    See Also
    --------
    plots.plane : Draw binned points.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> bins = mf.plots.bin_points([[-179.0, 0.0], [181.0, 0.0]], number=4, periods=(360.0, 360.0))
    >>> bins.counts
    array([[0, 0, 2, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 0]])
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise InputValueError(f"`points` must have shape (n, 2), n at least 1; got {points.shape}.")
    check_finite("points", points)
    number = suggest_bins(len(points)) if number is None else check_int("number", number, 2, 2000)
    edges, places = [], []
    for values, period in zip(points.T, periods, strict=True):
        low, high = (-period / 2, period / 2) if period else _limits(values)
        place = np.floor((values - low) * (number / (high - low))).astype(np.int64)
        places.append(place % number if period else np.clip(place, 0, number - 1))
        edges.append(np.linspace(low, high, number + 1))
    index = (places[0] * number + places[1]).astype(np.int32)
    counts = np.bincount(index, minlength=number * number).reshape(number, number)
    x, y = periods
    periodic = x is not None, y is not None
    return Bins((edges[0], edges[1]), index, counts, periodic, check_weights(weights, len(points)))


def check_weights(weights: npt.ArrayLike | None, n: int) -> np.ndarray | None:
    """Return the weights of n points, or raise."""
    if weights is None:
        return None
    values = check_finite("weights", check_numbers("weights", weights))
    if values.shape != (n,) or values.min() < 0 or not values.any():
        raise InputValueError(
            f"`weights` must have one value per point, shape ({n},), at least 0 and not all 0; got shape "
            f"{values.shape}."
        )
    return values


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest value with a margin, or a range around equal values."""
    low, high = float(values.min()), float(values.max())
    margin = 0.03 * (high - low) or 0.5 * max(abs(low), 1e-3)
    return low - margin, high + margin

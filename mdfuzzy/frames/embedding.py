"""Vectors in which periodic columns are points on circles."""

from collections.abc import Sequence

import numpy as np


def embed(
    values: np.ndarray, periods: Sequence[float | None], column_weights: np.ndarray | None
) -> np.ndarray:
    """Return vectors with every periodic column replaced by a point on a circle.

    Parameters
    ----------
    values : (n, d) array
        The columns.
    periods : sequence of d (float or None)
        The period of each column; None for a column without a period.
    column_weights : (d,) float64 or None
        The factor that multiplies each column.

    Returns
    -------
    (n, d + periodic columns) float64
        The other columns, then the cosines, then the sines of the periodic ones.

    Examples
    --------
    >>> embed(np.array([[1.0, 0.0], [2.0, 90.0]]), (None, 360.0), None).round(1).tolist()
    [[1.0, 57.3, 0.0], [2.0, 0.0, 57.3]]
    """
    values = values.astype(np.float64, copy=False)
    periodic = np.flatnonzero([period is not None for period in periods])
    weights = np.ones(values.shape[1]) if column_weights is None else column_weights
    if len(periodic) == 0:
        return values if column_weights is None else values * weights
    others = np.delete(values, periodic, axis=1) * np.delete(weights, periodic)
    radius = np.array([period for period in periods if period is not None]) / (2 * np.pi)
    angles = values[:, periodic] / radius
    radius = radius * weights[periodic]
    return np.concatenate([others, radius * np.cos(angles), radius * np.sin(angles)], axis=1)

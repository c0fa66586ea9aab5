"""The intrinsic dimension of a set of points, from the distances to their nearest neighbours only."""

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy._threads import run_ranges
from mdfuzzy.neighbors.neighbors import Neighbors

_CHUNK = 65_536  # rows converted to float64 at a time


def intrinsic_dimension(
    neighbors: Neighbors, *, n_neighbors: int | None = None, n_jobs: int | None = None
) -> float:
    r"""Estimate the intrinsic dimension of a set of points by maximum likelihood.

    With distances :math:`r_1 \le \dots \le r_m` to its m neighbours each point gives the estimate :math:`1/d
    = \frac{1}{m-1} \sum_{j<m} \log(r_m / r_j)` (Levina and Bickel, 2004). These inverses are averaged over
    the points (MacKay and Ghahramani, 2005), which maximises the joint likelihood.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours, with distances in any unit.
    n_neighbors : int, optional
        The number of neighbours to use, m; all by default, the scale at which the density is estimated. The
        value 2 gives the two-neighbour estimator (Facco and others, 2017). It has the smallest scale. Hence
        it is least affected by curvature and by the variation of the density, but it is the noisiest.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    float
        The dimension, not rounded. Neighbours at distance zero are left out.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> t = np.linspace(0, 1, 400)
    >>> spiral = np.column_stack([t * np.cos(9 * t), t * np.sin(9 * t), t])
    >>> round(mf.intrinsic_dimension(mf.euclidean_neighbors(spiral, n_neighbors=20)), 1)
    1.2
    """
    check_points(neighbors)
    m = check_count(neighbors, n_neighbors, 2)
    sums: list[tuple[float, int, float]] = [(0.0, 0, 0.0)] * -(-len(neighbors) // _CHUNK)

    def add_up(chunk: int, _: int) -> None:
        rows = slice(chunk * _CHUNK, (chunk + 1) * _CHUNK)
        distances = neighbors.distances[rows, :m].astype(np.float64)
        farthest = float(distances[:, -1].max())
        distances = distances[distances[:, -1] > 0]
        positive = distances[:, :-1] > 0
        ratios = np.divide(
            distances[:, -1:], distances[:, :-1], where=positive, out=np.ones_like(distances[:, 1:])
        )
        sums[chunk] = float(np.log(ratios).sum()), int(np.count_nonzero(positive)), farthest

    run_ranges(add_up, len(sums), 1, n_jobs)
    totals, counts, farthest = zip(*sums, strict=True)
    total, count = sum(totals), sum(counts)
    if max(farthest) == 0:
        refuse_copies(neighbors, m)
    if not total > 0:
        raise InputValueError(
            "`neighbors.distances` must differ within at least one point's neighbours, copies of it left "
            "out; got only equal distances. The dimension of such points cannot be estimated: give it as "
            "`dimension`."
        )
    return count / total


def distance_chunks(neighbors: Neighbors, m: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, their first `m` distances in float64), without a float64 copy of all distances."""
    for start in range(0, len(neighbors), _CHUNK):
        rows = slice(start, min(start + _CHUNK, len(neighbors)))
        yield rows, neighbors.distances[rows, :m].astype(np.float64)


def check_own(neighbors: Neighbors) -> None:
    """Raise unless these are the neighbours of points among themselves: each counts itself once."""
    check_points(neighbors)
    if neighbors.n_targets != len(neighbors):
        raise InputValueError(
            f"`neighbors` must be of points among themselves; got those of {len(neighbors)} among "
            f"{neighbors.n_targets} others. Search without `queries`."
        )


def check_points(neighbors: Neighbors) -> None:
    """Raise unless these are the neighbours of enough points for a density."""
    check_type("neighbors", neighbors, Neighbors, remedy="`neighbors_from` takes arrays.")
    if len(neighbors) < 3:
        raise InputValueError(
            f"`neighbors` must be of at least 3 points; got {len(neighbors)}. A density needs a sample."
        )


def refuse_copies(neighbors: Neighbors, m: int) -> NoReturn:
    """Raise because the `m` nearest neighbours of every point are its duplicates.

    These neighbours do not show whether all points are equal, but the remedy is the same.
    """
    raise InputValueError(
        f"`neighbors.distances` must not all be zero; got {len(neighbors)} points, and each has {m} "
        f"copies or more: all of the {m} nearest neighbours that are used. Remove copies; fewer than 3 "
        "different points have no density."
    )


def check_count(neighbors: Neighbors, n_neighbors: int | None, least: int) -> int:
    """Return the number of neighbours to use, all by default, or raise."""
    if n_neighbors is None and neighbors.k >= least:
        return neighbors.k
    remedy = f"These neighbours were searched with n_neighbors={neighbors.k}."
    if neighbors.k < least:
        remedy += " Search more, or give `dimension`."
        return check_int("n_neighbors", neighbors.k, least, remedy=remedy)
    return check_int("n_neighbors", n_neighbors, least, neighbors.k, remedy=remedy)

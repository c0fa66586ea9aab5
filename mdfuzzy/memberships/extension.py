"""Memberships of points that were not fitted: one step of the walk to the fitted points."""

import numpy as np

from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy._messages import warn_user
from mdfuzzy._threads import run_ranges
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.neighbors.neighbors import Neighbors

_STRETCH = 8192  # points computed together: their weights stay in the cache


def _warn_of_more_within(radius: float, neighbors: Neighbors) -> None:
    """Warn if fitted points within the radius may be missing; points equal to a fitted one are exempt."""
    full = (neighbors.distances[:, -1] <= radius) & (neighbors.distances[:, 0] > 0)
    if neighbors.k < neighbors.n_targets and full.any():
        warn_user(
            f"All {neighbors.k} neighbours found for {np.count_nonzero(full)} of "
            f"{len(neighbors)} new points lie within the radius of the fit, {radius:g}. More points may lie "
            f"within it; they are left out. Search more neighbours: n_neighbors of more than {neighbors.k}, "
            f"up to "
            f"{neighbors.n_targets}."
        )


def extend_memberships(
    memberships: Memberships, neighbors: Neighbors, *, k: int | None = None, n_jobs: int | None = None
) -> Memberships:
    """Extend memberships to new points by one step of the walk to their neighbours among the fitted points.

    Parameters
    ----------
    memberships : Memberships
        The memberships of the fitted points.
    neighbors : Neighbors
        The neighbours of the new points among the fitted points, nearest first.
    k : int, optional
        The number of neighbours that a step can reach; by default as in the fit. (On a `radius` graph: all
        neighbours within the radius among those that were searched. A new point without such neighbours is
        lost.)
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    Memberships
        The memberships of the new points. A new point that is identical to a fitted point (distance 0) gets
        the memberships of that point.

    Raises
    ------
    ValueError
        If the neighbours are not among the fitted points, or `k` is larger than their number.

    Warns
    -----
    UserWarning
        If the fit was on a `radius` graph, no `k` is given, and all known neighbours of some new points lie
        within the radius. Then there may be more neighbours, which the step leaves out.

    See Also
    --------
    solve_memberships : Memberships of the fitted points.
    assign : All steps for new trajectories in one call.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> fitted = mf.Memberships(
    ...     values=np.eye(3)[:, :2], lost=[0.0, 0.0, 1.0], beta=1.0, log_weights=np.zeros(3),
    ...     exponent=0.0, k=2
    ... )
    >>> new = mf.Neighbors([[0, 1], [1, 0]], [[0.5, 0.6], [0.0, 1.0]], n_targets=3)
    >>> mf.extend_memberships(fitted, new).values
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    check_type("memberships", memberships, Memberships, remedy="`solve_memberships` gives them.")
    check_type("neighbors", neighbors, Neighbors, remedy="Search with `queries=`.")
    if neighbors.n_targets != len(memberships):
        raise InputValueError(
            f"`neighbors` must be searched among the {len(memberships)} fitted points; "
            f"got neighbours among {neighbors.n_targets}."
        )
    remedy = f"These neighbours were searched with n_neighbors={neighbors.k}."
    default = neighbors.k if memberships.k is None else memberships.k
    if k is None and memberships.radius is not None:
        _warn_of_more_within(memberships.radius, neighbors)
    k = check_int("k", default if k is None else k, 1, neighbors.k, remedy=remedy)
    values = np.empty((len(neighbors), memberships.values.shape[1]))
    lost = np.empty(len(neighbors))

    def step(first: int, last: int) -> None:
        indices, distances = (each[first:last, :k] for each in (neighbors.indices, neighbors.distances))
        values[first:last], lost[first:last] = _step(memberships, indices, distances.astype(np.float64))

    run_ranges(step, len(neighbors), _STRETCH, n_jobs)
    nearest = memberships.log_weights[neighbors.indices[:, 0]]
    error = float(np.abs(values.sum(axis=1) + lost - 1.0).max(initial=0.0))
    return Memberships(
        values=values,
        lost=lost,
        beta=memberships.beta,
        log_weights=nearest,
        exponent=memberships.exponent,
        kernel=memberships.kernel,
        bandwidth=memberships.bandwidth,
        k=memberships.k,
        radius=memberships.radius,
        residual=memberships.residual,
        row_sum_error=error,
    )


def _step(
    memberships: Memberships, indices: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the memberships and the lost probability of some points, given their neighbours."""
    logs = memberships.log_weights[indices]
    if memberships.bandwidth is not None:
        logs -= 0.5 * (distances / memberships.bandwidth) ** 2
    if memberships.radius is not None:
        logs[distances > memberships.radius] = -np.inf
    tops = logs.max(axis=1, keepdims=True)
    alone = np.isneginf(tops[:, 0])
    steps = np.exp(logs - np.where(np.isneginf(tops), 0.0, tops))
    steps /= np.where(alone, 1.0, steps.sum(axis=1))[:, None]
    values = np.zeros((len(indices), memberships.values.shape[1]))
    lost = np.zeros(len(indices))
    for c in range(indices.shape[1]):
        values += steps[:, c, None] * memberships.values[indices[:, c]]
        lost += steps[:, c] * memberships.lost[indices[:, c]]
    lost[alone] = 1.0
    same = distances[:, 0] == 0.0
    values[same] = memberships.values[indices[same, 0]]
    lost[same] = memberships.lost[indices[same, 0]]
    return values, lost

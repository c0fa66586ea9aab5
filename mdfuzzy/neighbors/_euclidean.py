"""The nearest points in Euclidean distance, exact also where products of coordinates lose digits."""

import numpy as np

#: Candidates beyond the neighbours that are wanted, so that rounding cannot hide one of them.
_SPARE = 4
#: Squared distances that differ by less than this share count as equal; float32 tells none below 1e-7.
_EQUAL = 1e-9
#: Numbers of the differences that are held at a time.
_HELD = 2_000_000


def nearest_points(
    points: np.ndarray, queries: np.ndarray | None, n_neighbors: int, n_jobs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) of the nearest points of each query, or of each point other than itself.

    In few dimensions a tree finds them, by differences of coordinates. In many, scikit-learn computes
    |x|^2 + |y|^2 - 2 x.y, which is quick and loses the digits of distances that are small beside
    |x|. So a few candidates more than are wanted come from there, and their distances from differences;
    where the loss could hide a neighbour, a tree searches again.
    """
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(points)
    if search._fit_method != "brute":
        distances, indices = search.kneighbors(queries)
        return indices, distances
    among = len(points) - (queries is None)
    wanted = min(n_neighbors + _SPARE, among)
    centre = points.mean(axis=0)  # about which the products lose least
    centred = points - centre
    others = centred if queries is None else queries - centre
    search = NearestNeighbors(n_neighbors=wanted, n_jobs=n_jobs, algorithm="brute").fit(centred)
    seen, indices = search.kneighbors(None if queries is None else others)
    near, distances = _by_differences(points if queries is None else queries, points, indices)
    near, distances = near[:, :n_neighbors].copy(), distances[:, :n_neighbors].copy()
    if wanted < among:
        lossy = np.flatnonzero(~_certain(distances[:, -1], seen[:, -1], others))
        if len(lossy):
            found = _search_tree(points, queries, lossy, n_neighbors, n_jobs)
            near[lossy], distances[lossy] = found
    return near, distances


def _certain(last: np.ndarray, seen: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Tell of which queries no neighbour can be missing.

    `last` is the distance to the last neighbour, `seen` that to the last candidate by products. A point that
    is missing would have a square of at least seen^2 by products and of less than last^2 by differences. It
    would be no further from the centre than |x| + last, which bounds what its products can lose: the
    roundings of sums over the dimensions, and a few for the centre and the root.
    """
    size = np.linalg.norm(queries, axis=1)
    loss = (queries.shape[1] + 8) * np.finfo(float).eps * 2.0 * (size**2 + (size + last) ** 2)
    return (last == 0.0) | (last**2 <= seen**2 - loss) | (loss <= _EQUAL * last**2)


def _search_tree(
    points: np.ndarray, queries: np.ndarray | None, rows: np.ndarray, n_neighbors: int, n_jobs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Search the neighbours of some rows by differences alone."""
    from sklearn.neighbors import NearestNeighbors

    own = queries is None
    search = NearestNeighbors(n_neighbors=n_neighbors + own, n_jobs=n_jobs, algorithm="kd_tree").fit(points)
    distances, indices = search.kneighbors((points if own else queries)[rows])
    if own:  # leave the point itself out, or, if it has so many copies that it is not there, the last
        itself = indices == rows[:, None]
        itself[~itself.any(axis=1), -1] = True
        shape = len(rows), n_neighbors
        distances, indices = distances[~itself].reshape(shape), indices[~itself].reshape(shape)
    return indices, distances


def _by_differences(
    queries: np.ndarray, points: np.ndarray, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates with distances from differences, in order."""
    distances = np.empty(indices.shape)
    step = max(1, _HELD // (indices.shape[1] * points.shape[1]))
    for first in range(0, len(indices), step):
        rows = slice(first, first + step)
        distances[rows] = np.linalg.norm(points[indices[rows]] - queries[rows, None], axis=2)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)

"""Medoids: the most central frame of each state."""

from collections.abc import Iterator

import numpy as np

from mdfuzzy.exports._checks import check_result
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.assignment import Result

#: The largest number of frames of a state that are compared with each other.
_SAMPLE = 500


def find_medoids(result: Result) -> np.ndarray:
    """Find the medoid of each state: the frame with the smallest mean distance to the frames of its state.

    The distance is the metric of the clustering: RMSD for frames, Euclidean distance for features. In a state
    with more than 500 frames, 500 evenly spread frames are compared with each other. If frames have weights,
    the mean is weighted, and the 500 frames are evenly spread over the weight. A medoid is a typical
    structure; the density peak (`State.peak`) is the most frequent one.

    Parameters
    ----------
    result : Clustering or Assignment
        The result, of frames or features.

    Returns
    -------
    (K,) int64
        The frame numbers; -1 for a state without frames.

    See Also
    --------
    exports.write_structures : Write the medoids as structures.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=50), mf.Settings(prominence=1.0))
    >>> medoids = mf.exports.find_medoids(result)
    >>> result.labels[medoids]
    array([0, 1, ...], dtype=int32)
    """
    data = check_result(result)
    labels = result.labels
    medoids = np.full(result.n_states, -1, np.int64)
    for state in range(result.n_states):
        members = np.flatnonzero(labels == state)
        if len(members):
            weights = None if data.weights is None else data.weights[members]
            sample, counts = spread_by_weight(members, _SAMPLE, weights)
            medoids[state] = sample[mean_distance(data, sample, counts).argmin()]
    return medoids


def spread(members: np.ndarray, n: int) -> np.ndarray:
    """Return at most `n` members, evenly spread over all: the middle of each of n equal parts.

    Examples
    --------
    >>> spread(np.arange(10, 20), 3)
    array([11, 15, 18])
    """
    n = min(n, len(members))
    return members[(2 * np.arange(n) + 1) * len(members) // max(1, 2 * n)]


def spread_by_weight(
    members: np.ndarray, n: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return at most `n` members evenly spread over their weight, and the number of parts of each.

    The weight is divided into n equal parts, in the order of the members, and the member in the middle of
    each part is taken. A member in the middle of several parts represents all of them.

    Examples
    --------
    >>> spread_by_weight(np.arange(10, 16), 2, np.array([1.0, 1.0, 0.0, 0.0, 8.0, 2.0]))
    (array([14]), array([2]))
    >>> spread_by_weight(np.arange(10, 13), 5, np.array([1.0, 0.0, 3.0]))
    (array([10, 12]), array([1., 3.]))
    """
    if weights is None or not weights.any():
        return spread(members, n), None
    positive = weights > 0
    if np.count_nonzero(positive) <= n:
        return members[positive], weights[positive]
    sums = np.cumsum(weights)
    middles = (np.arange(n) + 0.5) * sums[-1] / n
    places, counts = np.unique(np.searchsorted(sums, middles), return_counts=True)
    return members[places], counts


def mean_distance(data: Trajectories, sample: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the (weighted) mean distance of each frame of a sample to all: RMSD in nm, or Euclidean."""
    return np.array([np.average(row, weights=weights) for row in _distances(data, sample)])


def _distances(data: Trajectories, sample: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the distances of each frame of a sample to all of it."""
    points, symmetry = data.points[sample], data.symmetry
    if not data.metric.superpose and symmetry is None:
        points = np.asarray(data.vectors)[sample]
        yield from (np.linalg.norm(points - each, axis=1) for each in points)
        return
    if not data.metric.superpose and symmetry is not None:
        atoms = points.reshape(len(sample), -1, 3)
        images = (symmetry.nearest_images(atoms, each, superpose=False) - each for each in atoms)
        yield from (np.sqrt(np.square(each).sum(axis=(1, 2))) for each in images)
        return
    import mdtraj as md

    orders = [np.arange(points.shape[1])] if symmetry is None else symmetry.permutations
    parts = [md.Trajectory(points[:, order], None) for order in orders]
    for part in parts:
        part.center_coordinates()
    # Without threads: for so few frames, synchronising them takes longer than computing.
    options = {"precentered": True, "parallel": False}
    for place in range(len(sample)):
        yield np.min([md.rmsd(part, parts[0], place, **options) for part in parts], axis=0)

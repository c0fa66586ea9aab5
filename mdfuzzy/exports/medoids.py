"""Medoids: the most central frame of each state."""

import numpy as np

from mdfuzzy.exports._checks import Result, check_result
from mdfuzzy.frames.trajectories import Trajectories

#: Trajectories of a state that are compared with each other, at most.
_SAMPLE = 500


def find_medoids(result: Result) -> np.ndarray:
    """Find the medoid of each state: the frame with the smallest mean distance to the frames of its state.

    The distance is the one that was clustered by: RMSD for frames, Euclidean for features.
    Of a state with more than 500 frames, 500 that are evenly spread over them are compared with each other.
    A medoid is a typical structure; the density peak (`State.peak`) is the most frequent one.

    Parameters
    ----------
    result : Clustering or Assignment
        Of frames or features.

    Returns
    -------
    (K,) int64
        Frame numbers; -1 for a state without frames.

    See Also
    --------
    exports.write_structures : Writes them as structures.

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
            sample = spread(members, _SAMPLE)
            medoids[state] = sample[mean_distance(data, sample).argmin()]
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


def mean_distance(data: Trajectories, sample: np.ndarray) -> np.ndarray:
    """Return the mean distance of each frame of a sample to all of it: RMSD in nm, or Euclidean."""
    points, symmetry = data.points[sample], data.symmetry
    if not data.metric.superpose and symmetry is None:
        points = np.asarray(data.vectors)[sample]
        return np.array([np.linalg.norm(points - each, axis=1).mean() for each in points])
    if not data.metric.superpose and symmetry is not None:
        atoms = points.reshape(len(sample), -1, 3)
        images = [symmetry.nearest_images(atoms, each, superpose=False) - each for each in atoms]
        return np.array([np.sqrt(np.square(each).sum(axis=(1, 2))).mean() for each in images])
    import mdtraj as md

    orders = [np.arange(points.shape[1])] if symmetry is None else symmetry.permutations
    parts = [md.Trajectory(points[:, order], None) for order in orders]
    for part in parts:
        part.center_coordinates()
    # Not in threads, which for so few frames take longer to meet than to compute.
    options = {"precentered": True, "parallel": False}
    return np.array(
        [
            np.min([md.rmsd(part, parts[0], place, **options) for part in parts], axis=0).mean()
            for place in range(len(sample))
        ]
    )

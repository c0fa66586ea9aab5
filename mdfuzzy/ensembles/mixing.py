"""The overlap of ensembles, from the ensembles of the neighbours of each frame."""

import numpy as np

from mdfuzzy.neighbors.neighbors import Neighbors

_PART = 65_536  # rows processed together


def neighbor_mixing(
    neighbors: Neighbors, ensembles: np.ndarray, parts: np.ndarray, weights: np.ndarray, n_ensembles: int
) -> np.ndarray:
    r"""Return for each pair of ensembles the frequency of neighbours, relative to chance.

    Neighbours from the same trajectory (or block) are left out, because they are close in time. Consider the
    other neighbours of the frames of ensemble e that are in e or f. The share of f in their weight is divided
    by its value for two ensembles with the same distribution.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of all frames.
    ensembles, parts : (n,) array of int
        The ensemble, and the trajectory or block, of each frame.
    weights : (n,) array
        The weights of the frames.
    n_ensembles : int
        The number of ensembles.

    Returns
    -------
    (E, E) array
        1: mixed as if both were one ensemble; 0: no frame of one has a neighbour in the other. NaN on the
        diagonal, and where no frame has a neighbour outside its own trajectory.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(4000, 2))
    >>> halves, parts = np.arange(4000) // 2000, np.arange(4000) // 500
    >>> for shift in (0, 20):
    ...     found = mf.euclidean_neighbors(points + shift * halves[:, None], n_neighbors=20)
    ...     print(neighbor_mixing(found, halves, parts, np.ones(4000), 2)[0, 1].round(2))
    1.0
    0.0
    """
    total = np.zeros((n_ensembles, n_ensembles))
    expected = np.zeros((n_ensembles, n_ensembles))
    mass = np.bincount(ensembles, weights=weights, minlength=n_ensembles)
    own = np.bincount(parts, weights=weights)
    for first in range(0, len(neighbors), _PART):
        rows = slice(first, first + _PART)
        indices = neighbors.indices[rows]
        heavy = np.where(parts[indices] != parts[rows, None], weights[indices], 0.0)
        of = ensembles[indices]
        near = np.stack([np.where(of == each, heavy, 0.0).sum(axis=1) for each in range(n_ensembles)], axis=1)
        home, weight = ensembles[rows], weights[rows]
        left = mass[home] - own[parts[rows]]  # in its own ensemble, outside its own part
        inside = near[np.arange(len(home)), home]
        for each in range(n_ensembles):
            both = inside + near[:, each]
            used = weight * (both > 0) * (home != each)
            share = near[:, each] / np.where(both > 0, both, 1.0)
            np.add.at(total[:, each], home, used * share)
            np.add.at(expected[:, each], home, used * mass[each] / np.maximum(left + mass[each], 1e-300))
    total, expected = total + total.T, expected + expected.T
    return np.where(expected > 0, total / np.where(expected > 0, expected, 1.0), np.nan)

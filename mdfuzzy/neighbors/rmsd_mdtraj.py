"""Find neighbours under minimum RMSD by comparing all pairs with ``md.rmsd``, as a simple reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from mdfuzzy._check import check_int
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors._coordinates import check_conformations
from mdfuzzy.neighbors.neighbors import Neighbors


def rmsd_neighbors_mdtraj(
    frames: Frames | npt.ArrayLike,
    *,
    n_neighbors: int = 100,
    queries: Frames | npt.ArrayLike | None = None,
    progress: bool | None = None,
) -> Neighbors:
    """Find the nearest other frames of every frame by comparing all pairs with ``md.rmsd``, a slow reference.

    Parameters
    ----------
    frames : Frames or (n, atoms, 3) array
        The conformations, in nm. They are copied, because ``md.rmsd`` changes coordinates in place.
    n_neighbors : int
        The number of neighbours to find, in [1, n - 1].
    queries : Frames or (m, atoms, 3) array, optional
        Find the neighbours of these frames instead, among `frames`; n_neighbors may then be n.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.

    Returns
    -------
    Neighbors
        The neighbours, nearest first, with distances to the float32 precision of ``md.rmsd``.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=100)
    >>> slow = mf.rmsd_neighbors_mdtraj(frames, n_neighbors=5)
    >>> fast = mf.rmsd_neighbors(frames, n_neighbors=5)
    >>> bool(abs(slow.distances - fast.distances).max() < 1e-5)
    True
    """
    import mdtraj as md

    xyz, others = check_conformations(frames, queries)
    remedy = f"There are {len(xyz)} frames."
    n_neighbors = check_int("n_neighbors", n_neighbors, 1, len(xyz) - (others is None), remedy=remedy)
    targets = md.Trajectory(xyz.copy(), None)
    targets.center_coordinates()
    symmetry = frames.symmetry if isinstance(frames, Trajectories) else None
    orders = [np.arange(xyz.shape[1])] if symmetry is None else symmetry.permutations
    asked = [md.Trajectory((xyz if others is None else others)[:, order], None) for order in orders]
    for part in asked:
        part.center_coordinates()
    n = len(asked[0])
    indices, distances = np.empty((n, n_neighbors), np.int32), np.empty((n, n_neighbors), np.float32)
    for i in tqdm(range(n), unit=" frames", disable=None if progress is None else not progress):
        rows = [md.rmsd(targets, part, i, parallel=True, precentered=True) for part in asked]
        row = np.min(rows, axis=0)  # the least over exchanges of equivalent atoms
        if others is None:
            row[i] = np.inf
        nearest = np.argpartition(row, n_neighbors - 1)[:n_neighbors]
        indices[i] = nearest[np.argsort(row[nearest], kind="stable")]
        distances[i] = row[indices[i]]
    return Neighbors(indices, distances, n_targets=len(xyz))

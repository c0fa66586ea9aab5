"""Dihedral angles of frames."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._threads import share, using_threads

if TYPE_CHECKING:
    import mdtraj as md


def dihedral_angles(frames: "md.Trajectory", quartets: np.ndarray, *, periodic: bool) -> np.ndarray:
    """Return dihedral angles in degrees.

    Parameters
    ----------
    frames : md.Trajectory
        The frames.
    quartets : (m, 4) int array
        The four atoms of each angle.
    periodic : bool
        Whether bonds lead to the nearest periodic images of atoms, if the frames have a box.

    Returns
    -------
    (n, m) float32
        The angles, between -180 and 180.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> dihedral_angles(frame, np.array([[1, 3, 4, 6], [3, 4, 6, 8]]), periodic=False).shape
    (1, 2)
    """
    import mdtraj as md

    from mdfuzzy._kernels import dihedrals

    quartets = np.ascontiguousarray(quartets, np.int64).reshape(-1, 4)
    if periodic and frames.unitcell_lengths is not None:
        return np.degrees(md.compute_dihedrals(frames, quartets, periodic=True))
    angles = np.empty((len(frames.xyz), len(quartets)), np.float32)
    with using_threads(None):
        share(dihedrals.dihedral_angles, len(angles), np.ascontiguousarray(frames.xyz), quartets, angles)
    return angles

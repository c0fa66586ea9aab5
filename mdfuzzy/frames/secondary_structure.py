"""Assign the secondary structure of proteins with DSSP of mdtraj."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mdtraj as md

_BACKBONE = {"N", "CA", "C", "O"}


def secondary_structure(trajectory: "md.Trajectory") -> np.ndarray | None:
    """Return helix (h), strand (s) or coil (c) of each residue in each frame; None without backbones.

    Parameters
    ----------
    trajectory : md.Trajectory
        Frames of any molecules; residues without N, CA, C and O are coil.

    Returns
    -------
    (frames, residues) array of str, or None

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=10_000)
    >>> secondary_structure(frames.trajectory([0])).tolist()
    [['c', 'c', 'c']]
    """
    import mdtraj as md

    complete = [
        each.index for each in trajectory.topology.residues if {atom.name for atom in each.atoms} >= _BACKBONE
    ]
    if not complete:
        return None
    found = np.full((trajectory.n_frames, trajectory.topology.n_residues), "c")
    names = {"H": "h", "E": "s"}
    codes = md.compute_dssp(trajectory, simplified=True)[:, complete]
    found[:, complete] = np.vectorize(lambda code: names.get(code, "c"))(codes)
    return found

"""Periodic boxes: molecules that the boundary divides are put together along their bonds."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mdtraj as md


def has_box(chunk: "md.Trajectory") -> bool:
    """Whether frames have a periodic box with a volume."""
    return chunk.unitcell_lengths is not None and bool((chunk.unitcell_lengths > 0).all())


def box_vectors(lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the three vectors (rows) of each box, (n, 3, 3) float64.

    The usual orientation: the first along x, the second in the xy plane. (mdtraj's own
    `unitcell_vectors` loops over the frames in Python, which takes longer than to read them.)

    Parameters
    ----------
    lengths : (n, 3)
        In nm.
    angles : (n, 3)
        Alpha, beta and gamma in degrees.
    """
    a, b, c = np.asarray(lengths, np.float64).T
    # Exact for right angles, unlike np.cos(np.radians(90)).
    cosines = np.where(np.asarray(angles) == 90, 0.0, np.cos(np.radians(np.asarray(angles, np.float64))))
    cos_alpha, cos_beta, cos_gamma = cosines.T
    sin_gamma = np.sqrt(1 - cos_gamma**2)
    vectors = np.zeros((len(a), 3, 3))
    vectors[:, 0, 0] = a
    vectors[:, 1, 0], vectors[:, 1, 1] = b * cos_gamma, b * sin_gamma
    vectors[:, 2, 0], vectors[:, 2, 1] = c * cos_beta, c * (cos_alpha - cos_beta * cos_gamma) / sin_gamma
    vectors[:, 2, 2] = np.sqrt(c**2 - vectors[:, 2, 0] ** 2 - vectors[:, 2, 1] ** 2)
    return vectors


#: Shorter edges, nm, are no box of atoms: less than the shortest bond.
_LEAST_EDGE = 0.05


def unsound_box(lengths: np.ndarray, angles: np.ndarray) -> int | None:
    """Return the first frame whose box is no parallelepiped that holds an atom, or None.

    Parameters
    ----------
    lengths, angles : (n, 3)
        In nm and degrees.

    Examples
    --------
    >>> right = np.full((2, 3), 90.0)
    >>> unsound_box(np.array([[3.0, 3, 3], [3, 3, 1e-6]]), right)
    1
    >>> unsound_box(np.full((2, 3), 3.0), right) is None
    True
    """
    with np.errstate(all="ignore"):
        volume = np.linalg.det(box_vectors(lengths, angles)) / np.prod(lengths, axis=1, dtype=np.float64)
        sound = (np.asarray(lengths) >= _LEAST_EDGE).all(axis=1) & (volume > 1e-3) & np.isfinite(volume)
    return None if sound.all() else int(np.argmin(sound))


def make_whole(xyz: np.ndarray, lengths: np.ndarray, angles: np.ndarray, trees: np.ndarray) -> None:
    """Move atoms by whole boxes so that no bond reaches across the boundary, in place.

    Each bond of a spanning tree tells by how many boxes its outer atom is off from its inner one: the nearest
    integers to the bond vector in units of the box. These add up from the root outwards.

    Parameters
    ----------
    xyz : (n, atoms, 3) float32
        Coordinates in nm; frames without a divided molecule are left as they are, to the last bit.
    lengths, angles : (n, 3)
        The boxes.
    trees : (bonds, 2) int
        The bonds of spanning trees, as (inner, outer) atoms, from the roots outwards.
    """
    inner, outer = trees.T
    with np.errstate(all="ignore"):  # unsound boxes and coordinates are reported later, with their frame
        vectors = box_vectors(lengths, angles)
        bonds = (xyz[:, outer] - xyz[:, inner]).astype(np.float64)
        off = np.rint(bonds @ _inverse(vectors))
    divided = np.flatnonzero((np.abs(off) >= 1).any(axis=(1, 2)) & np.isfinite(off).all(axis=(1, 2)))
    if len(divided) == 0:
        return
    shifts = np.zeros((len(divided), xyz.shape[1], 3))
    for bond, (i, j) in enumerate(trees):
        shifts[:, j] = shifts[:, i] - off[divided, bond]
    xyz[divided] += shifts @ vectors[divided]


def _inverse(vectors: np.ndarray) -> np.ndarray:
    """Return the inverse of each matrix; NaN where there is none."""
    try:
        return np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        inverse = np.full_like(vectors, np.nan)
        good = np.isfinite(vectors).all(axis=(1, 2)) & (np.linalg.det(vectors) != 0)
        inverse[good] = np.linalg.inv(vectors[good])
        return inverse

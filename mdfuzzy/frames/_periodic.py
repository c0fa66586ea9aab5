"""Make molecules whole across periodic boundaries along their bonds."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mdtraj as md


def has_box(chunk: "md.Trajectory") -> bool:
    """Return whether frames have a periodic box with a volume."""
    return chunk.unitcell_lengths is not None and bool((chunk.unitcell_lengths > 0).all())


def box_vectors(lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the three vectors (rows) of each box, (n, 3, 3) float64.

    The orientation is the usual one, with the first vector along x and the second in the xy plane.
    (`unitcell_vectors` of mdtraj loops over the frames in Python, which takes longer than reading them.)

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


#: The shortest valid edge of a box in nm, less than the shortest bond.
_LEAST_EDGE = 0.05


def unsound_box(lengths: np.ndarray, angles: np.ndarray) -> int | None:
    """Return the first frame whose box is not a parallelepiped that can hold an atom, or None.

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

    Each bond of a spanning tree gives the number of boxes between its outer and its inner atom: the nearest
    integers to the bond vector in units of the box. These numbers add up from the root outwards.

    Parameters
    ----------
    xyz : (n, atoms, 3) float32
        Coordinates in nm; frames without a broken molecule stay bitwise unchanged.
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


def bring_together(
    xyz: np.ndarray,
    lengths: np.ndarray,
    angles: np.ndarray,
    molecules: np.ndarray,
    fixed: np.ndarray,
    chosen: np.ndarray,
) -> np.ndarray:
    """Move molecules by whole boxes to the images nearest to some atoms, in place.

    The first molecule of the `fixed` atoms stays where it is. Their other molecules follow in order, each to
    the image nearest to the fixed atoms before it, and finally the molecules of the `chosen` atoms. The
    position of a molecule is the centroid of its fixed or chosen atoms; distances are measured to the
    nearest atom.

    Parameters
    ----------
    xyz : (n, atoms, 3) float32
        Coordinates in nm, of whole molecules.
    lengths, angles : (n, 3)
        The boxes.
    molecules : (atoms,) int
        The molecule of each atom.
    fixed, chosen : (m,) int
        Atoms.

    Returns
    -------
    (n,) bool
        Whether a molecule was moved in each frame.
    """
    moved = np.zeros(len(xyz), bool)
    with np.errstate(all="ignore"):  # unsound boxes and coordinates are reported later, with their frame
        vectors = box_vectors(lengths, angles)
        inverse = _inverse(vectors)
    labels = molecules[fixed]
    placed = fixed[labels == labels[0]]
    for label in _in_order(np.concatenate([labels, molecules[chosen]]))[1:]:
        of_fixed = fixed[labels == label]
        members = of_fixed if len(of_fixed) else chosen[molecules[chosen] == label]
        centre = xyz[:, members].mean(axis=1, dtype=np.float64)
        with np.errstate(all="ignore"):
            shifts = _to_nearest(centre, xyz[:, placed], vectors, inverse)
        there = np.flatnonzero(shifts.any(axis=1) & np.isfinite(shifts).all(axis=1))
        moved[there] = True
        by = np.einsum("nk,nkl->nl", shifts[there], vectors[there])
        xyz[np.ix_(there, np.flatnonzero(molecules == label))] += by[:, None]
        placed = np.concatenate([placed, of_fixed])
    return moved


def _in_order(labels: np.ndarray) -> np.ndarray:
    """Return different labels in the order in which they appear."""
    found, first = np.unique(labels, return_index=True)
    return found[np.argsort(first)]


#: Frames times atoms whose distances are computed together.
_AT_ONCE = 500_000


def _to_nearest(
    points: np.ndarray, others: np.ndarray, vectors: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """Return how many boxes to move each point, (n, 3), to come nearest to any of the other points (n, m, 3).

    The nearest integers in units of the box give the nearest image up to half the height of the box. In
    a skewed box a point farther away than that may have a nearer image next to it.
    """
    shifts = np.zeros((len(points), 3))
    step = max(1, _AT_ONCE // others.shape[1])
    around = np.stack(np.meshgrid(*[[0.0, -1, 1]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        away = (points[part, None] - others[part]) @ inverse[part]
        off = -np.rint(away)
        squares = np.square((away + off) @ vectors[part]).sum(axis=-1)
        best = squares.argmin(axis=1)
        rows = np.arange(len(best))
        shifts[part] = off[rows, best]
        heights = 1 / np.linalg.norm(inverse[part], axis=1).max(axis=1)
        far = np.flatnonzero(4 * squares[rows, best] > heights**2)
        skewed = far[np.abs(vectors[part][far] * (1 - np.eye(3))).max(axis=(1, 2), initial=0) > 1e-6]
        least = squares[skewed].min(axis=1, initial=np.inf)
        for more in around[1:]:
            images = (away[skewed] + off[skewed] + more) @ vectors[part][skewed]
            squares_there = np.square(images).sum(axis=-1)
            at = squares_there.argmin(axis=1)
            here = np.arange(len(skewed))
            nearer = squares_there[here, at] < least
            least[nearer] = squares_there[here, at][nearer]
            shifts[part][skewed[nearer]] = (off[skewed, at] + more)[nearer]
    return shifts


def _inverse(vectors: np.ndarray) -> np.ndarray:
    """Return the inverse of each matrix; NaN where there is none."""
    try:
        return np.linalg.inv(vectors)
    except np.linalg.LinAlgError:
        inverse = np.full_like(vectors, np.nan)
        good = np.isfinite(vectors).all(axis=(1, 2)) & (np.linalg.det(vectors) != 0)
        inverse[good] = np.linalg.inv(vectors[good])
        return inverse

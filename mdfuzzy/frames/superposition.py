"""Superpose frames on a reference structure by some of their atoms."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import ReadOnly, read_only


def rotations_onto(xyz: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the rotations, (n, 3, 3), that optimally superpose frames on `reference`.

    The rotations come from singular values (Kabsch). Frames (n, atoms, 3) and reference (atoms, 3) must have
    the same centre; a frame is rotated as ``frame @ rotation``. To weight atoms, multiply both by the square
    roots of the weights.

    Examples
    --------
    >>> square = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    >>> turned = square[:, [1, 0, 2]] * [-1, 1, 1]
    >>> bool(np.allclose(turned @ rotations_onto(turned[None], square)[0], square, atol=1e-12))
    True
    """
    left, _, right = np.linalg.svd(np.swapaxes(xyz, 1, 2) @ reference)
    # If the best orthogonal matrix is a reflection, the weakest axis is inverted to get a rotation.
    left[:, :, 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[:, None]
    return left @ right


@dataclass(frozen=True, eq=False)
class Alignment(ReadOnly):
    """The superposition of every frame on a reference structure by some of its atoms.

    Attributes
    ----------
    atoms : (m,) int64
        The aligned atoms, as indices in the sources.
    selection : str
        The aligned atoms in words.
    reference : (m, 3) float64
        The coordinates of these atoms in the reference structure in nm, with the (weighted) centre at the
        origin.
    weights : (m,) float64
        The weights of the atoms; they sum to 1.
    moved : int
        The number of frames in which a molecule was moved to the periodic image nearest to these atoms.

    Examples
    --------
    >>> square = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    >>> alignment = Alignment(np.arange(4), "a square", square, np.full(4, 0.25))
    >>> moved = 5 + square[:, [1, 0, 2]] * [-1, 1, 1]  # shifted and turned
    >>> bool(np.allclose(alignment.apply(moved[None], moved[None]), square))
    True
    """

    atoms: np.ndarray
    selection: str
    reference: np.ndarray
    weights: np.ndarray
    moved: int = 0

    def __post_init__(self) -> None:
        for name, dtype in (("atoms", np.int64), ("reference", np.float64), ("weights", np.float64)):
            object.__setattr__(self, name, read_only(np.ascontiguousarray(getattr(self, name), dtype)))

    def apply(self, aligned: np.ndarray, xyz: np.ndarray) -> np.ndarray:
        """Return coordinates `xyz` (n, atoms, 3) after the superposition of their frames, float64.

        Parameters
        ----------
        aligned : (n, m, 3)
            The aligned atoms of the same frames before the superposition.
        xyz : (n, atoms, 3)
            Any atoms of the frames.
        """
        aligned, xyz = aligned.astype(np.float64), xyz.astype(np.float64)
        centre = np.einsum("nak,a->nk", aligned, self.weights)[:, None]
        roots = np.sqrt(self.weights)[:, None]
        return (xyz - centre) @ rotations_onto((aligned - centre) * roots, self.reference * roots)

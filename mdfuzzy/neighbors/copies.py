"""Duplicate points: how many there are, and a few of them that represent all of them in a search.

No search can distinguish duplicates. It would compare each of them with all others, in a time that grows with
the square of their number. If a point has more duplicates than the requested number of neighbours, any of the
duplicates are its nearest neighbours.
"""

from dataclasses import dataclass

import numpy as np

#: The number of rows whose checksums are computed together.
_STRETCH = 16_384


@dataclass(frozen=True, eq=False)
class Copies:
    """The points that represent all points in a search.

    Attributes
    ----------
    kept : (m,) int64
        The points to search among, ascending.
    like : (n,) int64
        For every point, the index in `kept` of a point with the same neighbours.
    """

    kept: np.ndarray
    like: np.ndarray

    def spread(
        self, indices: np.ndarray, distances: np.ndarray, *, queries: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of all points, or of other `queries`, from those of the kept points."""
        indices = self.kept.astype(np.int32)[indices]
        return (indices, distances) if queries else (indices[self.like], distances[self.like])


def find_copies(points: np.ndarray, enough: int) -> Copies | None:
    """Omit all but `enough` duplicates of every point; None if there is nothing to omit.

    Parameters
    ----------
    points : (n, ...) array
        Vectors or conformations.
    enough : int
        The number of duplicates of a point that are kept, the first ones.

    Examples
    --------
    >>> copies = find_copies(np.array([[0.0], [1.0], [0.0], [0.0], [2.0], [0.0]]), 2)
    >>> copies.kept, copies.like
    (array([0, 1, 2, 4]), array([0, 1, 2, 2, 3, 2]))
    """
    n = len(points)
    if n <= enough:
        return None
    rows = np.ascontiguousarray(points).reshape(n, -1)
    checksums = _checksums(rows)
    order = np.argsort(checksums, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(checksums[order]) != 0])
    sizes = np.diff(np.r_[starts, n])
    keep, same_as = np.ones(n, bool), np.arange(n)
    for start, size in zip(starts[sizes > enough], sizes[sizes > enough], strict=True):
        members = order[start : start + size]  # ascending
        if (rows[members] == rows[members[0]]).all():
            keep[members[enough:]] = False
            # The neighbours of the last kept duplicate are the other kept ones, which have the smallest
            # numbers.
            # They are also the neighbours of the omitted duplicates.
            same_as[members[enough:]] = members[enough - 1]
    if keep.all():
        return None
    return Copies(np.flatnonzero(keep), (np.cumsum(keep) - 1)[same_as])


def count_different(points: np.ndarray) -> int:
    """Return the number of different points.

    Examples
    --------
    >>> count_different(np.array([[0.0], [1.0], [0.0], [0.0], [2.0], [0.0]]))
    3
    """
    rows = np.ascontiguousarray(points).reshape(len(points), -1)
    return len(np.unique(_checksums(rows)))


def _checksums(rows: np.ndarray) -> np.ndarray:
    """Return a number for every row, equal for equal rows and almost always different for others."""
    words = rows.view(np.uint32)
    factors = np.random.default_rng(0).integers(1, 2**63, words.shape[1], dtype=np.uint64) | np.uint64(1)
    sums = np.empty(len(rows), np.uint64)
    for first in range(0, len(rows), _STRETCH):
        sums[first : first + _STRETCH] = words[first : first + _STRETCH] @ factors
    return sums

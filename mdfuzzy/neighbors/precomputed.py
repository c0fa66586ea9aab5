"""Find nearest neighbours in a precomputed distance matrix, full or sparse."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.neighbors.neighbors import Neighbors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_CHUNK = 1024  # rows sorted at a time


def count_neighbors(distances: "np.ndarray | csr_matrix", *, queries: bool) -> int:
    """Return the smallest number of neighbours of any row, without the point itself.

    Parameters
    ----------
    distances : (m, n) array or csr matrix
        Distances that a sparse matrix does not store are larger than the stored ones; a stored zero is a
        distance.
    queries : bool
        Whether the rows are new points. Otherwise row i and column i are the same point.
    """
    m, n = distances.shape
    if not queries and m != n:
        raise InputValueError(
            f"Precomputed distances must form a square matrix, a row and a column for each point; got shape "
            f"({m}, {n})."
        )
    if isinstance(distances, np.ndarray):
        return n if queries else n - 1
    rows = _rows(distances)
    return int(np.bincount(rows[queries | (distances.indices != rows)], minlength=m).min())


def nearest_of(distances: "np.ndarray | csr_matrix", n_neighbors: int, *, queries: bool) -> Neighbors:
    """Return the `n_neighbors` nearest columns of every row; ties go to the first columns.

    The parameters are the same as for `count_neighbors`, which returns the largest possible number.

    Examples
    --------
    >>> nearest_of(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]), 2, queries=False).indices
    array([[2, 1],
           [0, 2],
           [0, 1]], dtype=int32)
    """
    m, n = distances.shape
    indices = np.empty((m, n_neighbors), np.int32)
    lengths = np.empty((m, n_neighbors))
    if isinstance(distances, np.ndarray):
        for start in range(0, m, _CHUNK):
            some = slice(start, min(start + _CHUNK, m))
            part = distances[some].copy()
            if not queries:
                part[np.arange(len(part)), np.arange(some.start, some.stop)] = np.inf
            indices[some] = np.argsort(part, axis=1, kind="stable")[:, :n_neighbors]
            lengths[some] = np.take_along_axis(part, indices[some], axis=1)
    else:
        rows = _rows(distances)
        kept = np.flatnonzero(queries | (distances.indices != rows))
        order = kept[np.lexsort((distances.indices[kept], distances.data[kept], rows[kept]))]
        starts = np.searchsorted(rows[order], np.arange(m))
        chosen = order[starts[:, None] + np.arange(n_neighbors)]
        indices[:], lengths[:] = distances.indices[chosen], distances.data[chosen]
    return Neighbors(indices, lengths, n_targets=n)


def _rows(matrix: "csr_matrix") -> np.ndarray:
    """Return the row of every stored entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

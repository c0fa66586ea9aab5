"""Find the nearest neighbours of every frame or point, and join them to graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputTypeError,
    InputValueError,
    ReadOnly,
    check_choice,
    check_finite,
    check_int,
    check_numbers,
    check_real,
    read_only,
)
from mdfuzzy._threads import run_ranges, share, using_threads
from mdfuzzy.frames.mapping import release
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors._euclidean import nearest_points
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.copies import find_copies
from mdfuzzy.neighbors.graph import Graph, reverse_lists

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

    from mdfuzzy.workers.cluster import Client

_STRETCH = 8192  # rows sorted together
_PART = 131_072  # rows joined together
#: The largest allowed feature value, for which float32 distances and squares of distances do not overflow.
_LARGEST = 1e30


@dataclass(frozen=True, eq=False)
class SpareNeighbors(ReadOnly):
    """Neighbours beyond the requested ones, kept for a later search with more data.

    Attributes
    ----------
    indices : (n, s) int32
        The indices of the neighbours.
    distances : (n, s) float32
        The distances, ascending; infinite where they are not known.
    """

    indices: np.ndarray
    distances: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "indices", read_only(np.ascontiguousarray(self.indices, np.int32)))
        object.__setattr__(self, "distances", read_only(np.ascontiguousarray(self.distances, np.float32)))


@dataclass(frozen=True, eq=False)
class Neighbors(ReadOnly):
    """The nearest other points of every point, nearest first.

    Attributes
    ----------
    indices : (n, k) int32
        The indices of the neighbours, without the point itself.
    distances : (n, k) float32
        The distances (nm for RMSD), ascending.
    exact : bool
        Whether the neighbours are guaranteed to be the nearest.
    recall : float or None
        The share of true neighbours found, measured on a sample, if the search was approximate.
    n_targets : int
        The number of points that were searched. It is n, except for the neighbours of new points.
    spare : SpareNeighbors or None
        Further neighbours, which a run directory keeps for a later search with more data.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors = mf.Neighbors([[1, 2], [0, 2], [1, 0]], [[0.1, 0.4], [0.1, 0.3], [0.3, 0.4]])
    >>> len(neighbors), neighbors.k, neighbors.exact
    (3, 2, True)
    """

    indices: np.ndarray
    distances: np.ndarray
    exact: bool = True
    recall: float | None = None
    n_targets: int = None  # type: ignore[assignment]  # filled in below
    spare: SpareNeighbors | None = None

    def __post_init__(self) -> None:
        indices, distances = np.asarray(self.indices), np.asarray(self.distances)
        if indices.ndim != 2 or indices.shape != distances.shape or 0 in indices.shape:
            raise InputValueError(
                f"`indices` and `distances` must have the same shape (points, neighbours), not empty; got "
                f"{indices.shape} and {distances.shape}."
            )
        if indices.dtype.kind not in "iu":
            raise InputTypeError(f"`indices` must be integers; got {indices.dtype}.")
        n_targets = len(indices) if self.n_targets is None else self.n_targets
        if not 0 <= indices.min() <= indices.max() < n_targets:
            raise InputValueError(
                f"`indices` must be in [0, {n_targets - 1}]; got {indices.min()} to {indices.max()}. "
                f"Neighbours of other points need `n_targets`."
            )
        with np.errstate(over="ignore"):
            distances = np.ascontiguousarray(distances, dtype=np.float32)
        if not 0 <= distances.min() <= distances.max() < np.inf:
            raise InputValueError(
                f"`distances` must be finite in float32 and at least 0; got {distances.min()} to "
                f"{distances.max()}."
            )
        object.__setattr__(self, "indices", read_only(np.ascontiguousarray(indices, dtype=np.int32)))
        object.__setattr__(self, "distances", read_only(distances))
        object.__setattr__(self, "n_targets", n_targets)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        how = (
            "exact"
            if self.exact
            else "recall unknown"
            if self.recall is None
            else f"recall {self.recall:.4g}"
        )
        return f"Neighbors({len(self):,} points, {self.k} neighbours each, {how})"

    @property
    def k(self) -> int:
        """The number of neighbours of each point."""
        return self.indices.shape[1]

    def graph(
        self,
        k: int | None = None,
        *,
        kind: Literal["union", "directed"] = "union",
        n_jobs: int | None = None,
    ) -> Graph:
        """Join every point to its `k` nearest neighbours.

        Parameters
        ----------
        k : int, optional
            The number of neighbours to use; by default half of them, because the density is estimated from
            twice as many neighbours as the graph has.
        kind : {"union", "directed"}
            A `union` graph has an edge if either point has the other among its k nearest, so it is
            symmetric. A `directed` graph has edges only from each point to its k nearest.
        n_jobs : int, optional
            The number of threads; by default one for every core.

        Returns
        -------
        Graph
            The graph, with the distances as edge lengths.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> points = np.array([[0.0], [1.0], [3.0], [7.0]])
        >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=2)
        >>> neighbors.graph(k=1)
        Graph(union, 4 points, 6 edges, k=1)
        """
        from mdfuzzy._kernels import graph as kernels

        kind = check_choice("kind", kind, ("union", "directed"))
        remedy = f"These neighbours were searched with n_neighbors={self.k}."
        k = max(1, self.k // 2) if k is None else check_int("k", k, 1, self.k, remedy=remedy)
        n = len(self)
        if kind == "directed" or n != self.n_targets:
            indices, distances = self._ascending(k, 0, n, n_jobs)
            indptr = np.arange(0, n * k + 1, k, dtype=np.int64)
            return Graph(
                indptr, indices.ravel(), distances.ravel(), kind="directed", n_targets=self.n_targets, k=k
            )
        # Rows are sorted and joined with the reversed edges in parts. Memory that is not written to is not
        # allocated by the system, and fresh memory costs time.
        indptr = np.zeros(n + 1, np.int64)
        indices, distances = np.empty(2 * n * k, np.int32), np.empty(2 * n * k, np.float32)
        with using_threads(n_jobs):
            in_indptr, *into = reverse_lists(self.indices, self.distances, k)
            for first in range(0, n, _PART):
                last = min(first + _PART, n)
                rows, lengths = self._ascending(k, first, last, n_jobs)
                arriving, starts = in_indptr[first : last + 1], indptr[first : last + 1]
                counts = np.empty(last - first, np.int64)
                share(kernels.union_counts, last - first, rows, arriving, into[0], counts)
                starts[1:] = starts[0] + np.cumsum(counts)
                joined = indices, distances
                share(kernels.union_fill, last - first, rows, lengths, arriving, *into, starts, *joined)
                release()
        for array in (indices, distances):
            array.resize(indptr[-1], refcheck=False)
        return Graph(indptr, indices, distances, kind="union", n_targets=n, k=k)

    def _ascending(self, k: int, first: int, last: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the `k` nearest neighbours of some points in ascending order, and their distances."""
        indices, distances = np.empty((last - first, k), np.int32), np.empty((last - first, k), np.float32)

        def sort(start: int, stop: int) -> None:
            part, place = slice(first + start, first + stop), slice(start, stop)
            order = np.argsort(self.indices[part, :k], axis=1)
            indices[place] = np.take_along_axis(self.indices[part, :k], order, axis=1)
            distances[place] = np.take_along_axis(self.distances[part, :k], order, axis=1)

        run_ranges(sort, last - first, _STRETCH, n_jobs)
        return indices, distances


def euclidean_neighbors(
    points: Trajectories | npt.ArrayLike,
    *,
    n_neighbors: int = 100,
    recall: float = 1.0,
    queries: Trajectories | npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
    client: Client | None = None,
) -> Neighbors:
    """Find the nearest other points of every point in Euclidean distance.

    The result is exact. Distances are computed from differences of coordinates in float64, and ties are
    resolved by the smaller index. The result is bitwise the same for any number of threads, and on a Dask
    cluster.

    Parameters
    ----------
    points : Features or (n, dimensions) array
        Feature vectors. Periodic columns of `Features`, such as torsion angles, count as points on a circle.
        Frames that were loaded with `align` are also accepted; the distance is then the RMSD.
    n_neighbors : int
        The number of neighbours to find, in [1, n - 1].
    recall : float
        The required share of true neighbours, in (0, 1]. The search may still find all of them.
    queries : Features or (m, dimensions) array, optional
        Find the neighbours of these points instead, among `points`; n_neighbors may then be n.
    n_jobs : int, optional
        The number of threads; by default one for every core.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    store : BlockStore, optional
        Keeps finished blocks of queries, so that a search that was killed can resume.
    client : distributed.Client, optional
        Search on the workers of this Dask cluster.

    Returns
    -------
    Neighbors
        The neighbours, nearest first.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> mf.euclidean_neighbors(points, n_neighbors=1).indices.ravel()
    array([1, 0, 1, 2], dtype=int32)
    >>> torsions = mf.Features(np.array([[-179.0], [179.0], [90.0]]), periodic=[0])
    >>> mf.euclidean_neighbors(torsions, n_neighbors=1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    vectors = _vectors("points", points)
    others = None if queries is None else _vectors("queries", queries)
    if others is not None and others.shape[1] != vectors.shape[1]:
        raise InputValueError(
            f"`queries` must have the features of `points`; got {others.shape[1]}, expected "
            f"{vectors.shape[1]}."
        )
    if others is None and len(vectors) < 2:
        raise InputValueError(f"`points` must hold at least 2 points to have neighbours; got {len(vectors)}.")
    remedy = f"There are {len(vectors)} points."
    n_neighbors = check_int("n_neighbors", n_neighbors, 1, len(vectors) - (others is None), remedy=remedy)
    recall = check_real("recall", recall, above=0, at_most=1, remedy="1 asks for the exact neighbours.")
    copies = find_copies(vectors, n_neighbors + 1)
    among = vectors if copies is None else vectors[copies.kept]
    indices, distances = nearest_points(
        among,
        others,
        n_neighbors,
        symmetry=points.symmetry if isinstance(points, Trajectories) else None,
        recall=recall,
        n_jobs=n_jobs,
        progress=progress,
        store=store,
        client=client,
    )
    if copies is not None:
        indices, distances = copies.spread(indices, distances, queries=others is not None)
    return Neighbors(indices, distances, n_targets=len(vectors))


def neighbors_from(precomputed: tuple[npt.ArrayLike, npt.ArrayLike] | sparray | spmatrix) -> Neighbors:
    """Return neighbours that another program has found as `Neighbors`.

    Parameters
    ----------
    precomputed : (indices, distances) or (n, n) sparse array
        Two arrays of shape (n, k), or the distances to the neighbours of each point as a sparse matrix with
        the same number of entries in every row, for example from ``kneighbors_graph(mode="distance")`` of
        scikit-learn. A point that is listed as its own neighbour is omitted; rows are sorted by distance.

    Returns
    -------
    Neighbors
        The neighbours, with `exact` False and no `recall`, because it was not measured.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors = mf.neighbors_from(([[0, 1], [1, 0], [2, 1]], [[0.0, 1.0], [0.0, 1.0], [0.0, 2.0]]))
    >>> neighbors.indices.ravel(), neighbors.distances.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 2.], dtype=float32))
    """
    from scipy.sparse import sparray, spmatrix

    if isinstance(precomputed, sparray | spmatrix):
        matrix = precomputed.tocsr()
        if matrix.nnz != precomputed.nnz:
            raise InputValueError(
                f"`precomputed` must list a neighbour once; got {precomputed.nnz - matrix.nnz} twice. "
                "Call its sum_duplicates() if their sum is the distance."
            )
        counts = np.diff(matrix.indptr)
        if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0 or np.any(counts != counts[0]):
            raise InputValueError(
                f"`precomputed` must be square with the same number of neighbours in every row; got shape "
                f"{matrix.shape} with {sorted(set(counts.tolist()))[:5]} entries a row. "
                f"Zero distances must be stored entries."
            )
        indices = matrix.indices.reshape(len(counts), -1)
        distances = matrix.data.reshape(len(counts), -1)
    else:
        try:
            indices, distances = (np.asarray(part) for part in precomputed)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"`precomputed` must be (indices, distances) or a sparse matrix; got "
                f"{type(precomputed).__name__}."
            ) from None
    if (
        indices.ndim != 2
        or indices.shape != distances.shape
        or indices.dtype.kind not in "iu"
        or distances.dtype.kind not in "fiu"
    ):
        raise InputValueError(
            f"`precomputed` must hold integer indices and real distances of the same shape (n, k); got "
            f"{indices.shape} of {indices.dtype} and {distances.shape} of {distances.dtype}."
        )
    n = len(indices)
    check_finite("precomputed", distances)
    if distances.size and distances.min() < 0:
        raise InputValueError(f"`precomputed` must hold distances of at least 0; got {distances.min()}.")
    if indices.size and not 0 <= indices.min() <= indices.max() < n:
        raise InputValueError(
            f"`precomputed` must hold indices in [0, {n - 1}]; got {indices.min()} to {indices.max()}. "
            f"Fill rows with too few neighbours, or repeat the search."
        )
    itself = indices == np.arange(n)[:, None]
    if itself.any():
        if not np.all(itself.sum(axis=1) == 1):
            raise InputValueError(
                "`precomputed` must list every point as its own neighbour once, or none; got some rows with "
                "it and some without."
            )
        indices, distances = indices[~itself].reshape(n, -1), distances[~itself].reshape(n, -1)
    if indices.shape[1] == 0:
        raise InputValueError(
            "`precomputed` must hold at least 1 neighbour other than the point itself; got none."
        )
    twice = np.diff(np.sort(indices, axis=1), axis=1) == 0
    if twice.any():
        row = int(np.argmax(twice.any(axis=1)))
        raise InputValueError(f"`precomputed` must list a neighbour once; got one twice in row {row}.")
    nearest = np.argsort(distances, axis=1, kind="stable")
    take = np.take_along_axis
    return Neighbors(take(indices, nearest, 1), take(distances, nearest, 1), exact=False)


def _vectors(name: str, points: Trajectories | npt.ArrayLike) -> np.ndarray:
    """Return feature vectors as a finite (n, dimensions) array."""
    vectors = points.points if isinstance(points, Trajectories) else check_numbers(name, points)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise InputValueError(
            f"`{name}` must be an array of shape (points, dimensions), not empty; got {vectors.shape}. For "
            f"one feature pass array[:, None]; for frames use `rmsd_neighbors`."
        )
    largest = max(check_finite(name, vectors).max(), -vectors.min())
    if largest > _LARGEST:
        raise InputValueError(
            f"`{name}` must not be larger than {_LARGEST:g}, or distances leave the range of float32; got "
            f"{largest:g}. Rescale the features."
        )
    return vectors

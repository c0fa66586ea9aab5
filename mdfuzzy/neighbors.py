"""The nearest neighbours of every frame or point, and the graphs made of them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import check_choice, check_finite, check_int, read_only
from mdfuzzy._threads import using_threads
from mdfuzzy.graph import Graph


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest other points of every point, nearest first.

    Attributes
    ----------
    indices : (n, k) int32
        Which points they are; never the point itself.
    distances : (n, k) float32
        How far they are (nm for RMSD), ascending.
    exact : bool
        Whether these are certified to be the nearest.
    recall : float or None
        The share of true neighbours found, measured on a sample, if the search was approximate.
    n_targets : int
        The number of points that were searched: n, except for the neighbours of new points.

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
    n_targets: int | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("indices", np.int32), ("distances", np.float32)):
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            object.__setattr__(self, name, read_only(array))
        if self.n_targets is None:
            object.__setattr__(self, "n_targets", len(self.indices))

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def k(self) -> int:
        """The number of neighbours of each point."""
        return self.indices.shape[1]

    def graph(self, k: int | None = None, *, kind: Literal["union", "directed"] = "union") -> Graph:
        """Join every point to its `k` nearest neighbours.

        Parameters
        ----------
        k : int, optional
            How many of the neighbours to use; half of them by default, because the density is
            estimated from twice as many neighbours as the graph has.
        kind : {"union", "directed"}
            `union` has an edge if either point has the other among its k nearest, so it is symmetric;
            `directed` leads from each point to its k nearest only.

        Returns
        -------
        Graph
            With the distances as edge lengths.

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
        indices = np.ascontiguousarray(self.indices[:, :k])
        distances = np.ascontiguousarray(self.distances[:, :k])
        n = len(self)
        if kind == "directed" or n != self.n_targets:
            rows, lengths = np.empty_like(indices), np.empty_like(distances)
            kernels.sorted_rows(indices, distances, rows, lengths)
            indptr = np.arange(0, n * k + 1, k, dtype=np.int64)
            return Graph(indptr, rows.ravel(), lengths.ravel(), "directed", self.n_targets, k=k)
        into = kernels.transpose_lists(indices, distances, n)
        indptr = np.zeros(n + 1, np.int64)
        np.cumsum(kernels.union_counts(indices, into[0], into[1]), out=indptr[1:])
        union_indices = np.empty(indptr[-1], np.int32)
        union_distances = np.empty(indptr[-1], np.float32)
        kernels.union_fill(indices, distances, *into, indptr, union_indices, union_distances)
        return Graph(indptr, union_indices, union_distances, "union", n, k=k)


def euclidean_neighbors(
    points: npt.ArrayLike, *, n_neighbors: int = 100, n_jobs: int | None = None
) -> Neighbors:
    """Find the nearest other points of every point in Euclidean distance.

    Parameters
    ----------
    points : (n, dimensions) array
        Feature vectors.
    n_neighbors : int
        How many neighbours to find.
    n_jobs : int, optional
        Threads; every core by default.

    Returns
    -------
    Neighbors
        Exact, nearest first.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> mf.euclidean_neighbors(points, n_neighbors=1).indices.ravel()
    array([1, 0, 1, 2], dtype=int32)
    """
    from sklearn.neighbors import NearestNeighbors

    points = check_finite("points", np.asarray(points, dtype=np.float64))
    n_neighbors = check_int("n_neighbors", n_neighbors, 1, len(points) - 1)
    with using_threads(n_jobs) as threads:
        search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=threads).fit(points)
        distances, indices = search.kneighbors()
    return Neighbors(indices, distances)

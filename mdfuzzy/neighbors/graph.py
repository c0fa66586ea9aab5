"""The neighbour graph, on which density peaks are compared and the random walk moves."""

from dataclasses import KW_ONLY, dataclass
from typing import get_args

import numpy as np

from mdfuzzy._check import (
    InputTypeError,
    InputValueError,
    ReadOnly,
    check_choice,
    check_int,
    check_real,
    read_only,
)
from mdfuzzy._choices import GraphKind
from mdfuzzy._threads import share
from mdfuzzy.frames.mapping import share_in_turn

_STRETCH = 65_536  # rows checked together
_BUCKETS = 32  # buckets of points whose neighbours are read together


@dataclass(frozen=True, eq=False)
class Graph(ReadOnly):
    """A neighbour graph: edges with their lengths, in compressed rows.

    Attributes
    ----------
    indptr : (n + 1,) int64
        The edges of point i are ``indptr[i]`` to ``indptr[i + 1]``.
    indices : (edges,) int32
        The other ends of the edges, ascending within a row, never the point itself. `union` and `radius`
        graphs of a point set with itself contain every edge in both directions.
    distances : (edges,) float32
        The lengths of the edges (nm for RMSD). The length between identical points is 0.
    kind : {"union", "directed", "radius"}
        The rule that defines the edges.
    k : int or None
        The number of neighbours per point (`union` and `directed`).
    radius : float or None
        The largest length of an edge (`radius`).
    n_targets : int
        The number of points that edges lead to. It is n, except for edges of new points to fitted ones.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> graph = mf.Graph([0, 1, 3, 4], [1, 0, 2, 1], [0.5, 0.5, 2, 2], kind="union", n_targets=3, k=1)
    >>> graph
    Graph(union, 3 points, 4 edges, k=1)
    >>> graph.edges(1)
    (array([0, 2], dtype=int32), array([0.5, 2. ], dtype=float32))
    """

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    _: KW_ONLY
    kind: GraphKind
    n_targets: int
    k: int | None = None
    radius: float | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("indptr", np.int64), ("indices", np.int32), ("distances", np.float32)):
            array = np.asarray(getattr(self, name))
            if array.size and array.dtype.kind not in ("iuf" if dtype == np.float32 else "iu"):
                kind = "numbers" if dtype == np.float32 else "integers"
                raise InputTypeError(f"`{name}` must be {kind}; got {array.dtype}.")
            object.__setattr__(self, name, read_only(np.ascontiguousarray(array, dtype=dtype)))
        check_choice("kind", self.kind, get_args(GraphKind))
        object.__setattr__(self, "n_targets", check_int("n_targets", self.n_targets, 1))
        if self.kind == "radius":
            check_real("radius", self.radius, above=0, remedy="It is the largest length of an edge.")
        else:
            check_int("k", self.k, 1, remedy="It is the number of neighbours that each point was joined to.")
        if self.indptr.ndim != 1 or len(self.indptr) < 2:
            raise InputValueError(
                f"`indptr` must have one entry more than there are points; got {self.indptr}."
            )
        if self.indptr[0] != 0 or self.indptr[-1] != len(self.indices) or np.any(np.diff(self.indptr) < 0):
            raise InputValueError(
                f"`indptr` must ascend from 0 to the number of edges ({len(self.indices)})."
            )
        if len(self.distances) != len(self.indices):
            got = f"{len(self.distances)} for {len(self.indices)}"
            raise InputValueError(f"`distances` must hold one length per edge; got {got}.")
        if len(self.indices) and not 0 <= self.indices.min() <= self.indices.max() < self.n_targets:
            raise InputValueError(f"`indices` must be in [0, {self.n_targets - 1}].")
        if len(self.distances) and not 0 <= self.distances.min() <= self.distances.max() < np.inf:
            got = f"{self.distances.min()} to {self.distances.max()}"
            raise InputValueError(f"`distances` must be finite and at least 0; got {got}.")
        self._check_rows()

    def _check_rows(self) -> None:
        """Check the ends of the edges, a stretch of rows at a time to spare memory."""
        arriving = np.zeros(self.n_targets, np.int64)
        for start in range(0, len(self), _STRETCH):
            stretch = self.indptr[start : start + _STRETCH + 1]
            rows = np.repeat(np.arange(start, start + len(stretch) - 1, dtype=np.int32), np.diff(stretch))
            ends = self.indices[stretch[0] : stretch[-1]]
            loops = rows == ends
            if self.n_targets == len(self) and loops.any():
                raise InputValueError(
                    f"`indices` must not lead from a point to itself; got such an edge of point "
                    f"{rows[np.argmax(loops)]}. Leave it out."
                )
            falls = (ends[1:] <= ends[:-1]) & (rows[1:] == rows[:-1])
            if falls.any():
                raise InputValueError(
                    f"`indices` must ascend within each row, each point once; got other ones in row "
                    f"{rows[np.argmax(falls)]}. Sort them, with their distances."
                )
            arriving += np.bincount(ends, minlength=self.n_targets)
        # A necessary condition of symmetry, far cheaper than a search for the other direction of every edge.
        if self.symmetric and np.any(arriving != self.degrees):
            point = int(np.argmax(arriving != self.degrees))
            raise InputValueError(
                f"`indices` must hold every edge in both directions if `kind` is {self.kind!r}; got "
                f"{self.degrees[point]} edges from and {arriving[point]} to point {point}. Add the missing "
                "ones, or make it 'directed'."
            )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        size = f"k={self.k}" if self.k is not None else f"radius={self.radius:g}"
        return f"Graph({self.kind}, {len(self)} points, {len(self.indices)} edges, {size})"

    @property
    def symmetric(self) -> bool:
        """Whether every edge exists in both directions (by construction, not by inspection)."""
        return self.kind != "directed" and self.n_targets == len(self)

    @property
    def degrees(self) -> np.ndarray:
        """The number of edges that leave each point, (n,)."""
        return np.diff(self.indptr)

    def edges(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the (indices, distances) of the edges that leave point `i`."""
        row = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[row], self.distances[row]


def reverse_lists(
    indices: np.ndarray, distances: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (indptr, sources, distances) of the reversed edges to the first k entries of each row.

    Sources ascend within a row. The edges are sorted in two steps, first by buckets of points. To write each
    edge to its place at once would cause a cache miss for every edge, and conflicts between threads.
    """
    from mdfuzzy._kernels import graph as kernels

    n, buckets = len(indices), -(-len(indices) // kernels.BUCKET)
    counts = np.zeros((buckets, buckets), np.int64)
    share_in_turn(kernels.bucket_counts, buckets, _BUCKETS, indices, k, counts)
    ends = np.cumsum(counts.T).reshape(buckets, buckets)  # to bucket, from bucket
    starts = np.ascontiguousarray((ends - counts.T).T)
    targets = np.empty(n * k, np.uint16)
    sources, lengths = np.empty(n * k, np.int32), np.empty(n * k, np.float32)
    share_in_turn(
        kernels.fill_buckets, buckets, _BUCKETS, indices, distances, k, starts, targets, sources, lengths
    )
    bounds = np.append(starts[0], n * k)
    indptr = np.full(n + 1, n * k, np.int64)
    share(kernels.sort_buckets, buckets, bounds, targets, indptr, sources, lengths)
    return indptr, sources, lengths

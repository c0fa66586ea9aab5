"""Search neighbours under the least RMSD over permutations of equivalent atoms.

Every permutation of a query is searched in the same index. The first search, of the unpermuted queries,
limits the distance of the other searches. A target that is found with several permutations counts once, with
its smallest distance. Permutations are isometries, so queries near each other stay near each other, and
groups are permuted as a whole.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mdfuzzy._kernels.search.merging import merge_least
from mdfuzzy._kernels.search.screen import NO_LIMIT
from mdfuzzy.neighbors._cells import offsets
from mdfuzzy.neighbors._groups import Chunks, Index, Kernel


class _Work(NamedTuple):
    """The work space of a thread."""

    inner: object  # the space of the index
    targets: np.ndarray
    squares: np.ndarray
    space: tuple[np.ndarray, np.ndarray]  # for merging
    stamp: np.ndarray  # (targets + 1,)


@dataclass(frozen=True, eq=False)
class SymmetricIndex(Index):
    """An index of frames that are compared by the least RMSD over permutations.

    Attributes
    ----------
    index : Index
        Of the frames as they are.
    permutations : (group, atoms) int64
        The first is the identity.
    """

    index: Index
    permutations: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """Which frame each target is."""
        return self.index.order

    @property
    def atoms(self) -> float:
        """The number of atoms."""
        return self.index.atoms

    def own_chunks(self) -> Chunks:
        """Return the frames of the index themselves as queries."""
        return self.index.own_chunks()

    def chunks(self, others: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other frames as queries."""
        return self.index.chunks(others, n_jobs)

    def kernel(self, queries: Any, factor: float) -> Kernel:
        """See `Index`."""
        inner = self.index.kernel(queries, factor)
        order, n = self.order, len(self)

        def workspace(space: int) -> _Work:
            held = 64 * space
            return _Work(
                inner=inner.workspace(space),
                targets=np.empty(held, np.int32),
                squares=np.empty(held),
                space=(np.empty(held, np.int32), np.empty(held)),
                stamp=np.zeros(n + 1, np.int64),
            )

        def search(
            chunks: Chunks,
            limits: np.ndarray,
            n_neighbors: int,
            work: _Work,
            sizes: np.ndarray,
            targets: np.ndarray,
            squares: np.ndarray,
            counts: np.ndarray,
        ) -> int:
            done = inner.search(chunks, limits, n_neighbors, work.inner, sizes, targets, squares, counts)
            if done == 0:
                return 0
            here = chunks.take(slice(0, done))
            rows = np.concatenate([np.arange(a, b) for a, b in zip(here.first, here.last, strict=True)])
            bounds = offsets(here.sizes)
            itself = rows if chunks.own else np.full(len(rows), -1)
            for atoms in self.permutations[1:]:
                turned, cell = self.index.permuted(queries, rows, atoms, bounds[:-1])
                images = Chunks(
                    queries=turned, frames=rows, first=bounds[:-1], last=bounds[1:], cell=cell, own=False
                )
                reach = limits[: len(rows)]
                if n_neighbors:
                    reach = _reach(reach, sizes[: len(rows)], squares, n_neighbors)
                start = 0
                found_sizes = np.empty(len(rows), np.int64)
                at = 0
                while start < done:
                    part = images.take(slice(start, done))
                    first = bounds[start]
                    more = inner.search(
                        part, reach[first:], n_neighbors + (chunks.own and n_neighbors > 0), work.inner,
                        found_sizes[first:], work.targets[at:], work.squares[at:], counts[start:],
                    )  # fmt: skip
                    if more == 0:
                        return 0
                    at += int(found_sizes[first : bounds[start + more]].sum())
                    start += more
                total = merge_least(
                    sizes[: len(rows)], targets, squares, found_sizes, work.targets, work.squares, itself,
                    order, n_neighbors, work.stamp, work.space,
                )  # fmt: skip
                if total < 0:
                    return 0
            return int(done)

        return Kernel(workspace, search)


def _reach(limits: np.ndarray, sizes: np.ndarray, squares: np.ndarray, count: int) -> np.ndarray:
    """Return how far (as norms) the targets of queries can be: no farther than the last one found."""
    ends = np.cumsum(sizes)
    full = sizes == count
    farthest = np.full(len(sizes), NO_LIMIT)
    # slightly more, because of the rounding of the root: a frame at equal distance may come first; never 0
    farthest[full] = np.maximum(np.sqrt(squares[ends[full] - 1]) * (1 + 1e-12), 1e-30)
    return np.minimum(limits, farthest)

"""An index of frames or points whose neighbours are searched for by groups of queries, in threads."""

from abc import abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from threading import local
from typing import Any, NamedTuple

import numpy as np

from mdfuzzy._kernels.search.candidates import hand_over
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.screen import NO_LIMIT
from mdfuzzy._threads import run_in_turn, run_ranges
from mdfuzzy.neighbors._cells import offsets
from mdfuzzy.neighbors._dask.transfer import Movable

#: Candidates that a query may have, in multiples of the requested neighbours, before their exact distances
#: are computed.
ROOM = 8
#: The number of groups of queries that a thread takes at a time, about as many as a cell has.
STEP = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Chunks(Movable):
    """Queries in groups of at most 64 near each other, each with its nearest cell if there are cells."""

    queries: NamedTuple  # the data that kernels need, in the order of `frames`
    frames: np.ndarray  # which frame each query is
    first: np.ndarray  # group c holds the queries first[c] to last[c]
    last: np.ndarray
    cell: np.ndarray
    own: bool  # whether they are the frames of the index

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def sizes(self) -> np.ndarray:
        """The number of queries of each group."""
        return self.last - self.first

    @property
    def order(self) -> np.ndarray:
        """The frames of all groups, one group after the other."""
        return np.concatenate([self.frames[a:b] for a, b in zip(self.first, self.last, strict=True)])

    def take(self, chosen: np.ndarray | slice) -> "Chunks":
        """Return some of the groups."""
        return replace(self, first=self.first[chosen], last=self.last[chosen], cell=self.cell[chosen])


class Targets(NamedTuple):
    """The results for some groups: their queries in turn, and the targets of these without gaps.

    The memory of targets and squares is reused for the next groups.
    """

    groups: slice
    queries: np.ndarray  # which frame each query is
    sizes: np.ndarray  # how many targets each has
    targets: np.ndarray  # their numbers in the index
    squares: np.ndarray  # squared norms
    counts: np.ndarray  # (groups, 4), see `RmsdIndex.nearest`

    def nearest(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the targets and squared norms, (queries, count) each."""
        if np.any(self.sizes < count):
            raise RuntimeError(
                f"The search must find {count} neighbours of every frame; got fewer than {count} neighbours "
                f"for frame {self.queries[np.argmin(self.sizes)]}. Please report this data."
            )
        return self.targets.reshape(-1, count), self.squares.reshape(-1, count)


class Kernel(NamedTuple):
    """The search of a thread: a function that makes its work space, and one that searches groups of queries.

    ``search(chunks, limits, n_neighbors, space, sizes, targets, squares, counts)`` fills in the last four and
    returns how many groups are done; see `knn.search_groups`. The chunks may differ from those for which the
    kernel was made by permutations of the queries.
    """

    workspace: Callable[[int], object]
    search: Callable[..., int]


class Index(Movable):
    """Targets in an order of their own, ready to be searched."""

    @property
    @abstractmethod
    def order(self) -> np.ndarray:
        """Which frame or point each target is."""

    @property
    @abstractmethod
    def atoms(self) -> float:
        """The divisor of squared norms before the root is taken."""

    @abstractmethod
    def own_chunks(self) -> Chunks:
        """Return the targets themselves as queries."""

    @abstractmethod
    def chunks(self, others: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other frames or points as queries."""

    @abstractmethod
    def kernel(self, queries: Any, factor: float) -> Kernel:
        """Return the search kernel; with `factor` below 1 the search is faster and not exact."""

    def permuted(
        self, queries: Any, rows: np.ndarray, atoms: np.ndarray, first: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """Return some of the queries with their atoms in another order, and a cell for each group of them.

        Groups begin at the places `first` of `rows`.
        """
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.order)

    def nearest(
        self,
        chunks: Chunks,
        n_neighbors: int,
        *,
        factor: float = 1.0,
        squared: bool = False,
        step: int = STEP,
        n_jobs: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (indices, distances, counts) of the nearest frames of the queries, in their order.

        Distances are RMSDs (nm, float32) or, if requested, squared norms (float64). With `factor` below 1,
        cells are treated as smaller than they are, so the search is faster and not exact. `counts` (groups,
        4) has the numbers of RMSDs to centres, visits of cells, Euclidean tests and exact RMSDs of each group
        of queries.
        """
        start = offsets(chunks.sizes)
        indices = np.empty((start[-1], n_neighbors), np.int32)
        distances = np.empty(indices.shape, np.float64 if squared else np.float32)
        counts = np.zeros((len(chunks), 4), np.int64)

        def keep(found: Targets) -> None:
            targets, squares = found.nearest(n_neighbors)
            rows = slice(start[found.groups.start], start[found.groups.stop])
            indices[rows], counts[found.groups] = self.order[targets], found.counts
            distances[rows] = squares if squared else self.lengths(squares)
            if advance is not None:
                advance(len(targets))

        search = self._searcher(chunks, None, n_neighbors, keep, factor=factor)
        run_ranges(search, len(chunks), step, n_jobs)
        return indices, distances, counts

    def nearest_in_turn(
        self,
        chunks: Chunks,
        blocks: Sequence[slice],
        n_neighbors: int,
        indices: np.ndarray,
        distances: np.ndarray,
        *,
        factor: float = 1.0,
        n_jobs: int | None = None,
        advance: Callable[[int], object],
    ) -> Generator[int, None, None]:
        """Find the nearest frames of some groups of queries; yield the number of each block when it is done.

        The results are written into the rows of `indices` and `distances` (RMSD, nm) that belong to the
        queries.
        """

        def keep(found: Targets) -> None:
            targets, squares = found.nearest(n_neighbors)
            hand_over(targets, squares, self.order, self.atoms, found.queries, indices, distances)
            advance(len(targets))

        search = self._searcher(chunks, None, n_neighbors, keep, factor=factor)
        return run_in_turn(search, blocks, STEP, n_jobs)

    def lengths(self, squares: np.ndarray) -> np.ndarray:
        """Return the RMSDs (nm, float32) of squared norms."""
        return np.sqrt(squares / self.atoms).astype(np.float32)

    def within_in_turn(
        self,
        chunks: Chunks,
        blocks: Sequence[slice],
        radius: float,
        *,
        step: int = STEP,
        n_jobs: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> Generator[dict[str, np.ndarray], None, None]:
        """Find all frames within `radius` (nm) of some groups of queries; yield the arrays of each block.

        The arrays are the `rows` of its queries, and the `queries`, `indices` and `distances` (nm) of all
        pairs.
        """
        limits = np.full(chunks.sizes.sum(), radius * np.sqrt(self.atoms))
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = [None] * len(chunks)

        def keep(part: Targets) -> None:
            queries, indices = np.repeat(part.queries, part.sizes), self.order[part.targets]
            found[part.groups.start] = (
                queries.astype(np.int32),
                indices.astype(np.int32),
                self.lengths(part.squares),
            )
            if advance is not None:
                advance(len(part.queries))

        search = self._searcher(chunks, limits, 0, keep)
        with closing(run_in_turn(search, blocks, step, n_jobs)) as done:
            for number in done:
                groups = blocks[number]
                queries, indices, distances = map(
                    np.concatenate, zip(*filter(None, found[groups]), strict=True)
                )
                found[groups] = [None] * (groups.stop - groups.start)  # only once in memory
                rows = chunks.take(groups).order
                yield {"rows": rows, "queries": queries, "indices": indices, "distances": distances}

    def within_squares(
        self, chunks: Chunks, limits: np.ndarray, *, n_neighbors: int = 0, n_jobs: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (rows, indices, squared norms) of all pairs within the `limits`, one norm for each query.

        Rows count the queries of the chunks, one group after the other. With `n_neighbors`, only this number
        of nearest targets of each query is guaranteed, and some pairs may be beyond the limit.
        """
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray] | None] = [None] * len(chunks)

        def keep(part: Targets) -> None:
            indices = self.order[part.targets].astype(np.int32)
            found[part.groups.start] = part.sizes, indices, part.squares.copy()

        run_ranges(self._searcher(chunks, limits, n_neighbors, keep), len(chunks), STEP, n_jobs)
        sizes, indices, squares = map(np.concatenate, zip(*filter(None, found), strict=True))
        return np.repeat(np.arange(len(sizes)), sizes), indices, squares

    def _searcher(
        self,
        chunks: Chunks,
        limits: np.ndarray | None,
        n_neighbors: int,
        keep: Callable[[Targets], None],
        *,
        factor: float = 1.0,
    ) -> Callable[[int, int], None]:
        """Return a function that searches a range of groups and passes on the results.

        The `limits` of the queries are norms; None is no limit. With `n_neighbors` of 0 all within them are
        found.
        """
        start, kernel = offsets(chunks.sizes), self.kernel(chunks.queries, factor)
        if limits is None:
            limits = np.full(start[-1], NO_LIMIT)

        kept = local()  # once per thread, because requesting memory from the system takes time

        def make_room(room: int) -> None:
            space = LANES * max(room, STEP * n_neighbors)
            kept.room, kept.work = room, kernel.workspace(room)
            kept.targets, kept.squares = np.empty(space, np.int32), np.empty(space)

        def search(first: int, last: int) -> None:
            if not hasattr(kept, "room"):
                make_room(ROOM * max(n_neighbors, LANES))
            while first < last:
                part = chunks.take(slice(first, last))
                sizes, counts = np.empty(part.sizes.sum(), np.int64), np.zeros((len(part), 4), np.int64)
                done = kernel.search(
                    part, limits[start[first] : start[last]], n_neighbors, kept.work, sizes, kept.targets,
                    kept.squares, counts,
                )  # fmt: skip
                if done == 0:  # too many targets of the first group
                    make_room(2 * kept.room)
                    continue
                groups = slice(first, first + done)
                queries = chunks.take(groups).order
                sizes = sizes[: len(queries)]
                found = slice(sizes.sum())
                keep(Targets(groups, queries, sizes, kept.targets[found], kept.squares[found], counts[:done]))
                first += done

        return search


def group_queries(queries: NamedTuple, frames: np.ndarray, sizes: np.ndarray, *, own: bool) -> Chunks:
    """Return the queries in groups of at most 64; `sizes` are the numbers of queries nearest to each cell."""
    groups = -(-sizes // LANES)
    cell = np.repeat(np.arange(len(sizes)), groups)
    first = offsets(sizes)[cell] + LANES * (np.arange(len(cell)) - offsets(groups)[cell])
    return Chunks(
        queries=queries,
        frames=frames,
        first=first,
        last=np.append(first[1:], len(frames)),
        cell=cell,
        own=own,
    )

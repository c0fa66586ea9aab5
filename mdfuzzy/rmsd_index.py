"""An index of frames for neighbour searches under RMSD: cells of similar frames, superposed on their
centres.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mdfuzzy._cells import fill_cell
from mdfuzzy._kernels import cells as kernels
from mdfuzzy._kernels import knn
from mdfuzzy._kernels.candidates import hand_over
from mdfuzzy._movable import Movable
from mdfuzzy._threads import run_in_turn, run_ranges

#: Frames per cell, on average: about where the cost of visiting cells equals that of looking through them.
CELL_SIZE = 350
#: Candidates that a query may hold, in multiples of the neighbours wanted, before their exact distances are
#: computed.
ROOM = 8
#: Groups of queries that a thread takes at a time: about those of a cell.
STEP = 8


@dataclass(frozen=True, eq=False)
class Chunks(Movable):
    """Queries in groups of at most 64 that are near each other, each group with the cell that it is
    nearest to.
    """

    queries: kernels.Queries
    frames: np.ndarray  # which frame each query is
    first: np.ndarray  # group c holds the queries first[c] to last[c]
    last: np.ndarray
    cell: np.ndarray
    own: bool  # whether they are the frames of the index

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def sizes(self) -> np.ndarray:
        """How many queries each group has."""
        return self.last - self.first

    @property
    def order(self) -> np.ndarray:
        """The frames of all groups, one group after the other."""
        return np.concatenate([self.frames[a:b] for a, b in zip(self.first, self.last, strict=True)])

    def take(self, chosen: np.ndarray | slice) -> "Chunks":
        """Return some of the groups."""
        return replace(self, first=self.first[chosen], last=self.last[chosen], cell=self.cell[chosen])


@dataclass(frozen=True, eq=False)
class RmsdIndex(Movable):
    """Frames in cells, ready to be searched."""

    cells: kernels.Cells
    spreads: np.ndarray

    def __len__(self) -> int:
        return len(self.cells.flat)

    def own_chunks(self) -> Chunks:
        """Return the frames of the index themselves as queries: its leaves."""
        queries = kernels.Queries(self.cells.flat, self.cells.norms, self.spreads)
        return _chunks(queries, self.cells.order, np.diff(self.cells.cell_start), own=True)

    def chunks(self, xyz: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other frames, (n, atoms, 3) and centred, as queries."""
        queries = flatten(xyz, n_jobs)
        everything = np.arange(len(xyz))
        label = nearest_centres(queries, everything, self.cells.centres, self.cells.centre_norms, n_jobs)
        order = np.argsort(label, kind="stable")
        sizes = np.bincount(label, minlength=len(self.cells.centres))
        return _chunks(kernels.Queries(*(part[order] for part in queries)), order, sizes, own=False)

    def slack(self, queries: kernels.Queries) -> knn.Slack:
        """Return worst-case bounds of the rounding errors of float32 sums over the atoms."""
        width = self.cells.flat.shape[1]
        norm = float(max(self.cells.norms.max(), queries.norms.max()))
        unit = float(np.finfo(np.float32).eps)
        return knn.Slack(unit * (width + 32) * np.sqrt(norm), unit * width * norm, norm)

    def shrunk(self, factor: float) -> kernels.Cells:
        """Return the cells with the boxes of their leaves as if they were smaller; 1: as they are."""
        if factor == 1:
            return self.cells
        middle = 0.5 * (self.cells.low + self.cells.high)
        half = np.float32(0.5 * min(1.0, 1.3 * factor)) * (self.cells.high - self.cells.low)
        return self.cells._replace(low=middle - half, high=middle + half)

    def nearest(
        self,
        chunks: Chunks,
        n_neighbors: int,
        *,
        factor: float = 1.0,
        squared: bool = False,
        n_jobs: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (indices, distances, counts) of the nearest frames of the queries, in their order.

        Distances are RMSDs (nm, float32) or, if asked for, squared norms (float64). With `factor` below 1
        cells are taken to be smaller than they are: faster, and not exact. `counts` (groups, 4) says how many
        RMSDs to centres, visits of cells, Euclidean tests and exact RMSDs each group of queries took.
        """
        start = _offsets(chunks.sizes)
        indices = np.empty((start[-1], n_neighbors), np.int32)
        distances = np.empty(indices.shape, np.float64 if squared else np.float32)
        counts = np.zeros((len(chunks), 4), np.int64)

        def keep(c: int, targets: np.ndarray, squares: np.ndarray, count: np.ndarray) -> None:
            rows = slice(start[c], start[c + 1])
            size = rows.stop - rows.start
            indices[rows], counts[c] = self.cells.order[targets[:size, :n_neighbors]], count
            squares = squares[:size, :n_neighbors]
            distances[rows] = squares if squared else self.lengths(squares)
            if advance is not None:
                advance(size)

        run_ranges(self._searcher(chunks, n_neighbors, factor, keep), len(chunks), STEP, n_jobs)
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
    ) -> Iterator[int]:
        """Find the nearest frames of some groups of queries; yield the number of each block when it is done.

        What is found is put into the rows of `indices` and `distances` (RMSD, nm) that belong to the queries.
        """

        def keep(c: int, targets: np.ndarray, squares: np.ndarray, _: np.ndarray) -> None:
            rows = chunks.frames[chunks.first[c] : chunks.last[c]]
            hand_over(targets, squares, self.cells.order, self.cells.atoms, rows, indices, distances)
            advance(len(rows))

        return run_in_turn(self._searcher(chunks, n_neighbors, factor, keep), blocks, STEP, n_jobs)

    def _searcher(
        self,
        chunks: Chunks,
        n_neighbors: int,
        factor: float,
        keep: Callable[[int, np.ndarray, np.ndarray, np.ndarray], None],
    ) -> Callable[[int, int], None]:
        """Return what searches a range of groups and hands each over: (group, targets, squares, counts).

        Row l of the targets, numbered as in the index, and of their squared norms begins with the nearest
        ones of query l.
        """
        cells, slack = self.shrunk(factor), self.slack(chunks.queries)
        room = ROOM * max(n_neighbors, kernels.LANES)
        unlimited = np.full(kernels.LANES, knn.NO_LIMIT)

        def search(first: int, last: int) -> None:
            targets, bounds = _space(room)
            filled, count = np.empty(kernels.LANES, np.int64), np.empty(4, np.int64)
            for c in range(first, last):
                if c == first or chunks.cell[c] != chunks.cell[c - 1]:
                    gaps = knn.cell_gaps(cells, factor, chunks.cell[c], slack)
                members = np.arange(chunks.first[c], chunks.last[c])
                count[:] = 0
                knn.search_group(
                    chunks.queries, members, chunks.cell[c], chunks.own, cells, gaps, slack, factor,
                    unlimited, n_neighbors, targets, bounds, filled, count,
                )  # fmt: skip
                if np.any(filled[: len(members)] < n_neighbors):
                    frame = chunks.frames[members[np.argmin(filled[: len(members)])]]
                    raise RuntimeError(
                        f"The search must find {n_neighbors} neighbours of every frame; got fewer than "
                        f"{n_neighbors} neighbours for frame {frame}. Please report this data."
                    )
                keep(c, targets, bounds, count)

        return search

    def lengths(self, squares: np.ndarray) -> np.ndarray:
        """Return the RMSDs (nm, float32) of squared norms."""
        return np.sqrt(squares / self.cells.atoms).astype(np.float32)

    def within(
        self,
        chunks: Chunks,
        radius: float,
        *,
        n_jobs: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (queries, indices, distances) of all pairs within `radius` (nm)."""
        limits = np.full(chunks.sizes.sum(), radius * np.sqrt(self.cells.atoms))
        rows, indices, squares = self.within_squares(chunks, limits, n_jobs=n_jobs, advance=advance)
        return chunks.order[rows], indices, self.lengths(squares)

    def within_squares(
        self,
        chunks: Chunks,
        limits: np.ndarray,
        *,
        n_neighbors: int = 0,
        n_jobs: int | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (rows, indices, squared norms) of all pairs within the `limits`, one norm for each query.

        Rows count the queries of the chunks, one group after the other. With `n_neighbors` only the nearest
        so many of each query are sure to be among them, and some may be beyond the limit.
        """
        slack, start = self.slack(chunks.queries), _offsets(chunks.sizes)
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [None] * len(chunks)
        counts = np.zeros((len(chunks), 4), np.int64)

        def search(first: int, last: int) -> None:
            targets, bounds = _space(max(16 * kernels.LANES, ROOM * n_neighbors))
            filled = np.empty(kernels.LANES, np.int64)
            for c in range(first, last):
                if c == first or chunks.cell[c] != chunks.cell[c - 1]:
                    gaps = knn.cell_gaps(self.cells, 1.0, chunks.cell[c], slack)
                members = np.arange(chunks.first[c], chunks.last[c])
                while not knn.search_group(
                    chunks.queries, members, chunks.cell[c], chunks.own, self.cells, gaps, slack, 1.0,
                    limits[start[c] : start[c + 1]], n_neighbors, targets, bounds, filled, counts[c],
                ):  # fmt: skip
                    targets, bounds = _space(2 * targets.shape[1])
                sizes = filled[: len(members)]
                here = slice(len(members)), slice(sizes.max())
                taken = np.arange(sizes.max()) < sizes[:, None]
                rows = np.repeat(np.arange(start[c], start[c + 1]), sizes)
                found[c] = rows, self.cells.order[targets[here][taken]], bounds[here][taken]
                if advance is not None:
                    advance(len(members))

        run_ranges(search, len(chunks), STEP, n_jobs)
        rows, indices, squares = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(indices), np.concatenate(squares)


def build_index(xyz: np.ndarray, *, n_jobs: int | None = None) -> RmsdIndex:
    """Index centred frames, (n, atoms, 3) float32.

    Two rounds of seeds drawn at random (always the same ones), every frame to its nearest, give cells of
    about `CELL_SIZE` frames, smaller where frames are dense. Any partition is valid: it only decides how
    fast searches are.
    """
    queries = flatten(xyz, n_jobs)
    flat, norms = queries.flat, queries.norms
    random = np.random.default_rng(0)
    count = int(np.sqrt(len(flat) / CELL_SIZE))
    groups = group_frames(queries, np.arange(len(flat)), count, random, n_jobs)
    cells = [
        cell
        for members, _ in groups
        for cell in group_frames(queries, members, -(-len(members) // CELL_SIZE), random, n_jobs)
    ]
    sizes = np.array([len(members) for members, _ in cells])
    n_cells, width = len(cells), flat.shape[1]
    leaf_start = _offsets(-(-sizes // kernels.LANES))
    n_leaves = leaf_start[-1]
    index = kernels.Cells(
        flat,
        norms,
        order=np.concatenate([members for members, _ in cells]),
        cell_start=_offsets(sizes),
        leaf_start=leaf_start,
        centres=flat[[seed for _, seed in cells]],
        centre_norms=np.zeros(n_cells),
        radii=np.zeros(n_cells),
        torques=np.zeros(n_cells),
        spreads=np.zeros(n_cells),
        axes=np.zeros((n_cells, kernels.AXES, width), np.float32),
        blocks=np.zeros(n_leaves * kernels.ROWS * kernels.LANES, np.float32),
        low=np.zeros((n_leaves, kernels.ROWS), np.float32),
        high=np.zeros((n_leaves, kernels.ROWS), np.float32),
        rows=np.zeros((len(flat), -(-width // 8) * 8), np.float32),
        atoms=float(xyz.shape[1]),
    )
    run_ranges(lambda c, _: fill_cell(index, queries.spreads, c), n_cells, 1, n_jobs)
    # frames that are compared with each other side by side: memory is read in runs
    ordered = kernels.Queries(*(np.empty_like(part) for part in queries))

    def put_in_order(first: int, last: int) -> None:
        for part, place in zip(queries, ordered, strict=True):
            place[first:last] = part[index.order[first:last]]

    run_ranges(put_in_order, len(flat), 65_536, n_jobs)
    return RmsdIndex(index._replace(flat=ordered.flat, norms=ordered.norms), ordered.spreads)


def _chunks(queries: kernels.Queries, frames: np.ndarray, sizes: np.ndarray, *, own: bool) -> Chunks:
    """Return queries, `sizes` of them nearest to each cell, in groups of at most 64."""
    groups = -(-sizes // kernels.LANES)
    cell = np.repeat(np.arange(len(sizes)), groups)
    first = _offsets(sizes)[cell] + kernels.LANES * (np.arange(len(cell)) - _offsets(groups)[cell])
    return Chunks(queries, frames, first, np.append(first[1:], len(frames)), cell, own)


def flatten(xyz: np.ndarray, n_jobs: int | None) -> kernels.Queries:
    """Return frames flat, padded to an even number of atoms, with what the kernels need to know of each."""
    n, atoms, _ = xyz.shape
    flat, norms, spreads = np.zeros((n, 3 * (atoms + atoms % 2)), np.float32), np.empty(n), np.empty(n)

    def fill(first: int, last: int) -> None:
        part = xyz[first:last].astype(np.float64)
        flat[first:last, : 3 * atoms] = part.reshape(len(part), -1)
        # from float64: a sum that converts on the way has other bits wherever its buffer ends
        norms[first:last] = np.einsum("ij,ij->i", *[part.reshape(len(part), -1)] * 2)
        # eigenvalues to within rounding; a smaller spread is always safe
        smallest = np.linalg.eigvalsh(part.transpose(0, 2, 1) @ part)[:, :2].sum(axis=1)
        spreads[first:last] = np.maximum(smallest - 1e-14 * norms[first:last], 0.0)

    run_ranges(fill, n, 16_384, n_jobs)
    return kernels.Queries(flat, norms, spreads)


def group_frames(
    queries: kernels.Queries,
    members: np.ndarray,
    count: int,
    random: np.random.Generator,
    n_jobs: int | None,
) -> list[tuple[np.ndarray, int]]:
    """Divide frames among `count` of them, each to the nearest; return the (members, seed) of what is not
    empty.
    """
    seeds = random.choice(members, max(1, min(count, len(members))), replace=False)
    label = nearest_centres(queries, members, queries.flat[seeds], queries.norms[seeds], n_jobs)
    parts = np.split(
        members[np.argsort(label, kind="stable")], np.cumsum(np.bincount(label, minlength=len(seeds)))[:-1]
    )
    return [(part, int(seed)) for part, seed in zip(parts, seeds, strict=True) if len(part)]


def nearest_centres(
    queries: kernels.Queries,
    members: np.ndarray,
    centres: np.ndarray,
    centre_norms: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Return the nearest of `centres` (flat frames) for each of `members`."""
    labels = np.empty(len(members), np.int32)

    def assign(first: int, last: int) -> None:
        kernels.nearest_centres(
            queries.flat, queries.norms, members, centres, centre_norms, first, last, labels
        )

    run_ranges(assign, len(members), 4096, n_jobs)
    return labels


def _offsets(sizes: np.ndarray) -> np.ndarray:
    """Return where runs of these sizes start, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _space(room: int) -> tuple[np.ndarray, np.ndarray]:
    """Return arrays for the candidates of 64 queries and their bounds."""
    return np.empty((kernels.LANES, room), np.int32), np.empty((kernels.LANES, room))

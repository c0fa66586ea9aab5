"""Search an index in several parts on different machines, with bitwise the same neighbours.

The distance between two frames depends only on the two, and ties are resolved by the smaller index. So the
nearest of all frames are the nearest among the nearest frames of the parts, for any parts in any order.

A query is searched in its own shard first. Its farthest neighbour there limits the distance of other
neighbours, so most cells of other shards are excluded at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from mdfuzzy._kernels.search.cells import Queries
from mdfuzzy._kernels.search.merging import merge_rows
from mdfuzzy._kernels.search.rmsd import squared_distances
from mdfuzzy._kernels.search.screen import NO_LIMIT
from mdfuzzy.neighbors._dask.transfer import Movable
from mdfuzzy.neighbors._groups import Chunks
from mdfuzzy.neighbors._index import RmsdIndex, build_index
from mdfuzzy.neighbors._seeding import flatten, group_frames, nearest_centres

#: Groups of frames for each shard: with more groups, shards are more compact, but dividing takes longer.
SEEDS = 16


@dataclass(frozen=True, eq=False)
class Division:
    """The division of frames into shards of frames that are near each other.

    Attributes
    ----------
    shards : list of (m,) int64
        The frames of each, ascending: their number in the shard then orders them as their number does.
    seeds : (groups, width) float32
        Frames, flat, by which other frames find their shard.
    shard_of_seed : (groups,) int64
        The shards that these are in.
    """

    shards: list[np.ndarray]
    seeds: np.ndarray
    shard_of_seed: np.ndarray

    def nearest_shards(self, xyz: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return a shard for each of other frames, (m, atoms, 3) and centred, to search first."""
        norms = np.einsum("ij,ij->i", self.seeds, self.seeds, dtype=np.float64)
        return self.shard_of_seed[
            nearest_centres(flatten(xyz, n_jobs), np.arange(len(xyz)), self.seeds, norms, n_jobs)
        ]


def divide(xyz: np.ndarray, n_shards: int, *, n_jobs: int | None = None) -> Division:
    """Divide centred frames, (n, atoms, 3) float32, into shards of equal size, up to one frame.

    Frames are grouped around seeds. The groups are ordered by a walk from each seed to the nearest remaining
    seed, and this sequence is cut into runs.
    """
    queries = flatten(xyz, n_jobs)
    everything, random = np.arange(len(xyz)), np.random.default_rng(0)
    groups = group_frames(queries, everything, SEEDS * n_shards, random, n_jobs)
    seeds = np.array([seed for _, seed in groups])
    walk = _walk(queries, seeds)
    order = np.concatenate([groups[place][0] for place in walk])
    shards = np.array_split(order, n_shards)
    home = np.empty(len(xyz), np.int64)
    for number, members in enumerate(shards):
        home[members] = number
    return Division([np.sort(members) for members in shards], queries.flat[seeds], home[seeds])


def _walk(queries: Queries, frames: np.ndarray) -> np.ndarray:
    """Return the places of `frames` in the order of a walk from each frame to the nearest remaining one."""
    targets, distances = frames.astype(np.int32), np.empty(len(frames))
    left = np.ones(len(frames), bool)
    walk = [0]
    for _ in frames[1:]:
        here = frames[walk[-1]]
        left[walk[-1]] = False
        squared_distances(
            queries.flat[here], queries.norms[here], queries.flat, queries.norms, targets, distances
        )
        walk.append(int(np.argmin(np.where(left, distances, np.inf))))
    return np.array(walk)


@dataclass(frozen=True, eq=False)
class Found(Movable):
    """Frames found for queries, in rows with the nearest first; ties are ordered by frame.

    Attributes
    ----------
    start : (m + 1,) int64
        Row i is at start[i] to start[i + 1].
    frames : (all,) int32
        Which frames they are.
    squares : (all,) float64
        Their squared distances, times the number of atoms.
    """

    start: np.ndarray
    frames: np.ndarray
    squares: np.ndarray

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def rows(self) -> np.ndarray:
        """The row of every frame that was found."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))


def merge(parts: Sequence[Found], n_neighbors: int | None = None) -> Found:
    """Merge the results of several shards, with the nearest `n_neighbors` of each row, or all (None).

    The result does not depend on the order in which parts are merged.
    """
    by_size = sorted(parts, key=lambda part: len(part.frames))  # the small ones first: less to copy
    return reduce(lambda one, other: _merge_two(one, other, n_neighbors), by_size)


def _merge_two(one: Found, other: Found, n_neighbors: int | None) -> Found:
    sizes = np.diff(one.start) + np.diff(other.start)
    if n_neighbors is not None:
        sizes = np.minimum(sizes, n_neighbors)
    start = np.concatenate([[0], np.cumsum(sizes)])
    both = Found(start, np.empty(start[-1], np.int32), np.empty(start[-1]))
    merge_rows(
        one.start, one.frames, one.squares, other.start, other.frames, other.squares,
        both.start, both.frames, both.squares,
    )  # fmt: skip
    return both


def _found(rows: np.ndarray, n_rows: int, frames: np.ndarray, squares: np.ndarray) -> Found:
    """Return the result from pairs with rows in ascending order."""
    return Found(np.searchsorted(rows, np.arange(n_rows + 1)), frames, squares)


@dataclass(frozen=True, eq=False)
class Visitors(Movable):
    """Queries that are searched in shards other than their own.

    Attributes
    ----------
    chunks : Chunks
        The groups that they formed at home; each starts from one of the centres.
    centres : (cells, width) float32
        The centres of the cells that they were in, flat.
    limits : (m,) float64
        Squared norms beyond which none of their neighbours is.
    """

    chunks: Chunks
    centres: np.ndarray
    limits: np.ndarray


@dataclass(frozen=True, eq=False)
class Shard(Movable):
    """Some of the frames, as an index of their own.

    Attributes
    ----------
    index : RmsdIndex
        Of these frames.
    frames : (m,) int32
        Which frames they are, ascending.
    """

    index: RmsdIndex
    frames: np.ndarray

    def block(self, number: int, count: int) -> Chunks:
        """Return one of `count` about equal parts of its own frames as queries."""
        chunks = self.index.own_chunks()
        bounds = np.linspace(0, len(chunks), count + 1).astype(int)
        return chunks.take(slice(bounds[number], bounds[number + 1]))

    def nearest(self, chunks: Chunks, n_neighbors: int) -> tuple[Found, Visitors]:
        """Search queries of this shard in it; return the result, and the queries for other shards."""
        indices, squares, _ = self.index.nearest(chunks, n_neighbors, squared=True, n_jobs=1)
        found = Found(
            np.arange(len(squares) + 1) * n_neighbors, self.frames[indices.ravel()], squares.ravel()
        )
        return found, self.visitors(chunks, squares[:, -1])

    def within(self, chunks: Chunks, radius: float) -> tuple[Found, Visitors]:
        """Search queries of this shard in it, all frames within `radius` (nm)."""
        limit, m = radius * np.sqrt(self.index.cells.atoms), int(chunks.sizes.sum())
        rows, indices, squares = self.index.within_squares(chunks, np.full(m, limit), n_jobs=1)
        found = _found(rows, m, self.frames[indices], squares)
        return found, self.visitors(chunks, np.full(m, limit * limit))

    def visitors(self, chunks: Chunks, limits: np.ndarray) -> Visitors:
        """Return queries of this shard with the data that other shards need."""
        here = slice(chunks.first[0], chunks.last[-1])
        cells, cell = np.unique(chunks.cell, return_inverse=True)
        alone = Chunks(
            queries=Queries(*(part[here].copy() for part in chunks.queries)),
            frames=np.arange(here.stop - here.start),
            first=chunks.first - here.start,
            last=chunks.last - here.start,
            cell=cell,
            own=False,
        )
        return Visitors(alone, self.index.cells.centres[cells], limits)

    def receive(self, visitors: Visitors, n_neighbors: int = 0) -> Found:
        """Return the nearest `n_neighbors` frames within the limits of the visitors, or all (0)."""
        index = _with_guests(self.index, visitors.centres)
        chunks = replace(visitors.chunks, cell=visitors.chunks.cell + len(self.index.cells.centres))
        # slightly more, because of the rounding of the root: a frame at equal distance may come first; never
        # 0
        limits = np.maximum(np.sqrt(visitors.limits) * (1 + 1e-12), 1e-30)
        rows, indices, squares = index.within_squares(chunks, limits, n_neighbors=n_neighbors, n_jobs=1)
        near = squares <= visitors.limits[rows]
        return _found(rows[near], len(chunks.frames), self.frames[indices[near]], squares[near])


def build_shard(xyz: np.ndarray, frames: np.ndarray) -> Shard:
    """Index the frames of a shard, given their centred coordinates and which frames they are (ascending)."""
    return Shard(build_index(xyz, n_jobs=1), frames.astype(np.int32))


def _with_guests(index: RmsdIndex, centres: np.ndarray) -> RmsdIndex:
    """Return an index with empty cells about `centres` (flat) at the end.

    Queries that are near none of its cells start from these: their distance from a cell then follows from the
    distance of the two centres.
    """
    cells = index.cells

    def extended(name: str, fill: float) -> np.ndarray:
        values = getattr(cells, name)
        return np.concatenate([values, np.full((len(centres), *values.shape[1:]), fill, values.dtype)])

    added: dict[str, Any] = {name: extended(name, 0) for name in ("torques", "spreads", "axes")}
    added |= {name: extended(name, getattr(cells, name)[-1]) for name in ("cell_start", "leaf_start")}
    added["radii"] = extended("radii", -NO_LIMIT)  # so that only queries that start there visit such a cell
    added["centres"] = np.concatenate([cells.centres, centres])
    wide = centres.astype(np.float64)
    added["centre_norms"] = np.concatenate([cells.centre_norms, np.einsum("ij,ij->i", wide, wide)])
    return RmsdIndex(cells._replace(**added), index.spreads)

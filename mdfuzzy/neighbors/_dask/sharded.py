"""Search neighbours on a Dask cluster with some shards of the index on each worker.

The queries of a block are searched in their own shard first, and then in one shard after another within the
remaining distance. The results are merged. These are tasks that depend on each other. Dask runs them on the
workers that hold the shards, and repeats tasks that were lost with a worker.
"""

import hashlib
import logging
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.frames.rereading import FrameFiles
from mdfuzzy.neighbors._dask.memory import Layout
from mdfuzzy.neighbors._dask.shards import Division, Found, Shard, Visitors, build_shard, divide, merge
from mdfuzzy.neighbors._dask.transfer import Movable
from mdfuzzy.neighbors._groups import Chunks
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.neighbors._search import Aim, spell
from mdfuzzy.neighbors.blocks import Found as Result
from mdfuzzy.workers.cluster import Workers, explained, on_workers, results

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client, Future

logger = logging.getLogger("mdfuzzy")

#: The time of a query grows about as the number of frames to this power (docs/performance).
GROWTH = 0.4
#: The number of frames on which the time is measured, because there is no index of all frames.
SAMPLE = 20_000
#: The largest size of coordinates that are sent with a task, in bytes.
MESSAGE = 4_000_000


class Block(NamedTuple):
    """Queries that are searched together."""

    shard: int
    part: int  # of the frames of the shard ...
    parts: int  # ... in so many parts
    rows: np.ndarray | None  # or the numbers of other queries


@dataclass(frozen=True, eq=False, kw_only=True)
class ShardedSearch:
    """A search of neighbours by workers that each have some shards of the index.

    Attributes
    ----------
    client : distributed.Client
        The client of the cluster.
    workers : Workers
        The resources of its workers.
    layout : Layout
        The layout of the index.
    files : FrameFiles or None
        The files of the frames, if any; workers that can access the files read them.
    xyz : (n, atoms, 3) float32
        The centred coordinates of the frames to be searched.
    others : (m, atoms, 3) float32 or None
        Queries that are not these frames.
    aim : Aim
        The number of neighbours or the radius.
    size : int
        The number of queries in a block.
    n_jobs : int or None
        The number of threads of this process that divide the frames.
    """

    client: "Client"
    workers: Workers
    layout: Layout
    files: FrameFiles | None
    xyz: np.ndarray
    others: np.ndarray | None
    aim: Aim
    size: int
    n_jobs: int | None

    @cached_property
    def division(self) -> Division:
        """The frames of each shard."""
        return divide(self.xyz, self.layout.shards, n_jobs=self.n_jobs)

    @cached_property
    def blocks(self) -> dict[str, Block]:
        """All blocks by name, those of different shards in turn, so that all workers are busy."""
        prefix = f"{self.aim.name}-of{self.layout.shards}"
        if self.others is None:
            counts = [-(-len(members) // self.size) for members in self.division.shards]
            each = [Block(shard, part, n, None) for shard, n in enumerate(counts) for part in range(n)]
        else:
            home = self.division.nearest_shards(self.others, self.n_jobs)
            most = max(1, min(self.size, MESSAGE // (12 * self.xyz.shape[1])))
            each = []
            for shard in range(self.layout.shards):
                rows = np.flatnonzero(home == shard)
                pieces = np.array_split(rows, -(-len(rows) // most)) if len(rows) else []
                each += [Block(shard, part, len(pieces), piece) for part, piece in enumerate(pieces)]
        each.sort(key=lambda block: (block.part, block.shard))
        return {f"{prefix}-{block.shard:04d}-{block.part:04d}": block for block in each}

    def announce(self, to_do: int) -> None:
        """See `Search`; the memory applies to each worker, and the time is estimated from some frames."""
        step = -(-len(self.xyz) // SAMPLE)
        index = build_index(self.xyz[::step], n_jobs=self.n_jobs)
        aim = self.aim._replace(n_neighbors=min(self.aim.n_neighbors, len(index) - 1))
        seconds, found = aim.measure(index, index.own_chunks(), 1)
        n = len(self.xyz) if self.others is None else len(self.others)
        # among all frames there are proportionally more within a radius, which take at most as much longer
        pairs, growth = self.aim.pairs(n * found * step), GROWTH if self.aim.n_neighbors else 1
        duration = spell(seconds * step**growth * to_do / self.workers.threads)
        task = self.aim.task(n, len(self.xyz), to_do)
        logger.info(f"{task} on {self.workers}: about {duration}{pairs}; {self.layout}")

    def run(
        self, names: Sequence[str], found: Result, advance: Callable[[int], object]
    ) -> Generator[tuple[str, np.ndarray], None, None]:
        """See `Search`."""
        with explained(self.client):
            copies = self._build()
        tasks = (
            (name, partial(self._search, number, self.blocks[name], copies))
            for number, name in enumerate(names)
        )
        for name, block in results(self.client, tasks, 2 * len(self.workers.addresses)):
            advance(len(block["rows"]))
            found.put(**block)
            yield name, block["rows"]

    def _build(self) -> list[list["Future"]]:
        """Let the workers build the shards, with as many copies of each as the number of workers allows.

        They read files that all of them can access, and otherwise receive the coordinates.
        """
        files = self.files
        if files is not None and set(on_workers(self.client, files.are_here).values()) != {True}:
            files = None
        where = "read by the workers from the files" if files else "sent to the workers"
        logger.info(f"{len(self.xyz):,} frames, {where}")
        addresses, members = self.workers.addresses, self.division.shards
        digests = [_digest(self.xyz[each]) if files else "" for each in members]
        copies: list[list[Future]] = [[] for _ in members]
        with warnings.catch_warnings():
            # Dask warns of large arguments; but only arguments can be sent again when a worker is lost.
            warnings.filterwarnings("ignore", message="Sending large graph")
            for number in range(max(len(addresses), len(members))):
                shard = number % len(members)
                task: tuple[Any, ...]
                if files is None:
                    task = build_shard, self.xyz[members[shard]], members[shard]
                else:
                    task = _read, files, members[shard], digests[shard]
                place = {"workers": [addresses[number % len(addresses)]], "allow_other_workers": True}
                copies[shard].append(self.client.submit(*task, pure=False, **place))
        return copies

    def _search(self, number: int, block: Block, copies: list[list["Future"]]) -> "Future":
        """Submit the tasks of block `number`; the next block uses the next copies."""

        def submit(function: Callable[..., object], *arguments: object) -> "Future":
            return self.client.submit(function, *arguments, pure=False)

        shards = [each[number % len(each)] for each in copies]
        if block.rows is None or self.others is None:
            home = submit(_search_own, shards[block.shard], block.part, block.parts, self.aim)
        else:
            xyz = self.others[block.rows]
            home = submit(_search_others, shards[block.shard], block.rows, xyz, self.aim)
        # shards with similar frames first, so that the remaining distance becomes short soon
        order = sorted(range(len(shards)), key=lambda shard: abs(shard - block.shard))[1:]
        if not self.aim.n_neighbors:  # the radius is fixed: all shards are searched at once
            visitors = submit(_visitors_of, home)
            return submit(_finish_pairs, home, *[submit(_receive, shards[each], visitors) for each in order])
        for shard in order:
            home = submit(_go_on, shards[shard], home, self.aim)
        return submit(_finish_nearest, home, self.aim)


# --- on a worker: each task has a thread of its own, so it starts no further threads


@dataclass(frozen=True, eq=False)
class Home(Movable):
    """The queries of a block after the search in their own shard and possibly in others."""

    rows: np.ndarray  # the numbers of the queries
    found: Found
    visitors: Visitors
    atoms: float

    def distances(self, found: Found) -> np.ndarray:
        """Return the RMSDs (nm, float32) of what was found."""
        return np.sqrt(found.squares / self.atoms).astype(np.float32)


def _read(files: FrameFiles, frames: np.ndarray, digest: str) -> Shard:
    """Make a shard from trajectory files, if they hold the loaded coordinates."""
    xyz = files.read(frames)
    if _digest(xyz) != digest:
        raise InputValueError(
            f"The trajectory files must be the same for the workers as when they were loaded; got other "
            f"coordinates from {files.sources[0].path!r} or one of the others. Load them again."
        )
    return build_shard(xyz, frames)


def _digest(xyz: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(xyz).data, digest_size=16).hexdigest()


def _search_own(shard: Shard, part: int, parts: int, aim: Aim) -> Home:
    chunks = shard.block(part, parts)
    return _search_home(shard, chunks, shard.frames[chunks.order], aim)


def _search_others(shard: Shard, rows: np.ndarray, xyz: np.ndarray, aim: Aim) -> Home:
    chunks = shard.index.chunks(xyz, 1)
    return _search_home(shard, chunks, rows[chunks.order], aim)


def _search_home(shard: Shard, chunks: Chunks, rows: np.ndarray, aim: Aim) -> Home:
    found, visitors = (
        shard.nearest(chunks, aim.n_neighbors) if aim.n_neighbors else shard.within(chunks, aim.radius)
    )
    return Home(rows, found, visitors, shard.index.cells.atoms)


def _go_on(shard: Shard, home: Home, aim: Aim) -> Home:
    """Search the queries of a block in one more shard."""
    farthest = home.found.squares.reshape(-1, aim.n_neighbors)[:, -1]
    more = shard.receive(replace(home.visitors, limits=farthest), aim.n_neighbors)
    return replace(home, found=merge([home.found, more], aim.n_neighbors))


def _finish_nearest(home: Home, aim: Aim) -> dict[str, np.ndarray]:
    shape = len(home.rows), aim.n_neighbors
    distances = home.distances(home.found).reshape(shape)
    return {"rows": home.rows, "indices": home.found.frames.reshape(shape), "distances": distances}


def _visitors_of(home: Home) -> Visitors:
    return home.visitors


def _receive(shard: Shard, visitors: Visitors) -> Found:
    return shard.receive(visitors)


def _finish_pairs(home: Home, *others: Found) -> dict[str, np.ndarray]:
    found = merge([home.found, *others])
    pairs = {"queries": home.rows[found.rows], "indices": found.frames, "distances": home.distances(found)}
    return {"rows": home.rows, **pairs}

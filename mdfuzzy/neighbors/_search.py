"""Search neighbours in blocks of queries; finished blocks can be kept."""

import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mdfuzzy._messages import counted
from mdfuzzy.neighbors._groups import STEP, Chunks, Index
from mdfuzzy.neighbors.blocks import Found

logger = logging.getLogger("mdfuzzy")

#: The largest memory, in bytes, of a pair within a radius before it is part of the graph.
PAIR_BYTES = 64
#: The fewest runs of queries from which the time and the number of pairs are estimated. Queries of a run are
#: near each other and have similar numbers of pairs. On alanine dipeptide within 0.02 nm, groups of 64
#: queries have a relative standard deviation of 0.9, so an estimate from 8 groups has one of 0.3.
RUNS = 8


class Nearest:
    """The nearest frames of queries and their distances (nm), both (n, neighbours), filled in by rows."""

    def __init__(self, n: int, n_neighbors: int) -> None:
        self.indices = np.empty((n, n_neighbors), np.int32)
        self.distances = np.empty((n, n_neighbors), np.float32)

    def put(self, rows: np.ndarray, **nearest: np.ndarray) -> None:
        """Fill in the `indices` and `distances` of a block."""
        self.indices[rows], self.distances[rows] = nearest["indices"], nearest["distances"]

    def get(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments with which `put` fills in this block."""
        return {"rows": rows, "indices": self.indices[rows], "distances": self.distances[rows]}


class Pairs:
    """Pairs of queries with frames and their distances (nm), (pairs,) each, in blocks of queries."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, np.ndarray]] = {}

    def put(self, rows: np.ndarray, **pairs: np.ndarray) -> None:
        """Add the `queries`, `indices` and `distances` of a block, known by the first of its rows."""
        self._blocks[int(rows[0])] = pairs

    def get(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments with which `put` adds this block."""
        return {"rows": rows, **self._blocks[int(rows[0])]}

    def join(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the queries, indices and distances of all pairs, and forget the blocks to spare memory."""

        def joined(name: str) -> np.ndarray:
            return np.concatenate([block.pop(name) for block in self._blocks.values()])

        return joined("queries"), joined("indices"), joined("distances")


class Aim(NamedTuple):
    """The aim of a search: a number of nearest frames, or (0) all frames within a radius (nm)."""

    n_neighbors: int
    radius: float = 0.0
    recall: float = 1.0  # the required share of the nearest frames ...
    factor: float = 1.0  # ... and the factor by which cells are shrunk for it; 1 is exact
    what: str = "RMSD neighbours of {} frames"

    @property
    def name(self) -> str:
        """Return the prefix of block names, with all digits of the radius or the recall."""
        if self.n_neighbors:  # all digits, because results for another recall must not be mixed with these
            return f"neighbors-{self.n_neighbors}-{self.recall!r}".removesuffix(".0")
        return f"within-{self.radius!r}".replace("+", "")  # for file names; 1e16 is also written 1e+16

    def find(self, index: Index, chunks: Chunks, n_jobs: int, *, step: int = STEP) -> dict[str, np.ndarray]:
        """Return the arrays of a block of queries, as `Nearest` or `Pairs` takes them."""
        if self.n_neighbors:
            indices, distances, _ = index.nearest(
                chunks, self.n_neighbors, factor=self.factor, n_jobs=n_jobs, step=step
            )
            return {"rows": chunks.order, "indices": indices, "distances": distances}
        whole = [slice(0, len(chunks))]
        (block,) = index.within_in_turn(chunks, whole, self.radius, n_jobs=n_jobs, step=step)
        return block

    def measure(self, index: Index, chunks: Chunks, threads: int) -> tuple[float, float]:
        """Return the seconds for each query on so many threads and the frames found, from some queries.

        Groups are taken in runs, the same number for each thread, as in the search itself: queries near the
        previous ones are faster, because their data are still in the cache. The sample is about a hundredth
        of the queries.
        """
        total = len(chunks)
        runs = threads * max(2, -(-RUNS // threads))
        length = min(max(total // (100 * runs), 1), STEP)
        starts = np.random.default_rng(2).integers(0, max(1, total - length), runs)
        sample = chunks.take(np.add.outer(starts, np.arange(length)).ravel() % total)
        begin = time.perf_counter()
        found = self.find(index, sample, threads, step=length)
        n = len(found["rows"])
        return (time.perf_counter() - begin) / n, found["indices"].size / n

    def task(self, n: int, n_targets: int, to_do: int) -> str:
        """Return a description of the search in words."""
        within = "" if self.n_neighbors else f" within {self.radius:g} nm"
        rest = "" if to_do == n else f" ({to_do:,} of them remaining)"
        among = "" if n == n_targets else f" among {n_targets:,}"
        return f"{self.what.format(f'{n:,}')}{within}{rest}{among}"

    def pairs(self, count: float) -> str:
        """Return the expected number of pairs and their memory in words; empty for nearest frames."""
        return "" if self.n_neighbors else f", {count:,.0f} pairs, {count * PAIR_BYTES / 1e9:.1f} GB"


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """A search of neighbours in this process.

    Attributes
    ----------
    index : Index
        The index of the frames to search.
    chunks : Chunks
        The queries.
    aim : Aim
        The number of neighbours or the radius.
    blocks : dict of str to slice
        The groups of queries in each block.
    threads : int
        The number of threads.
    seconds : float or None
        The time of a query, if it was measured.
    """

    index: Index
    chunks: Chunks
    aim: Aim
    blocks: dict[str, slice]
    threads: int
    seconds: float | None

    def announce(self, to_do: int) -> None:
        """See `Search`."""
        seconds, found = self.seconds, float(self.aim.n_neighbors)
        if seconds is None:
            self.aim.find(
                self.index, self.chunks.take(np.arange(1)), self.threads
            )  # compile before measuring
            seconds, found = self.aim.measure(self.index, self.chunks, self.threads)
        n = len(self.chunks.frames)
        arrays = self.index.__sizeof__()
        memory = self.aim.pairs(n * found) or f", {max((arrays + 8 * n * found) / 1e9, 0.1):.1f} GB of memory"
        task = self.aim.task(n, len(self.index), to_do)
        logger.info(f"{task}: about {spell(seconds * to_do)} on {counted(self.threads, 'thread')}{memory}")

    def run(
        self, names: Sequence[str], found: Found, advance: Callable[[int], object]
    ) -> Generator[tuple[str, np.ndarray], None, None]:
        """See `Search`."""
        blocks, aim = [self.blocks[name] for name in names], self.aim
        if isinstance(found, Nearest):
            # written into place at once, so that threads ahead of the store need no memory of their own
            nearest = self.index.nearest_in_turn(
                self.chunks,
                blocks,
                aim.n_neighbors,
                found.indices,
                found.distances,
                factor=aim.factor,
                n_jobs=self.threads,
                advance=advance,
            )
            with closing(nearest):
                for number in nearest:
                    yield names[number], self.chunks.take(blocks[number]).order
            return
        within = self.index.within_in_turn(
            self.chunks, blocks, aim.radius, n_jobs=self.threads, advance=advance
        )
        with closing(within):
            for name, block in zip(names, within, strict=True):
                found.put(**block)
                yield name, block["rows"]


def name_blocks(aim: Aim, chunks: Chunks, size: int, mark: str = "") -> dict[str, slice]:
    """Return blocks of `size` groups of queries by name; a mark tells apart orders of queries."""
    starts = enumerate(range(0, len(chunks), size))
    return {
        f"{aim.name}-{mark}{number:05d}": slice(first, min(first + size, len(chunks)))
        for number, first in starts
    }


def spell(seconds: float) -> str:
    """Return a duration in words.

    Examples
    --------
    >>> spell(100), spell(1000), spell(100_000)
    ('100 s', '17 minutes', '28 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"

"""A search for neighbours in blocks of queries, each of which can be kept when it is done."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from mdfuzzy.rmsd_index import Chunks, RmsdIndex

logger = logging.getLogger("mdfuzzy")

#: Memory that a pair within a radius takes, at most, on its way to the graph.
PAIR_BYTES = 64


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """The nearest neighbours of queries, searched in this process.

    Attributes
    ----------
    index : RmsdIndex
        Of the frames to search.
    chunks : Chunks
        The queries.
    n_neighbors : int
        How many neighbours to find.
    factor : float
        By how much cells are taken to be smaller than they are; 1 is exact.
    blocks : dict of str to slice
        The groups of queries in each block.
    threads : int
        To use here.
    """

    index: RmsdIndex
    chunks: Chunks
    n_neighbors: int
    factor: float
    blocks: dict[str, slice]
    threads: int

    def rows(self, name: str) -> np.ndarray:
        """Return which queries are in a block."""
        return self.chunks.take(self.blocks[name]).order

    def announce(self, to_do: int) -> None:
        """Log how long the search of so many queries will take and how much memory it needs."""
        arrays = sum(array.nbytes for array in self.index.cells if isinstance(array, np.ndarray))
        gigabytes = (arrays + 8 * self.n_neighbors * len(self.chunks.frames)) / 1e9
        duration = spell(self.seconds(self.threads) * to_do)
        logger.info(f"{self._task(to_do)}: about {duration} on {self.threads} threads, {gigabytes:.1f} GB")

    def _task(self, to_do: int) -> str:
        n = len(self.chunks.frames)
        rest = "" if to_do == n else f" ({to_do:,} of them still to do)"
        return f"RMSD neighbours of {n:,} frames{rest} among {len(self.index):,}"

    def seconds(self, threads: int) -> float:
        """Return the seconds for each query on so many threads, measured on a few."""
        sample = some_groups(self.chunks, threads)
        options = {"factor": self.factor, "n_jobs": threads}
        self.index.nearest(sample.take(np.arange(1)), self.n_neighbors, **options)  # compiled by now
        begin = time.perf_counter()
        self.index.nearest(sample, self.n_neighbors, **options)
        return (time.perf_counter() - begin) / int(sample.sizes.sum())

    def run(
        self,
        names: Sequence[str],
        indices: np.ndarray,
        distances: np.ndarray,
        advance: Callable[[int], object],
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Fill in the rows of these blocks; yield the name and the rows of each when it is done."""
        done = self.index.nearest_in_turn(
            self.chunks,
            [self.blocks[name] for name in names],
            self.n_neighbors,
            indices,
            distances,
            factor=self.factor,
            n_jobs=self.threads,
            advance=advance,
        )
        with closing(done):
            for number in done:
                yield names[number], self.rows(names[number])


def announce_pairs(index: RmsdIndex, chunks: Chunks, radius: float, threads: int) -> None:
    """Log how many pairs are within a radius, about, and the time and the memory that they will take."""
    sample = some_groups(chunks, threads)
    index.within(sample.take(np.arange(1)), radius, n_jobs=1)  # compiled by now
    begin = time.perf_counter()
    found = len(index.within(sample, radius, n_jobs=threads)[0])
    n = len(chunks.frames)
    times = n / int(sample.sizes.sum())
    duration = spell(times * (time.perf_counter() - begin))
    logger.info(
        f"RMSD neighbours of {n:,} frames within {radius:g} nm among {len(index):,}: about {duration} on "
        f"{threads} threads, {times * found:,.0f} pairs, {times * found * PAIR_BYTES / 1e9:.1f} GB"
    )


def some_groups(chunks: Chunks, threads: int) -> Chunks:
    """Return the groups of queries from which times are estimated: a few for each thread."""
    return chunks.take(np.random.default_rng(2).permutation(len(chunks))[: 4 * threads])


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

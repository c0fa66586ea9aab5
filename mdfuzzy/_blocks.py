"""A search for neighbours in blocks of queries, each of which can be kept when it is done."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy.rmsd_index import Chunks, RmsdIndex

logger = logging.getLogger("mdfuzzy")


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

    def rows(self, name: str, kept: dict[str, np.ndarray]) -> np.ndarray:
        """Return which queries are in a block whose arrays are `kept`."""
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
        sample = self.chunks.take(np.random.default_rng(2).permutation(len(self.chunks))[: 4 * threads])
        options = {"factor": self.factor, "n_jobs": threads}
        self.index.nearest(sample.take(np.arange(1)), self.n_neighbors, **options)  # compiled by now
        begin = time.perf_counter()
        self.index.nearest(sample, self.n_neighbors, **options)
        return (time.perf_counter() - begin) / int(sample.sizes.sum())

    def run(
        self, names: Sequence[str], advance: Callable[[int], object]
    ) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Yield each of these blocks with its arrays, `indices` and `distances`, when it is done."""
        for name in names:
            near, far, _ = self.index.nearest(
                self.chunks.take(self.blocks[name]),
                self.n_neighbors,
                factor=self.factor,
                n_jobs=self.threads,
                advance=advance,
            )
            yield name, {"indices": near, "distances": far}


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

"""The search for neighbours on a Dask cluster of which every worker has the whole index."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._blocks import LocalSearch, spell
from mdfuzzy._layout import TASK, Layout
from mdfuzzy.rmsd_index import Chunks, RmsdIndex
from mdfuzzy.workers import Scattered, Workers, results

if TYPE_CHECKING:
    from mdfuzzy.workers import Client, Future

logger = logging.getLogger("mdfuzzy")


@dataclass(frozen=True, eq=False)
class ScatteredSearch(LocalSearch):
    """The nearest neighbours of queries, searched by workers that all have the index.

    Attributes
    ----------
    client : distributed.Client
        Of the cluster.
    workers : Workers
        What it offers.
    layout : Layout
        What is put on each worker.
    """

    client: "Client"
    workers: Workers
    layout: Layout

    def announce(self, to_do: int) -> None:
        """Log how long the search of so many queries will take and how much memory it needs on a worker."""
        duration = spell(self.seconds(1) * to_do / self.workers.threads)
        logger.info(f"{self._task(to_do)} on {self.workers}: about {duration}; {self.layout}")

    def run(
        self,
        names: Sequence[str],
        indices: np.ndarray,
        distances: np.ndarray,
        advance: Callable[[int], object],
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Fill in the rows of these blocks; yield the name and the rows of each when it is done."""
        tasks = [(name, groups) for name in names for groups in _cut(self.blocks[name])]
        missing = Counter(name for name, _ in tasks)
        parts: dict[str, dict[int, tuple]] = {name: {} for name in names}
        submit = _submitter(self.client, self.index, self.chunks)
        submitted = (
            ((name, groups.start), partial(submit, _nearest, groups, self.n_neighbors, self.factor))
            for name, groups in tasks
        )
        for (name, first), found in results(self.client, submitted, 3 * self.workers.threads):
            advance(len(found[0]))
            parts[name][first] = found
            missing[name] -= 1
            if not missing[name]:
                rows = self.rows(name)
                indices[rows], distances[rows] = _joined(parts.pop(name))
                yield name, rows


def scattered_pairs(
    client: "Client",
    workers: Workers,
    index: RmsdIndex,
    chunks: Chunks,
    radius: float,
    advance: Callable[[int], object],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (queries, indices, distances) of all pairs within `radius` (nm), in the order of the queries."""
    submit = _submitter(client, index, chunks)
    tasks = ((groups, partial(submit, _within, groups, radius)) for groups in _cut(slice(0, len(chunks))))
    parts = {}
    for groups, found in results(client, tasks, 3 * workers.threads):
        advance(int(chunks.sizes[groups].sum()))
        parts[groups.start] = found
    return _joined(parts)


def _joined(parts: dict[int, tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Return the arrays of the parts of a block, put together in the order of their first groups."""
    each = [parts[first] for first in sorted(parts)]
    return tuple(map(np.concatenate, zip(*each, strict=True)))


def _cut(groups: slice) -> list[slice]:
    """Return the groups of a block in tasks."""
    return [slice(a, min(a + TASK, groups.stop)) for a in range(groups.start, groups.stop, TASK)]


def _submitter(client: "Client", index: RmsdIndex, chunks: Chunks) -> Callable[..., "Future"]:
    """Return what submits a function of the index, the queries if they are not its own frames, and more."""
    data = Scattered(client, index), None if chunks.own else Scattered(client, chunks)

    def submit(function: Callable, *arguments: object) -> "Future":
        there = [each and each.future() for each in data]
        return client.submit(function, *there, *arguments, pure=False)

    return submit


# --- on a worker: a thread of its own for each task, so no more inside


def _nearest(
    index: RmsdIndex, chunks: Chunks | None, groups: slice, n_neighbors: int, factor: float
) -> tuple[np.ndarray, np.ndarray]:
    block = (index.own_chunks() if chunks is None else chunks).take(groups)
    return index.nearest(block, n_neighbors, factor=factor, n_jobs=1)[:2]


def _within(
    index: RmsdIndex, chunks: Chunks | None, groups: slice, radius: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    block = (index.own_chunks() if chunks is None else chunks).take(groups)
    return index.within(block, radius, n_jobs=1)

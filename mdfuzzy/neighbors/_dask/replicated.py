"""Search neighbours on a Dask cluster with the whole index on every worker."""

import logging
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy.neighbors._dask.memory import TASK, Layout
from mdfuzzy.neighbors._groups import Chunks, Index
from mdfuzzy.neighbors._search import Aim, LocalSearch, spell
from mdfuzzy.neighbors.blocks import Found
from mdfuzzy.workers.cluster import Scattered, Workers, results

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client, Future

logger = logging.getLogger("mdfuzzy")


@dataclass(frozen=True, eq=False)
class ScatteredSearch(LocalSearch):
    """Neighbours searched by workers that all have the index.

    Attributes
    ----------
    client : distributed.Client
        The client of the cluster.
    workers : Workers
        The resources of its workers.
    layout : Layout
        The layout of the index.
    """

    client: "Client"
    workers: Workers
    layout: Layout

    def announce(self, to_do: int) -> None:
        """See `Search`; the memory applies to each worker."""
        self.aim.find(self.index, self.chunks.take(np.arange(1)), 1)  # compile before measuring
        seconds, found = self.aim.measure(self.index, self.chunks, 1)
        n = len(self.chunks.frames)
        pairs, duration = self.aim.pairs(n * found), spell(seconds * to_do / self.workers.threads)
        task = self.aim.task(n, len(self.index), to_do)
        logger.info(f"{task} on {self.workers}: about {duration}{pairs}; {self.layout}")

    def run(
        self, names: Sequence[str], found: Found, advance: Callable[[int], object]
    ) -> Generator[tuple[str, np.ndarray], None, None]:
        """See `Search`."""
        tasks = [(name, groups) for name in names for groups in _cut(self.blocks[name])]
        missing = Counter(name for name, _ in tasks)
        parts: dict[str, dict[int, dict[str, np.ndarray]]] = {name: {} for name in names}
        submit = _submitter(self.client, self.index, self.chunks)
        submitted = (
            ((name, groups.start), partial(submit, _find, groups, self.aim)) for name, groups in tasks
        )
        for (name, first), part in results(self.client, submitted, 3 * self.workers.threads):
            advance(len(part["rows"]))
            parts[name][first] = part
            missing[name] -= 1
            if not missing[name]:
                block = _joined(parts.pop(name))
                found.put(**block)
                yield name, block["rows"]


def _joined(parts: dict[int, dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the arrays of the parts of a block, put together in the order of their first groups."""
    each = [parts[first] for first in sorted(parts)]
    return {name: np.concatenate([part[name] for part in each]) for name in each[0]}


def _cut(groups: slice) -> list[slice]:
    """Return the groups of a block in tasks."""
    return [slice(a, min(a + TASK, groups.stop)) for a in range(groups.start, groups.stop, TASK)]


def _submitter(client: "Client", index: Index, chunks: Chunks) -> Callable[..., "Future"]:
    """Return a function that submits tasks with the index and with queries that are not its own frames."""
    data = Scattered(client, index), None if chunks.own else Scattered(client, chunks)

    def submit(function: Callable[..., object], *arguments: object) -> "Future":
        there = [each and each.future() for each in data]
        return client.submit(function, *there, *arguments, pure=False)

    return submit


# --- on a worker: each task has a thread of its own, so it starts no further threads


def _find(index: Index, chunks: Chunks | None, groups: slice, aim: Aim) -> dict[str, np.ndarray]:
    return aim.find(index, (index.own_chunks() if chunks is None else chunks).take(groups), n_jobs=1)

"""Find most of the nearest frames among neighbours of neighbours, up to a required recall on a sample."""

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mdfuzzy._kernels.search.descent import descend
from mdfuzzy._threads import run_ranges
from mdfuzzy.neighbors._groups import Chunks
from mdfuzzy.neighbors._recall import MARGIN, share_found
from mdfuzzy.neighbors._search import Aim
from mdfuzzy.neighbors._tiles import TileIndex
from mdfuzzy.neighbors.blocks import BlockStore, Found

logger = logging.getLogger("mdfuzzy")

#: The number of leaves of 64 frames with which every group of queries is compared first.
LEAVES = 28
#: The numbers of neighbours, and of their neighbours, that each round compares; later rounds compare more.
ROUNDS = ((40, 40), (40, 80), (40, 80), (60, 80), (80, 80))
#: The time of all rounds together, relative to the first comparison.
COST = 3.0
#: The number of groups of queries in the sample on which recall is measured.
SAMPLE = 24
#: The number of frames whose lists a thread updates at a time.
_PART = 2048


@dataclass(frozen=True, eq=False)
class DescentSearch:
    """Neighbours of neighbours, as one block."""

    blocks: Mapping[str, object]
    find: Callable[[], tuple[np.ndarray, np.ndarray]]  # indices and distances, if the block is not in a store

    def announce(self, to_do: int) -> None:
        """See `Search`; nothing to log, because the choice of the search logs it."""

    def run(
        self, names: Sequence[str], found: Found, advance: Callable[[int], object]
    ) -> Generator[tuple[str, np.ndarray], None, None]:
        """See `Search`."""
        indices, distances = self.find()
        rows = np.arange(len(indices))
        found.put(rows=rows, indices=indices, distances=distances)
        advance(len(rows))
        for name in names:
            yield name, rows


def descend_graph(
    index: TileIndex, chunks: Chunks, aim: Aim, *, store: BlockStore | None, threads: int
) -> tuple[DescentSearch, float] | None:
    """Return the neighbours of the index's own frames and the recall measured for them.

    None if an exact search takes less time, or if the recall was not reached.
    """
    blocks = {f"{aim.name}-d00000": None}
    kept = store.get(f"{aim.name}-reached") if store is not None else None
    if kept is not None:
        # Kept in case the lists in the store are damaged.
        again = partial(_descend, index, chunks, aim, threads)
        return DescentSearch(blocks, lambda: _lists(again())), float(kept["recall"][0])
    start = _start(index, aim)
    exactly = aim.measure(index, chunks, threads)[0]
    if COST * start.measure(index, chunks, threads)[0] > exactly:
        logger.info(f"recall {aim.recall:g}: an exact search takes no longer here, so the search is exact")
        return None
    found = _descend(index, chunks, aim, threads)
    if found is None:
        logger.info(f"neighbours of neighbours do not reach recall {aim.recall:g}, so the search is exact")
        return None
    indices, distances, recall = found
    if store is not None:  # the lists first: once the recall is saved, nothing is searched again
        (name,) = blocks
        store.put(name, rows=np.arange(len(index)), indices=indices, distances=distances)
        store.put(f"{aim.name}-reached", recall=np.array([recall]))
    return DescentSearch(blocks, lambda: (indices, distances)), recall


def _start(index: TileIndex, aim: Aim) -> Aim:
    """Return the aim of the first search: the nearest frames in a few leaves."""
    return aim._replace(factor=min(1.0, LEAVES / -(-len(index) // 64)))


def _lists(found: tuple[np.ndarray, np.ndarray, float] | None) -> tuple[np.ndarray, np.ndarray]:
    if found is None:
        raise RuntimeError(
            "The recall that was reached before must be reached again. Please report this data."
        )
    return found[:2]


def _descend(
    index: TileIndex, chunks: Chunks, aim: Aim, threads: int
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Return indices, distances and their measured recall; None if the recall is too low."""
    sample = chunks.take(np.sort(np.random.default_rng(1).permutation(len(chunks))[:SAMPLE]))
    rows = np.concatenate([np.arange(a, b) for a, b in zip(sample.first, sample.last, strict=True)])
    _, exactly, _ = index.nearest(sample, aim.n_neighbors, squared=True, n_jobs=threads, step=1)
    farthest, factor = exactly[:, -1:], _start(index, aim).factor
    found, squares, _ = index.nearest(chunks, aim.n_neighbors, factor=factor, squared=True, n_jobs=threads)
    place = np.empty(len(index), np.int32)
    place[index.order] = np.arange(len(index))
    near, fresh, known = place[found], np.ones(found.shape, np.bool_), (0, 0)
    for number, (width, reach) in enumerate(((0, 0), *ROUNDS)):
        if width:
            window = min(width, aim.n_neighbors), min(reach, aim.n_neighbors)
            near, squares, fresh = _renewed(index, near, squares, fresh, known, window, threads)
            known = window
        recall, error = share_found(squares[rows] <= farthest, sample)
        logger.info(f"recall {recall:.3f} after {number} rounds over the neighbours of neighbours")
        if recall - MARGIN * error >= aim.recall:
            break
    else:
        return None
    indices, distances = np.empty_like(near), np.empty(near.shape, np.float32)
    indices[index.order], distances[index.order] = index.order[near], index.lengths(squares)
    return indices, distances, recall


def _renewed(
    index: TileIndex,
    near: np.ndarray,
    squares: np.ndarray,
    fresh: np.ndarray,
    known: tuple[int, int],
    window: tuple[int, int],
    threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lists of all frames after one more round, and mark the new entries."""
    new = np.empty_like(near), np.empty_like(squares), np.empty_like(fresh)

    def renew(first: int, last: int) -> None:
        queries, order, slack = index.queries, index.order, index.slack
        descend(first, last, queries, order, slack, near, squares, fresh, known, window, *new)

    run_ranges(renew, len(near), _PART, threads)
    return new

"""Most of the nearest frames, where nothing prunes: neighbours of neighbours, until a sample says that it
is enough.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.search.descent import descend
from mdfuzzy._threads import run_ranges
from mdfuzzy.neighbors._groups import Chunks
from mdfuzzy.neighbors._recall import MARGIN, share_found
from mdfuzzy.neighbors._search import Aim
from mdfuzzy.neighbors._tiles import TileIndex
from mdfuzzy.neighbors.blocks import BlockStore, Found

logger = logging.getLogger("mdfuzzy")

#: Leaves of 64 frames that every group of queries is compared with first.
LEAVES = 28
#: Rounds: of how many neighbours how many neighbours are compared. Later ones find what is hard to find.
ROUNDS = ((40, 40), (40, 80), (40, 80), (60, 80), (80, 80))
#: All rounds together take about so many times as long as the first comparison.
COST = 3.0
#: Groups of queries in the sample on which recall is measured.
SAMPLE = 24
#: Frames whose lists a thread renews at a time.
_PART = 2048


class DescentSearch(NamedTuple):
    """Neighbours that have been found already, as one block."""

    blocks: Mapping[str, object]
    indices: np.ndarray | None  # None: in the store
    distances: np.ndarray | None

    def announce(self, to_do: int) -> None:
        """See `Search`; nothing is left to do."""

    def run(
        self, names: Sequence[str], found: Found, advance: Callable[[int], object]
    ) -> Iterator[tuple[str, np.ndarray]]:
        """See `Search`."""
        rows = np.arange(len(self.indices))
        found.put(rows=rows, indices=self.indices, distances=self.distances)
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
        return DescentSearch(blocks, None, None), float(kept["recall"][0])
    start = aim._replace(factor=min(1.0, LEAVES / -(-len(index) // 64)))
    exactly = aim.measure(index, chunks, threads)[0]
    if COST * start.measure(index, chunks, threads)[0] > exactly:
        logger.info(f"recall {aim.recall:g}: an exact search takes no longer here, so the search is exact")
        return None
    sample = chunks.take(np.sort(np.random.default_rng(1).permutation(len(chunks))[:SAMPLE]))
    rows = np.concatenate([np.arange(a, b) for a, b in zip(sample.first, sample.last, strict=True)])
    options = {"squared": True, "n_jobs": threads}
    farthest = index.nearest(sample, aim.n_neighbors, **options, step=1)[1][:, -1:]
    found, squares, _ = index.nearest(chunks, aim.n_neighbors, factor=start.factor, **options)
    place = np.empty(len(index), np.int32)
    place[index.order] = np.arange(len(index))
    near = place[found]
    for number, (width, reach) in enumerate(((0, 0), *ROUNDS)):
        if width:
            near, squares = _renewed(index, near, squares, width, reach, threads)
        recall, error = share_found(squares[rows] <= farthest, sample)
        logger.info(f"recall {recall:.3f} after {number} rounds over the neighbours of neighbours")
        if recall - MARGIN * error >= aim.recall:
            break
    else:
        logger.info(f"neighbours of neighbours do not reach recall {aim.recall:g}, so the search is exact")
        return None
    indices, distances = np.empty_like(near), np.empty(near.shape, np.float32)
    indices[index.order], distances[index.order] = index.order[near], index.lengths(squares)
    if store is not None:  # the lists first: with the recall there, nothing is searched any more
        (name,) = blocks
        store.put(name, rows=np.arange(len(index)), indices=indices, distances=distances)
        store.put(f"{aim.name}-reached", recall=np.array([recall]))
    return DescentSearch(blocks, indices, distances), recall


def _renewed(
    index: TileIndex, near: np.ndarray, squares: np.ndarray, width: int, reach: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lists of all frames after one more round."""
    new = np.empty_like(near), np.empty_like(squares)
    width, reach = min(width, near.shape[1]), min(reach, near.shape[1])

    def renew(first: int, last: int) -> None:
        descend(first, last, index.queries, index.order, near, squares, width, reach, *new)

    run_ranges(renew, len(near), _PART, threads)
    return new

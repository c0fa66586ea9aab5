"""Choose the faster search, by cells or by tiles, from a few queries; both give the same result."""

import logging
import time
from functools import cache

import numpy as np

from mdfuzzy.neighbors._groups import Chunks, Index
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.neighbors._search import Aim, spell
from mdfuzzy.neighbors._symmetric import SymmetricIndex
from mdfuzzy.neighbors._tiles import build_tiles
from mdfuzzy.neighbors.blocks import BlockStore

logger = logging.getLogger("mdfuzzy")

#: The smallest number of frames for which a choice pays; cells are used for fewer.
FEW = 2048
#: One frame in so many shows whether one way is clearly faster, for so many groups of queries: by how much.
#: (From there to all frames, the time by cells grows more slowly, by a power that differs by less than 0.5.)
THIN, GROUPS = 8, 4
CLEARLY = {"cells": 1.5, "tiles": 3.0}
#: The smallest sample of frames that is informative.
LEAST = 512
#: For fewer groups of queries, one of them is the hundredth that is measured.
MANY = 200
#: A way that takes this many times as long as the other for a few queries is not considered further.
CLEAR = 2.0


class Way:
    """A way to search: its index, and the queries in its order."""

    def __init__(
        self,
        name: str,
        xyz: np.ndarray,
        others: np.ndarray | None,
        n_jobs: int | None,
        permutations: np.ndarray | None = None,
    ) -> None:
        build = {"cells": build_index, "tiles": build_tiles}[name]
        self.name = name
        self.seconds: float | None = None  # of a query, once measured
        self.index: Index = build(xyz, n_jobs=n_jobs)
        if permutations is not None:
            self.index = SymmetricIndex(self.index, permutations)
        self.chunks: Chunks = self.index.own_chunks() if others is None else self.index.chunks(others, n_jobs)


def choose_way(
    xyz: np.ndarray,
    others: np.ndarray | None,
    aim: Aim,
    *,
    permutations: np.ndarray | None = None,
    store: BlockStore | None,
    threads: int,
    n_jobs: int | None,
    largest: float = np.inf,
) -> Way:
    """Return the faster way to search the centred frames `xyz` for the neighbours of themselves or of
    `others`.

    A store remembers the choice, because its blocks were made in that way. An index by tiles of more than
    `largest` bytes is not considered.

    With `permutations` of equivalent atoms, (group, atoms), the distance is the least over them.
    """

    def build(name: str) -> Way:
        return Way(name, xyz, others, n_jobs, permutations)

    if min(len(xyz), len(xyz if others is None else others)) < FEW:
        return build("cells")
    known = store.get(f"{aim.name}-way") if store is not None else None
    if known is not None:
        return build("tiles" if known["tiles"].any() else "cells")
    compile_kernels()
    clear = _clear_way(xyz, others, aim, permutations)
    if clear == "cells":
        return _told(build("cells"), aim, store)
    tiles = build("tiles")
    if clear == "tiles" and tiles.index.__sizeof__() <= largest:
        return _told(tiles, aim, store)
    cells = build("cells")
    chosen = cells
    if tiles.index.__sizeof__() <= largest:
        for few in (True, False):
            seconds = {way: aim.measure(way.index, way.chunks, threads, few=few)[0] for way in (cells, tiles)}
            chosen, other = sorted(seconds, key=seconds.__getitem__)
            if seconds[other] > CLEAR * seconds[chosen] or len(chosen.chunks) < MANY:
                break
            chosen.seconds = None if few or aim.recall < 1 else seconds[chosen]
        n = len(chosen.chunks.frames)
        logger.info(
            f"search method: {chosen.name} (about {spell(n * seconds[chosen])}; {other.name} would take "
            f"{spell(n * seconds[other])}); both find the same neighbours"
        )
    return _kept(chosen, aim, store)


def _kept(chosen: Way, aim: Aim, store: BlockStore | None) -> Way:
    """Let a store remember the choice."""
    if store is not None:
        store.put(f"{aim.name}-way", tiles=np.array([chosen.name == "tiles"]))
    return chosen


def _told(chosen: Way, aim: Aim, store: BlockStore | None) -> Way:
    """Log a choice that was made on some of the frames."""
    logger.info(
        f"search method: {chosen.name} (on one frame in {THIN} the other method took more than "
        f"{CLEARLY[chosen.name]:g} times as long); both find the same neighbours"
    )
    return _kept(chosen, aim, store)


def _clear_way(
    xyz: np.ndarray, others: np.ndarray | None, aim: Aim, permutations: np.ndarray | None
) -> str | None:
    """Return the way that is clearly faster on some of the frames; None if neither is.

    Building both indices of all frames would take time. In a sample of one frame in N, the first k / N
    neighbours reach as far as the first k among all frames.
    """
    few, asked = xyz[::THIN].copy(), None if others is None else others[::THIN].copy()
    count = -(-aim.n_neighbors // THIN)
    if min(len(few), len(few if asked is None else asked)) < LEAST or count >= len(few):
        return None
    aim = aim._replace(n_neighbors=count, factor=1.0)
    seconds = {}
    for name in ("cells", "tiles"):
        way = Way(name, few, asked, None, permutations)
        chosen = np.random.default_rng(2).permutation(len(way.chunks))[:GROUPS]
        part = way.chunks.take(np.sort(chosen))
        begin = time.process_time()  # independent of the other load of the machine
        aim.find(way.index, part, 1)
        seconds[name] = (time.process_time() - begin) / len(part.order)
    faster, slower = sorted(seconds, key=seconds.__getitem__)
    return faster if seconds[slower] > CLEARLY[faster] * seconds[faster] else None


@cache
def compile_kernels() -> None:
    """Search a few frames both ways, so that compilation is not part of the measured time."""
    xyz = np.random.default_rng(0).normal(size=(65, 4, 3)).astype(np.float32)
    for name in ("cells", "tiles"):
        way = Way(name, xyz - xyz.mean(axis=1, keepdims=True), None, 1)
        way.index.nearest(way.chunks, 2, n_jobs=1)

"""Choose the faster search, by cells or by tiles, from a few queries; both give the same result."""

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy.neighbors._groups import Chunks, Index
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.neighbors._search import Aim
from mdfuzzy.neighbors._symmetric import SymmetricIndex
from mdfuzzy.neighbors._tiles import build_tiles
from mdfuzzy.neighbors.blocks import BlockStore

logger = logging.getLogger("mdfuzzy")

#: With fewer frames than this, a trial costs more than it saves; cells are used.
FEW = 2048
#: Both ways are tried on one frame in `THIN`, for at most `GROUPS` groups of queries.
THIN, GROUPS = 8, 4
#: The time of a query grows about as this power of the number of frames (0.5 to 0.75 on peptides and
#: proteins).
GROWTH = 2 / 3
#: The ratio of times on these frames from which the slower way is not tried on all frames. Cells gain on
#: tiles where frames become dense: up to 8 times from one frame in 8 to all of them (20,000 of alanine
#: dipeptide).
CLEARLY = {"cells": 1.5, "tiles": 10.0}
#: The fraction of the search time that a trial of the slower way on all frames may take.
TRIAL = 0.08
#: The largest number of groups of queries in this trial, and at most a hundredth of all groups.
MOST = 32
#: The trial ends when the slower way has taken this many times as long as the other for all of its groups.
CLEAR = 2.0
#: So many groups of queries that a hundredth of them makes an estimate: the search measures it by itself.
MANY = 800


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

    A store remembers the choice, because its blocks depend on the way in which they were made. An index by
    tiles of more than `largest` bytes is not considered.

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
    chosen = _faster(build, aim, _sampled(xyz, others, aim, permutations))
    if chosen.name == "tiles" and chosen.index.__sizeof__() > largest:
        chosen = build("cells")
    if len(chosen.chunks) >= MANY or aim.recall < 1 or aim.n_neighbors == 0:
        chosen.seconds = None
    elif chosen.seconds is not None:
        chosen.seconds /= threads
    if store is not None:
        store.put(f"{aim.name}-way", tiles=np.array([chosen.name == "tiles"]))
    return chosen


class Sampled(NamedTuple):
    """The times of a way for one frame in `THIN`, on one thread, in seconds."""

    name: str
    building: float
    query: float


def _sampled(
    xyz: np.ndarray, others: np.ndarray | None, aim: Aim, permutations: np.ndarray | None
) -> list[Sampled]:
    """Try both ways on one frame in `THIN`, and return the faster one first.

    Building both indices for all frames would take too long. In a sample of one frame in N, the first k / N
    neighbours are as far away as the first k among all frames.
    """
    few, asked = xyz[::THIN].copy(), None if others is None else others[::THIN].copy()
    count = min(-(-aim.n_neighbors // THIN), len(few) - 1)
    aim = aim._replace(n_neighbors=count, factor=1.0)
    ways = []
    for name in ("cells", "tiles"):
        begin = time.process_time()  # processor time, which does not depend on the other load of the machine
        way = Way(name, few, asked, 1, permutations)
        building = time.process_time() - begin
        groups = min(max(len(way.chunks) // 4, 2), GROUPS)
        ways.append(Sampled(name, building, _seconds(way, aim, groups)))
    return sorted(ways, key=lambda way: way.query)


def _faster(build: Callable[[str], Way], aim: Aim, sampled: list[Sampled]) -> Way:
    """Return the faster way, with the seconds of a query on one thread.

    If the ways differ clearly on the sample, or if the search takes so little time that another index would
    be a considerable part of it, the sample decides. Otherwise some queries of all frames do.
    """
    first, second = sampled
    way = build(first.name)
    n, ratio = len(way.chunks.frames), second.query / first.query
    way.seconds = first.query * THIN**GROWTH
    trial = THIN * second.building + LANES * (GROUPS + ratio) * way.seconds
    if ratio > CLEARLY[first.name] or trial > TRIAL * n * way.seconds:
        logger.info(
            f"search method: {first.name} ({second.name} took {ratio:.1f} times as long in a test on one "
            f"frame in {THIN}); both find the same neighbours"
        )
        return way
    other = build(second.name)
    groups = min(max(len(way.chunks) // 100, GROUPS), MOST)
    way.seconds = _seconds(way, aim, groups)
    other.seconds = _seconds(other, aim, groups, limit=CLEAR * way.seconds * groups * LANES)
    chosen, slower = sorted((way, other), key=lambda each: each.seconds or 0.0)
    ratio = (slower.seconds or 0.0) / (chosen.seconds or 1.0)
    logger.info(
        f"search method: {chosen.name} ({slower.name} took {ratio:.1f} times as long in a test on some "
        "frames); both find the same neighbours"
    )
    return chosen


def _seconds(way: Way, aim: Aim, groups: int, *, limit: float = np.inf) -> float:
    """Return the seconds that one thread takes for a query, from some groups, or fewer beyond a limit."""
    chosen = np.random.default_rng(2).permutation(len(way.chunks))[:groups]
    queries, begin = 0, time.process_time()
    for group in chosen:
        part = way.chunks.take(np.array([group]))
        aim.find(way.index, part, 1)
        queries += int(part.sizes.sum())
        spent = time.process_time() - begin
        if spent > limit:
            break
    return spent / queries


@cache
def compile_kernels() -> None:
    """Search a few frames both ways, so that compilation is not part of the measured time."""
    xyz = np.random.default_rng(0).normal(size=(65, 4, 3)).astype(np.float32)
    for name in ("cells", "tiles"):
        way = Way(name, xyz - xyz.mean(axis=1, keepdims=True), None, 1)
        way.index.nearest(way.chunks, 2, n_jobs=1)

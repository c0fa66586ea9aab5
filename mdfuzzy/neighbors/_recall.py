"""Choose how much an approximate search may leave out: by smaller cells, or by fewer candidates."""

import logging
import time
from dataclasses import replace
from functools import cache

import numpy as np

from mdfuzzy.neighbors._groups import Chunks, Index
from mdfuzzy.neighbors._search import Aim
from mdfuzzy.neighbors._superposed import SuperposedIndex, superpose_all
from mdfuzzy.neighbors._tiles import TileIndex
from mdfuzzy.neighbors.blocks import BlockStore

logger = logging.getLogger("mdfuzzy")

#: The number of groups of queries in the sample.
SAMPLE = 160
#: The number of samples, in all groups of queries, below which an exact search takes no longer. On alanine
#: dipeptide, recall 0.95 to 0.99 took 1.1 to 1.4 times as long as exact at 2.1 samples, 0.6 to 0.7 at 4.3.
WORTH = 3
#: The number of standard errors by which the sample must exceed the requested recall.
MARGIN = 3
#: Groups that are searched first, to find the approximate factor, and the share of the allowed misses
#: that the margin will leave.
FEW, LEFT = 16, 0.8
#: Factors are multiples of 1 / GRID. The share of neighbours missed falls about as exp(-FALL factor).
GRID, FALL = 200, 15
#: The first and the smallest factor that is tried.
GUESS, LEAST = 80, 20
#: Queries in the sample for candidates, and how many of each group at least: neighbours of queries that are
#: near each other are missed together, so few of each.
QUERIES, EACH = 1536, 4
#: The number of such samples in all queries, below which an exact search takes no longer. On 36 atoms of
#: villin, recall 0.95 took 0.7 times as long as exact at 5 samples, 0.4 times at 13.
WORTH_SUPERPOSED = 5
#: Groups of queries that are timed.
TIMED = 8
#: Candidates per neighbour that are tried first, and the most. The share of neighbours missed falls about as
#: the square of them (villin).
FIRST, MOST = 1.25, 16.0


def choose_factor(
    index: Index, chunks: Chunks, n_neighbors: int, recall: float, n_jobs: int | None
) -> tuple[float, float | None]:
    """Return about the smallest factor by which cells may be shrunk, and its measured recall.

    The recall of a random sample of queries, less three times its standard error over groups of queries, must
    reach the requested recall. If there is no such factor, or if the sample takes as long as an exact search,
    the search is exact: (1, None).
    """
    if len(chunks) < max(2, WORTH * SAMPLE):
        logger.info(f"recall {recall:g}: an exact search takes no longer here, so the search is exact")
        return 1.0, None
    sample = chunks.take(np.random.default_rng(1).permutation(len(chunks))[:SAMPLE])
    farthest = index.nearest(sample, n_neighbors, n_jobs=n_jobs)[1][:, -1:]

    @cache
    def measure(groups: int, step: int) -> tuple[float, float]:
        """Return the recall of the first groups with a factor of step / GRID, and its standard error."""
        part = sample.take(slice(0, groups))
        distances = index.nearest(part, n_neighbors, factor=step / GRID, n_jobs=n_jobs)[1]
        return share_found(distances <= farthest[: len(distances)] * (1 + 1e-6), part)

    def lacking(missed: float, allowed: float) -> float:
        """Return the steps by which the factor should grow for the usual rate of missed neighbours."""
        return GRID / FALL * float(np.log(max(missed, 1e-9) / allowed))

    step = GUESS
    for _ in range(3):  # a few groups are enough for an approximate factor
        missed = 1 - measure(FEW, step)[0]
        step = int(np.clip(step + np.rint(lacking(missed, LEFT * (1 - recall))), LEAST, GRID - 1))
    too_small, enough, stride = LEAST - 1, GRID, 1
    while enough - too_small > 1:
        reached, error = measure(SAMPLE, step)
        change = lacking(1 - reached + MARGIN * error, 1 - recall)
        if change > 0:  # if it is too small repeatedly, with steps that double
            too_small, step, stride = step, step + max(int(np.ceil(change)), stride), 2 * stride
        else:
            enough, step = step, step + int(np.ceil(change))
            if step == enough:  # a smaller factor is unlikely to be sufficient
                break
            if too_small >= LEAST:  # measured, not assumed
                step = min(step, (too_small + enough) // 2)
        step = min(max(step, too_small + 1), enough - 1)
    return (1.0, None) if enough == GRID else (enough / GRID, measure(SAMPLE, enough)[0])


def superpose_frames(
    exact: Index,
    xyz: np.ndarray,
    others: np.ndarray | None,
    aim: Aim,
    *,
    store: BlockStore | None,
    largest: float,
    threads: int,
) -> tuple[SuperposedIndex, Chunks, float, float] | None:
    """Return an index of superposed frames, its queries, the factor to search it with, and the recall.

    None if the exact search of the index `exact` takes no longer, if the recall is not reached, or if the
    index of superposed frames has more than `largest` bytes. A store remembers it.
    """
    n = len(xyz if others is None else others)
    if not isinstance(exact, TileIndex):
        logger.info(f"recall {aim.recall:g}: with equivalent atoms, the search by tiles is exact")
        return None
    name = f"{aim.name}-superposed"
    known = store.get(name) if store is not None else None
    if known is None and n < WORTH_SUPERPOSED * QUERIES:
        logger.info(f"recall {aim.recall:g}: an exact search takes no longer here, so the search is exact")
        return None
    index = superpose_all(xyz, threads)
    chunks = index.own_chunks() if others is None else index.chunks(others, threads)
    if index.__sizeof__() > largest:
        logger.info(f"recall {aim.recall:g}: an approximate search needs more memory, so the search is exact")
        return None
    if known is None:
        found = _choose_candidates(index, chunks, exact, xyz if others is None else others, aim, threads)
        known = {"chosen": np.array(found)}
        if store is not None:
            store.put(name, **known)
    factor, recall = known["chosen"].tolist()
    return (index, chunks, factor, recall) if factor < 1 else None


def _choose_candidates(
    index: SuperposedIndex, chunks: Chunks, exact: Index, asked: np.ndarray, aim: Aim, threads: int
) -> tuple[float, float]:
    """Return the share of neighbours in the candidates, and the recall; (1, 1) for an exact search.

    The recall of a random sample of queries, less three times its standard error over groups of queries, must
    reach the requested recall, and the search must take less time than the exact one.
    """
    length = max(EACH, -(-QUERIES // len(chunks)))
    groups = np.sort(np.random.default_rng(1).permutation(len(chunks))[: QUERIES // length])
    sample = chunks.take(groups)
    sample = replace(sample, last=np.minimum(sample.last, sample.first + length))
    rows = sample.order
    begin = time.process_time()  # independent of the other load of the machine
    queries = exact.chunks(asked[rows], threads)
    itself = int(chunks.own)  # at distance 0
    squares = exact.nearest(queries, aim.n_neighbors + itself, squared=True, n_jobs=threads, step=1)[1]
    seconds = (time.process_time() - begin) / len(rows)
    farthest = np.empty((len(rows), 1))
    farthest[queries.order] = squares[:, -1:]
    share = FIRST
    while share <= MOST:
        aim = aim._replace(factor=1 / share)
        if _seconds(index, chunks, aim, threads) >= seconds:
            logger.info(
                f"recall {aim.recall:g}: an exact search takes no longer here, so the search is exact"
            )
            return 1.0, 1.0
        squares = index.nearest(
            sample, aim.n_neighbors, factor=aim.factor, squared=True, n_jobs=threads, step=1
        )[1]
        recall, error = share_found(squares <= farthest, sample)
        lacking = (1 - recall + MARGIN * error) / (1 - aim.recall)
        if lacking <= 1:
            logger.info(f"recall {recall:.3f} with {share:.1f} candidates per neighbour after superposition")
            return aim.factor, recall
        share *= float(np.clip(np.sqrt(lacking), 1.2, 2))
    logger.info(f"superposed frames do not reach recall {aim.recall:g}, so the search is exact")
    return 1.0, 1.0


def _seconds(index: Index, chunks: Chunks, aim: Aim, threads: int) -> float:
    """Return the seconds of the processor for a query, from some groups."""
    some = chunks.take(np.sort(np.random.default_rng(2).permutation(len(chunks))[:TIMED]))
    aim.find(index, some.take(slice(0, 1)), 1)  # compiled by now
    begin = time.process_time()
    aim.find(index, some, threads, step=1)
    return (time.process_time() - begin) / int(some.sizes.sum())


def share_found(found: np.ndarray, chunks: Chunks) -> tuple[float, float]:
    """Return the share of neighbours found, (queries, neighbours) of bool, and its standard error over
    groups.
    """
    each = np.mean(found, axis=1)
    residuals = np.bincount(np.repeat(np.arange(len(chunks)), chunks.sizes), each - each.mean())
    return float(each.mean()), float(np.sqrt(np.sum(residuals**2)) / len(each))

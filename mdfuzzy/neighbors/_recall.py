"""Choose how much an approximate search may shrink the cells."""

import logging
from functools import cache

import numpy as np

from mdfuzzy.neighbors._groups import Chunks, Index

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


def share_found(found: np.ndarray, chunks: Chunks) -> tuple[float, float]:
    """Return the share of neighbours found, (queries, neighbours) of bool, and its standard error over
    groups.
    """
    each = np.mean(found, axis=1)
    residuals = np.bincount(np.repeat(np.arange(len(chunks)), chunks.sizes), each - each.mean())
    return float(each.mean()), float(np.sqrt(np.sum(residuals**2)) / len(each))

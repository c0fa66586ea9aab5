"""How much smaller than they are cells may be taken to be, for a search that need not find all neighbours."""

from functools import cache

import numpy as np

from mdfuzzy.rmsd_index import Chunks, RmsdIndex

#: Groups of queries in the sample.
SAMPLE = 160
#: Standard errors by which the sample has to be better than what is asked for.
MARGIN = 3
#: Groups that are looked at first, for a factor that is nearly right.
FEW = 16
#: Factors are multiples of 1 / GRID. The share of neighbours missed falls about as exp(-FALL factor).
GRID, FALL = 200, 15
#: Where the search for it begins.
GUESS = 80


def choose_factor(
    index: RmsdIndex, chunks: Chunks, n_neighbors: int, recall: float, n_jobs: int | None
) -> tuple[float, float | None]:
    """Return the smallest factor by which cells may be shrunk, and the recall measured with it.

    The recall of a random sample of queries, less three times its standard error over groups of queries, has
    to reach what was asked for. Without such a factor the search is exact: (1, None).
    """
    if len(chunks) < 2:
        return 1.0, None
    sample = chunks.take(np.random.default_rng(1).permutation(len(chunks))[:SAMPLE])
    farthest = index.nearest(sample, n_neighbors, n_jobs=n_jobs)[1][:, -1:]

    @cache
    def measure(groups: int, step: int) -> tuple[float, float]:
        """Return the recall of the first groups with a factor of step / GRID, and its standard error."""
        part = sample.take(slice(0, groups))
        distances = index.nearest(part, n_neighbors, factor=step / GRID, n_jobs=n_jobs)[1]
        found = np.mean(distances <= farthest[: len(distances)] * (1 + 1e-6), axis=1)
        group = np.repeat(np.arange(len(part)), part.sizes)
        residuals = np.bincount(group, found - found.mean())
        return float(found.mean()), float(np.sqrt(np.sum(residuals**2)) / len(found))

    def enough(step: int) -> bool:
        reached, error = measure(SAMPLE, step)
        return reached - MARGIN * error >= recall

    low = GUESS
    for groups in (FEW, FEW, FEW, SAMPLE):  # a few groups are enough to come near
        reached, error = measure(groups, low)
        missed = 1 - reached + (MARGIN * error if groups == SAMPLE else 0)
        change = GRID / FALL * np.log(max(missed, 1e-9) / (1 - recall))
        low = int(np.clip(low + np.rint(change), GRID // 10, GRID - 1))
    # From there in strides that double, until one factor is too small and another is enough; then between.
    stride, too_small = 1, GRID // 10 - 1
    while low > GRID // 10 and enough(low):
        low, stride = max(low - stride, GRID // 10), 2 * stride
    while not enough(low):
        if low == GRID - 1:
            return 1.0, None
        too_small, low, stride = low, min(low + stride, GRID - 1), 2 * stride
    while low - too_small > 1:
        middle = (low + too_small) // 2
        low, too_small = (middle, too_small) if enough(middle) else (low, middle)
    return low / GRID, measure(SAMPLE, low)[0]

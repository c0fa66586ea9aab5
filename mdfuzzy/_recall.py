"""How much smaller than they are cells may be taken to be, for a search that need not find all neighbours."""

from functools import cache

import numpy as np

from mdfuzzy.rmsd_index import Chunks, RmsdIndex

#: Groups of queries in the sample.
SAMPLE = 112
#: Standard errors by which the sample has to be better than what is asked for.
MARGIN = 3
#: Groups that are looked at first, for a factor that is nearly right.
FEW = 16
#: Factors are multiples of 1 / GRID. The share of neighbours missed falls about as exp(-FALL factor).
GRID, FALL = 200, 18
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

    lowest, highest = GRID // 10, GRID - 1

    def next_guess(step: int, reached: float) -> int:
        """Return the factor that would be right if the share missed falls as it usually does."""
        missed = np.log(max(1 - reached, 1e-9) / (1 - recall))
        return int(np.clip(step + np.rint(GRID / FALL * missed), lowest, highest))

    low = GUESS
    for _ in range(3):  # a few groups are enough to come near
        low = next_guess(low, measure(FEW, low)[0])
    reached, error = measure(SAMPLE, low)
    low = next_guess(low, reached - MARGIN * error)
    best, step = (1.0, None), 0
    while lowest <= low <= highest:
        reached, error = measure(SAMPLE, low)
        enough = reached - MARGIN * error >= recall
        if enough:
            best = low / GRID, reached
        if step == (1 if enough else -1):  # from the other side
            break
        step = -1 if enough else 1
        low += step
    return best

"""Whole trajectories drawn anew: what the intervals of all kinetics come from."""

from collections.abc import Iterator

import numpy as np

from mdfuzzy._check import check_int


def draw_trajectories(trajectories: int, n_bootstrap: int, seed: int) -> np.ndarray:
    """Return how often each bootstrap sample draws each trajectory; empty for a single trajectory."""
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, 0)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(trajectories, size=(n_bootstrap if trajectories > 1 else 0, trajectories))
    return np.array([np.bincount(each, minlength=trajectories) for each in drawn]).reshape(-1, trajectories)


def interval(values: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the middle share of the rows; NaN where they are infinite or there are no rows."""
    if len(values) == 0:
        return (np.full(values.shape[1:], np.nan),) * 2
    tail = (1 - confidence) / 2
    low = np.quantile(values, tail, axis=0, method="lower")
    high = np.quantile(values, 1 - tail, axis=0, method="higher")
    return np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high)


def bootstrap_sums(counts: np.ndarray, draws: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the sum of `counts` (one row per trajectory) over the trajectories of each sample."""
    return (np.tensordot(weights, counts, axes=1) for weights in draws)

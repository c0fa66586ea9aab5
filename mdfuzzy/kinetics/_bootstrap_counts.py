"""The bootstrap of the kinetics: whole trajectories, or blocks if there are few trajectories."""

from collections.abc import Iterator, Sequence

import numpy as np

from mdfuzzy.frames.bootstrap import (
    ENOUGH_TRAJECTORIES,
    BootstrapUnits,
    bootstrap_sums,
    bootstrap_units,
    interval,
    statistical_inefficiency,
)
from mdfuzzy.kinetics.markov import pair_counts

__all__ = ["CountSampler", "bootstrap_sums", "draw_units", "interval", "lagged_parts", "units_of"]


def units_of(series: Sequence[np.ndarray], n_states: int | None = None) -> BootstrapUnits:
    """Return the parts of discrete trajectories, or of series of memberships, that a bootstrap draws.

    Blocks are long compared with the time that the molecule stays in its most persistent state.

    Examples
    --------
    >>> len(units_of([np.array([0, 1] * 500)])) > 50, len(units_of([np.repeat([0, 1], 500)]))
    (True, 2)
    """
    lengths = [len(each) for each in series]
    if len(lengths) >= ENOUGH_TRAJECTORIES:
        return bootstrap_units(lengths, inefficiency=1.0)
    if series[0].ndim == 1:
        states = max(int(each.max()) for each in series) + 1 if n_states is None else n_states
        series = [each[:, None] == np.arange(states) for each in series]
    return bootstrap_units(lengths, inefficiency=statistical_inefficiency(series))


def draw_units(units: BootstrapUnits, n_bootstrap: int, seed: int) -> np.ndarray:
    """Return how often each bootstrap sample draws each part; no rows if there are too few to draw from.

    With fewer than five parts most samples would lack some of them altogether.
    """
    drawn = units.draw(n_bootstrap, seed=seed)
    return drawn if len(units) >= ENOUGH_TRAJECTORIES else drawn[:0]


class CountSampler:
    """Samples of the transition counts of discrete trajectories, for intervals.

    Five or more trajectories, or five or more blocks, are drawn with replacement. With fewer, the samples are
    drawn from the posterior of a Markov model, in which every lag is one independent observation (sliding
    counts divided by the lag) and each row of transition probabilities has a Dirichlet distribution.

    Parameters
    ----------
    dtrajs : list of (n_i,) int arrays
        States.
    n_bootstrap : int
        How many samples.
    seed : int
        Random seed.

    Attributes
    ----------
    words : str
        What is sampled, such as "bootstrap samples of whole trajectories".
    """

    def __init__(self, dtrajs: list[np.ndarray], n_bootstrap: int, seed: int) -> None:
        self._dtrajs, self._seed = dtrajs, seed
        self._units = units_of(dtrajs)
        self._draws = draw_units(self._units, n_bootstrap, seed)
        self._size = n_bootstrap
        self.words = (
            f"bootstrap samples of {self._units.words}"
            if len(self._draws)
            else "samples of the posterior of the model (used because there are fewer than five independent "
            "trajectories or blocks)"
        )

    def __len__(self) -> int:
        return self._size

    @property
    def reversible(self) -> bool:
        """Whether a reversible model is estimated from each sample; one of the posterior is the model."""
        return len(self._draws) > 0

    def counts(self, lag: int, states: np.ndarray) -> tuple[np.ndarray, Iterator[np.ndarray]]:
        """Return the counts between `states` at a lag, (K, K), and an iterator over their samples."""
        parts = lagged_parts(self._units, self._dtrajs, lag)
        counts = pair_counts(parts, lag)[:, states][:, :, states]
        total = counts.sum(axis=0)
        if len(self._draws):
            return total, bootstrap_sums(counts, self._draws)
        return total, self.posterior(total, lag, self._size)

    def posterior(self, counts: np.ndarray, lag: int, size: int) -> Iterator[np.ndarray]:
        """Return an iterator over samples of the posterior of the model of `counts`, (K, K), at a lag."""
        rng = np.random.default_rng([self._seed, lag])
        return (_posterior_counts(counts, lag, rng) for _ in range(size))


def _posterior_counts(counts: np.ndarray, lag: int, rng: np.random.Generator) -> np.ndarray:
    """Return counts with the transition probabilities of one sample of the posterior.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> samples = [_posterior_counts(np.array([[90, 10], [5, 5]]), 1, rng)[0, 1] for _ in range(1000)]
    >>> round(np.mean(samples)), round(np.std(samples))  # Beta(10, 90): 10 and 3 of 100
    (10, 3)
    """
    drawn = rng.gamma(counts / lag)
    totals = drawn.sum(axis=1, keepdims=True)
    return counts.sum(axis=1, keepdims=True) * drawn / np.where(totals > 0, totals, 1.0)


def lagged_parts(units: BootstrapUnits, series: Sequence[np.ndarray], lag: int) -> list[np.ndarray]:
    """Return the frames of each part and the next `lag` of its trajectory.

    Every pair of frames one lag apart then belongs to the part in which it begins.

    Examples
    --------
    >>> units = units_of([np.array([0, 1, 1, 0] * 4)])
    >>> [len(part) for part in lagged_parts(units, [np.arange(16)], 2)][-3:]
    [5, 5, 4]
    """
    return [
        series[trajectory][start : start + length + lag]
        for trajectory, start, length in zip(units.trajectories, units.starts, units.lengths, strict=True)
    ]

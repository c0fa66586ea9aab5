"""Accumulate means and time-lagged covariances of features from rows that come chunk by chunk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdfuzzy.frames.bootstrap import ENOUGH_TRAJECTORIES

#: The number of blocks that each trajectory is cut into if there are few trajectories.
_BLOCKS = 10


@dataclass(frozen=True, eq=False)
class Moments:
    """Means of the rows, of their products, and of their products with the rows a lag time later.

    Attributes
    ----------
    n : int
        The number of pairs of rows.
    mean_0, mean_t : (e,) float64
        The means of the rows at the beginning and at the end of the pairs.
    c_00, c_0t, c_tt : (e, e) float64
        The means of products, about zero and not about the means.
    """

    n: int
    mean_0: np.ndarray
    mean_t: np.ndarray
    c_00: np.ndarray
    c_0t: np.ndarray
    c_tt: np.ndarray

    def __add__(self, other: "Moments") -> "Moments":
        n = self.n + other.n
        share = self.n / n
        names = ("mean_0", "mean_t", "c_00", "c_0t", "c_tt")
        means = (share * getattr(self, each) + (1 - share) * getattr(other, each) for each in names)
        return Moments(n, *means)

    def scaled(self, factors: np.ndarray) -> "Moments":
        """Return the moments of rows that are multiplied by `factors`, (e,)."""
        means = (each * factors for each in (self.mean_0, self.mean_t))
        return Moments(
            self.n, *means, *(each * np.outer(factors, factors) for each in (self.c_00, self.c_0t, self.c_tt))
        )

    def covariances(self, *, reversible: bool) -> Any:
        """Return the covariances as a deeptime model, symmetric in time if the dynamics are reversible."""
        from deeptime.covariance import CovarianceModel

        a, b = self.mean_0, self.mean_t
        if reversible:
            a = b = (a + b) / 2
            equal = (self.c_00 + self.c_tt) / 2 - np.outer(a, a)
            c_00, c_0t, c_tt = equal, (self.c_0t + self.c_0t.T) / 2 - np.outer(a, a), equal
        else:
            c_00 = self.c_00 - np.outer(a, a)
            c_0t, c_tt = self.c_0t - np.outer(a, b), self.c_tt - np.outer(b, b)
        return CovarianceModel(
            cov_00=c_00,
            cov_0t=c_0t,
            cov_tt=c_tt,
            mean_0=a,
            mean_t=b,
            bessels_correction=False,
            symmetrized=reversible,
            data_mean_removed=True,
        )


class MomentSums:
    """Sums over the rows seen so far, in two halves of the data.

    Rows that lie a lag time apart are paired, also across chunks. With five trajectories or more, every
    second trajectory belongs to one half. Fewer trajectories are cut into blocks, and every second block
    belongs to one half.

    Parameters
    ----------
    lag : int
        The lag time in rows; 0 for no pairs.
    lengths : sequence of int
        The approximate number of rows of every trajectory.
    """

    def __init__(self, lag: int, lengths: Sequence[int]) -> None:
        from deeptime.covariance import Covariance

        self.lag = lag
        self._blocks = [max(length // _BLOCKS, lag, 1) for length in lengths]
        self._whole = len(lengths) >= ENOUGH_TRAJECTORIES
        make: Callable[[], Any] = lambda: Covariance(  # noqa: E731
            lagtime=lag, compute_c0t=lag > 0, compute_ctt=lag > 0, bessels_correction=False
        )
        self._sums = (make(), make())
        self._counts = [0, 0]
        self._trajectory = -1
        self._waiting = np.empty((0, 0))  # rows without a partner yet
        self._first = 0  # the number of the first of them in its trajectory

    def add(self, trajectory: int, rows: np.ndarray) -> None:
        """Add the next rows of a trajectory."""
        if trajectory != self._trajectory:
            self._trajectory, self._first = trajectory, 0
            self._waiting = np.empty((0, rows.shape[1]))
        rows = np.concatenate([self._waiting, rows])
        pairs = max(len(rows) - self.lag, 0)
        numbers = self._first + np.arange(pairs)
        half = np.full(pairs, trajectory % 2) if self._whole else numbers // self._blocks[trajectory] % 2
        for which in (0, 1):
            chosen = np.flatnonzero(half == which)
            if len(chosen):
                now = rows[chosen]
                self._sums[which].partial_fit((now, rows[chosen + self.lag]) if self.lag else now)
                self._counts[which] += len(chosen)
        self._waiting, self._first = rows[pairs:], self._first + pairs

    def halves(self) -> list[Moments]:
        """Return the moments of each half that has any rows."""
        return [self._finish(which) for which in (0, 1) if self._counts[which]]

    def _finish(self, which: int) -> Moments:
        found = self._sums[which].fetch_model()
        n, mean = self._counts[which], found.mean_0
        c_00 = found.cov_00
        if self.lag == 0:
            return Moments(n, mean, mean, c_00, c_00, c_00)
        return Moments(n, mean, found.mean_t, c_00, found.cov_0t, found.cov_tt)

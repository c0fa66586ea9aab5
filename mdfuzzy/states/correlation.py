"""Neighbours in time: the fraction of the neighbours of a frame that belong to the same excursion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy._threads import share, using_threads
from mdfuzzy.frames.bootstrap import automatic_window, inefficiency_of
from mdfuzzy.neighbors.neighbors import Neighbors

#: Neighbours within this many frames of the same trajectory are close in time.
CLOSE = 100
#: Above this fraction, in excess of chance, frames of one excursion dominate the density.
LARGE_SHARE = 0.2
_LONGEST = 5000  # frames: lags at which neighbours are counted
_PART = 65_536  # points counted together


@dataclass(frozen=True, kw_only=True)
class NeighborsInTime:
    """Hold the fraction of the neighbours in space that are also neighbours in time.

    Attributes
    ----------
    share : float
        The fraction of the neighbours that lie within 100 frames in the same trajectory.
    chance : float
        The fraction expected if neighbours were distributed uniformly over all frames.
    window : int
        The lag, in frames, beyond which the probability of being neighbours no longer depends on the time
        between two frames.
    inefficiency : float
        The number of frames within that window that are neighbours together; 1 for independent frames.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> from mdfuzzy.states.correlation import neighbors_in_time
    >>> steps = np.random.default_rng(0).normal(size=(3000, 2))
    >>> walk, shuffled = np.cumsum(steps, axis=0), steps
    >>> for points in (walk, shuffled):
    ...     found = neighbors_in_time(mf.euclidean_neighbors(points, n_neighbors=20), [3000])
    ...     print(f"{found.share:.0%} {found.large}")
    73% True
    7% False
    """

    share: float
    chance: float
    window: int
    inefficiency: float

    @property
    def large(self) -> bool:
        """Whether, in excess of chance, every fifth neighbour belongs to the same excursion."""
        return self.share - self.chance > LARGE_SHARE

    def __str__(self) -> str:
        return (
            f"{100 * self.share:.1f} % of the neighbours of a frame lie within {CLOSE} frames of it in the "
            f"same trajectory (expected by chance: {100 * self.chance:.1f} %)"
        )

    @property
    def words(self) -> str:
        """The fractions and their meaning, in sentences."""
        return f"{self}. A large difference means that the frames are correlated in time."


def neighbors_in_time(
    neighbors: Neighbors, lengths: npt.ArrayLike, *, n_neighbors: int | None = None, n_jobs: int | None = None
) -> NeighborsInTime:
    r"""Count the neighbours that are close in time in the same trajectory.

    :math:`\rho(t)` is the fraction of frames whose successor t frames later is among their neighbours, minus
    the fraction expected by chance. It is the autocorrelation function of being inside a small ball. Its sum,
    up to the automatic window of Sokal (1989), is the number of frames in one visit to the ball.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of frames among themselves.
    lengths : (T,) array of int
        Frames per trajectory, in the order of the frames.
    n_neighbors : int, optional
        The number of neighbours to count; all by default.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    NeighborsInTime

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> neighbors = mf.euclidean_neighbors(np.arange(400.0)[:, None], n_neighbors=4)
    >>> neighbors_in_time(neighbors, [400]).share
    1.0
    """
    from mdfuzzy._kernels import smoothing

    check_type("neighbors", neighbors, Neighbors, remedy="`neighbors_from` takes arrays.")
    lengths = check_lengths(lengths, len(neighbors))
    n = len(neighbors)
    m = neighbors.k if n_neighbors is None else check_int("n_neighbors", n_neighbors, 1, neighbors.k)
    trajectories = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    longest = int(min(_LONGEST, lengths.max() - 1))
    counts = np.zeros((-(-n // _PART), max(longest, CLOSE) + 1), np.int64)
    with using_threads(n_jobs):
        share(smoothing.count_lags, len(counts), neighbors.indices, m, trajectories, _PART, counts)
    found = counts.sum(axis=0)
    lags = np.arange(len(found))
    pairs = 2 * np.maximum(lengths[:, None] - lags, 0).sum(axis=0)  # from both of their frames
    rho = np.where(pairs > 0, found / np.maximum(pairs, 1) - m / n, 0.0)[: longest + 1]
    return NeighborsInTime(
        share=float(found[1 : CLOSE + 1].sum() / (n * m)),
        chance=float(pairs[1 : CLOSE + 1].sum() / (n * max(n - 1, 1))),
        window=max(1, automatic_window(rho)),
        inefficiency=inefficiency_of(rho),
    )


def check_lengths(lengths: npt.ArrayLike, n: int) -> np.ndarray:
    """Return the frames per trajectory as an int64 array, or raise unless they add up to `n`."""
    lengths = np.asarray(lengths)
    remedy = "Give the number of frames of each trajectory, in order."
    if lengths.ndim != 1 or len(lengths) == 0 or not np.issubdtype(lengths.dtype, np.integer):
        raise InputValueError(f"`lengths` must be a list of integers, not empty; got {lengths!r}. {remedy}")
    if lengths.min() < 1 or lengths.sum() != n:
        raise InputValueError(
            f"`lengths` must be positive integers that add up to {n}, the number of frames; got a sum of "
            f"{lengths.sum()}. {remedy}"
        )
    return lengths.astype(np.int64)

"""The bootstrap of whole trajectories, or of blocks if there are few trajectories.

Frames of one trajectory are correlated, but trajectories are independent. Therefore a bootstrap sample draws
whole trajectories with replacement, as many as there are. With fewer than five trajectories the samples would
hardly differ, and with one they would all be equal. Then each trajectory is cut into blocks that are longer
than the correlation time, and the blocks are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import ReadOnly, check_int, check_real, read_only

#: The smallest number of trajectories for which whole trajectories are drawn.
ENOUGH_TRAJECTORIES = 5
#: The window of the autocorrelation function, in integrated correlation times (Sokal).
_WINDOW = 5.0
#: The first lags that are tried, in frames: most correlation times are shorter. It sets only the cost.
_FIRST_LAGS = 1024


@dataclass(frozen=True, eq=False, kw_only=True)
class BootstrapUnits(ReadOnly):
    """The parts of the trajectories that a bootstrap draws as a whole.

    Attributes
    ----------
    trajectories : (U,) int64
        The trajectory that each part belongs to.
    starts, lengths : (U,) int64
        The first frame of each part within its trajectory, and its number of frames.
    block : int or None
        The length of the blocks; None if the parts are whole trajectories.

    Examples
    --------
    >>> units = bootstrap_units([10, 6], inefficiency=1.0)
    >>> units.block, units.trajectories, units.starts, units.lengths
    (3, array([0, 0, 0, 1, 1]), array([0, 3, 6, 0, 3]), array([3, 3, 4, 3, 3]))
    >>> units.draw(1, seed=0)
    array([[0, 2, 1, 1, 1]])
    """

    trajectories: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    block: int | None

    def __post_init__(self) -> None:
        for name in ("trajectories", "starts", "lengths"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.int64)))

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def words(self) -> str:
        """The units that are drawn, in words, for messages."""
        return "whole trajectories" if self.block is None else f"{len(self)} blocks of {self.block:,} frames"

    def draw(self, n_bootstrap: int, *, seed: int) -> np.ndarray:
        """Return how often each sample draws each part, (n_bootstrap, U) int64; no rows for a single part."""
        n_bootstrap, count = check_int("n_bootstrap", n_bootstrap, 0), len(self)
        drawn = np.random.default_rng(seed).integers(count, size=(n_bootstrap if count > 1 else 0, count))
        return np.array([np.bincount(each, minlength=count) for each in drawn], np.int64).reshape(-1, count)

    def per_frame(self, drawn: np.ndarray) -> np.ndarray:
        """Return how often each frame was drawn, (n,), from one row of `draw`."""
        return np.repeat(drawn, self.lengths)


def bootstrap_units(lengths: npt.ArrayLike, *, inefficiency: float) -> BootstrapUnits:
    r"""Divide trajectories into the parts that a bootstrap draws.

    Five trajectories or more are drawn whole. Fewer are cut into blocks of L = :math:`g (n/g)^{1/3}` frames,
    with g the statistical inefficiency and n the number of frames. At this rate two errors of the variance
    are of equal size: the bias from correlations across the cuts, in proportion to g/L, and the noise from
    the number of blocks (Künsch, 1989).

    Parameters
    ----------
    lengths : (T,) array of int
        The number of frames of each trajectory.
    inefficiency : float
        g, at least 1: the number of frames that carry the information of one independent frame (see
        `statistical_inefficiency`). Not used if whole trajectories are drawn.

    Returns
    -------
    BootstrapUnits
        The parts. The last block of a trajectory takes the remainder; a trajectory shorter than a block is
        one block.

    Examples
    --------
    >>> bootstrap_units([1000], inefficiency=10.0).block
    47
    >>> bootstrap_units([10] * 5, inefficiency=10.0).block is None
    True
    """
    lengths = np.asarray(lengths, np.int64)
    if len(lengths) >= ENOUGH_TRAJECTORIES:
        return BootstrapUnits(
            trajectories=np.arange(len(lengths)), starts=np.zeros_like(lengths), lengths=lengths, block=None
        )
    inefficiency, n = check_real("inefficiency", inefficiency, at_least=1), int(lengths.sum())
    block = max(1, min(int(np.ceil(inefficiency * (n / inefficiency) ** (1 / 3))), n))
    counts = np.maximum(lengths // block, 1)
    trajectories = np.repeat(np.arange(len(lengths)), counts)
    starts = np.concatenate([block * np.arange(count) for count in counts])
    sizes = np.full(len(starts), block)
    last = np.cumsum(counts) - 1
    sizes[last] = lengths - starts[last]
    return BootstrapUnits(trajectories=trajectories, starts=starts, lengths=sizes, block=block)


def statistical_inefficiency(series: Sequence[np.ndarray]) -> float:
    r"""Estimate the statistical inefficiency, the number of frames per independent frame.

    :math:`g = 1 + 2 \sum_{t=1}^{W} \rho(t)` with the autocorrelation function :math:`\rho` about the mean of
    all trajectories. The sum ends at the first W that is at least five times g/2 (the automatic window of
    Sokal, 1989), because beyond it the estimate of :math:`\rho` is noise.

    Parameters
    ----------
    series : sequence of (n_i,) or (n_i, p) arrays
        One array per trajectory. For several columns, such as the indicators of states, the result is the
        largest g.

    Returns
    -------
    float
        The statistical inefficiency, at least 1; 1 for constant columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> dwelling = np.cumsum(rng.random(50_000) < 0.05) % 2  # exact: 1 + 2 * 0.9 / (1 - 0.9) = 19
    >>> 17 < statistical_inefficiency([dwelling]) < 21
    True
    """
    columns = [np.asarray(each, np.float64).reshape(len(each), -1) for each in series]
    means = sum(each.sum(axis=0) for each in columns) / sum(map(len, columns))
    return max((_inefficiency([each[:, c] - mean for each in columns]) for c, mean in enumerate(means)))


def _inefficiency(series: Sequence[np.ndarray]) -> float:
    """Return the statistical inefficiency of one quantity with mean 0; 1 if it is constant."""
    lengths = np.array([len(each) for each in series])
    lags = _FIRST_LAGS
    while True:
        sums = _lagged_products(series, lags)[: lengths.max()]
        if sums[0] <= 1e-12 * lengths.sum():
            return 1.0
        # The number of pairs at each lag decreases because trajectories end.
        pairs = np.maximum(lengths[:, None] - np.arange(len(sums)), 0).sum(axis=0)
        rho = sums / pairs / (sums[0] / pairs[0])
        if lags >= lengths.max() or automatic_window(rho) < len(rho) - 1:
            return inefficiency_of(rho)
        lags *= 8


def _lagged_products(series: Sequence[np.ndarray], lags: int) -> np.ndarray:
    """Return the sum of x(s) x(s + t) over all s of all series, for t = 0, 1, ..., (lags,).

    Each series is cut into chunks of this length, because short Fourier transforms stay in the cache. The
    products of a chunk are those with itself and with the next chunk. In a transform of twice the length, a
    shift by one chunk changes the sign of every second coefficient.

    Examples
    --------
    >>> _lagged_products([np.array([1.0, 2.0, 3.0])], 2).round(9).tolist()
    [14.0, 8.0]
    """
    signs = 1.0 - 2.0 * (np.arange(lags + 1) % 2)
    total = np.zeros(lags + 1, np.complex128)
    for each in series:
        chunks = np.fft.rfft(np.pad(each, (0, -len(each) % lags)).reshape(-1, lags), 2 * lags)
        total += np.einsum("ck,ck->k", chunks.conj(), chunks)
        total += signs * np.einsum("ck,ck->k", chunks[:-1].conj(), chunks[1:])
    return np.fft.irfft(total, 2 * lags)[:lags]


def inefficiency_of(rho: np.ndarray) -> float:
    """Return 1 plus twice the sum of an autocorrelation function up to the automatic window, at least 1."""
    return max(1.0, float(1 + 2 * rho[1 : automatic_window(rho) + 1].sum()))


def automatic_window(rho: np.ndarray) -> int:
    """Return the first lag of at least five times the correlation time summed up to it, or the last lag.

    Examples
    --------
    >>> automatic_window(0.5 ** np.arange(100))  # the sum tends to 1/2 + 1
    8
    """
    lags = np.arange(1, len(rho))
    if len(lags) == 0:
        return 0
    enough = np.flatnonzero(lags >= _WINDOW * (0.5 + np.cumsum(rho[1:])))
    return int(lags[enough[0]]) if len(enough) else len(lags)


def interval(values: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the central interval of the rows; NaN if they are infinite or there are no rows.

    Examples
    --------
    >>> low, high = interval(np.arange(100.0)[:, None], 0.9)
    >>> float(low[0]), float(high[0])
    (4.0, 95.0)
    """
    if len(values) == 0:
        return (np.full(values.shape[1:], np.nan),) * 2
    tail = (1 - confidence) / 2
    low = np.quantile(values, tail, axis=0, method="lower")
    high = np.quantile(values, 1 - tail, axis=0, method="higher")
    return np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high)


def bootstrap_sums(counts: np.ndarray, draws: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the sum of `counts` (one row per part) over the parts of each sample."""
    return (np.tensordot(weights, counts, axes=1) for weights in draws)

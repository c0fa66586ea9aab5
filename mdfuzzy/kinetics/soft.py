"""Kinetics of the memberships themselves, without making them hard, and the VAMP-2 score of any series."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import check_finite, check_int, check_real, read_only
from mdfuzzy.features import Features
from mdfuzzy.frames import Frames
from mdfuzzy.kinetics.dtrajs import check_memberships, timestep
from mdfuzzy.kinetics.markov import check_lag, relaxation_times, time_unit
from mdfuzzy.kinetics.timescales import draw_trajectories, interval
from mdfuzzy.memberships import Memberships

#: Columns of unit size are linearly dependent if their matrix of products has an eigenvalue below this.
_SINGULAR = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class SoftModel:
    """The propagator of membership series, K = C00^-1 C0t.

    Attributes
    ----------
    lag : int
        In frames.
    matrix : (K, K) float64
        Rows sum to 1; entries may be slightly negative, for these are no transition probabilities.
    timescales : (K - 1,) float64
        Slowest first, in `unit`; NaN where an eigenvalue is not positive, infinite where it is 1 or more.
    vamp2 : float
        VAMP-2 score on the same data: 1 for the constant, and up to 1 for each process remembered over the
        lag. To compare with others use `vamp2_score`, which scores on trajectories left out.
    unit : {"ps", "frames"}
        Of the times.
    lower, upper : (K - 1,) float64 or None
        The interval of `timescales` from resampled trajectories; NaN where it is not determined.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> SoftModel = mf.kinetics.SoftModel
    >>> SoftModel(1, np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([4.48]), 1.64, "frames")
    SoftModel(2 states, lag 1 frames, slowest timescale 4.48 frames, VAMP-2 1.64)
    """

    lag: int
    matrix: np.ndarray
    timescales: np.ndarray
    vamp2: float
    unit: str
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("matrix", "timescales", "lower", "upper"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        return (
            f"SoftModel({len(self)} states, lag {self.lag} frames, slowest timescale "
            f"{self.timescales[0]:.3g} {self.unit}, VAMP-2 {self.vamp2:.3g})"
        )


@dataclass(frozen=True, eq=False)
class Vamp2Score:
    """Cross-validated VAMP-2 scores.

    Attributes
    ----------
    scores : (n_splits,) float64
        On the trajectories left out, one for each split.
    lag : int
        In frames.
    dim : int
        The number of processes that were scored, without the constant one.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.kinetics.Vamp2Score([1.8, 1.9], lag=10, dim=1)
    Vamp2Score(1.85 +- 0.05 (2 splits), 1 process at lag 10)
    """

    scores: np.ndarray
    lag: int
    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", read_only(np.asarray(self.scores, np.float64)))

    def __repr__(self) -> str:
        return (
            f"Vamp2Score({self.mean:.3g} +- {self.std:.2g} ({len(self.scores)} splits), {self.dim} "
            f"process{'es' * (self.dim != 1)} at lag {self.lag})"
        )

    @property
    def mean(self) -> float:
        """The mean over the splits."""
        return float(self.scores.mean())

    @property
    def std(self) -> float:
        """The standard deviation over the splits."""
        return float(self.scores.std())


def soft_model(
    data: Frames | Features,
    memberships: Memberships,
    *,
    lag: int,
    n_resamples: int = 50,
    confidence: float = 0.9,
    seed: int = 0,
) -> SoftModel:
    r"""Estimate how memberships propagate over a lag, without making them hard.

    With the row of memberships :math:`\mu_t` of frame :math:`t`, this is the least-squares solution of
    :math:`\mu_{t+\tau} \approx \mu_t K`, that is :math:`K = C_{00}^{-1} C_{0\tau}` with
    :math:`C_{00} = \sum_t \mu_t^T \mu_t` and :math:`C_{0\tau} = \sum_t \mu_t^T \mu_{t+\tau}`.
    (To normalise the rows of :math:`C_{0\tau}` instead would count the fuzziness itself as motion.)

    Parameters
    ----------
    data : Frames or Features
        What was clustered.
    memberships : Memberships
        Of its frames.
    lag : int
        In frames; shorter than the longest trajectory.
    n_resamples : int
        How many times whole trajectories are drawn anew for the interval; 0 for none.
    confidence : float
        The share of the resamples inside the interval.
    seed : int
        Of the random numbers.

    Returns
    -------
    SoftModel
        With times in ps if the frames are evenly spaced in a known time, else in frames.

    Examples
    --------
    Memberships that blur the two states of a chain; K is the chain's own matrix all the same.

    >>> import numpy as np, mdfuzzy as mf
    >>> state = np.cumsum(np.random.default_rng(0).random(200_000) < 0.01) % 2
    >>> values = np.where(state[:, None] == [0, 1], 0.8, 0.2)
    >>> memberships = mf.Memberships(values, np.zeros(len(values)), 2.0, np.zeros(len(values)), 1.0)
    >>> model = mf.kinetics.soft_model(mf.Features(values), memberships, lag=1)
    >>> bool(abs(np.linalg.eigvals(model.matrix).min() - 0.98) < 0.002)
    True
    """
    check_memberships(data, memberships)
    unit, scale = time_unit(timestep(data))
    series = data.split(memberships.values)
    lag = check_lag(lag, series)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    if memberships.values.shape[1] < 2:
        raise ValueError("`memberships` must be of at least 2 states; got 1. One state has no kinetics.")
    moments = _moments(series, lag)
    everything = moments.sum(axis=0)
    matrix = _propagator(everything)
    if matrix is None:
        raise ValueError(
            f"`memberships` must be linearly independent over the frames that have another {lag} frames "
            "later; they are not. Take a shorter lag, or fewer states."
        )
    draws = draw_trajectories(len(series), n_resamples, seed)
    drawn = [_drawn_timescales(np.tensordot(each, moments, axes=1), lag) for each in draws]
    low, high = interval(np.array(drawn).reshape(len(draws), len(matrix) - 1), confidence)
    timescales = scale * relaxation_times(_eigenvalues(matrix), lag)
    return SoftModel(
        lag, matrix, timescales, _vamp2(everything, everything, len(matrix)), unit, scale * low, scale * high
    )


def vamp2_score(
    series: Sequence[np.ndarray],
    *,
    lag: int,
    dim: int | None = None,
    n_splits: int = 20,
    train_share: float = 0.5,
    seed: int = 0,
) -> Vamp2Score:
    """Score how much of the slow dynamics is in a series: memberships, discrete trajectories or any features.

    The slowest processes are fitted on some of the trajectories and scored on the others, so that a series
    with more columns does not win by fitting noise. What made the series (a clustering, say) is not
    fitted again. Equal numbers of trajectories and seeds give equal splits, so that the scores of two series
    can be compared split by split.

    Parameters
    ----------
    series : sequence of (n_i, d) arrays, or of (n_i,) int arrays
        One per trajectory, at least two: ``data.split(memberships.values)``, or discrete trajectories,
        which count as one indicator per state (none where they are -1).
    lag : int
        In frames.
    dim : int, optional
        How many processes to score, besides the constant one; all by default. Compare at the same `dim`.
    n_splits : int
        How many times the trajectories are divided at random.
    train_share : float
        The share of the trajectories that the processes are fitted on.
    seed : int
        Of the random numbers.

    Returns
    -------
    Vamp2Score
        Between 1 and ``1 + dim``, larger is better.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> score = mf.kinetics.vamp2_score(dtrajs, lag=10)
    >>> bool(abs(score.mean - (1 + 0.98**20)) < 0.05)
    True
    """
    series = _check_series(series)
    lag = check_lag(lag, series)
    n_splits = check_int("n_splits", n_splits, 1)
    train_share = check_real("train_share", train_share, above=0, at_most=1)
    series = [np.column_stack([np.ones(len(part)), part]) for part in series]
    columns = series[0].shape[1]
    dim = columns - 1 if dim is None else check_int("dim", dim, 1)
    moments = _moments(series, lag)
    rng = np.random.default_rng(seed)
    n_train = min(max(1, round(train_share * len(series))), len(series) - 1)
    scores = []
    for _ in range(n_splits):
        order = rng.permutation(len(series))
        train, test = (moments[each].sum(axis=0) for each in (order[:n_train], order[n_train:]))
        scores.append(_vamp2(train, test, dim + 1))
    return Vamp2Score(np.array(scores), lag, min(dim, columns - 1))


def _moments(series: Sequence[np.ndarray], lag: int) -> np.ndarray:
    """Return sums of products of the rows of every trajectory, (trajectories, 3, d, d): C00, C0t, Ctt."""
    d = series[0].shape[1]
    moments = np.zeros((len(series), 3, d, d))
    for sums, part in zip(moments, series, strict=True):
        if len(part) > lag:
            now, later = part[:-lag], part[lag:]
            sums[:] = now.T @ now, now.T @ later, later.T @ later
    return moments


def _propagator(moments: np.ndarray) -> np.ndarray | None:
    """Return C00^-1 C0t; None if C00 is singular."""
    c00, c0t, _ = moments
    size = np.sqrt(np.diag(c00))
    if not size.all() or np.linalg.eigvalsh(c00 / np.outer(size, size))[0] < _SINGULAR:
        return None
    return np.linalg.solve(c00, c0t)


def _eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """Return the eigenvalues without that of the constant, largest first."""
    values = np.linalg.eigvals(matrix)
    constant = np.abs(values - 1.0).argmin()
    values = np.delete(values, constant)
    return values[np.argsort(-np.abs(values))]


def _drawn_timescales(moments: np.ndarray, lag: int) -> np.ndarray:
    """Return timescales in frames: 0 for eigenvalues that are not positive, infinite if C00 is singular."""
    matrix = _propagator(moments)
    if matrix is None:
        return np.full(moments.shape[-1] - 1, np.inf)
    return np.nan_to_num(relaxation_times(_eigenvalues(matrix), lag), posinf=np.inf)


def _vamp2(train: np.ndarray, test: np.ndarray, dim: int) -> float:
    """Return the VAMP-2 score on `test` of the first `dim` singular functions of `train`."""
    c00, c0t, ctt = train
    left, right = _whitener(c00), _whitener(ctt)
    u, _, v = np.linalg.svd(left.T @ c0t @ right)
    u, v = left @ u[:, :dim], right @ v[:dim].T
    c00, c0t, ctt = test
    correlation = _whitener(u.T @ c00 @ u).T @ u.T @ c0t @ v @ _whitener(v.T @ ctt @ v)
    return float(np.sum(correlation**2))


def _whitener(matrix: np.ndarray) -> np.ndarray:
    """Return L with L^T matrix L = 1, without the directions in which the matrix is singular."""
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    size = np.where(size > 0, size, np.inf)
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    kept = values > _SINGULAR * max(1.0, values[-1])
    return vectors[:, kept] / np.sqrt(values[kept]) / size[:, None]


def _check_series(series: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return one (n_i, d) array per trajectory; discrete trajectories become indicators."""
    if isinstance(series, np.ndarray) or not isinstance(series, Sequence) or len(series) < 2:
        raise TypeError(
            f"`series` must be a list with one array per trajectory, at least two; got "
            f"{type(series).__name__}. `data.split(memberships.values)` is one."
        )
    parts = [np.asarray(part) for part in series]
    if all(part.ndim == 1 and np.issubdtype(part.dtype, np.integer) for part in parts):
        states = np.arange(max(part.max(initial=-1) for part in parts) + 1)
        parts = [part[:, None] == states for part in parts]
    parts = [np.asarray(part, np.float64) for part in parts]
    if any(part.ndim != 2 or 0 in part.shape or part.shape[1] != parts[0].shape[1] for part in parts):
        raise ValueError(
            "`series` must hold (frames, columns) arrays with the same number of columns, or 1-D arrays of "
            f"int, none empty; got shapes {[part.shape for part in parts][:6]}."
        )
    for part in parts:
        check_finite("series", part)
    return parts

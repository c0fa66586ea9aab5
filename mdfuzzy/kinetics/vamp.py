"""Cross-validated VAMP-2 scores: the amount of slow dynamics in a series."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import (
    InputTypeError,
    InputValueError,
    ReadOnly,
    check_finite,
    check_int,
    check_real,
    read_only,
)
from mdfuzzy.kinetics.markov import check_lag

#: Columns of unit size are linearly dependent if their matrix of products has an eigenvalue below this.
SINGULAR = 1e-10


@dataclass(frozen=True, eq=False)
class Vamp2Score(ReadOnly):
    """Hold cross-validated VAMP-2 scores.

    Attributes
    ----------
    scores : (n_splits,) float64
        The scores on the trajectories left out, one for each split.
    lag : int
        In frames.
    dim : int
        The number of processes that were scored, without the constant one.

    See Also
    --------
    kinetics.vamp2_score : Compute the score.

    References
    ----------
    * H. Wu and F. Noé, *Variational Approach for Learning Markov Processes from Time Series Data*, J.
      Nonlinear Sci. 30 (2020) 23-66.
    * R. T. McGibbon and V. S. Pande, *Variational Cross-Validation of Slow Dynamical Modes in Molecular
      Kinetics*, J. Chem. Phys. 142 (2015) 124105.

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


def vamp2_score(
    series: Sequence[np.ndarray],
    *,
    lag: int,
    dim: int | None = None,
    n_splits: int = 20,
    train_share: float = 0.5,
    seed: int = 0,
) -> Vamp2Score:
    """Score the slow dynamics in a series: memberships, discrete trajectories or any features.

    The slowest processes are fitted on some of the trajectories and scored on the others, so that a series
    with more columns does not win by fitting noise. The model that made the series, such as a clustering, is
    not fitted again. The splits depend only on the number of trajectories and the seed, so the scores of two
    series can be compared split by split.

    Parameters
    ----------
    series : sequence of (n_i, d) arrays, or of (n_i,) int arrays
        One per trajectory, at least two: ``data.split(memberships.values)``, or discrete trajectories,
        which count as one indicator per state (none where they are -1).
    lag : int
        In frames.
    dim : int, optional
        The number of processes to score, without the constant one; all by default. Compare at the same `dim`.
    n_splits : int
        The number of random divisions of the trajectories.
    train_share : float
        The fraction of the trajectories on which the processes are fitted.
    seed : int
        Random seed of the divisions.

    Returns
    -------
    Vamp2Score
        Between 1 and ``1 + dim``, larger is better.

    Raises
    ------
    TypeError
        If `series` is no list of arrays, one per trajectory.
    ValueError
        If the arrays are empty or differ in their number of columns.

    See Also
    --------
    kinetics.soft_model : The model of fuzzy memberships.
    kinetics.markov_model : The model of discrete trajectories.

    References
    ----------
    * H. Wu and F. Noé, *Variational Approach for Learning Markov Processes from Time Series Data*, J.
      Nonlinear Sci. 30 (2020) 23-66.
    * R. T. McGibbon and V. S. Pande, *Variational Cross-Validation of Slow Dynamical Modes in Molecular
      Kinetics*, J. Chem. Phys. 142 (2015) 124105.

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
    moments = time_lagged_moments(series, lag)
    independent = _whitener(moments[:, 0].sum(axis=0)).shape[1] - 1
    dim = independent if dim is None else min(check_int("dim", dim, 1), independent)
    rng = np.random.default_rng(seed)
    n_train = min(max(1, round(train_share * len(series))), len(series) - 1)
    scores = []
    for _ in range(n_splits):
        order = rng.permutation(len(series))
        train, test = (moments[each].sum(axis=0) for each in (order[:n_train], order[n_train:]))
        scores.append(vamp2(train, test, dim + 1))
    return Vamp2Score(np.array(scores), lag, dim)


def time_lagged_moments(series: Sequence[np.ndarray], lag: int) -> np.ndarray:
    """Return sums of products of the rows of every trajectory, (trajectories, 3, d, d): C00, C0t, Ctt."""
    d = series[0].shape[1]
    moments = np.zeros((len(series), 3, d, d))
    for sums, part in zip(moments, series, strict=True):
        if len(part) > lag:
            now, later = part[:-lag], part[lag:]
            sums[:] = now.T @ now, now.T @ later, later.T @ later
    return moments


def vamp2(train: np.ndarray, test: np.ndarray, dim: int) -> float:
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
    kept = values > SINGULAR * max(1.0, values[-1])
    return vectors[:, kept] / np.sqrt(values[kept]) / size[:, None]


def _check_series(series: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return one (n_i, d) array per trajectory; discrete trajectories become indicators."""
    if isinstance(series, np.ndarray) or not isinstance(series, Sequence) or len(series) < 2:
        raise InputTypeError(
            f"`series` must be a list with one array per trajectory, at least two; got "
            f"{type(series).__name__}. `data.split(memberships.values)` is one."
        )
    parts = [np.asarray(part) for part in series]
    if all(part.ndim == 1 and np.issubdtype(part.dtype, np.integer) for part in parts):
        states = np.arange(max(part.max(initial=-1) for part in parts) + 1)
        parts = [part[:, None] == states for part in parts]
    parts = [np.asarray(part, np.float64) for part in parts]
    if any(part.ndim != 2 or 0 in part.shape or part.shape[1] != parts[0].shape[1] for part in parts):
        raise InputValueError(
            "`series` must hold (frames, columns) arrays with the same number of columns, or 1-D arrays of "
            f"int, none empty; got shapes {[part.shape for part in parts][:6]}."
        )
    for part in parts:
        check_finite("series", part)
    return parts

"""The soft model: kinetics of the memberships themselves, without hard assignment."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_real, read_only
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics._bootstrap_counts import bootstrap_sums, draw_units, interval, lagged_parts, units_of
from mdfuzzy.kinetics.dtrajs import check_memberships, check_unbiased, timestep
from mdfuzzy.kinetics.markov import check_lag, relaxation_times, unit_of_times
from mdfuzzy.kinetics.vamp import SINGULAR, time_lagged_moments, vamp2
from mdfuzzy.memberships.memberships import Memberships


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SoftModel(ReadOnly):
    """Hold the propagator of membership series, K = C00^-1 C0t.

    Attributes
    ----------
    lag : int
        In frames.
    matrix : (K, K) float64
        The propagator. Rows sum to 1; entries may be slightly negative, because they are not transition
        probabilities.
    timescales : (K - 1,) float64
        Slowest first, in `unit`; NaN where an eigenvalue is not positive, infinite where it is 1 or more.
    vamp2 : float
        VAMP-2 score on the same data: 1 for the constant, and up to 1 for each process remembered over the
        lag. To compare with others use `vamp2_score`, which scores on trajectories left out.
    unit : {"ps", "frames"}
        Of the times.
    lower, upper : (K - 1,) float64 or None
        The interval of `timescales` from a bootstrap over trajectories; NaN where it is not determined.

    See Also
    --------
    kinetics.soft_model : Estimate a model.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> SoftModel = mf.kinetics.SoftModel
    >>> SoftModel(
    ...     lag=1, matrix=np.array([[0.9, 0.1], [0.1, 0.9]]), timescales=np.array([4.48]),
    ...     vamp2=1.64, unit="frames"
    ... )
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


def soft_model(
    data: Trajectories,
    memberships: Memberships,
    *,
    lag: int,
    n_bootstrap: int = 50,
    confidence: float = 0.9,
    seed: int = 0,
) -> SoftModel:
    r"""Estimate the propagator of memberships over a lag, without hard assignment.

    With the row of memberships :math:`\mu_t` of frame :math:`t`, this is the least-squares solution of
    :math:`\mu_{t+\tau} \approx \mu_t K`, that is :math:`K = C_{00}^{-1} C_{0\tau}` with :math:`C_{00} =
    \sum_t \mu_t^T \mu_t` and :math:`C_{0\tau} = \sum_t \mu_t^T \mu_{t+\tau}`. (Normalising the rows of
    :math:`C_{0\tau}` instead would count the fuzziness itself as motion.)

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    memberships : Memberships
        Of its frames.
    lag : int
        In frames; shorter than the longest trajectory.
    n_bootstrap : int
        Number of bootstrap samples for the intervals; 0 for none. Five trajectories or more are drawn whole,
        fewer are cut into blocks.
    confidence : float
        The fraction of the bootstrap samples inside the interval.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    SoftModel
        The model, with times in ps if the frames are evenly spaced with a known timestep, else in frames.

    Raises
    ------
    ValueError
        If there is one state only, or the memberships are not linearly independent at this lag.

    See Also
    --------
    kinetics.markov_model : The model of discrete trajectories.
    kinetics.vamp2_score : Compare models.

    Examples
    --------
    Memberships that blur the two states of a chain; K is the chain's own matrix all the same.

    >>> import numpy as np, mdfuzzy as mf
    >>> state = np.cumsum(np.random.default_rng(0).random(200_000) < 0.01) % 2
    >>> values = np.where(state[:, None] == [0, 1], 0.8, 0.2)
    >>> memberships = mf.Memberships(
    ...     values=values, lost=np.zeros(len(values)), beta=2.0, log_weights=np.zeros(len(values)),
    ...     exponent=1.0
    ... )
    >>> model = mf.kinetics.soft_model(mf.Features(values), memberships, lag=1)
    >>> bool(abs(np.linalg.eigvals(model.matrix).min() - 0.98) < 0.002)
    True
    """
    check_unbiased(data)
    check_memberships(data, memberships)
    unit, scale = unit_of_times(timestep(data))
    series = data.split(memberships.values)
    lag = check_lag(lag, series)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    if memberships.values.shape[1] < 2:
        raise InputValueError("`memberships` must be of at least 2 states; got 1. One state has no kinetics.")
    units = units_of(series)
    moments = time_lagged_moments(lagged_parts(units, series, lag), lag)
    everything = moments.sum(axis=0)
    matrix = _propagator(everything)
    if matrix is None:
        raise InputValueError(
            f"`memberships` must be linearly independent over the frames that have another {lag} frames "
            "later; they are not. Take a shorter lag, or fewer states."
        )
    draws = draw_units(units, n_bootstrap, seed)
    drawn = [_drawn_timescales(each, lag) for each in bootstrap_sums(moments, draws)]
    low, high = interval(np.array(drawn).reshape(len(draws), len(matrix) - 1), confidence)
    timescales = scale * relaxation_times(_eigenvalues(matrix), lag)
    return SoftModel(
        lag=lag,
        matrix=matrix,
        timescales=timescales,
        vamp2=vamp2(everything, everything, len(matrix)),
        unit=unit,
        lower=scale * low,
        upper=scale * high,
    )


def _propagator(moments: np.ndarray) -> np.ndarray | None:
    """Return C00^-1 C0t; None if C00 is singular."""
    c00, c0t, _ = moments
    size = np.sqrt(np.diag(c00))
    if not size.all() or np.linalg.eigvalsh(c00 / np.outer(size, size))[0] < SINGULAR:
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

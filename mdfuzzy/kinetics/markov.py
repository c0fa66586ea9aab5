"""Markov state models of discrete trajectories, estimated by deeptime, with times in physical units."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError, ReadOnly, check_int, check_real, read_only
from mdfuzzy._messages import warn_user
from mdfuzzy.kinetics.dtrajs import Milestoned

if TYPE_CHECKING:
    from deeptime.markov.msm import MarkovStateModel


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MarkovModel(ReadOnly):
    """Hold a reversible Markov state model of the states that are connected in both directions.

    Attributes
    ----------
    lag : int
        In frames.
    timestep : float or None
        Time between frames in ps, if known.
    unit : {"ps", "frames"}
        The unit of `timescales` and `mfpt`.
    states : (K,) int64
        The states of the rows and columns: the connected set with the most counts.
    count_matrix : (K, K) float64
        The counts of all pairs of frames one lag apart (a sliding window).
    transition_matrix : (K, K) float64
        The maximum-likelihood transition matrix with detailed balance.
    stationary : (K,) float64
        The population of each state in equilibrium.
    timescales : (K - 1,) float64
        Relaxation times, slowest first; NaN where an eigenvalue is not positive.
    mfpt : (K, K) float64
        Mean first-passage time from the state of the row to the state of the column; 0 on the diagonal.
    deeptime : MarkovStateModel
        The same model as an object of deeptime, with all its methods; its times are in frames.

    See Also
    --------
    kinetics.markov_model : Estimate a model.

    References
    ----------
    * J.-H. Prinz et al., *Markov Models of Molecular Kinetics: Generation and Validation*, J. Chem. Phys. 134
      (2011) 174105.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> model = mf.kinetics.markov_model([np.array([0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0])], lag=1)
    >>> model
    MarkovModel(2 states, lag 1 frames, slowest timescale 0.558 frames)
    >>> model.mfpt
    array([[0., 3.],
           [2., 0.]])
    """

    lag: int
    timestep: float | None
    unit: str
    states: np.ndarray
    count_matrix: np.ndarray
    transition_matrix: np.ndarray
    stationary: np.ndarray
    timescales: np.ndarray
    mfpt: np.ndarray
    deeptime: "MarkovStateModel" = field(default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", read_only(np.asarray(self.states, np.int64)))
        for name in ("count_matrix", "transition_matrix", "stationary", "timescales", "mfpt"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        lag = self.lag * (self.timestep or 1)
        return (
            f"MarkovModel({len(self)} states, lag {lag:.3g} {self.unit}, "
            f"slowest timescale {self.timescales[0]:.3g} {self.unit})"
        )


def markov_model(
    dtrajs: Sequence[np.ndarray] | Milestoned, *, lag: int, timestep: float | None = None
) -> MarkovModel:
    """Estimate a Markov state model from discrete trajectories.

    Parameters
    ----------
    dtrajs : Milestoned, or sequence of (n_i,) int arrays
        One array of states per trajectory, none negative: `milestoned_dtrajs` or `hard_dtrajs`.
    lag : int
        The lag of the model, in frames; shorter than the longest trajectory.
    timestep : float, optional
        Time between frames in ps (`timestep(data)`); without it all times are in frames.

    Returns
    -------
    MarkovModel

    Raises
    ------
    ValueError
        If every trajectory is too short for the lag, or no two states are connected in both directions.

    Warns
    -----
    UserWarning
        If states are left out, because the trajectories do not connect them with the others in both
        directions.

    See Also
    --------
    kinetics.milestoned_dtrajs : Discrete trajectories with few recrossings.
    kinetics.implied_timescales : Choose the lag.
    kinetics.chapman_kolmogorov : Test the model.
    validate_model : Run all these tests in one call.

    References
    ----------
    * J.-H. Prinz et al., *Markov Models of Molecular Kinetics: Generation and Validation*, J. Chem. Phys. 134
      (2011) 174105.
    * N.-V. Buchete and G. Hummer, *Coarse Master Equations for Peptide Folding Dynamics*, J. Phys. Chem. B
      112 (2008) 6057-6069.
    * C. Schütte, F. Noé, J. Lu, M. Sarich and E. Vanden-Eijnden, *Markov State Models Based on Milestoning*,
      J. Chem. Phys. 134 (2011) 204105.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> steps = np.random.default_rng(0).random(100_000) < 0.01  # leaves a state once in 100 frames
    >>> model = mf.kinetics.markov_model([np.cumsum(steps) % 2], lag=1, timestep=0.5)
    >>> model.stationary.round(1), model.unit
    (array([0.5, 0.5]), 'ps')
    >>> bool(abs(model.timescales[0] / (-0.5 / np.log(0.98)) - 1) < 0.1)
    True
    """
    dtrajs = check_dtrajs(dtrajs)
    lag = check_lag(lag, dtrajs)
    unit, scale = unit_of_times(timestep)
    counts = sum(pair_counts(dtrajs, lag))
    model = connected_model(counts, lag)
    states = model.count_model.state_symbols
    left_out = np.setdiff1d(np.flatnonzero(np.bincount(np.concatenate(dtrajs))), states)
    if len(left_out):
        warn_user(
            f"The trajectories do not connect all states in both directions at lag {lag}: the model leaves "
            f"out {', '.join(map(str, left_out))}."
        )
    from deeptime.markov.tools.analysis import mfpt

    matrix = model.transition_matrix
    passage = np.column_stack([mfpt(matrix, target, tau=lag) for target in range(len(states))])
    return MarkovModel(
        lag=lag,
        timestep=None if timestep is None else scale,
        unit=unit,
        states=states,
        count_matrix=model.count_model.count_matrix,
        transition_matrix=matrix,
        stationary=model.stationary_distribution,
        timescales=scale * relaxation_times(model.eigenvalues()[1:], lag),
        mfpt=scale * passage,
        deeptime=model,
    )


def pair_counts(dtrajs: list[np.ndarray], lag: int) -> np.ndarray:
    """Return for every trajectory how often each pair of states is one lag apart, (trajectories, K, K).

    Examples
    --------
    >>> pair_counts([np.array([0, 1, 1])], 1)
    array([[[0, 1],
            [0, 1]]])
    """
    states = max(int(dtraj.max()) for dtraj in dtrajs) + 1
    counts = np.zeros((len(dtrajs), states**2), np.int64)
    for row, dtraj in zip(counts, dtrajs, strict=True):
        if len(dtraj) > lag:
            row += np.bincount(dtraj[:-lag].astype(np.int64) * states + dtraj[lag:], minlength=states**2)
    return counts.reshape(len(dtrajs), states, states)


def estimate(counts: np.ndarray, lag: int, *, reversible: bool = True) -> "MarkovStateModel | None":
    """Return deeptime's model of the connected set with the most counts; None for one state."""
    from deeptime.markov import TransitionCountModel
    from deeptime.markov.msm import MaximumLikelihoodMSM

    model = TransitionCountModel(counts.astype(np.float64), counting_mode="sliding", lagtime=lag)
    connected = model.submodel_largest(sort_by_population=True)
    if connected.n_states < 2:
        return None
    return MaximumLikelihoodMSM(reversible=reversible).fit_fetch(connected)


def connected_model(counts: np.ndarray, lag: int) -> "MarkovStateModel":
    """Return the model of `estimate`, or raise if there is none."""
    model = estimate(counts, lag)
    if model is None:
        seen = np.count_nonzero(counts.sum(axis=0) + counts.sum(axis=1))
        raise InputValueError(
            f"`dtrajs` must connect at least two states, in both directions, at lag {lag}; got {seen} "
            f"state{'s' if seen > 1 else ''} of which no two are connected. Longer or more trajectories are "
            "needed, a shorter lag, or larger cores."
        )
    return model


def relaxation_times(eigenvalues: np.ndarray, lag: float) -> np.ndarray:
    """Return -lag / log(eigenvalue): infinite from 1 on, NaN where the real part is not positive.

    Examples
    --------
    >>> relaxation_times(np.array([1.0, np.exp(-0.5), -0.1]), 2)
    array([inf,  4., nan])
    """
    size, positive = np.abs(eigenvalues), np.real(eigenvalues) > 0
    times = -lag / np.log(np.where(positive & (size < 1), size, 0.5))
    return np.where(positive, np.where(size < 1, times, np.inf), np.nan)


def check_dtrajs(dtrajs: Sequence[np.ndarray] | Milestoned) -> list[np.ndarray]:
    """Return discrete trajectories as a list of arrays, or raise."""
    if isinstance(dtrajs, Milestoned):
        return dtrajs.dtrajs
    remedy = "`milestoned_dtrajs` and `hard_dtrajs` make such lists."
    if isinstance(dtrajs, np.ndarray) or not isinstance(dtrajs, Sequence) or len(dtrajs) == 0:
        raise InputTypeError(
            f"`dtrajs` must be a list with one array of states per trajectory; got "
            f"{type(dtrajs).__name__}. {remedy}"
        )
    arrays = [np.asarray(dtraj) for dtraj in dtrajs]
    for number, array in enumerate(arrays):
        if array.ndim != 1 or len(array) == 0 or not np.issubdtype(array.dtype, np.integer):
            raise InputTypeError(
                f"`dtrajs` must hold 1-D arrays of int, none empty; got shape {array.shape} of {array.dtype} "
                f"as number {number}. {remedy}"
            )
        if array.min() < 0:
            raise InputValueError(
                f"`dtrajs` must hold states from 0 on; got {array.min()} in number {number}. With -1 outside "
                "the cores use `milestoned_dtrajs`."
            )
    return arrays


def check_lag(lag: int, parts: Sequence[np.ndarray], name: str = "lag") -> int:
    """Return a lag that at least one of the trajectories is longer than, or raise."""
    longest = max(map(len, parts))
    remedy = f"The longest of {len(parts)} trajectories has {longest} frames."
    return check_int(name, lag, 1, max(1, longest - 1), remedy=remedy)


def unit_of_times(timestep: float | None) -> tuple[str, float]:
    """Return the unit of times and the time between frames in it."""
    if timestep is None:
        return "frames", 1.0
    return "ps", check_real("timestep", timestep, above=0)

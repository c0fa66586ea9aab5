"""Equilibrium properties of the states from a Markov model: populations, free energies, passage times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import ReadOnly, check_int, check_real, read_only
from mdfuzzy._messages import duration, time_span
from mdfuzzy.frames.bootstrap import (
    ENOUGH_TRAJECTORIES,
    BootstrapUnits,
    bootstrap_units,
    interval,
    statistical_inefficiency,
)
from mdfuzzy.kinetics.dtrajs import Milestoned
from mdfuzzy.kinetics.markov import (
    check_dtrajs,
    check_lag,
    connected_model,
    estimate,
    pair_counts,
    relaxation_times,
    unit_of_times,
)

if TYPE_CHECKING:
    from deeptime.markov.msm import MarkovStateModel

_TABLES = ("populations", "free_energies", "mfpt", "timescales")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Equilibrium(ReadOnly):
    """Hold equilibrium populations and passage times by a Markov model, with bootstrap intervals.

    A limit of an interval is NaN if bootstrap samples lack the transitions that determine it.

    Attributes
    ----------
    states : (K,) int64
        The states that the trajectories connect in both directions. All other attributes are in their order.
    populations, populations_low, populations_high : (K,) float64
        The probability of each state in equilibrium.
    free_energies, free_energies_low, free_energies_high : (K,) float64
        Free energies relative to the most populated state, in kT.
    mfpt, mfpt_low, mfpt_high : (K, K) float64
        Mean first-passage times from the state of the row to the state of the column, in `unit`.
    timescales, timescales_low, timescales_high : (K - 1,) float64
        Relaxation times, slowest first, in `unit`; NaN where an eigenvalue is not positive.
    lag_time : float
        The lag time of the model, in `unit`.
    unit : str
        "ps" or "frames".
    n_bootstrap : int
        The number of bootstrap samples.
    confidence : float
        The confidence level of the intervals.
    drawn : str
        The units that the bootstrap drew, in words; empty without a bootstrap.

    See Also
    --------
    kinetics.estimate_equilibrium : Compute the estimates.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> steps = np.random.default_rng(0).random((8, 5000)) < 0.01
    >>> found = mf.kinetics.estimate_equilibrium(list(np.cumsum(steps, axis=1) % 2), lag=1)
    >>> found
    Equilibrium(2 states, lag 1 frames, intervals from 200 samples of whole trajectories)
    >>> bool(found.populations_low[0] < 0.5 < found.populations_high[0])
    True
    """

    states: np.ndarray
    populations: np.ndarray
    populations_low: np.ndarray
    populations_high: np.ndarray
    free_energies: np.ndarray
    free_energies_low: np.ndarray
    free_energies_high: np.ndarray
    mfpt: np.ndarray
    mfpt_low: np.ndarray
    mfpt_high: np.ndarray
    timescales: np.ndarray
    timescales_low: np.ndarray
    timescales_high: np.ndarray
    lag_time: float
    unit: str
    n_bootstrap: int
    confidence: float
    drawn: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", read_only(np.asarray(self.states, np.int64)))
        for name in (f"{table}{side}" for table in _TABLES for side in ("", "_low", "_high")):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        how = f"intervals from {self.n_bootstrap} samples of {self.drawn}" if self.drawn else "no intervals"
        return f"Equilibrium({len(self)} states, lag {duration(self.lag_time, self.unit)}, {how})"

    def __str__(self) -> str:
        lines = [f"mean first-passage times, lag time {duration(self.lag_time, self.unit)}"]
        lines.append(f"{'from':>5}{'to':>5}{'time':>12}   interval")
        for row, start in enumerate(self.states.tolist()):
            for column, end in enumerate(self.states.tolist()):
                if row != column:
                    value, low, high = (
                        float(each[row, column]) for each in (self.mfpt, self.mfpt_low, self.mfpt_high)
                    )
                    words = f"{duration(value, self.unit):>12}   {time_span(low, high, self.unit)}"
                    lines.append(f"{start:>5}{end:>5}{words}")
        return "\n".join(lines)


def estimate_equilibrium(
    dtrajs: Sequence[np.ndarray] | Milestoned,
    *,
    lag: int,
    timestep: float | None = None,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> Equilibrium:
    """Estimate equilibrium populations, free energies and mean first-passage times by a Markov model.

    The bootstrap draws whole trajectories. Fewer than five trajectories are cut into blocks that are long
    compared with their correlation time. A pair of frames one lag apart belongs to the block of its first
    frame.

    Parameters
    ----------
    dtrajs : Milestoned, or sequence of (n_i,) int arrays
        One array of states per trajectory, none negative.
    lag : int
        Lag time of the model in frames.
    timestep : float, optional
        Time between frames in ps; without it all times are in frames.
    n_bootstrap : int
        Number of bootstrap samples; 0 for no intervals.
    confidence : float
        The confidence level of the intervals.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Equilibrium

    Raises
    ------
    ValueError
        If every trajectory is too short for the lag, or no two states are connected in both directions.

    See Also
    --------
    kinetics.markov_model : The model itself.
    kinetics.find_pathways : Fluxes and pathways between two states.
    validate_model : Test whether a Markov model is valid, and at which lag time.

    References
    ----------
    * J.-H. Prinz et al., *Markov Models of Molecular Kinetics: Generation and Validation*, J. Chem. Phys. 134
      (2011) 174105.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> steps = np.random.default_rng(0).random((8, 20_000)) < 0.01  # leaves a state once in 100 frames
    >>> found = mf.kinetics.estimate_equilibrium(list(np.cumsum(steps, axis=1) % 2), lag=1, timestep=2.0)
    >>> found.populations.round(1), found.unit
    (array([0.5, 0.5]), 'ps')
    >>> bool(found.mfpt_low[0, 1] < 200 < found.mfpt_high[0, 1])
    True
    """
    dtrajs, unit, scale = check_dtrajs(dtrajs), *unit_of_times(timestep)
    lag = check_lag(lag, dtrajs)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    model, states, drawn, words = bootstrap_models(dtrajs, lag, n_bootstrap=n_bootstrap, seed=seed)
    number = len(states)
    values = _numbers(model, np.arange(number), number, lag, scale)
    reference = int(values["populations"].argmax())
    samples = {name: [] for name in values}  # type: dict[str, list[np.ndarray]]
    count = 0
    for found in drawn:
        count += 1
        numbers = _lost(number) if found is None else _numbers(found, _places(found), number, lag, scale)
        for name, each in numbers.items():
            samples[name].append(each)
    tables: dict[str, np.ndarray] = {}
    values["free_energies"] = _free_energies(values["populations"], reference)
    samples["free_energies"] = [_free_energies(each, reference) for each in samples["populations"]]
    for name, value in values.items():
        low, high = interval(np.array(samples[name]).reshape(-1, *value.shape), confidence)
        tables |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return Equilibrium(
        states=states,
        **tables,
        lag_time=scale * lag,
        unit=unit,
        n_bootstrap=count,
        confidence=confidence,
        drawn=words if count else "",
    )


def bootstrap_models(
    dtrajs: list[np.ndarray], lag: int, *, n_bootstrap: int, seed: int
) -> "tuple[MarkovStateModel, np.ndarray, Iterator[MarkovStateModel | None], str]":
    """Return a model, its states, the models of bootstrap samples of these states, and what was drawn.

    A sample that connects no two states is None. The states of a sample are places among those of the model.
    """
    check_int("n_bootstrap", n_bootstrap, 0)
    model = connected_model(pair_counts(dtrajs, lag).sum(axis=0), lag)
    states = model.count_model.state_symbols
    units = _units(dtrajs, states)
    draws = units.draw(n_bootstrap, seed=seed)
    counts = _counts(dtrajs, lag, units)[:, states][:, :, states] if len(draws) else np.zeros((0, 0, 0))
    drawn = (estimate(np.tensordot(weights, counts, axes=1), lag) for weights in draws)
    return model, states, drawn, units.words


def _units(dtrajs: list[np.ndarray], states: np.ndarray) -> BootstrapUnits:
    """Return the units of the bootstrap: trajectories, or blocks if there are few trajectories."""
    lengths, inefficiency = [len(each) for each in dtrajs], 1.0
    if len(dtrajs) < ENOUGH_TRAJECTORIES:
        inefficiency = max(
            statistical_inefficiency([np.asarray(each == state, np.float32) for each in dtrajs])
            for state in states
        )
    return bootstrap_units(lengths, inefficiency=inefficiency)


def _counts(dtrajs: list[np.ndarray], lag: int, units: BootstrapUnits) -> np.ndarray:
    """Return the counts of pairs of states one lag apart, by the unit of the first frame, (U, K, K)."""
    if units.block is None:
        return pair_counts(dtrajs, lag)
    number = max(int(dtraj.max()) for dtraj in dtrajs) + 1
    counts = np.zeros((len(units), number, number), np.int64)
    for unit, (trajectory, start, length) in enumerate(
        zip(units.trajectories.tolist(), units.starts.tolist(), units.lengths.tolist(), strict=True)
    ):
        part = dtrajs[trajectory][start : start + length + lag].astype(np.int64)
        if len(part) > lag:
            codes = part[:-lag] * number + part[lag:]
            counts[unit] = np.bincount(codes, minlength=number**2).reshape(number, number)
    return counts


def _places(model: "MarkovStateModel") -> np.ndarray:
    return np.asarray(model.count_model.state_symbols)


def _numbers(
    model: "MarkovStateModel", places: np.ndarray, number: int, lag: int, scale: float
) -> dict[str, np.ndarray]:
    """Return populations, passage times and timescales of a model of some of the states.

    A state that is not connected has population 0, and infinite passage times from and to it.
    """
    from deeptime.markov.tools.analysis import mfpt

    numbers = _lost(number)
    matrix = model.transition_matrix
    numbers["populations"][places] = model.stationary_distribution
    passage = np.column_stack([mfpt(matrix, target, tau=lag) for target in range(len(places))])
    numbers["mfpt"][np.ix_(places, places)] = scale * passage
    times = scale * relaxation_times(model.eigenvalues()[1:], lag)
    numbers["timescales"][number - len(places) :] = times
    return numbers


def _lost(number: int) -> dict[str, np.ndarray]:
    """Return the numbers of a sample that connects no two states."""
    passage = np.full((number, number), np.inf)
    np.fill_diagonal(passage, 0.0)
    return {
        "populations": np.zeros(number),
        "mfpt": passage,
        "timescales": np.full(number - 1, np.inf),
    }


def _free_energies(populations: np.ndarray, reference: int) -> np.ndarray:
    """Return minus the logarithm of each population relative to that of the reference, in kT."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(populations[reference]) - np.log(populations)
    found[reference] = 0.0
    return np.where(np.isnan(found), np.inf, found)

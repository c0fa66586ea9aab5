"""Differences between two ensembles: free energies of the states, and their significance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_real, read_only

#: The gas constant in kJ/mol/K.
_GAS = 0.00831446261815324


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleDifference(ReadOnly):
    """Hold the differences between two ensembles, for each state.

    Attributes
    ----------
    first, second : str
        The ensembles.
    free_energy : (K,) float64
        The free energy of each state in the second ensemble minus the free energy in the first, each relative
        to the whole ensemble. It is negative where the second has the larger fraction, and infinite where one
        ensemble never visits the state.
    low, high : (K,) float64
        The ends of its confidence interval; NaN where too many bootstrap samples do not visit the state.
    p : (K,) float64
        The probability of such a difference by chance, corrected for the number of states and of pairs of
        ensembles; NaN if there are too few trajectories or blocks for any test.
    least_p : float
        The smallest corrected p-value that so few trajectories or blocks can give.
    mixing : float
        The frequency with which frames of the two ensembles are neighbours: 1 as in a single ensemble, 0 for
        never.
    overlap : float
        The sum over the states of the smaller fraction: 1 if the fractions are the same, 0 if no state is
        shared.

    See Also
    --------
    compare_ensembles : Compute the differences.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> shares = [0.3] * 6 + [0.6] * 6
    >>> points = [rng.normal(size=(100, 2)) + 6 * (rng.random(100) < s)[:, None] for s in shares]
    >>> found = mf.compare_ensembles(mf.cluster(points), ["cold"] * 6 + ["hot"] * 6)
    >>> np.sign(found.differences[0].free_energy)  # the second state has more of the hot ensemble
    array([ 1., -1.])
    """

    first: str
    second: str
    free_energy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    least_p: float
    mixing: float
    overlap: float

    def __post_init__(self) -> None:
        for name in ("free_energy", "low", "high", "p"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))


def thermal_energies(temperature: float | Mapping[str, float] | None, names: Sequence[str]) -> list[float]:
    """Return kT of each ensemble in the unit of the free energies."""
    if temperature is None:
        return [1.0] * len(names)
    if not isinstance(temperature, Mapping):
        return [_GAS * check_real("temperature", temperature, above=0)] * len(names)
    if set(temperature) != set(names):
        raise InputValueError(
            f"`temperature` must be a number, or name every ensemble, {', '.join(names)}; got "
            f"{', '.join(temperature)}."
        )
    return [_GAS * check_real(f"temperature[{name!r}]", temperature[name], above=0) for name in names]


def free_energy_differences(first: np.ndarray, second: np.ndarray, kt: float, other_kt: float) -> np.ndarray:
    """Return the free energies of the second minus those of the first; NaN where neither visits a state."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return kt * np.log(first) - other_kt * np.log(second)

"""The states of a clustering as a table with one row per state, for people and for programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from mdfuzzy._messages import duration
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.fractions import StateFractions
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

if TYPE_CHECKING:
    from mdfuzzy.kinetics import Equilibrium, Visits

#: Torsions of more residues than this do not fit on a line.
_MAX_RESIDUES = 3


@dataclass(frozen=True, kw_only=True)
class State:
    """Describe one state: a row of `StateTable`.

    Attributes
    ----------
    state : int
        The number of the state.
    frames : int
        The number of frames whose largest membership is in this state.
    fraction : float
        Their fraction of all frames (of the total weight, if frames have weights).
    fraction_low, fraction_high : float or None
        Bootstrap interval (95 %) of the fraction: `state_fractions`.
    population : float or None
        The equilibrium probability of the state. It comes from the weights, if frames have weights (then it
        equals the fraction), or from the Markov model, if there is one that includes the state.
    population_low, population_high : float or None
        Bootstrap interval (95 %) of the population.
    free_energy, free_energy_low, free_energy_high : float or None
        The population and its interval as a free energy relative to the most populated state, in kT.
    effective : float or None
        The effective number of frames of the state, (sum w)^2 / sum w^2, if frames have weights.
    core : int
        The number of frames in its core.
    prominence : float
        The height of its peak above the saddle to a higher state, in units of the log density.
    peak : int
        The frame of highest density.
    phi, psi : tuple of float
        Backbone torsions of that frame in degrees, one per residue; empty if there are none.
    visits : int or None
        The number of visits. A visit begins when a trajectory reaches the milestone of the state (a larger
        core: `find_milestones`) from the milestone of another state, or as its first milestone.
    dwell : float or None
        Mean duration of an uninterrupted stay in its basin, in the unit of the table.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> result.states[1].frames, result.states[1].fraction
    (200, 0.4)
    """

    state: int
    frames: int
    fraction: float
    core: int
    prominence: float
    peak: int
    phi: tuple[float, ...] = ()
    psi: tuple[float, ...] = ()
    visits: int | None = None
    dwell: float | None = None
    fraction_low: float | None = None
    fraction_high: float | None = None
    population: float | None = None
    population_low: float | None = None
    population_high: float | None = None
    free_energy: float | None = None
    free_energy_low: float | None = None
    free_energy_high: float | None = None
    effective: float | None = None


class StateTable(Sequence[State]):
    """Hold the states of a clustering as a sequence of `State` that prints as a table.

    ``pandas.DataFrame(table)`` converts it to a data frame.

    Parameters
    ----------
    rows : sequence of State
        The states in the order of their numbers.
    residues : sequence of str
        The residues with torsions in the rows.
    unit : str
        The unit of `State.dwell`: "ps" or "frames".

    Attributes
    ----------
    residues, unit
        The values passed in.

    Examples
    --------
    >>> from mdfuzzy import State, StateTable
    >>> first = State(state=0, frames=80, fraction=0.8, core=12, prominence=float("inf"), peak=17)
    >>> second = State(state=1, frames=20, fraction=0.2, core=3, prominence=1.25, peak=90)
    >>> print(StateTable([first, second]))
    state    frames fraction   core  prominence      peak
    0            80   80.00%     12         inf        17
    1            20   20.00%      3        1.25        90
    """

    def __init__(self, rows: Sequence[State], residues: Sequence[str] = (), unit: str = "ps") -> None:
        self._rows = tuple(rows)
        self.residues = tuple(residues)
        self.unit = unit

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> State: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[State, ...]: ...

    def __getitem__(self, place: int | slice) -> State | tuple[State, ...]:
        return self._rows[place]

    def __repr__(self) -> str:
        return f"StateTable({len(self)} states)\n{self}"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        import mdfuzzy  # the report comes after this folder, and is imported when it is needed

        return mdfuzzy.report.notebook_html(self)

    def __str__(self) -> str:
        timed = any(row.visits is not None for row in self)
        bounded = any(row.fraction_low is not None for row in self)
        weighted = any(row.effective is not None for row in self)
        modelled = any(row.population is not None for row in self) and not weighted
        residues = self.residues if len(self.residues) <= _MAX_RESIDUES else ()
        head = f"{'state':<7}{'frames':>8}"
        head += f"{'effective':>11}{'population':>12}" if weighted else f"{'fraction':>9}"
        head += f"{'interval':>16}" if bounded else ""
        head += f"{'population':>12}{'interval':>16}" if modelled else ""
        head += f"{'core':>7}{'prominence':>12}{'peak':>10}"
        head += "".join(f"{f'phi, psi of {residue}':>20}" for residue in residues)
        head += f"{'visits':>8}{'dwell':>12}" if timed else ""
        lines = [head]
        for row in self:
            line = f"{row.state:<7}{row.frames:>8,}"
            line += (
                f"{row.effective or 0:>11,.0f}{row.fraction:>12.2%}" if weighted else f"{row.fraction:>9.2%}"
            )
            line += f"{span(row.fraction_low, row.fraction_high):>16}" if bounded else ""
            if modelled:
                known = "-" if row.population is None else f"{row.population:.2%}"
                line += f"{known:>12}{span(row.population_low, row.population_high):>16}"
            line += f"{row.core:>7,}{row.prominence:>12.3g}{row.peak:>10}"
            for place in range(len(residues)):
                line += f"{f'{row.phi[place]:.0f}, {row.psi[place]:.0f}':>20}"
            if row.visits is not None and row.dwell is not None:
                line += f"{row.visits:>8,}{_stay(row.dwell, self.unit):>12}"
            lines.append(line)
        return "\n".join(lines)


def span(low: float | None, high: float | None) -> str:
    """Return the interval of a fraction as text; a dash if it is not known.

    Examples
    --------
    >>> span(0.1234, 0.5), span(0.00041, 0.0123), span(None, None)
    ('12.3 to 50.0%', '0.041 to 1.2%', '-')
    """
    if low is None or high is None or not np.isfinite([low, high]).all():
        return "-"
    return f"{_digits(100 * low)} to {_digits(100 * high)}%"


def _digits(percent: float) -> str:
    """Format a percentage with one decimal, or with two significant digits if it is small."""
    if percent >= 1 or percent < 0.001:
        return f"{percent:.1f}"
    return np.format_float_positional(float(f"{percent:.2g}"), trim="-")


def _stay(time: float, unit: str) -> str:
    return duration(time, unit) if np.isfinite(time) else "-"


def tabulate_states(
    data: Trajectories | None,
    memberships: Memberships,
    cores: Cores,
    *,
    visits: "Visits | None" = None,
    fractions: StateFractions | None = None,
    equilibrium: "Equilibrium | None" = None,
) -> StateTable:
    """Return the table of the states of a clustering; see `Clustering.states`."""
    hard = memberships.hard
    counts = np.bincount(hard[hard >= 0], minlength=len(cores))
    phi, psi = (None, None) if data is None else (data.phi, data.psi)
    sizes = cores.sizes
    rows = []
    for state, peak in enumerate(cores.peaks.tolist()):
        numbers: dict[str, float | None] = {"fraction": float(counts[state] / len(memberships))}
        if fractions is not None:
            numbers["fraction"] = float(fractions.values[state])
            numbers |= _bounds("fraction", fractions.low[state], fractions.high[state])
        if fractions is not None and fractions.weighted:
            numbers |= _by_weight(fractions, state)
        if equilibrium is not None and state in equilibrium.states:
            numbers |= _in_equilibrium(equilibrium, equilibrium.states.tolist().index(state))
        rows.append(
            State(
                state=state,
                frames=int(counts[state]),
                core=int(sizes[state]),
                prominence=float(cores.prominence[state]),
                peak=peak,
                phi=() if phi is None else tuple(phi[peak].tolist()),
                psi=() if psi is None else tuple(psi[peak].tolist()),
                visits=None if visits is None else int(visits.visits[state]),
                dwell=None if visits is None else float(visits.mean_dwell[state]),
                **cast("Any", numbers),
            )
        )
    residues = () if data is None or phi is None else data.residues
    return StateTable(rows, residues, "ps" if visits is None else visits.unit)


def _by_weight(fractions: StateFractions, state: int) -> dict[str, float | None]:
    """Return the population, free energy and effective number of frames of a state of weighted frames."""
    low, high, value = fractions.low[state], fractions.high[state], float(fractions.values[state])
    with np.errstate(divide="ignore", invalid="ignore"):
        energy, least, most = -np.log(np.array([value, high, low]) / fractions.values.max())
    numbers: dict[str, float | None] = {"population": value, "effective": float(fractions.effective[state])}
    numbers["free_energy"] = float(energy)
    return numbers | _bounds("population", low, high) | _bounds("free_energy", least, most)


def _in_equilibrium(model: "Equilibrium", place: int) -> dict[str, float | None]:
    """Return the estimates of a Markov model for one of its states."""
    numbers: dict[str, float | None] = {}
    for name, table in (("population", "populations"), ("free_energy", "free_energies")):
        numbers[name] = float(getattr(model, table)[place])
        low, high = (getattr(model, f"{table}_{side}")[place] for side in ("low", "high"))
        numbers |= _bounds(name, low, high)
    return numbers


def _bounds(name: str, low: float, high: float) -> dict[str, float | None]:
    """Return the two ends of an interval by name; None for an open end."""
    ends = {f"{name}_low": low, f"{name}_high": high}
    return {key: float(end) if np.isfinite(end) else None for key, end in ends.items()}

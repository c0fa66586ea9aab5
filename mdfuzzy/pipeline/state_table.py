"""The states of a clustering as a table: a row for each, to be read by people and by programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

if TYPE_CHECKING:
    from mdfuzzy.kinetics import Visits

#: Torsions of more residues than that do not fit on a line.
_MAX_RESIDUES = 3


@dataclass(frozen=True, kw_only=True)
class State:
    """One state: a row of `StateTable`.

    Attributes
    ----------
    state : int
        Its number.
    frames : int
        How many frames belong most to it.
    fraction : float
        The same as a fraction of all frames.
    core : int
        How many frames are in its core.
    prominence : float
        How far its peak stands above the saddle to a higher state, in units of the log density.
    peak : int
        Its densest frame.
    phi, psi : tuple of float
        Backbone torsions of that frame in degrees, one per residue; empty if there are none.
    visits : int or None
        How often its milestone (a larger core: `find_milestones`) was reached from that of another state, or
        first of all in a trajectory.
    dwell : float or None
        Mean time of an unbroken stay in its basin, in the unit of the table.

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


class StateTable(Sequence[State]):
    """The states of a clustering: a sequence of `State` that prints as a table.

    ``pandas.DataFrame(table)`` makes a data frame of it.

    Parameters
    ----------
    rows : sequence of State
        In the order of their numbers.
    residues : sequence of str
        The residues whose torsions the rows hold.
    unit : str
        The unit of `State.dwell`: "ps" or "frames".

    Attributes
    ----------
    residues, unit
        As given.

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

    def __str__(self) -> str:
        timed = any(row.visits is not None for row in self)
        residues = self.residues if len(self.residues) <= _MAX_RESIDUES else ()
        head = f"{'state':<7}{'frames':>8}{'fraction':>9}{'core':>7}{'prominence':>12}{'peak':>10}"
        head += "".join(f"{f'phi, psi of {residue}':>20}" for residue in residues)
        head += f"{'visits':>8}{f'dwell/{self.unit}':>14}" if timed else ""
        lines = [head]
        for row in self:
            line = f"{row.state:<7}{row.frames:>8,}{row.fraction:>9.2%}{row.core:>7,}{row.prominence:>12.3g}"
            line += f"{row.peak:>10}"
            for place in range(len(residues)):
                line += f"{f'{row.phi[place]:.0f}, {row.psi[place]:.0f}':>20}"
            line += f"{row.visits:>8,}{row.dwell:>14.4g}" if timed else ""
            lines.append(line)
        return "\n".join(lines)


def tabulate_states(
    data: Trajectories | None, memberships: Memberships, cores: Cores, visits: "Visits | None" = None
) -> StateTable:
    """Return the table of the states of a clustering; see `Clustering.states`."""
    hard = memberships.hard
    counts = np.bincount(hard[hard >= 0], minlength=len(cores))
    phi, psi = (None, None) if data is None else (data.phi, data.psi)
    sizes = cores.sizes
    rows = []
    for state, peak in enumerate(cores.peaks.tolist()):
        rows.append(
            State(
                state=state,
                frames=int(counts[state]),
                fraction=float(counts[state] / len(memberships)),
                core=int(sizes[state]),
                prominence=float(cores.prominence[state]),
                peak=peak,
                phi=() if phi is None else tuple(phi[peak].tolist()),
                psi=() if psi is None else tuple(psi[peak].tolist()),
                visits=None if visits is None else int(visits.visits[state]),
                dwell=None if visits is None else float(visits.mean_dwell[state]),
            )
        )
    residues = () if data is None or phi is None else data.residues
    return StateTable(rows, residues, "ps" if visits is None else visits.unit)

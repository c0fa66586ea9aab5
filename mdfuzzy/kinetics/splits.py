"""The splits of the tree of states, each with its evidence: noise, support, kinetics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import ReadOnly, check_int, check_type, read_only
from mdfuzzy._messages import counted, duration
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics._visits import clear_dwell, dwell_times
from mdfuzzy.kinetics.dtrajs import core_dtrajs, milestone, timestep
from mdfuzzy.kinetics.markov import estimate, pair_counts, relaxation_times
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.cores import Cores, find_milestones
from mdfuzzy.states.persistence import Persistence
from mdfuzzy.states.tree import StateTree, level_title

#: Peaks beyond the states that are examined.
_MORE = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Splits(ReadOnly):
    """Hold every split of the tree of states, from the clearest, with its evidence.

    Row j compares the j + 1 clearest states with the j clearest: one of these is split in two. The last
    rows are peaks that are not states, so that the next possible splits can be judged, too.

    Attributes
    ----------
    peaks : (S,) int64
        The peak of the state that splits off.
    states : (S,) int64
        The number of this state in the clustering; -1 if it is not a state.
    parents : (S,) int64
        The peak of the state that it splits from; the peak itself for a component of the graph.
    clearance : (S,) float64
        The prominence divided by the smallest prominence that noise does not explain; the largest over the
        levels.
    prominences : (S, L) float64
        The prominence at each level of smoothing; NaN at levels where the peak has vanished.
    p_values : (S,) float64
        The probability that noise alone produces such a peak anywhere in the data.
    support : (S,) float64
        The fraction of the bootstrap samples in which it is a state; NaN without a bootstrap.
    frames : (S,) int64
        The number of frames in its basin after the split.
    basin_frames : (S,) int64
        The number of frames in its basin after all splits into states; for a peak that is not a state, after
        its own split.
    dwell, shuffled : (S,) float64
        The mean duration of an uninterrupted stay in this basin, and the same for shuffled frames, in `unit`;
        NaN without trajectories.
    exits : (S,) int64
        The number of transitions from its milestone to the milestone of another state.
    exchange : (S,) float64
        The relaxation time between this state and the one that it splits from, in `unit`; infinite without
        transitions.
    slowest, slowest_before : (S,) float64
        The slowest timescale of a Markov model of the milestoned trajectories (at a lag time of one frame)
        with the split and without it, in `unit`; NaN if there is no such model.
    verdicts : tuple of str
        "noise": the peak could be sampling noise. "kinetic": the molecule stays in the state clearly longer
        than shuffled frames would, and left it often enough to tell. "structural": a state by its density,
        which has not been shown to be metastable.
    reasons : tuple of str
        The reason why a state is not kinetic; empty for kinetic states.
    unit : {"ps", "frames"}
        The unit of the times.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> hops = [np.cumsum(rng.random(2000) < 0.02) % 2 for _ in range(5)]
    >>> result = mf.cluster([7 * hop[:, None] + rng.normal(size=(2000, 2)) for hop in hops])
    >>> result.splits.verdicts[:3]
    ('kinetic', 'kinetic', 'noise')
    """

    peaks: np.ndarray
    states: np.ndarray
    parents: np.ndarray
    clearance: np.ndarray
    prominences: np.ndarray
    p_values: np.ndarray
    support: np.ndarray
    frames: np.ndarray
    basin_frames: np.ndarray
    dwell: np.ndarray
    shuffled: np.ndarray
    exits: np.ndarray
    exchange: np.ndarray
    slowest: np.ndarray
    slowest_before: np.ndarray
    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    unit: str

    def __post_init__(self) -> None:
        for name, value in vars(self).copy().items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))

    def __len__(self) -> int:
        return len(self.peaks)

    def __repr__(self) -> str:
        told = ", ".join(f"{self.verdicts.count(word)} {word}" for word in ("kinetic", "structural", "noise"))
        return f"Splits({counted(len(self), 'peak')}: {told})"

    def __str__(self) -> str:
        columns = self.columns()
        texts = [[name, *cells] for name, cells in columns.items()]
        widths = [max(map(len, cells)) for cells in texts]
        left = {"verdict"}
        rows = [
            "  ".join(
                cell.ljust(width) if name in left else cell.rjust(width)
                for cell, width, name in zip(row, widths, columns, strict=True)
            ).rstrip()
            for row in zip(*texts, strict=True)
        ]
        return "\n".join(rows)

    def name(self, peak: int) -> str:
        """Return the number of the state of `peak`, or "peak" and its number if it is not a state."""
        row = np.flatnonzero(self.peaks == peak)
        state = self.states[row[0]] if len(row) else -1
        return f"peak {peak}" if state < 0 else str(state)

    def columns(self) -> dict[str, list[str]]:
        """Return the table for people: the cells of every column by its title."""
        found = {
            "state": [self.name(peak) for peak in self.peaks],
            "from": [
                "-" if peak == parent else self.name(parent)
                for peak, parent in zip(self.peaks, self.parents, strict=True)
            ],
            "verdict": list(self.verdicts),
            "frames": [f"{frames:,}" for frames in self.frames],
        }
        for at, column in enumerate(self.prominences.T):
            found[level_title(at)] = ["-" if np.isnan(x) else f"{x:.3g}" for x in column]
        found["p (noise)"] = [f"{p:.1g}" for p in self.p_values]
        if not np.isnan(self.support).all():
            found["support"] = [f"{share:.0%}" for share in self.support]
        if not np.isnan(self.dwell).all():
            found["dwell"] = [_time(time, self.unit, "never left") for time in self.dwell]
            found["dwell if shuffled"] = [_time(time, self.unit, "-") for time in self.shuffled]
            found["exits"] = [f"{exits:,}" for exits in self.exits]
            found["exchange time"] = [_time(time, self.unit, "no transitions") for time in self.exchange]
            found["slowest timescale"] = [_time(time, self.unit, "-") for time in self.slowest]
        return found

    @property
    def legend(self) -> str:
        """The meaning of the columns, for people."""
        lines = [
            "from: the state that is divided in two to give this state. verdict: noise = the peak could be "
            "sampling noise; kinetic = the molecule stays in the state clearly longer than it would with the "
            "frames in random order; structural = the density shows the state, but the kinetics do not show "
            "that it is metastable.",
            "smoothed: prominence after the log density is averaged over neighbours. p (noise): probability "
            "that noise alone produces such a peak.",
        ]
        if not np.isnan(self.dwell).all():
            lines.append(
                "dwell if shuffled: mean dwell time with the frames in random order. exits: transitions to "
                "other states. exchange time: relaxation time between the state and the state in column "
                "'from'. slowest timescale: the slowest timescale of a Markov model of the states down to "
                "this row."
            )
        return "\n".join(lines)


def _time(value: float, unit: str, infinite: str) -> str:
    if np.isnan(value):
        return "-"
    return infinite if np.isinf(value) else duration(float(value), unit)


def audit_splits(
    tree: StateTree,
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    states: npt.ArrayLike | None = None,
    data: Trajectories | None = None,
    support: npt.ArrayLike | None = None,
    numbers: npt.ArrayLike | None = None,
    n_more: int = _MORE,
) -> Splits:
    """Collect the evidence for every split of a tree of states.

    The kinetics of a split are those of the states down to its row, with their own milestones.

    Parameters
    ----------
    tree : StateTree
        The peaks and their tests.
    graph, log_density, peaks
        The graph, log density and peaks from which the tree was built.
    states : (K,) array of int, optional
        The peaks that are states, from the clearest; by default the states of the tree.
    data : Frames or Features, optional
        The trajectories; without them there are no kinetics.
    support : (P,) array, optional
        The fraction of bootstrap samples in which each peak is a state (`StateBootstrap.peak_support`).
    numbers : (K,) array of int, optional
        The number of each of `states` in the clustering; 0, 1, ... by default.
    n_more : int
        The number of peaks to examine beyond the states.

    Returns
    -------
    Splits

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> splits = mf.kinetics.audit_splits(result.tree, result.graph, result.log_density, result.peaks)
    >>> splits.frames[:2], splits.verdicts[:2]
    (array([300, 200]), ('structural', 'structural'))
    """
    check_type("tree", tree, StateTree, remedy="`build_state_tree` makes one.")
    chosen = tree.states if states is None else np.asarray(states, np.int64)
    n_more = check_int("n_more", n_more, 0)
    others = tree.order[~np.isin(tree.order, chosen)][:n_more]
    rows = np.concatenate([chosen, others])
    first = max(1, tree.n_components)
    parents, frames = rows.copy(), np.empty(len(rows), np.int64)
    before, kinetics = peaks.basins(states=rows[:first]), []
    in_states = np.zeros(len(chosen), np.int64)
    for j, top in enumerate(peaks.peaks[rows]):
        basins = peaks.basins(states=rows[: max(j + 1, first)])
        if j >= first:
            parents[j] = rows[before[top]]
        frames[j] = np.count_nonzero(basins == j)
        if j == len(chosen) - 1:
            in_states = np.bincount(basins, minlength=len(chosen))
        before = basins
        if data is not None and j >= first - 1:
            milestones = find_milestones(graph, log_density, peaks, states=rows[: j + 1])
            kinetics.append(_of_level(data, milestones, peaks.peaks[rows[: j + 1]]))
    step = None if data is None else timestep(data)
    if data is None:
        evidence = _no_kinetics(len(rows))
    else:
        row_of = {int(peak): j for j, peak in enumerate(rows)}
        evidence = _kinetics(kinetics, [row_of[int(p)] for p in parents], first, step or 1.0)
        evidence["unit"] = "frames" if step is None else "ps"
    shares = np.full(len(peaks), np.nan) if support is None else np.asarray(support, np.float64)
    is_noise = ~np.isin(rows, tree.states)
    kinetic, reasons = evidence.pop("kinetic"), evidence.pop("reasons")
    verdicts = np.where(is_noise, "noise", np.where(kinetic, "kinetic", "structural"))
    why = [
        f"noise alone produces such a peak with p = {tree.p[peak]:.1g}" if noise else reason
        for peak, noise, reason in zip(rows, is_noise, reasons, strict=True)
    ]
    own = np.arange(len(chosen)) if numbers is None else np.asarray(numbers, np.int64)
    return Splits(
        peaks=rows,
        states=np.concatenate([own, np.full(len(others), -1)]),
        parents=parents,
        clearance=tree.clearance[rows],
        prominences=tree.prominences[rows],
        p_values=tree.p[rows],
        support=shares[rows],
        frames=frames,
        basin_frames=np.concatenate([in_states, frames[len(chosen) :]]),
        verdicts=tuple(verdicts.tolist()),
        reasons=tuple(why),
        **evidence,
    )


def _no_kinetics(n: int) -> dict[str, Any]:
    unknown = dict.fromkeys(
        ("dwell", "shuffled", "exchange", "slowest", "slowest_before"), np.full(n, np.nan)
    )
    reasons = ("no trajectories are known, or their frames are weighted",) * n
    kinetic = np.zeros(n, bool)
    return unknown | {
        "exits": np.zeros(n, np.int64),
        "kinetic": kinetic,
        "reasons": reasons,
        "unit": "frames",
    }


@dataclass(frozen=True)
class _Level:
    """The kinetics of one level of the tree: counts between milestones, frames and ended stays in basins."""

    moves: np.ndarray
    spent: np.ndarray
    ends: np.ndarray
    slowest: float


def _of_level(data: Trajectories, milestones: Cores, tops: np.ndarray) -> _Level:
    """Return the kinetics of a level, with its states in the order of their peaks, the points `tops`."""
    n = len(milestones)
    order = np.argsort(milestones.peaks)[np.argsort(np.argsort(tops))]
    moves = _counts(milestone(core_dtrajs(data, milestones)).dtrajs, n)
    stays = _counts(data.split(milestones.basins), n)
    model = estimate(moves, 1)
    slowest = np.nan if model is None else float(relaxation_times(model.eigenvalues()[1:2], 1)[0])
    ends = stays.sum(axis=1) - np.diag(stays)
    return _Level(moves[np.ix_(order, order)], milestones.basin_sizes[order], ends[order], slowest)


def _kinetics(levels: Sequence[_Level], parents: Sequence[int], first: int, step: float) -> dict[str, Any]:
    """Return the kinetics of every split; the first of `levels` has the components of the graph as states."""
    n = len(parents)
    found = {
        name: np.full(n, np.nan) for name in ("dwell", "shuffled", "exchange", "slowest", "slowest_before")
    }
    exits, kinetic, reasons = np.zeros(n, np.int64), np.zeros(n, bool), []
    for j in range(n):
        # A connected graph has no first split: its first row describes the clustering into two states.
        at = max(j + 1 - first, int(n > 1 and first == 1))
        level = levels[at]
        exits[j] = level.moves[j].sum() - level.moves[j, j]
        dwell, shuffled = dwell_times(level.spent[j], level.ends[j], int(level.spent.sum()))
        kinetic[j], reason = clear_dwell(float(dwell), float(shuffled), int(exits[j]))
        reasons.append(reason)
        found["dwell"][j], found["shuffled"][j] = step * dwell, step * shuffled
        found["slowest"][j] = step * level.slowest
        if j >= first:
            found["exchange"][j] = step * _exchange(level.moves, j, parents[j])
            found["slowest_before"][j] = step * levels[at - 1].slowest
    return found | {"exits": exits, "kinetic": kinetic, "reasons": tuple(reasons)}


def _counts(dtrajs: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Return how often each state is followed by each other state, (n, n)."""
    counts = np.zeros((n, n), np.int64)
    if dtrajs:
        seen = pair_counts(list(dtrajs), 1).sum(axis=0)
        counts[: len(seen), : len(seen)] = seen
    return counts


def _exchange(counts: np.ndarray, own: int, other: int) -> float:
    """Return the relaxation time, in frames, between two states, ignoring all others."""
    out, back = counts[own, other], counts[other, own]
    if out == 0 or back == 0:
        return np.inf
    left = out / (out + counts[own, own]) + back / (back + counts[other, other])
    return float(relaxation_times(np.array([1 - left]), 1)[0])

"""Assignment of new trajectories to the states of a clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, ReadOnly, check_type, read_only
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import Visits
from mdfuzzy.kinetics import visits as count_visits
from mdfuzzy.kinetics.dtrajs import LEFT_OUT
from mdfuzzy.kinetics.transition_regions import TransitionRegions, find_transition_regions
from mdfuzzy.memberships.extension import extend_memberships
from mdfuzzy.memberships.fractions import StateFractions, state_fractions, warn_of_few_effective
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.state_table import StateTable, span, tabulate_states
from mdfuzzy.states.cores import Cores

#: A new frame is far if at most this fraction of the fitted frames is as far from its nearest neighbour.
_FAR = 0.001
#: No warning is given up to this fraction of far frames.
_MANY_FAR = 0.01


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assignment(ReadOnly):
    """Hold the memberships of new frames in the states of a clustering, as computed by `assign`.

    Attributes
    ----------
    data : Frames or Features
        The new frames.
    memberships : Memberships
        The memberships of the new frames, (m, K).
    nearest : (m,) int32
        The fitted frame nearest to each new frame.
    distances : (m,) float32
        The distance to that frame (nm for RMSD).
    cores : Cores
        The basin and the core of the nearest fitted frame. The peaks are the new frames with the largest
        membership in each state.
    milestones : Cores
        The same with the larger cores, `Clustering.milestones`, which count transitions for Markov models.
    far : float
        The distance threshold for far frames: only one fitted frame in a thousand is as far from its nearest
        neighbour.
    log_density : (m,) float64
        The log density of the nearest fitted frame.
    transition_regions : TransitionRegions
        The transition frames among the new frames, according to their memberships.
    visits : Visits or None
        The number of visits of the new trajectories to each state, and their durations; None if the new
        frames have weights, because a bias changes the kinetics, or if none of them is in a core.
    fractions : StateFractions or None
        The fraction of the new frames (of their weight, if they have weights) in each state, with its
        bootstrap interval.
    fitted : StateTable
        The states of the clustering, for comparison with the new frames.
    warnings : tuple of str
        The warning about far frames, if there is one.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> result = mf.cluster(frames[:1000], mf.Settings(prominence=1.0))
    >>> mf.assign(result, frames[1000:])
    Assignment(500 frames to ... states, ...% of them far from every fitted frame)
    """

    data: Trajectories
    memberships: Memberships
    nearest: np.ndarray
    distances: np.ndarray
    cores: Cores
    milestones: Cores
    far: float
    log_density: np.ndarray
    transition_regions: TransitionRegions
    visits: Visits | None
    fitted: StateTable
    fractions: StateFractions | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("nearest", "distances", "log_density"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.memberships)

    def __repr__(self) -> str:
        states = self.memberships.values.shape[1]
        return (
            f"Assignment({len(self):,} frames to {states} states, {self.far_share:.1%} of them far from "
            "every fitted frame)"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        import mdfuzzy  # the report comes after this folder, and is imported when it is needed

        return mdfuzzy.report.notebook_html(self)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.cores)

    @property
    def weights(self) -> np.ndarray | None:
        """The weight of each new frame, (m,) float64; None if all frames have the same weight."""
        return self.data.weights

    @property
    def states(self) -> StateTable:
        """The table of states in the new frames; the peaks are the frames with the largest memberships."""
        return tabulate_states(
            self.data, self.memberships, self.cores, visits=self.visits, fractions=self.fractions
        )

    @property
    def occupied(self) -> list[int]:
        """The states to which new frames belong."""
        return np.unique(self.labels[self.labels >= 0]).tolist()

    @property
    def labels(self) -> np.ndarray:
        """The state with the largest membership of each new frame, (m,) int32; -1 if it reaches no core."""
        return self.memberships.hard

    def summary(self) -> str:
        """Return a text with the number of new frames in each state and their distances to fitted frames."""
        head = f"{'state':<7}{'frames':>8}{'fraction':>9}{'interval':>16}{'in the run':>12}{'in core':>9}"
        lines = [repr(self), head]
        lines += [
            f"{row.state:<7}{row.frames:>8,}{row.fraction:>9.2%}"
            f"{span(row.fraction_low, row.fraction_high):>16}{fitted.fraction:>12.2%}{row.core:>9,}"
            for row, fitted in zip(self.states, self.fitted, strict=True)
        ]
        if self.fractions is not None and self.fractions.weighted:
            lines.append(f"{self.fractions.words} {LEFT_OUT}")
        return "\n".join(lines)

    @property
    def far_share(self) -> float:
        """The fraction of new frames far from every fitted frame; 0.001 for equal distributions."""
        return float(np.mean(self.distances > self.far))


#: What pictures, exports and the report show.
Result = Clustering | Assignment


def assign(
    result: Clustering,
    data: Trajectories | npt.ArrayLike,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Assignment:
    """Assign new frames to the states of a clustering, which stay unchanged.

    A new frame gets the memberships of one step of the walk to its k nearest fitted frames
    (`extend_memberships`). A frame that is identical to a fitted frame gets the memberships of that frame.

    Parameters
    ----------
    result : Clustering
        A clustering of `Frames` or `Features`.
    data : Frames, Features, (m, d) array or list of such
        New frames with the same atoms, or new vectors with the same features.
    n_jobs : int, optional
        Threads; every core by default.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.

    Returns
    -------
    Assignment

    Warns
    -----
    UserWarning
        If many of the new frames are far from every fitted frame. They may be in states that the fitted
        trajectories never visited.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 6])
    >>> mf.assign(result, [[0.1, 0.2], [5.8, 6.1]]).labels.shape
    (2,)
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    if result.data is None:
        raise InputValueError(
            "`result` must be a clustering of frames or features; this one began with neighbours."
        )
    new = result.data.like(data)
    fit = result if result.sample is None else result.sample.fit
    fitted = cast(Trajectories, fit.data)
    near = nearest_frames(fitted, n_neighbors=fit.k, queries=new, n_jobs=n_jobs, progress=progress)
    memberships = extend_memberships(fit.memberships, near, k=fit.k, n_jobs=n_jobs)
    nearest = near.indices[:, 0]
    cores, milestones = (
        Cores(each.basins[nearest], each.core_of[nearest], memberships.values.argmax(axis=0), each.prominence)
        for each in (fit.cores, fit.milestones)
    )
    is_counted = new.weights is None and bool(np.any(milestones.core_of >= 0))
    far = float(np.quantile(result.neighbors.distances[:, 0], 1 - _FAR))
    warnings = _far_words(float(np.mean(near.distances[:, 0] > far)), far)
    for message in warnings:
        warn_user(message)
    fractions = state_fractions(memberships.hard, new.lengths, n_states=len(cores), weights=new.weights)
    warn_of_few_effective(fractions)
    return Assignment(
        data=new,
        memberships=memberships,
        nearest=nearest,
        distances=near.distances[:, 0],
        cores=cores,
        milestones=milestones,
        far=far,
        log_density=fit.log_density[nearest],
        transition_regions=find_transition_regions(new, memberships, milestones),
        visits=count_visits(new, milestones) if is_counted else None,
        fractions=fractions,
        fitted=result.states,
        warnings=warnings,
    )


def _far_words(share: float, far: float) -> tuple[str, ...]:
    """Return the warning about frames that are far from every fitted frame, if they are many."""
    if share <= _MANY_FAR:
        return ()
    return (
        f"{share:.1%} of the new frames are more than {far:.3g} away from every fitted frame, but only "
        f"{_FAR:.1%} of the fitted ones from each other. They may be in states that the fitted trajectories "
        "did not visit: cluster all trajectories together.",
    )

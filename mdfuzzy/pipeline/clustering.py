"""The result of a clustering: the results of all its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mdfuzzy._check import ReadOnly, read_only
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import Equilibrium, Pathways, Visits
from mdfuzzy.kinetics.splits import Splits
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.kinetics.validation import Validation
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.memberships.fractions import StateFractions
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline.sample import FitSample
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.pipeline.state_table import StateTable, tabulate_states
from mdfuzzy.states.cores import Cores
from mdfuzzy.states.persistence import Persistence
from mdfuzzy.states.prominence import ProminenceGap
from mdfuzzy.states.stability import KScan, StateBootstrap
from mdfuzzy.states.tree import StateTree


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Clustering(ReadOnly):
    """Hold the results of every step of one clustering.

    Attributes
    ----------
    data : Frames, Features or None
        The clustered data, with the boundaries between trajectories; None if the clustering began with
        neighbours.
    settings : Settings
        The settings requested by the user.
    weights : (n,) float64 or None
        The weight of each frame; None if all frames have the same weight.
    k : int
        Neighbours per frame in the graph.
    dimension : float
        Intrinsic dimension, the exponent of the density.
    bandwidth : float or None
        Width of the kernel, if any step uses one.
    neighbors : Neighbors
        The 2k nearest frames of every frame.
    graph : Graph
        The union graph, on which the peaks and cores were found.
    sampled_density : (n,) float64
        The log density of the frames as sampled, up to a constant.
    log_density : (n,) float64
        The log density of the reweighted ensemble; without weights it equals `sampled_density`.
    peaks : Persistence
        All peaks of the density and how they merge.
    tree : StateTree
        Every possible split of the density, with its evidence against noise at each level of smoothing.
    gap : ProminenceGap
        The division of the prominences, without smoothing, into noise and states.
    prominence : float
        The prominence threshold: the smallest prominence of a state.
    cores : Cores
        The basins and the cores of the states.
    milestones : Cores
        Larger cores of the same states, used to count transitions for Markov models: `find_milestones`.
    beta_scan : BetaScan or None
        The memberships over a range of walk temperatures (`beta`), if beta was chosen from the data.
    memberships : Memberships
        The membership of every frame in every state.
    transition_regions : TransitionRegions or None
        The neighbouring states and the transition frames between them; None without `data`.
    visits : Visits or None
        The number of visits to each state and their durations. None without `data`, or if frames have
        weights, because a bias changes the kinetics.
    validation : Validation or None
        Tests of a Markov model of the states, if requested.
    fractions : StateFractions or None
        The fraction of frames in each state (the fraction of the weight, if frames have weights), with its
        bootstrap interval; None without `data`.
    equilibrium : Equilibrium or None
        Populations, free energies and passage times from a Markov model, if its tests were requested and
        found a lag time. None for weighted frames, because the order of biased frames has no unbiased
        kinetics.
    pathways : Pathways or None
        The pathways of the slowest process of the same model.
    k_scan : KScan or None
        The states for other k, if requested.
    bootstrap : StateBootstrap or None
        The states of bootstrap samples of the trajectories, if requested.
    sample : FitSample or None
        The frames on which the states were found, if these are not all frames. `k`, `neighbors`, `graph`,
        `tree` and `gap` then describe these frames only; everything else describes all frames.
    splits : Splits or None
        The evidence for every split of the tree of states: noise, bootstrap support, kinetics, and a verdict.
        None if states were merged manually.
    chosen : dict of str to str
        A sentence for each setting that was chosen automatically: the value and the reason.
    warnings : tuple of str
        The warnings of all steps.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> result
    Clustering(2 states of 500 frames, k=22, beta=2 (walk temperature; 2 = simulation temperature); ...)
    >>> [part.shape for part in result.data.split(result.memberships.values)]
    [(300, 2), (200, 2)]
    """

    data: Trajectories | None
    settings: Settings
    weights: np.ndarray | None
    k: int
    dimension: float
    bandwidth: float | None
    neighbors: Neighbors
    graph: Graph
    sampled_density: np.ndarray
    log_density: np.ndarray
    peaks: Persistence
    tree: StateTree
    gap: ProminenceGap
    prominence: float
    cores: Cores
    milestones: Cores
    beta_scan: BetaScan | None
    memberships: Memberships
    transition_regions: TransitionRegions | None = None
    visits: Visits | None = None
    validation: Validation | None = None
    fractions: StateFractions | None = None
    equilibrium: Equilibrium | None = None
    pathways: Pathways | None = None
    k_scan: KScan | None = None
    bootstrap: StateBootstrap | None = None
    sample: FitSample | None = None
    splits: Splits | None = None
    chosen: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("sampled_density", "log_density"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.memberships)

    def __repr__(self) -> str:
        states = f"{self.n_states} state" + "s" * (self.n_states != 1)
        beta = f"beta={self.memberships.beta:.3g} ({BETA_MEANS})"
        fitted = "" if self.sample is None else f", found on {len(self.sample):,} of them"
        verdict = ""
        if "prominence" in self.chosen:  # the number of states was chosen here
            missed = f"states of less than {100 * self.tree.smallest_share:.2g} % of the frames can be missed"
            verdict = f"; {missed if self.tree.well_determined else 'number of states POORLY determined'}"
        return f"Clustering({states} of {len(self):,} frames{fitted}, k={self.k}, {beta}{verdict})"

    def _repr_html_(self) -> str:
        """Return the HTML representation for a notebook."""
        import mdfuzzy  # the report comes after this folder, and is imported when it is needed

        return mdfuzzy.report.notebook_html(self)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.cores)

    @property
    def labels(self) -> np.ndarray:
        """The state of largest membership of each frame, (n,) int32; -1 if the frame reaches no core."""
        return self.memberships.hard

    @property
    def states(self) -> StateTable:
        """The table of states: frames, core, prominence, torsions of the densest frame, and visits."""
        return tabulate_states(
            self.data,
            self.memberships,
            self.cores,
            visits=self.visits,
            fractions=self.fractions,
            equilibrium=self.equilibrium,
        )

    @property
    def robustness(self) -> list[str]:
        """The evidence on the robustness of the states: neighbours in time, other k, bootstrap, splits."""
        lines = [] if self.tree.in_time is None else [self.tree.in_time.words]
        lines += [str(each) for each in (self.k_scan, self.bootstrap) if each is not None]
        if self.splits is not None:
            lines += [
                "Evidence for each state, the clearest first (its prominence exceeds that of noise by the "
                "largest factor), and below for the strongest rejected peaks:",
                str(self.splits),
                self.splits.legend,
            ]
        return lines

    def at(self, *, n_states: int | None = None, prominence: float | None = None) -> Clustering:
        """Return the clustering at another level of the tree of states, without another search.

        Parameters
        ----------
        n_states : int, optional
            Number of states: the peaks that stand out most clearly from noise.
        prominence : float, optional
            Instead of `n_states`: the smallest prominence of a state. With neither, the states are the peaks
            that exceed the noise.

        Returns
        -------
        Clustering

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 4 * np.repeat([0, 1, 2], 300)[:, None]
        >>> result = mf.cluster(points)
        >>> result.n_states, result.at(n_states=2).n_states
        (3, 2)
        """
        from mdfuzzy.pipeline._redo import other_states

        return Clustering(**other_states(self, n_states=n_states, prominence=prominence))

    def merge(self, *groups: Sequence[int]) -> Clustering:
        """Return the clustering in which every group of states is one state.

        The membership in a merged state is the sum of the memberships in its members: the probability to
        reach any of their cores first. The merged state takes the number of its first member, and the states
        are renumbered without gaps.

        Parameters
        ----------
        *groups : sequences of int
            Each group holds the numbers of the states to merge.

        Returns
        -------
        Clustering

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 4 * np.repeat([0, 1, 2], 300)[:, None]
        >>> result = mf.cluster(points)
        >>> result.merge([0, 2]).n_states
        2
        """
        from mdfuzzy.pipeline._redo import merged_states

        return Clustering(**merged_states(self, groups))

    def summary(self) -> str:
        """Return a text with the states, the automatic choices and their reasons, and the warnings.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> rng = np.random.default_rng(0)
        >>> print(mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6]).summary())
        Clustering(2 states of 500 frames, k=22, beta=2 (walk temperature; 2 = simulation temperature); ...)
        state    frames fraction        interval   core  prominence      peak ...
        0           300   60.00% ...
        1           200   40.00% ...
        k = 22 neighbours per frame, ...
        """
        lines = [repr(self), str(self.states)]
        lines += self.chosen.values()
        lines += self.robustness
        lines += [f"warning: {message}" for message in self.warnings]
        return "\n".join(lines)

"""Steps from the density to the states: its peaks, their tests against noise, and the cores."""

import numpy as np

from mdfuzzy._choices import CoreRule
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.metric import EUCLIDEAN
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.reached_cores import find_reached_cores
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import step
from mdfuzzy.states.clipping import doubt_clipped
from mdfuzzy.states.cores import Cores, find_cores, find_milestones
from mdfuzzy.states.peak_tests import build_state_tree
from mdfuzzy.states.persistence import Persistence, compute_persistence
from mdfuzzy.states.prominence import ProminenceGap
from mdfuzzy.states.tree import StateTree


@step(message="finding the peaks of the density")
def peaks(
    graph: Graph, log_density: np.ndarray, sampled_density: np.ndarray, *, n_jobs: int | None
) -> Persistence:
    """Find the peaks of the density and how they merge."""
    return compute_persistence(graph, log_density, sampled=sampled_density, n_jobs=n_jobs)


@step(message="testing the peaks against noise")
def tree(
    data: Trajectories | None,
    neighbors: Neighbors,
    graph: Graph,
    log_density: np.ndarray,
    peaks: Persistence,
    dimension: float,
    sampled_density: np.ndarray,
    weights: np.ndarray | None,
    *,
    level: float,
    n_jobs: int | None,
) -> StateTree:
    """Test every peak against noise, at several levels of smoothing."""
    lengths = None if data is None else data.lengths
    found = build_state_tree(
        neighbors,
        graph,
        log_density,
        peaks,
        dimension=dimension,
        lengths=lengths,
        sampled=sampled_density,
        weights=weights,
        level=level,
        n_jobs=n_jobs,
    )
    if data is not None and data.metric == EUCLIDEAN:
        found = doubt_clipped(found, neighbors, peaks, data.columns, names=data.names, periods=data.periods)
    if found.in_time is not None and found.in_time.large and found.dependent:
        warn_user(
            f"Many neighbours are close in time: {found.in_time}. The frames are equivalent to "
            f"{found.n_independent:,.0f} independent frames. Reading every Nth frame (`stride`) loses "
            f"nothing; more or "
            "longer trajectories help."
        )
    return found


@step(saved=False)
def gap(tree: StateTree) -> ProminenceGap:
    """Return the division of the unsmoothed prominences into noise and states."""
    return tree.gaps[0]


@step(saved=False)
def state_peaks(tree: StateTree, *, prominence: float | None, n_states: int | None) -> np.ndarray:
    """Return the peaks that are states; warn if their number was chosen here and is poorly determined."""
    if prominence is None and n_states is None and tree.doubts:
        warn_user(
            f"The number of states is poorly determined. Found {tree.words}. Look at the tree of states, "
            "compare several k, and choose the number of states yourself (`n_states`)."
        )
    return tree.at(prominence=prominence, n_states=n_states)


@step(saved=False)
def prominence(
    tree: StateTree, state_peaks: np.ndarray, *, prominence: float | None, n_states: int | None
) -> float:
    """Return the smallest prominence of a state, or the largest prominence of noise if that is smaller."""
    return prominence or tree.core_prominence(state_peaks)


@prominence.explained
def _(
    result: float, tree: StateTree, state_peaks: np.ndarray, *, prominence: float | None, n_states: int | None
) -> str | None:
    return (
        f"prominence threshold = {result:.3g}: {tree.words}."
        if prominence is None and n_states is None
        else None
    )


@step()
def cores(
    graph: Graph,
    log_density: np.ndarray,
    peaks: Persistence,
    state_peaks: np.ndarray,
    prominence: float,
    dimension: float,
    sampled_density: np.ndarray,
    weights: np.ndarray | None,
    *,
    core_rule: CoreRule,
    core_agreement: float,
    core_share: float,
    core_least: float,
    n_jobs: int | None,
) -> Cores:
    """Find the states and their cores."""
    if core_rule == "reach":
        return find_reached_cores(
            graph,
            log_density,
            peaks,
            states=state_peaks,
            min_prominence=prominence,
            sampled=sampled_density,
            weights=weights,
            agreement=core_agreement,
            least=core_least,
            dimension=dimension,
            n_jobs=n_jobs,
        )
    return find_cores(
        graph,
        log_density,
        peaks,
        states=state_peaks,
        min_prominence=prominence,
        weights=weights,
        rule=core_rule,
        share=core_share,
        least=core_least,
    )


@step()
def milestones(
    graph: Graph,
    log_density: np.ndarray,
    peaks: Persistence,
    state_peaks: np.ndarray,
    weights: np.ndarray | None,
) -> Cores:
    """Find larger cores of the same states, which count transitions."""
    return find_milestones(graph, log_density, peaks, states=state_peaks, weights=weights)

"""The steps of a clustering, each declared once: its inputs, its settings and the type of its result.

A positional parameter is the result of the step of that name. A keyword-only parameter is the setting of that
name: see `Step`. A new step is a function here; a field of `Clustering` of the same name holds its result.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np

from mdfuzzy._choices import BetaCriterion, CoreRule, Density, Kernel, WalkGraph, WalkWeights
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import Equilibrium, Pathways, Visits, estimate_equilibrium, find_pathways
from mdfuzzy.kinetics import visits as count_visits
from mdfuzzy.kinetics.dtrajs import LEFT_OUT, core_dtrajs, milestone
from mdfuzzy.kinetics.splits import Splits, audit_splits
from mdfuzzy.kinetics.transition_regions import TransitionRegions, find_transition_regions
from mdfuzzy.kinetics.validation import Validation, validate_cores
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.memberships.fractions import StateFractions, state_fractions, warn_of_few_effective
from mdfuzzy.memberships.labels import warn_of_other_labels
from mdfuzzy.memberships.memberships import Memberships, solve_memberships
from mdfuzzy.memberships.reached_cores import find_reached_cores
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._beta import explain_beta, scan_walk
from mdfuzzy.pipeline._cache import EarlierStep, step
from mdfuzzy.pipeline._check_fits import measure_error
from mdfuzzy.pipeline.extension import Extension, Fitted, Room, extend_to_all
from mdfuzzy.pipeline.sample import ExtensionError
from mdfuzzy.pipeline.settings import resolve_k
from mdfuzzy.states.cores import Cores, find_cores, find_milestones
from mdfuzzy.states.density import estimate_log_density, kde_bandwidth
from mdfuzzy.states.dimension import intrinsic_dimension
from mdfuzzy.states.persistence import Persistence, compute_persistence
from mdfuzzy.states.prominence import ProminenceGap
from mdfuzzy.states.reweighting import reweighted_log_density
from mdfuzzy.states.stability import KScan, StateBootstrap, bootstrap_states, states_by_k
from mdfuzzy.states.tree import StateTree, build_state_tree

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client

# --- data


@step(saved=False, content=True)
def weights(data: Trajectories | None) -> np.ndarray | None:
    """Return the weights of the frames, which the key of the data does not include; None without weights."""
    return None if data is None else data.weights


# --- neighbours


@step(saved=False)
def n_neighbors(data: Trajectories, *, k: int | None) -> int:
    """Return the number of neighbours to search: 2k, as the density needs."""
    return 2 * resolve_k(k, len(data))


@step(message="searching for the nearest neighbours of every frame")
def neighbors(
    data: Trajectories,
    n_neighbors: int,
    *,
    recall: float,
    n_jobs: int | None,
    progress: bool | None,
    blocks: BlockStore | None,
    client: "Client | None",
    layout: Literal["scattered", "sharded"] | None,
    earlier: EarlierStep | None,
) -> Neighbors:
    """Search by the metric of the data; a saved search keeps spare neighbours, so that it can be extended."""
    from mdfuzzy.neighbors.growing import SPARE, Earlier, grow_neighbors, with_spare

    exact_here = recall == 1 and client is None
    if earlier is not None and exact_here:
        known = Earlier(earlier.result, earlier.frames)
        if known.serves(data):
            return grow_neighbors(
                data, known, n_neighbors=n_neighbors, n_jobs=n_jobs, progress=progress, store=blocks
            )
    spare = SPARE if recall == 1 and blocks is not None else 0
    found = nearest_frames(
        data,
        n_neighbors=min(n_neighbors + spare, len(data) - 1),
        recall=recall,
        n_jobs=n_jobs,
        progress=progress,
        store=blocks,
        client=client,
        layout=layout,
    )
    return with_spare(found, n_neighbors)


@step(saved=False)
def k(neighbors: Neighbors, *, k: int | None) -> int:
    """Return the number of neighbours per frame in the graph."""
    return resolve_k(k, len(neighbors), n_neighbors=neighbors.k)


@k.explained
def _(result: int, neighbors: Neighbors, *, k: int | None) -> str | None:
    if k is None:
        by = f"from the number of frames ({len(neighbors):,})"
        return f"k = {result} neighbours per frame, {by}; the density uses {2 * result} neighbours."
    return None


@step(saved=False)
def graph(neighbors: Neighbors, k: int) -> Graph:
    """Build the union graph: an edge joins two frames if either is among the k nearest of the other."""
    return neighbors.graph(k=k)


# --- density


@step()
def dimension(neighbors: Neighbors, k: int, *, dimension: float | None, n_jobs: int | None) -> float:
    """Return the intrinsic dimension, as set or estimated."""
    return dimension or intrinsic_dimension(neighbors, n_neighbors=2 * k, n_jobs=n_jobs)


@dimension.explained
def _(result: float, neighbors: Neighbors, k: int, *, dimension: float | None) -> str | None:
    if dimension is None:
        why = f"estimated by maximum likelihood from the distances to {2 * k} neighbours"
        return f"dimension = {result:.3g}, {why}."
    return None


@step()
def bandwidth(
    neighbors: Neighbors, dimension: float, *, density: Density, kernel: Kernel, bandwidth: float | None
) -> float | None:
    """Return the width of the kernel; None if no step uses one."""
    if density != "kde" and kernel != "gaussian":
        return None
    return bandwidth or kde_bandwidth(neighbors, dimension=dimension)


@bandwidth.explained
def _(
    result: float | None,
    neighbors: Neighbors,
    dimension: float,
    *,
    density: Density,
    kernel: Kernel,
    bandwidth: float | None,
) -> str | None:
    if bandwidth is None and result is not None:
        return f"bandwidth = {result:.3g}, chosen by leave-one-out maximum likelihood."
    return None


@step()
def sampled_density(
    neighbors: Neighbors, k: int, dimension: float, bandwidth: float | None, *, density: Density
) -> np.ndarray:
    """Estimate the log density of the frames as sampled."""
    return estimate_log_density(neighbors, density=density, k=k, dimension=dimension, bandwidth=bandwidth)


@step(saved=False)
def log_density(
    neighbors: Neighbors, k: int, sampled_density: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return the log density of the ensemble that the weighted frames represent."""
    if weights is None:
        return sampled_density
    return reweighted_log_density(neighbors, sampled_density, weights, n_neighbors=2 * k)


# --- states


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
    if found.in_time is not None and found.in_time.large and found.dependent:
        warn_user(
            f"Many neighbours are close in time: {found.in_time}. The frames are equivalent to "
            f"{found.n_independent:,.0f} independent frames. Fewer frames (`stride`) lose nothing; more or "
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
    return f"prominence = {result:.3g}: {tree.words}." if prominence is None and n_states is None else None


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


# --- memberships


@step(saved=False)
def walk(neighbors: Neighbors, graph: Graph, k: int, *, walk_graph: WalkGraph) -> Graph:
    """Return the edges of the walk."""
    return graph if walk_graph == "union" else neighbors.graph(k=k, kind=walk_graph)


@step(
    message="solving for memberships over a range of beta",
    when=lambda settings: settings.scan_beta or isinstance(settings.beta, str),
)
def beta_scan(
    data: Trajectories | None,
    walk: Graph,
    log_density: np.ndarray,
    sampled_density: np.ndarray,
    cores: Cores,
    milestones: Cores,
    dimension: float,
    bandwidth: float | None,
    weights: np.ndarray | None,
    *,
    beta: float | BetaCriterion,
    kernel: Kernel,
    walk_weights: WalkWeights,
    unit_density: bool,
    n_jobs: int | None,
) -> BetaScan:
    """Solve for memberships over a range of beta."""
    found = {
        "walk": walk,
        "log_density": log_density,
        "sampled_density": sampled_density,
        "cores": cores,
        "dimension": dimension,
        "bandwidth": bandwidth,
        "weights": weights,
    }
    return scan_walk(
        data,
        found,
        milestones,
        beta=beta,
        kernel=kernel,
        walk_weights=walk_weights,
        unit_density=unit_density,
        n_jobs=n_jobs,
    )


@step(saved=False)
def beta(beta_scan: BetaScan | None, *, beta: float | BetaCriterion) -> float:
    """Return the walk temperature, as set or chosen by the scan."""
    if not isinstance(beta, str):
        return beta
    assert beta_scan is not None, "it is made if a criterion chooses"
    return beta_scan.beta


@beta.explained
def _(result: float, beta_scan: BetaScan | None, *, beta: float | BetaCriterion) -> str | None:
    return explain_beta(beta_scan, beta) if isinstance(beta, str) and beta_scan is not None else None


@step(message="solving for memberships")
def memberships(
    walk: Graph,
    log_density: np.ndarray,
    sampled_density: np.ndarray,
    cores: Cores,
    dimension: float,
    bandwidth: float | None,
    weights: np.ndarray | None,
    beta: float,
    *,
    kernel: Kernel,
    walk_weights: WalkWeights,
    unit_density: bool,
    n_jobs: int | None,
) -> Memberships:
    """Solve for the probability that the walk from each frame reaches each core first."""
    found = solve_memberships(
        walk,
        log_density,
        cores,
        beta=beta,
        sampled=None if weights is None else sampled_density,
        walk_weights=walk_weights,
        unit_density=unit_density,
        kernel=kernel,
        bandwidth=bandwidth if kernel == "gaussian" else None,
        dimension=dimension,
        n_jobs=n_jobs,
    )
    warn_of_other_labels(found, cores, weights)
    return found


# --- all frames in the states of a sample


@step(message="giving all frames memberships in the states of the sample")
def extension(
    data: Trajectories,
    frames: np.ndarray,
    fitted: Fitted,
    *,
    n_jobs: int | None,
    progress: bool | None,
    blocks: BlockStore | None,
    room: Room,
    client: "Client | None",
) -> Extension:
    """Find the nearest fitted frames of every frame, and extend the memberships from them."""
    return extend_to_all(
        data,
        frames,
        fitted,
        n_jobs=n_jobs,
        progress=progress,
        blocks=blocks,
        room=room,
        client=client,
    )


@step(message="comparing memberships by extension with those of a fit that contains the frames")
def extension_error(
    data: Trajectories,
    frames: np.ndarray,
    fitted: Fitted,
    extension: Extension,
    *,
    room: Room,
    client: "Client | None",
    check_frames: int | None,
) -> ExtensionError | None:
    """Compare memberships by extension with memberships of a fit that contains the frames, if requested."""
    if check_frames is None:
        return None
    means = {"client": client, "progress": False}
    return measure_error(data, frames, fitted, extension, size=check_frames, room=room, means=means)


# --- results from the order of the frames


@step()
def transition_regions(
    data: Trajectories | None, memberships: Memberships, milestones: Cores, weights: np.ndarray | None
) -> TransitionRegions | None:
    """Find the frames between two states; None without trajectories."""
    return None if data is None else find_transition_regions(data, memberships, milestones)


@step(saved=False)
def timestep(data: Trajectories | None) -> float | None:
    """Return the time between frames, which is not part of the key of the data."""
    return None if data is None else data.timestep


@step()
def visits(
    data: Trajectories | None, milestones: Cores, timestep: float | None, weights: np.ndarray | None
) -> Visits | None:
    """Count the visits to the states; None without trajectories, or if the frames have weights."""
    return None if data is None or weights is not None else count_visits(data, milestones)


@step(message="testing Markov models of the states", when=lambda settings: settings.validate)
def validation(data: Trajectories | None, milestones: Cores, timestep: float | None) -> Validation:
    """Test Markov models of the states and choose a lag time."""
    return validate_cores(data, milestones)


@step()
def fractions(
    data: Trajectories | None, memberships: Memberships, weights: np.ndarray | None
) -> StateFractions | None:
    """Return the (weighted) fraction of each state with its bootstrap interval; None without trajectories."""
    if data is None and weights is None:
        return None
    lengths = [len(memberships)] if data is None else data.lengths
    found = state_fractions(memberships.hard, lengths, n_states=len(memberships.values.T), weights=weights)
    warn_of_few_effective(found)
    return found


@fractions.explained
def _(
    result: StateFractions | None,
    data: Trajectories | None,
    memberships: Memberships,
    weights: np.ndarray | None,
) -> str | None:
    return None if result is None or not result.weighted else f"{result.words} {LEFT_OUT}"


@step(when=lambda settings: settings.validate)
def equilibrium(
    data: Trajectories | None, milestones: Cores, validation: Validation | None, timestep: float | None
) -> Equilibrium | None:
    """Estimate populations and passage times at the lag time of the tests; None without a Markov model."""
    if data is None or data.weights is not None or validation is None or validation.lag is None:
        return None
    dtrajs = milestone(core_dtrajs(data, milestones))
    return estimate_equilibrium(dtrajs, lag=validation.lag, timestep=timestep)


@step(when=lambda settings: settings.validate)
def pathways(
    data: Trajectories | None,
    milestones: Cores,
    equilibrium: Equilibrium | None,
    validation: Validation | None,
    timestep: float | None,
) -> Pathways | None:
    """Find the pathways of the slowest process; None without a Markov model."""
    if data is None or equilibrium is None or validation is None or validation.lag is None:
        return None
    dtrajs = milestone(core_dtrajs(data, milestones))
    return find_pathways(dtrajs, lag=validation.lag, timestep=timestep)


# --- robustness


@step(message="counting states for other k", when=lambda settings: settings.scan_k)
def k_scan(
    data: Trajectories | None,
    neighbors: Neighbors,
    dimension: float,
    bandwidth: float | None,
    weights: np.ndarray | None,
    *,
    level: float,
    density: Density,
    prominence: float | None,
    n_jobs: int | None,
) -> KScan:
    """Find the states for other numbers of neighbours."""
    return states_by_k(
        neighbors,
        lengths=None if data is None else data.lengths,
        dimension=dimension,
        bandwidth=bandwidth,
        level=level,
        density=density,
        min_prominence=prominence,
        weights=weights,
        n_jobs=n_jobs,
    )


@step(message="counting states in bootstrap samples", when=lambda settings: settings.bootstrap > 0)
def bootstrap(
    data: Trajectories | None,
    neighbors: Neighbors,
    k: int,
    dimension: float,
    bandwidth: float | None,
    peaks: Persistence,
    tree: StateTree,
    weights: np.ndarray | None,
    *,
    level: float,
    density: Density,
    prominence: float | None,
    bootstrap: int,
    seed: int,
    n_jobs: int | None,
) -> StateBootstrap | None:
    """Find the states of bootstrap samples of the trajectories; None without trajectories."""
    if data is None:
        return None
    return bootstrap_states(
        neighbors,
        data.lengths.tolist(),
        k=k,
        n_bootstrap=bootstrap,
        weights=weights,
        seed=seed,
        level=level,
        density=density,
        min_prominence=prominence,
        bandwidth=bandwidth,
        dimension=dimension,
        peaks=peaks,
        tree=tree,
        n_jobs=n_jobs,
    )


@step()
def splits(
    data: Trajectories | None,
    graph: Graph,
    log_density: np.ndarray,
    peaks: Persistence,
    tree: StateTree,
    state_peaks: np.ndarray,
    cores: Cores,
    bootstrap: StateBootstrap | None,
    weights: np.ndarray | None,
    timestep: float | None,
) -> Splits:
    """Collect the evidence for every split of the tree; weighted frames give no evidence from kinetics."""
    number = {int(point): state for state, point in enumerate(cores.peaks)}
    return audit_splits(
        tree,
        graph,
        log_density,
        peaks,
        states=state_peaks,
        data=data if weights is None else None,
        support=None if bootstrap is None else bootstrap.peak_support,
        numbers=[number.get(int(peaks.peaks[peak]), -1) for peak in state_peaks],
    )

"""Steps that show how robust the states are: other k, bootstrap samples, the evidence of each split."""

import numpy as np

from mdfuzzy._choices import Density
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.splits import Splits, audit_splits
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import step
from mdfuzzy.states.cores import Cores
from mdfuzzy.states.persistence import Persistence
from mdfuzzy.states.stability import KScan, StateBootstrap, bootstrap_states, states_by_k
from mdfuzzy.states.tree import StateTree


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

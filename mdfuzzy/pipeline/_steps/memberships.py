"""Steps from the cores to the memberships: the random walk, and the extension to all frames."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._choices import BetaCriterion, Kernel, WalkGraph, WalkWeights
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.memberships.labels import warn_of_other_labels
from mdfuzzy.memberships.memberships import Memberships, solve_memberships
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._beta import explain_beta, scan_walk
from mdfuzzy.pipeline._cache import step
from mdfuzzy.pipeline._check_fits import measure_error
from mdfuzzy.pipeline.extension import Extension, Fitted, Room, extend_to_all
from mdfuzzy.pipeline.sample import ExtensionError
from mdfuzzy.states.cores import Cores

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client


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

"""The states of a data set: the neighbours of its frames, density, peaks, prominence and cores."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy.frames.features import Features
from mdfuzzy.frames.frames import Frames
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors, euclidean_neighbors
from mdfuzzy.neighbors.rmsd import rmsd_neighbors
from mdfuzzy.pipeline._cache import Steps
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.states.cores import Cores, find_cores, find_milestones
from mdfuzzy.states.density import dtm_log_density, kde_bandwidth, kde_log_density
from mdfuzzy.states.dimension import intrinsic_dimension
from mdfuzzy.states.persistence import Persistence, compute_persistence
from mdfuzzy.states.prominence import ProminenceGap


@dataclass(frozen=True, kw_only=True)
class States:
    """What is known once the states are found: the attributes of `Clustering` of the same names."""

    k: int
    dimension: float
    bandwidth: float | None
    graph: Graph
    log_density: np.ndarray
    peaks: Persistence
    gap: ProminenceGap
    prominence: float
    cores: Cores
    milestones: Cores


def search_neighbors(
    data: Frames | Features,
    n_neighbors: int,
    settings: Settings,
    *,
    progress: bool | None = None,
    **more: object,
) -> Neighbors:
    """Search by RMSD in frames, by Euclidean distance in features; see `rmsd_neighbors`."""
    options = {"n_neighbors": n_neighbors, "n_jobs": settings.n_jobs}
    if isinstance(data, Frames):
        return rmsd_neighbors(data, recall=settings.recall, progress=progress, **more, **options)
    return euclidean_neighbors(data, **options)


def find_states(neighbors: Neighbors, settings: Settings, steps: Steps) -> States:
    """Find the density, its peaks, and the states and cores among them."""
    n = len(neighbors)
    k = settings.resolve_k(n, n_neighbors=neighbors.k)
    if settings.k is None:
        steps.choose(
            "k", f"k = {k} neighbours per frame, by the number of frames ({n:,}); the density uses {2 * k}."
        )
    graph = neighbors.graph(k=k)
    dimension = steps.run(
        "dimension",
        float,
        lambda parts: settings.dimension or intrinsic_dimension(neighbors, n_neighbors=2 * k),
        needs=["neighbors"],
        used={"dimension": settings.dimension, "k": k},
    )
    if settings.dimension is None:
        why = f"by maximum likelihood from the distances to {2 * k} neighbours"
        steps.choose("dimension", f"dimension = {dimension:.3g}, {why}.")
    bandwidth = steps.run(
        "bandwidth",
        float,
        lambda parts: _bandwidth(neighbors, dimension, settings),
        needs=["neighbors", "dimension"],
        used={name: getattr(settings, name) for name in ("density", "kernel", "bandwidth")},
    )
    if settings.bandwidth is None and not np.isnan(bandwidth):
        steps.choose(
            "bandwidth", f"bandwidth = {bandwidth:.3g}, by the likelihood of every frame given the others."
        )
    log_density = steps.run(
        "log_density",
        np.ndarray,
        lambda parts: (
            dtm_log_density(neighbors, n_neighbors=2 * k, dimension=dimension)
            if settings.density == "dtm"
            else kde_log_density(neighbors, bandwidth=bandwidth, dimension=dimension)
        ),
        needs=["neighbors", "dimension", "bandwidth"],
        used={"density": settings.density},
    )
    peaks = steps.run(
        "persistence",
        Persistence,
        lambda parts: compute_persistence(graph, log_density, n_jobs=settings.n_jobs),
        needs=["neighbors", "log_density"],
        used={"k": k},
    )
    gap = steps.run(
        "prominence",
        ProminenceGap,
        lambda parts: _divide(peaks, settings),
        needs=["persistence"],
        used={"level": settings.level, "automatic": settings.prominence is None},
    )
    prominence = settings.prominence or gap.threshold
    if settings.prominence is None:
        steps.choose("prominence", f"prominence = {prominence:.3g}: {gap}.")
    cores = steps.run(
        "cores",
        Cores,
        lambda parts: find_cores(
            graph,
            log_density,
            peaks,
            min_prominence=prominence,
            rule=settings.core_rule,
            share=settings.core_share,
            least=settings.core_least,
        ),
        needs=["persistence"],
        used={
            "prominence": prominence,
            "rule": settings.core_rule,
            "share": settings.core_share,
            "least": settings.core_least,
        },
    )
    milestones = steps.run(
        "milestones",
        Cores,
        lambda parts: find_milestones(graph, log_density, peaks, min_prominence=prominence),
        needs=["persistence"],
        used={"prominence": prominence},
    )
    bandwidth = None if np.isnan(bandwidth) else bandwidth
    return States(
        k=k,
        dimension=dimension,
        bandwidth=bandwidth,
        graph=graph,
        log_density=log_density,
        peaks=peaks,
        gap=gap,
        prominence=prominence,
        cores=cores,
        milestones=milestones,
    )


def _bandwidth(neighbors: Neighbors, dimension: float, settings: Settings) -> float:
    """Return the width of the kernels; NaN if no step uses one."""
    if settings.density != "kde" and settings.kernel != "gaussian":
        return float("nan")
    return settings.bandwidth or kde_bandwidth(neighbors, dimension=dimension)


def _divide(peaks: Persistence, settings: Settings) -> ProminenceGap:
    """Divide the prominences; warn of an unclear gap only if the states depend on it."""
    if settings.prominence is None:
        peaks.suggest_prominence(level=settings.level)
    return peaks.prominence_gap(level=settings.level)

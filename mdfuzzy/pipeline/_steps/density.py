"""Steps from the neighbours to the log density of the frames."""

import numpy as np

from mdfuzzy._choices import Density, Kernel
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import step
from mdfuzzy.states.density import estimate_log_density, kde_bandwidth
from mdfuzzy.states.dimension import intrinsic_dimension
from mdfuzzy.states.reweighting import reweighted_log_density


@step()
def dimension(neighbors: Neighbors, k: int, *, dimension: float | None, n_jobs: int | None) -> float:
    """Return the intrinsic dimension, as set or estimated."""
    return dimension or intrinsic_dimension(neighbors, n_neighbors=2 * k, n_jobs=n_jobs)


@dimension.explained
def _(result: float, neighbors: Neighbors, k: int, *, dimension: float | None) -> str | None:
    if dimension is None:
        why = f"estimated by maximum likelihood from the distances to {2 * k} neighbours"
        return f"intrinsic dimension = {result:.3g}, {why}."
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

"""The height of hills from sampling noise in a log density, without smoothing and smoothed once or twice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import ReadOnly, check_int, check_real, check_type, read_only
from mdfuzzy._threads import share, using_threads
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.correlation import NeighborsInTime, neighbors_in_time
from mdfuzzy.states.prominence import expected_noise

#: Smallest number of independent neighbourhoods over which the errors are averaged.
_NEIGHBORHOODS = 500
_MAX_DRAWS = 20
#: Frames with a smaller inefficiency than this count as independent.
_CORRELATED = 1.1


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseModel(ReadOnly):
    """Hold the noise of a log density, and of its averages over neighbours, for each level of smoothing.

    Attributes
    ----------
    scales : (L,) float64
        The scale of noise prominences for independent errors at a peak and at its saddle: the standard
        deviation of the error times the square root of two, in the unit of the log density.
    reduction : (L,) float64
        The factor by which smoothing reduces the error; 1 for the first level, which is not smoothed.
    inflation : (L,) float64
        The factor by which frames that are close in time, and repeated frames, increase the differences
        between a frame and its surroundings; 1 for independent frames.
    n_neighbors : (L,) float64
        The number of independent frames in the average at each level.
    dimension : float
        The dimension of the density.
    in_time : NeighborsInTime or None
        The neighbours that are close in time; None if the trajectories are unknown.
    copies : float
        The number of frames divided by the number of different frames.
    """

    scales: np.ndarray
    reduction: np.ndarray
    inflation: np.ndarray
    n_neighbors: np.ndarray
    dimension: float
    in_time: NeighborsInTime | None
    copies: float = 1.0

    def __post_init__(self) -> None:
        for name in ("scales", "reduction", "inflation", "n_neighbors"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.scales)


def smooth_log_density(
    neighbors: Neighbors, log_density: npt.ArrayLike, *, k: int, n_jobs: int | None = None
) -> np.ndarray:
    """Average the log density of every point with those of its k nearest neighbours.

    The average is over the neighbours of the point only, not over all edges of the union graph. In many
    dimensions a point near a peak is among the neighbours of hundreds of outlying points, which would lower
    its average.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of points among themselves.
    log_density : (n,) array
        One value per point.
    k : int
        The number of neighbours.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    (n,) float64

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> neighbors = mf.euclidean_neighbors([[0.0], [1.0], [3.0], [7.0]], n_neighbors=2)
    >>> smooth_log_density(neighbors, [0.0, 1.0, 3.0, 7.0], k=1)
    array([0.5, 0.5, 2. , 5. ])
    """
    from mdfuzzy._kernels import smoothing

    check_type("neighbors", neighbors, Neighbors, remedy="`neighbors_from` takes arrays.")
    k = check_int("k", k, 1, neighbors.k)
    values = np.ascontiguousarray(log_density, np.float64)
    means = np.empty_like(values)
    with using_threads(n_jobs):
        share(smoothing.neighbor_means, len(means), neighbors.indices, k, values, means)
    return means


def measure_noise(
    neighbors: Neighbors,
    graph: Graph,
    log_density: np.ndarray,
    *,
    dimension: float,
    lengths: npt.ArrayLike | None = None,
    n_levels: int = 3,
    seed: int = 0,
    n_jobs: int | None = None,
) -> NoiseModel:
    r"""Measure the size of the errors of the log density at each level of smoothing.

    The error of one density estimate is known: its variance is :math:`\sigma^2 = (2d+4)/((d+4)m)` for m
    independent neighbours. An average over neighbours reduces the error by a factor that depends on the
    overlap of neighbourhoods, and so on the dimension. This factor is measured. Every frame gets a random
    weight, as in a bootstrap. The log density then changes (to first order) by the average over the
    neighbours of :math:`(w-1)(1 + \frac d2 (1 - r^2/\mathrm{DTM}^2))`, and this change is smoothed like the
    density itself.

    Frames that are close in time are not independent. If the trajectories are known, the weights are drawn a
    second time for blocks as long as the window in which neighbours depend on time, and the differences
    between a frame and its surroundings (two rounds of smoothing) are compared with the differences for
    independent weights. A change that a whole region shares moves no hill in it, and does not count. Frames
    that coincide count as one.

    Parameters
    ----------
    neighbors : Neighbors
        At least 2k neighbours of every point.
    graph : Graph
        The graph with k neighbours per point.
    log_density : (n,) float64
        The log density, in any unit.
    dimension : float
        The dimension d of the density.
    lengths : (T,) array of int, optional
        Frames per trajectory; without them frames count as independent.
    n_levels : int
        The number of levels: one more than rounds of smoothing.
    seed : int
        Random seed of the weights.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    NoiseModel

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).random((5000, 2))
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors, dimension=2.0)
    >>> noise = measure_noise(neighbors, graph, log_density, dimension=2.0)
    >>> noise.reduction.round(1)
    array([1. , 0.8, 0.7])
    """
    n_levels = check_int("n_levels", n_levels, 1)
    dimension = check_real("dimension", dimension, above=0)
    single, m = expected_noise(graph, log_density)
    m = min(m, neighbors.k)
    k = max(1, m // 2)
    rng = np.random.default_rng(seed)
    draws = int(np.clip(np.ceil(_NEIGHBORHOODS * m / len(neighbors)), 1, _MAX_DRAWS))
    deviations = partial(
        _deviations, neighbors, rng, m=m, k=k, dimension=dimension, n_levels=n_levels, n_jobs=n_jobs
    )
    errors, local = deviations(block=1, draws=draws)
    reduction = errors / errors[0]
    in_time, inflation = None, np.ones(n_levels)
    if lengths is not None:
        in_time = neighbors_in_time(neighbors, lengths, n_neighbors=m, n_jobs=n_jobs)
        if in_time.inefficiency > _CORRELATED and in_time.window > 1:
            # There are fewer blocks than frames, so an average over few draws is noisier.
            blocks = deviations(block=in_time.window, draws=min(_MAX_DRAWS, draws * in_time.window))[1]
            inflation = np.maximum(blocks / local, 1.0)
    copies = mean_copies(neighbors, n_neighbors=m)
    inflation = inflation * np.sqrt(copies)
    return NoiseModel(
        scales=single * reduction * inflation,
        reduction=reduction,
        inflation=inflation,
        n_neighbors=m / (reduction * inflation) ** 2,
        dimension=dimension,
        in_time=in_time,
        copies=copies,
    )


def mean_copies(neighbors: Neighbors, *, n_neighbors: int | None = None) -> float:
    """Return the number of points divided by the number of different points, from their neighbours.

    If every point is repeated c times, m neighbours count as m/c independent neighbours.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of points among themselves. Neighbours at distance zero are copies.
    n_neighbors : int, optional
        The number of neighbours to use, all by default. More copies than this are not noticed.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.repeat(np.random.default_rng(0).random(100), 3)[:, None]
    >>> mean_copies(mf.euclidean_neighbors(points, n_neighbors=8))
    3.0
    """
    rows = np.flatnonzero(neighbors.distances[:, 0] == 0)
    if not len(rows):
        return 1.0
    # Each of c equal points is the c-th part of a different point.
    copies = np.count_nonzero(neighbors.distances[rows, :n_neighbors] == 0, axis=1)
    different = len(neighbors) - len(rows) + round(float(np.sum(1 / (1.0 + copies))), 6)
    return len(neighbors) / different


def _deviations(
    neighbors: Neighbors,
    rng: np.random.Generator,
    *,
    block: int,
    m: int,
    k: int,
    dimension: float,
    n_levels: int,
    draws: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard deviations of the error and of its difference from its surroundings, per level.

    Blocks may extend across the end of a trajectory. Few do, and the weights are random.
    """
    from mdfuzzy._kernels import smoothing

    n = len(neighbors)
    squares = np.zeros((2, n_levels))
    for _ in range(draws):
        weights = rng.poisson(1.0, size=-(-n // block)).astype(np.float32)
        weights = np.roll(np.repeat(weights, block)[:n], int(rng.integers(n)))
        errors = np.empty(n)
        with using_threads(n_jobs):
            share(
                smoothing.density_errors, n, neighbors.indices, neighbors.distances, m, dimension, weights,
                errors,
            )  # fmt: skip
        levels = [errors]
        for _ in range(n_levels + 1):
            levels.append(smooth_log_density(neighbors, levels[-1], k=k, n_jobs=n_jobs))
        squares[0] += [np.var(levels[at]) for at in range(n_levels)]
        squares[1] += [np.var(levels[at] - levels[at + 2]) for at in range(n_levels)]
    return tuple(np.sqrt(squares / draws))

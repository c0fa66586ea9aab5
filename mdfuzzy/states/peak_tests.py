"""Tests of every peak of the density against noise, at several levels of smoothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import check_int, check_real, check_type
from mdfuzzy.frames.weights import effective_frames
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.hills import match_peaks
from mdfuzzy.states.noise import measure_noise, smooth_log_density
from mdfuzzy.states.persistence import Persistence, check_sampled, compute_persistence
from mdfuzzy.states.prominence import fit_noise
from mdfuzzy.states.reweighting import standardise, variance_factors
from mdfuzzy.states.tree import StateTree

#: Levels of smoothing: none, once, twice.
N_LEVELS = 3


def build_state_tree(
    neighbors: Neighbors,
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    dimension: float | None = None,
    lengths: npt.ArrayLike | None = None,
    sampled: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    level: float = 0.01,
    n_levels: int = N_LEVELS,
    seed: int = 0,
    n_jobs: int | None = None,
) -> StateTree:
    """Test every peak of a log density against noise, at several levels of smoothing.

    The log density is averaged over nearest neighbours once, twice, ... Averaging reduces noise more than it
    reduces a broad hill, but removes a narrow one. Each level is therefore tested against its own noise, with
    the probability of a false state divided among the levels. A peak is a state if it exceeds the noise at
    any level.

    A hill of a smoothed level belongs to the most prominent of the peaks inside its basin. Where two hills
    merge, the less prominent of their two peaks ends.

    Parameters
    ----------
    neighbors : Neighbors
        At least 2k neighbours of every frame.
    graph : Graph
        The symmetric graph of k neighbours on which `peaks` was computed.
    log_density : (n,) array
        The log density from which `peaks` was computed.
    peaks : Persistence
        The peaks of the log density and their merge tree.
    dimension : float, optional
        The dimension of the density; estimated by default.
    lengths : (T,) array of int, optional
        Frames per trajectory, in order. They let the noise account for neighbours that are close in time.
    sampled, weights : (n,) arrays, optional
        If frames have weights: the log density of the frames as sampled, and the weights. `log_density` is
        then the log density of the weighted frames (`reweighted_log_density`). Where few frames hold most of
        the weight, hills have to be higher to exceed the noise.
    level : float
        Probability of calling noise a state anywhere in the data, at any level.
    n_levels : int
        The number of levels: one more than rounds of smoothing.
    seed : int
        Random seed of the measurement of the noise.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    StateTree

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(2000, 2))
    >>> points[:800] += 6
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> tree = mf.build_state_tree(neighbors, graph, log_density, mf.compute_persistence(graph, log_density))
    >>> tree
    StateTree(2 states of ... peaks)
    """
    from mdfuzzy.states.dimension import intrinsic_dimension

    check_type("peaks", peaks, Persistence, remedy="`compute_persistence` gives one.")
    level = check_real("level", level, above=0, at_most=0.5)
    n_levels = check_int("n_levels", n_levels, 1)
    log_density = np.asarray(log_density, np.float64)
    k = graph.k if graph.k is not None else max(1, neighbors.k // 2)
    if dimension is None:
        dimension = intrinsic_dimension(neighbors, n_neighbors=min(2 * k, neighbors.k), n_jobs=n_jobs)
    as_sampled = check_sampled(graph, log_density, sampled)
    noise = measure_noise(
        neighbors, graph, as_sampled, dimension=dimension, lengths=lengths, n_levels=n_levels, seed=seed,
        n_jobs=n_jobs,
    )  # fmt: skip
    variances = None
    if weights is not None:
        variances = variance_factors(
            neighbors, weights, n_neighbors=min(2 * k, neighbors.k), dimension=dimension
        )
    columns, tested, gaps, tests = [], [], [], []
    smoothed = peaks
    for at in range(n_levels):
        if at:
            log_density = smooth_log_density(neighbors, log_density, k=k, n_jobs=n_jobs)
            smoothed = compute_persistence(graph, log_density, n_jobs=n_jobs)
            if variances is not None:
                variances = smooth_log_density(neighbors, variances, k=k, n_jobs=n_jobs)
        spectrum = standardise(smoothed, variances)
        columns.append(peaks.prominences if at == 0 else match_peaks(peaks, smoothed))
        tested.append(spectrum if at == 0 else match_peaks(peaks, smoothed, values=spectrum))
        gap, test = fit_noise(
            spectrum,
            noise=float(noise.scales[at]),
            n_neighbors=float(noise.n_neighbors[at]),
            n_points=len(neighbors),
            level=level / n_levels,
            dimension=dimension,
            looks=len(neighbors) / peaks.n_neighbors,
        )
        gaps.append(gap)
        tests.append(test)
    prominences = np.column_stack(columns)
    known = np.nan_to_num(np.column_stack(tested), nan=0.0, posinf=np.inf)
    thresholds = np.array([gap.threshold for gap in gaps])
    clearance = (known / thresholds).max(axis=1)
    clearance[np.isinf(peaks.prominences)] = np.inf
    states = np.flatnonzero(clearance >= 1)
    order = np.lexsort((-prominences[states, 0], -clearance[states]))
    return StateTree(
        prominences=prominences,
        p_values=np.column_stack(
            [test.p_values(column) for test, column in zip(tests, known.T, strict=True)]
        ),
        clearance=clearance,
        parents=peaks.parents,
        states=states[order],
        gaps=tuple(gaps),
        noise=noise,
        n_frames=len(neighbors),
        k=k,
        level=level,
        duplicates=float(np.mean(neighbors.distances[:, min(k, neighbors.k) - 1] == 0)),
        standardised=None if weights is None else np.column_stack(tested),
        n_effective=None if weights is None else effective_frames(np.asarray(weights, np.float64)),
    )

"""How firmly the number of states stands: for other numbers of neighbours, and for other trajectories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from mdfuzzy._bootstrap import bootstrap_units, statistical_inefficiency
from mdfuzzy._check import ReadOnly, check_choice, check_int, check_real, check_type, read_only
from mdfuzzy._choices import Density
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.correlation import check_lengths
from mdfuzzy.states.density import dtm_log_density, kde_log_density
from mdfuzzy.states.dimension import intrinsic_dimension
from mdfuzzy.states.persistence import Persistence, compute_persistence
from mdfuzzy.states.prominence import ProminenceGap, divide_prominences
from mdfuzzy.states.reweighting import reweighted_log_density, standardise, variance_factors


@dataclass(frozen=True, eq=False)
class KScan(ReadOnly):
    """The states for several numbers of neighbours.

    Attributes
    ----------
    k : (R,) int64
        Neighbours per point in the graph, ascending; the density is estimated from twice as many.
    gaps : tuple of R ProminenceGap
        The division into noise and states for each.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> scan = mf.states_by_k(neighbors, ks=[10, 20])
    >>> scan.k, scan.n_states
    (array([10, 20]), array([3, 3]))
    """

    k: np.ndarray
    gaps: tuple[ProminenceGap, ...]

    @property
    def n_states(self) -> np.ndarray:
        """The number of states for each k, (R,) int64."""
        return np.array([gap.n_states for gap in self.gaps])

    @property
    def well_determined(self) -> np.ndarray:
        """Whether the number of states is well determined for each k, (R,) bool."""
        return np.array([gap.well_determined for gap in self.gaps])

    def __str__(self) -> str:
        return "\n".join(f"k = {k}: {gap}" for k, gap in zip(self.k, self.gaps, strict=True))


@dataclass(frozen=True, eq=False)
class StateBootstrap(ReadOnly):
    """The states when whole trajectories are drawn anew.

    Attributes
    ----------
    n_states : (R,) int64
        The number of states in each bootstrap sample.
    support : (K,) float64
        For each state of all the data, highest peak first, the fraction of the bootstrap samples in which a
        state has its peak in this one's basin.
    gap : ProminenceGap
        The division for all the data.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.tile([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> bootstrap = mf.bootstrap_states(neighbors, [300, 300, 300])
    >>> bootstrap.support
    array([1., 1., 1.])
    """

    n_states: np.ndarray
    support: np.ndarray
    gap: ProminenceGap

    def __str__(self) -> str:
        numbers, times = np.unique(self.n_states, return_counts=True)
        counts = ", ".join(f"{c} states in {t}" for c, t in zip(numbers, times, strict=True))
        support = ", ".join(f"{share:.0%}" for share in self.support)
        return (
            f"{self.gap.n_states} states in all the data; of {len(self.n_states)} bootstrap samples of the "
            f"trajectories, {counts}; each state found in {support} of them"
        )


def states_by_k(
    neighbors: Neighbors,
    *,
    ks: Sequence[int] | None = None,
    level: float = 0.01,
    min_prominence: float | None = None,
    density: Density = "dtm",
    bandwidth: float | None = None,
    dimension: float | None = None,
    weights: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> KScan:
    """Count the states for several numbers of neighbours, from the neighbours already found.

    Parameters
    ----------
    neighbors : Neighbors
        At least twice as many per point as the largest k.
    ks : sequence of int, optional
        Neighbours per point in the graph; by default seven values, even in the logarithm, from an eighth of
        the largest possible one (but at least 5) to that.
    level : float
        Probability of calling noise a state, for each k.
    min_prominence : float, optional
        The smallest prominence of a state, instead of the one that noise does not reach.
    density : {"dtm", "kde"}
        How the density is estimated: from 2k neighbours by the distance to measure, or with kernels.
    bandwidth : float, optional
        The width of the kernels; `kde_bandwidth` by default.
    dimension : float, optional
        The exponent of the density, the same for every k; by default estimated from all neighbours.
    weights : (n,) array, optional
        Weights of the points.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    KScan
        States that appear for a small k only are noise or too small for the larger ones: a state needs
        more than 2k points to show.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(2000, 2))
    >>> points[:800] += 6
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=100)
    >>> mf.states_by_k(neighbors, ks=[15, 30, 50]).n_states
    array([2, 2, 2])
    """
    check_type("neighbors", neighbors, Neighbors, remedy="`neighbors_from` takes arrays.")
    high = neighbors.k // 2
    remedy = (
        f"The density needs twice as many neighbours; these were searched with n_neighbors={neighbors.k}."
    )
    if ks is None:
        check_int("neighbors.k", neighbors.k, 2, remedy="Search more neighbours.")
        ks = np.unique(np.geomspace(min(max(5, high // 8), high), high, 7).round().astype(int)).tolist()
    ks = sorted({check_int("ks", k, 1, high, remedy=remedy) for k in ks})
    dimension = _dimension(neighbors, dimension, n_jobs)
    gaps = []
    for k in ks:
        sampled = logf = _log_density(neighbors, 2 * k, density, dimension, bandwidth)
        variances = None
        if weights is not None:
            logf = reweighted_log_density(neighbors, sampled, weights, n_neighbors=2 * k)
            variances = variance_factors(neighbors, weights, n_neighbors=2 * k, dimension=dimension)
        peaks = compute_persistence(neighbors.graph(k=k), logf, sampled=sampled, n_jobs=n_jobs)
        gaps.append(_divide(peaks, level, min_prominence, variances=variances)[0])
    return KScan(read_only(np.array(ks, dtype=np.int64)), tuple(gaps))


def bootstrap_states(
    neighbors: Neighbors,
    lengths: npt.ArrayLike,
    *,
    k: int | None = None,
    n_bootstrap: int = 20,
    seed: int = 0,
    level: float = 0.01,
    min_prominence: float | None = None,
    density: Density = "dtm",
    bandwidth: float | None = None,
    dimension: float | None = None,
    weights: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> StateBootstrap:
    r"""Count the states of bootstrap samples of the trajectories.

    Frames of one trajectory are not independent, trajectories are: this says whether a state rests on one
    or two of them. Whole trajectories are drawn with replacement; fewer than five are cut into blocks, which
    are long next to the time that the molecule stays in a state, and the blocks are drawn. A frame drawn w
    times counts w times (`reweighted_log_density`); frames not drawn are left out. The graph is that of all
    the data, between the frames that remain; components of k frames or fewer are no states.

    Parameters
    ----------
    neighbors : Neighbors
        Of all frames.
    lengths : (T,) array of int
        Frames per trajectory, in the order of the frames.
    k : int, optional
        Neighbours per point in the graph; half of those given by default.
    n_bootstrap : int
        How many times to draw.
    seed : int
        Of the random numbers.
    level : float
        Probability of calling noise a state.
    min_prominence : float, optional
        The smallest prominence of a state, instead of the one that noise does not reach.
    density : {"dtm", "kde"}
        How the density is estimated.
    bandwidth : float, optional
        The width of the kernels; `kde_bandwidth` by default.
    dimension : float, optional
        The exponent of the density; the dimension estimated from the neighbours by default.
    weights : (n,) array, optional
        Weights of the frames; a frame drawn w times counts w times its weight.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    StateBootstrap

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(2000, 2))
    >>> points[:800] += 6  # the first two of five trajectories are in a state of their own
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    >>> result = mf.bootstrap_states(neighbors, [400] * 5, n_bootstrap=10)
    >>> result.gap.n_states, int(result.n_states.max())
    (2, 2)
    """
    check_type("neighbors", neighbors, Neighbors, remedy="`neighbors_from` takes arrays.")
    lengths = check_lengths(lengths, len(neighbors))
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, 1)
    level = check_real("level", level, above=0, at_most=0.5)
    graph = neighbors.graph(k=k)
    dimension = _dimension(neighbors, dimension, n_jobs)
    assert graph.k is not None, "it is a graph of neighbours"
    m = min(2 * graph.k, neighbors.k)
    logf = sampled = _log_density(neighbors, m, density, dimension, bandwidth)
    variances = None
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        logf = reweighted_log_density(neighbors, sampled, weights, n_neighbors=m)
        variances = variance_factors(neighbors, weights, n_neighbors=m, dimension=dimension)
    peaks = compute_persistence(graph, logf, sampled=sampled, n_jobs=n_jobs)
    gap, states = _divide(peaks, level, min_prominence, variances=variances)
    basins = peaks.basins(states=states)
    indicators = np.split(basins[:, None] == np.arange(gap.n_states), np.cumsum(lengths)[:-1])
    units = bootstrap_units(lengths, inefficiency=statistical_inefficiency(indicators))
    draws = units.draw(n_bootstrap, seed=seed)
    counts = np.empty(len(draws), np.int64)
    found = np.zeros(gap.n_states)
    for r, drawn in enumerate(draws):
        counted = units.per_frame(drawn) if weights is None else units.per_frame(drawn) * weights
        logf = reweighted_log_density(neighbors, sampled, counted, n_neighbors=m)
        kept = counted > 0
        part = _subgraph(graph, kept)
        if weights is None:
            peaks = compute_persistence(part, logf[kept], n_jobs=n_jobs)
            # The mean of Poisson weights of m neighbours adds a variance of 1/m to that of the sample, which
            # is (2d + 4) / (d + 4) / m.
            noise = peaks.noise * np.sqrt(1 + (dimension + 4) / (2 * dimension + 4))
            states = _divide(peaks, level, min_prominence, noise)[1]
        else:
            peaks = compute_persistence(part, logf[kept], sampled=sampled[kept], n_jobs=n_jobs)
            factors = variance_factors(neighbors, counted, n_neighbors=m, dimension=dimension)
            states = _divide(peaks, level, min_prominence, variances=factors[kept])[1]
        tops = peaks.peaks[states]
        # Frames that lost their neighbours form fragments, which no graph of k neighbours has.
        components = peaks.basins(np.inf)
        tops = tops[np.bincount(components)[components[tops]] > graph.k]
        counts[r] = len(tops)
        found[np.unique(basins[np.flatnonzero(kept)[tops]])] += 1
    support = found / len(draws) if len(draws) else np.full(gap.n_states, np.nan)
    return StateBootstrap(read_only(counts), read_only(support), gap)


def _dimension(neighbors: Neighbors, dimension: float | None, n_jobs: int | None) -> float:
    if dimension is None:
        return intrinsic_dimension(neighbors, n_jobs=n_jobs)
    return check_real("dimension", dimension, above=0)


def _log_density(
    neighbors: Neighbors, m: int, density: Density, dimension: float, bandwidth: float | None
) -> np.ndarray:
    if check_choice("density", density, get_args(Density)) == "dtm":
        return dtm_log_density(neighbors, n_neighbors=m, dimension=dimension)
    return kde_log_density(neighbors, dimension=dimension, bandwidth=bandwidth)


def _divide(
    peaks: Persistence,
    level: float,
    min_prominence: float | None,
    noise: float | None = None,
    variances: np.ndarray | None = None,
) -> tuple[ProminenceGap, np.ndarray]:
    """Divide prominences by the test, or at a prominence that is given; also return the peaks above.

    With weights, and the variances that they bring, the test is of prominences in units of the noise there.
    """
    tested = standardise(peaks, variances)
    gap = divide_prominences(
        tested,
        noise=peaks.noise if noise is None else noise,
        n_neighbors=peaks.n_neighbors,
        n_points=len(peaks.ascents),
        level=level,
    )
    if min_prominence is None:
        return gap, np.flatnonzero(tested >= gap.threshold)
    finite = peaks.prominences[np.isfinite(peaks.prominences)]
    above = finite >= check_real("min_prominence", min_prominence, above=0)
    given = replace(
        gap,
        threshold=float(min_prominence),
        n_states=len(peaks) - int(np.count_nonzero(~above)),
        n_noise=int(np.count_nonzero(~above)),
        largest_noise=float(finite[~above].max(initial=0.0)),
        smallest_state=float(finite[above].min(initial=np.inf)),
    )
    return given, peaks.states(min_prominence)


def _subgraph(graph: Graph, kept: np.ndarray) -> Graph:
    """Return the graph of the points that are kept, numbered in their order."""
    number = np.cumsum(kept) - 1
    edges = np.repeat(kept, graph.degrees) & kept[graph.indices]
    degrees = np.add.reduceat(np.append(edges, False).astype(np.int64), graph.indptr[:-1])
    degrees[graph.degrees == 0] = 0
    indptr = np.concatenate([[0], np.cumsum(degrees[kept])])
    indices, lengths = number[graph.indices[edges]], graph.distances[edges]
    return Graph(
        indptr, indices, lengths, kind=graph.kind, n_targets=int(kept.sum()), k=graph.k, radius=graph.radius
    )

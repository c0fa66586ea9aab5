"""Robustness of the number of states to the number of neighbours and to the choice of trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import ReadOnly, check_choice, check_int, check_real, check_type, read_only
from mdfuzzy._choices import Density
from mdfuzzy._messages import counted
from mdfuzzy.frames.bootstrap import bootstrap_units, statistical_inefficiency
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.correlation import check_lengths
from mdfuzzy.states.density import dtm_log_density, kde_log_density
from mdfuzzy.states.dimension import intrinsic_dimension
from mdfuzzy.states.noise import smooth_log_density
from mdfuzzy.states.peak_tests import build_state_tree
from mdfuzzy.states.persistence import Persistence, compute_persistence
from mdfuzzy.states.reweighting import reweighted_log_density, standardise, variance_factors
from mdfuzzy.states.tree import StateTree

#: Number of peaks beyond the states that are examined.
_MORE = 5


@dataclass(frozen=True, eq=False)
class KScan(ReadOnly):
    """Hold the number of states for several numbers of neighbours.

    Attributes
    ----------
    k : (R,) int64
        Neighbours per point in the graph, ascending; the density is estimated from twice as many.
    n_states : (R,) int64
        The number of states for each k.
    well_determined : (R,) bool
        Whether this number is well determined.
    words : tuple of R str
        The number of states and how well it is determined, in words.

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
    n_states: np.ndarray
    well_determined: np.ndarray
    words: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(f"k = {k}: {words}" for k, words in zip(self.k, self.words, strict=True))


@dataclass(frozen=True, eq=False)
class StateBootstrap(ReadOnly):
    """Hold the states of bootstrap samples of the trajectories.

    Attributes
    ----------
    n_states : (R,) int64
        The number of states in each bootstrap sample.
    support : (K,) float64
        For each state of all the data, from the clearest, the fraction of the bootstrap samples in which a
        state has its peak in the basin of this state, at any level of smoothing.
    peak_support : (P,) float64
        The same for all examined peaks: the states and the clearest of the others, each with its basin when
        it splits off; NaN for other peaks.
    drawn : str
        The units that the bootstrap draws.

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
    peak_support: np.ndarray
    drawn: str = "whole trajectories"

    def __str__(self) -> str:
        if len(self.n_states) == 0:
            return "no bootstrap: the trajectories are too short for two independent blocks"
        numbers, times = np.unique(self.n_states, return_counts=True)
        counts = ", ".join(f"{counted(int(c), 'state')} in {t}" for c, t in zip(numbers, times, strict=True))
        support = ", ".join(f"{share:.0%}" for share in self.support)
        return (
            f"{counted(len(self.support), 'state')} in all the data; of {len(self.n_states)} bootstrap "
            f"samples of {self.drawn}, {counts}; support of each state from the clearest: {support}"
        )


def states_by_k(
    neighbors: Neighbors,
    *,
    ks: Sequence[int] | None = None,
    lengths: npt.ArrayLike | None = None,
    level: float = 0.01,
    min_prominence: float | None = None,
    density: Density = "dtm",
    bandwidth: float | None = None,
    dimension: float | None = None,
    weights: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> KScan:
    """Count the states for several numbers of neighbours, from known neighbours.

    Parameters
    ----------
    neighbors : Neighbors
        At least twice as many neighbours per point as the largest k.
    ks : sequence of int, optional
        Neighbours per point in the graph; by default seven values, even in the logarithm, from an eighth of
        the largest possible one (but at least 5) to that.
    lengths : (T,) array of int, optional
        Frames per trajectory, in order. They let the noise account for neighbours that are close in time.
    level : float
        The probability of calling noise a state, for each k.
    min_prominence : float, optional
        The smallest prominence of a state, instead of the prominence that noise does not reach.
    density : {"dtm", "kde"}
        The density estimate: from 2k neighbours by the distance to measure, or with kernels.
    bandwidth : float, optional
        The width of the kernel; by default from `kde_bandwidth`.
    dimension : float, optional
        The exponent of the density, the same for every k; by default estimated from all neighbours.
    weights : (n,) array, optional
        Weights of the points.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    KScan
        The numbers of states. States that appear only for a small k are noise, or too small for the larger k:
        a state needs more than 2k points to be detected.

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
    level = check_real("level", level, above=0, at_most=0.5)
    found = []
    for k in ks:
        logf = _log_density(neighbors, 2 * k, density, dimension, bandwidth)
        graph = neighbors.graph(k=k)
        sampled = logf
        if weights is not None:
            logf = reweighted_log_density(neighbors, sampled, weights, n_neighbors=2 * k)
        peaks = compute_persistence(graph, logf, sampled=sampled, n_jobs=n_jobs)
        tree = build_state_tree(
            neighbors, graph, logf, peaks, dimension=dimension, lengths=lengths, sampled=sampled,
            weights=weights, level=level, n_jobs=n_jobs,
        )  # fmt: skip
        count = len(tree.at(prominence=min_prominence))
        words = tree.words if min_prominence is None else counted(count, "state")
        found.append((count, min_prominence is not None or tree.well_determined, words))
    counts, well, words_of = zip(*found, strict=True)
    return KScan(
        read_only(np.array(ks, dtype=np.int64)), read_only(np.array(counts, dtype=np.int64)),
        read_only(np.array(well, dtype=bool)), words_of,
    )  # fmt: skip


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
    peaks: Persistence | None = None,
    tree: StateTree | None = None,
    n_jobs: int | None = None,
) -> StateBootstrap:
    r"""Count the states of bootstrap samples of the trajectories.

    Trajectories are independent, but frames of one trajectory are not. The bootstrap therefore shows whether
    a state depends on only one or two trajectories. Whole trajectories are drawn with replacement. Fewer than
    five trajectories are cut into blocks that are long compared with the time that the molecule stays in a
    state, and the blocks are drawn. A frame drawn w times counts w times (`reweighted_log_density`); frames
    not drawn are left out. The graph is the graph of all the data, restricted to the remaining frames.
    Components of k frames or fewer do not count as states.

    A state is found in a sample if, at any level of smoothing, a peak in its basin is higher than the
    combined noise of this level and of the bootstrap.

    Parameters
    ----------
    neighbors : Neighbors
        The neighbours of all frames.
    lengths : (T,) array of int
        Frames per trajectory, in the order of the frames.
    k : int, optional
        Neighbours per point in the graph; by default half of the known neighbours.
    n_bootstrap : int
        Number of bootstrap samples.
    seed : int
        Random seed of the bootstrap.
    level : float
        The probability of calling noise a state.
    min_prominence : float, optional
        The smallest prominence of a state, instead of the prominence that noise does not reach.
    density : {"dtm", "kde"}
        The density estimate.
    bandwidth : float, optional
        The width of the kernel; by default from `kde_bandwidth`.
    dimension : float, optional
        The exponent of the density; by default the dimension estimated from the neighbours.
    weights : (n,) array, optional
        Weights of the frames.
    peaks, tree : Persistence and StateTree, optional
        The peaks and the tree of all the data, if known.
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
    >>> len(result.support), int(result.n_states.max())
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
    sampled = _log_density(neighbors, m, density, dimension, bandwidth)
    given = np.ones(len(neighbors)) if weights is None else np.asarray(weights, np.float64)
    weighted = reweighted_log_density(neighbors, sampled, given, n_neighbors=m)
    if peaks is None:
        peaks = compute_persistence(graph, weighted, sampled=sampled, n_jobs=n_jobs)
    if tree is None:
        tree = build_state_tree(
            neighbors, graph, weighted, peaks, dimension=dimension, lengths=lengths, sampled=sampled,
            weights=weights, level=level, n_jobs=n_jobs,
        )  # fmt: skip
    chosen = tree.at(prominence=min_prominence)
    basins = peaks.basins(states=chosen)
    indicators = np.split(basins[:, None] == np.arange(len(chosen)), np.cumsum(lengths)[:-1])
    units = bootstrap_units(lengths, inefficiency=statistical_inefficiency(indicators))
    draws = units.draw(n_bootstrap, seed=seed)
    others = tree.order[~np.isin(tree.order, chosen)][:_MORE]
    finer = [peaks.basins(states=[*chosen, *others[: j + 1]]) for j in range(len(others))]
    # The mean of Poisson weights of m neighbours adds a variance of 1/m to that of the sample, which is
    # (2d + 4) / (d + 4) / m.
    if min_prominence is not None:
        thresholds = [min_prominence]
    else:
        more = 1.0 if weights is not None else np.sqrt(1 + (dimension + 4) / (2 * dimension + 4))
        thresholds = [more * gap.threshold for gap in tree.gaps]
    counts = np.empty(len(draws), np.int64)
    found, found_others = np.zeros(len(chosen)), np.zeros(len(others))
    for r, drawn in enumerate(draws):
        mass = given * units.per_frame(drawn)
        logf = reweighted_log_density(neighbors, sampled, mass, n_neighbors=m)
        factors = None  # the weights include the noise of the bootstrap
        if weights is not None and min_prominence is None:
            factors = variance_factors(neighbors, mass, n_neighbors=m, dimension=dimension)
        tops = _tops(neighbors, graph, logf, mass, thresholds, factors, n_jobs=n_jobs)
        seen = np.unique(basins[np.concatenate(tops)])
        found[seen] += 1
        found_others += [
            np.any(finer[j][np.concatenate(tops)] == len(chosen) + j) for j in range(len(others))
        ]
        counts[r] = max(len(seen), *map(len, tops))
    share = np.full(len(peaks), np.nan)
    if len(draws):
        share[chosen], share[others] = found / len(draws), found_others / len(draws)
    return StateBootstrap(read_only(counts), read_only(share[chosen]), read_only(share), units.words)


def _tops(
    neighbors: Neighbors,
    graph: Graph,
    log_density: np.ndarray,
    weights: np.ndarray,
    thresholds: Sequence[float],
    factors: np.ndarray | None,
    *,
    n_jobs: int | None,
) -> list[np.ndarray]:
    """Return the peaks of the states of a bootstrap sample, as points, for each level."""
    assert graph.k is not None, "it is a graph of neighbours"
    kept = np.flatnonzero(weights > 0)
    part = _subgraph(graph, weights > 0)
    near = smooth_log_density(neighbors, weights, k=graph.k, n_jobs=n_jobs)
    found = []
    for at, threshold in enumerate(thresholds):
        if at:
            sums = smooth_log_density(neighbors, weights * log_density, k=graph.k, n_jobs=n_jobs)
            log_density = np.where(near > 0, sums / np.where(near > 0, near, 1.0), log_density)
            if factors is not None:
                factors = smooth_log_density(neighbors, factors, k=graph.k, n_jobs=n_jobs)
        peaks = compute_persistence(part, log_density[kept], n_jobs=n_jobs)
        heights = standardise(peaks, None if factors is None else factors[kept])
        tops = peaks.peaks[heights >= threshold]
        # Frames that lost their neighbours form fragments, which a graph of k neighbours never has.
        components = peaks.basins(np.inf)
        found.append(kept[tops[np.bincount(components)[components[tops]] > graph.k]])
    return found


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


def _subgraph(graph: Graph, kept: np.ndarray) -> Graph:
    """Return the graph restricted to the kept points, numbered in their order."""
    number = np.cumsum(kept) - 1
    edges = np.repeat(kept, graph.degrees) & kept[graph.indices]
    degrees = np.add.reduceat(np.append(edges, False).astype(np.int64), graph.indptr[:-1])
    degrees[graph.degrees == 0] = 0
    indptr = np.concatenate([[0], np.cumsum(degrees[kept])])
    indices, lengths = number[graph.indices[edges]], graph.distances[edges]
    return Graph(
        indptr, indices, lengths, kind=graph.kind, n_targets=int(kept.sum()), k=graph.k, radius=graph.radius
    )

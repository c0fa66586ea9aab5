"""How firmly the number of states stands: for other numbers of neighbours, and for other trajectories."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import ReadOnly, check_int, check_real, check_type, read_only
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.density import dtm_log_density
from mdfuzzy.states.dimension import intrinsic_dimension
from mdfuzzy.states.persistence import compute_persistence
from mdfuzzy.states.prominence import ProminenceGap


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
            f"{self.gap.n_states} states in all the data; of {len(self.n_states)} bootstrap samples of whole "
            f"trajectories, {counts}; each state found in {support} of them"
        )


def states_by_k(
    neighbors: Neighbors,
    *,
    ks: Sequence[int] | None = None,
    level: float = 0.01,
    dimension: float | None = None,
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
    dimension : float, optional
        The exponent of the density, the same for every k; by default estimated from all neighbours.

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
    dimension = _dimension(neighbors, dimension)
    gaps = []
    for k in ks:
        logf = dtm_log_density(neighbors, n_neighbors=2 * k, dimension=dimension)
        gaps.append(compute_persistence(neighbors.graph(k=k), logf).prominence_gap(level=level))
    return KScan(read_only(np.array(ks, dtype=np.int64)), tuple(gaps))


def bootstrap_states(
    neighbors: Neighbors,
    lengths: npt.ArrayLike,
    *,
    k: int | None = None,
    n_bootstrap: int = 20,
    seed: int = 0,
    level: float = 0.01,
    dimension: float | None = None,
) -> StateBootstrap:
    r"""Count the states when whole trajectories are drawn anew, as often as there are, with replacement.

    Frames of one trajectory are not independent, trajectories are: this says whether a state rests on one
    or two of them. A trajectory drawn w times counts w times; the frames of those not drawn are left out. The
    neighbourhoods stay those of all the data: with the weight :math:`c = \sum_j w_j` of a point's neighbours,
    :math:`\log f = \log c - d \log \mathrm{DTM}` with the weighted mean of squared distances. The graph
    is that of all the data, between the frames that remain; components of k frames or fewer are no states.

    Parameters
    ----------
    neighbors : Neighbors
        Of all frames.
    lengths : (T,) array of int
        Frames per trajectory, in the order of the frames; at least two trajectories.
    k : int, optional
        Neighbours per point in the graph; half of those given by default.
    n_bootstrap : int
        How many times to draw.
    seed : int
        Of the random numbers.
    level : float
        Probability of calling noise a state.
    dimension : float, optional
        The exponent of the density; the dimension estimated from the neighbours by default.

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
    lengths = _check_lengths(lengths, len(neighbors))
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, 1)
    level = check_real("level", level, above=0, at_most=0.5)
    graph = neighbors.graph(k=k)
    dimension = _dimension(neighbors, dimension)
    m = min(2 * graph.k, neighbors.k)
    logf = dtm_log_density(neighbors, n_neighbors=m, dimension=dimension)
    peaks = compute_persistence(graph, logf)
    gap = peaks.prominence_gap(level=level)
    basins = peaks.basins(gap.threshold)

    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    counts = np.empty(n_bootstrap, np.int64)
    found = np.zeros(gap.n_states)
    for r in range(n_bootstrap):
        drawn = np.bincount(rng.integers(len(lengths), size=len(lengths)), minlength=len(lengths))
        kept, logf = _weighted_log_density(neighbors, drawn[owner], m, dimension)
        peaks = compute_persistence(_subgraph(graph, kept), logf[kept])
        # The bootstrap sample's own error comes on top of the sample's, and is as large: twice the variance.
        division = peaks.prominence_gap(level=level, noise=np.sqrt(2) * peaks.noise)
        tops = peaks.peaks[peaks.states(division.threshold)]
        # Frames that lost their neighbours form fragments, which no graph of k neighbours has.
        components = peaks.basins(np.inf)
        tops = tops[np.bincount(components)[components[tops]] > graph.k]
        counts[r] = len(tops)
        found[np.unique(basins[np.flatnonzero(kept)[tops]])] += 1
    return StateBootstrap(read_only(counts), read_only(found / n_bootstrap), gap)


def _dimension(neighbors: Neighbors, dimension: float | None) -> float:
    return (
        intrinsic_dimension(neighbors) if dimension is None else check_real("dimension", dimension, above=0)
    )


def _check_lengths(lengths: npt.ArrayLike, n: int) -> np.ndarray:
    lengths = np.asarray(lengths)
    remedy = "Give the number of frames of each trajectory, in order."
    if lengths.ndim != 1 or len(lengths) < 2:
        raise ValueError(f"`lengths` must be of at least 2 trajectories; got {lengths.tolist()}. {remedy}")
    if not np.issubdtype(lengths.dtype, np.integer) or lengths.min() < 1 or lengths.sum() != n:
        raise ValueError(
            f"`lengths` must be positive integers that add up to {n}, the number of frames; got a sum of "
            f"{lengths.sum()}. {remedy}"
        )
    return lengths


def _weighted_log_density(
    neighbors: Neighbors, weights: np.ndarray, m: int, dimension: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return (points of positive weight that have a neighbour of positive weight, log density)."""
    logf = np.zeros(len(neighbors))
    kept = weights > 0
    weights = weights.astype(np.float64)
    step = 65_536
    for start in range(0, len(neighbors), step):
        rows = slice(start, start + step)
        mass = weights[neighbors.indices[rows, :m]]
        total = mass.sum(axis=1)
        squares = (mass * neighbors.distances[rows, :m].astype(np.float64) ** 2).sum(axis=1)
        usable = (total > 0) & (squares > 0)
        kept[rows] &= usable
        total, squares = np.where(usable, total, 1.0), np.where(usable, squares, 1.0)
        logf[rows] = np.log(total) - dimension / 2 * np.log(squares / total)
    return kept, logf


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

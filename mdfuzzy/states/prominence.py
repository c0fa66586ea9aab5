"""The peaks that are states: peaks with a prominence that sampling noise alone would not reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import check_numbers, check_real
from mdfuzzy._messages import counted
from mdfuzzy.neighbors.graph import Graph

_SAMPLE = 20_000  # points from which the scale of the noise is estimated
_STRETCH = 2048  # of them processed together
_PRIOR_PEAKS = 10  # the expected scale weighs as much as this many observed peaks
# Hills of flat densities, where the truth is known (points spread uniformly in a periodic cube of 1 to 8
# dimensions): their root mean square, in units of the scale for independent errors, is 1.3 in one dimension.
# It falls to 0.85, 0.65, 0.5 and 0.4 in 2, 3, 5 and 8 dimensions, because saddles are high if many directions
# lead down. In more dimensions it rises again, because points far from a peak are its neighbours: to 0.8 in
# 14. The limit is therefore 0.8 from 12 dimensions, and less below, in proportion to them. With these, 4 of
# 1,947 samples of one mode (Gaussian, t, uniform with and without edges, 2 to 20 dimensions, 2,000 to 20,000
# points) gave two states at a level of 1 %.
_LINE, _MANY, _MANY_DIMENSIONS = 1.3, 0.8, 12.0
#: Why a number of states is poorly determined if the scale of the noise was capped.
TOO_PROMINENT = "peaks taken for noise are more prominent than noise should produce"
_EXCESS = 0.4  # fits to densities of one mode exceed the scale by 1.41 in one dimension, 1.1 in 2 to 20


@dataclass(frozen=True, kw_only=True)
class ProminenceGap:
    """Hold the division of a spectrum of prominences into noise and states, and its clarity.

    Attributes
    ----------
    threshold : float
        The prominence that the noise of the whole data set exceeds with probability `level`.
    n_states : int
        The number of peaks above the threshold, including peaks that never die.
    n_noise : int
        The number of peaks below the threshold.
    noise : float
        The scale of the noise: the root mean square of the prominences of noise peaks.
    largest_noise : float
        The largest prominence below the threshold; 0 if there is none.
    smallest_state : float
        The smallest prominence above the threshold; infinite if every state is a separate component of the
        graph.
    p_noise, p_state : float
        The probabilities that noise alone produces a peak of `largest_noise`, or of `smallest_state`,
        anywhere in the data.
    level : float
        The probability of calling noise a state anywhere in the data.
    capped : bool
        Whether the peaks below the threshold would give a noise scale larger than theory allows. Some of them
        may then be states, and the number of states is poorly determined.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> gap = peaks.prominence_gap()
    >>> gap.n_states, gap.well_determined, gap.largest_noise < gap.threshold < gap.smallest_state
    (3, True, True)
    """

    threshold: float
    n_states: int
    n_noise: int
    noise: float
    largest_noise: float
    smallest_state: float
    p_noise: float
    p_state: float
    level: float
    capped: bool = False

    @property
    def doubts(self) -> tuple[str, ...]:
        """The reasons why the division is poorly determined, as clauses; empty if there are none.

        A level ten times stricter, or one five times laxer, would give other states, or the noise is capped.
        """
        found = []
        if self.p_state >= self.level / 10:
            found.append(f"one state could be noise (p = {self.p_state:.1g})")
        if self.p_noise <= 5 * self.level:
            found.append(f"one peak taken for noise could be a state (p = {self.p_noise:.1g})")
        if self.capped:
            found.append(f"{TOO_PROMINENT} (their scale exceeds {self.noise:.3g})")
        return tuple(found)

    @property
    def well_determined(self) -> bool:
        """Whether there is no reason to doubt the division."""
        return not self.doubts

    def __str__(self) -> str:
        word = f"POORLY determined: {'; '.join(self.doubts)}" if self.doubts else "well determined"
        return (
            f"{counted(self.n_states, 'state')} above a prominence of {self.threshold:.3g}, {word}. "
            f"Smallest state {self.smallest_state:.3g} (p = {self.p_state:.1g} under noise), "
            f"largest noise {self.largest_noise:.3g} (p = {self.p_noise:.1g}), "
            f"{counted(self.n_noise, 'peak of noise')} of scale {self.noise:.3g}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseTest:
    """Hold the noise against which a spectrum of prominences was tested.

    Attributes
    ----------
    noise_peaks : (J,) float64
        The prominences below the threshold, ascending.
    scales : (J + 1,) float64
        The scale of the noise estimated from the first 0, 1, 2, ..., J of these prominences.
    shape : float
        The number of independent frames in each estimate: the shape of the Gamma distribution of its tail.
    looks : float
        The number of independent places in which noise could have produced a peak.
    """

    noise_peaks: np.ndarray
    scales: np.ndarray
    shape: float
    looks: float

    def p_values(self, prominences: npt.ArrayLike) -> np.ndarray:
        """Return the probability that noise alone produces such a peak anywhere in the data; 0 if infinite.

        The noise scale comes from all smaller peaks below the threshold, as in the test itself.
        """
        from scipy.special import gammainc

        prominences = np.asarray(prominences, np.float64)
        heights = prominences / (self.scales[np.searchsorted(self.noise_peaks, prominences)])
        tails = gammainc(self.shape, self.shape * np.exp(-heights / np.sqrt(self.shape)))
        return np.minimum(1.0, 2 * self.looks * tails)


def divide_prominences(
    prominences: npt.ArrayLike,
    *,
    noise: float,
    n_neighbors: float,
    n_points: int,
    level: float = 0.01,
    dimension: float | None = None,
    looks: float | None = None,
) -> ProminenceGap:
    r"""Divide prominences into noise and states by testing each against the smaller ones.

    Prominences of noise peaks are distributed like the absolute value of a centred normal variable, with the
    upper tail of :math:`\log \Gamma(m)` because a density is estimated from m neighbours. The scale is the
    root mean square of the expected scale, counted as ten peaks, and of the prominences below the tested one,
    but it is never larger than theory allows. Prominences are tested from the smallest up. Noise would exceed
    each with some probability in any of the n/m independent neighbourhoods (or as many as there are peaks, if
    that is more). The first prominence for which this probability is below `level` is a state, and so are all
    larger ones.

    Parameters
    ----------
    prominences : (P,) array
        The prominences in any order; infinite ones are states.
    noise : float
        The expected scale if errors at a peak and at its saddle are independent, in the same unit; positive.
    n_neighbors : float
        The number of independent neighbours from which the density was estimated, m.
    n_points : int
        The number of points, n.
    level : float
        The probability of calling noise a state, in (0, 0.5].
    dimension : float, optional
        The dimension of the data; two by default. In more dimensions more ways lead down from a peak, the
        best of them is higher, and the hills of noise are lower.
    looks : float, optional
        The number of independent neighbourhoods; n/m by default.

    Returns
    -------
    ProminenceGap

    Examples
    --------
    >>> import numpy as np
    >>> from mdfuzzy.states.prominence import divide_prominences
    >>> spectrum = [np.inf, 1.4, 0.3, 0.02, 0.01, 0.01, 0.005]
    >>> gap = divide_prominences(spectrum, noise=0.015, n_neighbors=100, n_points=10_000)
    >>> gap.n_states, gap.well_determined, round(gap.threshold, 3)
    (3, True, 0.056)
    """
    return fit_noise(
        prominences,
        noise=noise,
        n_neighbors=n_neighbors,
        n_points=n_points,
        level=level,
        dimension=dimension,
        looks=looks,
    )[0]


def fit_noise(
    prominences: npt.ArrayLike,
    *,
    noise: float,
    n_neighbors: float,
    n_points: int,
    level: float,
    dimension: float | None = None,
    looks: float | None = None,
) -> tuple[ProminenceGap, NoiseTest]:
    """Divide prominences as `divide_prominences` does, and also return the noise of the test."""
    noise = check_real("noise", noise, above=0)
    level = check_real("level", level, above=0, at_most=0.5)
    dimension = 2.0 if dimension is None else check_real("dimension", dimension, above=0)
    prominences = check_numbers("prominences", prominences)
    finite = np.sort(prominences[np.isfinite(prominences)])
    m = float(n_neighbors)
    looks = max(n_points / m if looks is None else looks, len(finite), 1.0)
    expected, largest = noise_range(noise, dimension)
    # Scale before each peak is added to the noise: entry j includes the j smallest.
    sums = np.concatenate([[0.0], np.cumsum(finite**2)])
    fitted = np.sqrt((_PRIOR_PEAKS * expected**2 + sums) / (_PRIOR_PEAKS + np.arange(len(sums))))
    scales = np.minimum(fitted, largest)
    critical = scales * _critical(level, m, looks)
    above = np.flatnonzero(finite > critical[:-1])
    j = int(above[0]) if len(above) else len(finite)
    test = NoiseTest(noise_peaks=finite[:j], scales=scales[: j + 1], shape=m, looks=looks)
    largest_noise = float(finite[j - 1]) if j else 0.0
    smallest_state = float(finite[j]) if j < len(finite) else np.inf
    gap = ProminenceGap(
        threshold=float(max(critical[j], np.nextafter(largest_noise, np.inf))),
        n_states=len(prominences) - j,
        n_noise=j,
        noise=float(scales[j]),
        largest_noise=largest_noise,
        smallest_state=smallest_state,
        p_noise=float(test.p_values(largest_noise)),
        p_state=float(test.p_values(smallest_state)),
        level=level,
        capped=bool(fitted[j] > largest),
    )
    return gap, test


def noise_range(noise: float, dimension: float) -> tuple[float, float]:
    """Return the expected scale of noise hills in a given dimension, and the largest scale of noise alone.

    Examples
    --------
    >>> [round(noise_range(1.0, dimension)[0], 2) for dimension in (1.0, 4.0, 8.0, 12.0)]
    [1.3, 0.65, 0.53, 0.8]
    """
    dimension = max(dimension, 1.0)
    limit = _MANY * min(dimension / _MANY_DIMENSIONS, 1.0)
    return noise * max(limit, _LINE / dimension**0.5), noise * (1 + _EXCESS / dimension)


def _critical(level: float, m: float, looks: float) -> float:
    """Return the largest of `looks` hills of unit scale, exceeded with probability `level`."""
    from scipy.special import gammaincinv

    # With very few neighbours the quantile may be too small for a double.
    quantile = max(gammaincinv(m, level / (2 * looks)), np.finfo(float).tiny)
    return float(np.sqrt(m) * (np.log(m) - np.log(quantile)))


def expected_noise(graph: Graph, log_density: np.ndarray) -> tuple[float, int]:
    r"""Return the expected scale of noise prominences, and the number of neighbours of the density.

    A density estimate from m neighbours in d dimensions (by the distance to measure) has the variance
    :math:`\sigma^2 = (2d + 4) / ((d + 4) m)` in its logarithm. A noise peak stands above its saddle by the
    difference of two such errors, so the scale is :math:`\sqrt 2 \sigma`. The given `log_density` may be in
    another unit (for example the logarithm of 1/DTM instead of its power d). The unit is the ratio of its
    interquartile range over the points to the interquartile range of the log density that the graph itself
    shows.

    Parameters
    ----------
    graph : Graph
        A graph with k neighbours per point, or of a radius.
    log_density : (n,) float64
        The log density, in any unit.

    Returns
    -------
    noise : float
        The scale of noise prominences, in the unit of `log_density`.
    n_neighbors : int
        Twice the number of neighbours of a point in the graph; for a radius graph the median number of
        neighbours.
    """
    sample = np.unique(np.linspace(0, len(graph) - 1, _SAMPLE).astype(np.int64))
    degrees = graph.degrees[sample]
    m = 2 * graph.k if graph.k is not None else max(1, int(np.median(degrees)))
    dimensions, farthest, useful = _near_edges(graph, sample)
    inverse_dimension = float(dimensions.mean()) if len(dimensions) else 0.0
    shown, given = np.log1p(degrees), log_density[sample]
    if graph.k is not None and inverse_dimension > 0:
        shown, given = -np.log(farthest) / inverse_dimension, given[useful]
    # If one of the two is flat, they cannot be compared: use the unit of a log density.
    unit = _spread(given) / (_spread(shown) or np.inf) or 1.0
    sigma = np.sqrt((2 + 4 * inverse_dimension) / ((1 + 4 * inverse_dimension) * m))
    return float(np.sqrt(2) * sigma * unit), m


def _near_edges(graph: Graph, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimates of 1/dimension from edges to the k nearest neighbours, the longest edges, and for
    which of the points.

    Points with fewer than two such edges, or without any edge of positive length, are left out.
    """
    found, kept = [np.empty((2, 0))], [np.empty(0, bool)]
    for start in range(0, len(points), _STRETCH):
        rows = points[start : start + _STRETCH]
        first, last = graph.indptr[rows, None], graph.indptr[rows + 1, None]
        places = first + np.arange((last - first).max())
        lengths = np.full(places.shape, np.inf, np.float32)
        lengths[places < last] = graph.distances[places[places < last]]
        # The k shortest edges of a point in the union graph lead to its k nearest neighbours.
        lengths = np.sort(lengths, axis=1)[:, : graph.k]
        edges = np.isfinite(lengths)
        longest = np.max(lengths, axis=1, initial=0, where=edges)
        useful = (longest > 0) & (edges.sum(axis=1) > 1)
        kept.append(useful)
        lengths, edges, longest = lengths[useful], edges[useful], longest[useful]
        ratios = longest[:, None] / np.where(edges & (lengths > 0), lengths, longest[:, None])
        found.append(np.array([np.log(ratios).sum(axis=1) / (edges.sum(axis=1) - 1), longest]))
    dimensions, farthest = np.concatenate(found, axis=1)
    return dimensions, farthest, np.concatenate(kept)


def _spread(values: np.ndarray) -> float:
    """Return the interquartile range."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)

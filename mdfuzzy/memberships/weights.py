"""The weights of the steps of the walk, by the density of the next point and the length of the edge."""

from typing import get_args

import numpy as np

from mdfuzzy._check import InputValueError, check_choice, check_real
from mdfuzzy._choices import Kernel
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.dimension import intrinsic_dimension

#: Explanation of a printed beta.
BETA_MEANS = "walk temperature; 2 = simulation temperature"
BETA_REMEDY = "2 is the temperature of the simulation, smaller is colder; float('inf') ignores the density."
_DIMENSION_SAMPLE = 20_000  # points whose neighbour distances determine the dimension


def walk_exponent(graph: Graph, beta: float, *, dimension: float | None = None) -> float:
    r"""Return the power of the density that gives the walk on `graph` the drift :math:`\nabla\log f/\beta`.

    The walk without weights already drifts up the gradient, with the coefficient 1 on the directed and radius
    graphs and by :math:`(d-2)/(2d)` on the union graph (where points of low density have more edges). The
    exponent provides the difference to 1/beta.

    Parameters
    ----------
    graph : Graph
        The graph of the walk; its kind determines the formula.
    beta : float
        In (0, inf].
    dimension : float, optional
        d; by default estimated from the k shortest edges of each point.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> graph = mf.euclidean_neighbors(np.random.default_rng(0).random((50, 2)), n_neighbors=8).graph(k=4)
    >>> walk_exponent(graph, 0.5, dimension=2.0)
    2.0
    """
    beta = check_real("beta", beta, above=0, finite=False, remedy=BETA_REMEDY)
    if dimension is not None:
        dimension = check_real("dimension", dimension, above=0)
    if graph.kind != "union":
        return 1.0 / beta - 1.0
    if dimension is None:
        dimension = _graph_dimension(graph)
    return 1.0 / beta - (dimension - 2.0) / (2.0 * dimension)


def walk_pull(log_density: np.ndarray, sampled: np.ndarray, exponent: float, beta: float) -> np.ndarray:
    r"""Return the log of the power weight of a step to each point.

    It is :math:`\gamma \log q + (\log p - \log q)/\beta`, which without weights of frames (p = q) is the
    logarithm of a power of the density.

    Parameters
    ----------
    log_density : (n,) float64
        Log p: the log density of the ensemble that the weighted points represent.
    sampled : (n,) float64
        Log q: the log density of the points as sampled; equal to log p without weights.
    exponent : float
        :math:`\gamma`, from `walk_exponent`.
    beta : float
        In (0, inf].

    Examples
    --------
    >>> walk_pull(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 0.5, 2.0)
    array([0.5, 1.5])
    """
    return exponent * sampled + (log_density - sampled) / beta


def _graph_dimension(graph: Graph) -> float:
    """Estimate the intrinsic dimension from the k shortest edges of each point: its k nearest neighbours."""
    k = graph.k if graph.k is not None else int(graph.degrees.min())
    if k < 2:
        raise InputValueError(
            f"`dimension` must be given: it cannot be estimated from k = {k} neighbour per point."
        )
    rows = np.unique(np.linspace(0, len(graph) - 1, min(len(graph), _DIMENSION_SAMPLE)).astype(np.int64))
    nearest = np.array([np.sort(graph.edges(i)[1])[:k] for i in rows])
    return intrinsic_dimension(Neighbors(np.zeros(nearest.shape, np.int32), nearest))


def linear_log_weights(log_density: np.ndarray, beta: float, unit_density: bool) -> np.ndarray:
    """Return log(1 + (1 - beta) / beta * f), from log f, without overflow."""
    if beta > 1.0:
        part = _log_subtracted(log_density, beta, unit_density)
        bad = np.count_nonzero(part >= 0.0)
        if bad:
            finite = "a finite `beta`"
            remedy = finite if unit_density else f"a `beta` of at most 1, or `unit_density=True` and {finite}"
            raise InputValueError(
                f"`beta` must keep linear weights positive; got {beta:g} ({BETA_MEANS}). They are not where "
                f"the density is {1.0 / (1.0 - 1.0 / beta):g} or more, at {bad} of {len(part)} points. Use "
                f"`walk_weights='power'`, {remedy}."
            )
        return np.log(-np.expm1(part))  # of 1 - e^part, with the digits that 1 - f loses near the largest f
    if beta == 1.0:
        return np.zeros_like(log_density)
    if unit_density:
        log_density = log_density - log_density.max()
    return np.logaddexp(0.0, np.log(1.0 / beta - 1.0) + log_density)


def linear_is_positive(log_density: np.ndarray, beta: float, unit_density: bool) -> bool:
    """Return whether all linear weights at `beta` are positive, so that their logarithms exist.

    Examples
    --------
    >>> [linear_is_positive(np.log([0.5, 2.0]), beta, False) for beta in (0.5, 1.0, 1.9, 2.0)]
    [True, True, True, False]
    """
    return beta <= 1.0 or bool(_log_subtracted(log_density, beta, unit_density).max() < 0.0)


def _log_subtracted(log_density: np.ndarray, beta: float, unit_density: bool) -> np.ndarray:
    """Return the log of (beta - 1) / beta * f, which linear weights subtract from 1 where beta > 1."""
    if unit_density:
        log_density = log_density - log_density.max()
    return np.log1p(-1.0 / beta) + log_density


def check_kernel(kernel: str, bandwidth: float | None) -> tuple[Kernel, float | None]:
    """Return the kernel and its width (None: all edges have the same weight), or raise."""
    checked: Kernel = check_choice("kernel", kernel, get_args(Kernel))
    if checked == "gaussian":
        if bandwidth is None:
            raise InputValueError(
                "`bandwidth` must be given with the Gaussian kernel: its width, in the unit of the distances."
            )
        # squares of widths beyond these overflow or underflow
        return checked, check_real("bandwidth", bandwidth, at_least=1e-100, at_most=1e100)
    if bandwidth is not None:
        raise InputValueError(
            f"`bandwidth` must be None with the uniform kernel; got {bandwidth!r}. It would have no effect."
        )
    return checked, None


def strong_edges(graph: Graph, *, kernel: Kernel = "uniform", bandwidth: float | None = None) -> Graph:
    """Keep the edges on which the kernel is at least half of its largest value.

    In the general form of the algorithm the walk uses all edges of a kernel graph. The peaks, basins and
    cores are found on the strong edges.

    Parameters
    ----------
    graph : Graph
        A graph such as a `radius` graph of several h.
    kernel : {"uniform", "gaussian"}
        The kernel of the walk. The uniform kernel keeps every edge.
    bandwidth : float, optional
        h, for the Gaussian kernel: edges up to h * sqrt(2 log 2) = 1.18 h are kept.

    Raises
    ------
    ValueError
        If the Gaussian kernel has no `bandwidth`, or the uniform kernel has one.

    See Also
    --------
    solve_memberships : The walk on all edges.
    rmsd_neighbors_within : All pairs within a radius.

    References
    ----------
    * T. Bonis and S. Oudot, *A Fuzzy Clustering Algorithm for the Mode-Seeking Framework*, Pattern
      Recognition Letters 102 (2018) 37-43, arXiv:1406.7130.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> lengths = [1.0, 1.0, 2.0, 2.0]
    >>> path = mf.Graph([0, 1, 3, 4], [1, 0, 2, 1], lengths, kind="radius", n_targets=3, radius=2.0)
    >>> mf.strong_edges(path, kernel="gaussian", bandwidth=1.0)
    Graph(radius, 3 points, 2 edges, radius=1.17741)
    """
    kernel, bandwidth = check_kernel(kernel, bandwidth)
    if bandwidth is None:
        return graph
    reach = bandwidth * float(np.sqrt(2.0 * np.log(2.0)))
    keep = graph.distances <= reach
    rows = np.repeat(np.arange(len(graph)), graph.degrees)[keep]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(graph)))])
    radius = None if graph.radius is None else min(reach, graph.radius)
    return Graph(
        indptr,
        graph.indices[keep],
        graph.distances[keep],
        kind=graph.kind,
        n_targets=graph.n_targets,
        k=graph.k,
        radius=radius,
    )

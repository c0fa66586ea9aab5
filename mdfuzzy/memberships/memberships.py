"""Memberships of points in states: the probabilities that a random walk reaches each core first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputValueError,
    ReadOnly,
    check_choice,
    check_finite,
    check_numbers,
    check_real,
    check_type,
    read_only,
)
from mdfuzzy._choices import Kernel, WalkWeights
from mdfuzzy._messages import warn_user
from mdfuzzy._threads import using_threads
from mdfuzzy.memberships import _solver
from mdfuzzy.memberships.errors import SolveError
from mdfuzzy.memberships.weights import (
    BETA_MEANS,
    BETA_REMEDY,
    check_kernel,
    linear_log_weights,
    walk_exponent,
    walk_pull,
)
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.cores import Cores
from mdfuzzy.states.persistence import check_log_density, check_sampled

#: Rows must sum to 1 within this many times the tolerance of the solve, or an error is raised.
ROW_SUM_TOLERANCE = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Memberships(ReadOnly):
    """Hold the probabilities that the walk from each point reaches the core of each state before any other.

    Attributes
    ----------
    values : (n, K) float64
        The memberships, in [0, 1]; rows sum to 1 - `lost`.
    lost : (n,) float64
        The probability to reach no core. It is 1 for points that cannot reach any core, between 0 and 1 on a
        directed graph with closed parts that trap some of the walk, and 0 on a connected union graph.
    beta : float
        The walk temperature: 2 is the temperature of the simulation, smaller is colder.
    log_weights : (n,) float64
        Log of the weight of a step to each point, which `extend_memberships` needs. A new point has the
        weight of the nearest fitted point.
    exponent : float
        The power of the density in the weights (NaN for linear weights).
    kernel : {"uniform", "gaussian"}
        How the weight of a step depends on its length.
    bandwidth : float or None
        Width of the Gaussian kernel.
    k, radius : int or None, float or None
        Neighbours per point, or the largest length of an edge, of the graph of the walk.
    residual : float
        The largest imbalance of the flow through any point or group of points, in units of membership.
    row_sum_error : float
        The largest deviation of a row's sum, with `lost`, from 1. Every column is solved independently, so
        this deviation follows the true error.

    See Also
    --------
    solve_memberships : Compute memberships.
    extend_memberships : Memberships of new points.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> cores = mf.find_cores(graph, log_density, peaks, min_prominence=1.0)
    >>> memberships = mf.solve_memberships(graph, log_density, cores, beta=1.0)
    >>> memberships
    Memberships(900 points, 3 states, beta=1 (walk temperature; 2 = simulation temperature))
    >>> memberships.values.shape, bool(abs(memberships.values.sum(axis=1) - 1).max() < 1e-8)
    ((900, 3), True)
    """

    values: np.ndarray
    lost: np.ndarray
    beta: float
    log_weights: np.ndarray
    exponent: float
    kernel: Kernel = "uniform"
    bandwidth: float | None = None
    k: int | None = None
    radius: float | None = None
    residual: float = 0.0
    row_sum_error: float = 0.0

    def __post_init__(self) -> None:
        for name in ("values", "lost", "log_weights"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, read_only(array))
        per_point = {self.lost.shape, self.log_weights.shape}
        if self.values.ndim != 2 or 0 in self.values.shape or per_point != {(len(self),)}:
            raise InputValueError(
                f"`values` must have shape (points, states), `lost` and `log_weights` one value per point; "
                f"got {self.values.shape}, {self.lost.shape} and {self.log_weights.shape}."
            )
        if not -1e-6 <= self.values.min() <= self.values.max() <= 1 + 1e-6:  # up to rounding
            got = f"{self.values.min()} to {self.values.max()}"
            raise InputValueError(f"`values` must be in [0, 1]; got {got}.")

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        n, states = self.values.shape
        return f"Memberships({n} points, {states} states, beta={self.beta:g} ({BETA_MEANS}))"

    @property
    def hard(self) -> np.ndarray:
        """The state of largest membership of each point, (n,) int32; -1 if it reaches no core."""
        return np.where(self.unreachable, -1, self.values.argmax(axis=1)).astype(np.int32)

    @property
    def unreachable(self) -> np.ndarray:
        """The mask of the points that cannot reach any core, (n,) bool."""
        return self.lost >= 1.0

    @property
    def entropy(self) -> np.ndarray:
        """The sum of mu log mu over the states, for every point, (n,): never positive, 0 if certain."""
        return membership_entropy(self.values)


def membership_entropy(values: np.ndarray) -> np.ndarray:
    """Return the sum of mu log mu over the states, for every point, (n,), from memberships (n, K).

    Examples
    --------
    >>> membership_entropy(np.array([[1.0, 0.0], [0.5, 0.5]])).round(3)
    array([ 0.   , -0.693])
    """
    return np.minimum(np.sum(values * np.log(np.where(values > 0.0, values, 1.0)), axis=1), 0.0)


def solve_memberships(
    graph: Graph,
    log_density: npt.ArrayLike,
    cores: Cores,
    *,
    beta: float = 2.0,
    sampled: npt.ArrayLike | None = None,
    walk_weights: WalkWeights = "power",
    kernel: Kernel = "uniform",
    bandwidth: float | None = None,
    dimension: float | None = None,
    unit_density: bool = False,
    start: npt.ArrayLike | None = None,
    tolerance: float = 1e-11,
    n_jobs: int | None = None,
) -> Memberships:
    r"""Solve for the probability that a walk from each point reaches each core first.

    The walk goes from i to j with probability proportional to :math:`g_j\,k(d_{ij}/h)`. With power weights
    :math:`g = f^\gamma` and many points, it follows the diffusion :math:`dY = \frac1\beta \nabla\log f\,dt +
    dB`. **Large beta is hot**: beta is the walk temperature. beta = 2 is the ensemble's own diffusion, and
    beta = 0.2 is ten times colder. (It is not the 1/kT of statistical mechanics, but its opposite.)

    Parameters
    ----------
    graph : Graph
        The edges of the walk. On a `union` graph :math:`\gamma = 1/\beta - (d-2)/(2d)`, on a `directed` or a
        `radius` graph :math:`\gamma = 1/\beta - 1`.
    log_density : (n,) array
        Log of f, up to a constant. The constant has no effect with power weights.
    cores : Cores
        The cores at which the walk stops.
    beta : float
        The walk temperature, in (0, inf]; `float("inf")` means no drift towards high density. Weights below
        1e-300 of the largest weight in their neighbourhood are raised to this value.
    sampled : (n,) array, optional
        The log density of the points as sampled, log q, if `log_density` is the log density of weighted
        points, log p. The walk is then the diffusion in p on points that were sampled from q, with
        :math:`\log g = \gamma \log q + (\log p - \log q)/\beta`.
    walk_weights : {"power", "linear"}
        `linear` is :math:`g = 1 + \frac{1-\beta}{\beta} f`, as printed by Bonis and Oudot, for comparison: it
        depends on the unit of f and never gets colder than about beta = 0.5.
    kernel : {"uniform", "gaussian"}
        :math:`k = 1` for every edge, or :math:`e^{-d_{ij}^2 / 2h^2}`. For the Gaussian kernel on a
        nearest-neighbour graph no correction of the exponent is known. It gets the exponent of the uniform
        kernel, and beta is then only nominal. On a `radius` graph of several h the exponent is right.
    bandwidth : float, optional
        h, in the unit of the distances; required by the Gaussian kernel, and not allowed otherwise.
    dimension : float, optional
        d, for the exponent on a `union` graph; by default estimated from the lengths of the k shortest edges
        of every point (`intrinsic_dimension`).
    unit_density : bool
        Whether to scale f first to a largest value of 1, with linear weights. This keeps all weights positive
        at every finite beta. (At infinity g = 1 - f, which is 0 at the largest f.)
    start : (n, K) array, optional
        Initial memberships, such as the memberships at a similar beta. They affect only the computing time.
    tolerance : float
        The largest change of a membership at which the solve ends; in [1e-12, 1e-4].
    n_jobs : int, optional
        Threads; every core by default. The result is bitwise the same for any number.

    Returns
    -------
    Memberships
        Inside a core the membership in its state is 1. If there is only one state, all memberships are 1
        (with a warning).

    Raises
    ------
    SolveError
        If rows would not sum to 1 within 1,000 times `tolerance` (1e-8 by default), or the solve does not
        converge.

    Warns
    -----
    UserWarning
        If there is only one state, or if some points cannot reach any core (`Memberships.unreachable`).

    See Also
    --------
    find_cores : The cores that absorb the walk.
    scan_beta : Memberships at many walk temperatures.
    extend_memberships : Memberships of new points.
    find_transition_regions : The frames between two states.

    References
    ----------
    * T. Bonis and S. Oudot, *A Fuzzy Clustering Algorithm for the Mode-Seeking Framework*, Pattern
      Recognition Letters 102 (2018) 37-43, arXiv:1406.7130.

    Examples
    --------
    Five points in a row with a core at either end, without drift, are the gambler's ruin.

    >>> import numpy as np, mdfuzzy as mf
    >>> indptr, indices = [0, 1, 3, 5, 7, 8], [1, 0, 2, 1, 3, 2, 4, 3]
    >>> chain = mf.Graph(indptr, indices, np.ones(8), kind="radius", n_targets=5, radius=1.0)
    >>> ends = mf.Cores(np.array([0, 0, 0, 1, 1]), np.array([0, -1, -1, -1, 1]), np.array([0, 4]), np.ones(2))
    >>> mf.solve_memberships(chain, np.zeros(5), ends, beta=1.0).values[:, 0].round(6)
    array([1.  , 0.75, 0.5 , 0.25, 0.  ])
    """
    log_density = check_log_density(graph, log_density)
    beta = check_real("beta", beta, above=0, finite=False, remedy=BETA_REMEDY)
    walk_weights = check_choice("walk_weights", walk_weights, get_args(WalkWeights))
    kernel, bandwidth = check_kernel(kernel, bandwidth)
    tolerance = check_real("tolerance", tolerance, at_least=1e-12, at_most=1e-4)
    _check_cores(graph, cores)
    sampled_density = check_sampled(graph, log_density, sampled)
    exponent = float("nan")
    if walk_weights == "power":
        exponent = walk_exponent(graph, beta, dimension=dimension)
        log_weights = walk_pull(log_density, sampled_density, exponent, beta)
    else:
        if sampled is not None:
            raise InputValueError(
                "`walk_weights` must be 'power' if points have weights (`sampled`); got 'linear', which has "
                "no such form."
            )
        log_weights = linear_log_weights(log_density, beta, unit_density)
    falloff = 0.0 if bandwidth is None else 0.5 / bandwidth**2
    n, states = len(graph), len(cores)
    targets = cores.core_of.astype(np.int32)
    with using_threads(n_jobs):
        edges = graph.indptr, graph.indices
        stuck = ~_solver.reaches_target(*edges, targets)
        targets[stuck] = states  # one more target, for the lost probability
        columns = states + int(stuck.any())
        start = _check_start(start, n, states, columns)
        if columns == 1:  # there is no other target
            solution = _solver.Solution(np.ones((n, 1)), 0.0, 0)
        else:
            solution = _solver.solve_walk(
                *edges, graph.distances, log_weights, falloff, targets, columns,
                reversible=graph.symmetric, tolerance=tolerance, start=start,
            )  # fmt: skip
    if stuck.any():
        warn_user(
            f"{np.count_nonzero(stuck)} of {n} points have no path to any core: `lost` is 1 there, and "
            "`hard` is -1."
        )
    if states == 1:
        warn_user("There is one state only: all memberships are 1.")
    error = float(np.abs(solution.values.sum(axis=1) - 1.0).max())
    promised = ROW_SUM_TOLERANCE * tolerance
    if not error <= promised:
        raise SolveError(
            f"Memberships at beta={beta:g} ({BETA_MEANS}) sum to 1 within {error:.1e} only (promised: "
            f"{promised:.0e}). Take a `beta` nearer to 2."
        )
    values = np.clip(solution.values, 0.0, 1.0, out=solution.values)
    lost = values[:, states].copy() if stuck.any() else np.zeros(n)
    return Memberships(
        values=values[:, :states],
        lost=lost,
        beta=beta,
        log_weights=log_weights,
        exponent=exponent,
        kernel=kernel,
        bandwidth=bandwidth,
        k=graph.k,
        radius=graph.radius,
        residual=solution.residual,
        row_sum_error=error,
    )


def _check_cores(graph: Graph, cores: Cores) -> None:
    check_type("cores", cores, Cores, remedy="`find_cores` gives them.")
    if graph.n_targets != len(graph):
        raise InputValueError(
            "`graph` must join a point set with itself; got edges of new points to fitted ones."
        )
    if len(cores.core_of) != len(graph):
        raise InputValueError(
            f"`cores` must be of the points of `graph`; got {len(cores.core_of)} labels for {len(graph)} "
            "points."
        )
    if len(cores) == 0:
        raise InputValueError("`cores` must hold at least one state; got none.")
    sizes = np.bincount(cores.core_of[cores.core_of >= 0], minlength=len(cores))
    if len(sizes) != len(cores) or not sizes.all():
        raise InputValueError(f"Every state of `cores` must have a core; got core sizes {sizes.tolist()}.")


def _check_start(start: npt.ArrayLike | None, n: int, states: int, columns: int) -> np.ndarray | None:
    if start is None:
        return None
    start = check_numbers("start", start)
    if start.shape != (n, states):
        raise InputValueError(f"`start` must have shape ({n}, {states}); got {start.shape}.")
    lost = np.clip(1.0 - start.sum(axis=1), 0.0, 1.0)
    return check_finite("start", np.column_stack([start, lost])[:, :columns])

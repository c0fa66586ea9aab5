"""Cores that the walk reaches: the smallest cores with which the labels keep the frames of each basin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import check_real
from mdfuzzy._threads import using_threads
from mdfuzzy.memberships._excursions import Excursions
from mdfuzzy.memberships._growing_core import GrowingCore, cut_out
from mdfuzzy.memberships.weights import walk_exponent, walk_pull
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.cores import LEAST, Cores, find_cores
from mdfuzzy.states.persistence import Persistence, check_sampled, descending

#: The walk temperature at which cores are determined, whatever is used later: that of the simulation.
BETA = 2.0
#: The required share of the frames of a basin that keep its label. See the theory page on cores.
AGREEMENT = 0.9


def find_reached_cores(
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    min_prominence: float | None = None,
    states: npt.ArrayLike | None = None,
    sampled: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    agreement: float = AGREEMENT,
    least: float = LEAST,
    dimension: float | None = None,
    min_size: int = 2,
    n_jobs: int | None = None,
) -> Cores:
    r"""Find the smallest cores with which the labels keep a given share of the frames of each basin.

    A core grows downwards from its peak, as with every rule. It begins with the core of Bonis and Oudot, or
    with the share `least` of its basin if that is larger. The core of a state is enlarged only while the walk
    reaches it too rarely: that is, while fewer than the share `agreement` of the points of its basin have
    their largest membership in this state. This share is predicted from walks inside each basin, which end in
    the core or at the border. The walk always has :math:`\beta = 2` on this graph, whatever is used later, so
    a scan over beta has the same cores everywhere.

    Parameters
    ----------
    graph, log_density, peaks, min_prominence, states, min_size
        As for `find_cores`.
    sampled, weights : (n,) arrays, optional
        For weighted points: the log density of the points as sampled, which the walk also needs, and the
        weights.
    agreement : float
        The required share of the points of each basin, in (0, 0.999].
    least : float
        The smallest share of a basin that a core holds, in [0, 1], as for `find_cores`. Without it cores
        shrink to single points as the number of points grows, and memberships lose their meaning.
    dimension : float, optional
        The dimension d of the exponent of the walk; estimated by default.
    n_jobs : int, optional
        Threads; every core by default. The result does not depend on it.

    Returns
    -------
    Cores

    See Also
    --------
    find_cores : The other rules.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 4 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> cores = mf.find_reached_cores(graph, log_density, peaks, min_prominence=0.5)
    >>> memberships = mf.solve_memberships(graph, log_density, cores, beta=2.0)
    >>> bool(np.mean(memberships.hard == cores.basins) > 0.95)
    True
    """
    agreement = check_real("agreement", agreement, above=0, at_most=0.999)
    plain = find_cores(
        graph,
        log_density,
        peaks,
        min_prominence=min_prominence,
        states=states,
        weights=weights,
        least=least,
        min_size=min_size,
    )
    log_density = np.asarray(log_density, np.float64)
    counted = np.ones(len(graph)) if weights is None else np.asarray(weights, np.float64)
    exponent = walk_exponent(graph, BETA, dimension=dimension)
    pull = walk_pull(log_density, check_sampled(graph, log_density, sampled), exponent, BETA)
    local = np.full(len(graph), -1, np.int32)
    order, rank = descending(log_density)
    with using_threads(n_jobs):
        cores = [
            GrowingCore(
                partial(cut_out, graph, plain, state, pull, local, order, rank),
                int(plain.sizes[state]),
                counted,
            )
            for state in range(len(plain))
        ]
        # A basin without a way out keeps its core, which every walk reaches.
        _grow({state: core for state, core in enumerate(cores) if len(core.adjacent)}, agreement)
    core_of = plain.core_of.copy()
    for state, core in enumerate(cores):
        core_of[core.members] = state
    return replace(plain, core_of=core_of)


def _grow(growing: dict[int, GrowingCore], agreement: float) -> None:
    """Enlarge the cores until every basin keeps its share.

    A larger core raises the memberships in its state and lowers all others. So a core that is large enough in
    one round can be too small in the next. Cores only grow, and a core of the whole basin is large enough.
    """
    excursions = Excursions(growing)
    while True:
        sizes = {}
        for state, core in growing.items():
            if core.complete:
                continue
            outside = excursions.outside(state)
            if excursions.kept(state, outside) < agreement:
                sizes[state] = core.next_size(excursions.needed(state, outside, agreement))
        if not sizes:
            return
        for state, size in sizes.items():
            growing[state].grow_to(size)

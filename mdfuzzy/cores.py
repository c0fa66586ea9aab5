"""States and their cores: the basins of the prominent peaks, and the connected top of each."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import check_choice, check_real, read_only
from mdfuzzy.graph import Graph
from mdfuzzy.persistence import Persistence, check_log_density, check_symmetric, descending

#: How deep below its peak a core reaches. See `find_cores`.
CoreRule = Literal["prominence", "point", "saddle", "share"]


@dataclass(frozen=True, eq=False)
class Cores:
    """The states of a data set: their basins, and the core of each.

    Cores are disjoint, connected in the graph, contain their peak, and lie inside their basin.

    Attributes
    ----------
    basins : (n,) int32
        The state of each point: ToMATo's hard clusters.
    labels : (n,) int32
        The core of each point; -1 outside every core.
    peaks : (K,) int32
        The highest point of each state, the highest peak first.
    prominence : (K,) float64
        How far each peak stands above the saddle to a higher state; infinite for the highest of each
        component of the graph.
    """

    basins: np.ndarray
    labels: np.ndarray
    peaks: np.ndarray
    prominence: np.ndarray

    def __post_init__(self) -> None:
        for name, dtype in (("basins", np.int32), ("labels", np.int32), ("peaks", np.int32)):
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            object.__setattr__(self, name, read_only(array))
        object.__setattr__(self, "prominence", read_only(np.asarray(self.prominence, dtype=np.float64)))

    def __len__(self) -> int:
        return len(self.peaks)

    def __repr__(self) -> str:
        return f"Cores({len(self)} states of {len(self.basins)} points, core sizes {self.sizes.tolist()})"

    @property
    def sizes(self) -> np.ndarray:
        """The number of points in each core, (K,)."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self))

    @property
    def basin_sizes(self) -> np.ndarray:
        """The number of points in each basin, (K,)."""
        return np.bincount(self.basins, minlength=len(self))


def find_cores(
    graph: Graph,
    log_density: npt.ArrayLike,
    peaks: Persistence,
    *,
    min_prominence: float,
    rule: CoreRule = "prominence",
    share: float = 0.1,
) -> Cores:
    """Take the peaks of at least `min_prominence` as states, and the connected top of each as its core.

    Parameters
    ----------
    graph : Graph
        The symmetric graph that `peaks` was computed on.
    log_density : (n,) array
        The log density that `peaks` was computed from.
    peaks : Persistence
        The peaks and their merge tree.
    min_prominence : float
        Smallest prominence of a state, tau; positive.
    rule : {"prominence", "point", "saddle", "share"}
        The core of a state with peak x is the connected component of x in the graph of the points

        - `prominence`: above ``log_density[x] - tau / 2`` (Bonis and Oudot);
        - `point`: x alone (Chen and others), for comparison;
        - `saddle`: above half the depth from x to the highest saddle that joins the state to any other; for a
          state alone in its component of the graph, as `prominence`;
        - `share`: of its basin above the highest level at which this component holds the
          given share of the basin's points.
    share : float
        For the rule `share`, in (0, 1].

    Returns
    -------
    Cores

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.array([0.0, 0.1, 0.2, 1.08, 2.0, 2.1, 2.3])[:, None]
    >>> graph = mf.euclidean_neighbors(points, n_neighbors=3).graph(k=2)
    >>> logf = [2.4, 3.0, 1.0, 0.0, 1.0, 2.0, 1.4]
    >>> peaks = mf.compute_persistence(graph, logf)
    >>> mf.find_cores(graph, logf, peaks, min_prominence=1.5).labels
    array([ 0,  0, -1, -1, -1,  1,  1], dtype=int32)
    """
    from mdfuzzy._kernels import tomato

    log_density = check_log_density(graph, log_density)
    check_symmetric(graph)
    rule = check_choice("rule", rule, ("prominence", "point", "saddle", "share"))
    share = check_real("share", share, above=0, at_most=1)
    if len(peaks.ascents) != len(graph):
        raise ValueError(
            f"`peaks` must belong to `graph`; got peaks of {len(peaks.ascents)} points for {len(graph)}."
        )
    states = peaks.states(min_prominence)
    basins = peaks.labels(min_prominence)
    tops = log_density[peaks.peaks[states]]
    order, rank = descending(log_density)
    least = np.ones(len(states), np.int64)
    levels = tops.copy()
    if rule == "prominence":
        levels = tops - min_prominence / 2
    elif rule == "saddle":
        saddle = peaks.saddle_levels(min_prominence)
        levels = np.where(np.isneginf(saddle), tops - min_prominence / 2, (tops + saddle) / 2)
    elif rule == "share":
        sizes = np.bincount(basins, minlength=len(states))
        least = np.ceil(share * sizes).astype(np.int64)
    # Rank of the lowest point strictly above each level; the peak itself always belongs.
    lowest = np.searchsorted(-log_density[order], -levels, side="left") - 1
    lowest = np.maximum(lowest, rank[peaks.peaks[states]])
    labels = np.full(len(graph), -1, np.int32)
    tomato.grow_cores(
        graph.indptr, graph.indices, order, rank, basins, peaks.peaks[states], lowest, least, labels
    )
    return Cores(basins, labels, peaks.peaks[states], peaks.prominences[states])

"""States at the limits of clipped features."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_numbers
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.states.persistence import Persistence
from mdfuzzy.states.tree import StateTree

#: A value is a limit if at least this many times as many frames have it as the next value. The density of a
#: feature that is rounded, but not clipped, hardly changes so much from one value to the next at its end.
_JUMP = 2
#: A peak is at a limit if this fraction of the frames around it are: without them its log density would be
#: lower by 0.3 or more, a large part of the prominence that a state needs.
_NEAR = 0.25


def limit_share(values: np.ndarray, *, largest: bool, least: int) -> float | None:
    """Return the fraction of the frames at the smallest or largest value of a feature if it is a limit.

    Parameters
    ----------
    values : (n,) array
        The feature.
    largest : bool
        Whether to look at the largest value.
    least : int
        The smallest number of frames at a limit.

    Returns
    -------
    float or None
        None if the value is no limit: fewer frames have it, or the next value is nearly as frequent.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(0).normal(size=1000)
    >>> for each in (values, values.round(1), np.minimum(values, 1.0)):
    ...     print(limit_share(each, largest=True, least=30))
    None
    None
    0.149
    """
    end = values.max() if largest else values.min()
    inside = values[values != end]
    count = len(values) - len(inside)
    if count < least or not len(inside):
        return None
    following = np.count_nonzero(inside == (inside.max() if largest else inside.min()))
    return count / len(values) if count >= _JUMP * following else None


def doubt_clipped(
    tree: StateTree,
    neighbors: Neighbors,
    peaks: Persistence,
    columns: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    periods: Sequence[float | None] | None = None,
) -> StateTree:
    """Return the tree of states, with a doubt if there are states at the limits of clipped features.

    All values beyond a limit become the limit. Frames accumulate there, and their density is high although no
    free-energy minimum need be there. A state is in doubt if at least a quarter of the frames from which the
    density at its peak was estimated are at the same limit. A single state is never in doubt, for clipping
    makes more states, not fewer.

    Parameters
    ----------
    tree : StateTree
        The states.
    neighbors : Neighbors
        At least 2k neighbours of every frame.
    peaks : Persistence
        The peaks from which the tree was built.
    columns : (n, d) array
        The features of every frame.
    names : sequence of d str, optional
        The names of the features.
    periods : sequence of d (float or None), optional
        The period of each feature. Periodic features have no limits.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(4000, 2)).clip(-9, [1, 9])
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=58)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> tree = mf.build_state_tree(neighbors, graph, log_density, peaks)
    >>> doubt_clipped(tree, neighbors, peaks, points, names=["x", "y"]).clipped
    ('x (16 % of the frames have its largest value, 1)',)
    """
    columns = check_numbers("columns", columns)
    if columns.ndim != 2 or len(columns) != len(neighbors):
        raise InputValueError(
            f"`columns` must have one row per frame, shape ({len(neighbors)}, features); got shape "
            f"{columns.shape}. Pass the features from which the neighbours were found."
        )
    if len(tree.states) < 2:
        return tree
    names = [f"feature {at}" for at in range(columns.shape[1])] if names is None else names
    frames = peaks.peaks[tree.states]
    around = columns[np.column_stack([frames, neighbors.indices[frames, : 2 * tree.k]])]
    clipped, doubted = [], np.zeros(len(frames), bool)
    for largest, ends in ((False, columns.min(axis=0)), (True, columns.max(axis=0))):
        near = (around == ends).mean(axis=1) >= _NEAR  # (states, features)
        for column in np.flatnonzero(near.any(axis=0)).tolist():
            if periods is not None and periods[column] is not None:
                continue
            share = limit_share(columns[:, column], largest=largest, least=tree.k)
            if share is not None:
                clipped.append(_describe(names[column], share, ends[column], largest))
                doubted |= near[:, column]
    return replace(tree, clipped=tuple(clipped), n_clipped=int(doubted.sum()))


def _describe(name: str, share: float, value: float, largest: bool) -> str:
    which = "largest" if largest else "smallest"
    return f"{name} ({100 * share:.2g} % of the frames have its {which} value, {value:g})"

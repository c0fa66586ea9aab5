"""Plots of the tree of states, with the verdict on each split."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.kinetics import Splits
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import axes_of, open_frame
from mdfuzzy.plots.colors import state_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOISE = "0.6"
#: Peaks that are not states have branches of at least this length.
_SHORTEST = 0.03
#: Behind a label, so that no line crosses it.
_PAPER = {"boxstyle": "square,pad=0.0", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}


def state_tree(result: Clustering | Splits, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the tree of states, with the verdict on every split.

    Each state is a vertical line that ends where it splits from another one. The height is the clearance: the
    prominence divided by the smallest prominence that noise does not explain, at the level of smoothing where
    this ratio is largest. Splits above the dashed line, at 1, are not noise.

    Parameters
    ----------
    result : Clustering or Splits
        A clustering, or its `splits`.
    ax : Axes, optional
        Where to draw; by default on a new figure, ``ax.figure``, which is not registered with pyplot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the states were merged manually, so that there are no splits.

    See Also
    --------
    kinetics.audit_splits : The numbers behind the tree.
    plots.prominences : All peaks by their prominence.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> mf.plots.state_tree(result).get_yscale()
    'log'
    """
    check_type("result", result, Clustering, Splits)
    splits = result if isinstance(result, Splits) else result.splits
    if splits is None:
        raise InputValueError(
            "`result` must have splits; got states that were merged by hand. Give the result before that."
        )
    places = _places(splits)
    ax = axes_of(ax, width=max(4.6, 1.6 + 0.62 * len(splits)), height=4.2)
    finite = splits.clearance[np.isfinite(splits.clearance)]
    bottom = max(0.7 * min(finite.min(initial=0.7), 0.7), _SHORTEST)
    top = 3 * max(finite.max(initial=1.0), 1.0)
    heights = np.clip(splits.clearance, 1.15 * bottom, top)
    colors = state_colors(int(splits.states.max()) + 1)
    row_of = {int(peak): row for row, peak in enumerate(splits.peaks)}
    for row, (state, height) in enumerate(zip(splits.states, heights, strict=True)):
        color, width = (colors[state], 2.4) if state >= 0 else (_NOISE, 1.4)
        ax.vlines(places[row], bottom, height, color=color, linewidth=width, zorder=2)
        parent = places[row_of[int(splits.parents[row])]]
        ax.hlines(height, *sorted((places[row], parent)), color=color, linewidth=width, zorder=1)
        verdict = splits.verdicts[row]
        if height < top:
            ax.annotate(
                verdict, (places[row], height), (0, 5), textcoords="offset points", bbox=_PAPER, zorder=3,
                ha="center", va="bottom", fontsize=8, color="black" if verdict != "noise" else "0.4",
            )  # fmt: skip
    ax.axhline(1.0, color="black", linestyle="--", linewidth=0.9, zorder=0, label="noise below")
    ax.legend(loc="upper right", frameon=False, fontsize=8)
    names = [splits.name(int(peak)).replace("peak ", "peak\n") for peak in splits.peaks]
    shares = splits.basin_frames / splits.basin_frames[splits.states >= 0].sum()
    ax.set_xticks(places, [f"{name}\n{100 * share:.3g} %" for name, share in zip(names, shares, strict=True)])
    ax.tick_params(axis="x", labelsize=8, length=0)
    ax.set(
        yscale="log", ylim=(bottom, 1.6 * top), xlim=(-0.7, len(splits) - 0.3),
        ylabel="clearance (prominence / noise threshold)", xlabel="state, fraction of its frames",
    )  # fmt: skip
    open_frame(ax)
    return ax


def _places(splits: Splits) -> np.ndarray:
    """Return the place of each row from left to right: a state is beside the state from which it splits.

    Later splits are nearer to it than earlier splits, so branches do not cross.
    """
    row: list[int] = []
    for peak, parent in zip(splits.peaks.tolist(), splits.parents.tolist(), strict=True):
        row.insert(len(row) if peak == parent else row.index(parent) + 1, peak)
    return np.array([row.index(peak) for peak in splits.peaks.tolist()])

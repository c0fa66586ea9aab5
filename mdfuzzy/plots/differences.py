"""Plots of the features that differ between two states."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import check_int, check_type
from mdfuzzy.pipeline.comparison import StateComparison
from mdfuzzy.plots._axes import axes_of
from mdfuzzy.plots.colors import state_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def state_differences(
    comparison: StateComparison, *, n_features: int = 12, ax: "Axes | None" = None
) -> "Axes":
    """Draw the features that differ most between two states, with intervals.

    Parameters
    ----------
    comparison : StateComparison
        The comparison from `compare_states`.
    n_features : int
        The number of features.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes
        Effect sizes: differences of the means in standard deviations. Beside each bar are the two means.

    See Also
    --------
    compare_states : Compute the comparison.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=10), mf.Settings(n_states=3))
    >>> ax = mf.plots.state_differences(mf.compare_states(result, 0, 1))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['phi ALA2', 'psi ALA2']
    """
    check_type("comparison", comparison, StateComparison, remedy="`compare_states` makes it.")
    chosen = comparison.order[: check_int("n_features", n_features, 1)]
    a, b = comparison.states
    colors = state_colors(max(a, b) + 1)
    effect = comparison.effect[chosen]
    ax = axes_of(ax, width=7.2, height=1.3 + 0.32 * len(chosen))
    places = np.arange(len(chosen))
    ax.barh(places, effect, height=0.66, color=[colors[a if each > 0 else b] for each in effect], alpha=0.75)
    ends = np.stack([comparison.low[chosen], comparison.high[chosen]])
    known = np.isfinite(ends).all(axis=0)
    ax.hlines(places[known], *ends[:, known], color="black", linewidth=1.4)
    ax.axvline(0, color="black", linewidth=0.8)
    for place, at in enumerate(chosen):
        unit = comparison.units[at]
        words = f"{comparison.means[0, at]:.3g} / {comparison.means[1, at]:.3g} {unit}".rstrip()
        ax.annotate(
            words, (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=8, color="0.3"
        )
    ax.set_yticks(places, [comparison.names[at] for at in chosen])
    ax.invert_yaxis()
    ax.set_xlabel("difference of the means (standard deviations)")
    ax.set_title(f"state {a} / state {b}", fontsize=10)
    return ax

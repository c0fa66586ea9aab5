"""Ensembles side by side: the fractions of the states, and where each ensemble is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.ensembles.comparison import EnsembleComparison
from mdfuzzy.frames.ensembles import Ensembles
from mdfuzzy.pipeline.assignment import Assignment
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import axes_of, new_figure, open_frame
from mdfuzzy.plots.colors import DENSITY_MAP, state_colors
from mdfuzzy.plots.projections import Projection

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width of the bars of one state, of the distance between states.
_WIDTH = 0.8
#: Behind the number of a state.
_DISC = {"boxstyle": "circle,pad=0.15", "facecolor": "black", "alpha": 0.6, "edgecolor": "none"}


def ensemble_fractions(comparison: EnsembleComparison, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the fraction of each state in each ensemble, with intervals; a star marks significant differences.

    Parameters
    ----------
    comparison : EnsembleComparison
        The comparison from `compare_ensembles`.
    ax : Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    compare_ensembles : Compute the comparison.
    plots.ensemble_maps : Plot the frames of each ensemble.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> shares = [0.3] * 6 + [0.6] * 6
    >>> points = [rng.normal(size=(100, 2)) + 6 * (rng.random(100) < s)[:, None] for s in shares]
    >>> found = mf.compare_ensembles(mf.cluster(points), ["cold"] * 6 + ["hot"] * 6)
    >>> mf.plots.ensemble_fractions(found).get_ylabel()
    'fraction (%)'
    """
    check_type("comparison", comparison, EnsembleComparison, remedy="`compare_ensembles` makes it.")
    ax = _draw_fractions(comparison.names, comparison.fractions, comparison.low, comparison.high, ax)
    tops = np.nanmax([comparison.fractions, comparison.high], axis=(0, 1)) * 100
    for state in np.flatnonzero(comparison.significant):
        ax.annotate("*", (float(state), float(tops[state])), ha="center", va="bottom", fontsize=14)
    return ax


def assigned_fractions(assignment: Assignment, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the fraction of each state in the fitted and in the new frames, with intervals.

    Parameters
    ----------
    assignment : Assignment
        The new frames, from `assign`.
    ax : Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    assign : Assign new frames.
    plots.ensemble_fractions : The fractions in ensembles that were clustered together.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 6])
    >>> new = mf.assign(result, rng.normal(size=(100, 2)))
    >>> ax = mf.plots.assigned_fractions(new)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['fitted frames', 'new frames']
    """
    check_type("assignment", assignment, Assignment, remedy="`assign` makes it.")
    tables = (assignment.fitted, assignment.states)
    values, low, high = (
        np.array([[getattr(row, name) for row in rows] for rows in tables], np.float64)  # None becomes NaN
        for name in ("fraction", "fraction_low", "fraction_high")
    )
    return _draw_fractions(("fitted frames", "new frames"), values, low, high, ax)


def _draw_fractions(
    names: Sequence[str], fractions: np.ndarray, low: np.ndarray, high: np.ndarray, ax: "Axes | None"
) -> "Axes":
    """Draw a group of bars for each state, with intervals where these are known; arrays are (names, K)."""
    count, states = fractions.shape
    ax = axes_of(ax, width=max(4.0, 1.6 + 0.35 * count * states), height=3.6)
    width = _WIDTH / count
    ends = [100 * np.where(np.isnan(end), fractions, end) for end in (low, high)]
    for e, (name, shade) in enumerate(zip(names, np.linspace(0.25, 0.8, count), strict=True)):
        values = 100 * fractions[e]
        places = np.arange(states) + (e - (count - 1) / 2) * width
        spread = np.maximum([values - ends[0][e], ends[1][e] - values], 0)
        ax.bar(places, values, 0.92 * width, color=str(shade), label=name)
        ax.errorbar(places, values, spread, fmt="none", ecolor="black", elinewidth=1, capsize=2)
    ax.set_xticks(np.arange(states), [str(state) for state in range(states)])
    for label, color in zip(ax.get_xticklabels(), state_colors(states), strict=True):
        label.set_bbox({"facecolor": color, "edgecolor": "none", "alpha": 0.35, "pad": 2})
    ax.set(xlabel="state", ylabel="fraction (%)", ylim=(0, 1.12 * max(float(ends[1].max()), 1e-6)))
    ax.legend(frameon=False)
    open_frame(ax)
    return ax


def ensemble_maps(projection: Projection, result: Clustering) -> "Figure":
    """Draw the frames of each ensemble side by side, on the same axes and the same scale.

    Parameters
    ----------
    projection : Projection
        Two coordinates of every frame, such as ``torsions(result.data)``.
    result : Clustering
        Of several ensembles; its densest frames are marked.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the data is not of several ensembles.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> both = mf.join_ensembles({"long": frames[:1000], "short": frames[1000:]})
    >>> result = mf.cluster(both, mf.Settings(n_states=3))
    >>> figure = mf.plots.ensemble_maps(mf.plots.torsions(both), result)
    >>> [ax.get_title() for ax in figure.axes]
    ['long', 'short']
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    ensembles = None if result.data is None else result.data.ensembles
    if ensembles is None or result.data is None:
        raise InputValueError(
            "`result` must be of several ensembles; got one of a single ensemble. Load them as a dict."
        )
    of = np.repeat(ensembles.of, result.data.lengths)
    return _maps(projection, result, ensembles, of)


def _maps(projection: Projection, result: Clustering, ensembles: Ensembles, of: np.ndarray) -> "Figure":
    from matplotlib.colors import LogNorm

    grid = projection.bin()
    figure = new_figure(3.4 * len(ensembles), 3.3)
    axes = figure.subplots(1, len(ensembles), sharex=True, sharey=True, squeeze=False)[0]
    left, right, bottom, top = grid.extent
    shares = []
    for e in range(len(ensembles)):
        counts = np.bincount(grid.index[of == e], minlength=grid.counts.size).reshape(grid.counts.shape)
        shares.append(counts / max(1, counts.sum()))
    least = min(float(each[each > 0].min()) for each in shares)
    norm = LogNorm(least, max(each.max() for each in shares) * (1 + 1e-9) + 1e-300)
    peaks = projection.values[result.cores.peaks]
    for ax, name, share in zip(axes, ensembles.names, shares, strict=True):
        shown = np.where(share > 0, share, np.nan).T
        options = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
        ax.imshow(shown, extent=(left, right, bottom, top), cmap=DENSITY_MAP, norm=norm, **options)
        for state, (x, y) in enumerate(peaks):
            ax.text(x, y, str(state), ha="center", va="center", fontsize=8, color="white", bbox=_DISC)
        ax.set(title=name, xlabel=projection.labels[0])
        if projection.equal:
            ax.set_box_aspect(1)
    axes[0].set_ylabel(projection.labels[1])
    return figure

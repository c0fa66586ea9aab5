"""Plots of the peaks of the density: their birth, death and prominence."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._check import check_int, check_real, check_type
from mdfuzzy._messages import counted
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import axes_of, open_frame
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.places import push_apart
from mdfuzzy.states.persistence import Persistence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOISE: dict[str, Any] = {"marker": "o", "color": "0.55", "linewidths": 0, "zorder": 2, "rasterized": True}
_STATE: dict[str, Any] = {"marker": "o", "s": 70, "edgecolors": "black", "linewidths": 0.7, "zorder": 3}


@dataclass(frozen=True)
class _Choice:
    """Peaks, the smallest prominence of a state, and which peaks are the states 0, 1, ..."""

    peaks: Persistence
    prominence: float
    states: np.ndarray


def persistence_diagram(
    peaks: Persistence | Clustering, *, prominence: float | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw every peak at the log densities of its birth and its death.

    States lie far below the diagonal, noise near it, in the grey band. A peak that never dies lies at the
    bottom.

    Parameters
    ----------
    peaks : Persistence or Clustering
        The peaks; a `Clustering` also provides the threshold and the states.
    prominence : float, optional
        The smallest prominence of a state; by default the threshold of the clustering, or
        ``peaks.prominence_gap().threshold``.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    See Also
    --------
    compute_persistence : The peaks that are drawn.
    plots.prominences : The same peaks by their prominence.

    References
    ----------
    * F. Chazal, L. J. Guibas, S. Y. Oudot and P. Skraba, *Persistence-Based Clustering in Riemannian
      Manifolds*, J. ACM 60 (2013) 41.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> peaks = mf.compute_persistence(neighbors.graph(), mf.dtm_log_density(neighbors))
    >>> mf.plots.persistence_diagram(peaks).get_xlabel()
    'birth: log density of the peak'
    """
    choice = _choose(peaks, prominence)
    ax = axes_of(ax, width=4.6, height=4.4)
    births, deaths = choice.peaks.births, choice.peaks.deaths
    known = np.isfinite(deaths)
    high = births.max()
    low = min(births.min(), deaths[known].min(initial=np.inf))
    span = max(high - low, choice.prominence, 1e-9)
    bottom, left, right = low - 0.16 * span, low - 0.05 * span, high + 0.08 * span
    line = np.array([left - span, right + span])
    ax.fill_between(line, line - choice.prominence, line, color="0.9", linewidth=0, zorder=0)
    ax.plot(line, line, color="0.4", linewidth=0.9, zorder=1)
    ax.plot(line, line - choice.prominence, color="black", linewidth=0.9, linestyle="--", zorder=1)
    ax.axhline(bottom, color="0.7", linewidth=0.8, zorder=0)
    heights = np.where(known, deaths, bottom)
    noise = np.setdiff1d(np.arange(len(births)), choice.states)
    ax.scatter(births[noise], heights[noise], s=9, label=counted(len(noise), "peak of noise"), **_NOISE)
    marks: dict[int, tuple[float, float]] = {}
    for number, (peak, color) in enumerate(zip(choice.states, state_colors(len(choice.states)), strict=True)):
        ax.scatter(births[peak], heights[peak], color=color, clip_on=False, **_STATE)
        marks[number] = (births[peak], heights[peak])
    ax.plot([], [], color="black", linestyle="--", linewidth=0.9, label=_threshold(choice))
    ax.set(
        xlabel="birth: log density of the peak",
        ylabel="death: log density of the saddle",
        xlim=(left, right),
        ylim=(bottom - 0.05 * span, right),
    )
    _number_states(ax, marks)
    ax.annotate(
        "never dies",
        (1.01, bottom),
        xycoords=("axes fraction", "data"),
        va="center",
        color="0.35",
        fontsize=8,
    )
    ax.legend(loc="upper left", frameon=False, fontsize=9)
    open_frame(ax)
    return ax


def prominences(
    peaks: Persistence | Clustering,
    *,
    prominence: float | None = None,
    shown: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the prominences of the peaks from large to small, with the threshold between states and noise.

    Parameters
    ----------
    peaks : Persistence or Clustering
        The peaks; a `Clustering` also provides the threshold and the states.
    prominence : float, optional
        The smallest prominence of a state; by default the threshold of the clustering, or
        ``peaks.prominence_gap().threshold``.
    shown : int, optional
        The number of peaks to show; by default 40, or four times the number of states if that is more.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    See Also
    --------
    compute_persistence : The peaks that are drawn.
    plots.persistence_diagram : The same peaks by birth and death.

    References
    ----------
    * F. Chazal, L. J. Guibas, S. Y. Oudot and P. Skraba, *Persistence-Based Clustering in Riemannian
      Manifolds*, J. ACM 60 (2013) 41.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> peaks = mf.compute_persistence(neighbors.graph(), mf.dtm_log_density(neighbors))
    >>> mf.plots.prominences(peaks, prominence=1.0).get_yscale()
    'log'
    """
    from matplotlib.ticker import MaxNLocator

    choice = _choose(peaks, prominence)
    n_states = len(choice.states)
    shown = max(40, 4 * n_states) if shown is None else check_int("shown", shown, 1)
    ax = axes_of(ax, width=5.6, height=3.8)
    heights = choice.peaks.prominences
    order = np.argsort(-heights, kind="stable")[:shown]
    finite = heights[np.isfinite(heights) & (heights > 0)]
    # The prominence of peaks that never die is infinite: they are drawn up to a line of their own.
    top = 3 * max(finite.max(initial=choice.prominence), choice.prominence)
    # The smallest peaks of noise are not informative and would stretch the scale.
    low = max(0.6 * min(heights[order].min(), choice.prominence), 0.02 * choice.prominence)
    numbers = {int(peak): number for number, peak in enumerate(choice.states)}
    colors = state_colors(n_states)
    marks: dict[int, tuple[float, float]] = {}
    for place, peak in enumerate(order, start=1):
        height = min(heights[peak], top)
        number = numbers.get(int(peak))
        color = "0.6" if number is None else colors[number]
        ax.vlines(place, low, height, color=color, linewidth=1.2, zorder=1)
        if number is not None:
            ax.scatter(place, height, color=color, clip_on=False, **_STATE)
            marks[number] = (place, height)
        else:
            ax.scatter(place, height, s=14, **_NOISE)
    ax.axhline(choice.prominence, color="black", linestyle="--", linewidth=0.9, label=_threshold(choice))
    if np.isinf(heights).any():
        ax.axhline(top, color="0.7", linewidth=0.8, zorder=0)
        ax.annotate(
            "never dies", (1, top), (-2, 4), xycoords=("axes fraction", "data"), textcoords="offset points",
            ha="right", color="0.35", fontsize=8,
        )  # fmt: skip
    hidden = len(heights) - len(order)
    ax.set(
        xlabel="peaks, the most prominent first" + (f" ({hidden:,} more not shown)" if hidden else ""),
        ylabel="prominence (log density)",
        yscale="log",
        xlim=(0, len(order) + 1),
        ylim=(low, 1.5 * top),
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    for state, at in marks.items():
        ax.annotate(
            str(state), at, (0, 7), textcoords="offset points", ha="center", fontweight="bold", fontsize=9
        )
    ax.legend(loc="upper right", bbox_to_anchor=(1.0, 0.9), frameon=False, fontsize=9)
    open_frame(ax)
    return ax


def _number_states(ax: "Axes", marks: dict[int, tuple[float, float]]) -> None:
    """Write the numbers of states beside their marks, so that none covers a mark; the limits must be set."""
    if not marks:
        return
    to_axes = ax.transData + ax.transAxes.inverted()
    places = to_axes.transform(np.array(list(marks.values())))
    wide = len(str(max(marks))) > 1
    moved = push_apart(places + np.array([0.03, 0.025]), 0.055 if wide else 0.04, fixed=places)
    for number, place, at in zip(marks, places, moved, strict=True):
        far = np.linalg.norm(at - place) > 0.06
        line = {"arrowstyle": "-", "color": "0.5", "linewidth": 0.6} if far else None
        ax.annotate(
            str(number), place, at, xycoords="axes fraction", textcoords="axes fraction", ha="center",
            va="center", fontweight="bold", arrowprops=line, zorder=4,
        )  # fmt: skip


def _choose(peaks: Persistence | Clustering, prominence: float | None) -> _Choice:
    """Find the threshold and the states: those of a clustering, unless another threshold is requested."""
    check_type("peaks", peaks, Persistence, Clustering)
    found = peaks.peaks if isinstance(peaks, Clustering) else peaks
    if isinstance(peaks, Clustering) and prominence is None:
        number = {int(point): at for at, point in enumerate(found.peaks)}
        states = np.array([number[int(point)] for point in peaks.cores.peaks], dtype=np.int64)
        return _Choice(found, peaks.prominence, states)
    if prominence is None:
        prominence = found.prominence_gap().threshold
    prominence = check_real("prominence", prominence, above=0)
    return _Choice(found, prominence, found.states(prominence))


def _threshold(choice: _Choice) -> str:
    return f"threshold {choice.prominence:.3g}: {counted(len(choice.states), 'state')}"

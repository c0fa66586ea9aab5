"""Plots of the tests of a Markov model: its timescales over the lag, and its predictions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._check import InputValueError, check_real, check_type
from mdfuzzy._messages import duration, time_unit
from mdfuzzy.kinetics import ChapmanKolmogorov, ImpliedTimescales
from mdfuzzy.plots._axes import axes_of, figure_of, open_frame, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_ESTIMATED, _PREDICTED = "#0072b2", "#d55e00"
_MOST_PANELS = 6  # the largest number of states whose transition probabilities can be read side by side


def implied_timescales(
    timescales: ImpliedTimescales, *, lag: float | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw implied timescales over the lag, with their intervals.

    A Markov model is valid beyond the lag at which the lines become level. In the grey region a timescale is
    shorter than the lag and cannot be resolved; intervals end there.

    Parameters
    ----------
    timescales : ImpliedTimescales
        From `kinetics.implied_timescales`.
    lag : float, optional
        The lag of the model to mark, in `timescales.unit`.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    See Also
    --------
    kinetics.implied_timescales : The timescales that are drawn.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> timescales = mf.kinetics.implied_timescales(dtrajs, lags=[1, 2, 5, 10], timestep=0.5)
    >>> mf.plots.implied_timescales(timescales).get_xlabel()
    'lag time (ps)'
    """
    from matplotlib import colormaps

    check_type("timescales", timescales, ImpliedTimescales)
    ax = axes_of(ax, width=5.2, height=4.0)
    factor, unit = time_unit(float(timescales.lag_times.max()), timescales.unit)
    lags = factor * timescales.lag_times
    found = timescales.values, visible_lower(timescales), timescales.upper
    values, lower, upper = (factor * part for part in found)
    style: dict[str, Any] = {"marker": "o", "markersize": 4.5, "linewidth": 1.5}
    for at, color in enumerate(colormaps["viridis"](np.linspace(0.0, 0.8, values.shape[1]))):
        known = np.isfinite(lower[:, at]) & np.isfinite(upper[:, at])
        band = {"color": color, "alpha": 0.22, "linewidth": 0}
        ax.fill_between(lags, lower[:, at], upper[:, at], where=known, **band)
        ax.plot(lags, values[:, at], color=color, label=f"{at + 1}", **style)
        ax.plot(lags[~known], values[~known, at], "o", color=color, markersize=4.5, markerfacecolor="white")
    if not (np.isfinite(lower) & np.isfinite(upper) | np.isnan(values)).all():
        ax.plot([], [], "o", color="0.3", markersize=4.5, markerfacecolor="white", label="interval\nunknown")
    shown = np.concatenate([values[np.isfinite(values)], lags[:1]])
    highest = np.max(upper, where=np.isfinite(upper), initial=0.0)
    bottom, top = 0.6 * shown.min(), float(np.clip(1.2 * highest, 2.0 * shown.max(), 20.0 * shown.max()))
    line = np.array([lags.min() / 2, lags.max() * 2])
    ax.fill_between(line, bottom, line, color="0.88", linewidth=0, zorder=0)
    ax.plot(line, line, color="0.4", linewidth=0.9, zorder=1)
    if lag is not None:
        lag = check_real("lag", lag, above=0, remedy="It is a time, in the unit of the timescales.")
        words = f"lag of the model: {duration(lag, timescales.unit)}"
        ax.axvline(factor * lag, color=_PREDICTED, linewidth=1.1, linestyle="--", zorder=1)
        ax.set_title(words, fontsize=9, color=_PREDICTED)
    ax.annotate(
        "shorter than the lag",
        (0.98, 0.03),
        xycoords="axes fraction",
        ha="right",
        color="0.35",
        fontsize=8.5,
        bbox={"facecolor": "0.88", "edgecolor": "none", "pad": 1},
    )
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=f"lag time ({unit})",
        ylabel=f"implied timescale ({unit})",
        xlim=(lags.min() / 1.15, lags.max() * 1.15),
        ylim=(bottom, top),
    )
    plain_ticks(ax.xaxis)
    plain_ticks(ax.yaxis)
    ax.legend(title="process", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    open_frame(ax)
    return ax


def visible_lower(timescales: ImpliedTimescales) -> np.ndarray:
    """Return the lower ends of the intervals, (L, P), but no timescale that is shorter than its lag time.

    A model cannot resolve shorter ones. Samples without the process have 0, which a logarithmic axis cannot
    show.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> timescales = mf.kinetics.implied_timescales(dtrajs, lags=[1, 2, 40])
    >>> bool((visible_lower(timescales)[:, 0] >= [1, 2, 40]).all())
    True
    """
    shortest = np.minimum(timescales.lag_times[:, None], timescales.upper)
    return np.maximum(timescales.lower, shortest)


def chapman_kolmogorov(
    test: ChapmanKolmogorov,
    *,
    states: Sequence[int] | None = None,
    figure: "Figure | SubFigure | None" = None,
) -> np.ndarray:
    """Draw transition probabilities over several lags: estimated, and predicted from one.

    Parameters
    ----------
    test : ChapmanKolmogorov
        From `kinetics.chapman_kolmogorov`.
    states : sequence of int, optional
        The states to show; by default all of them, or the first six if there are more.
    figure : Figure, optional
        The figure to draw on; by default a new one, ``axes[0, 0].figure``, which is not registered with
        pyplot.

    Returns
    -------
    (s, s) array of Axes
        One row for each initial state, one column for each final state.

    Raises
    ------
    ValueError
        If `states` are not different states of the test.

    See Also
    --------
    kinetics.chapman_kolmogorov : The test that is drawn.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.cumsum(rng.random(5000) < 0.01) % 2 for _ in range(8)]
    >>> test = mf.kinetics.chapman_kolmogorov(dtrajs, lag=5, n_steps=4)
    >>> mf.plots.chapman_kolmogorov(test).shape
    (2, 2)
    """
    check_type("test", test, ChapmanKolmogorov)
    known = [int(state) for state in test.states]
    states = known[:_MOST_PANELS] if states is None else [int(state) for state in states]
    if not states or not set(states) <= set(known) or len(set(states)) < len(states):
        raise InputValueError(f"`states` must be different states of the test, {known}; got {states}.")
    side = 1.4 * len(states) + 1.1
    figure = figure_of(figure, width=side + 0.3, height=side)
    axes = figure.subplots(len(states), len(states), sharex=True, sharey=True, squeeze=False)
    factor, unit = time_unit(float(test.lag_times.max()), test.unit)
    times = factor * test.lag_times
    for row, start in enumerate(states):
        for column, end in enumerate(states):
            ax, cell = axes[row, column], (slice(None), known.index(start), known.index(end))
            ax.fill_between(
                times, test.lower[cell], test.upper[cell], color=_ESTIMATED, alpha=0.25, linewidth=0
            )
            ax.plot(times, test.estimated[cell], "o-", color=_ESTIMATED, markersize=3.5, linewidth=1.2)
            ax.plot(times, test.predicted[cell], "--", color=_PREDICTED, linewidth=1.4)
            ax.set_title(f"{start} → {end}", fontsize=9, pad=3)
            ax.set(ylim=(-0.04, 1.04), yticks=(0, 0.5, 1))
    figure.supxlabel(f"time ({unit})", fontsize=10)
    figure.supylabel("transition probability", fontsize=10)
    lines = axes[0, 0].get_lines()
    first = duration(float(test.lag_times[0]), test.unit)
    names = [f"estimated, {100 * test.confidence:.0f} % interval", f"predicted from {first}"]
    figure.legend(lines, names, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return axes

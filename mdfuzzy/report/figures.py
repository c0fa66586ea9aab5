"""Static figures of the report, in the format of plotly: dictionaries of data and layout."""

from typing import Any, cast

import numpy as np

from mdfuzzy._messages import duration, time_unit
from mdfuzzy.kinetics import ChapmanKolmogorov, ImpliedTimescales
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots.models import visible_lower
from mdfuzzy.report.packing import rounded

#: Ink, lines and accents of the page; page.css has the same.
INK, PALE, ACCENT = "#1f2933", "#9aa5b1", "#b3261e"
#: With more states than this, only the probabilities of staying in a state are drawn.
_MAX_GRID = 5


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    """Return an axis in the style of the page."""
    style = {"gridcolor": "#e9edf2", "linecolor": PALE, "zeroline": False, "ticks": "outside", "ticklen": 4}
    return {"title": {"text": title}, "tickcolor": PALE, **style, **more}


def log_ticks(values: np.ndarray) -> dict[str, Any]:
    """Return the ticks of a logarithmic axis for positive `values`, labelled with plain numbers.

    Examples
    --------
    >>> log_ticks(np.array([0.3, 20.0, np.nan]))["ticktext"]
    ['0.1', '0.2', '0.5', '1', '2', '5', '10', '20', '50']
    """
    known = np.log10(values[np.isfinite(values) & (values > 0)])
    if not len(known):
        return {}
    powers = np.arange(np.floor(known.min()), np.floor(known.max()) + 1)
    steps = (1, 2, 5) if len(powers) <= 3 else (1,)
    ticks = [float(f"{step}e{power:.0f}") for power in powers for step in steps]
    return {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def see_through(color: str, opacity: float) -> str:
    """Return a colour ``#rrggbb`` with an opacity.

    Examples
    --------
    >>> see_through("#0072b2", 0.2)
    'rgba(0,114,178,0.2)'
    """
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def beta_figure(result: Clustering) -> dict[str, Any]:
    """Draw the entropy of the memberships against beta, the score (if one was used), and the chosen beta."""
    scan, beta = cast("BetaScan", result.beta_scan), result.memberships.beta
    finite = np.isfinite(scan.betas)
    curves = [("entropy −Σ μ ln μ", -scan.entropy, "#0072b2", "y")]
    if result.settings.beta == "kinetic":
        curves.append(("skill of predicting the next state", scan.scores, "#d55e00", "y2"))
    traces = [
        {
            **{"type": "scatter", "mode": "lines+markers", "x": rounded(scan.betas[finite]), "yaxis": side},
            **{"y": rounded(values[finite]), "line": {"color": color, "width": 2}, "marker": {"size": 7}},
            "hovertemplate": f"beta %{{x:.3g}}: {name} %{{y:.4g}}<extra></extra>",
        }
        for name, values, color, side in curves
    ]
    marks = [(2.0, PALE, "dot", "2: simulation")]
    if np.isfinite(beta):
        marks.append((beta, ACCENT, "solid", f"used: {beta:.3g}"))
    layout = {
        "xaxis": axis("walk temperature (colder ← → hotter)", type="log", **log_ticks(scan.betas[finite])),
        "yaxis": axis(curves[0][0], color=curves[0][2] if len(curves) > 1 else INK),
        "shapes": [
            {
                **{"type": "line", "x0": place, "x1": place, "yref": "paper", "y0": 0, "y1": 1},
                "line": {"color": color, "width": 1.5, "dash": dash},
            }
            for place, color, dash, _ in marks
        ],
        "annotations": [
            {
                **{"x": float(np.log10(place)), "y": 1 - 0.1 * row, "yref": "paper", "text": text},
                **{"xanchor": "right", "xshift": -4, "yanchor": "top", "showarrow": False},  # above the curve
                "font": {"color": INK if color == PALE else color},
            }
            for row, (place, color, _, text) in enumerate(marks)
        ],
        "showlegend": False,
        "margin": {"l": 62, "r": 62, "t": 30, "b": 52},
    }
    if len(curves) > 1:
        layout["yaxis2"] = axis(
            curves[1][0], color=curves[1][2], side="right", overlaying="y", showgrid=False
        )
    return {"data": traces, "layout": layout}


def process_colors(number: int) -> list[str]:
    """Return colours for the processes of a Markov model, dark to light; no state has one of them."""
    shades = np.linspace(0.0, 1.0, max(number, 1))[:number, None]
    dark, light = np.array([35.0, 25.0, 66.0]), np.array([190.0, 160.0, 215.0])
    return ["#" + "".join(f"{round(part):02x}" for part in dark + shade * (light - dark)) for shade in shades]


def timescales_figure(timescales: ImpliedTimescales, lag: float | None) -> dict[str, Any]:
    """Draw the implied timescales against the lag, with their intervals, and mark the lag of the model."""
    number = timescales.values.shape[1]
    factor, unit = time_unit(float(timescales.lag_times.max()), timescales.unit)
    lag_times, values = factor * timescales.lag_times, factor * timescales.values
    lower, upper = factor * visible_lower(timescales), factor * timescales.upper
    traces, x = [], rounded(lag_times)
    for at, color in enumerate(process_colors(number)):
        known = np.isfinite(lower[:, at]) & np.isfinite(upper[:, at])
        if known.any():
            traces.append(_band(lag_times, lower[:, at], upper[:, at], color))
        traces.append(
            {
                **{"type": "scatter", "mode": "lines+markers", "name": f"process {at + 1}"},
                **{"x": x, "y": rounded(values[:, at])},
                "line": {"color": color, "width": 2},
                "hovertemplate": f"lag time %{{x:.4g}} {unit}: %{{y:.4g}} {unit}",
            }
        )
    below = {
        **{"type": "scatter", "mode": "lines", "x": x, "y": x, "fill": "tozeroy", "hoverinfo": "skip"},
        **{"fillcolor": "rgba(154,165,177,0.25)", "line": {"color": PALE, "width": 1}},
        "showlegend": False,  # the text above the picture explains the area
    }
    layout: dict[str, Any] = {
        "xaxis": axis(f"lag time ({unit})", type="log", **log_ticks(lag_times)),
        "yaxis": axis(
            f"implied timescale ({unit})",
            type="log",
            automargin=True,
            **log_ticks(np.concatenate([lag_times, values.ravel(), upper[np.isfinite(upper)]])),
        ),
        "legend": {"orientation": "h", "y": -0.3, "yanchor": "top"},
    }
    if lag is not None:
        place = {"x0": factor * lag, "x1": factor * lag, "yref": "paper", "y0": 0, "y1": 1}
        layout["shapes"] = [
            {"type": "line", **place, "line": {"color": ACCENT, "width": 1.5, "dash": "dash"}}
        ]
        layout["annotations"] = [
            {
                **{"x": np.log10(factor * lag), "yref": "paper", "y": 1, "yanchor": "bottom"},
                **{"showarrow": False, "text": f"lag time of the model: {duration(lag, timescales.unit)}"},
            }
        ]
    return {"data": [below, *traces], "layout": layout}


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str, **place: str) -> dict[str, Any]:
    """Draw the area between two curves, where both are known."""
    known = np.isfinite(low) & np.isfinite(high)
    return {
        **{"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False, "fill": "toself"},
        "x": rounded(np.concatenate([x[known], x[known][::-1]])),
        "y": rounded(np.concatenate([high[known], low[known][::-1]])),
        "line": {"width": 0},
        "fillcolor": see_through(color, 0.2),
        **place,
    }


def prediction_figure(test: ChapmanKolmogorov) -> dict[str, Any]:
    """Draw predicted and estimated transition probabilities over several lags."""
    number = len(test.states)
    pairs = [(a, b) for a in range(number) for b in range(number)]
    columns = number
    if number > _MAX_GRID:
        pairs, columns = [(a, a) for a in range(number)], _MAX_GRID
    rows = -(-len(pairs) // columns)
    traces, notes = [], []
    layout: dict[str, Any] = {}
    factor, unit = time_unit(float(test.lag_times.max()), test.unit)
    x = np.concatenate([[0.0], factor * test.lag_times])
    color = "#0b5c8f"
    for place, (a, b) in enumerate(pairs):
        row, column = divmod(place, columns)
        axes = {"xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}"}
        start = float(a == b)
        low, high, estimated, predicted = (
            np.concatenate([[start], values[:, a, b]])
            for values in (test.lower, test.upper, test.estimated, test.predicted)
        )
        traces.append(_band(x, low, high, color, **axes))
        legend = {"showlegend": place == 0}
        traces.append(
            {
                **{"type": "scatter", "mode": "lines+markers", "name": "estimated", **axes, **legend},
                **{"x": rounded(x), "y": rounded(estimated), "line": {"color": color, "width": 2}},
                "hovertemplate": f"%{{x:.4g}} {unit}: %{{y:.3f}}",
            }
        )
        traces.append(
            {
                **{"type": "scatter", "mode": "lines", "name": "predicted", **axes, **legend},
                **{"x": rounded(x), "y": rounded(predicted)},
                "line": {"color": INK, "width": 1.5, "dash": "dash"},
                "hovertemplate": f"%{{x:.4g}} {unit}: %{{y:.3f}}",
            }
        )
        across = [(column + 0.06) / columns, (column + 0.94) / columns]
        up = [1 - (row + 0.86) / rows, 1 - (row + 0.1) / rows]
        bottom = row == (len(pairs) - 1 - column) // columns
        layout[f"xaxis{place + 1}"] = axis(
            f"time ({unit})" if bottom and column == columns // 2 else "",
            domain=across,
            anchor=axes["yaxis"],
            nticks=3,
            tickangle=0,
            showticklabels=bottom,
        )
        layout[f"yaxis{place + 1}"] = axis(
            domain=up, anchor=axes["xaxis"], range=[-0.05, 1.05], nticks=3, showticklabels=column == 0
        )
        notes.append(
            {
                **{"text": f"{test.states[a]} → {test.states[b]}", "x": across[1], "y": up[1]},
                **{
                    "xref": "paper",
                    "yref": "paper",
                    "xanchor": "right",
                    "yanchor": "bottom",
                    "showarrow": False,
                },
            }
        )
    layout |= {
        "annotations": notes,
        "height": 130 + 115 * rows,
        "margin": {"l": 62, "r": 16, "t": 52, "b": 52},  # the legend stands above the names of the panels
        "legend": {"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0},
    }
    return {"data": traces, "layout": layout}

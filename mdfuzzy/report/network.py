"""The network of states in the report, in the format of plotly."""

from typing import Any, cast

import numpy as np

from mdfuzzy._messages import counted
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.layout import Link, ends_of, label_places, layout_states, list_links
from mdfuzzy.report.figures import INK
from mdfuzzy.report.packing import rounded

#: Pixels of the network on a wide and on a narrow screen, as page.css gives.
_WIDE, _NARROW = np.array([900.0, 364.0]), np.array([310.0, 364.0])


def network_figure(result: Result) -> dict[str, Any]:
    """Draw the states as circles, and transition regions and transitions as lines between them.

    The ``meta`` of a trace has the values for a narrow screen.
    """
    colors = state_colors(result.n_states)
    whole = "all frames" if result.weights is None else "the weight"
    shares = [row.fraction for row in result.states]
    links = list_links(cast("TransitionRegions", result.transition_regions))
    links.sort(key=lambda link: -(link.transitions or 0))
    places = layout_states(result.n_states, links)
    margin = 0.15 * (np.ptp(places, axis=0).max() or 1.0)
    low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
    sizes = np.maximum(26, 95 * np.sqrt(shares))
    traces = [_link_line(link, places) for link in links]
    if links:
        wide, narrow = (
            _link_numbers(links, places, np.maximum(20, scale * sizes) / 2, np.max((high - low) / screen))
            for screen, scale in ((_WIDE, 1.0), (_NARROW, _NARROW[0] / 600))
        )
        traces.append({**_link_markers(links), **wide, "meta": {"narrow": narrow}})
    x, y = rounded(places.T)
    traces.append(
        {
            **{"type": "scatter", "mode": "markers+text", "x": x, "y": y},
            "text": [f"<b>{state}</b>" for state in range(len(shares))],
            "hovertext": [f"state {state}: {share:.1%} of {whole}" for state, share in enumerate(shares)],
            "hoverinfo": "text",
            "textfont": {"size": 13, "color": [ink_on(color) for color in colors]},
            "marker": {
                "size": rounded(sizes, 3),
                "color": colors,
                "opacity": 1,
                "line": {"color": "#ffffff", "width": 2},
            },
        }
    )
    hidden = {"visible": False, "fixedrange": True}
    ranges = rounded(np.stack([low, high], axis=1))
    layout = {
        "xaxis": {**hidden, "range": ranges[0]},
        "yaxis": {**hidden, "range": ranges[1], "scaleanchor": "x"},
        "showlegend": False,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
    }
    return {"data": traces, "layout": layout}


def _link_line(link: Link, places: np.ndarray) -> dict[str, Any]:
    x, y = rounded(places[list(link.pair)].T)
    style = {"color": "#7b8794", "width": 1.5, "dash": "dot"}
    if link.size:
        width = 1 + 1.2 * np.log10(1 + link.size)
        style = {"color": "#b8c2cc", "width": width, "dash": "dash" if link.transitions == 0 else "solid"}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": style, "hoverinfo": "skip"}


def _link_markers(links: list[Link]) -> dict[str, Any]:
    """Return the trace of the numbers on lines, without their places."""
    words = []
    for link in links:
        seen = "" if link.transitions is None else f"{counted(link.transitions, 'transition')}, "
        words.append(
            f"states {link.pair[0]} and {link.pair[1]}: {seen}{counted(link.size, 'transition frame')}"
        )
    return {
        **{"type": "scatter", "mode": "markers+text", "hovertext": words, "hoverinfo": "text"},
        "textfont": {"size": 12, "color": INK},
    }


def _link_numbers(
    links: list[Link], places: np.ndarray, radii: np.ndarray, per_pixel: float
) -> dict[str, Any]:
    """Return the places and the texts of the numbers on lines, without those for which there is no room."""
    texts = ["" if link.transitions is None else f"{link.transitions:,}" for link in links]
    widths = per_pixel * np.array([7.6 * len(text) + 8 if text else 0.0 for text in texts])
    ends = places[ends_of(links)]
    middles = label_places(ends, widths, per_pixel * 18, places, per_pixel * radii)
    shown = np.isfinite(middles[:, 0])
    x, y = rounded(np.where(shown[:, None], middles, ends.mean(axis=1)).T)
    back = [18 if len(text) < 4 else 24 for text in texts]  # behind a number: white, like the background
    marker = {"size": back, "color": "#ffffff", "opacity": [0.9 if one else 0 for one in shown]}
    texts = [text if one else "" for text, one in zip(texts, shown, strict=True)]
    return {"x": x, "y": y, "text": texts, "marker": marker}


def ink_on(color: str) -> str:
    """Return black or white, whichever can be read on a colour ``#rrggbb``.

    Examples
    --------
    >>> ink_on("#f0e442"), ink_on("#0072b2")
    ('#1f2933', '#ffffff')
    """
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "#ffffff"

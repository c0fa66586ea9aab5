"""The HTML representation of results in a notebook: a compact table of the states, and a picture."""

import base64
import io
from html import escape

import numpy as np

from mdfuzzy._messages import duration
from mdfuzzy.pipeline.assignment import Assignment
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.state_table import StateTable
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.figures import overview
from mdfuzzy.plots.showing import unseen_figures
from mdfuzzy.report.words import share, span

#: The largest number of states in the table.
_MAX_STATES = 20
_CELL = "padding:2px 12px 2px 0;text-align:right"


def notebook_html(result: Clustering | Assignment | StateTable) -> str:
    """Return the HTML representation of a result for a notebook.

    Parameters
    ----------
    result : Clustering, Assignment or StateTable
        The result. Clusterings and assignments of trajectories also have a picture.

    Returns
    -------
    str
        HTML without scripts.

    See Also
    --------
    report.write_report : The whole report.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> html = mf.report.notebook_html(result)
    >>> html.count("<tr>"), "data:image/png;base64," in html
    (3, True)
    """
    if isinstance(result, StateTable):
        return _table(result)
    return f"<div><p><b>{escape(repr(result))}</b></p>{_table(result.states)}{_picture(result)}</div>"


def _table(states: StateTable) -> str:
    heads = ["state", "frames", "fraction", "95 % range"]
    modelled = any(row.population is not None for row in states)
    timed = any(row.visits is not None for row in states)
    heads += ["population", "95 % range"] * modelled + ["visits", "dwell"] * timed
    lines = ["".join(f'<th style="{_CELL}">{head}</th>' for head in heads)]
    for row, color in list(zip(states, state_colors(len(states)), strict=True))[:_MAX_STATES]:
        chip = f'<span style="color:{color}">&#9632;</span> {row.state}'
        cells = [chip, f"{row.frames:,}", share(row.fraction), span(row.fraction_low, row.fraction_high)]
        if modelled:
            known = "" if row.population is None else share(row.population)
            cells += [known, span(row.population_low, row.population_high)]
        if timed:
            stay = row.dwell if row.dwell is not None and np.isfinite(row.dwell) else None
            cells += [f"{row.visits:,}", "" if stay is None else duration(stay, states.unit)]
        lines.append("".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells))
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    more = f"<p>{len(states) - _MAX_STATES} more states.</p>" if len(states) > _MAX_STATES else ""
    return f'<table style="font-variant-numeric:tabular-nums">{rows}</table>{more}'


def _picture(result: Clustering | Assignment) -> str:
    """Return the overview as an image; nothing for a clustering without coordinates."""
    if result.data is None:
        return ""
    with unseen_figures():
        figure = overview(result)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    encoded = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img alt="frames, states and transitions" src="data:image/png;base64,{encoded}">'

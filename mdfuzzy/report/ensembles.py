"""The section of the page that compares ensembles."""

import base64
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from mdfuzzy.ensembles.comparison import EnsembleComparison
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.report.words import chip, share, table


def fractions_figure(found: EnsembleComparison) -> dict[str, Any]:
    """Draw the fractions of the states as bars beside each other, with intervals."""
    shades = [f"#{3 * f'{int(shade):02x}'}" for shade in np.linspace(64, 200, len(found.names))]
    traces = []
    for e, name in enumerate(found.names):
        values = 100 * found.fractions[e]
        low, high = (
            np.where(np.isnan(end[e]), found.fractions[e], end[e]) for end in (found.low, found.high)
        )
        traces.append(
            {
                **{"type": "bar", "name": escape(name), "marker": {"color": shades[e]}},
                "x": [f"state {state}" for state in range(len(found))],
                "y": values.round(4).tolist(),
                "error_y": {
                    **{"type": "data", "symmetric": False},
                    "array": (100 * high - values).round(4).tolist(),
                    "arrayminus": (values - 100 * low).round(4).tolist(),
                },
            }
        )
    layout = {"barmode": "group", "yaxis": {"title": {"text": "fraction (%)"}}, "showlegend": True}
    return {"data": traces, "layout": layout | {"margin": {"l": 62, "r": 20, "t": 20, "b": 40}}}


def ensembles_texts(result: Clustering, found: EnsembleComparison) -> dict[str, str]:
    """Return the texts that replace the names in the template."""
    return {
        "tables": _fractions(found) + "".join(_differences(found)),
        "confidence": f"{100 * found.confidence:g} %",
        "unit": found.unit,
        "level": f"{found.level:g}",
        "maps": _maps(result),
        "notes": "".join(f"<p>{escape(note)}</p>" for note in found.notes),
    }


def _fractions(found: EnsembleComparison) -> str:
    colors = state_colors(len(found))
    rows = []
    for state in range(len(found)):
        cells = [
            f"{share(found.fractions[e, state])} <small>[{share(found.low[e, state])}, "
            f"{share(found.high[e, state])}]; {found.visitors[e, state]} of {found.trajectories[e]}</small>"
            for e in range(len(found.names))
        ]
        rows.append([chip(state, colors), *cells, escape(found.alone[state])])
    return table(["state", *found.names, "found only in"], rows, words=[0, len(found.names) + 1])


def _differences(found: EnsembleComparison) -> list[str]:
    colors, texts = state_colors(len(found)), []
    for each in found.differences:
        rows = []
        for state in range(len(found)):
            mark = " *" if each.p[state] < found.level else ""
            span = f"[{each.low[state]:.2f}, {each.high[state]:.2f}]"
            rows.append(
                [chip(state, colors), f"{each.free_energy[state]:.2f}", span, f"{each.p[state]:.2g}{mark}"]
            )
        heads = ["state", f"free energy ({found.unit})", "interval", "p (corrected)"]
        numbers = f"mixing {each.mixing:.2f}, overlap of fractions {each.overlap:.2f}"
        title = f"{each.second} minus {each.first}: {numbers}"
        texts.append(f"<h3>{escape(title)}</h3>\n{table(heads, rows, words=[0])}")
    return texts


def _maps(result: Clustering) -> str:
    """Return a picture of where each ensemble is; empty if there are no coordinates to show."""
    from mdfuzzy.plots.ensembles import ensemble_maps
    from mdfuzzy.plots.figures import projection_of

    return _picture(ensemble_maps(projection_of(result, None), result), "The frames of each ensemble")


def _picture(figure: Any, words: str) -> str:
    file = BytesIO()
    figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<p><img alt="{escape(words)}" style="max-width:100%" src="data:image/png;base64,{data}"></p>'

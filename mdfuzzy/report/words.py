"""The texts and tables of the page, as HTML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

from mdfuzzy._messages import counted, duration
from mdfuzzy.kinetics import ChapmanKolmogorov, ImpliedTimescales
from mdfuzzy.kinetics.dtrajs import LEFT_OUT
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.state_table import State
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.report.structures import place_of, torsion_text


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: Sequence[int] = (), kind: str = ""
) -> str:
    """Return a table: `heads` are texts, cells of `rows` are HTML, and the columns `words` are no numbers."""
    kinds = ["" if column in words else ' class="number"' for column in range(len(heads))]
    head = "".join(
        f"<th scope=col{kind}>{escape(text)}</th>" for kind, text in zip(kinds, heads, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>\n"
        for row in rows
    )
    start = f'<table class="{kind}">' if kind else "<table>"
    return f'<div class="scroll">{start}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def chip(state: int, colors: Sequence[str]) -> str:
    """Return the number of a state with its colour."""
    return f'<span class="chip"><i style="background:{colors[state]}"></i>{state}</span>'


def bar(length: float, color: str) -> str:
    """Return a bar whose coloured part is a share of it."""
    return f'<span class="bar"><i style="width:{100 * length:.1f}%;background:{color}"></i></span>'


def whole(text: str) -> str:
    """Return a text as HTML, with line breaks after semicolons only."""
    return "; ".join(f'<span class="whole">{escape(part)}</span>' for part in text.split("; "))


def share(value: float) -> str:
    """Write a share of all frames.

    Examples
    --------
    >>> share(0.1234), share(0.00123), share(1e-6), share(0.0)
    ('12.3 %', '0.123 %', 'below 0.001 %', '0 %')
    >>> share(0.08), share(1.0)
    ('8.00 %', '100 %')
    """
    return f"{_percent(value)} %"


def _percent(value: float) -> str:
    """Write a share in per cent, never with an exponent."""
    if 0 < 100 * value < 0.001:
        return "below 0.001"
    return f"{100 * value:#.3g}".rstrip(".") if value else "0"


def span(low: float | None, high: float | None) -> str:
    """Write the interval of a share; empty if it is not known.

    Examples
    --------
    >>> span(0.1, 0.257), span(None, 0.2)
    ('10.0 – 25.7 %', '')
    """
    if low is None or high is None or not np.isfinite([low, high]).all():
        return ""
    return f"{_percent(low)} – {_percent(high)} %"


def headline(result: Result) -> str:
    """Return the numbers at the top of the page."""
    data, memberships = result.data, result.memberships
    cards = [("state" if result.n_states == 1 else "states", f"{result.n_states}", "")]
    if result.transition_regions is not None:
        found = result.transition_regions
        word, seen = "transition region" if len(found) == 1 else "transition regions", ""
        if found.transitions is not None:
            moves = int(found.transitions.sum() + found.others[:, 2].sum())
            seen = f"{counted(moves, 'transition')} observed"
        cards.append((word, f"{len(found)}", seen))
    cards.append(("frames", f"{len(result):,}", f"of {data.width}" if data is not None else ""))
    if result.weights is not None and result.fractions is not None:
        cards.append(("effective frames", f"{result.fractions.n_effective:,.0f}", "by their weights"))
    if data is not None:
        word = "trajectory" if data.n_trajectories == 1 else "trajectories"
        cards.append((word, f"{data.n_trajectories:,}", ""))
    if data is not None and data.times is not None:
        total = sum(float(part[-1] - part[0]) for part in data.split(data.times))
        step = data.timestep
        cards.append(
            ("simulated", duration(total, "ps"), f"a frame every {duration(step, 'ps')}" if step else "")
        )
    beta = "∞" if np.isinf(memberships.beta) else f"{memberships.beta:.3g}"
    cards.append(("walk temperature (beta)", beta, "2 is the temperature of the simulation"))
    return "".join(
        f'<div class="card"><b>{escape(number)}</b><span>{escape(word)}</span>'
        f"<small>{escape(note)}</small></div>"
        for word, number, note in cards
    )


def lead(result: Result) -> str:
    """Return the sentence below the headline."""
    title = "" if result.data is None else result.data.title
    return escape(title or repr(result))


def interval(found: ImpliedTimescales | ChapmanKolmogorov | None) -> str:
    """Describe the bands around curves."""
    if found is None or not found.n_bootstrap:
        return "none"
    words = f"{100 * found.confidence:g} % intervals from {found.n_bootstrap} {found.drawn}"
    if np.any(found.complete < found.n_bootstrap):
        drawn = "drawn from 0 to 1" if isinstance(found, ChapmanKolmogorov) else "not drawn"
        words += f"; where too many samples lack a state, the interval is unknown and {drawn}"
    return words


def atoms(structures: dict[str, Any] | None) -> str:
    """Describe how a molecule is drawn."""
    if structures is None:
        return ""
    if structures["view"] == "trace":
        return "The trace of the backbone, in the colour of the state."
    if structures["view"] == "cartoon":
        return "A cartoon in the colour of the state. Chains are not joined across gaps."
    return "The loaded atoms: carbon in the colour of the state, other elements in their own."


def plane_note(shown: dict[str, Any] | None) -> str:
    """Explain principal components if the map shows them."""
    if shown is None or not any(plane["name"].startswith("principal") for plane in shown["planes"]):
        return ""
    return (
        "Principal components are the directions in which the superposed structures vary most; states that "
        "overlap there can still differ in others."
    )


def hidden(shown: dict[str, Any] | None, nouns: str) -> str:
    """Return a sentence on how many things a plot leaves out; empty if none."""
    return f"{shown['hidden']:,} more {nouns} are not shown." if shown and shown["hidden"] else ""


def states_table(result: Result) -> str:
    """Return the table of states."""
    colors, visits = state_colors(result.n_states), result.visits
    torsions, weighted = _few_torsions(result), result.weights is not None
    bounded = any(row.fraction_low is not None for row in result.states)
    own = isinstance(result, Clustering)
    fitted = [None] * result.n_states if isinstance(result, Clustering) else list(result.fitted)
    heads = ["state", "population" if weighted else "fraction of frames", *["in the run"] * (not own)]
    heads += ["effective frames"] * weighted + ["frames", "core", *["prominence"] * own]
    heads += ["peak frame", *["φ, ψ at the peak"] * torsions] if own else [_BEST, *[_ANGLES] * torsions]
    heads += ["visits", "dwell", "time to next state", "metastable"] * (visits is not None)
    rows = []
    for row, before in zip(result.states, fitted, strict=True):
        cells = [chip(row.state, colors), _fraction(row, colors, bounded)]
        cells += [] if before is None else [_fraction(before, colors, bounded)]
        cells += [] if row.effective is None else [f"{row.effective:,.0f}"]
        cells += [f"{row.frames:,}", f"{row.core:,}"]
        cells += ["∞" if np.isinf(row.prominence) else f"{row.prominence:.3g}"] * own
        cells.append(whole(place_of(result.data, row.peak)) if row.frames else "none")
        cells += [whole(torsion_text(result.data, row.peak)) if row.frames else ""] * torsions
        if visits is not None:
            cells.append(f"{visits.visits[row.state]:,}")
            for times in (visits.mean_dwell, visits.core_dwell):
                cells.append(_dwell(times[row.state], visits.unit))
            cells.append("yes" if visits.metastable[row.state] else "<em>not shown</em>")
        rows.append(cells)
    found = table(heads, rows, words=[at for at, head in enumerate(heads) if head in _TEXTS])
    reasons = [] if visits is None else [f"state {at}: {why}" for at, why in enumerate(visits.reasons) if why]
    if result.weights is not None and result.fractions is not None:
        found += f'\n<p class="note">{escape(result.fractions.words)} {escape(LEFT_OUT)}</p>'
    return found + _reasons("Not shown to be metastable", reasons)


def _reasons(what: str, reasons: Sequence[str]) -> str:
    """Return reasons as a note, or as a list to unfold if there are many."""
    if len(reasons) > _SHORT_LIST:
        items = "".join(f"<li>{escape(why)}.</li>" for why in reasons)
        return (
            f"\n<details><summary>{escape(what)}: {len(reasons)} states</summary><ul>{items}</ul></details>"
        )
    return f'\n<p class="note reasons">{escape(what)}: {escape("; ".join(reasons))}.</p>' if reasons else ""


def _fraction(row: State, colors: Sequence[str], bounded: bool) -> str:
    """Return the fraction of a state as a bar, with its interval below."""
    interval = f"<br><small>{span(row.fraction_low, row.fraction_high)}</small>" * bounded
    return f'<span class="whole">{bar(row.fraction, colors[row.state])}{share(row.fraction)}{interval}</span>'


#: More reasons than this are a list to unfold.
_SHORT_LIST = 2
#: Torsions of more residues than this are left out of tables.
_MAX_RESIDUES = 4
#: Columns of an assignment in place of the peak, which is one of the fitted frames.
_BEST, _ANGLES = "frame of highest membership", "φ, ψ of that frame"
#: Columns of the table of states that are not numbers.
_TEXTS = (
    *("state", "population", "fraction of frames", "in the run", "peak frame", "φ, ψ at the peak"),
    *(_BEST, _ANGLES, "metastable"),
)


def _few_torsions(result: Result) -> bool:
    """Whether there are few enough residues to list their torsions in a table."""
    return result.data is not None and 0 < len(result.data.residues) <= _MAX_RESIDUES


def _dwell(value: float, unit: str) -> str:
    if np.isnan(value):
        return "never visited"
    return "never left" if np.isinf(value) else duration(value, unit)


def transition_regions_table(result: Result) -> str:
    """Return the table of transition regions; a sentence if there are none, nothing if none were searched."""
    transition_regions, colors = result.transition_regions, state_colors(result.n_states)
    if transition_regions is None:
        return ""
    elsewhere = ""
    if len(transition_regions.others):
        pairs = [f"{moves:,} between {a} and {b}" for a, b, moves in transition_regions.others.tolist()]
        listed = ", ".join(f'<span class="whole">{pair}</span>' for pair in pairs)
        elsewhere = f"<p>Transitions between states without a transition region: {listed}.</p>"
    if len(transition_regions) == 0:
        nothing = (
            "<p>There are no transition regions: too few frames between two states have a mixing of "
            f"{transition_regions.threshold:g} or more.</p>"
        )
        return nothing + elsewhere
    moved = transition_regions.transitions
    heads = ["states", *["transitions"] * (moved is not None)]
    heads += ["transition frames", "fraction of frames", "mean mixing", "most mixed frame"]
    torsions = _few_torsions(result)
    heads += [_ANGLES] * torsions
    rows = []
    for at, (a, b) in enumerate(transition_regions.pairs.tolist()):
        frame = int(transition_regions.frames[at][0])
        moves = [] if moved is None else [f"{moved[at]:,}" if moved[at] else "<em>none observed</em>"]
        row = [
            f'<span class="whole">{chip(a, colors)} – {chip(b, colors)}</span>',
            *moves,
            f"{transition_regions.sizes[at]:,}",
            share(transition_regions.fractions[at]),
            f"{transition_regions.mixing[at]:.2f}",
            whole(place_of(result.data, frame)),
        ]
        rows.append(row + [whole(torsion_text(result.data, frame))] * torsions)
    first = 4 if moved is None else 5
    return table(heads, rows, words=[0, first, first + 1]) + elsewhere


def choices(result: Clustering) -> str:
    """Return the automatic choices with reasons, and the tests of their robustness."""
    lines = [f"<dt>{escape(name)}</dt><dd>{escape(why)}</dd>" for name, why in result.chosen.items()]
    if result.k_scan is not None:
        lines.append(f"<dt>other values of k</dt><dd>{escape(str(result.k_scan))}</dd>")
    if result.bootstrap is not None:
        lines.append(f"<dt>bootstrap of the trajectories</dt><dd>{escape(str(result.bootstrap))}</dd>")
    if not lines:
        return "<p>The user gave all settings; none was chosen automatically.</p>"
    return f"<dl>{''.join(lines)}</dl>"


def splits_table(result: Clustering) -> str:
    """Return the table of splits, and other evidence for the number of states."""
    if result.splits is None:
        return "<p>The states were merged manually.</p>"
    splits, colors = result.splits, state_colors(result.n_states)
    columns = splits.columns()
    for name in ("state", "from"):
        columns[name] = [
            chip(int(cell), colors) if cell.isdigit() else f'<span class="whole">{escape(cell)}</span>'
            for cell in columns[name]
        ]
    words = [at for at, name in enumerate(columns) if name in ("state", "from", "verdict")]
    rows = [["∞" if cell == "inf" else cell for cell in row] for row in zip(*columns.values(), strict=True)]
    found = table(list(columns), rows, words=words, kind="dense")
    reasons = [
        f"state {splits.name(int(peak))} ({why})"
        for peak, why, verdict in zip(splits.peaks, splits.reasons, splits.verdicts, strict=True)
        if verdict == "structural" and why
    ]
    found += _reasons("Why these states are called structural in this table", reasons)
    if result.tree.in_time is not None:
        found += f"\n<p>{escape(result.tree.in_time.words)}</p>"
    return found


def warning_list(result: Result) -> str:
    """Return the warnings, if there are any."""
    if not result.warnings:
        return ""
    items = "".join(f"<li>{_code(message)}</li>" for message in dict.fromkeys(result.warnings))
    return f'<aside class="warnings" id="warnings"><h2>Warnings</h2><ul>{items}</ul></aside>'


def _code(message: str) -> str:
    """Return a message as HTML, with the names in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(message))


def settings_table(result: Clustering) -> str:
    """Return every setting of the clustering."""
    rows = [
        (
            f"<code>{escape(field.name)}</code>",
            escape(_setting(getattr(result.settings, field.name))),
            escape(field.metadata.get("help", "")),
        )
        for field in fields(result.settings)
    ]
    return table(["setting", "value", "meaning"], rows, words=[0, 1, 2])


def _setting(value: object) -> str:
    return "automatic" if value is None else str(value)


def sources(result: Result) -> str:
    """Return what was loaded, in words."""
    data = result.data
    if data is None:
        return "<p>The clustering started from given neighbours; the trajectories are not known.</p>"
    text = data.summary()
    return f"<pre>{escape(text)}</pre>"

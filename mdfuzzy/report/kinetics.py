"""Populations, passage times and pathways of the Markov model, as tables in HTML."""

from html import escape

import numpy as np

from mdfuzzy._messages import duration, time_span
from mdfuzzy.kinetics import Equilibrium, Pathways
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.report.words import bar, chip, share, span, table

#: Passage times between more states than this are left to the tables in files.
_MAX_STATES = 12
_FAILED = (
    "The Chapman-Kolmogorov test failed: for longer times, the predictions of this model deviate from the "
    "data by more than the statistical error. The numbers below inherit this error."
)


def describe_kinetics(result: Result) -> dict[str, str] | None:
    """Return the texts of the section on kinetics; None without a Markov model."""
    if not isinstance(result, Clustering):
        return None
    model, paths = result.equilibrium, result.pathways
    if model is None or paths is None:
        return None
    lag = duration(model.lag_time, model.unit)
    caution = f"Lag time of the model: {lag}."
    if result.validation is not None:
        caution = escape(result.validation.reason)
        if not caution.startswith(f"At a lag time of {lag},"):
            caution = f"Lag time of the model: {lag}. {caution}"
        if result.validation.test is not None and result.validation.test.passed is False:
            caution += f" <b>{_FAILED}</b>"
    return {
        "kinetics_reason": caution,
        "kinetics_interval": _interval(model),
        "populations": _populations(result, model),
        "kinetics_difference": _difference(result, model),
        "passage_times": _passage_times(model, result.n_states),
        "pathways_words": _words(paths),
        "pathways": _pathways(paths, result.n_states),
    }


def _interval(model: Equilibrium) -> str:
    if not model.drawn:
        return "There are no intervals: no bootstrap sample could be drawn."
    return (
        f"All intervals have a confidence of {100 * model.confidence:g} % and come from {model.n_bootstrap} "
        f"bootstrap samples of {model.drawn}. A limit of an interval is missing if it would come from "
        "bootstrap samples that lack the necessary transitions."
    )


def _populations(result: Clustering, model: Equilibrium) -> str:
    """Return fractions of frames and equilibrium populations side by side."""
    colors = state_colors(result.n_states)
    rows = []
    for row in result.states:
        cells = [chip(row.state, colors), share(row.fraction), span(row.fraction_low, row.fraction_high)]
        if row.population is None or row.free_energy is None:
            cells += ["<em>not connected</em>", "", "", ""]
        else:
            cells += [
                f'<span class="whole">{bar(row.population, colors[row.state])}{share(row.population)}</span>',
                span(row.population_low, row.population_high),
                f"{row.free_energy:.2f}",
                _energies(row.free_energy_low, row.free_energy_high),
            ]
        rows.append(cells)
    heads = ["state", "fraction of frames", "interval", "equilibrium population", "interval"]
    return table([*heads, "free energy (kT)", "interval"], rows, words=[0, 3])


def _energies(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "unknown"
    if low == high == 0:
        return "reference"
    ends = ["−∞" if low is None else f"{low:.2f}", "∞" if high is None else f"{high:.2f}"]
    return " to ".join(end.replace("-", "−") for end in ends)


def _difference(result: Clustering, model: Equilibrium) -> str:
    """Say why fractions and populations differ, with the state in which they differ most."""
    fractions = np.array([result.states[state].fraction for state in model.states])
    most = int(np.argmax(np.abs(fractions - model.populations)))
    if abs(fractions[most] - model.populations[most]) < 0.02:
        return "Here the two differ by less than 2 percentage points."
    return (
        f"State {model.states[most]} has {share(fractions[most])} of the frames, but a population of "
        f"{share(model.populations[most])}. The population depends only on the transitions, not on where the "
        "trajectories started."
    )


def _passage_times(model: Equilibrium, n_states: int) -> str:
    """Return the mean first-passage times, from the state of the row to the state of the column."""
    if len(model) > _MAX_STATES:
        return f"<p>There are {len(model)} states: see exports/tables/passage_times.csv.</p>"
    colors = state_colors(n_states)
    rows = []
    for row, state in enumerate(model.states.tolist()):
        cells = [chip(state, colors)]
        for column in range(len(model)):
            if row == column:
                cells.append("")
                continue
            value, low, high = (
                float(each[row, column]) for each in (model.mfpt, model.mfpt_low, model.mfpt_high)
            )
            cells.append(duration(value, model.unit))
            if model.drawn:
                span_of = time_span(low, high, model.unit).replace(" to ", "–")
                cells[-1] += f"<br><small>{span_of}</small>"
        rows.append(cells)
    return table(["from", *(f"to {state}" for state in model.states)], rows, words=[0])


def _words(paths: Pathways) -> str:
    return (
        f"The slowest process is the exchange between states {paths.source} and {paths.target}. "
        f"From {paths.source} to {paths.target} it takes "
        f"{duration(paths.time, paths.unit)} on average "
        f"({time_span(paths.time_low, paths.time_high, paths.unit)})."
    )


def _pathways(paths: Pathways, n_states: int) -> str:
    colors = state_colors(n_states)
    rows = [
        [
            '<span class="whole">' + " → ".join(chip(state, colors) for state in path.tolist()) + "</span>",
            f'<span class="whole">{bar(value, "#5f7285")}{share(value)}</span>',
            span(low, high),
        ]
        for path, value, low, high in list(
            zip(paths.paths, paths.shares, paths.shares_low, paths.shares_high, strict=True)
        )[:10]
    ]
    return table(["pathway", "share of the flux", "interval"], rows, words=[0, 1])

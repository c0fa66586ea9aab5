"""Tables of the states for a paper, as CSV and as LaTeX."""

import csv
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mdfuzzy._atomic import new_files
from mdfuzzy._messages import duration
from mdfuzzy.exports._checks import check_result
from mdfuzzy.kinetics import Equilibrium, Pathways
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.comparison import StateComparison, compare_states, pairs_to_compare
from mdfuzzy.pipeline.describing import has_features
from mdfuzzy.pipeline.state_table import State, StateTable

#: The columns of the table of states, with their headings in LaTeX.
_COLUMNS = {
    "state": "State",
    "frames": "Frames",
    "fraction": r"Fraction of frames (\%)",
    "population": r"Equilibrium population (\%)",
    "free_energy": r"Free energy ($k_\mathrm{B}T$)",
    "visits": "Visits",
    "dwell": "Mean dwell time",
}


def write_state_tables(folder: str | os.PathLike[str], result: Result, *, overwrite: bool = False) -> Path:
    """Write tables for a paper: fractions, populations, passage times and pathways.

    Parameters
    ----------
    folder : path
        The folder; it is created if necessary.
    result : Clustering or Assignment
        The result to export. Populations, passage times and pathways need a Markov model: a clustering with
        ``Settings(validate=True)``.
    overwrite : bool
        Replace the tables of an earlier export.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the files already exist, and `overwrite` is False.

    See Also
    --------
    exports.write_table : A table with a row for every frame.
    kinetics.estimate_equilibrium : The populations and passage times.

    Notes
    -----
    Each table but the last is written twice, as comma-separated values (``.csv``) and for LaTeX (``.tex``,
    with the rules of the package booktabs):

    - ``states``: for each state the number of frames, their fraction, the equilibrium population, the free
      energy relative to the most populated state in kT, visits and mean dwell time; in the CSV file of an
      assignment also the fraction of the fitted frames;
    - ``passage_times``: mean first-passage times between all states;
    - ``pathways``: the pathways of the slowest process with the fraction of the flux that each carries;
    - ``differences``: the features that differ most between states, for up to four pairs of states
      (`compare_states`).

    Intervals (95 %) are from a bootstrap of the trajectories.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = mf.exports.write_state_tables(folder + "/tables", result)
    ...     print((place / "states.csv").read_text().splitlines()[0])
    state,frames,fraction,fraction_low,fraction_high,core,prominence,peak,visits,dwell_frames
    """
    check_result(result)
    tables: dict[str, Callable[[], str]] = {
        "states.csv": lambda: states_csv(result.states, getattr(result, "fitted", None)),
        "states.tex": lambda: states_latex(result.states),
    }
    if isinstance(result, Clustering) and result.equilibrium is not None:
        model = result.equilibrium
        tables["passage_times.csv"] = lambda: passage_csv(model)
        tables["passage_times.tex"] = lambda: passage_latex(model)
    if isinstance(result, Clustering) and result.pathways is not None:
        paths = result.pathways
        tables["pathways.csv"] = lambda: pathways_csv(paths)
        tables["pathways.tex"] = lambda: pathways_latex(paths)
    if isinstance(result, Clustering) and result.n_states > 1 and has_features(result.data):
        tables["differences.csv"] = lambda: differences_csv(
            [compare_states(result, a, b) for a, b in pairs_to_compare(result)]
        )
    with new_files(folder, "tables", overwrite=overwrite) as stage:
        for name, text in tables.items():
            (stage / name).write_text(text(), encoding="utf-8")
    return Path(folder).expanduser()


def states_csv(states: StateTable, fitted: StateTable | None = None) -> str:
    """Return the table of states as comma-separated values, without empty columns.

    For new frames there are also the fractions of the `fitted` frames.
    """
    names = ["state", "frames"]
    for name in ("fraction", "population", "free_energy"):
        names += [name, f"{name}_low", f"{name}_high"]
    names += ["core", "prominence", "peak", "visits", "dwell"]
    columns = {name: [getattr(row, name) for row in states] for name in names}
    for name in () if fitted is None else ("fraction", "fraction_low", "fraction_high"):
        columns[f"fitted_{name}"] = [getattr(row, name) for row in fitted or ()]
    known = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    for name in ("phi", "psi"):
        for place, residue in enumerate(states.residues):
            known[f"{name}_{residue}"] = [getattr(row, name)[place] for row in states]
    units = {"dwell": f"dwell_{states.unit}", "free_energy": "free_energy_kT"}
    return _csv({units.get(name, name): [_plain(value) for value in each] for name, each in known.items()})


def passage_csv(model: Equilibrium) -> str:
    """Return mean first-passage times as comma-separated values, a row for each ordered pair of states."""
    pairs = [(a, b) for a in range(len(model)) for b in range(len(model)) if a != b]
    rows, columns = zip(*pairs, strict=True)
    table: dict[str, Sequence[object]] = {
        "from": model.states[list(rows)].tolist(),
        "to": model.states[list(columns)].tolist(),
    }
    for name, values in (("", model.mfpt), ("_low", model.mfpt_low), ("_high", model.mfpt_high)):
        table[f"mfpt_{model.unit}{name}"] = [_plain(values[pair]) for pair in pairs]
    return _csv(table)


def pathways_csv(paths: Pathways) -> str:
    """Return pathways as comma-separated values, those with the largest flux first."""
    return _csv(
        {
            "pathway": ["-".join(map(str, path.tolist())) for path in paths.paths],
            "share": [_plain(value) for value in paths.shares],
            "share_low": [_plain(value) for value in paths.shares_low],
            "share_high": [_plain(value) for value in paths.shares_high],
        }
    )


def differences_csv(comparisons: Sequence[StateComparison]) -> str:
    """Return the features of pairs of states as comma-separated values, those that differ most first."""
    table: dict[str, list[object]] = {}
    for each in comparisons:
        columns = {"mean_a": each.means[0], "mean_b": each.means[1], "effect": each.effect}
        columns |= {"effect_low": each.low, "effect_high": each.high}
        for at in each.order.tolist():
            row = {"state_a": each.states[0], "state_b": each.states[1], "feature": each.names[at]}
            row |= {"unit": each.units[at]} | {name: _plain(values[at]) for name, values in columns.items()}
            for name, value in row.items():
                table.setdefault(name, []).append(value)
    return _csv({**table})


def states_latex(states: StateTable) -> str:
    """Return the table of states for LaTeX."""
    shown = [name for name in _COLUMNS if any(getattr(row, name) is not None for row in states)]
    rows = [[_cell(row, name, states.unit) for name in shown] for row in states]
    caption = "Fractions of frames"
    caption += ", populations and free energies by the Markov model" if "population" in shown else ""
    return _latex([_COLUMNS[name] for name in shown], rows, f"{caption}, with 95~\\% bootstrap intervals.")


def passage_latex(model: Equilibrium) -> str:
    """Return mean first-passage times for LaTeX, with a row for each initial state."""
    heads = ["From", *(f"to {state}" for state in model.states)]
    rows = []
    for place, state in enumerate(model.states.tolist()):
        cells = [str(state)]
        for other in range(len(model)):
            value, low, high = (each[place, other] for each in (model.mfpt, model.mfpt_low, model.mfpt_high))
            times = [_time(each, model.unit) for each in (value, low, high)]
            cells.append("--" if place == other else f"{times[0]} ({times[1]} to {times[2]})")
        rows.append(cells)
    return _latex(heads, rows, "Mean first-passage times between states, with 95~\\% bootstrap intervals.")


def pathways_latex(paths: Pathways) -> str:
    """Return pathways for LaTeX."""
    rows = [
        [r" $\to$ ".join(map(str, path.tolist())), _bounded(100 * share, 100 * low, 100 * high, "%.1f")]
        for path, share, low, high in zip(
            paths.paths, paths.shares, paths.shares_low, paths.shares_high, strict=True
        )
    ]
    caption = f"Pathways from state {paths.source} to state {paths.target}, by the flux that each carries."
    return _latex(["Pathway", r"Share of the flux (\%)"], rows, caption)


def _cell(row: State, name: str, unit: str) -> str:
    value = getattr(row, name)
    if value is None:
        return "--"
    if name == "dwell":
        return _time(value, unit)
    if name in ("fraction", "population", "free_energy"):
        factor, digits = (1.0, "%.2f") if name == "free_energy" else (100.0, "%.1f")
        low, high = (getattr(row, f"{name}_{side}") for side in ("low", "high"))
        low, high = (np.nan if end is None else factor * end for end in (low, high))
        return _bounded(factor * value, low, high, digits)
    return f"{value:,}"


def _bounded(value: float, low: float, high: float, digits: str) -> str:
    """Return a value with its interval."""
    ends = [
        digits % end if np.isfinite(end) else sign for end, sign in ((low, r"-\infty"), (high, r"\infty"))
    ]
    return f"{digits % value} (${ends[0]}$ to ${ends[1]}$)"


def _time(value: float, unit: str) -> str:
    if not np.isfinite(value):
        return r"$\infty$"
    return duration(value, unit).replace("µs", r"\textmu s").replace(" ", "~")


def _plain(value: float | int | None) -> object:
    """Return a number in plain notation; empty if it is not known."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


def _csv(columns: dict[str, Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _latex(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Return a table with the rules of booktabs."""
    lines = [
        r"\begin{table}",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{'l' + 'r' * (len(heads) - 1)}}}",
    ]
    lines += [r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)

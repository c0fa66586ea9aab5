"""The page: its parts put together, and written to a file."""

import base64
import hashlib
import os
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from mdfuzzy import __version__
from mdfuzzy._atomic import whole_file
from mdfuzzy._check import check_type
from mdfuzzy._messages import duration
from mdfuzzy._threads import limited_threads
from mdfuzzy.ensembles.comparison import compare_ensembles
from mdfuzzy.kinetics import ChapmanKolmogorov, ImpliedTimescales
from mdfuzzy.pipeline.assignment import Assignment, Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.report import words
from mdfuzzy.report.ensembles import ensembles_texts, fractions_figure
from mdfuzzy.report.figures import beta_figure, prediction_figure, timescales_figure
from mdfuzzy.report.kinetics import describe_kinetics
from mdfuzzy.report.maps import describe_maps
from mdfuzzy.report.network import network_figure
from mdfuzzy.report.packing import to_json
from mdfuzzy.report.series import describe_peaks, describe_timeline
from mdfuzzy.report.structures import describe_structures

_TITLE = "Metastable states and transitions"
#: Our own JavaScript, in the order in which the page needs it.
_SCRIPTS = ("common.js", "map.js", "structures.js", "peaks.js", "timeline.js", "start.js")
#: The origin of the 3D viewer.
_VIEWER_WORDS = " 3D view: 3Dmol.js 2.5.5 (BSD licence, N. Rego and D. Koes, Bioinformatics 31 (2015) 1322)."
#: The sections, in order, with their titles and their names in the navigation bar.
_SECTIONS = {
    "states": ("States", "States"),
    "ensembles": ("What differs between the ensembles", "Ensembles"),
    "map": ("Where the states are", "Map"),
    "structures": ("What the states look like", "Structures"),
    "network": ("How the states are connected", "Network"),
    "transition_regions": ("Transition regions between states", "Transition regions"),
    "kinetics": ("Populations and kinetics", "Kinetics"),
    "timeline": ("Memberships over time", "Time"),
    "peaks": ("How many states there are", "Peaks"),
    "choices": ("What was chosen automatically, and why", "Choices"),
    "timescales": ("Implied timescales", "Timescales"),
    "prediction": ("Chapman-Kolmogorov test", "Test"),
    "about": ("Data and settings", "Settings"),
}


def write_report(
    path: str | os.PathLike[str],
    result: Result,
    *,
    timescales: ImpliedTimescales | None = None,
    test: ChapmanKolmogorov | None = None,
    title: str | None = None,
) -> Path:
    """Write the results of a clustering as a self-contained HTML page.

    The page has tables of the states and the transition regions between them, what was chosen automatically
    and why, and interactive plots: the frames over phi and psi (of any residue; over two principal components
    or features where there are none) at every beta that was solved for, the structures of states and
    transitions in 3D, the peaks with a threshold that can be moved, the network of states, and the
    memberships over time. The frames are binned, so the page is smaller than 10 MB even for millions of
    frames; half of it is plotly.js.

    Parameters
    ----------
    path : path
        The file to write, such as ``"report.html"``, in a folder that exists. An earlier report is replaced.
    result : Clustering or Assignment
        The result to show. For a slider over beta, make the clustering with ``Settings(scan_beta=True)`` or
        with ``beta="kinetic"`` or ``"entropy"``. The report of an assignment shows the fractions of the
        fitted frames next to the fractions of the new frames, and no evidence for the states.
    timescales : ImpliedTimescales, optional
        Shown if given; from `kinetics.implied_timescales`.
    test : ChapmanKolmogorov, optional
        Shown if given; from `kinetics.chapman_kolmogorov`.
    title : str, optional
        The headline.

    Returns
    -------
    Path
        The file. The same arguments always give the same bytes.

    Raises
    ------
    FileExistsError
        If `path` is a file of another origin.
    FileNotFoundError
        If the folder of `path` does not exist.
    IsADirectoryError
        If `path` is a folder.

    See Also
    --------
    plots.write_plots : Pictures for a paper.
    validate_model : Timescales and test for the report.

    Examples
    --------
    >>> import tempfile, numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = mf.report.write_report(f"{folder}/report.html", result, title="Two heaps")
    ...     page.name, "Two heaps" in page.read_text(encoding="utf-8"), page.stat().st_size < 10_000_000
    ('report.html', True, True)
    """
    check_type("result", result, Clustering, Assignment, remedy="`cluster` and `assign` make it.")
    remedy = "`kinetics.implied_timescales` makes them."
    check_type("timescales", timescales, ImpliedTimescales, None, remedy=remedy)
    check_type("test", test, ChapmanKolmogorov, None, remedy="`kinetics.chapman_kolmogorov` makes it.")
    path = Path(path)
    refuse_page(path)
    with limited_threads(result.settings.n_jobs if isinstance(result, Clustering) else None):
        page = render(result, timescales=timescales, test=test, title=title)
    with whole_file(path) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
    return path


def refuse_page(path: Path) -> None:
    """Raise if no report can be written at `path`."""
    if path.is_dir():
        raise IsADirectoryError(
            f"`path` must be a file; got {str(path)!r}, a folder. Use {str(path / 'report.html')!r}."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"`path` must be in an existing folder; got {str(path)!r}. Make {str(path.parent)!r} first."
        )
    if os.path.lexists(path) and not is_report(path):
        raise FileExistsError(
            f"`path` must be a new file or an earlier report; got {str(path)!r}, which mdfuzzy did not "
            "write. Give another name."
        )


def is_report(path: Path) -> bool:
    """Whether a file is a report written by mdfuzzy, and not a link."""
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return b'<meta name="generator" content="mdfuzzy ' in file.read(4096)


def render(
    result: Result,
    *,
    timescales: ImpliedTimescales | None = None,
    test: ChapmanKolmogorov | None = None,
    title: str | None = None,
) -> str:
    """Return the page as a text; the arguments are those of `write_report`."""
    from plotly.colors import sequential
    from plotly.offline import get_plotlyjs, get_plotlyjs_version

    figures, clustering = {}, result if isinstance(result, Clustering) else None
    if clustering is not None and clustering.beta_scan is not None:
        figures["beta-plot"] = beta_figure(clustering)
    if result.transition_regions is not None:
        figures["network-plot"] = network_figure(result)
    if timescales is not None:
        figures["timescales-plot"] = timescales_figure(
            timescales, None if test is None else test.lag_times[0]
        )
    if test is not None:
        figures["prediction-plot"] = prediction_figure(test)
    comparison = None
    if clustering is not None and clustering.data is not None and clustering.data.ensembles is not None:
        comparison = compare_ensembles(clustering)
        figures["ensembles-plot"] = fractions_figure(comparison)
    data = {
        "frames": len(result),
        "colors": state_colors(result.n_states),
        "scales": {"density": _scale(sequential.Viridis), "second": _scale(sequential.Inferno)},
        "map": describe_maps(result),
        "structures": describe_structures(result),
        "peaks": None if clustering is None else describe_peaks(clustering),
        "timeline": describe_timeline(result),
        "figures": figures,
    }
    empty = {name for name in ("map", "structures", "timeline", "peaks") if data[name] is None}
    empty |= {"choices"} if clustering is None else set()
    empty |= {"transition_regions"} if result.transition_regions is None else set()
    plotted = ("network", "ensembles", "timescales", "prediction")
    empty |= {name for name in plotted if f"{name}-plot" not in figures}
    kinetics = describe_kinetics(result)
    empty |= {"kinetics"} if kinetics is None else set()
    shown = {name: titles for name, titles in _SECTIONS.items() if name not in empty}
    texts = _texts(result, data, timescales, test) | (kinetics or {})
    if clustering is not None and comparison is not None:
        texts |= ensembles_texts(clustering, comparison)
    links = "".join(f'<li><a href="#{name}">{short}</a></li>' for name, (_, short) in shown.items())
    plotly, script = get_plotlyjs(), "\n".join(["", *map(_read, _SCRIPTS), ""])
    viewer = "" if "structures" in empty else _viewer()
    parts = {
        "script_hashes": " ".join(map(_policy_hash, (plotly, viewer, script))),
        "title": escape(title or ("New frames in known states" if clustering is None else _TITLE)),
        "lead": words.lead(result),
        "version": __version__,
        "style": _read("style.css"),
        "links": f"<ul>{links}</ul>",
        "headline": words.headline(result),
        "warnings": words.warning_list(result),
        "sections": "\n".join(
            f'<section id="{name}">\n<h2>{long}</h2>\n{_fill(f"{name}.html", texts)}</section>'
            for name, (long, _) in shown.items()
        ),
        "data": to_json(data),
        "plotly": plotly,
        "plotly_version": get_plotlyjs_version(),
        "viewer": viewer,
        "viewer_words": _VIEWER_WORDS if viewer else "",
        "script": script,
    }
    return _fill("frame.html", parts)


def _texts(
    result: Result,
    data: dict[str, Any],
    timescales: ImpliedTimescales | None,
    test: ChapmanKolmogorov | None,
) -> dict[str, str]:
    """Return the texts that replace the names in the templates of the sections."""
    transition_regions = result.transition_regions
    own = _clustering_texts(result) if isinstance(result, Clustering) else _assignment_texts(result)
    return own | {
        "states": words.states_table(result),
        "transition_regions": words.transition_regions_table(result),
        "threshold": "" if transition_regions is None else f"{transition_regions.threshold:g}",
        "plane_word": "Coordinates",
        "plane_note": words.plane_note(data["map"]),
        "diamond_words": ", diamonds the most mixed frame of each transition region "
        "(section <i>Transition regions</i>)"
        if transition_regions is not None
        else "",
        "atoms_words": words.atoms(data["structures"]),
        "hidden_planes": words.hidden(data["map"], "residues"),
        "hidden_trajectories": words.hidden(data["timeline"], "trajectories"),
        "timescales_interval": words.interval(timescales),
        "prediction_interval": words.interval(test),
        "prediction_verdict": "" if test is None else test.verdict,
        "lag": "" if test is None else duration(test.lag_times[0], test.unit),
        "sources": words.sources(result),
    }


def _clustering_texts(result: Clustering) -> dict[str, str]:
    """Return the texts on how the states were found."""
    return {
        "states_words": _read("found.html"),
        "mark_words": "the peaks of the states",
        "prominence_words": _read("prominence.html"),
        "choices": words.choices(result),
        "splits": words.splits_table(result),
        "determined": escape(result.tree.words),
        "beta_plot": '<div id="beta-plot" class="plot low"></div>' if result.beta_scan is not None else "",
        "settings": _fill("settings.html", {"settings": words.settings_table(result)}),
    }


def _assignment_texts(result: Assignment) -> dict[str, str]:
    """Return the texts on how new frames were assigned."""
    return {
        "states_words": _fill("assigned.html", {"far": words.share(result.far_share)}),
        "mark_words": "the frames of highest membership",
        "prominence_words": "",
        "settings": "",
    }


def _scale(colors: list[str]) -> list[list[object]]:
    """Return colours as a colour scale of plotly.js, evenly spaced."""
    return [
        [float(place), color] for place, color in zip(np.linspace(0, 1, len(colors)), colors, strict=True)
    ]


def _policy_hash(script: str) -> str:
    """Return the name of a script in a content security policy, so that no other script runs in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode('ascii')}'"


def _fill(name: str, texts: dict[str, str]) -> str:
    """Return a template with its names replaced by texts."""
    return Template(_read(name)).substitute(texts)


def _viewer() -> str:
    """Return 3Dmol.js."""
    text = (files("mdfuzzy.report") / "viewer" / "3Dmol-min.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")  # in strings of the script


def _read(name: str) -> str:
    return (files("mdfuzzy.report") / "page" / name).read_text(encoding="utf-8")

"""Every picture of a clustering or an assignment, as files."""

import os
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from mdfuzzy._atomic import is_folder, new_files, refuse_others
from mdfuzzy._check import check_choice, check_int
from mdfuzzy._messages import warn_user
from mdfuzzy._threads import limited_threads
from mdfuzzy.ensembles.comparison import compare_ensembles
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import Calibration, ChapmanKolmogorov, ImpliedTimescales
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.comparison import compare_states, pairs_to_compare
from mdfuzzy.pipeline.describing import has_features
from mdfuzzy.plots.betas import beta_scan
from mdfuzzy.plots.bins import Bins
from mdfuzzy.plots.differences import state_differences
from mdfuzzy.plots.ensembles import assigned_fractions, ensemble_fractions, ensemble_maps
from mdfuzzy.plots.figures import overview, projection_of
from mdfuzzy.plots.forecasts import reliability
from mdfuzzy.plots.formats import DPI, Format
from mdfuzzy.plots.models import chapman_kolmogorov, implied_timescales
from mdfuzzy.plots.networks import state_network
from mdfuzzy.plots.passages import state_pathways
from mdfuzzy.plots.peaks import persistence_diagram, prominences
from mdfuzzy.plots.planes import Kind, draw
from mdfuzzy.plots.projections import Projection
from mdfuzzy.plots.residues import MOST_RESIDUES, residue_panels
from mdfuzzy.plots.series import feature_series
from mdfuzzy.plots.showing import unseen_figures
from mdfuzzy.plots.timelines import membership_timeline
from mdfuzzy.plots.trees import state_tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

#: Draws a picture.
Picture = Callable[[], "Figure | SubFigure"]
#: Computes the two coordinates of maps, and their bins.
Plane = Callable[[], tuple[Projection, Bins]]
#: The names of all pictures.
_NAME = re.compile(
    "overview|density|free-energy|states|transitions|persistence|prominences|tree|beta|network|pathways|residues|"
    "ensembles|ensemble-maps|timescales|chapman-kolmogorov|reliability|fractions|"
    r"(state|timeline|series)-\d+|difference-\d+-\d+"
)
#: The largest number of timelines that are written.
_TIMELINES = 4
#: The number of states with pictures of their own, which take seconds each; others can be requested by
#: number.
_STATES = 20


def write_plots(
    folder: str | os.PathLike[str],
    result: Result,
    *,
    residue: int | str | None = None,
    timescales: ImpliedTimescales | None = None,
    test: ChapmanKolmogorov | None = None,
    calibration: Calibration | None = None,
    kinds: Sequence[str] = (),
    format: Format = "png",
    dpi: int = DPI,
) -> list[Path]:
    """Write every picture of a clustering or an assignment, or some of them.

    Parameters
    ----------
    folder : path
        The folder, which is created if necessary. Earlier pictures in it are replaced, or removed if they are
        no longer drawn (unless `kinds` are given). Other files are left unchanged.
    result : Clustering or Assignment
        Of frames or features.
    residue : int or str, optional
        The residue whose torsions to use, as for `overview`.
    timescales, test, calibration : ImpliedTimescales, ChapmanKolmogorov, Calibration, optional
        Results of `kinetics`, to be drawn too.
    kinds : sequence of str
        The names of those to draw, as in the list below; ``"state"`` and ``"timeline"`` without a number
        stand for all of them (of more than 20 states for the first 20, with a warning). By default
        everything.
    format : {"png", "pdf", "svg"}
        PDF and SVG scale without loss.
    dpi : int
        Dots per inch.

    Returns
    -------
    list of Path
        The files: ``overview``, ``density``, ``free-energy``, ``states``, ``transitions``, a ``state-N`` of
        each state, ``persistence``, ``prominences``, and what there is of ``tree``, ``beta``, ``network``,
        ``pathways`` (with a Markov model), ``residues`` (of a peptide of 2 to 12 residues with phi and psi),
        ``ensembles`` and ``ensemble-maps`` (of several ensembles),
        ``timeline-N`` (of the first four trajectories), ``series-N`` (of features), ``difference-A-B`` (of
        up to four pairs of states), ``timescales``, ``chapman-kolmogorov`` and
        ``reliability``. Of an assignment, there are those that show frames and memberships, and ``fractions``
        beside those of the fitted frames.

    Raises
    ------
    FileExistsError
        If a file of another origin has the name of a picture.
    ValueError
        If the clustering began with neighbours and has no coordinates, or there is no such kind of picture.

    See Also
    --------
    plots.overview : The first of the pictures.
    report.write_report : A report with interactive pictures.

    Examples
    --------
    >>> import tempfile, numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in mf.plots.write_plots(folder, result)][:3]
    ['overview.png', 'density.png', 'free-energy.png']
    """
    dpi = check_int("dpi", dpi, 20, 2000)
    check_choice("format", format, get_args(Format))

    @cache
    def plane() -> tuple[Projection, Bins]:
        """The two coordinates of all maps, and their bins, once one of them is drawn."""
        with limited_threads(result.settings.n_jobs if isinstance(result, Clustering) else None):
            projection = projection_of(result, residue)
            return projection, projection.bin()

    if residue is not None or result.data is None:
        plane()  # errors are raised before any work
    pictures = _pictures(result, plane)
    if timescales is not None:
        lag = None if test is None else test.lag_times[0]
        pictures["timescales"] = lambda: implied_timescales(timescales, lag=lag).figure
    if test is not None:
        pictures["chapman-kolmogorov"] = lambda: chapman_kolmogorov(test)[0, 0].figure
    if calibration is not None:
        pictures["reliability"] = lambda: reliability(calibration).figure
    groups = {name: name.rstrip("0123456789-") for name in pictures}
    for kind in kinds:
        check_choice("kinds", kind, list(dict.fromkeys([*groups.values(), *pictures])))
    chosen = _chosen(pictures, groups, kinds, result.n_states)
    names = [f"{name}.{format}" for name in chosen]
    with (
        new_files(folder, "plots", overwrite=True, keep=bool(kinds), names=names) as stage,
        unseen_figures(),
    ):
        for name in chosen:
            # Without the time of writing, equal pictures are identical files.
            metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(format)
            figure = cast("Figure", pictures[name]())
            figure.savefig(stage / f"{name}.{format}", format=format, dpi=dpi, metadata=metadata)
    return [Path(folder) / name for name in names]


def refuse_pictures(folder: Path) -> None:
    """Raise if a folder holds a picture of another origin under a name that `write_plots` may write.

    Before a result is known, neither are its pictures.
    """
    files = [each.relative_to(folder) for each in folder.iterdir()] if is_folder(folder) else []
    refuse_others(
        folder, "plots", [each for each in files if _NAME.fullmatch(each.stem) and each.suffix == ".png"]
    )


def _chosen(
    pictures: dict[str, Picture], groups: dict[str, str], kinds: Sequence[str], n_states: int
) -> list[str]:
    """Return the pictures of some kinds; of hundreds of states the first ones only, with a warning."""
    every = [name for name in pictures if not kinds or {name, groups[name]} & {*kinds}]
    late = {f"state-{state}" for state in range(_STATES, n_states)} - {*kinds}
    if late & {*every}:
        warn_user(
            f"There are {n_states} states. Only the first {_STATES} get pictures of their own; for others "
            f"name them, such as state-{n_states - 1}."
        )
    return [name for name in every if name not in late]


def _pictures(result: Result, plane: Plane) -> dict[str, Picture]:
    """Return the functions that draw the pictures of a result, by name."""
    pictures = _maps(result, plane)
    if isinstance(result, Clustering):
        pictures |= _evidence(result, plane)
    else:
        pictures["fractions"] = lambda: assigned_fractions(result).figure
    regions, data = result.transition_regions, cast("Trajectories", result.data)
    if regions is not None:
        pictures["network"] = lambda: (
            state_network(regions, [state.fraction for state in result.states]).figure
        )
    if 2 <= len(data.residues) <= MOST_RESIDUES:
        pictures["residues"] = lambda: residue_panels(result)
    for number in range(min(data.n_trajectories, _TIMELINES)):
        pictures[f"timeline-{number}"] = partial(_timeline, data, result.memberships, number)
        if not data.metric.superpose:
            pictures[f"series-{number}"] = partial(
                feature_series, data, result.memberships, trajectory=number
            )
    if isinstance(result, Clustering) and has_features(data):
        for a, b in pairs_to_compare(result):
            pictures[f"difference-{a}-{b}"] = partial(_difference, result, a, b)
    return pictures


def _maps(result: Result, plane: Plane) -> dict[str, Picture]:
    """Return the pictures over two coordinates."""
    pictures: dict[str, Picture] = {"overview": lambda: overview(result, projection=plane()[0])}
    maps: dict[str, Kind] = {
        "density": "density",
        "free-energy": "free_energy",
        "states": "states",
        "transitions": "second",
    }
    for name, kind in maps.items():
        pictures[name] = partial(_map, plane, result, kind=kind)
    for state in range(result.n_states):
        pictures[f"state-{state}"] = partial(_map, plane, result, kind="membership", state=state)
    return pictures


def _evidence(result: Clustering, plane: Plane) -> dict[str, Picture]:
    """Return the pictures of the evidence for the states of a clustering."""
    pictures: dict[str, Picture] = {
        "persistence": lambda: persistence_diagram(result).figure,
        "prominences": lambda: prominences(result).figure,
    }
    if result.splits is not None:
        pictures["tree"] = lambda: state_tree(result).figure
    if result.beta_scan is not None:
        pictures["beta"] = lambda: beta_scan(result).figure
    if result.pathways is not None:
        pictures["pathways"] = lambda: state_pathways(result)
    if cast("Trajectories", result.data).ensembles is not None:
        pictures["ensembles"] = lambda: ensemble_fractions(compare_ensembles(result)).figure
        pictures["ensemble-maps"] = lambda: ensemble_maps(plane()[0], result)
    return pictures


def _difference(result: Clustering, a: int, b: int) -> "Figure | SubFigure":
    return state_differences(compare_states(result, a, b)).figure


def _map(plane: Plane, result: Result, **what: Any) -> "Figure | SubFigure":
    projection, grid = plane()
    return draw(projection, result, bins=grid, **what).figure


def _timeline(data: Trajectories, memberships: Memberships, number: int) -> "Figure | SubFigure":
    return membership_timeline(data, memberships, trajectory=number).figure

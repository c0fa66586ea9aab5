"""Write the outputs of a run: pictures, exports, the report, and a transcript."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import mdfuzzy as mf
from mdfuzzy import __version__
from mdfuzzy._atomic import refuse_links, remove_recorded, whole_file
from mdfuzzy._messages import counted
from mdfuzzy.exports.kinds import KINDS, kinds_of

if TYPE_CHECKING:
    from mdfuzzy.frames.trajectories import Trajectories
    from mdfuzzy.kinetics import ChapmanKolmogorov, ImpliedTimescales
    from mdfuzzy.kinetics.validation import Validation
    from mdfuzzy.pipeline.assignment import Result
    from mdfuzzy.pipeline.clustering import Clustering
    from mdfuzzy.pipeline.settings import Settings
    from mdfuzzy.workers.cluster import Client

logger = logging.getLogger("mdfuzzy")

#: Bytes of coordinates up to which a run writes the trajectories of its states without a request.
_SMALL = 2**28
#: Pictures of the tests of a Markov model.
_OF_THE_MODEL = ("timescales", "chapman-kolmogorov")


class Transcript:
    """Prints lines, and keeps them for a file."""

    _HEAD = "# mdfuzzy "

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __call__(self, text: object = "") -> None:
        """Print a text and keep it."""
        click.echo(text)
        self._lines.append(str(text))

    @classmethod
    def refuse(cls, path: Path) -> None:
        """Raise if the file exists and is not a transcript."""
        if path.is_symlink() or (
            path.exists() and not path.read_text(errors="replace").startswith(cls._HEAD)
        ):
            raise FileExistsError(f"{path} must not be a file that mdfuzzy did not write. Move it away.")

    def write(self, path: Path) -> None:
        """Write what was printed, in place of an earlier transcript."""
        self.refuse(path)
        with whole_file(path) as file:
            file.write(f"{self._HEAD}{__version__}\n\n{chr(10).join(self._lines)}\n".encode())


def open_folder(output: str, *, bare: bool = False, report: bool = True) -> mf.RunDir:
    """Return the run directory of a new run.

    Raises before anything is read or computed if it cannot be one, or if files of another origin have the
    names of outputs.
    """
    from mdfuzzy.plots.pictures import refuse_pictures
    from mdfuzzy.report.page import refuse_page

    run, folder = mf.RunDir(output), Path(output)
    run.check_place()
    Transcript.refuse(folder / "summary.txt")
    if not bare and folder.is_dir():
        refuse_pictures(folder / "plots")
        if report:
            refuse_page(folder / "report.html")
    return run


def place_of(run: str, output: str | None, *names: str) -> Path:
    """Return the given folder, or the folder with these names in the run directory; it must not be a link."""
    if output is not None:
        return Path(output)
    place = Path(run, *names)
    refuse_links(place, inside=Path(run))
    return place


def remove_outdated(run: mf.RunDir, data: "Trajectories", settings: "Settings") -> None:
    """Remove pictures, exports and the report of a run directory if they are of other data or settings."""
    known = run.settings
    if known is None:
        return
    same = replace(known, n_jobs=None, validate=False) == replace(settings, n_jobs=None, validate=False)
    if same and (known.validate or not settings.validate) and run.data_summary == repr(data):
        return
    with run.lock():
        run.check(data)  # results of other data are left unchanged, and the run is refused
        number = int(remove_page(run.path / "exports" / "assigned" / "report.html"))
        number += sum(remove_recorded(run.path / name) for name in ("plots", "exports"))
        number += remove_page(run.path / "report.html")
    if number:
        logger.info(f"removed {number} files of the previous run, which had other settings or data")


def write_outputs(
    folder: Path, result: "Clustering", *, report: bool = True, client: "Client | None" = None
) -> Iterator[str]:
    """Write everything into a run directory and yield a line about each part."""
    for name in ("plots", "exports"):
        refuse_links(folder / name, inside=folder)
    if result.validation is not None:
        yield result.validation.words
    yield from write_pictures(folder / "plots", result)
    data, size = result.data, 0
    left_out = {"structures", "trajectories"}
    if data is not None and data.has_structures:
        size = 12 * len(result) * data.source_topology.n_atoms
        left_out = {"trajectories"} if size > _SMALL else set()
    if result.weights is not None:
        left_out |= {"pyemma"}
        yield "discrete trajectories for PyEMMA are not written: a bias changes the kinetics"
    kinds = [kind for kind in kinds_of(result) if kind not in left_out]
    there = {"client": client}
    yield from write_exports(folder / "exports", result, kinds, trajectories=there, table=there)
    if size > _SMALL:
        words = f"({size / 2**30:.1f} GB of coordinates) are written on demand"
        yield f"trajectories of the states {words}: mdfuzzy export {folder} --trajectories"
    if report:
        yield write_page(folder / "report.html", result)


def write_pictures(
    folder: Path, result: "Result", *, kinds: Sequence[str] = (), **options: Any
) -> Iterator[str]:
    """Draw pictures and yield a line about them."""
    logger.info("drawing pictures")
    tests = getattr(result, "validation", None)
    if isinstance(result, mf.Clustering) and tests is None and {*kinds} & {*_OF_THE_MODEL}:
        tests = mf.validate_model(result)
    timescales, test = _tests(tests)
    paths = mf.plots.write_plots(folder, result, timescales=timescales, test=test, kinds=kinds, **options)
    yield f"{counted(len(paths), 'picture')} in {folder}"


def write_exports(
    folder: Path,
    result: "Result",
    kinds: Sequence[str],
    **options: Mapping[str, Any],
) -> Iterator[str]:
    """Write files for other programs and yield a line about each kind."""
    for kind in kinds:
        logger.info(f"writing exports: {kind}")
        place = mf.exports.write_exports(folder, result, kinds=[kind], **options)[kind]
        yield f"{KINDS[kind]}: {place}"


def write_page(path: Path, result: "Result", *, title: str | None = None) -> str:
    """Write the report and return a line about it."""
    logger.info("writing the report")
    timescales, test = _tests(getattr(result, "validation", None))
    mf.report.write_report(path, result, timescales=timescales, test=test, title=title)
    return f"report: {path}"


def remove_page(path: Path) -> bool:
    """Remove a report that mdfuzzy wrote, and return whether there was one."""
    from mdfuzzy.report.page import is_report

    found = is_report(path)
    if found:
        path.unlink()
    return found


def _tests(validation: "Validation | None") -> "tuple[ImpliedTimescales | None, ChapmanKolmogorov | None]":
    return (None, None) if validation is None else (validation.timescales, validation.test)

"""What is written beside the results of a run: pictures, files for other programs, and the report."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import mdfuzzy as mf

if TYPE_CHECKING:
    from mdfuzzy.frames.frames import Frames
    from mdfuzzy.kinetics.transition_regions import TransitionRegions
    from mdfuzzy.pipeline.assignment import Assignment
    from mdfuzzy.pipeline.clustering import Clustering
    from mdfuzzy.pipeline.validation import Validation

logger = logging.getLogger("mdfuzzy")

#: What can be exported, and what each is.
EXPORTS = {
    "pyemma": "Discrete trajectories and memberships, for PyEMMA, deeptime and NumPy",
    "structures": "PDB files of frames in the cores and of frames between states",
    "table": "A table (CSV) with a row for every frame",
}


def write_outputs(folder: Path, result: "Clustering") -> Iterator[str]:
    """Write everything into a run directory and yield a line about each part."""
    validation = mf.validate_model(result)
    yield validation.reason
    yield from write_pictures(folder / "plots", result, validation=validation)
    yield from write_exports(folder / "exports", result, list(EXPORTS))
    yield write_page(folder / "report.html", result, validation=validation)


def write_pictures(
    folder: Path, result: "Clustering", *, kinds: Sequence[str] = (), validation: "Validation | None" = None
) -> Iterator[str]:
    """Draw pictures and yield a line about them."""
    logger.info("drawing pictures")
    tests = mf.validate_model(result) if validation is None else validation
    paths = mf.plots.write_plots(folder, result, timescales=tests.timescales, test=tests.test, kinds=kinds)
    yield f"{len(paths)} pictures in {folder}"


def write_exports(folder: Path, result: "Clustering | Assignment", kinds: Sequence[str]) -> Iterator[str]:
    """Write files for other programs and yield a line about each kind."""
    data, cores, memberships = cast("Frames", result.data), result.cores, result.memberships
    for kind in kinds:
        logger.info(f"writing exports: {kind}")
        if kind == "pyemma":
            # Larger cores than those of the walk: hardly a visit misses them, as a Markov model needs.
            mf.exports.write_pyemma(folder / "pyemma", data, result.milestones, memberships, overwrite=True)
            yield f"{EXPORTS[kind]} in {folder / 'pyemma'}"
        elif kind == "structures":
            place = folder / "structures"
            regions = cast("TransitionRegions", cast("Clustering", result).transition_regions)
            mf.exports.structures(place, data, cores, memberships, regions, overwrite=True)
            yield f"{EXPORTS[kind]} in {place}"
        else:
            mf.exports.frame_table(folder / "frames.csv", data, cores, memberships, overwrite=True)
            yield f"{EXPORTS[kind]}: {folder / 'frames.csv'}"


def write_page(
    path: Path, result: "Clustering", *, title: str | None = None, validation: "Validation | None" = None
) -> str:
    """Write the report and return a line about it."""
    logger.info("writing the report")
    tests = mf.validate_model(result) if validation is None else validation
    mf.report.write_report(path, result, timescales=tests.timescales, test=tests.test, title=title)
    return f"report: {path}"

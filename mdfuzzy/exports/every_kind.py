"""All exports of a clustering in one folder, by kind."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mdfuzzy._atomic import new_files
from mdfuzzy._check import InputValueError, check_choice
from mdfuzzy.exports.kinds import KINDS
from mdfuzzy.exports.pyemma_files import write_pyemma
from mdfuzzy.exports.structure_files import structures
from mdfuzzy.exports.table import frame_table
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.transition_regions import find_transition_regions
from mdfuzzy.pipeline.clustering import Clustering

if TYPE_CHECKING:
    from mdfuzzy.pipeline.assignment import Assignment


def _pyemma(folder: Path, result: "Clustering | Assignment") -> Path:
    # Larger cores than those of the walk: hardly a visit misses them, as a Markov model needs.
    place = folder / "pyemma"
    write_pyemma(place, _data(result), result.milestones, result.memberships, overwrite=True)
    return place


def _structures(folder: Path, result: "Clustering | Assignment") -> Path:
    place = folder / "structures"
    data = cast(Frames, _data(result))  # `structures` checks it
    regions = result.transition_regions if isinstance(result, Clustering) else None
    if regions is None:
        regions = find_transition_regions(data, result.memberships, result.milestones)
    structures(place, data, result.cores, result.memberships, regions, overwrite=True)
    return place


def _table(folder: Path, result: "Clustering | Assignment") -> Path:
    with new_files(folder, "table", overwrite=True) as stage:
        frame_table(stage / "frames.csv", _data(result), result.cores, result.memberships)
    return folder / "frames.csv"


def _data(result: "Clustering | Assignment") -> Trajectories:
    if result.data is None:
        raise InputValueError(
            "`result` must be of frames or features; got one that began with neighbours, which do not tell "
            "the trajectories. Cluster the data itself."
        )
    return result.data


#: What writes each of the `KINDS`, and returns where.
_WRITERS: dict[str, Callable[[Path, "Clustering | Assignment"], Path]] = {
    "pyemma": _pyemma,
    "structures": _structures,
    "table": _table,
}


def write_exports(
    folder: str | os.PathLike[str], result: "Clustering | Assignment", *, kinds: Sequence[str] = tuple(KINDS)
) -> dict[str, Path]:
    """Write the files for other programs into a folder, replacing those of an earlier export.

    Parameters
    ----------
    folder : path
        May hold files; those that no earlier export wrote are never replaced.
    result : Clustering or Assignment
        What to export.
    kinds : sequence of {"pyemma", "structures", "table"}
        All by default: `write_pyemma`, `structures` and `frame_table`.

    Returns
    -------
    dict of str to Path
        Where each kind was written.

    Raises
    ------
    FileExistsError
        If a file of another origin has the name of one to be written.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mf.exports.write_exports(folder, result, kinds=["table"])["table"].name
    'frames.csv'
    """
    for kind in kinds:
        check_choice("kinds", kind, list(KINDS))
    return {kind: _WRITERS[kind](Path(folder), result) for kind in kinds}

"""All exports of a clustering in one folder, by kind."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mdfuzzy._atomic import new_files
from mdfuzzy._check import check_choice
from mdfuzzy.exports.kinds import KINDS
from mdfuzzy.exports.pyemma_files import write_pyemma
from mdfuzzy.exports.structure_files import structures
from mdfuzzy.exports.table import frame_table

if TYPE_CHECKING:
    from mdfuzzy.pipeline.assignment import Assignment
    from mdfuzzy.pipeline.clustering import Clustering


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
    folder, data = Path(folder), result.data
    places = {}
    for kind in kinds:
        if kind == "pyemma":
            # Larger cores than those of the walk: hardly a visit misses them, as a Markov model needs.
            place = folder / "pyemma"
            write_pyemma(place, data, result.milestones, result.memberships, overwrite=True)
        elif kind == "structures":
            place = folder / "structures"
            regions = result.transition_regions
            structures(place, data, result.cores, result.memberships, regions, overwrite=True)
        else:
            place = folder / "frames.csv"
            with new_files(folder, "table", overwrite=True) as stage:
                frame_table(stage / place.name, data, result.cores, result.memberships)
        places[kind] = place
    return places

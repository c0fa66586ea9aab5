"""All exports of a clustering in one folder, by kind."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mdfuzzy._atomic import new_files
from mdfuzzy._check import check_choice
from mdfuzzy.exports.kinds import KINDS, kinds_of
from mdfuzzy.exports.pyemma_files import write_pyemma
from mdfuzzy.exports.split_table import write_splits
from mdfuzzy.exports.state_tables import write_state_tables
from mdfuzzy.exports.structure_files import write_structures
from mdfuzzy.exports.table import write_table
from mdfuzzy.exports.trajectory_files import write_trajectories
from mdfuzzy.pipeline.assignment import Result

if TYPE_CHECKING:
    from mdfuzzy.pipeline.clustering import Clustering


def _table(folder: Path, result: Result, **options: Any) -> Path:
    with new_files(folder, "table", overwrite=True, names=["frames.csv"]) as stage:
        write_table(stage / "frames.csv", result, **options)
    return folder / "frames.csv"


def _splits(folder: Path, result: Result) -> Path:
    with new_files(folder, "splits", overwrite=True) as stage:
        write_splits(stage / "splits.csv", cast("Clustering", result))
    return folder / "splits.csv"


def _in_folder(name: str, write: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function that writes an export into a folder of its own."""
    return lambda folder, result, **options: write(folder / name, result, overwrite=True, **options)


#: The functions that write the `KINDS` and return the path.
_WRITERS: dict[str, Callable[..., Path]] = {
    "tables": _in_folder("tables", write_state_tables),
    "pyemma": _in_folder("pyemma", write_pyemma),
    "structures": _in_folder("structures", write_structures),
    "trajectories": _in_folder("trajectories", write_trajectories),
    "table": _table,
    "splits": _splits,
}


def write_exports(
    folder: str | os.PathLike[str],
    result: Result,
    *,
    kinds: Sequence[str] | None = None,
    trajectories: Mapping[str, Any] | None = None,
    table: Mapping[str, Any] | None = None,
) -> dict[str, Path]:
    """Write the files for other programs into a folder, replacing the files of an earlier export.

    Parameters
    ----------
    folder : path
        The folder. It may hold files; files that no earlier export wrote are never replaced.
    result : Clustering or Assignment
        The result to export.
    kinds : sequence of {"tables", "pyemma", "structures", "trajectories", "table", "splits"}
        The kinds to write, by default all that the result has: `write_state_tables`, `write_pyemma`,
        `write_structures`, `write_trajectories`, `write_table` and `write_splits`, each with its own
        defaults.
    trajectories : mapping, optional
        Other options of `write_trajectories`, such as ``{"n": 100}``.
    table : mapping, optional
        Other options of `write_table`, such as ``{"torsions": True}``.

    Returns
    -------
    dict of str to Path
        The path of each kind.

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
    kinds = kinds_of(result) if kinds is None else kinds
    for kind in kinds:
        check_choice("kinds", kind, list(KINDS))
    options = {"trajectories": dict(trajectories or {}), "table": dict(table or {})}
    return {kind: _WRITERS[kind](Path(folder), result, **options.get(kind, {})) for kind in kinds}

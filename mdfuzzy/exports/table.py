"""The table of all frames, as comma-separated values or in Parquet format."""

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from mdfuzzy._atomic import new_file
from mdfuzzy._check import InputValueError
from mdfuzzy.exports._checks import check_result
from mdfuzzy.exports._columns import frame_columns, write_csv
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.states.cores import Cores

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client

#: The number of frames that are in memory as text at a time.
_CHUNK = 50_000


def write_table(
    path: str | os.PathLike[str],
    result: Result,
    *,
    torsions: bool | None = None,
    overwrite: bool = False,
    client: "Client | None" = None,
) -> Path:
    """Write a table with one row per frame: its origin, torsions, state, core and memberships.

    Parameters
    ----------
    path : path
        ``.csv``, ``.csv.gz`` or ``.parquet`` (which needs pyarrow: the extra ``parquet``).
    result : Clustering or Assignment
        The result to export.
    torsions : bool, optional
        Whether to write phi and psi of every residue; by default of up to 12 residues.
    overwrite : bool
        Replace the file if there is one.
    client : distributed.Client, optional
        Make the text of CSV files on the workers of this Dask cluster. The result has the same bytes.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    FileExistsError
        If the files already exist, and `overwrite` is False.
    ValueError
        If the name does not end in .csv, .csv.gz or .parquet.
    ImportError
        If a Parquet file is requested and pyarrow is missing.

    See Also
    --------
    exports.write_structures : Structures of the states.
    exports.write_pyemma : Discrete trajectories for PyEMMA.

    Notes
    -----
    The columns:

    - ``trajectory``, ``frame``: both from 0, the frame among the loaded ones of its trajectory;
    - ``time_ps``: in ps, if times are known;
    - ``phi_ALA2``, ``psi_ALA2``, ...: in degrees, of every residue that has both, if `torsions` are written;
    - ``TIC_1``, ...: the clustered features, or components of features, if they are at most 24;
    - ``weight``: if frames have weights, with 1 for the largest;
    - ``state``: the state of the highest membership, -1 for frames that reach no core;
    - ``core``: the core that the frame lies in, -1 outside every core;
    - ``membership_0``, ...: in each state; they sum to 1, or less where the walk can get lost.

    Memberships have six digits in CSV and are exact in Parquet. The file is written in parts, so that it
    needs little memory, and under another name until it is complete.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/frames.csv"
    ...     path = mf.exports.write_table(path, result)
    ...     lines = path.read_text().splitlines()
    >>> len(lines), lines[0]
    (501, 'trajectory,frame,state,core,membership_0,membership_1')
    """
    data = check_result(result)
    name = Path(path).name.lower()
    if not name.endswith((".csv", ".csv.gz", ".parquet")):
        raise InputValueError(
            f"`path` must end in .csv, .csv.gz or .parquet, which says the format; got {str(path)!r}."
        )
    if name.endswith(".parquet"):
        _check_pyarrow()
    chunks = _chunks(data, result.cores, result.memberships, torsions)
    with new_file(path, overwrite=overwrite) as file:
        if name.endswith(".parquet"):
            _write_parquet(file, chunks)
        else:
            with _as_text(file, compressed=name.endswith(".gz")) as text:
                for part in _texts(chunks, client):
                    text.write(part)
    return Path(path).expanduser()


def _chunks(
    data: Trajectories, cores: Cores, memberships: Memberships, torsions: bool | None
) -> Iterator[dict[str, np.ndarray]]:
    for start in range(0, len(data), _CHUNK):
        frames = np.arange(start, min(start + _CHUNK, len(data)))
        yield frame_columns(data, cores, memberships, frames, torsions=torsions)


def _texts(chunks: Iterator[dict[str, np.ndarray]], client: "Client | None") -> Iterator[str]:
    """Yield the lines of each chunk as one text, made here or on workers."""
    if client is None:
        yield from (_text(columns, number == 0) for number, columns in enumerate(chunks))
        return
    from mdfuzzy.workers.queue import results_in_order

    tasks = (
        partial(client.submit, _text, columns, number == 0, pure=False)
        for number, columns in enumerate(chunks)
    )
    yield from results_in_order(client, tasks)


def _text(columns: dict[str, np.ndarray], header: bool) -> str:
    text = io.StringIO()
    write_csv(text, columns, header=header)
    return text.getvalue()


@contextmanager
def _as_text(file: BinaryIO, *, compressed: bool) -> Iterator[io.TextIOWrapper]:
    # Without the name and the time of writing, equal tables are identical files.
    binary = gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) if compressed else file
    text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
    try:
        yield text
    finally:
        text.detach()  # writes the remainder; the caller closes the file
        if compressed:
            binary.close()


def _write_parquet(file: BinaryIO, chunks: Iterator[dict[str, np.ndarray]]) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    writer = None
    try:
        for columns in chunks:
            part = pyarrow.table(columns)
            writer = writer or ParquetWriter(file, part.schema)
            writer.write_table(part)
    finally:
        if writer is not None:
            writer.close()


def _check_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Tables in Parquet format need the package `pyarrow`: pip install 'mdfuzzy[parquet]'. Or write "
            ".csv.gz."
        ) from error

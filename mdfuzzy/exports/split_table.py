"""The splits of the tree of states, as comma-separated values."""

import io
import os
from pathlib import Path

import numpy as np

from mdfuzzy._atomic import new_file
from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.exports._columns import write_csv
from mdfuzzy.pipeline.clustering import Clustering


def write_splits(path: str | os.PathLike[str], result: Clustering, *, overwrite: bool = False) -> Path:
    """Write a table with one row per split of the tree of states, and the evidence for it.

    Parameters
    ----------
    path : path
        A ``.csv`` file.
    result : Clustering
        The clustering whose `splits` are written.
    overwrite : bool
        Replace the file if there is one.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    FileExistsError
        If the file already exists, and `overwrite` is False.
    ValueError
        If the states were merged manually, so that there are no splits.

    See Also
    --------
    kinetics.Splits : The columns. Times are in ps, or in frames if the time between frames is not known.
    plots.state_tree : Plot the tree of states.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = mf.exports.write_splits(folder + "/splits.csv", result).read_text().splitlines()
    >>> lines[0][:40]
    'state,peak,from_peak,frames,clearance,pr'
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    splits = result.splits
    if splits is None:
        raise InputValueError(
            "`result` must have splits; got states that were merged by hand. Give the result before that."
        )
    unit = splits.unit
    columns: dict[str, np.ndarray | list[str]] = {
        "state": splits.states,
        "peak": splits.peaks,
        "from_peak": splits.parents,
        "frames": splits.frames,
        "clearance": splits.clearance,
    }
    for at, column in enumerate(splits.prominences.T):
        columns[f"prominence_smoothed_{at}" if at else "prominence"] = column
    columns |= {
        "p_noise": splits.p_values,
        "support": splits.support,
        f"dwell_{unit}": splits.dwell,
        f"shuffled_{unit}": splits.shuffled,
        "exits": splits.exits,
        f"exchange_{unit}": splits.exchange,
        f"slowest_{unit}": splits.slowest,
        f"slowest_before_{unit}": splits.slowest_before,
        "verdict": list(splits.verdicts),
        "reason": list(splits.reasons),
    }
    with new_file(path, overwrite=overwrite) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        write_csv(text, columns)
        text.detach()
    return Path(path).expanduser()

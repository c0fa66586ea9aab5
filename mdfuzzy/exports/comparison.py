"""The comparison of ensembles as a table for other programs."""

import csv
import io
import os
from pathlib import Path

from mdfuzzy._atomic import new_files
from mdfuzzy._check import check_type
from mdfuzzy.ensembles.comparison import EnsembleComparison


def write_comparison(folder: str | os.PathLike[str], comparison: EnsembleComparison) -> list[Path]:
    """Write the comparison of ensembles as two CSV files.

    Parameters
    ----------
    folder : path
        The folder; it is created if necessary. Earlier files of this function are replaced.
    comparison : EnsembleComparison
        The comparison from `compare_ensembles`.

    Returns
    -------
    list of Path
        ``fractions.csv``, a row for each state and ensemble, and ``differences.csv``, a row for each state
        and pair of ensembles.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> rng = np.random.default_rng(0)
    >>> shares = [0.3] * 6 + [0.6] * 6
    >>> points = [rng.normal(size=(100, 2)) + 6 * (rng.random(100) < s)[:, None] for s in shares]
    >>> found = mf.compare_ensembles(mf.cluster(points), ["cold"] * 6 + ["hot"] * 6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = mf.exports.write_comparison(folder, found)
    ...     print(paths[0].read_text().splitlines()[0])
    ensemble,state,fraction,low,high,visited_by,trajectories,alone
    """
    check_type("comparison", comparison, EnsembleComparison, remedy="`compare_ensembles` makes it.")
    found = comparison
    fractions: list[list[object]] = [
        ["ensemble", "state", "fraction", "low", "high", "visited_by", "trajectories", "alone"]
    ]
    for e, name in enumerate(found.names):
        for s in range(len(found)):
            numbers = [float(each[e, s]) for each in (found.fractions, found.low, found.high)]
            row = [
                name,
                s,
                *numbers,
                found.visitors[e, s],
                found.trajectories[e],
                int(found.alone[s] == name),
            ]
            fractions.append(row)
    heads = ["free_energy", "low", "high", "p", "mixing", "overlap"]
    differences: list[list[object]] = [["first", "second", "state", *heads, "unit"]]
    for each in found.differences:
        for s in range(len(found)):
            values = [float(column[s]) for column in (each.free_energy, each.low, each.high, each.p)]
            differences.append([each.first, each.second, s, *values, each.mixing, each.overlap, found.unit])
    with new_files(folder, "comparison", overwrite=True) as stage:
        for name, rows in (("fractions", fractions), ("differences", differences)):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            (stage / f"{name}.csv").write_text(text.getvalue(), encoding="utf-8")
    return [Path(folder) / f"{name}.csv" for name in ("fractions", "differences")]

"""Columns: properties of frames by name, as numbers and as text."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TextIO

import numpy as np

from mdfuzzy.exports._names import unique
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

#: Torsions of more residues than this are left out unless they are requested.
_MAX_RESIDUES = 12
#: The formats of numbers, by the beginning of the name of their column.
_FORMATS = {
    "time": "%.12g",
    "phi": "%.3f",
    "psi": "%.3f",
    "membership": "%.6g",
    "mixing": "%.6g",
    "weight": "%.9g",
}


def frame_columns(
    data: Trajectories,
    cores: Cores,
    memberships: Memberships,
    frames: np.ndarray,
    *,
    torsions: bool | None = None,
) -> dict[str, np.ndarray]:
    """Return the known properties of `frames` (numbers over all trajectories), a column for each property.

    By default torsions are included for up to 12 residues, because a protein would have hundreds of columns.
    For the same reason, computed features and components are included if there are at most 24.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([np.zeros((2, 1)), np.zeros((1, 1))])
    >>> cores = mf.Cores([0, 0, 0], [0, -1, 0], [0], [np.inf])
    >>> memberships = mf.Memberships(
    ...     values=np.ones((3, 1)), lost=np.zeros(3), beta=2.0, log_weights=np.zeros(3), exponent=1.0
    ... )
    >>> columns = frame_columns(data, cores, memberships, np.array([1, 2]))
    >>> {name: values.tolist() for name, values in columns.items()}
    {'trajectory': [0, 1], 'frame': [1, 0], 'state': [0, 0], 'core': [-1, 0], 'membership_0': [1.0, 1.0]}
    """
    trajectory, frame = data.locate(frames)
    columns = {"trajectory": trajectory.astype(np.int32), "frame": frame}
    if data.times is not None:
        columns["time_ps"] = decimal_times(data.times[frames])
    shown = len(data.residues) <= _MAX_RESIDUES if torsions is None else torsions
    for place, residue in enumerate(unique(data.residues) if shown else []):
        for name, angles in (("phi", data.phi), ("psi", data.psi)):
            if angles is not None:
                columns[f"{name}_{residue}"] = angles[frames, place]
    if data.featurizer is not None and len(data.names) <= 2 * _MAX_RESIDUES:
        names = [name.replace(" ", "_") for name in data.names]
        found = {name: data.columns[frames, at] for at, name in enumerate(names)}
        columns |= {name: values for name, values in found.items() if name not in columns}
    if data.weights is not None:
        columns["weight"] = data.weights[frames]
    of_rows = {name: getattr(memberships, name)[frames] for name in ("values", "lost", "log_weights")}
    chosen = replace(memberships, **of_rows)
    columns |= {"state": chosen.hard, "core": cores.core_of[frames]}
    return columns | {f"membership_{state}": column for state, column in enumerate(chosen.values.T)}


def decimal_times(times: np.ndarray) -> np.ndarray:
    """Return times as the decimal numbers from which a file made single-precision numbers.

    Examples
    --------
    >>> decimal_times(np.array([0.4, 10799.6]).astype(np.float32).astype(np.float64)).tolist()
    [0.4, 10799.6]
    >>> decimal_times(np.array([0.1234567891])).tolist()
    [0.1234567891]
    """
    single = times.astype(np.float32)
    return single.astype(str).astype(np.float64) if np.array_equal(single, times) else times


def write_csv(file: TextIO, columns: Mapping[str, Iterable[object]], *, header: bool = True) -> None:
    """Write columns of equal length as lines of comma-separated values."""
    writer = csv.writer(file, lineterminator="\n")
    if header:
        writer.writerow(columns)
    texts = []
    for name, values in columns.items():
        pattern = _FORMATS.get(name.partition("_")[0])
        if pattern is None and isinstance(values, np.ndarray) and values.dtype == np.float32:
            pattern = "%.7g"  # the digits of single precision
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        texts.append(listed if pattern is None else [pattern % value for value in listed])
    writer.writerows(zip(*texts, strict=True))

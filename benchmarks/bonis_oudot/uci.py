"""The three data sets of Table 1: from a folder of CSV files, or from OpenML."""

from pathlib import Path

import numpy as np

#: Their names and versions on OpenML.
OPENML = {"waveform": ("waveform-5000", 1), "pendigits": ("pendigits", 1), "statlog": ("satimage", 1)}
#: The first of the columns that waveform-5000 has beyond those of the original set: pure noise.
_WAVEFORM_COLUMNS = 21


def load(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, d) with unit variance in every coordinate, and labels (n,) for scoring alone.

    The labels are the last column of ``folder/name.csv``. Without a folder the set is fetched from OpenML.
    """
    points, labels = _from_openml(name) if folder is None else _from_csv(folder / f"{name}.csv")
    spread = points.std(axis=0)
    return points / np.where(spread > 0, spread, 1.0), labels


def _from_csv(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.str_)
    return table[:, :-1].astype(np.float64), table[:, -1]


def _from_openml(name: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    number, version = OPENML[name]
    points, labels = fetch_openml(number, version=version, as_frame=False, return_X_y=True)
    if name == "waveform":
        points = points[:, :_WAVEFORM_COLUMNS]
    return np.asarray(points, np.float64), np.asarray(labels, np.str_)

"""The core-set Markov model of what ``mdfuzzy export`` wrote, estimated by deeptime.

Run as ``python markov_model.py EXPORTS LAG MODEL.csv TIMESCALES.csv TIMESCALES.png``; LAG is in frames.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from mdfuzzy import kinetics, plots


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by the names of its columns."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: str, header: list[str], rows: np.ndarray) -> None:
    """Write a table with six digits."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *([f"{value:.6g}" for value in row] for row in rows)])


def last_cores(cores: np.ndarray) -> np.ndarray:
    """Return the core that was touched last (milestoning), from the first touch on; -1 is outside."""
    inside = cores >= 0
    last = np.maximum.accumulate(np.where(inside, np.arange(len(cores)), -1))
    return cores[last[last >= 0]]


exports, lag = Path(sys.argv[1]), int(sys.argv[2])
names = [row["name"] for row in read_rows(exports / "pyemma" / "trajectories.csv")]
dtrajs = [last_cores(np.load(exports / "pyemma" / "cores" / f"{name}.npy")) for name in names]
dtrajs = [dtraj for dtraj in dtrajs if len(dtraj)]  # a trajectory may touch no core
first, second = read_rows(exports / "frames.csv")[:2]
timestep = float(second["time_ps"]) - float(first["time_ps"]) if "time_ps" in first else None

scales = kinetics.implied_timescales(dtrajs, timestep=timestep)
model = kinetics.markov_model(dtrajs, lag=lag, timestep=timestep)  # model.deeptime is deeptime's own object
print(scales)
print(model)

header = ["state", "population", *(f"mean_passage_to_{state}_{model.unit}" for state in model.states)]
write_rows(sys.argv[3], header, np.column_stack([model.states, model.stationary, model.mfpt]))
header = [f"lag_{scales.unit}", *(f"timescale_{i + 1}_{scales.unit}" for i in range(scales.values.shape[1]))]
write_rows(sys.argv[4], header, np.column_stack([scales.lag_times, scales.values]))
plots.implied_timescales(scales).figure.savefig(sys.argv[5], dpi=150)

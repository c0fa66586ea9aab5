"""The script that an export for PyEMMA holds: it needs PyEMMA and numpy alone."""

_SCRIPT = '''\
"""Estimate a core-set Markov state model with PyEMMA from the files in this folder.

    python estimate_msm.py [LAG]

LAG is in frames, {lag} by default. Frames outside every core are -1 in cores/: PyEMMA cuts off what comes
before the first core of a trajectory, and then counts such frames to the core that was touched last.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pyemma

FOLDER = Path(__file__).resolve().parent
LAG = int(sys.argv[1]) if len(sys.argv) > 1 else {lag}  # frames
TIMESTEP, UNIT = {timestep}, "{unit}"  # between frames

with open(FOLDER / "trajectories.csv", encoding="utf-8", newline="") as file:
    names = [row["name"] for row in csv.DictReader(file)]
dtrajs = [np.load(FOLDER / "cores" / (name + ".npy")) for name in names]
memberships = [np.load(FOLDER / "memberships" / (name + ".npy")) for name in names]
core_set = np.load(FOLDER / "core_set.npy")


def estimate(lag):
    return pyemma.msm.estimate_markov_model(list(dtrajs), lag, core_set=core_set)


print("timescales in", UNIT, "by lag time: choose a lag from which on they are constant")
for lag in sorted({{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, LAG}}):
    if lag <= max(LAG, max(map(len, dtrajs)) // 10):
        print(f"{{lag * TIMESTEP:10.4g}}:", *(f"{{t:10.4g}}" for t in estimate(lag).timescales() * TIMESTEP))

msm = estimate(LAG)
print("model at lag time", LAG * TIMESTEP, UNIT)
print("states:", *msm.active_set)
print("stationary populations:", *msm.stationary_distribution.round(4))
print("transition matrix:")
print(msm.transition_matrix.round(6))
print("timescales:", *(msm.timescales() * TIMESTEP).round(4), UNIT)

# Each state of the model belongs to each fuzzy state as its frames do on average: rows that sum to 1, the
# form of `metastable_memberships`, for the Chapman-Kolmogorov test and whatever else takes such a matrix.
offsets = msm.dtrajs_milestone_counting_offsets
carried = [u[offset:] for u, offset in zip(memberships, offsets) if offset is not None]
states, values = np.concatenate(msm.discrete_trajectories_active), np.concatenate(carried)
state_memberships = np.array([values[states == state].mean(axis=0) for state in range(msm.nstates)])
state_memberships = state_memberships[:, msm.active_set]
state_memberships /= state_memberships.sum(axis=1, keepdims=True)
test = msm.cktest(msm.nstates, memberships=state_memberships, mlags=5, show_progress=False)
print("Chapman-Kolmogorov test: predictions and estimates differ by at most", end=" ")
print(np.abs(test.predictions - test.estimates).max().round(4))
'''


def estimation_script(lag: int, timestep: float | None) -> str:
    """Return the script with a lag in frames and a time between frames in ps, if that is known.

    Examples
    --------
    >>> compile(estimation_script(10, 0.2), "estimate_msm.py", "exec") is not None
    True
    """
    step, unit = (1, "frames") if timestep is None else (timestep, "ps")
    return _SCRIPT.format(lag=lag, timestep=step, unit=unit)

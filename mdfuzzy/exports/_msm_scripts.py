"""Scripts that estimate a Markov state model from the exported files, with PyEMMA and with deeptime."""

from mdfuzzy._messages import time_unit

#: The beginning of both scripts: the lag, and the discrete trajectories.
_READ = '''
FOLDER = Path(__file__).resolve().parent
LAG = int(sys.argv[1]) if len(sys.argv) > 1 else @LAG@  # frames
TIMESTEP, UNIT = @TIMESTEP@, "@UNIT@"  # between frames


def load(kind):
    """Return the arrays of one of the folders, one per trajectory."""
    with open(FOLDER / "trajectories.csv", encoding="utf-8", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    return [np.load(FOLDER / kind / (name + ".npy")) for name in names]


def lags(dtrajs):
    """Return the lags of which timescales are printed."""
    longest = max(LAG, max(map(len, dtrajs)) // 10)
    return [lag for lag in sorted({1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, LAG}) if lag <= longest]

'''

_PYEMMA = f'''\
"""Estimate a core-set Markov state model with PyEMMA from the files in this folder.

    python estimate_msm.py [LAG]

LAG is in frames, @LAG@ by default. Frames outside every core are -1 in cores/: PyEMMA cuts off what comes
before the first core of a trajectory, and then counts such frames to the core that was touched last.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pyemma
{_READ}
def main():
    dtrajs, memberships = load("cores"), load("memberships")
    core_set = np.load(FOLDER / "core_set.npy")

    def estimate(lag):
        return pyemma.msm.estimate_markov_model(list(dtrajs), lag, core_set=core_set)

    print("timescales in", UNIT, "by lag time: choose a lag beyond which they are constant")
    for lag in lags(dtrajs):
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
    test = msm.cktest(msm.nstates, memberships=state_memberships, mlags=5, n_jobs=1, show_progress=False)
    print("Chapman-Kolmogorov test: predictions and estimates differ by at most", end=" ")
    print(np.abs(test.predictions - test.estimates).max().round(4))


# PyEMMA starts processes, which import this file: without this guard each of them would start more.
if __name__ == "__main__":
    main()
'''

_DEEPTIME = f'''\
"""Estimate a core-set Markov state model with deeptime from the files in this folder.

    python estimate_msm_deeptime.py [LAG]

LAG is in frames, @LAG@ by default. Frames outside every core are -1 in cores/: what comes before the first
core of a trajectory is cut off, and then such frames count to the core that was touched last.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from deeptime.markov import TransitionCountEstimator
from deeptime.markov.msm import MaximumLikelihoodMSM
{_READ}
def milestone(cores):
    """Let every frame carry the core that was touched last."""
    touched = np.flatnonzero(cores >= 0)
    if len(touched) == 0:
        return cores[:0]
    last = np.maximum.accumulate(np.where(cores >= 0, np.arange(len(cores)), 0))
    return cores[last][touched[0] :]


def estimate(dtrajs, lag):
    """Return the reversible model of the states that are connected in both directions."""
    counts = TransitionCountEstimator(lagtime=lag, count_mode="sliding").fit_fetch(dtrajs)
    return MaximumLikelihoodMSM(reversible=True).fit_fetch(counts.submodel_largest(sort_by_population=True))


def main():
    dtrajs = [dtraj for dtraj in map(milestone, load("cores")) if len(dtraj)]

    print("timescales in", UNIT, "by lag time: choose a lag beyond which they are constant")
    for lag in lags(dtrajs):
        model = estimate([dtraj for dtraj in dtrajs if len(dtraj) > lag], lag)
        times = model.timescales() * TIMESTEP if model.n_states > 1 else []
        print(f"{{lag * TIMESTEP:10.4g}}:", *(f"{{t:10.4g}}" for t in times))

    msm = estimate([dtraj for dtraj in dtrajs if len(dtraj) > LAG], LAG)
    print("model at lag time", LAG * TIMESTEP, UNIT)
    print("states:", *msm.count_model.state_symbols)
    print("stationary populations:", *msm.stationary_distribution.round(4))
    print("transition matrix:")
    print(msm.transition_matrix.round(6))
    times = msm.timescales() * TIMESTEP if msm.n_states > 1 else np.empty(0)
    print("timescales:", *times.round(4), UNIT)
    print("mean first-passage times in", UNIT, "(from the row to the column):")
    for start in range(msm.n_states):
        passage = [0.0 if start == end else msm.mfpt(start, end) * TIMESTEP for end in range(msm.n_states)]
        print(*(f"{{time:10.4g}}" for time in passage))


if __name__ == "__main__":
    main()
'''


def estimation_scripts(lag: int, timestep: float | None) -> dict[str, str]:
    """Return the scripts by name, with a lag in frames and, if it is known, the time between frames in ps.

    They print times in the unit that suits processes somewhat slower than the lag time.

    Examples
    --------
    >>> for name, script in estimation_scripts(10, 0.2).items():
    ...     name, compile(script, name, "exec") is not None, "@" in script
    ('estimate_msm.py', True, False)
    ('estimate_msm_deeptime.py', True, False)
    """
    step, unit = "1", "frames"
    if timestep is not None:
        factor, unit = time_unit(10 * lag * timestep, "ps")
        step = f"{factor * timestep:.12g}"
    scripts = {"estimate_msm.py": _PYEMMA, "estimate_msm_deeptime.py": _DEEPTIME}
    values = {"@LAG@": str(lag), "@TIMESTEP@": step, "@UNIT@": unit}
    for name, script in scripts.items():
        for token, value in values.items():
            script = script.replace(token, value)
        scripts[name] = script
    return scripts

"""Files for PyEMMA: discrete trajectories, the core set, memberships, and a script to begin with."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from mdfuzzy._atomic import new_files
from mdfuzzy._check import check_int
from mdfuzzy.exports._checks import check_result
from mdfuzzy.exports._columns import write_csv
from mdfuzzy.exports._msm_scripts import estimation_scripts
from mdfuzzy.exports._names import trajectory_names
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_unbiased, core_dtrajs, hard_dtrajs, milestoned_dtrajs, timestep
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.pipeline.clustering import Clustering

#: The lag of the script if none is given: a first guess, and at most this part of the longest trajectory.
_GUESSED_LAG, _PART = 10, 10

_README = """\
States of {frames:,} frames in {trajectories} trajectories, found by mdfuzzy, for PyEMMA (2.5),
deeptime and NumPy.

estimate_msm.py      estimates the core-set Markov model with PyEMMA: python estimate_msm.py [LAG]
estimate_msm_deeptime.py   estimates this model with deeptime: python estimate_msm_deeptime.py [LAG]
core_set.npy, .txt   the numbers of the cores in cores/: the argument core_set of PyEMMA's estimators
cores/               discrete trajectories: the core (milestone) of each frame, -1 outside every core
states/              discrete trajectories: the state of the highest membership of each frame
memberships/         the membership of each frame in each state, an array (frames, states) per trajectory
trajectories.csv     the files and the stride of the trajectory with each name

cores/ and states/ have two files for every trajectory: NAME.dtraj is text with one integer per line, for
pyemma.util.discrete_trajectories.read_dtraj; NAME.npy has the same numbers, for numpy.load. Each entry is a
loaded frame. In trajectories.csv, first_core_frame is the first loaded frame in a core. PyEMMA leaves out the
frames before it; it is empty if the trajectory visits no core. If stride is N, every Nth frame of the files
was loaded.
Time between frames: {step}.
Memberships: beta = {beta:g} ({means}); rows sum to 1 (to less than 1 if the walk from a frame may reach no
core).
"""


def write_pyemma(
    folder: str | os.PathLike[str],
    result: Result,
    *,
    lag: int | None = None,
    overwrite: bool = False,
) -> Path:
    """Write discrete trajectories, the core set, memberships, and scripts for PyEMMA and deeptime.

    The core set holds the `milestones`, not the smaller `cores` of the walk, which trajectories hardly ever
    enter.

    Parameters
    ----------
    folder : path
        A new or empty folder.
    result : Clustering or Assignment
        The result to export.
    lag : int, optional
        The lag of the scripts, in frames, shorter than the longest trajectory. By default it is the lag of
        the validated model (`Clustering.validation`). Without one it is a first guess: 10, or a tenth of the
        longest trajectory if that is shorter. The scripts print timescales at other lags as well, and take
        another lag as their argument.
    overwrite : bool
        Write to a folder that holds files. Files of an earlier export are replaced or removed; all others are
        left unchanged.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the files already exist, and `overwrite` is False.
    ValueError
        If memberships and cores have different numbers of states; if frames have weights, because a bias
        changes the kinetics.

    Warns
    -----
    UserWarning
        If trajectories touch no core; PyEMMA will leave them out.

    See Also
    --------
    kinetics.milestoned_dtrajs : The discrete trajectories that are written.
    kinetics.markov_model : A Markov model without PyEMMA.

    Notes
    -----
    The folder holds

    - ``cores/NAME.dtraj`` and ``.npy``: the core that each frame lies in, -1 outside every core, as text with
      one integer per line and as an array;
    - ``states/NAME.dtraj`` and ``.npy``: the state of the highest membership (-1 if no core can be reached);
    - ``core_set.npy`` and ``.txt``: the states, which is what PyEMMA's ``core_set`` takes;
    - ``memberships/NAME.npy``: (frames, states) float64;
    - ``trajectories.csv``: which trajectory each name stands for;
    - ``estimate_msm.py``: estimates the core-set Markov model in PyEMMA and prints its timescales;
    - ``estimate_msm_deeptime.py``: the same in deeptime, which needs only deeptime and NumPy;
    - ``README.txt``.

    NAME is the name of the (first) file of the trajectory, with its folders if names repeat; trajectories
    that come from arrays have their number.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> rng = np.random.default_rng(0)
    >>> steps = np.repeat(rng.integers(0, 2, 40), 25)  # back and forth between two states
    >>> result = mf.cluster([part[:, None] * 6 + rng.normal(size=(500, 2)) for part in np.split(steps, 2)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new = mf.exports.write_pyemma(folder, result)
    ...     sorted(path.name for path in new.glob("cores/*"))
    ['0.dtraj', '0.npy', '1.dtraj', '1.npy']
    """
    data, cores, memberships = check_result(result), result.milestones, result.memberships
    check_unbiased(data)
    milestoned = milestoned_dtrajs(data, cores)
    longest = max(map(len, milestoned.dtrajs))
    if lag is None:
        lag = _validated_lag(result) or max(1, min(_GUESSED_LAG, longest // _PART))
    else:
        remedy = f"The longest trajectory has {longest} frames from its first core on."
        lag = check_int("lag", lag, 1, max(1, longest - 1), remedy=remedy)
    names, step = trajectory_names(data), timestep(data)
    with new_files(folder, "pyemma", overwrite=overwrite) as stage:
        for kind, dtrajs in (("cores", core_dtrajs(data, cores)), ("states", hard_dtrajs(data, memberships))):
            (stage / kind).mkdir()
            for name, dtraj in zip(names, dtrajs, strict=True):
                _write_dtraj(stage / kind / name, dtraj)
        (stage / "memberships").mkdir()
        for name, values in zip(names, data.split(memberships.values), strict=True):
            np.save(stage / "memberships" / f"{name}.npy", values)
        _write_dtraj(stage / "core_set", np.arange(len(cores), dtype=np.int32), suffix=".txt")
        first = dict(zip(milestoned.trajectories.tolist(), milestoned.offsets.tolist(), strict=True))
        with open(stage / "trajectories.csv", "w", encoding="utf-8", newline="") as file:
            write_csv(file, _trajectory_columns(data, names, first))
        text = _README.format(
            frames=len(data),
            trajectories=data.n_trajectories,
            step="not known" if step is None else f"{step:g} ps",
            beta=memberships.beta,
            means=BETA_MEANS,
        )
        (stage / "README.txt").write_text(text, encoding="utf-8")
        for name, script in estimation_scripts(lag, step).items():
            (stage / name).write_text(script, encoding="utf-8")
    return Path(folder).expanduser()


def _validated_lag(result: Result) -> int | None:
    """Return the lag of the model that was tested, if there is one."""
    validation = result.validation if isinstance(result, Clustering) else None
    return None if validation is None else validation.lag


def _write_dtraj(stem: Path, dtraj: np.ndarray, suffix: str = ".dtraj") -> None:
    """Write states as text and as an array. No header: PyEMMA would read the text as an empty trajectory."""
    text = "".join(f"{state}\n" for state in dtraj.tolist())
    # Not `with_suffix`, which would cut a name that has a dot in it.
    Path(f"{stem}{suffix}").write_text(text, encoding="ascii")
    np.save(f"{stem}.npy", dtraj)


def _trajectory_columns(
    data: Trajectories, names: list[str], first_core_frames: dict[int, int]
) -> dict[str, list[Any]]:
    numbers = range(data.n_trajectories)
    columns = {
        "trajectory": list(numbers),
        "name": names,
        "frames": data.lengths.tolist(),
        "first_core_frame": [first_core_frames.get(number, "") for number in numbers],
    }
    if data.sources:
        sources = [[each for each in data.sources if each.trajectory == number] for number in numbers]
        columns["stride"] = [each[0].stride for each in sources]
        columns["files"] = [";".join(source.path or "" for source in each) for each in sources]
    return columns

"""A kinetic score of memberships: their skill in predicting the next core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_real
from mdfuzzy._messages import warn_user
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_data, check_unbiased
from mdfuzzy.kinetics.outcomes import make_case
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

#: With fewer transitions the choice is determined by chance.
_ENOUGH = 10


def kinetic_criterion(
    data: Trajectories,
    cores: Cores | npt.ArrayLike,
    *,
    epsilon: float = 1e-3,
) -> Callable[[Memberships], float]:
    """Return a function that scores memberships by their prediction of the next core, for `scan_beta`.

    The score is the skill over the constant guess, as in `Calibration`, on all trajectories, because it
    chooses only one number, beta. `calibration` of the scan evaluates the choice on trajectories left out.

    Parameters
    ----------
    data : Frames or Features
        The trajectories.
    cores : Cores or (n,) int array
        The cores of the frames.
    epsilon : float
        As in `calibration`.

    Returns
    -------
    callable
        A function that takes `Memberships` and returns their skill.

    Raises
    ------
    ValueError
        If the trajectories hold no transitions from one core to another.

    Warns
    -----
    UserWarning
        If the trajectories hold fewer than 10 transitions from one core to another.

    See Also
    --------
    scan_beta : Accepts the result as its `criterion`.
    kinetics.calibration : The score with intervals and competitors.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> data = mf.Features([[[0.0]] * 4] * 12)
    >>> score = mf.kinetics.kinetic_criterion(data, [0, -1, 1, -1, 1, -1, 0, -1] * 6)
    >>> right = np.tile([[1, 0], [0, 1], [0, 1], [0.5, 0.5], [0, 1], [1, 0], [1, 0], [0.5, 0.5]], (6, 1))
    >>> round(score(mf.Memberships(
    ...     values=right, lost=np.zeros(48), beta=1.0, log_weights=np.zeros(48), exponent=0.0)), 2
    ... )
    1.0
    """
    check_data(data)
    check_unbiased(data)
    every = np.ones(len(data), bool)
    case = make_case(data, cores, "next", every)
    if case.n_transitions < _ENOUGH:
        problem = f"the trajectories go {case.n_transitions} times from one core to another"
        if case.n_transitions == 0:
            raise InputValueError(
                f"`data` must hold transitions from one core to another; {problem}. Take longer "
                "trajectories, or beta as a number."
            )
        warn_user(f"There are too few transitions to distinguish one beta from another: {problem}.")
    epsilon = check_real("epsilon", epsilon, above=0)
    use = case.scored
    outcomes = case.outcomes[use]
    reference = np.log(epsilon + case.frequencies(every)[outcomes]).mean()

    def score(memberships: Memberships) -> float:
        if memberships.values.shape != (len(use), case.n_states):
            raise InputValueError(
                f"`memberships` must have shape {(len(use), case.n_states)}, of the frames and states of the "
                f"criterion; got {memberships.values.shape}."
            )
        came = memberships.values[use, outcomes]
        return 1.0 - float(np.log(epsilon + came).mean() / reference)

    return score

"""Estimates from a Markov model of a clustering, at any lag time and between any two states."""

from dataclasses import replace

from mdfuzzy._check import InputValueError, check_real, check_type
from mdfuzzy._messages import duration
from mdfuzzy.kinetics import estimate_equilibrium, find_pathways
from mdfuzzy.kinetics.dtrajs import core_dtrajs, milestone
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.model_tests import validate_model


def estimate_model(
    result: Clustering,
    *,
    source: int | None = None,
    target: int | None = None,
    lag_time: float | None = None,
) -> Clustering:
    """Estimate populations, passage times and pathways by a Markov model of the states of a clustering.

    Parameters
    ----------
    result : Clustering
        A clustering of unweighted frames or features of trajectories.
    source, target : int, optional
        The states between which to find pathways; by default the states that the slowest process connects.
    lag_time : float, optional
        Lag time of the model in ps, or in frames if the frames have no times. By default `validate_model`
        chooses it.

    Returns
    -------
    Clustering
        The same clustering with `Clustering.equilibrium` and `Clustering.pathways`, and also with
        `Clustering.validation` if that chose the lag time.

    Raises
    ------
    ValueError
        If the frames have weights, there is no Markov model, or the model does not include the states.

    See Also
    --------
    exports.write_state_tables : Write the estimates as tables for a paper.
    validate_model : Test whether the model is valid.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> hops = [np.cumsum(rng.random(3000) < 0.01) % 2 for _ in range(6)]
    >>> result = mf.cluster([8 * hop[:, None] + rng.normal(size=(3000, 2)) for hop in hops])
    >>> found = mf.estimate_model(result, lag_time=1)
    >>> found.equilibrium
    Equilibrium(2 states, lag 1 frames, intervals from 200 samples of whole trajectories)
    >>> bool(abs(found.states[0].population - 0.5) < 0.1)
    True
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    data, validation = result.data, result.validation
    if data is None or data.weights is not None:
        kind = "a clustering that began with neighbours" if data is None else "weighted frames"
        raise InputValueError(
            f"`result` must be of unweighted trajectories; got {kind}. A Markov model needs the order of "
            "frames in time, and a bias changes the kinetics."
        )
    if lag_time is None:
        validation = validate_model(result) if validation is None else validation
        if validation.lag is None:
            raise InputValueError(
                f"`lag_time` must be given: none can be chosen. {validation.reason} More transitions are "
                "needed."
            )
        lag = validation.lag
    else:
        step = data.timestep or 1.0
        lag = max(1, round(check_real("lag_time", lag_time, above=0) / step))
        longest, unit = int(data.lengths.max()), "frames" if data.timestep is None else "ps"
        if lag >= longest:
            raise InputValueError(
                f"`lag_time` must be shorter than the longest trajectory, {duration(longest * step, unit)}; "
                f"got {duration(lag_time, unit)}."
            )
    dtrajs = milestone(core_dtrajs(data, result.milestones))
    model = estimate_equilibrium(dtrajs, lag=lag, timestep=data.timestep)
    paths = find_pathways(dtrajs, source, target, lag=lag, timestep=data.timestep)
    return replace(result, validation=validation, equilibrium=model, pathways=paths)

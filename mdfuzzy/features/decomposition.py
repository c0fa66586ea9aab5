"""Slow components (TICA, VAMP) and principal components (PCA) of features."""

import logging
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from mdfuzzy._check import check_type
from mdfuzzy._messages import warn_user
from mdfuzzy.features._moments import MomentSums
from mdfuzzy.features.featurizer import follow
from mdfuzzy.features.reduction import Reduction, describe
from mdfuzzy.frames.data import as_data
from mdfuzzy.frames.embedding import embed
from mdfuzzy.frames.features import Features

logger = logging.getLogger("mdfuzzy")

#: The number of values that are processed at a time.
_AT_ONCE = 8_000_000


def tica(features: Features, *, lag: float, dim: int | None = None, kinetic_map: bool = True) -> Features:
    """Return the slow components of features, by time-lagged independent component analysis.

    Parameters
    ----------
    features : Features
        Features with times; without times the lag counts frames. Periodic columns enter as cosines and
        sines. The dynamics are assumed to be reversible.
    lag : float
        The lag time in ps. Components that relax faster are not resolved. It must be much shorter than the
        trajectories.
    dim : int, optional
        The number of components, by default chosen by cross-validation, at least 1 and at most 5. A component
        is kept if its autocorrelation at the lag time exceeds exp(-1), the value for a process that relaxes
        within the lag time, on the half of the data that it was not fitted on.
    kinetic_map : bool
        Whether components are multiplied by their autocorrelations, so that the distance between two frames
        is their kinetic distance. Fast components then count less.

    Returns
    -------
    Features
        The components, with times, topology and sources of `features`. The attribute `components` describes
        them: timescales, shares of kinetic variance, correlations with the features, and the reason for their
        number.

    Raises
    ------
    ValueError
        If the lag is shorter than the time between frames or longer than the trajectories, if there are fewer
        independent features than `dim`, or if all features are constant.

    Warns
    -----
    UserWarning
        If some features are constant or equal, if trajectories are shorter than the lag, or if the frames
        have weights, which are not used.

    See Also
    --------
    vamp : Slow components of dynamics that are not reversible.
    pca : Components of the largest variance.
    featurize : Features of trajectories.

    References
    ----------
    * G. Pérez-Hernández et al., *Identification of slow molecular order parameters for Markov model
      construction*, J. Chem. Phys. 139 (2013) 015102.
    * F. Noé and C. Clementi, *Kinetic distance and kinetic maps from molecular dynamics simulation*, J. Chem.
      Theory Comput. 11 (2015) 5002-5011.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> slow = np.cumsum(rng.random(4000) < 0.02) % 2
    >>> values = np.column_stack([3 * rng.normal(size=4000), slow + 0.1 * rng.normal(size=4000)])
    >>> data = mf.Features(values, names=["fast", "slow"], times=np.arange(4000.0))
    >>> found = mf.tica(data, lag=5.0)
    >>> found
    Features(4,000 vectors of 1 in 1 trajectory: TIC 1; 3.999 ns, a frame every 1 ps)
    >>> print(found.components.table())
    TIC 1: timescale ... ps, ... % of kinetic variance; +1.00 slow, ... fast
    """
    return reduced(features, Reduction(method="TICA", lag=lag, dim=dim, kinetic_map=kinetic_map))


def vamp(features: Features, *, lag: float, dim: int | None = None, kinetic_map: bool = True) -> Features:
    """Return the slow components of features without the assumption of reversible dynamics.

    The variational approach for Markov processes (VAMP) finds the left singular functions of the dynamics.

    Parameters
    ----------
    features : Features
        The features, as for `tica`.
    lag : float
        The lag time in ps.
    dim : int, optional
        The number of components; by default chosen as for `tica`.
    kinetic_map : bool
        Whether components are multiplied by their singular values.

    Returns
    -------
    Features
        The components, as for `tica`.

    See Also
    --------
    tica : For equilibrium simulations.

    References
    ----------
    * H. Wu and F. Noé, *Variational Approach for Learning Markov Processes from Time Series Data*, J.
      Nonlinear Sci. 30 (2020) 23-66.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> slow = np.cumsum(rng.random(4000) < 0.02) % 2
    >>> values = np.column_stack([3 * rng.normal(size=4000), slow + 0.1 * rng.normal(size=4000)])
    >>> mf.vamp(mf.Features(values, times=np.arange(4000.0)), lag=5.0, dim=1).names
    ('VAMP 1',)
    """
    return reduced(features, Reduction(method="VAMP", lag=lag, dim=dim, kinetic_map=kinetic_map))


def pca(features: Features, *, dim: int | None = None) -> Features:
    """Return the principal components of features, the components with the largest variance.

    Large motions need not be slow: a flexible loop may have more variance than the folding of a protein.
    Prefer `tica` if the frames are ordered in time.

    Parameters
    ----------
    features : Features
        Columns are multiplied by their `column_weights`; periodic ones enter as cosines and sines.
    dim : int, optional
        The number of components; by default the number that explains 90 % of the variance, at most 5.

    Returns
    -------
    Features
        The components, as for `tica`.

    See Also
    --------
    tica : Slow components.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> data = mf.Features(rng.normal(size=(1000, 3)) * [5, 1, 1], names=["x", "y", "z"])
    >>> print(mf.pca(data, dim=1).components.table(n_inputs=1))
    PC 1: 9... % of variance; +1.00 x
    """
    return reduced(features, Reduction(method="PCA", dim=dim))


def reduced(features: Any, reduction: Reduction) -> Features:
    """Return the components of features that a reduction finds."""
    check_type("features", as_data(features), Features, remedy="`featurize` makes them.")
    data = cast(Features, as_data(features))
    lengths = data.lengths.tolist()
    lag = reduction.frames(data.timestep, max(lengths), known=data.times is not None)
    warn_of_weights(data, reduction)
    warn_of_short(lengths, lag, reduction)
    sums = MomentSums(lag, lengths)
    step = max(1, _AT_ONCE // data.values.shape[1])
    for number, part in enumerate(data.split(data.values)):
        for first in range(0, len(part), step):
            sums.add(number, embed(part[first : first + step], data.periods, data.column_weights))
    found = reduction.fit(
        sums.halves(),
        lag=lag,
        timestep=data.timestep,
        inputs=data.names,
        periods=data.periods,
        column_weights=data.column_weights,
    )
    logger.info(describe(found))
    return follow(data, found)


def warn_of_short(lengths: Sequence[int], lag: int, reduction: Reduction) -> None:
    """Warn of trajectories of `lengths` frames that have no pairs of frames a lag time apart."""
    short = sum(length <= lag for length in lengths)
    if lag and short:
        warn_user(
            f"{short} of {len(lengths)} trajectories are not longer than the lag time and are left out of "
            f"{reduction.method}. A shorter lag time uses them."
        )


def warn_of_weights(data: Features, reduction: Reduction) -> None:
    """Warn that components do not use the weights of frames."""
    if data.weights is not None and np.ptp(data.weights) > 0:
        why = "the dynamics under a bias are not those of the molecule"
        if reduction.method == "PCA":
            why = "the components have the largest variance under the bias"
        warn_user(
            f"{reduction.method} does not use the weights of the frames: {why}. Take collective variables or "
            "torsions instead."
        )

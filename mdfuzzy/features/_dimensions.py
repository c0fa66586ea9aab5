"""Choose the number of components: those that are also slow in data that they were not fitted on."""

from typing import Any

import numpy as np

from mdfuzzy.features._moments import Moments

#: The autocorrelation of a process that relaxes within the lag time.
_RELAXED = float(np.exp(-1))
#: The most components that are chosen: a density in many dimensions needs very many frames.
_MOST = 5
#: Noise threshold, in standard errors of an autocorrelation of zero.
_ERRORS = 3.0


def left_out_correlations(halves: list[Moments], fit: Any, *, lag: int) -> np.ndarray:
    """Return the autocorrelation of each component in the half of the data that it was not fitted on.

    Parameters
    ----------
    halves : list of 2 Moments
        The moments of the two halves of the data.
    fit : callable
        Returns the coefficients (e, dim) of the components of some `Moments`, the slowest first.
    lag : int
        The lag time in rows; not used if the moments have no pairs.

    Returns
    -------
    (2, dim) float64
        Each row holds the autocorrelations in one half of the components that were fitted on the other.
    """
    found = []
    for train, test in (halves, halves[::-1]):
        vectors = fit(train)[:, : _MOST + 3]
        c_00, c_0t, c_tt = _centred(test)
        now, later, both = (
            np.einsum("ek,ef,fk->k", vectors, matrix, vectors, optimize=True) for matrix in (c_00, c_tt, c_0t)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.nan_to_num(both / np.sqrt(now * later)))
    size = min(map(len, found))
    return np.array([each[:size] for each in found])


def slow_components(correlations: np.ndarray, *, n_pairs: int, lag: int) -> tuple[int, str]:
    """Return the number of components that are slow in both halves, at least one, and the reason.

    A component counts if its autocorrelation on left-out data exceeds both of two limits. One is exp(-1), the
    autocorrelation of a process that relaxes within the lag time. The other is the noise: three standard
    errors of an autocorrelation of zero, estimated from half of the pairs. Pairs less than a lag time apart
    are not independent.

    Examples
    --------
    >>> slow_components(np.array([[0.9, 0.6, 0.1], [0.8, 0.7, 0.6]]), n_pairs=10000, lag=10)[0]
    2
    """
    noise = min(_ERRORS / np.sqrt(max(n_pairs / 2 / lag, 1.0)), 0.9)
    least = max(_RELAXED, noise)
    worst = correlations.min(axis=0)
    slow = int(np.argmin(np.append(worst > least, False)))
    dim = min(max(slow, 1), _MOST)
    words = ", ".join(f"{value:.2f}" for value in worst[: dim + 2])
    which = "relaxes within the lag time" if least == _RELAXED else "is noise"
    reason = (
        f"autocorrelation at the lag time on left-out data (the lower of two halves): {words}, ...; below "
        f"{least:.2f} a component {which}"
    )
    if slow == 0:
        reason += ". No component is slower than that: a shorter lag time may show more"
    elif slow > _MOST:
        reason += f". More than {_MOST} are slow; the density in more dimensions needs very many frames"
    return dim, reason


def _centred(moments: Moments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the covariances about the means of these data."""
    model = moments.covariances(reversible=False)
    return model.cov_00, model.cov_0t, model.cov_tt

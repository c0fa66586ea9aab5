"""Predicted probabilities against observed frequencies."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_numbers, read_only

#: Two-sided 95 % of a normal distribution.
_Z = 1.959964


@dataclass(frozen=True, eq=False, kw_only=True)
class Reliability(ReadOnly):
    """Hold a reliability diagram: observed frequencies against predicted probabilities.

    Every scored frame gives one pair for each state: the predicted probability of that state, and whether it
    was observed. Pairs are sorted by prediction into bins of equal width.

    Attributes
    ----------
    predicted : (b,) float64
        Mean prediction in each bin; NaN in an empty one.
    observed : (b,) float64
        The fraction of the pairs in each bin that were observed; NaN in an empty bin. It lies on the diagonal
        if predictions are calibrated.
    lower, upper : (b,) float64
        95 % interval of `observed` (Wilson), with the effective number of independent transitions in the bin,
        (sum of w)^2 / (sum of w^2) with w the pairs of each transition, in place of the number of pairs.
    transitions : (b,) int64
        The number of transitions with a pair in the bin.
    pairs : (b,) int64
        The number of pairs in the bin.

    See Also
    --------
    kinetics.reliability : Compute the diagram.
    plots.reliability : Plot the diagram.

    Examples
    --------
    >>> import numpy as np
    >>> from mdfuzzy.kinetics import reliability
    >>> predicted = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    >>> found = reliability(predicted, [0, 0, 1], [0, 0, 1], n_bins=2)
    >>> found.predicted.round(2), found.observed, found.transitions
    (array([0.13, 0.87]), array([0., 1.]), array([2, 2]))
    """

    predicted: np.ndarray
    observed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    transitions: np.ndarray
    pairs: np.ndarray

    def __post_init__(self) -> None:
        for name in ("predicted", "observed", "lower", "upper", "transitions", "pairs"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))


def reliability(
    predicted: np.ndarray, outcomes: np.ndarray, transitions: np.ndarray, *, n_bins: int = 10
) -> Reliability:
    """Compare predicted probabilities with observed outcomes.

    Parameters
    ----------
    predicted : (m, K) array
        The probability of each state at each of the scored frames.
    outcomes : (m,) int array
        The observed state.
    transitions : (m,) int array
        Frames of the same number are not independent of each other.
    n_bins : int
        Bins of equal width over [0, 1].

    Returns
    -------
    Reliability

    Raises
    ------
    ValueError
        If `predicted` are no probabilities, or the outcomes are not one per row.

    See Also
    --------
    kinetics.calibration : Reliability of memberships, with competitors.
    plots.reliability : Draw the diagram.

    References
    ----------
    * J. Bröcker and L. A. Smith, *Increasing the Reliability of Reliability Diagrams*, Weather and
      Forecasting 22 (2007) 651-661.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.kinetics.reliability([[0.75, 0.25]] * 4, [0, 0, 0, 1], [0, 1, 2, 3], n_bins=2).observed
    array([0.25, 0.75])
    """
    n_bins = check_int("n_bins", n_bins, 1)
    predicted, outcomes = check_numbers("predicted", predicted), np.asarray(outcomes)
    if predicted.ndim != 2 or predicted.size == 0:
        raise InputValueError(
            f"`predicted` must have shape (frames, states), not empty; got shape {predicted.shape}."
        )
    if not -1e-6 <= predicted.min() <= predicted.max() <= 1 + 1e-6:  # up to rounding
        got = f"{predicted.min():g} to {predicted.max():g}"
        raise InputValueError(f"`predicted` must be probabilities, in [0, 1]; got {got}.")
    for name, given in (("outcomes", outcomes), ("transitions", np.asarray(transitions))):
        if given.shape != predicted.shape[:1] or given.dtype.kind not in "iu":
            raise InputValueError(
                f"`{name}` must be integers, one per row of `predicted`, {len(predicted)}; got shape "
                f"{given.shape} of {given.dtype}."
            )
    states = predicted.shape[1]
    bins = np.minimum((predicted * n_bins).astype(np.int64), n_bins - 1).ravel()
    came_true = (outcomes[:, None] == np.arange(states)).ravel()
    pairs = np.bincount(bins, minlength=n_bins)
    # The variance grows with the square of the number of pairs of each transition in each bin.
    _, number = np.unique(transitions, return_inverse=True)
    both, weights = np.unique(np.repeat(number, states) * n_bins + bins, return_counts=True)
    sharing = np.bincount(both % n_bins, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        means = np.bincount(bins, predicted.ravel(), n_bins) / pairs
        shares = np.bincount(bins, came_true, n_bins) / pairs
        effective = pairs.astype(np.float64) ** 2 / np.bincount(both % n_bins, weights**2.0, n_bins)
        lower, upper = wilson_interval(shares, effective)
    return Reliability(
        predicted=means, observed=shares, lower=lower, upper=upper, transitions=sharing, pairs=pairs
    )


def wilson_interval(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % interval of a probability of which `share` was seen in `n` independent trials.

    Examples
    --------
    >>> [float(round(limit, 3)) for limit in wilson_interval(0.5, 10)]
    [0.237, 0.763]
    """
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)

"""Comparison of labels and basins: whether the largest membership of a frame is in its basin's state."""

import numpy as np

from mdfuzzy._messages import warn_user
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

#: Labels and basin of a state differ if their numbers of frames differ by this fraction of the basin,
_OTHER = 0.15
#: and by this fraction of all frames.
_MANY = 0.005


def other_labels(memberships: Memberships, cores: Cores, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the states with clearly more or fewer labelled frames than basin frames, (S,) int64.

    With weights, the total weight of the frames counts, not their number.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> values = np.repeat([[0.9, 0.1], [0.2, 0.8]], [70, 30], axis=0)
    >>> found = mf.Memberships(
    ...     values=values, lost=np.zeros(100), beta=2.0, log_weights=np.zeros(100), exponent=1.0
    ... )
    >>> basins = np.repeat([0, 1], 50)
    >>> other_labels(found, mf.Cores(basins, basins, np.array([0, 99]), np.ones(2)))
    array([0, 1])
    """
    counted = np.ones(len(memberships)) if weights is None else weights
    sizes, basins = (_sums(each, counted, len(cores)) for each in (memberships.hard, cores.basins))
    apart = np.abs(sizes - basins)
    return np.flatnonzero((apart > _OTHER * basins) & (apart > _MANY * counted.sum()))


def warn_of_other_labels(memberships: Memberships, cores: Cores, weights: np.ndarray | None = None) -> None:
    """Warn if labels and basins have clearly different numbers of frames, and name the states."""
    found = other_labels(memberships, cores, weights)
    if len(found):
        counted = np.ones(len(memberships)) if weights is None else weights
        sizes, basins = (_sums(each, counted, len(cores)) for each in (memberships.hard, cores.basins))
        if weights is None:
            what, noun, whole = "numbers of frames", " frames", "all frames"
            told = ", ".join(f"{state} ({sizes[state]:,.0f} and {basins[state]:,.0f})" for state in found)
        else:
            what, noun, whole, total = "weights", "", "the weight", counted.sum()
            told = ", ".join(
                f"{state} ({sizes[state] / total:.1%} and {basins[state] / total:.1%})" for state in found
            )
        agree = np.average(memberships.hard == cores.basins, weights=weights)
        warn_user(
            f"Labels and basins have different {what} for some states: {told}{noun}. They agree "
            f"for {agree:.1%} of {whole}. Larger cores bring them together (`core_agreement`), and so does a "
            "smaller beta."
        )


def _sums(labels: np.ndarray, weights: np.ndarray, n_states: int) -> np.ndarray:
    """Return the weight of the frames of each state, (K,)."""
    known = labels >= 0
    return np.bincount(labels[known], weights[known], minlength=n_states)

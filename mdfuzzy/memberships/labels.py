"""Labels and basins: whether the largest membership of a frame is in the state of its basin."""

import numpy as np

from mdfuzzy._messages import warn_user
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

#: A state has other labels than its basin if the numbers of their frames differ by this share of the basin,
_OTHER = 0.15
#: and by this share of all frames.
_MANY = 0.005


def other_labels(memberships: Memberships, cores: Cores) -> np.ndarray:
    """Return the states whose labels hold clearly more or fewer frames than their basins, (S,) int64.

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
    labels = memberships.hard
    sizes = np.bincount(labels[labels >= 0], minlength=len(cores))
    apart = np.abs(sizes - cores.basin_sizes)
    return np.flatnonzero((apart > _OTHER * cores.basin_sizes) & (apart > _MANY * len(memberships)))


def warn_of_other_labels(memberships: Memberships, cores: Cores) -> None:
    """Warn if labels and basins have clearly different numbers of frames, and say for which states."""
    found = other_labels(memberships, cores)
    if len(found):
        sizes = np.bincount(memberships.hard[memberships.hard >= 0], minlength=len(cores))
        told = ", ".join(f"{state} ({sizes[state]:,} and {cores.basin_sizes[state]:,})" for state in found)
        agree = np.mean(memberships.hard == cores.basins)
        warn_user(
            f"Labels and basins have different numbers of frames for some states: {told} frames. They agree "
            f"for {agree:.1%} of all frames. Larger cores bring them together (`core_reach`), and so does a "
            "smaller beta."
        )

"""A permutation test of differences between two groups of trajectories, corrected for the number of states.

Under the null hypothesis the trajectories (or long blocks of them) of both groups come from one distribution,
so any assignment of them to the groups is as likely as the observed assignment. The statistic of each state
is the difference of its fractions divided by its standard error, which is estimated from the spread between
trajectories. With this statistic the test also holds approximately if the groups differ in their spread
(Janssen, 1997; Chung and Romano, 2013). The probability that any state reaches its smallest p-value by chance
corrects for the number of states, and takes the dependence between them into account (Westfall and Young,
1993, single-step minP).
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

#: Differences of fractions smaller than this are rounding.
_ROUNDING = 1e-12
#: The number of assignments that are processed together.
_PART = 2048


class Tested(NamedTuple):
    """The results of the test for each state."""

    p: np.ndarray  # (K,) alone
    corrected: np.ndarray  # (K,) for the number of states
    least: float  # the smallest possible p for this number of parts


def permutation_test(
    sums: np.ndarray, totals: np.ndarray, first: int, *, n_permutations: int, seed: int
) -> Tested:
    """Test whether the first of the parts differ from the others.

    Parameters
    ----------
    sums : (U, K) float64
        The weight of each state in each part.
    totals : (U,) float64
        The weight of each part.
    first : int
        How many of the parts are of the first group; 2 at least, as of the others.
    n_permutations : int
        How many assignments to look at, if there are more.
    seed : int
        Random seed of the choice.

    Examples
    --------
    >>> states = np.array([[9.0, 1.0], [8, 2], [9, 1], [8, 2], [1, 9], [2, 8], [1, 9], [2, 8]])
    >>> found = permutation_test(states, np.full(8, 10.0), 4, n_permutations=9999, seed=0)
    >>> found.corrected.round(3), round(found.least, 3)  # 2 of 70 assignments
    (array([0.029, 0.029]), 0.029)
    """
    n = len(totals)
    groups = _assignments(n, first, n_permutations, seed)
    found = np.concatenate(
        [_statistics(groups[at : at + _PART], sums, totals) for at in range(0, len(groups), _PART)]
    )
    # How often each value is reached, for every assignment; values equal up to rounding count as reached.
    reached = np.empty(found.shape)
    for state in range(found.shape[1]):
        values = np.sort(found[:, state])
        bounds = np.where(np.isinf(found[:, state]), found[:, state], found[:, state] * (1 - 1e-9))
        reached[:, state] = len(values) - np.searchsorted(values, bounds, side="left")
    p = reached / len(groups)
    smallest = np.sort(p.min(axis=1))
    corrected = np.searchsorted(smallest, p[0] * (1 + 1e-9), side="right") / len(groups)
    both = 2 if 2 * first == n else 1  # exchanging the groups gives the same difference
    return Tested(p[0], corrected, max(both / comb(n, first), 1 / len(groups)))


def _assignments(n: int, first: int, n_permutations: int, seed: int) -> np.ndarray:
    """Return which parts are in the first group, (P, n) float64, the observed assignment first."""
    if comb(n, first) <= n_permutations + 1:
        groups = np.zeros((comb(n, first), n))
        for row, members in enumerate(combinations(range(n), first)):  # begins with the first parts
            groups[row, list(members)] = 1
        return groups
    observed = (np.arange(n) < first).astype(float)
    shuffled = np.random.default_rng(seed).permuted(np.tile(observed, (n_permutations, 1)), axis=1)
    return np.concatenate([observed[None], shuffled])


def _statistics(groups: np.ndarray, sums: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the difference divided by its standard error, for each assignment and state."""
    (one, variance), (other, more) = _fraction(groups, sums, totals), _fraction(1 - groups, sums, totals)
    difference = np.abs(one - other)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference / np.sqrt(variance + more)
    return np.where(difference < _ROUNDING, 0.0, ratio)


def _fraction(groups: np.ndarray, sums: np.ndarray, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fraction of each state in a group, a ratio of sums, and its variance by linearisation."""
    count, total = groups.sum(axis=1)[:, None], (groups @ totals)[:, None]
    fraction = groups @ sums / total
    squares = groups @ sums**2 - 2 * fraction * (groups @ (sums * totals[:, None]))
    squares += fraction**2 * (groups @ totals**2)[:, None]
    scale = (groups @ totals**2)[:, None]
    squares = np.where(squares < _ROUNDING * scale, 0.0, squares)
    return fraction, squares / total**2 * count / (count - 1)

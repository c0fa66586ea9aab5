"""Slow, obvious twins of the absorbing walk."""

from itertools import pairwise

import numpy as np


def dense_walk(indptr, indices, log_weights):
    """Return the walk's transition probabilities as a dense array, one row at a time."""
    n = len(indptr) - 1
    probs = np.zeros((n, n))
    for i in range(n):
        row = slice(indptr[i], indptr[i + 1])
        values = np.asarray(log_weights[row], dtype=float)
        weights = np.exp(values - values.max())
        probs[i, indices[row]] = weights / weights.sum()
    return probs


def hitting_probabilities(probs, targets, n_targets):
    """Subtraction-free elimination (Grassmann, Taksar, Heyman 1985), dense: who catches the walk first.

    One free point after the other is taken out: what went through it is shared among the others in
    proportion to where it goes from there. Only sums, products and quotients of positive numbers occur,
    so every result is right to many digits however small the probability to leave a trap.
    """
    free = list(np.flatnonzero(targets < 0))
    n = len(free)
    walk = np.zeros((n, n + n_targets))
    walk[:, :n] = probs[np.ix_(free, free)]
    for c in range(n_targets):
        walk[:, n + c] = probs[np.ix_(free, np.flatnonzero(targets == c))].sum(axis=1)
    np.fill_diagonal(walk[:, :n], 0.0)
    for m in range(n - 1, -1, -1):
        keep = np.r_[0:m, n : n + n_targets]
        walk[m, keep] /= walk[m, keep].sum()
        walk[:m, keep] += np.outer(walk[:m, m], walk[m, keep])
        walk[np.arange(m), np.arange(m)] = 0.0  # back where it was: leaves no trace
    values = np.zeros((len(targets), n_targets))
    caught = targets >= 0
    values[caught, targets[caught]] = 1.0
    solved = np.zeros((n, n_targets))
    for m in range(n):
        solved[m] = walk[m, n:] + walk[m, :m] @ solved[:m]
    values[free] = solved
    return values


def net_flows(indptr, indices, probs, exits, absorb, x, parts=None):
    """Return what flows into every point: from its edges, from targets, less what exits.

    With `parts` (the part of each point, -1 for none) only edges between different parts count.
    """
    flows = absorb - exits[:, None] * x
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if parts is None or parts[i] < 0 or parts[i] != parts[j]:
                flows[i] += float(probs[e]) * (x[j] - x[i])
    return flows


def relaxed(indptr, indices, probs, rhs, x, blocks):
    """Return `x` after x_i = rhs_i + sum_j P_ij x_j, row by row; other blocks are seen as they were."""
    result = x.copy()
    for start, stop in pairwise(blocks):
        seen = x.copy()
        for i in range(start, stop):
            row = slice(indptr[i], indptr[i + 1])
            seen[i] = rhs[i] + probs[row].astype(float) @ seen[indices[row]]
        result[start:stop] = seen[start:stop]
    return result

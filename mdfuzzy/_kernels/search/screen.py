"""Screen targets before exact RMSDs, by the displacements of query and target in a cell.

Lengths are norms, sqrt(atoms) * RMSD. Write u and v for the displacements of a query and a target from
the centre on which both are superposed, D = u - v. Then (docs/theory/neighbours)

    |D|^2  >=  atoms * RMSD^2  >=  |D|^2 - 2 (|D| m + e)^2 / (s2 - |D|^2),    m = min(|u|, |v|),

with s2 the sum of the two frames' two smallest eigenvalues of sum_i x_i x_i^T and e the torques that the
two superpositions leave. The right-hand side increases with |D| up to |D|^2 = s2 - m sqrt(2 s2), and a target
nearer than t has |D| <= 2 m + t. If (2 m + t)^2 is below that limit, the question "can the target be nearer
than t" becomes "is |D|^2 at most y". This is a plain Euclidean test on the principal axes of the cell and on
the norm of the remainder, first for the box of a leaf and then for its 64 targets at once.

Rounding: `slack.length` bounds the error of a displacement or of its coordinates, `slack.square` that of
twice an eigenvalue and of a torque; both are worst-case bounds of float32 sums over the atoms.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.cells import AXES, ROWS
from mdfuzzy._kernels.search.lanes import LANES

#: No limit yet; its square is finite in float64, and it survives a cast to float32.
NO_LIMIT = 1e18


class Slack(NamedTuple):
    """Bounds of rounding errors (see above), and what they come from."""

    length: float
    square: float
    largest: float  # squared norm of a frame


class Screen(NamedTuple):
    """Data on 64 queries with respect to one cell, in lane blocks."""

    moved: np.ndarray  # displacement from the centre
    coordinates: np.ndarray  # on the cell's axes, and the norm of the rest
    nearness: np.ndarray  # m: the smaller of |u| and the cell's radius
    torque: np.ndarray  # e
    spread: np.ndarray  # s2
    limit: np.ndarray  # largest |D|^2 of a target that could be nearer than the threshold; float32


@compiled()
def screen_limit(threshold, m, torque, s2, slack):
    """Return the largest |D|^2 that a target within `threshold` of the query can have, or NO_LIMIT."""
    if threshold >= NO_LIMIT:
        return NO_LIMIT
    # a larger threshold is always safe; this one keeps torque / threshold small
    t = max(threshold, np.sqrt(torque))
    m += torque / t
    # a superposition that leaves a torque makes |u| and |v| longer than the RMSD norms, each by at most this
    excess = 2 * torque / np.sqrt(s2) if s2 > 0 else NO_LIMIT
    reach = 2 * m + t + 2 * excess
    if reach * reach > s2 - m * np.sqrt(2 * s2):
        return NO_LIMIT
    b = s2 - 2 * m * m + t * t
    root = b * b - 4 * s2 * t * t
    if root < 0:
        return NO_LIMIT
    y = 2 * s2 * t * t / (b + np.sqrt(root))
    return (np.sqrt(y) + slack) ** 2


@compiled()
def bracket(squared, m, torque, s2, slack):
    """Return a lower and an upper bound of atoms * RMSD^2, given |D|^2."""
    length = np.sqrt(squared)
    short, long = max(length - slack, 0.0), length + slack
    lower = 0.0
    if short > 0:
        m += torque / short
        # the bound at the shortest |D| that rounding allows, if it increases up to the longest
        if long * long < s2 - m * np.sqrt(2 * s2):
            lower = short * short * (1 - 2 * m * m / (s2 - short * short))
    return lower, long * long


@compiled(fastmath=True, forceinline=True)
def leaf_distances(coordinates, lane, blocks, leaf, overlap, out):  # OUT out
    """Set out = squared distances of a lane's query to the 64 targets of a leaf.

    The parts outside the axes, of norms p and q, add at least (p - q)^2 to the squared distance, and p^2 +
    q^2 on average if the two parts are unrelated. `overlap` = 0 adds the minimum, which is safe; 2 adds the
    average.
    """
    # a uint32 cannot be negative; an index that might wrap around would compile to slow gather loads
    first = np.int64(np.uint32(leaf)) * (ROWS * LANES)
    for l in range(LANES):
        out[l] = 0
    for group in range(AXES // 4):
        o = 4 * group * LANES
        a, b = coordinates[o + lane], coordinates[o + LANES + lane]
        c, d = coordinates[o + 2 * LANES + lane], coordinates[o + 3 * LANES + lane]
        o += first
        for l in range(LANES):
            da, db = a - blocks[o + l], b - blocks[o + LANES + l]
            dc, dd = c - blocks[o + 2 * LANES + l], d - blocks[o + 3 * LANES + l]
            out[l] += da * da + db * db + dc * dc + dd * dd
    rest = coordinates[AXES * LANES + lane]
    shared = overlap * rest
    for l in range(LANES):
        other = blocks[first + AXES * LANES + l]
        out[l] += (rest - other) ** 2 + shared * other


@compiled(fastmath=True, forceinline=True)
def box_distances(coordinates, low, high, leaf, out):  # OUT out
    """Set out = squared distance of each lane's query to the box of a leaf."""
    for l in range(LANES):
        out[l] = 0
    for p in range(ROWS):
        a, b = low[leaf, p], high[leaf, p]
        for l in range(LANES):
            x = coordinates[p * LANES + l]
            d = max(max(a - x, x - b), np.float32(0))
            out[l] += d * d


@compiled(fastmath=True)
def squared_difference(left, i, right, j):
    """Return |left[i] - right[j]|^2."""
    total = np.float32(0)
    for c in range(left.shape[1]):
        d = left[i, c] - right[j, c]
        total += d * d
    return total

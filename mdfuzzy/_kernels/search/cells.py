"""Build cells of similar frames, superposed on a centre, projected on principal axes, in leaves of 64.

Frames are given *flat*: (n, width) float32, 3 numbers an atom, padded with zero atoms to a multiple of 6
numbers.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.lanes import (
    LANES,
    correlate,
    displacements,
    largest_eigenvalues,
    load_lanes,
    rotations,
)

#: Number of principal coordinates kept for the screen; one more holds the norm of the remainder.
AXES = 12
ROWS = AXES + 1
#: The coordinate of empty places in a leaf: far from everything, but its square is finite in float32.
FAR = 1e15


class Queries(NamedTuple):
    """The frames whose neighbours are searched; frames near each other are stored side by side."""

    flat: np.ndarray  # (n, width)
    norms: np.ndarray  # (n,) squared norms
    spreads: np.ndarray  # (n,) sums of the two smallest eigenvalues of sum_i x_i x_i^T


class Cells(NamedTuple):
    """The frames among which neighbours are searched, by cell: a plain tuple of arrays, as kernels need."""

    flat: np.ndarray  # (n, width) frames by cell and leaf
    norms: np.ndarray  # (n,)
    order: np.ndarray  # (n,) which frames they are
    cell_start: np.ndarray  # (cells + 1,) cell c holds flat[cell_start[c]:cell_start[c + 1]]
    leaf_start: np.ndarray  # (cells + 1,) in leaves leaf_start[c] to leaf_start[c + 1]
    centres: np.ndarray  # (cells, width)
    centre_norms: np.ndarray  # (cells,)
    radii: np.ndarray  # (cells,) largest |v|
    torques: np.ndarray  # (cells,) largest torque left by the superposition of a member
    spreads: np.ndarray  # (cells,) smallest spread of a member
    axes: np.ndarray  # (cells, AXES, width) orthonormal
    blocks: np.ndarray  # (leaves * ROWS * LANES,) members' coordinates on the axes, and the norm of the rest
    low: np.ndarray  # (leaves, ROWS) their box
    high: np.ndarray  # (leaves, ROWS)
    rows: np.ndarray  # (n, width rounded up to 8) displacements v of `flat`
    atoms: float


@compiled(nogil=True)
def describe_frames(first, last, coordinates, queries):  # OUT queries
    """Set the frames first to last of `queries` from their coordinates, (n, 3 atoms)."""
    for i in range(first, last):
        xx = yy = zz = xy = yz = zx = 0.0
        for j in range(0, coordinates.shape[1], 3):
            x, y, z = coordinates[i, j], coordinates[i, j + 1], coordinates[i, j + 2]
            queries.flat[i, j], queries.flat[i, j + 1], queries.flat[i, j + 2] = x, y, z
            a, b, c = np.float64(x), np.float64(y), np.float64(z)
            xx, yy, zz = xx + a * a, yy + b * b, zz + c * c
            xy, yz, zx = xy + a * b, yz + b * c, zx + c * a
        queries.norms[i] = xx + yy + zz
        queries.spreads[i] = two_smallest(xx, yy, zz, xy, yz, zx)


@compiled()
def two_smallest(xx, yy, zz, xy, yz, zx):
    """Return the sum of the two smaller eigenvalues of a symmetric 3 x 3 matrix; rounding only lowers it.

    The trace less the largest eigenvalue, q + 2 p cos(phi / 3) with q a third of the trace, 6 p^2 the squared
    norm of A, the matrix less q, and cos(phi) = det(A) / 2 p^3 (Smith 1961). Near 0, where phi loses digits,
    its cosine hardly depends on it.
    """
    trace = xx + yy + zz
    third = trace / 3
    a, b, c = xx - third, yy - third, zz - third
    p = np.sqrt((a * a + b * b + c * c + 2 * (xy * xy + yz * yz + zx * zx)) / 6)
    determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * zx) + zx * (xy * yz - b * zx)
    cosine = min(max(determinant / max(2 * p**3, 1e-300), -1.0), 1.0)
    smaller = trace - third - 2 * p * np.cos(np.arccos(cosine) / 3)
    return max(smaller - 1e-14 * trace, 0.0)  # a smaller sum is always safe


@compiled(nogil=True)
def nearest_centres(flat, norms, members, centres, centre_norms, first, last, labels):  # OUT labels
    """Set which of `centres` (flat frames) is nearest in RMSD to the frames members[first:last]."""
    block = np.empty(flat.shape[1] * LANES, np.float32)
    m = np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    best, label = np.empty(LANES), np.empty(LANES, np.int32)
    for begin in range(first, last, LANES):
        size = min(LANES, last - begin)
        load_lanes(flat, members, begin, size, block)
        best[:] = np.inf
        for c in range(len(centres)):
            correlate(block, centres[c], m)
            for l in range(LANES):
                start[l] = 0.5 * (norms[members[begin + min(l, size - 1)]] + centre_norms[c])
            largest_eigenvalues(m, start, 4, quartic, top)  # few are enough for an order
            for l in range(LANES):
                if start[l] - top[l] < best[l]:
                    best[l] = start[l] - top[l]
                    label[l] = c
        for l in range(size):
            labels[begin + l] = label[l]


@compiled(nogil=True)
def superpose_on(flat, norms, members, centre, shifted, torques):  # OUT shifted, torques
    """Set shifted[i] to frame members[i] superposed on `centre`, minus `centre`; set the remaining torque."""
    width = flat.shape[1]
    block, moved = np.empty(width * LANES, np.float32), np.empty(width * LANES, np.float32)
    m, rotation = np.empty(9 * LANES, np.float32), np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    torque, squared = np.empty(LANES), np.empty(LANES, np.float32)
    centre_norm = 0.0
    for j in range(width):
        centre_norm += np.float64(centre[j]) ** 2
    for first in range(0, len(members), LANES):
        size = min(LANES, len(members) - first)
        load_lanes(flat, members, first, size, block)
        correlate(block, centre, m)
        for l in range(LANES):
            start[l] = 0.5 * (norms[members[first + min(l, size - 1)]] + centre_norm)
        largest_eigenvalues(m, start, 30, quartic, top)
        rotations(m, top, rotation, torque)
        displacements(block, rotation, centre, moved, squared)
        for l in range(size):
            torques[first + l] = torque[l]
            for j in range(width):
                shifted[first + l, j] = moved[j * LANES + l]

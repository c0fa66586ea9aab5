"""Cells of similar frames: superposed on a centre, projected on principal axes, cut into leaves of 64.

Frames are given *flat*: (n, width) float32, 3 numbers an atom, padded with zero atoms to a multiple of 6
numbers.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import kernel
from mdfuzzy._kernels.lanes import (
    LANES,
    correlate,
    displacements,
    largest_eigenvalues,
    rotations,
)

#: Principal coordinates kept for the screen; one more holds the norm of what they leave out.
AXES = 12
ROWS = AXES + 1
#: The coordinate of empty places in a leaf: far from everything, its square still finite in float32.
FAR = 1e15


class Queries(NamedTuple):
    """Frames to find neighbours of, those near each other side by side."""

    flat: np.ndarray  # (n, width)
    norms: np.ndarray  # (n,) squared norms
    spreads: np.ndarray  # (n,) sums of the two smallest eigenvalues of sum_i x_i x_i^T


class Cells(NamedTuple):
    """Frames to find neighbours among, by cell. A plain tuple of arrays, so that kernels take it as it is."""

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


@kernel()
def load_lanes(flat, members, block):  # OUT block
    """Copy the frames `members` (at most 64) into a lane block; empty lanes repeat the first frame."""
    for l in range(LANES):
        frame = members[l] if l < len(members) else members[0]
        for j in range(flat.shape[1]):
            block[j * LANES + l] = flat[frame, j]


@kernel(nogil=True)
def nearest_centres(flat, norms, members, centres, centre_norms, first, last, labels):  # OUT labels
    """Set which of `centres` (flat frames) is nearest in RMSD to the frames members[first:last]."""
    block = np.empty(flat.shape[1] * LANES, np.float32)
    m = np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    best, label = np.empty(LANES), np.empty(LANES, np.int32)
    for begin in range(first, last, LANES):
        part = members[begin : min(last, begin + LANES)]
        load_lanes(flat, part, block)
        best[:] = np.inf
        for c in range(len(centres)):
            correlate(block, centres[c], m)
            for l in range(LANES):
                start[l] = 0.5 * (norms[part[min(l, len(part) - 1)]] + centre_norms[c])
            largest_eigenvalues(m, start, 8, quartic, top)
            for l in range(LANES):
                if start[l] - top[l] < best[l]:
                    best[l] = start[l] - top[l]
                    label[l] = c
        for l in range(len(part)):
            labels[begin + l] = label[l]


@kernel()
def superpose_on(flat, norms, members, centre, shifted, torques):  # OUT shifted, torques
    """Set shifted[i] = the frame members[i] superposed on `centre`, minus `centre`."""
    width = flat.shape[1]
    block, moved = np.empty(width * LANES, np.float32), np.empty(width * LANES, np.float32)
    m, rotation = np.empty(9 * LANES, np.float32), np.empty(9 * LANES, np.float32)
    quartic, start, top = np.empty(3 * LANES), np.empty(LANES), np.empty(LANES)
    torque, squared = np.empty(LANES), np.empty(LANES, np.float32)
    centre_norm = 0.0
    for j in range(width):
        centre_norm += np.float64(centre[j]) ** 2
    for first in range(0, len(members), LANES):
        part = members[first : min(len(members), first + LANES)]
        load_lanes(flat, part, block)
        correlate(block, centre, m)
        for l in range(LANES):
            start[l] = 0.5 * (norms[part[l] if l < len(part) else part[0]] + centre_norm)
        largest_eigenvalues(m, start, 30, quartic, top)
        rotations(m, top, rotation, torque)
        displacements(block, rotation, centre, moved, squared)
        for l in range(len(part)):
            torques[first + l] = torque[l]
            for j in range(width):
                shifted[first + l, j] = moved[j * LANES + l]


@kernel()
def orthonormalise(basis):  # OUT basis
    """Make the rows of `basis` orthonormal (modified Gram-Schmidt, twice); rows that depend on others
    become zero.
    """
    for p in range(len(basis)):
        row = basis[p]
        size = 0.0
        for j in range(len(row)):
            size += row[j] * row[j]
        for _ in range(2):
            for q in range(p):
                dot = 0.0
                for j in range(len(row)):
                    dot += row[j] * basis[q, j]
                for j in range(len(row)):
                    row[j] -= dot * basis[q, j]
        left = 0.0
        for j in range(len(row)):
            left += row[j] * row[j]
        scale = 1 / np.sqrt(left) if left > 1e-20 * size else 0.0
        for j in range(len(row)):
            row[j] *= scale


@kernel()
def principal_axes(shifted, axes):  # OUT axes
    """Set the rows of `axes` to an orthonormal basis of the leading principal directions of `shifted`.

    Subspace iteration: any orthonormal basis is valid for the bound, the leading directions make it tight.
    """
    count, width = shifted.shape
    basis = np.zeros((AXES, width))
    # start from frames of the cell: deterministic, and already mostly along the leading directions
    for p in range(min(AXES, width)):
        for j in range(width):
            basis[p, j] = shifted[p * count // AXES, j]
        basis[p, p * width // AXES] += 1e-3
    for _ in range(4):
        orthonormalise(basis)
        image = np.zeros((AXES, width))
        for i in range(count):
            for p in range(AXES):
                dot = 0.0
                for j in range(width):
                    dot += basis[p, j] * shifted[i, j]
                for j in range(width):
                    image[p, j] += dot * shifted[i, j]
        for p in range(AXES):
            for j in range(width):
                # a little of the old direction keeps the basis complete in cells with few frames
                basis[p, j] = image[p, j] + 1e-12 * basis[p, j]
    orthonormalise(basis)
    for p in range(AXES):
        for j in range(width):
            axes[p, j] = basis[p, j]


@kernel()
def leaf_order(coordinates):
    """Return an order of the rows in which each run of 64 is compact: median splits along the widest axis."""
    n, rows = coordinates.shape
    order, keys = np.arange(n), np.empty(n)
    firsts, lasts = np.zeros(64, np.int64), np.zeros(64, np.int64)  # a stack: halves of halves
    lasts[0] = n
    depth = 1
    while depth:
        depth -= 1
        first, last = firsts[depth], lasts[depth]
        if last - first <= LANES:
            continue
        widest, axis = -1.0, 0
        for p in range(rows):
            low, high = np.inf, -np.inf
            for i in range(first, last):
                value = coordinates[order[i], p]
                low, high = min(low, value), max(high, value)
            if high - low > widest:
                widest, axis = high - low, p
        before = order[first:last].copy()
        for i in range(first, last):
            keys[i] = coordinates[order[i], axis]
        rank = np.argsort(keys[first:last])
        for i in range(last - first):
            order[first + i] = before[rank[i]]
        leaves = (last - first + LANES - 1) // LANES
        middle = first + LANES * ((leaves + 1) // 2)
        firsts[depth], lasts[depth] = first, middle
        firsts[depth + 1], lasts[depth + 1] = middle, last
        depth += 2
    return order


@kernel(nogil=True)
def prepare_cell(
    flat,
    norms,
    spread,
    members,  # IN: frames; OUT: ordered by leaf
    centre,  # IN: a seed; OUT: the mean of the superposed members
    axes,  # OUT (AXES, width)
    blocks,  # OUT (leaves * ROWS * LANES,)
    low,  # OUT (leaves, ROWS)
    high,  # OUT (leaves, ROWS)
    rows,  # OUT (members, width or more) displacements from the centre; zero beyond the width
):
    """Fill one cell; return its radius, the largest torque left in it, and its smallest spread."""
    count, width = len(members), flat.shape[1]
    shifted = np.empty((count, width), np.float32)
    torques = np.empty(count)
    for step in range(2):
        superpose_on(flat, norms, members, centre, shifted, torques)
        for j in range(width if step == 0 else 0):
            total = 0.0
            for i in range(count):
                total += shifted[i, j]
            centre[j] += np.float32(total / count)
    principal_axes(shifted, axes)
    coordinates = np.zeros((count, ROWS))
    rest = np.empty(width)
    radius, torque, smallest = 0.0, 0.0, np.inf
    for i in range(count):
        torque = max(torque, torques[i])
        smallest = min(smallest, spread[members[i]])
        squared = 0.0
        for j in range(width):
            rest[j] = shifted[i, j]
            squared += rest[j] * rest[j]
        radius = max(radius, np.sqrt(squared))
        for p in range(AXES):
            value = 0.0
            for j in range(width):
                value += axes[p, j] * rest[j]
            coordinates[i, p] = value
            for j in range(width):
                rest[j] -= value * axes[p, j]
        squared = 0.0
        for j in range(width):
            squared += rest[j] * rest[j]
        coordinates[i, AXES] = np.sqrt(squared)
    rank = leaf_order(coordinates)
    before = members.copy()
    for i in range(count):
        members[i] = before[rank[i]]
        for j in range(width):
            rows[i, j] = shifted[rank[i], j]
    for leaf in range(len(low)):
        first = leaf * LANES
        for p in range(ROWS):
            low[leaf, p], high[leaf, p] = FAR, -FAR
            for l in range(LANES):
                blocks[(leaf * ROWS + p) * LANES + l] = FAR
            for l in range(min(LANES, count - first)):
                value = np.float32(coordinates[rank[first + l], p])
                blocks[(leaf * ROWS + p) * LANES + l] = value
                low[leaf, p] = min(low[leaf, p], value)
                high[leaf, p] = max(high[leaf, p], value)
    return radius, torque, smallest

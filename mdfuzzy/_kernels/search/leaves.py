"""The leaves of a cell: runs of 64 frames near each other, with their coordinates on the axes of the cell."""

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.cells import AXES, FAR, ROWS, superpose_on
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.order import compact_order


@compiled(nogil=True)
def superpose_on_mean(flat, norms, members, centre, shifted, torques):  # IN, OUT centre; OUT shifted, torques
    """Move `centre` to the mean of the frames superposed on it, and superpose them on the new centre."""
    superpose_on(flat, norms, members, centre, shifted, torques)
    for j in range(len(centre)):
        total = 0.0
        for i in range(len(members)):
            total += shifted[i, j]
        centre[j] += total / len(members)
    superpose_on(flat, norms, members, centre, shifted, torques)


@compiled(fastmath=True)
def orthonormalise(axes):  # IN, OUT axes
    """Make rows orthonormal, one after the other; a row that depends on the previous rows becomes zero."""
    for p in range(len(axes)):
        before, after = np.float32(0), np.float32(0)
        for j in range(axes.shape[1]):
            before += axes[p, j] * axes[p, j]
        for _ in range(2):  # one pass would leave the rounding errors of the subtraction
            for q in range(p):
                shared = np.float32(0)
                for j in range(axes.shape[1]):
                    shared += axes[p, j] * axes[q, j]
                for j in range(axes.shape[1]):
                    axes[p, j] -= shared * axes[q, j]
        for j in range(axes.shape[1]):
            after += axes[p, j] * axes[p, j]
        scale = 1 / np.sqrt(after) if after > np.float32(1e-10) * before else np.float32(0)
        for j in range(axes.shape[1]):
            axes[p, j] *= scale


@compiled(nogil=True, fastmath=True)
def principal_axes(shifted, axes):  # OUT axes
    """Set an orthonormal basis of the leading principal directions of displacements, (AXES, width).

    The basis is found by subspace iteration. Any orthonormal basis gives a valid bound; the leading
    directions make it tight. BLAS is not used, because its threads would compete with the threads that fill
    other cells.
    """
    n, width = shifted.shape
    padded = -(-width // 16) * 16  # whole registers
    rows, found = np.zeros((n, padded), np.float32), np.zeros((AXES, padded), np.float32)
    rows[:, :width] = shifted
    for p in range(AXES):  # from frames of the cell: deterministic, and already mostly along these directions
        found[p] = rows[p * n // AXES]
    moments = np.empty_like(found)
    for _ in range(4):
        orthonormalise(found)
        moments[:] = 0
        for i in range(n):
            for p in range(AXES):
                share = np.float32(0)
                for j in range(padded):
                    share += found[p, j] * rows[i, j]
                for j in range(padded):
                    moments[p, j] += share * rows[i, j]
        found[:] = moments
    orthonormalise(found)
    axes[:] = found[:, :width]


@compiled(fastmath=True)
def project_rows(shifted, axes, coordinates):  # OUT coordinates
    """Set the coordinates of displacements on the axes, and the norm of the part outside the axes."""
    left = np.empty(shifted.shape[1], np.float32)
    for i in range(len(shifted)):
        for j in range(len(left)):
            left[j] = shifted[i, j]
        for p in range(AXES):
            total = np.float32(0)
            for j in range(len(left)):
                total += axes[p, j] * shifted[i, j]
            coordinates[i, p] = total
            for j in range(len(left)):
                left[j] -= total * axes[p, j]
        rest = np.float32(0)
        for j in range(len(left)):
            rest += left[j] * left[j]
        coordinates[i, AXES] = np.sqrt(rest)


@compiled(nogil=True)
def fill_leaves(cells, c, shifted):  # OUT order, rows, blocks, low, high, radii of cells
    """Put the frames of a cell, displaced from its centre by `shifted`, into leaves."""
    start, width = cells.cell_start[c], shifted.shape[1]
    coordinates = np.empty((len(shifted), ROWS), np.float32)
    project_rows(shifted, cells.axes[c], coordinates)
    order = compact_order(coordinates, LANES)
    members, largest = cells.order[start : start + len(shifted)].copy(), 0.0
    for i in range(len(shifted)):
        cells.order[start + i] = members[order[i]]
        squared = 0.0
        for j in range(width):
            cells.rows[start + i, j] = shifted[order[i], j]
            squared += np.float64(shifted[i, j]) ** 2
        largest = max(largest, squared)
    cells.radii[c] = np.sqrt(largest)
    for leaf in range(cells.leaf_start[c], cells.leaf_start[c + 1]):
        base = (leaf - cells.leaf_start[c]) * LANES
        size = min(LANES, len(shifted) - base)
        for p in range(ROWS):
            low = high = coordinates[order[base], p]
            at = (leaf * ROWS + p) * LANES
            for l in range(LANES):
                cells.blocks[at + l] = FAR
            for l in range(size):
                x = coordinates[order[base + l], p]
                cells.blocks[at + l] = x
                low, high = min(low, x), max(high, x)
            cells.low[leaf, p], cells.high[leaf, p] = low, high

"""Cells of similar frames: superposed on their mean, projected on principal axes, cut into leaves of 64."""

import numpy as np

from mdfuzzy._kernels.cells import AXES, FAR, LANES, ROWS, Cells, superpose_on


def fill_cell(cells: Cells, spreads: np.ndarray, c: int) -> None:
    """Fill one cell of the index, given its members (`order`) and its seed (`centres`)."""
    here, leaves = slice(*cells.cell_start[c : c + 2]), slice(*cells.leaf_start[c : c + 2])
    members, centre, width = cells.order[here], cells.centres[c], cells.flat.shape[1]
    shifted, torques = np.empty((len(members), width), np.float32), np.empty(len(members))
    superpose_on(cells.flat, cells.norms, members, centre, shifted, torques)
    centre += shifted.mean(axis=0, dtype=np.float64).astype(np.float32)
    superpose_on(cells.flat, cells.norms, members, centre, shifted, torques)
    cells.centre_norms[c] = centre @ centre.astype(np.float64)
    cells.axes[c] = principal_axes(shifted)
    coordinates = np.empty((len(members), ROWS), np.float32)
    on_axes = np.matmul(shifted, cells.axes[c].T, out=coordinates[:, :-1])
    coordinates[:, -1] = np.sqrt(_squares(shifted - on_axes @ cells.axes[c]))
    rank = leaf_order(coordinates)
    cells.order[here] = members[rank]
    cells.rows[here, :width] = shifted[rank]
    cells.radii[c] = np.sqrt(_squares(shifted).max())
    cells.torques[c], cells.spreads[c] = torques.max(), spreads[members].min()
    starts = np.arange(0, len(members), LANES)
    cells.low[leaves] = np.minimum.reduceat(coordinates[rank], starts)
    cells.high[leaves] = np.maximum.reduceat(coordinates[rank], starts)
    blocks = np.full((len(starts) * LANES, ROWS), FAR, np.float32)
    blocks[: len(members)] = coordinates[rank]
    leaf = ROWS * LANES
    cells.blocks[leaves.start * leaf : leaves.stop * leaf].reshape(-1, ROWS, LANES)[:] = blocks.reshape(
        -1, LANES, ROWS
    ).transpose(0, 2, 1)


def _squares(rows: np.ndarray) -> np.ndarray:
    """Return the squared norm of each row, summed in float64."""
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


def principal_axes(shifted: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the leading principal directions of displacements, (AXES, width).

    Subspace iteration: any orthonormal basis is valid for the bound, the leading directions make it tight.
    """
    # start from frames of the cell: deterministic, and already mostly along the leading directions
    some = np.arange(AXES) * len(shifted) // AXES
    basis = shifted[some].T
    for _ in range(4):
        basis = np.linalg.qr(shifted.T @ (shifted @ basis))[0]
    return basis.T


def leaf_order(coordinates: np.ndarray) -> np.ndarray:
    """Return an order of the rows in which each run of 64 is compact: median splits along the widest axis."""
    order, waiting = np.arange(len(coordinates)), [slice(0, len(coordinates))]
    while waiting:
        part = waiting.pop()
        leaves = -(-(part.stop - part.start) // LANES)
        if leaves == 1:
            continue
        members = coordinates[order[part]]
        axis = np.argmax(np.ptp(members, axis=0))
        order[part] = order[part][np.argsort(members[:, axis], kind="stable")]
        middle = part.start + LANES * ((leaves + 1) // 2)
        waiting += [slice(part.start, middle), slice(middle, part.stop)]
    return order

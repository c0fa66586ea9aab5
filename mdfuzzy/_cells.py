"""Cells of similar frames: superposed on their mean, projected on principal axes, cut into leaves of 64."""

import numpy as np

from mdfuzzy._kernels.cells import AXES, Cells
from mdfuzzy._kernels.leaves import fill_leaves, superpose_on_mean


def fill_cell(cells: Cells, spreads: np.ndarray, c: int) -> None:
    """Fill one cell of the index, given its members (`order`) and its seed (`centres`)."""
    members = cells.order[cells.cell_start[c] : cells.cell_start[c + 1]]
    shifted = np.empty((len(members), cells.flat.shape[1]), np.float32)
    torques = np.empty(len(members))
    centre = cells.centres[c]
    superpose_on_mean(cells.flat, cells.norms, members, centre, shifted, torques)
    cells.centre_norms[c] = centre @ centre.astype(np.float64)
    cells.torques[c], cells.spreads[c] = torques.max(), spreads[members].min()
    cells.axes[c] = principal_axes(shifted)
    fill_leaves(cells, c, shifted)


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

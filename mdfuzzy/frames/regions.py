"""The usual regions of the Ramachandran plot, and the distribution of frames over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mdfuzzy.frames.frames import Frames


#: The largest number of residues that get one line each.
_MAX_RESIDUES = 12


def ramachandran_regions(phi: npt.ArrayLike, psi: npt.ArrayLike) -> dict[str, np.ndarray]:
    """Return masks of the usual regions of the Ramachandran plot.

    The regions do not overlap and together cover the plot.

    Parameters
    ----------
    phi, psi : array
        Backbone torsions in degrees, of the same shape.

    Returns
    -------
    dict of str to bool array
        Masks of the same shape, by the names alpha-R, PII, beta, alpha-L and epsilon.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> regions = mf.ramachandran_regions([-72.0, 57.0], [-13.0, 16.0])
    >>> {name: inside.tolist() for name, inside in regions.items() if inside.any()}
    {'alpha-R': [True, False], 'alpha-L': [False, True]}
    """
    phi = np.asarray(phi, dtype=np.float64)
    psi = (np.asarray(psi, dtype=np.float64) + 120) % 360 - 120  # cut at -120, where frames are rare
    left, helical = phi < 0, psi < 60
    left_handed = (psi >= -60) & (psi < 100)
    return {
        "alpha-R": left & helical,
        "PII": left & ~helical & (phi >= -110),
        "beta": left & ~helical & (phi < -110),
        "alpha-L": ~left & left_handed,
        "epsilon": ~left & ~left_handed,
    }


def region_table(frames: Frames) -> str:
    """Return a table of the share of frames in each region, one line a residue; empty without torsions.

    For more than 12 residues there is one line for all of them.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> print(region_table(mf.datasets.alanine_dipeptide(stride=100)))
    share of frames   alpha-R      PII     beta  alpha-L  epsilon
    ALA2...%
    """
    lines: list[str] = []
    if frames.phi is None or frames.psi is None:
        return ""
    shown: dict[str, slice] = {
        residue: slice(column, column + 1) for column, residue in enumerate(frames.residues)
    }
    if len(shown) > _MAX_RESIDUES:
        shown = {f"{len(shown)} residues": slice(None)}
    for residue, columns in shown.items():
        regions = ramachandran_regions(frames.phi[:, columns], frames.psi[:, columns])
        if not lines:
            lines.append(f"{'share of frames':<16}" + "".join(f"{name:>9}" for name in regions))
        lines.append(f"{residue:<16}" + "".join(f"{inside.mean():>9.2%}" for inside in regions.values()))
    return "\n".join(lines)

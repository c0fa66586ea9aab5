"""Prepare the alignment of frames: the aligned atoms and the reference structure."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.frames import _formats
from mdfuzzy.frames._readers import FilePiece
from mdfuzzy.frames._selection import check_residues, select_atoms
from mdfuzzy.frames.superposition import Alignment

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, eq=False)
class Fit:
    """The atoms and the reference structure that every frame is fitted on.

    Attributes
    ----------
    atoms : (m,) int64
        The aligned atoms, ascending.
    selection : str
        The aligned atoms in words.
    weights : (m,) float64
        The weights of the aligned atoms, which sum to 1.
    reference : (m, 3) float64 or None
        The coordinates of the aligned atoms in the reference structure; None until the first frame was read.
    """

    atoms: np.ndarray
    selection: str
    weights: np.ndarray
    reference: np.ndarray | None

    def onto(self, reference: np.ndarray, name: str) -> Fit:
        """Return the fit with a reference structure (m, 3), which errors call by its `name`."""
        reference = reference.astype(np.float64)
        reference = reference - self.weights @ reference
        moments = np.linalg.eigvalsh(reference.T @ reference)
        if not moments[1] > 1e-6 * moments[2]:
            raise InputValueError(
                f"`align` must select atoms that are not all on one line, or a rotation is not determined; "
                f"{self.selection} are collinear in {name}. Select more atoms."
            )
        return replace(self, reference=reference)

    def alignment(self, moved: int = 0) -> Alignment:
        """Return the alignment that was applied."""
        assert self.reference is not None, "the first frame was read"
        return Alignment(self.atoms, self.selection, self.reference, self.weights, moved)


def make_fit(
    topology: md.Topology, align: str | npt.ArrayLike, reference: object, *, mass_weighted: bool
) -> Fit:
    """Return the fit of frames that is defined by the arguments of `load`, or raise.

    Parameters
    ----------
    topology : md.Topology
        The topology of the frames.
    align : str or (m,) array of int
        The aligned atoms.
    reference : path, md.Trajectory, AlignedFrames or None
        The structure to fit on; None stands for the first frame.
    mass_weighted : bool
        Whether atoms are weighted by their masses.
    """
    atoms, selection = select_atoms(topology, align, name="align")
    check_residues(topology, atoms)
    weights = find_masses(topology, atoms) if mass_weighted else np.ones(len(atoms))
    fit = Fit(atoms, selection, weights / weights.sum(), None)
    if reference is None:
        return fit
    return fit.onto(_reference(reference, topology, align, atoms), "the reference structure")


def _reference(reference: object, topology: md.Topology, align: object, atoms: np.ndarray) -> np.ndarray:
    """Return the coordinates of the aligned atoms in a reference structure, (m, 3)."""
    import mdtraj as md

    known = getattr(reference, "alignment", None)
    if isinstance(known, Alignment):
        if len(known.atoms) != len(atoms):
            raise InputValueError(
                f"`reference` must have the atoms that `align` selects, {len(atoms)}; got frames that were "
                f"aligned on {len(known.atoms)}: {known.selection}. Give the same `align`."
            )
        return known.reference
    if isinstance(reference, str | os.PathLike):
        path = os.path.abspath(os.path.expanduser(os.fspath(reference)))
        _formats.check_file(path, name="reference")
        if not _formats.has_topology(path):
            raise InputValueError(
                f"`reference` must be a structure with the names of its atoms, such as a PDB file; got "
                f"{path!r}."
            )
        names = _formats.read_topology(path, name="reference")
        reference = FilePiece(path).read(names, np.array([0]))
    if not isinstance(reference, md.Trajectory):
        raise InputTypeError(
            f"`reference` must be a path, an md.Trajectory or aligned frames; got {type(reference).__name__}."
        )
    if len(reference.xyz) != 1:
        raise InputValueError(
            f"`reference` must be one structure; got {len(reference.xyz)}. Give one of them: reference[0]."
        )
    others = atoms if isinstance(align, np.ndarray | list | tuple) else reference.topology.select(align)
    if len(others) and others[-1] >= reference.n_atoms:
        raise InputValueError(
            f"`reference` must have the atoms of the trajectories if `align` are indices; it has "
            f"{reference.n_atoms} atoms, not {topology.n_atoms}. Give `align` as a selection."
        )
    ours = [topology.atom(i).name for i in atoms]
    theirs = [reference.topology.atom(i).name for i in others]
    if ours != theirs:
        if len(ours) != len(theirs):
            difference = f"{len(theirs)} atoms instead of {len(ours)}"
        else:
            at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            difference = f"{reference.topology.atom(others[at])} instead of {topology.atom(atoms[at])}"
        raise InputValueError(
            f"`reference` must have the atoms that `align` selects; {align!r} gives {difference} there. "
            f"Choose atoms that both have."
        )
    return reference.xyz[0][others]


def find_masses(topology: md.Topology, atoms: np.ndarray) -> np.ndarray:
    """Return the masses of atoms over their mean, or raise if one has none."""
    elements = [topology.atom(i).element for i in atoms]
    masses = np.array([0.0 if element is None else element.mass for element in elements])
    if not (masses > 0).all():
        raise InputValueError(
            f"`mass_weighted` must be False for atoms without a mass; {topology.atom(atoms[masses <= 0][0])} "
            f"has no element. Select others, or give a topology with elements."
        )
    return masses / masses.mean()

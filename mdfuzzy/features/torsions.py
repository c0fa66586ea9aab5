"""Torsions of the backbone, of the side chains, or of any four atoms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_choice
from mdfuzzy.features.feature import Columns, Feature, atom_labels, residue_labels
from mdfuzzy.frames.dihedrals import dihedral_angles
from mdfuzzy.frames.streaming import atoms_of

if TYPE_CHECKING:
    import mdtraj as md

#: The kinds of torsions: phi and psi; chi1 to chi5; all of these and omega.
Which = Literal["backbone", "sidechain", "all"]

#: Torsions for which a rotation by 180 degrees about the axis exchanges symmetry-equivalent atoms.
_HALF_TURN = {
    *(("PHE", "chi2"), ("TYR", "chi2"), ("ASP", "chi2"), ("GLU", "chi3"), ("ARG", "chi5")),
}


@dataclass(frozen=True, kw_only=True)
class Torsions(Feature):
    """Torsions in degrees, compared as angles.

    Attributes
    ----------
    selection : str or (m,) int array, optional
        The residues, as a selection of any of their atoms; all by default.
    which : {"backbone", "sidechain", "all"}
        Phi and psi; chi1 to chi5; or all of these and omega. Chi2 of Phe, Tyr and Asp, chi3 of Glu and chi5
        of Arg have a period of 180 degrees, because a half turn exchanges symmetry-equivalent atoms.
    quartets : (m, 4) int array, optional
        Four atoms for each torsion, of any molecule, instead of a selection.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> mf.features.Torsions().bind(frame).names
    ('phi ALA2', 'psi ALA2')
    """

    kind: ClassVar[str] = "torsions"

    selection: str | npt.ArrayLike | None = None
    which: Which = "backbone"
    quartets: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("which", self.which, get_args(Which))

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`."""
        topology = first.topology
        quartets, names, periods = (
            self._of_residues(topology) if self.quartets is None else self._given(topology)
        )

        def compute(frames: md.Trajectory) -> np.ndarray:
            # Whole molecules need no periodic images; without bonds, mdtraj takes the nearest images.
            periodic = topology.n_bonds == 0
            return dihedral_angles(frames, quartets, periodic=periodic)

        return Columns(
            names=names, unit="degrees", periods=periods, atoms=np.unique(quartets), compute=compute
        )

    def _of_residues(
        self, topology: md.Topology
    ) -> tuple[np.ndarray, tuple[str, ...], tuple[float | None, ...]]:
        chosen = None
        if self.selection is not None:
            atoms = atoms_of(topology, self.selection, name="features")
            chosen = {topology.atom(index).residue for index in atoms}
        found = [each for each in _named(topology, self.which) if chosen is None or each[2] in chosen]
        if not found:
            where = "" if self.selection is None else f" in {self.selection!r}"
            words = {"backbone": "phi or psi", "sidechain": "chi", "all": "torsions"}[self.which]
            raise InputValueError(
                f"`features` must name torsions that the molecule has; there is no {words}{where}. Give the "
                "four atoms of each (`features.Torsions(quartets=...)`), or use distances."
            )
        found.sort(key=lambda each: each[2].index)  # stable: phi before psi before chi of each residue
        labels = dict(zip(*_labels([each[2] for each in found]), strict=True))
        names = tuple(f"{name} {labels[residue]}" for _, name, residue in found)
        half = [(residue.name, name) in _HALF_TURN for _, name, residue in found]
        quartets = np.array([quartet for quartet, _, _ in found], np.int32)
        return quartets, names, tuple(180.0 if each else 360.0 for each in half)

    def _given(self, topology: md.Topology) -> tuple[np.ndarray, tuple[str, ...], tuple[float | None, ...]]:
        quartets = np.asarray(self.quartets)
        good = quartets.ndim == 2 and quartets.shape[1] == 4 and np.issubdtype(quartets.dtype, np.integer)
        if not good or quartets.size == 0 or quartets.min() < 0 or quartets.max() >= topology.n_atoms:
            raise InputValueError(
                f"`quartets` must be four atoms in [0, {topology.n_atoms - 1}] for each torsion; got shape "
                f"{quartets.shape} and type {quartets.dtype}."
            )
        labels = atom_labels(topology, quartets)
        names = tuple("-".join(labels[i] for i in each) for each in quartets.tolist())
        return quartets.astype(np.int32), names, (360.0,) * len(names)


def _named(topology: md.Topology, which: Which) -> Iterator[tuple[np.ndarray, str, md.core.topology.Residue]]:
    """Yield the atoms, the name and the residue of every torsion of a kind."""
    from mdtraj.geometry import dihedral

    # The atom of the residue that gives the torsion its name: CA, for omega the CA before C-N.
    backbone = [("phi", dihedral.indices_phi, 2), ("psi", dihedral.indices_psi, 1)]
    omega = [("omega", dihedral.indices_omega, 1)]
    side = [(f"chi{n}", getattr(dihedral, f"indices_chi{n}"), 1) for n in range(1, 6)]
    kinds = {"backbone": backbone, "sidechain": side, "all": backbone + omega + side}[which]
    for name, indices, at in kinds:
        for quartet in np.asarray(indices(topology)).reshape(-1, 4):
            yield quartet, name, topology.atom(int(quartet[at])).residue


def _labels(residues: list[md.core.topology.Residue]) -> tuple[list[md.core.topology.Residue], list[str]]:
    different = list(dict.fromkeys(residues))
    return different, residue_labels(different)

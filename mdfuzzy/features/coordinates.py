"""Cartesian coordinates of atoms after superposition on one structure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError
from mdfuzzy.features.feature import Columns, Feature, atom_labels
from mdfuzzy.frames.streaming import atoms_of
from mdfuzzy.frames.superposition import rotations_onto

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, kw_only=True)
class Coordinates(Feature):
    """The coordinates x, y, z of atoms in nm, with every frame superposed on one structure.

    Attributes
    ----------
    selection : str or (m,) int array
        The atoms; the alpha carbons by default.
    fit : str or (m,) int array, optional
        The atoms that are superposed; by default the atoms of `selection`.
    reference : path, md.Trajectory or (fitted atoms, 3) array in nm, optional
        The structure; by default the first frame. A file or a trajectory must have the atoms of the frames.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> mf.features.Coordinates(selection="name N CA C").bind(frame).names[:3]
    ('x ACE1-C', 'y ACE1-C', 'z ACE1-C')
    """

    kind: ClassVar[str] = "coordinates"

    selection: str | npt.ArrayLike = "name CA"
    fit: str | npt.ArrayLike | None = None
    reference: str | os.PathLike[str] | md.Trajectory | npt.ArrayLike | None = None

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`, the structure that frames are superposed on."""
        topology = first.topology
        atoms = atoms_of(topology, self.selection, name="features")
        fitted = atoms if self.fit is None else atoms_of(topology, self.fit, name="features")
        if len(fitted) < 3:
            raise InputValueError(
                f"Coordinates in `features` must be superposed by at least 3 atoms, or the rotation is not "
                f"determined; got {len(fitted)}. Select more atoms, or others to superpose by "
                "('coordinates:SELECTION | FITTED SELECTION')."
            )
        target = self._target(first, fitted)
        target = target - target.mean(axis=0)

        def compute(frames: md.Trajectory) -> np.ndarray:
            xyz = frames.xyz.astype(np.float64)
            centres = xyz[:, fitted].mean(axis=1, keepdims=True)
            turned = (xyz[:, atoms] - centres) @ rotations_onto(xyz[:, fitted] - centres, target)
            return turned.reshape(len(xyz), -1).astype(np.float32)

        labels = atom_labels(topology, atoms)
        names = tuple(f"{axis} {labels[at]}" for at in atoms.tolist() for axis in "xyz")
        return Columns(
            names=names,
            unit="nm",
            periods=(None,) * len(names),
            atoms=np.union1d(atoms, fitted),
            compute=compute,
        )

    def _target(self, first: md.Trajectory, fitted: np.ndarray) -> np.ndarray:
        """Return the coordinates of the fitted atoms in the structure, (m, 3)."""
        import mdtraj as md

        given = self.reference
        if given is None:
            return first.xyz[0, fitted].astype(np.float64)
        if isinstance(given, str | os.PathLike):
            given = md.load(os.fspath(given))
        if isinstance(given, md.Trajectory):
            if given.n_atoms != first.n_atoms:
                raise InputValueError(
                    f"`reference` must have the atoms of the frames, {first.n_atoms}; got {given.n_atoms}."
                )
            return given.xyz[0, fitted].astype(np.float64)
        target = np.asarray(given, np.float64)
        if target.shape != (len(fitted), 3):
            raise InputValueError(
                f"`reference` must have the fitted atoms, shape {(len(fitted), 3)}; got {target.shape}."
            )
        return target

    def bound_to(self, first: md.Trajectory) -> Coordinates:
        """Return the feature with its reference structure, by default the frame `first`, as coordinates."""
        atoms = atoms_of(first.topology, self.selection, name="features")
        fitted = atoms if self.fit is None else atoms_of(first.topology, self.fit, name="features")
        target = self._target(first, fitted)
        return Coordinates(selection=self.selection, fit=self.fit, reference=target, weight=self.weight)

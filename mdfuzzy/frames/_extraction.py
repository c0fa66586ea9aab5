"""Extract the selected atoms, centred, and the backbone torsions from every frame."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError
from mdfuzzy._messages import warn_user
from mdfuzzy.frames._aligning import Fit, find_masses, make_fit
from mdfuzzy.frames._equivalent import check_wanted
from mdfuzzy.frames._periodic import bring_together, has_box, make_whole
from mdfuzzy.frames._readers import Piece
from mdfuzzy.frames._selection import (
    Bonds,
    Torsions,
    check_indices,
    check_residues,
    select_atoms,
    warn_of_pitfalls,
)
from mdfuzzy.frames.dihedrals import dihedral_angles

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames._equivalent import Wanted


class Taken(NamedTuple):
    """The data extracted from some frames."""

    xyz: np.ndarray  # (n, atoms, 3) float64, centred, or superposed on the reference by the aligned atoms
    angles: np.ndarray  # (n, torsions) float32, degrees
    moved: np.ndarray  # (n,) bool, whether a molecule was moved to its nearest image


@dataclass(frozen=True, eq=False)
class Plan:
    """The data to extract from every frame.

    Attributes
    ----------
    atoms : (m,) int64
        The selected atoms, ascending.
    selection : str
        The selected atoms in words.
    torsions : Torsions
        The backbone torsions, which may involve other atoms.
    trees : (bonds, 2) int32
        The bonds along which molecules are made whole, from their roots outwards.
    whole : bool or None
        Whether to make molecules whole always, never, or if there is a box (None).
    masses : (m,) float64 or None
        The masses of the selected atoms over their mean, if these weight them.
    fit : Fit or None
        The structure that frames are fitted on; None if each pair is superposed instead.
    molecules : (atoms,) int or None
        The molecule of every atom of the topology, where molecules are brought to the fitted atoms.
    symmetry : see `load`
        Which equivalent atoms are exchanged.
    """

    atoms: np.ndarray
    selection: str
    torsions: Torsions
    trees: np.ndarray
    whole: bool | None
    masses: np.ndarray | None = None
    fit: Fit | None = None
    molecules: np.ndarray | None = None
    symmetry: Wanted = None

    @cached_property
    def needed(self) -> np.ndarray:
        """All atoms that the result depends on, ascending."""
        aligned = self.atoms[:0] if self.fit is None else self.fit.atoms
        used = [self.atoms, aligned, self.torsions.quartets.ravel(), self.trees.ravel()]
        return np.unique(np.concatenate(used))

    def _among_needed(self, atoms: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.needed, atoms)

    def makes_whole(self, chunk: md.Trajectory, piece: Piece) -> bool:
        """Return whether the molecules of these frames are made whole."""
        if self.whole and not has_box(chunk):
            raise InputValueError(
                f"`whole` must not be True for frames without a periodic box; {piece.name} has none. "
                f"Leave it out to make molecules whole where there is a box."
            )
        known = len(self.trees) > 0 or self.molecules is not None
        return self.whole is not False and known and has_box(chunk)

    def fitted_on_first(self, chunk: md.Trajectory, piece: Piece) -> Plan:
        """Return the plan with the first frame of a chunk as the reference structure, unless it has one."""
        if self.fit is None or self.fit.reference is not None:
            return self
        _, taken, _ = self._gather(chunk, [0], piece)
        aligned = taken[0, len(self.atoms) :]
        if not np.isfinite(aligned).all():
            raise InputValueError(
                f"Coordinates must be finite; {piece.name} has NaN or infinite ones in its first frame, on "
                f"which the others are fitted. Leave it out, or give `reference`."
            )
        return replace(self, fit=self.fit.onto(aligned, "the first frame"))

    def take(self, chunk: md.Trajectory, rows: slice | np.ndarray | list[int], piece: Piece) -> Taken:
        """Extract the data from some frames of a chunk."""
        import mdtraj as md

        xyz, taken, moved = self._gather(chunk, rows, piece)
        if self.fit is None:
            selected = taken.astype(np.float64)
            with np.errstate(invalid="ignore"):  # infinite coordinates are reported later, with their frame
                selected -= np.einsum("nac->nc", selected)[:, None] / len(self.atoms)
        else:
            finite = np.isfinite(taken).all(axis=(1, 2))
            selected, aligned = np.split(taken[finite], [len(self.atoms)], axis=1)
            selected, found = np.full((len(taken), len(self.atoms), 3), np.nan), selected
            selected[finite] = self.fit.alignment().apply(aligned, found)
        # Torsions of molecules that cannot be made whole use the nearest images of their atoms.
        box = [] if len(self.trees) or not has_box(chunk) else _box(chunk, rows)
        frames = md.Trajectory(xyz, None, None, *box)
        quartets = self._among_needed(self.torsions.quartets)
        return Taken(selected, dihedral_angles(frames, quartets, periodic=bool(box)), moved)

    def _gather(
        self, chunk: md.Trajectory, rows: slice | np.ndarray | list[int], piece: Piece
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the needed atoms of whole molecules, the selected and aligned atoms as they are to be taken,
        and which frames have a molecule that was moved to its nearest image.
        """
        xyz = chunk.xyz[rows][:, self.needed]
        aligned = self.atoms[:0] if self.fit is None else self.fit.atoms
        places = self._among_needed(np.concatenate([self.atoms, aligned]))
        taken, moved = xyz[:, places], np.zeros(len(xyz), bool)
        if not has_box(chunk):
            return xyz, taken, moved
        box = _box(chunk, rows)
        if len(self.trees):
            make_whole(xyz, *box, self._among_needed(self.trees))
            if self.makes_whole(chunk, piece):
                taken = xyz[:, places]
        if self.molecules is not None and self.makes_whole(chunk, piece):
            chosen, fixed = np.split(places, [len(self.atoms)])
            moved = bring_together(xyz, *box, self.molecules[self.needed], fixed, chosen)
            taken = xyz[:, places]
        return xyz, taken, moved


def _box(chunk: md.Trajectory, rows: slice | np.ndarray | list[int]) -> tuple[np.ndarray, np.ndarray]:
    return chunk.unitcell_lengths[rows], chunk.unitcell_angles[rows]


def make_plan(
    topology: md.Topology,
    atoms: str | npt.ArrayLike | None,
    whole: bool | None,
    *,
    words: str | None = None,
    align: str | npt.ArrayLike | None = None,
    reference: object = None,
    mass_weighted: bool = False,
    symmetry: Wanted = None,
) -> Plan:
    """Plan the extraction from frames with a topology, and warn of possible pitfalls.

    Atom indices are described as "chosen by index" unless `words` describes their origin.
    """
    check_wanted(symmetry, has_topology=True)
    indices, selection = select_atoms(topology, atoms, least=3 if align is None else 1)
    check_residues(topology, indices)
    if words is not None:
        selection = f"{words} ({len(indices)} of {topology.n_atoms} atoms)"
    masses = find_masses(topology, indices) if mass_weighted else None
    fit = None if align is None else make_fit(topology, align, reference, mass_weighted=mass_weighted)
    bonds, torsions = Bonds.of(topology), Torsions.of(topology)
    warn_of_pitfalls(topology, indices, bonds, aligned=fit is not None)
    used = indices if fit is None else np.union1d(indices, fit.atoms)
    if fit is not None:
        bonds = bonds.joined(topology, used)
    trees = bonds.trees(np.union1d(used, torsions.quartets))
    if whole and len(trees) == 0:
        raise InputValueError(
            "`whole` must not be True if the topology has no bonds. Add them, or leave it out."
        )
    molecules = None if fit is None else bonds.molecules
    return Plan(indices, selection, torsions, trees, whole, masses, fit, molecules, symmetry)


def make_plan_for_features(
    topology: md.Topology,
    atoms: str | npt.ArrayLike | None,
    whole: bool | None,
    *,
    used: np.ndarray,
    words: str | None = None,
) -> Plan:
    """Plan the extraction from frames if features are computed from the atoms `used`.

    `atoms` are the atoms of structures of the frames.
    """
    indices, selection = select_atoms(topology, atoms, least=1)
    check_residues(topology, indices)
    torsions = Torsions.of(topology)
    trees = Bonds.of(topology).trees(np.unique(np.concatenate([indices, used, torsions.quartets.ravel()])))
    return Plan(indices, words or selection, torsions, trees, whole)


def make_plan_for_arrays(
    n_atoms: int,
    atoms: str | npt.ArrayLike | None,
    whole: bool | None,
    *,
    align: object = None,
    reference: object = None,
    mass_weighted: bool = False,
    symmetry: Wanted = None,
) -> Plan:
    """Plan the extraction from frames without a topology."""
    for name, value in (("align", align), ("reference", reference), ("mass_weighted", mass_weighted or None)):
        if value is not None:
            raise InputValueError(
                f"`{name}` must be left out for arrays without a topology, whose atoms have no names; got "
                f"{value!r}. Give `top` as well."
            )
    check_wanted(symmetry, has_topology=False)
    if isinstance(atoms, str):
        raise InputValueError(
            f"`atoms` must be indices if there is no topology; got {atoms!r}. Give `top` as well."
        )
    if whole:
        raise InputValueError("`whole` must not be True for arrays, which have no box.")
    indices = np.arange(n_atoms) if atoms is None else check_indices(atoms, n_atoms)
    if len(indices) < 3:
        raise InputValueError(
            f"`atoms` must select at least 3 atoms, or a rotation is not determined; "
            f"got {len(indices)} of {n_atoms}."
        )
    words = f"{'all' if atoms is None else 'chosen by index'} ({len(indices)} of {n_atoms} atoms)"
    torsions = Torsions(np.empty((0, 4), np.int32), ())
    return Plan(indices, words, torsions, np.empty((0, 2), np.int32), whole, symmetry=symmetry)


def warn_of_open_box(chunk: md.Trajectory, plan: Plan) -> None:
    """Warn if molecules may be broken across the boundary and cannot be made whole without bonds."""
    if plan.whole is None and len(plan.trees) == 0 and plan.molecules is None and has_box(chunk):
        warn_user(
            "The frames have a periodic box but the topology has no bonds, so molecules that the boundary "
            "divides stay divided. Give a topology with bonds, or `whole=False` if all "
            "molecules are whole."
        )

"""What to take from every frame: the selected atoms, centred, and the backbone torsions."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError
from mdfuzzy._messages import warn_user
from mdfuzzy.frames._periodic import has_box, make_whole
from mdfuzzy.frames._readers import Piece
from mdfuzzy.frames._selection import Bonds, Torsions, check_indices, select_atoms, warn_of_pitfalls

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, eq=False)
class Plan:
    """What to take from every frame.

    Attributes
    ----------
    atoms : (m,) int64
        The selected atoms, ascending.
    selection : str
        The same in words.
    torsions : Torsions
        The backbone torsions, which may involve other atoms.
    trees : (bonds, 2) int32
        The bonds along which molecules are put together, from their roots outwards.
    whole : bool or None
        Whether to do that always, never, or where there is a box.
    """

    atoms: np.ndarray
    selection: str
    torsions: Torsions
    trees: np.ndarray
    whole: bool | None

    @cached_property
    def needed(self) -> np.ndarray:
        """All atoms that the result depends on, ascending."""
        return np.unique(np.concatenate([self.atoms, self.torsions.quartets.ravel(), self.trees.ravel()]))

    def _among_needed(self, atoms: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.needed, atoms)

    def makes_whole(self, chunk: "md.Trajectory", piece: Piece) -> bool:
        """Whether the molecules of these frames are to be put together."""
        if self.whole and not has_box(chunk):
            raise InputValueError(
                f"`whole` must not be True for frames without a periodic box; {piece.name} has none. "
                f"Leave it out to make molecules whole where there is a box."
            )
        return self.whole is not False and len(self.trees) > 0 and has_box(chunk)

    def take(
        self, chunk: "md.Trajectory", rows: slice | np.ndarray | list[int], piece: Piece
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return centred coordinates (float64) and torsions (degrees, float32) of some frames of a chunk."""
        import mdtraj as md

        xyz = chunk.xyz[rows][:, self.needed]
        atoms = self._among_needed(self.atoms)
        selected = xyz[:, atoms]
        box = (chunk.unitcell_lengths[rows], chunk.unitcell_angles[rows]) if has_box(chunk) else None
        if box is not None and len(self.trees):
            make_whole(xyz, *box, self._among_needed(self.trees))
            box = None
            if self.makes_whole(chunk, piece):
                selected = xyz[:, atoms]
        selected = selected.astype(np.float64)
        with np.errstate(invalid="ignore"):  # infinite coordinates are reported later, with file and frame
            selected -= np.einsum("nac->nc", selected)[:, None] / len(atoms)
        # Molecules that cannot be put together get torsions by the nearest images of their atoms.
        frames = md.Trajectory(xyz, None, None, *(box or (None, None)))
        quartets = self._among_needed(self.torsions.quartets)
        return selected, np.degrees(md.compute_dihedrals(frames, quartets, periodic=box is not None))


def make_plan(
    topology: "md.Topology",
    atoms: str | npt.ArrayLike | None,
    whole: bool | None,
    *,
    words: str | None = None,
) -> Plan:
    """Decide what to take from frames with a topology, and warn of what may surprise.

    Indices of atoms are called "chosen by index" unless `words` says better where they come from.
    """
    indices, selection = select_atoms(topology, atoms)
    if words is not None:
        selection = f"{words} ({len(indices)} of {topology.n_atoms} atoms)"
    bonds, torsions = Bonds.of(topology), Torsions.of(topology)
    warn_of_pitfalls(topology, indices, bonds)
    trees = bonds.trees(np.union1d(indices, torsions.quartets))
    if whole and len(trees) == 0:
        raise InputValueError(
            "`whole` must not be True if the topology has no bonds. Add them, or leave it out."
        )
    return Plan(indices, selection, torsions, trees, whole)


def make_plan_for_arrays(n_atoms: int, atoms: str | npt.ArrayLike | None, whole: bool | None) -> Plan:
    """Decide what to take from frames without a topology."""
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
    return Plan(indices, words, Torsions(np.empty((0, 4), np.int32), ()), np.empty((0, 2), np.int32), whole)


def warn_of_open_box(chunk: "md.Trajectory", plan: Plan) -> None:
    """Warn if molecules may be divided by the boundary and there are no bonds to put them together."""
    if plan.whole is None and len(plan.trees) == 0 and has_box(chunk):
        warn_user(
            "The frames have a periodic box but the topology has no bonds, so molecules that the boundary "
            "divides stay divided. Give a topology with bonds, or whole=False if all molecules are whole."
        )

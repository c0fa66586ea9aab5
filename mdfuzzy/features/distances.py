"""Distances between atoms, or between the centres of groups of atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_int
from mdfuzzy.features.feature import Columns, Feature, atom_labels
from mdfuzzy.frames.streaming import atoms_of, molecules_of

if TYPE_CHECKING:
    import mdtraj as md

#: The number of distances (frames times pairs) that are computed together.
_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Distances(Feature):
    """Distances in nm between all pairs of some atoms, or between two sets of them.

    Attributes
    ----------
    selection : str or (m,) int array
        The atoms; the alpha carbons by default.
    other : str or (m,) int array, optional
        Atoms of a second set. The distances are then between each atom of one set and each of the other.
    separation : int, optional
        The smallest separation in sequence of two atoms of one chain, in residues. The default is 2 for alpha
        carbons, because the distance between neighbours hardly varies, and otherwise 0.
    pairs : (p, 2) int array, optional
        The two atoms of each distance, instead of a selection.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> mf.features.Distances(selection="name O").bind(frame).names
    ('ACE1-O ALA2-O',)
    """

    kind: ClassVar[str] = "distances"

    selection: str | npt.ArrayLike = "name CA"
    other: str | npt.ArrayLike | None = None
    separation: int | None = None
    pairs: npt.ArrayLike | None = None

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`."""
        topology = first.topology
        pairs = self._pairs(topology) if self.pairs is None else _given(self.pairs, topology)
        labels = atom_labels(topology, pairs)
        names = tuple(f"{labels[a]} {labels[b]}" for a, b in pairs.tolist())
        return Columns(
            names=names,
            unit="nm",
            periods=(None,) * len(names),
            atoms=np.unique(pairs),
            compute=PairDistances(topology, pairs),
        )

    def _pairs(self, topology: md.Topology) -> np.ndarray:
        one = atoms_of(topology, self.selection, name="features")
        residues = np.array([atom.residue.index for atom in topology.atoms])
        chains = np.array([atom.residue.chain.index for atom in topology.atoms])
        two = one if self.other is None else atoms_of(topology, self.other, name="features")
        if self.other is None:
            pairs = np.array(list(combinations(one.tolist(), 2)), np.int32).reshape(-1, 2)
        else:
            a, b = np.meshgrid(one, two, indexing="ij")
            pairs = np.column_stack([a.ravel(), b.ravel()]).astype(np.int32)
            pairs = _different(pairs)
        alpha = self.other is None and all(topology.atom(int(at)).name == "CA" for at in one)
        least = (2 if alpha else 0) if self.separation is None else self.separation
        check_int("separation", least, 0)
        a, b = pairs.T
        pairs = pairs[(chains[a] != chains[b]) | (np.abs(residues[a] - residues[b]) >= least)]
        if len(pairs) == 0:
            raise InputValueError(
                f"`features` must name at least one pair of atoms; got none in {self.selection!r}"
                f"{'' if self.other is None else f' and {self.other!r}'} that are {least} residues apart. "
                "Select more atoms, or give a smaller `separation`."
            )
        return pairs


def _different(pairs: np.ndarray) -> np.ndarray:
    """Return each pair of different atoms once; two sets of atoms that overlap have some in both orders."""
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    _, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    return pairs[np.sort(first)]


@dataclass(frozen=True, kw_only=True)
class GroupDistances(Feature):
    """Distances in nm between the centres of mass of groups of atoms.

    Attributes
    ----------
    groups : sequence of (str or int array)
        The atoms of each group, two groups or more.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> mf.features.GroupDistances(groups=["resname ACE", "resname NME"]).bind(frame).names
    ('resname ACE | resname NME',)
    """

    kind: ClassVar[str] = "groups"

    groups: Sequence[str | npt.ArrayLike] = ()

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`."""
        topology = first.topology
        if isinstance(self.groups, str) or len(self.groups) < 2:
            raise InputValueError(
                f"`features` must have two groups of atoms or more; got {len(self.groups)}. Write them as "
                "'groups:SELECTION | SELECTION', or as `GroupDistances(groups=[...])`."
            )
        atoms = [atoms_of(topology, each, name="features") for each in self.groups]
        words = [each if isinstance(each, str) else f"group {at + 1}" for at, each in enumerate(self.groups)]
        masses = np.array([1.0 if a.element is None else max(a.element.mass, 1e-3) for a in topology.atoms])
        pairs = list(combinations(range(len(atoms)), 2))
        # A group may span molecules. Its atoms are then moved to the images nearest to its first atom.
        molecules = molecules_of(topology)

        def compute(frames: md.Trajectory) -> np.ndarray:
            centres = [_centre(frames, each, masses[each], molecules) for each in atoms]
            import mdtraj as md

            box = frames.unitcell_lengths, frames.unitcell_angles
            points = md.Trajectory(np.stack(centres, axis=1).astype(np.float32), None, None, *box)
            apart = len(np.unique(molecules[np.concatenate(atoms)])) > 1 or topology.n_bonds == 0
            return md.compute_distances(points, np.array(pairs), periodic=apart)

        return Columns(
            names=tuple(f"{words[a]} | {words[b]}" for a, b in pairs),
            unit="nm",
            periods=(None,) * len(pairs),
            atoms=np.unique(np.concatenate(atoms)),
            compute=compute,
        )


def _centre(
    frames: md.Trajectory, atoms: np.ndarray, masses: np.ndarray, molecules: np.ndarray
) -> np.ndarray:
    """Return the centre of mass of a group, (n, 3), by nearest images if it spans several molecules."""
    import mdtraj as md

    xyz = frames.xyz[:, atoms].astype(np.float64)
    if len(np.unique(molecules[atoms])) > 1 and frames.unitcell_lengths is not None:
        pairs = np.column_stack([np.full(len(atoms), atoms[0]), atoms])
        xyz = xyz[:, :1] + md.compute_displacements(frames, pairs, periodic=True)
    return np.einsum("nak,a->nk", xyz, masses / masses.sum())


class PairDistances:
    """Distances of pairs of atoms, by nearest images unless the two belong to one whole molecule.

    Parameters
    ----------
    topology : md.Topology
        The topology of all atoms.
    pairs : (p, 2) int array
        The atoms of each distance.
    """

    def __init__(self, topology: md.Topology, pairs: np.ndarray) -> None:
        molecules = molecules_of(topology)
        self.pairs = pairs.astype(np.int32)
        self.periodic = (molecules[pairs[:, 0]] != molecules[pairs[:, 1]]) | (topology.n_bonds == 0)

    def __call__(self, frames: md.Trajectory) -> np.ndarray:
        """Return the distances in nm, (frames, p) float32."""
        import mdtraj as md

        across = frames.unitcell_lengths is not None and bool(self.periodic.any())
        if not across or self.periodic.all():
            return md.compute_distances(frames, self.pairs, periodic=across)
        found = np.empty((len(frames.xyz), len(self.pairs)), np.float32)
        for each in (False, True):
            of_kind = self.periodic == each
            found[:, of_kind] = md.compute_distances(frames, self.pairs[of_kind], periodic=each)
        return found

    def parts(self, frames: md.Trajectory) -> Sequence[md.Trajectory]:
        """Return the frames in parts, so that the distances of one part fit into the cache."""
        step = max(1, _AT_ONCE // len(self.pairs))
        return [frames[at : at + step] for at in range(0, len(frames.xyz), step)]


def _given(pairs: npt.ArrayLike, topology: md.Topology) -> np.ndarray:
    found = np.asarray(pairs)
    good = found.ndim == 2 and found.shape[1] == 2 and np.issubdtype(found.dtype, np.integer)
    if not good or found.size == 0 or found.min() < 0 or found.max() >= topology.n_atoms:
        raise InputValueError(
            f"`pairs` must be two atoms in [0, {topology.n_atoms - 1}] for each distance; got shape "
            f"{found.shape} and type {found.dtype}."
        )
    return found.astype(np.int32)

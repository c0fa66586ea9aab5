"""Select the atoms to load, with their torsions and bonds, and warn of pitfalls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy._messages import counted, warn_user

if TYPE_CHECKING:
    import mdtraj as md

# fmt: off
_WATER = frozenset((
    "HOH", "WAT", "H2O", "SOL", "TIP", "TIP2", "TIP3", "TIP4", "TIP5", "TIP3P", "TIP4P", "TIP5P", "TP3",
    "TP4", "TP5", "T3P", "T4P", "T5P", "T4E", "T4D", "SPC", "SPCE", "OPC", "OPC3", "OHH", "OH2", "HHO",
    "DOD",
))
#: Ions by the names of their residues, for topologies that take CA (calcium) for carbon.
_IONS = frozenset((
    "LI", "LI+", "LIT", "NA", "NA+", "SOD", "K", "K+", "POT", "RB", "RB+", "RUB", "CS", "CS+", "CES", "MG",
    "MG+", "MG2", "MG2+", "CA", "CA+", "CA2", "CA2+", "CAL", "ZN", "ZN2", "ZN2+", "BA", "BAR", "F", "F-",
    "CL", "CL-", "CLA", "BR", "BR-", "I", "I-", "IOD",
))
# fmt: on
#: A residue of one atom is a bead or an alpha carbon, not an ion, if that atom is one of these.
_BEADS = frozenset({"C", "VS"})
_HYDROGEN = frozenset({"H", "D"})


def select_atoms(
    topology: md.Topology, atoms: str | npt.ArrayLike | None, *, name: str = "atoms", least: int = 3
) -> tuple[np.ndarray, str]:
    """Return the indices of the selected atoms, ascending, and the selection in words.

    Errors call the selection by the `name` of its argument. Fewer than `least` atoms raise an error.
    """
    total = topology.n_atoms
    if atoms is None:
        indices, words = heavy_solute_atoms(topology), "heavy atoms of the solute"
        remedy = "The topology may hold solvent or hydrogens only: select atoms with `atoms`."
    elif isinstance(atoms, str):
        words, remedy = repr(atoms), "Compare with the names in the topology."
        try:
            indices = np.asarray(topology.select(atoms))
        except Exception as error:
            raise InputValueError(
                f"`{name}` must be a selection in the language of mdtraj, such as 'name CA' or 'protein and "
                f"not element H', or an array of atom indices; got {atoms!r}."
            ) from error
    else:
        indices, words, remedy = check_indices(atoms, total, name=name), "chosen by index", ""
    if len(indices) == 0:
        raise InputValueError(
            f"`{name}` must select at least {counted(least, 'atom')}; {words} matches none of {total}. "
            f"{remedy}".strip()
        )
    if len(indices) < least:
        raise InputValueError(
            f"`{name}` must select at least {least} atoms, or a rotation is not determined; "
            f"{words} matches {len(indices)} of {total}."
        )
    return indices.astype(np.int64), f"{words} ({len(indices)} of {total} atoms)"


def check_indices(atoms: npt.ArrayLike, total: int, *, name: str = "atoms") -> np.ndarray:
    """Return an array of atom indices in ascending order, or raise."""
    indices = np.asarray(atoms)
    if indices.ndim != 1 or (indices.size and not np.issubdtype(indices.dtype, np.integer)):
        raise InputTypeError(
            f"`{name}` must be a selection string or a one-dimensional array of atom indices; got an array "
            f"of shape {indices.shape} and type {indices.dtype}. For a mask, pass np.flatnonzero(mask)."
        )
    if indices.size and not 0 <= indices.min() <= indices.max() < total:
        bad = indices[(indices < 0) | (indices >= total)][0]
        raise InputValueError(
            f"`{name}` must be indices in [0, {total - 1}]; got {bad}. There are {total} atoms."
        )
    if len(np.unique(indices)) < len(indices):
        raise InputValueError(f"`{name}` must name each atom once; got an index twice.")
    return np.sort(indices)


def check_residues(topology: md.Topology, atoms: np.ndarray) -> None:
    """Raise if an atom does not belong to a residue."""
    lost = next((i for i in atoms if topology.atom(i).residue is None), None)
    if lost is not None:
        raise InputValueError(
            f"Selected atoms must be part of a residue, which tells what belongs together; atom {lost} "
            f"({topology.atom(lost).name}) is part of none. Give a topology with residues."
        )


def heavy_solute_atoms(topology: md.Topology) -> np.ndarray:
    """Return the atoms that are neither hydrogen, nor water, nor an ion of a single atom."""
    heavy, virtual = [], []
    for residue in topology.residues:
        if is_water(residue):
            continue
        lone = residue.n_atoms == 1
        for atom in residue.atoms:
            symbol = _symbol(atom)
            if lone and (residue.name.upper() in _IONS or symbol not in _BEADS):
                continue
            if symbol == "VS":
                virtual.append(atom.index)
            elif symbol not in _HYDROGEN:
                heavy.append(atom.index)
    return np.array(heavy or virtual, dtype=np.int64)  # beads only where there is nothing else


def is_water(residue: md.core.topology.Residue) -> bool:
    """Return whether a residue is water, by its name."""
    return residue.name.upper() in _WATER


def _symbol(atom: md.core.topology.Atom) -> str:
    return "VS" if atom.element is None else atom.element.symbol


@dataclass(frozen=True)
class Bonds:
    """The bonds of a topology.

    Attributes
    ----------
    pairs : (bonds, 2) int32
        Atom indices.
    molecules : (atoms,) int32
        The molecule of each atom; without bonds, chains count as molecules.
    """

    pairs: np.ndarray
    molecules: np.ndarray

    @classmethod
    def of(cls, topology: md.Topology) -> Bonds:
        """Read the bonds of a topology."""
        pairs = np.array([(a.index, b.index) for a, b in topology.bonds], np.int32).reshape(-1, 2)
        if len(pairs) == 0:
            return cls(pairs, np.array([atom.residue.chain.index for atom in topology.atoms], np.int32))
        return cls._with(pairs, topology.n_atoms)

    def joined(self, topology: md.Topology, atoms: np.ndarray) -> Bonds:
        """Join what belongs to one residue, for the residues of `atoms`: topologies often lack the bonds of
        ligands.
        """
        pairs = []
        known = self.molecules if len(self.pairs) else np.arange(topology.n_atoms)
        for residue in {topology.atom(i).residue for i in atoms}:
            members = np.array([atom.index for atom in residue.atoms])
            first = members[np.unique(known[members], return_index=True)[1]]
            pairs += [(members[0], other) for other in first if other != members[0]]
        more = np.array(pairs, np.int32).reshape(-1, 2)
        return self._with(np.concatenate([self.pairs, more]), topology.n_atoms)

    @classmethod
    def _with(cls, pairs: np.ndarray, n: int) -> Bonds:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        matrix = coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
        return cls(pairs, connected_components(matrix, directed=False)[1])

    def trees(self, atoms: np.ndarray) -> np.ndarray:
        """Return the bonds of a spanning tree of every molecule of `atoms`, from the root outwards, (m, 2).

        In this order, each bond joins an atom at its final position to an atom that has not been moved yet.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import breadth_first_order

        n = len(self.molecules)
        if len(self.pairs) == 0:
            return np.empty((0, 2), np.int32)
        matrix = coo_array((np.ones(len(self.pairs)), self.pairs.T), shape=(n, n)).tocsr()
        bonds = [np.empty((0, 2), np.int32)]
        _, roots = np.unique(self.molecules[atoms], return_index=True)
        for root in atoms[roots]:
            order, parents = breadth_first_order(matrix, root, directed=False)
            bonds.append(np.column_stack([parents[order[1:]], order[1:]]).astype(np.int32))
        return np.ascontiguousarray(np.concatenate(bonds))


@dataclass(frozen=True)
class Torsions:
    """The phi and psi angles of the residues that have both.

    Attributes
    ----------
    quartets : (2 * residues, 4) int32
        The atoms of all phi, then of all psi angles.
    residues : tuple of str
        Labels such as ``"ALA2"``, with the chain in front where several chains have such residues.
    """

    quartets: np.ndarray
    residues: tuple[str, ...]

    @classmethod
    def of(cls, topology: md.Topology) -> Torsions:
        """Find the phi and psi angles of a topology."""
        from mdtraj.geometry.dihedral import indices_phi, indices_psi

        atom = topology.atom
        # The third atom of phi (C, N, CA, C) and the second of psi (N, CA, C, N) is the residue's CA.
        phi = {atom(quartet[2]).residue: quartet for quartet in indices_phi(topology)}
        psi = {atom(quartet[1]).residue: quartet for quartet in indices_psi(topology)}
        both = [residue for residue in phi if residue in psi]
        chains = {residue.chain.index for residue in both}
        labels = tuple(f"{r.chain.index}:{r}" if len(chains) > 1 else str(r) for r in both)
        quartets = [phi[residue] for residue in both] + [psi[residue] for residue in both]
        return cls(np.array(quartets, np.int32).reshape(-1, 4), labels)


def warn_of_pitfalls(
    topology: md.Topology, atoms: np.ndarray, bonds: Bonds, *, aligned: bool = False
) -> None:
    """Warn of selections whose RMSD may mislead the user."""
    molecules = np.unique(bonds.molecules[atoms])
    if len(molecules) > 1 and not aligned:
        kind = "molecules" if len(bonds.pairs) else "chains"
        warn_user(
            f"The selected atoms belong to {len(molecules)} {kind}, so RMSD sees their relative position as "
            f"well. To see one molecule only, select it, for example `atoms='chainid 0 and not element H'`. "
            f"If they are one molecule, the topology lacks bonds between its parts."
        )
    if has_equivalent_hydrogens(topology, atoms, bonds):
        warn_user(
            "The selection contains symmetry-equivalent hydrogens (CH3, NH3, ...); their rotations "
            "create false states. The default selection, the heavy atoms of the solute, avoids it."
        )


def has_equivalent_hydrogens(topology: md.Topology, atoms: np.ndarray, bonds: Bonds) -> bool:
    """Return whether a hydrogen of an atom with three hydrogens is among the selected atoms."""
    chosen = [i for i in atoms if _symbol(topology.atom(i)) in _HYDROGEN]
    if not chosen:
        return False
    hydrogen = np.array([_symbol(atom) in _HYDROGEN for atom in topology.atoms])
    ends = np.concatenate([bonds.pairs, bonds.pairs[:, ::-1]])
    ends = ends[hydrogen[ends[:, 1]]]
    carried = np.bincount(ends[:, 0], minlength=topology.n_atoms)
    return bool(np.isin(ends[carried[ends[:, 0]] >= 3, 1], chosen).any())

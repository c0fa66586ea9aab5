"""Match the atoms of different molecules by residue and name, or by their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, read_only
from mdfuzzy._messages import shorten

if TYPE_CHECKING:
    import mdtraj as md

#: Atoms that residues with different side chains have in common.
_COMMON = frozenset({"N", "CA", "C", "O", "CB"})
#: Amino acids by their names, without caps such as ACE and NME.
_AMINO_ACIDS = frozenset(
    [
        *("ALA", "ARG", "ASN", "ASP", "CYS", "GLN", "GLU", "GLY", "HIS", "ILE", "LEU"),
        *("LYS", "MET", "MSE", "PHE", "PRO", "SER", "THR", "TRP", "TYR", "VAL"),
    ]
)
#: Names of residues that differ only in their protons or bonds.
_SAME = {
    **dict.fromkeys(("HID", "HIE", "HIP", "HSD", "HSE", "HSP"), "HIS"),
    **dict.fromkeys(("CYX", "CYM"), "CYS"),
    **{"ASH": "ASP", "GLH": "GLU", "LYN": "LYS"},
}
#: The smallest number of atoms that have a shape to compare.
_LEAST = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class AtomMatch(ReadOnly):
    """The matched atoms of several molecules.

    Attributes
    ----------
    atoms : dict of str to (m,) int64
        The matched atoms of each molecule, by its name, in the same order for all molecules.
    left_out : dict of str to tuple of str
        The atoms of each molecule that do not have a counterpart in every other molecule.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> top = mf.datasets.alanine_dipeptide(stride=1000).topology
    >>> print(match_atoms({"all": top, "some": top.subset([1, 4, 5, 6, 8])}))
    5 atoms matched
    left out of all: ACE1-CH3, ACE1-O, ALA2-N, ALA2-O, NME3-C
    """

    atoms: dict[str, np.ndarray]
    left_out: dict[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        arrays = {name: read_only(np.asarray(each, np.int64)) for name, each in self.atoms.items()}
        object.__setattr__(self, "atoms", arrays)

    def __len__(self) -> int:
        return len(next(iter(self.atoms.values())))

    def __str__(self) -> str:
        lines = [f"{len(self)} atoms matched"]
        lines += [f"left out of {name}: {shorten(atoms)}" for name, atoms in self.left_out.items() if atoms]
        return "\n".join(lines)


def match_atoms(molecules: "Mapping[str, md.Topology]") -> AtomMatch:
    """Match the atoms of molecules by chain, residue number and name.

    If residues of the same number are of different types, as in a mutant, N, CA, C, O and CB are matched for
    amino acids, and no atoms otherwise. Names of protonation states (HIS, HIE, HID) count as one type.

    Parameters
    ----------
    molecules : mapping of str to md.Topology
        The loaded atoms of each molecule.

    Returns
    -------
    AtomMatch

    Raises
    ------
    ValueError
        If fewer than three atoms match, or two atoms of a molecule have the same residue number and name.
    """
    keys = {name: _keys(name, topology) for name, topology in molecules.items()}
    first, *others = keys
    common = [key for key in keys[first] if all(key in keys[other] for other in others)]
    residues = {
        name: {_place(atom.residue): atom.residue for atom in topology.atoms}
        for name, topology in molecules.items()
    }
    matched = [key for key in common if _stand_for([residues[name][key[:2]] for name in keys], key[2])]
    if len(matched) < _LEAST:
        what = "no atoms" if not matched else f"{len(matched)}"
        examples = "; ".join(f"{name}: {shorten(_names(top))}" for name, top in molecules.items())
        raise InputValueError(
            f"`paths` must hold ensembles with at least {_LEAST} atoms of the same residue number and name; "
            f"got {what} in common ({examples}). Give `atoms` as a dict with the same number of atoms "
            "for each ensemble, in matching order."
        )
    atoms = {name: np.array([keys[name][key] for key in matched]) for name in keys}
    return _match(molecules, atoms)


def match_in_order(molecules: "Mapping[str, md.Topology]") -> AtomMatch:
    """Match the atoms of molecules by their order.

    Raises
    ------
    ValueError
        If the molecules do not have the same number of atoms.
    """
    counts = {name: topology.n_atoms for name, topology in molecules.items()}
    if len(set(counts.values())) > 1:
        words = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise InputValueError(
            f"`atoms` must select the same number of atoms in every ensemble, in matching order; got {words}."
        )
    return _match(molecules, {name: np.arange(count) for name, count in counts.items()})


def _match(molecules: "Mapping[str, md.Topology]", atoms: dict[str, np.ndarray]) -> AtomMatch:
    left_out = {}
    for name, topology in molecules.items():
        rest = set(range(topology.n_atoms)) - set(atoms[name].tolist())
        left_out[name] = tuple(each for at, each in enumerate(_names(topology)) if at in rest)
    return AtomMatch(atoms=atoms, left_out=left_out)


def _names(topology: "md.Topology") -> Sequence[str]:
    return [f"{atom.residue.name}{atom.residue.resSeq}-{atom.name}" for atom in topology.atoms]


def _place(residue: "md.core.topology.Residue") -> tuple[int, int]:
    return residue.chain.index, residue.resSeq


def _keys(name: str, topology: "md.Topology") -> dict[tuple[int, int, str], int]:
    """Return the atoms by chain, residue number and name."""
    found: dict[tuple[int, int, str], int] = {}
    for atom in topology.atoms:
        key = (*_place(atom.residue), atom.name)
        if key in found:
            raise InputValueError(
                f"`paths` must hold molecules whose atoms are told apart by chain, residue number and name; "
                f"got {atom.residue}-{atom.name} twice in {name}. Give `atoms` as a dict with the same "
                "number of atoms for each ensemble, in matching order."
            )
        found[key] = atom.index
    return found


def _stand_for(residues: "Sequence[md.core.topology.Residue]", atom: str) -> bool:
    """Return whether an atom of this name is the same in all residues."""
    names = {_SAME.get(each.name, each.name) for each in residues}
    return len(names) == 1 or (atom in _COMMON and names <= _AMINO_ACIDS)

"""Correct the elements of biomolecules where they were guessed from the names of atoms."""

from typing import TYPE_CHECKING

from mdfuzzy._messages import counted, warn_user

if TYPE_CHECKING:
    import mdtraj as md
    from mdtraj.core.element import Element

#: The elements of amino acids and nucleotides, selenocysteine and selenomethionine included.
_ELEMENTS = {"H", "C", "N", "O", "S", "P", "Se"}
#: The first letters of the names of their atoms, and the elements that they stand for.
_LETTERS = {"H": "H", "D": "H", "C": "C", "N": "N", "O": "O", "S": "S", "P": "P"}


def with_elements_of_names(topology: "md.Topology", name: str) -> "md.Topology":
    """Return a topology in which the atoms of amino acids and nucleotides have their elements.

    A PDB file may lack the column of elements. If its names begin one column too early, too, mdtraj takes CA
    for calcium and HG for mercury. Selections such as "not element H" are then wrong.

    Parameters
    ----------
    topology : md.Topology
        Not changed.
    name : str
        Where it is from, for the warning.

    Returns
    -------
    md.Topology
        The same object if all elements are possible; otherwise a corrected copy.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> top = mf.datasets.alanine_dipeptide(stride=1000).topology
    >>> with_elements_of_names(top, "top") is top
    True
    """
    wrong = [atom.index for atom in topology.atoms if _is_wrong(atom)]
    if not wrong:
        return topology
    from mdtraj.core.element import Element

    first = topology.atom(wrong[0])
    warn_user(
        f"The topology in {name} has impossible elements for {counted(len(wrong), 'atom')} of amino acids or "
        f"nucleotides, such as {first.element.name} for {first.name} of {first.residue}. The elements were "
        "taken from the first letters of the names. A topology with a column of elements avoids this."
    )
    letters = {index: _LETTERS[_letter(topology.atom(index).name)] for index in wrong}
    return _rebuilt(topology, {index: Element.getBySymbol(letter) for index, letter in letters.items()})


def _rebuilt(topology: "md.Topology", elements: "dict[int, Element]") -> "md.Topology":
    """Return a topology with other elements for some atoms.

    `md.Topology.copy` does not suffice: its bonds are between the atoms of the original.
    """
    import mdtraj as md

    new = md.Topology()
    for chain in topology.chains:
        own_chain = new.add_chain(chain.chain_id)
        for residue in chain.residues:
            own = new.add_residue(residue.name, own_chain, residue.resSeq, residue.segment_id)
            for atom in residue.atoms:
                element = elements.get(atom.index, atom.element)
                new.add_atom(atom.name, element, own, serial=atom.serial, formal_charge=atom.formal_charge)
    for bond in topology.bonds:
        first, second = (new.atom(atom.index) for atom in bond)
        new.add_bond(first, second, type=bond.type, order=bond.order)
    return new


def _is_wrong(atom: "md.core.topology.Atom") -> bool:
    """Return whether the element of an atom is none of its residue, but the first letter of its name is."""
    element, residue = atom.element, atom.residue
    if element is None or element.symbol in _ELEMENTS or element.symbol == "VS":  # a virtual site
        return False
    return (residue.is_protein or residue.is_nucleic) and _letter(atom.name) in _LETTERS


def _letter(name: str) -> str:
    return name.lstrip("0123456789'\"")[:1].upper()

"""Convert the topology of an MDAnalysis universe to mdtraj, and guess missing bonds."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy.frames._selection import is_water

if TYPE_CHECKING:
    import mdtraj as md
    from MDAnalysis import AtomGroup, Universe

#: Van der Waals radius in Angstrom (the value of carbon) of elements for which MDAnalysis has none.
_RADIUS = 1.7


def atom_labels(atoms: "AtomGroup") -> np.ndarray:
    """Return the residue and the name of every atom, (n,) str, such as ``"ALA-CA"``."""
    residues, names = _attribute(atoms, "resnames", "UNK"), _attribute(atoms, "names", "X")
    return np.char.add(np.char.add(residues, "-"), names)


def universe_topology(universe: "Universe") -> "md.Topology":
    """Return the topology of a universe, with its atoms in their order.

    Segments become chains. Bonds are those of the universe; where it has none for some atoms they are added
    as for files, by the names in standard residues, and elsewhere by the distances in the current frame.
    """
    topology = _without_bonds(universe.atoms)
    pairs = _own_bonds(universe)
    if len(_unbonded(topology, pairs)):
        topology.create_standard_bonds()
        pairs = _ascending([*pairs, *((a.index, b.index) for a, b in topology.bonds)])
        topology = _without_bonds(universe.atoms)
        pairs = _ascending([*pairs, *_near(universe, topology, _unbonded(topology, pairs))])
    atoms = list(topology.atoms)
    for a, b in pairs:
        topology.add_bond(atoms[a], atoms[b])
    return topology


def _attribute(atoms: "AtomGroup", name: str, default: str) -> np.ndarray:
    """Return an attribute of every atom as text; a default where the universe does not have it."""
    values = np.asarray(getattr(atoms, name, [""] * len(atoms)), dtype=str)
    return np.where(values == "", default, values)


def _without_bonds(atoms: "AtomGroup") -> "md.Topology":
    import mdtraj as md

    topology = md.Topology()
    names, residue_names = _attribute(atoms, "names", "X"), _attribute(atoms, "resnames", "UNK")
    segments, elements = _attribute(atoms, "segids", ""), _elements(atoms)
    numbers = getattr(atoms, "resids", atoms.resindices + 1)
    # A residue ends where the next atom is of another: its atoms stand together here, whatever the universe
    # says, because a part of a topology is ordered by residues.
    new_chain = np.diff(atoms.segindices, prepend=-1) != 0
    new_residue = new_chain | (np.diff(atoms.resindices, prepend=-1) != 0)
    chain = residue = None
    for i, (name, element) in enumerate(zip(names.tolist(), elements, strict=True)):
        if new_chain[i]:
            chain = topology.add_chain(str(segments[i]) if len(segments[i]) == 1 else None)
        if new_residue[i]:
            residue = topology.add_residue(str(residue_names[i]), chain, int(numbers[i]), str(segments[i]))
        topology.add_atom(name, element, residue)
    return topology


def _elements(atoms: "AtomGroup") -> "list[md.element.Element]":
    """Return the element of every atom: as the universe says, else by its name; virtual if that is none."""
    from MDAnalysis.guesser.default_guesser import DefaultGuesser
    from mdtraj.core import element

    guesser, known = DefaultGuesser(None), {}
    symbols, names = _attribute(atoms, "elements", ""), _attribute(atoms, "names", "X")
    found = []
    for symbol, name in zip(symbols.tolist(), names.tolist(), strict=True):
        if (symbol, name) not in known:
            try:
                known[symbol, name] = element.get_by_symbol(symbol or guesser.guess_atom_element(name))
            except KeyError:
                known[symbol, name] = element.virtual
        found.append(known[symbol, name])
    return found


def _own_bonds(universe: "Universe") -> np.ndarray:
    """Return the bonds that a universe has, (m, 2)."""
    from MDAnalysis.exceptions import NoDataError

    try:
        return _ascending(universe.bonds.indices)
    except (NoDataError, AttributeError):  # they were not in its topology
        return _ascending([])


def _ascending(pairs: object) -> np.ndarray:
    """Return each pair of atoms once, the lower one first, (m, 2)."""
    return np.unique(np.sort(np.array(pairs, np.int64).reshape(-1, 2), axis=1), axis=0)


def _unbonded(topology: "md.Topology", pairs: np.ndarray) -> np.ndarray:
    """Return the atoms without any bond that should have one: not in water, nor alone in their residue."""
    bonded = np.zeros(topology.n_atoms, bool)
    bonded[pairs] = True
    residues = (each for each in topology.residues if each.n_atoms > 1 and not is_water(each))
    return np.array([a.index for each in residues for a in each.atoms if not bonded[a.index]], np.int64)


def _near(universe: "Universe", topology: "md.Topology", unbonded: np.ndarray) -> list[tuple[int, int]]:
    """Return the bonds of unbonded atoms by the distances in the current frame, (m, 2).

    Their partners are in the same residue, or in the one before or after it.
    """
    from MDAnalysis.guesser.default_guesser import DefaultGuesser
    from MDAnalysis.guesser.tables import vdwradii
    from mdtraj.core import element

    if len(unbonded) == 0 or not universe.trajectory.ts.has_positions:
        return []
    wanted = {topology.atom(i).residue.index + shift for i in unbonded for shift in (-1, 0, 1)}
    near = [
        atom.index
        for atom in topology.atoms
        if atom.residue.index in wanted and atom.element is not element.virtual
    ]
    group = universe.atoms[near]
    symbols = [topology.atom(i).element.symbol.upper() for i in near]
    # The guesser looks up types, which are elements in some universes and names of a force field in others.
    types = getattr(group, "types", symbols)
    radii = {each: vdwradii.get(symbol, _RADIUS) for each, symbol in zip(types, symbols, strict=True)}
    radii |= {each.upper(): radius for each, radius in radii.items()}
    guesser = DefaultGuesser(universe, box=universe.dimensions, vdwradii=radii)
    found = guesser.guess_bonds(group, group.positions) if near else ()
    lonely = set(unbonded.tolist())
    return [(int(a), int(b)) for a, b in found if a in lonely or b in lonely]

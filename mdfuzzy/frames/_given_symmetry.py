"""Read permutations of the user: cycles of atom names within a residue, or of atom indices."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.frames.symmetry import Equivalence, Symmetry, closure, independent_parts

if TYPE_CHECKING:
    import mdtraj as md

#: The largest group if pairs are superposed, because each permutation is searched.
MOST_SUPERPOSED = 128
#: The largest independent group without superposition, where permutations take little time.
MOST_ALIGNED = 1024
#: The largest group that is counted.
_COUNTED = 20_000
_FORMS = (
    "`symmetry` must be True, 'graph', or permutations: by names within a residue, such as 'C2 C6, C3 C5; N1 "
    "N2', or by atom indices, such as [[(2, 6), (3, 5)], [(8, 9)]]"
)


def most_permutations(superpose: bool) -> int:
    """Return the largest group: of all atoms if pairs are superposed, otherwise of each independent part."""
    return MOST_SUPERPOSED if superpose else MOST_ALIGNED


def residue_words(residue: "md.core.topology.Residue", *, several: bool = False) -> str:
    """Return the name of a residue in words, with its chain if there are several."""
    name = residue.name.capitalize() if residue.is_protein else residue.name
    return f"{residue.chain.index}:{name} {residue.resSeq}" if several else f"{name} {residue.resSeq}"


def check_cycles(wanted: object) -> list[list[list[int]]]:
    """Return permutations, each a list of cycles of atom indices, or raise."""
    if not isinstance(wanted, Sequence) or len(wanted) == 0:
        raise InputTypeError(f"{_FORMS}; got {wanted!r}.")
    try:
        found = [[[int(index) for index in cycle] for cycle in cycles] for cycles in wanted]
        same = all(
            isinstance(index, int | np.integer) for cycles in wanted for cycle in cycles for index in cycle
        )
    except (TypeError, ValueError):
        same = False
    if not same:
        raise InputTypeError(f"{_FORMS}; got {wanted!r}.")
    return found


def given_symmetry(
    wanted: "str | Sequence[Sequence[Sequence[int]]]",
    topology: "md.Topology | None",
    atoms: np.ndarray,
    *,
    superpose: bool,
) -> Symmetry:
    """Return the symmetry that permutations generate, or raise; see `find_symmetry`."""
    if isinstance(wanted, str):
        assert topology is not None, "this was checked"
        each = _by_name(wanted, topology, atoms)
    else:
        each = check_cycles(wanted)
    generators = [_permutation(cycles, topology, atoms) for cycles in each]
    parts, most = [], most_permutations(superpose)
    for places, members in _overlapping(generators):
        inner = [np.searchsorted(places, generator[places]).tolist() for generator in members]
        found = closure(inner, _COUNTED)
        _check_size(None if found is None else len(found), most)
        assert found is not None, "this was checked"
        for own in independent_parts(found):
            actions = np.searchsorted(own, np.unique(found[:, own], axis=0))
            parts.append(Equivalence(places[own], actions, _words(places[own], topology, atoms)))
    if superpose:
        _check_size(prod(map(len, parts)), most)
    return Symmetry(tuple(parts), len(atoms))


def _check_size(size: int | None, most: int) -> None:
    if size is None or size > most:
        got = f"more than {_COUNTED:,}" if size is None else f"{size:,}"
        raise InputValueError(
            f"`symmetry` must give a group of at most {most:,} permutations; got {got}. Leave some of the "
            "permutations out."
        )


def _by_name(text: str, topology: "md.Topology", atoms: np.ndarray) -> list[list[list[int]]]:
    """Return the permutations of 'C2 C6, C3 C5; N1 N2' in every residue that has such atoms."""
    chosen: dict[object, dict[str, int]] = {}
    for index in atoms:
        atom = topology.atom(index)
        chosen.setdefault(atom.residue, {})[atom.name] = int(index)
    found = []
    for permutation in text.split(";"):
        cycles = [cycle.split() for cycle in permutation.split(",")]
        if any(len(cycle) < 2 for cycle in cycles):
            raise InputValueError(f"{_FORMS}; got {text!r}, where {permutation.strip()!r} exchanges nothing.")
        here = [
            [[own[name] for name in cycle] for cycle in cycles]
            for own in chosen.values()
            if all(name in own for cycle in cycles for name in cycle)
        ]
        if not here:
            raise InputValueError(
                f"`symmetry` must name selected atoms of one residue; no residue has all of "
                f"{permutation.strip()!r}. Compare with the names in the topology."
            )
        found += here
    return found


def _permutation(cycles: list[list[int]], topology: "md.Topology | None", atoms: np.ndarray) -> np.ndarray:
    """Return cycles of atoms as a permutation of the loaded ones, or raise."""
    used = [index for cycle in cycles for index in cycle]
    lost = sorted(set(used) - set(atoms.tolist()))
    if lost:
        raise InputValueError(
            f"`symmetry` must exchange selected atoms; atom {lost[0]} is not among the {len(atoms)} selected."
        )
    if len(set(used)) < len(used) or any(len(cycle) < 2 for cycle in cycles) or not cycles:
        raise InputValueError(
            f"`symmetry` must name an atom once in a permutation, and two atoms or more in each cycle; got "
            f"{cycles}."
        )
    generator = np.arange(len(atoms))
    for cycle in cycles:
        places = np.searchsorted(atoms, cycle)
        if topology is not None:
            symbols = {str(topology.atom(index).element) for index in cycle}
            if len(symbols) > 1:
                names = " and ".join(str(topology.atom(index)) for index in cycle)
                raise InputValueError(
                    f"`symmetry` must exchange atoms of the same element; got {names}. Correct the names or "
                    "indices."
                )
        generator[places] = np.roll(places, -1)
    return generator


def _overlapping(generators: list[np.ndarray]) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Return the generators in sets that move different atoms, with the places of these, ascending."""
    sets: list[tuple[set[int], list[np.ndarray]]] = []
    for generator in generators:
        moved = set(np.flatnonzero(generator != np.arange(len(generator))).tolist())
        members, apart = [generator], []
        for other, others in sets:
            if moved & other:
                moved |= other
                members += others
            else:
                apart.append((other, others))
        sets = [*apart, (moved, members)]
    return [(np.array(sorted(moved)), members) for moved, members in sets]


def _words(members: np.ndarray, topology: "md.Topology | None", atoms: np.ndarray) -> str:
    if topology is None:
        return "atoms " + "/".join(str(index) for index in atoms[members])
    own = [topology.atom(index) for index in atoms[members]]
    return f"{residue_words(own[0].residue)}: " + "/".join(atom.name for atom in own)

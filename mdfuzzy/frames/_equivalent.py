"""Find the symmetry of the loaded atoms from their bonds or from given permutations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy._messages import counted, warn_user
from mdfuzzy.frames._automorphisms import find_fragments
from mdfuzzy.frames._given_symmetry import check_cycles, given_symmetry, most_permutations, residue_words
from mdfuzzy.frames.symmetry import Equivalence, Symmetry

if TYPE_CHECKING:
    import mdtraj as md

    #: What `load` takes: whether to look for equivalent atoms, permutations, or those of other frames.
    Wanted: TypeAlias = bool | Literal["graph"] | str | Sequence[Sequence[Sequence[int]]] | Symmetry | None

#: The number of frames from which bonds and handedness are determined.
FRAMES = 25
_SAFE = "backbone or name CB"
_HYDROGEN = frozenset({"H", "D"})


def check_wanted(wanted: "Wanted", *, has_topology: bool) -> None:
    """Raise if `wanted` is not valid for `find_symmetry`."""
    if wanted is None or isinstance(wanted, bool | str | Symmetry):
        if not has_topology and (wanted is True or isinstance(wanted, str)):
            raise InputValueError(
                f"`symmetry` must be permutations of atom indices for arrays, which have no bonds; got "
                f"{wanted!r}. Give `top` as well, or for example symmetry=[[(2, 6), (3, 5)]]."
            )
        return
    check_cycles(wanted)


def find_symmetry(
    wanted: "Wanted",
    topology: "md.Topology | None",
    atoms: np.ndarray,
    xyz: np.ndarray,
    vectors: np.ndarray | None,
    *,
    superpose: bool,
) -> Symmetry | None:
    """Return the symmetry of the loaded atoms; None if there is none.

    Parameters
    ----------
    wanted : see `load`
        The symmetry that the user requests.
    topology : md.Topology or None
        Of all atoms.
    atoms : (m,) int64
        The loaded atoms, ascending.
    xyz : (frames, all atoms, 3)
        Some frames, nm.
    vectors : (frames, 3, 3) or None
        Their periodic boxes.
    superpose : bool
        Whether pairs of frames are superposed. If so, the size of the whole group is limited, otherwise the
        size of each part.
    """
    if wanted is None or wanted is False:
        return None
    if isinstance(wanted, Symmetry):
        if wanted.n_atoms != len(atoms):
            raise InputValueError(
                f"`symmetry` must be of the loaded atoms, {len(atoms)}; got one of {wanted.n_atoms} atoms. "
                "Load the same `atoms`."
            )
        return wanted
    if wanted is True or wanted == "graph":
        assert topology is not None, "this was checked"
        return _found(topology, atoms, xyz, vectors, reflections=wanted == "graph", superpose=superpose)
    return given_symmetry(wanted, topology, atoms, superpose=superpose)


def warn_of_equivalent(
    topology: "md.Topology", atoms: np.ndarray, xyz: np.ndarray, vectors: np.ndarray | None
) -> None:
    """Warn of equivalent heavy atoms that are not exchanged, with one residue of each kind as example."""
    chosen: dict[md.core.topology.Residue, list[int]] = {}
    for index in atoms:
        atom = topology.atom(index)
        if atom.element is not None and atom.element.symbol not in _HYDROGEN:
            chosen.setdefault(atom.residue, []).append(int(index))
    kinds: dict[tuple[str, ...], list[int]] = {}
    for residue, members in chosen.items():
        kinds.setdefault((residue.name, *(topology.atom(index).name for index in members)), members)
    sample = np.array(sorted(index for members in kinds.values() for index in members), np.int64)
    found = sorted(
        {
            residue.name
            for residue, fragment in find_fragments(topology, sample, xyz, vectors)
            if fragment.groups(reflections=False)
        }
    )
    if found:
        warn_user(
            f"The selection contains symmetry-equivalent atoms of {', '.join(found)}, which a rotation "
            f"exchanges; such flips create false states. With `symmetry` such frames count as the same; "
            f"`atoms` such as {_SAFE!r} avoid it."
        )


def _found(
    topology: "md.Topology",
    atoms: np.ndarray,
    xyz: np.ndarray,
    vectors: np.ndarray | None,
    *,
    reflections: bool,
    superpose: bool,
) -> Symmetry | None:
    place = {int(index): at for at, index in enumerate(atoms)}
    fragments = find_fragments(topology, atoms, xyz, vectors)
    chains = {residue.chain.index for residue, _ in fragments}
    parts, weights, left = [], [], []
    for residue, fragment in fragments:
        head = residue_words(residue, several=len(chains) > 1)
        own = [topology.atom(index) for index in fragment.atoms]
        names = [atom.name for atom in own]
        symbols = ["" if atom.element is None else atom.element.symbol for atom in own]
        for places, group in fragment.groups(reflections=reflections):
            words = f"{head}: {fragment.describe(places, names, symbols)}"
            if group is None:
                left.append(f"{words} (too many permutations)")
                continue
            members = np.array([place[int(index)] for index in fragment.atoms[places]])
            parts.append(Equivalence(members, group, words))
            here = fragment.xyz[:, places]
            weights.append(float(np.square(here[:, group[1:]] - here[:, None]).sum(axis=(2, 3)).mean()))
    symmetry, beyond = _limited(parts, len(atoms), weights, superpose=superpose)
    left += beyond
    if left and symmetry is None:
        raise InputValueError(
            f"`symmetry` must find a group of at most {most_permutations(superpose):,} permutations; got "
            f"{'; '.join(left)}. Select fewer `atoms`, such as no hydrogens, or give permutations."
        )
    if left and superpose:
        warn_user(
            f"`symmetry` leaves out equivalent atoms, as more than {most_permutations(True):,} permutations "
            f"are too many: {'; '.join(left)}. They count as different atoms. Select fewer `atoms`, or "
            f"superpose on others (`align`), where the limit is for each group alone."
        )
    elif left:
        warn_user(
            f"`symmetry` leaves out equivalent atoms with more than {most_permutations(False):,} "
            f"permutations: {'; '.join(left)}. They count as different atoms. Select fewer `atoms`."
        )
    return symmetry


def _limited(
    parts: list[Equivalence], n_atoms: int, weights: list[float], *, superpose: bool
) -> tuple[Symmetry | None, list[str]]:
    """Return the parts within the size limit, the largest weights first, and the others in words."""
    kept, left, order = [], [], 1
    for at in sorted(range(len(parts)), key=lambda at: (-weights[at], at)):
        size = len(parts[at])
        if size * (order if superpose else 1) > most_permutations(superpose):
            left.append(at)
        else:
            kept.append(at)
            order *= size
    words = [f"{parts[at].words} ({counted(len(parts[at]), 'permutation')})" for at in sorted(left)]
    if not kept:
        return None, words
    return Symmetry(tuple(parts[at] for at in sorted(kept)), n_atoms, tuple(words)), words

"""Permutations of symmetry-equivalent atoms, as a product of small independent groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from mdfuzzy._check import ReadOnly, read_only
from mdfuzzy.frames.superposition import rotations_onto

#: The number of frames whose images are compared together.
_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Equivalence(ReadOnly):
    """Atoms that are exchanged together, independently of all others.

    Attributes
    ----------
    members : (m,) int64
        The atoms, ascending.
    permutations : (g, m) int64
        A group of permutations. Each row gives, for every member, the index in `members` of the atom that
        takes its place. The first row is the identity.
    words : str
        A description of the atoms, such as ``"Phe 2: ring"``.
    """

    members: np.ndarray
    permutations: np.ndarray
    words: str

    def __post_init__(self) -> None:
        for name in ("members", "permutations"):
            object.__setattr__(self, name, read_only(np.ascontiguousarray(getattr(self, name), np.int64)))

    def __len__(self) -> int:
        return len(self.permutations)


@dataclass(frozen=True, eq=False)
class Symmetry(ReadOnly):
    """Permutations of equivalent atoms that leave the meaning of a frame unchanged.

    The distance between two frames is the least over all permutations. `load` makes them with `symmetry`.

    Attributes
    ----------
    parts : tuple of Equivalence
        Groups that act on different atoms. The permutations are all products of elements of these groups.
    n_atoms : int
        The number of atoms of a frame.
    left_out : tuple of str
        Descriptions of equivalent atoms that are not exchanged, because the group would be too large.

    Examples
    --------
    >>> import numpy as np
    >>> ring = Equivalence(np.array([1, 2]), np.array([[0, 1], [1, 0]]), "Phe 2: ring")
    >>> symmetry = Symmetry((ring,), 4)
    >>> str(symmetry), symmetry.permutations.tolist()
    ('Phe 2: ring; group of 2', [[0, 1, 2, 3], [0, 2, 1, 3]])
    """

    parts: tuple[Equivalence, ...]
    n_atoms: int
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return prod(map(len, self.parts))

    def __str__(self) -> str:
        return f"{', '.join(part.words for part in self.parts)}; group of {len(self):,}"

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same permutations."""
        return isinstance(other, Symmetry) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        found = sorted((tuple(p.members), tuple(sorted(map(tuple, p.permutations)))) for p in self.parts)
        return self.n_atoms, tuple(found)

    @cached_property
    def permutations(self) -> np.ndarray:
        """All permutations, (group, atoms) int64, as the atom that takes the place of each atom; the
        identity is first.
        """
        found = np.tile(np.arange(self.n_atoms), (len(self), 1))
        for row, chosen in enumerate(product(*(range(len(part)) for part in self.parts))):
            for part, number in zip(self.parts, chosen, strict=True):
                found[row, part.members] = part.members[part.permutations[number]]
        return read_only(found)

    def cycles(self, atoms: np.ndarray) -> list[list[list[int]]]:
        """Return the permutations of all parts as cycles of the indices `atoms` of the loaded atoms."""
        found = []
        for part in self.parts:
            indices = atoms[part.members].tolist()
            for permutation in part.permutations[1:].tolist():
                left, cycles = set(range(len(permutation))), []
                while left:
                    cycle = [min(left)]
                    while permutation[cycle[-1]] != cycle[0]:
                        cycle.append(permutation[cycle[-1]])
                    left -= set(cycle)
                    cycles.append([indices[place] for place in cycle])
                found.append([cycle for cycle in cycles if len(cycle) > 1])
        return found

    def nearest_images(self, xyz: np.ndarray, reference: np.ndarray, *, superpose: bool) -> np.ndarray:
        """Return each frame after the permutation that brings it nearest to a reference.

        Parameters
        ----------
        xyz : (n, atoms, 3)
            The frames, centred if they are to be superposed.
        reference : (atoms, 3)
            The reference, centred if the frames are to be superposed.
        superpose : bool
            Whether each permuted frame is superposed on the reference before the two are compared.

        Returns
        -------
        (n, atoms, 3)
            The frames in the same orientation, with equivalent atoms exchanged.
        """
        found = np.empty_like(xyz)
        for first in range(0, len(xyz), _AT_ONCE):
            part = xyz[first : first + _AT_ONCE]
            if superpose:
                found[first : first + len(part)] = self._superposed_images(part, reference)
                continue
            images = part.copy()
            for each in self.parts:  # parts are independent of each other without superposition
                here = part[:, each.members]
                squares = [
                    np.square(here[:, permutation] - reference[each.members]).sum(axis=(1, 2))
                    for permutation in each.permutations
                ]
                best = each.permutations[np.argmin(squares, axis=0)]
                images[:, each.members] = np.take_along_axis(here, best[:, :, None], axis=1)
            found[first : first + len(part)] = images
        return found

    def _superposed_images(self, xyz: np.ndarray, reference: np.ndarray) -> np.ndarray:
        overlaps = []
        for permutation in self.permutations:
            image = xyz[:, permutation].astype(np.float64)
            turned = image @ rotations_onto(image, reference.astype(np.float64))
            overlaps.append(np.einsum("nak,ak->n", turned, reference))
        best = self.permutations[np.argmax(overlaps, axis=0)]
        return np.take_along_axis(xyz, best[:, :, None], axis=1)


def closure(generators: Sequence[Sequence[int]], most: int) -> np.ndarray | None:
    """Return the group that permutations generate, identity first; None if it has more than `most`.

    Examples
    --------
    >>> closure([[1, 2, 0]], 10).tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    >>> closure([[1, 2, 0], [1, 0, 2]], 5) is None
    True
    """
    identity = tuple(range(len(generators[0])))
    found, waiting = {identity: None}, [identity]
    while waiting:
        known = waiting.pop()
        for generator in generators:
            new = tuple(known[place] for place in generator)
            if new not in found:
                if len(found) == most:
                    return None
                found[new] = None
                waiting.append(new)
    return np.array(sorted(found), np.int64)


def independent_parts(group: np.ndarray) -> list[np.ndarray]:
    """Return the smallest sets of indices such that a group of permutations, (g, m), is the product of its
    actions on each set.

    Examples
    --------
    >>> group = closure([[1, 0, 2, 3, 4], [0, 1, 3, 2, 4]], 10)
    >>> [places.tolist() for places in independent_parts(group)]
    [[0, 1], [2, 3]]
    """
    orbits: list[np.ndarray] = []
    for place in range(group.shape[1]):
        orbit = np.unique(group[:, place])
        if orbit[0] == place and len(orbit) > 1:
            orbits.append(orbit)
    joined = list(orbits)
    at = 0
    while at < len(joined):
        for other in range(at + 1, len(joined)):
            both = np.concatenate([joined[at], joined[other]])
            if _size(group, both) < _size(group, joined[at]) * _size(group, joined[other]):
                joined[at] = both
                del joined[other]
                at = -1
                break
        at += 1
    if joined and prod(_size(group, places) for places in joined) > len(group):
        return [np.sort(np.concatenate(joined))]  # pairwise independent only
    return [np.sort(places) for places in joined]


def _size(group: np.ndarray, places: np.ndarray) -> int:
    """Return the number of different actions on some places."""
    return len(np.unique(group[:, places], axis=0))

"""Find equivalent atoms of a residue by automorphisms of its bonded graph, with or without reflections."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy.frames._generators import automorphism_generators
from mdfuzzy.frames.symmetry import closure, independent_parts

if TYPE_CHECKING:
    import mdtraj as md

#: The largest group that is enumerated.
MOST = 20_000
#: Two atoms without a bond in the topology are bonded if they are nearer than this share of the sum of their
#: van der Waals radii, as in VMD.
BOND = 0.6
#: The volume spanned by unit vectors to three neighbours of an atom is 0 for flat atoms and 0.77 for
#: tetrahedral ones; half-way lies the border. Averaged over frames, as flat atoms vibrate.
FLAT = 0.38
_HYDROGEN = frozenset({"H", "D"})


@dataclass(frozen=True, eq=False)
class Fragment:
    """The heavy atoms of a residue, with the selected ones of its hydrogens.

    Attributes
    ----------
    atoms : (m,) int64
        Atoms of the topology.
    xyz : (frames, m, 3) float64
        The coordinates of the atoms in some frames, in nm, with whole molecules.
    edges : (bonds, 2) int64
        The bonds between the atoms, as pairs of indices.
    colors : tuple
        Atoms of different colours are not equivalent.
    selected : (m,) bool
        Whether each atom is compared.
    inverting : (m,) bool
        Atoms whose three neighbours do not keep their handedness: amines.
    """

    atoms: np.ndarray
    xyz: np.ndarray
    edges: np.ndarray
    colors: tuple[object, ...]
    selected: np.ndarray
    inverting: np.ndarray

    @cached_property
    def generators(self) -> np.ndarray:
        """Generators of all automorphisms, (generators, m)."""
        return automorphism_generators(self.edges, self.colors)

    @cached_property
    def volumes(self) -> dict[tuple[int, int, int, int], float]:
        """The mean volume that an atom spans with each three of its neighbours, these in ascending order.

        Only of atoms that keep the handedness of their neighbours: tetrahedral ones, not flat ones.
        """
        neighbors: list[list[int]] = [[] for _ in self.atoms]
        for a, b in self.edges.tolist():
            neighbors[a].append(b)
            neighbors[b].append(a)
        found = {}
        for center, around in enumerate(neighbors):
            if self.inverting[center] and len(around) == 3:
                continue
            away = self.xyz[:, sorted(around)] - self.xyz[:, center : center + 1]
            away /= np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-9)
            for places in combinations(range(len(around)), 3):
                volume = float(np.linalg.det(away[:, places]).mean())
                a, b, c = (sorted(around)[place] for place in places)
                found[center, a, b, c] = volume
        # Equal for equivalent atoms; otherwise the permutations that keep handedness might not form a group.
        orbit = self._orbits
        sizes: dict[int, list[float]] = {}
        for (center, *_), volume in found.items():
            sizes.setdefault(orbit[center], []).append(abs(volume))
        return {key: volume for key, volume in found.items() if np.mean(sizes[orbit[key[0]]]) > FLAT}

    @cached_property
    def _orbits(self) -> list[int]:
        """Return a number for each atom, the same for equivalent atoms."""
        orbit = list(range(len(self.atoms)))

        def top(place: int) -> int:
            while orbit[place] != place:
                place = orbit[place]
            return place

        for generator in self.generators.tolist():
            for place, image in enumerate(generator):
                orbit[top(image)] = top(place)
        return [top(place) for place in range(len(orbit))]

    def keeps_chirality(self, permutation: np.ndarray) -> bool:
        """Return whether every tetrahedral atom keeps the handedness of its neighbours."""
        for (center, *around), volume in self.volumes.items():
            images = [int(permutation[place]) for place in around]
            a, b, c = sorted(images)
            other = self.volumes.get((int(permutation[center]), a, b, c))
            if other is None or min(abs(volume), abs(other)) < 0.5 * FLAT:
                continue
            even = images in ([a, b, c], [b, c, a], [c, a, b])
            if volume * (other if even else -other) < 0:
                return False
        return True

    def _together(self, reflections: bool) -> list[np.ndarray]:
        """Return the generators in sets that act on different atoms, and on different tetrahedral ones."""
        sets: list[tuple[set[int], list[np.ndarray]]] = []
        for generator in self.generators:
            moved = set(np.flatnonzero(generator != np.arange(len(generator))).tolist())
            touched = set(moved)
            if not reflections:
                touched |= {len(self.atoms) + key[0] for key in self.volumes if moved.intersection(key)}
            members = [generator]
            apart = []
            for other, others in sets:
                if touched & other:
                    touched |= other
                    members += others
                else:
                    apart.append((other, others))
            sets = [*apart, (touched, members)]
        return [np.array(members) for _, members in sets]

    def groups(self, *, reflections: bool) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Return indices of selected atoms and the group that acts on them, (g, m); None if it is too large.

        The groups are independent of each other; groups that move no selected atom are omitted.
        """
        found: list[tuple[np.ndarray, np.ndarray | None]] = []
        for generators in self._together(reflections):
            moved = (generators != np.arange(len(self.atoms))).any(axis=0) & self.selected
            if not moved.any():
                continue
            group = closure(generators.tolist(), MOST)
            if group is None:
                found.append((np.flatnonzero(moved), None))
                continue
            if not reflections:
                group = np.array([each for each in group if self.keeps_chirality(each)])
            seen = np.unique(np.where(self.selected, group, np.arange(group.shape[1])), axis=0)
            for places in independent_parts(seen):
                actions = np.unique(group[:, places], axis=0)
                found.append((places, np.searchsorted(places, actions)))
        return found

    def describe(self, places: np.ndarray, names: list[str], symbols: list[str]) -> str:
        """Return a description of some atoms in words."""
        import networkx

        chosen = [symbols[place] for place in places]
        if set(chosen) <= _HYDROGEN:
            return "hydrogens " + "/".join(names[place] for place in places)
        graph = networkx.Graph(self.edges.tolist())
        heavy = [int(place) for place in places if symbols[place] not in _HYDROGEN]
        if len(heavy) > 2 and {*heavy} <= {place for ring in networkx.cycle_basis(graph) for place in ring}:
            return "ring"
        shared = set.intersection(*({*graph[place]} for place in heavy))
        oxygens = len(heavy) == 2 and {symbols[place] for place in heavy} == {"O"}
        if oxygens and any(symbols[place] == "C" for place in shared):
            return "carboxylate"
        return "/".join(names[place] for place in heavy)


def find_fragments(
    topology: "md.Topology", chosen: np.ndarray, xyz: np.ndarray, vectors: np.ndarray | None
) -> list[tuple["md.core.topology.Residue", Fragment]]:
    """Return the residues with more than one selected atom, as fragments.

    Parameters
    ----------
    topology : md.Topology
        The topology of all atoms.
    chosen : (m,) int64
        The atoms that are compared.
    xyz : (frames, atoms, 3)
        All atoms in some frames, nm.
    vectors : (frames, 3, 3) or None
        Their periodic boxes.
    """
    neighbors: dict[int, set[int]] = {}
    for a, b in topology.bonds:
        neighbors.setdefault(a.index, set()).add(b.index)
        neighbors.setdefault(b.index, set()).add(a.index)
    counts: dict[object, int] = {}
    for index in chosen:
        residue = topology.atom(index).residue
        counts[residue] = counts.get(residue, 0) + 1
    selected = set(chosen.tolist())
    return [
        (residue, _fragment(residue, selected, neighbors, xyz, vectors))
        for residue, count in counts.items()
        if count > 1
    ]


def _symbol(atom: "md.core.topology.Atom") -> str:
    virtual = atom.element is None or atom.element.symbol == "VS"
    return atom.name if virtual else atom.element.symbol


def _fragment(
    residue: "md.core.topology.Residue",
    selected: set[int],
    neighbors: dict[int, set[int]],
    xyz: np.ndarray,
    vectors: np.ndarray | None,
) -> Fragment:
    every = [atom.index for atom in residue.atoms]
    symbols = [_symbol(atom) for atom in residue.atoms]
    here = xyz[:, every].astype(np.float64)
    if vectors is not None:  # to the images nearest to the first atom; a residue is smaller than half a box
        away = here - here[:, :1]
        here = here - np.rint(away @ np.linalg.inv(vectors)) @ vectors
    place = {index: at for at, index in enumerate(every)}
    edges = {(place[a], place[b]) for a in every for b in neighbors.get(a, ()) if b in place and a < b}
    part = _components(len(every), edges)
    if len(set(part)) > 1:  # the topology lacks bonds
        edges |= _bonds_by_distance(residue, here)
        part = _components(len(every), edges)
    heavy = [at for at, symbol in enumerate(symbols) if symbol not in _HYDROGEN or every[at] in selected]
    bare = [0] * len(every)  # hydrogens that are not compared
    for a, b in edges:
        for one, other in ((a, b), (b, a)):
            bare[one] += symbols[other] in _HYDROGEN and every[other] not in selected
    colors = tuple(
        (
            symbols[at],
            bare[at],
            part[at],
            every[at] in selected,
            frozenset(neighbors.get(every[at], ())) - {*every},
        )
        for at in heavy
    )
    number = {at: row for row, at in enumerate(heavy)}
    kept = sorted((number[a], number[b]) for a, b in edges if a in number and b in number)
    return Fragment(
        atoms=np.array(every)[heavy],
        xyz=here[:, heavy],
        edges=np.array(kept, np.int64).reshape(-1, 2),
        colors=colors,
        selected=np.array([every[at] in selected for at in heavy]),
        inverting=np.array([symbols[at] == "N" for at in heavy]),
    )


def _components(count: int, edges: set[tuple[int, int]]) -> list[int]:
    """Return the number of the connected part of each atom."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.array(sorted(edges), np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(pairs)), pairs.T), shape=(count, count))
    found: list[int] = connected_components(matrix, directed=False)[1].tolist()
    return found


def _bonds_by_distance(residue: "md.core.topology.Residue", xyz: np.ndarray) -> set[tuple[int, int]]:
    radii = np.array([0.0 if atom.element is None else atom.element.radius or 0.0 for atom in residue.atoms])
    distances = np.linalg.norm(xyz[:, :, None] - xyz[:, None], axis=-1).mean(axis=0)
    a, b = np.nonzero(np.triu(distances < BOND * (radii[:, None] + radii), k=1))
    return set(zip(a.tolist(), b.tolist(), strict=True))

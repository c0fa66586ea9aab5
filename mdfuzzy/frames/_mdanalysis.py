"""Read MDAnalysis universes and atom groups as pieces of trajectories, with Angstrom converted to nm."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy._messages import warn_user
from mdfuzzy.frames._formats import chunk_frames
from mdfuzzy.frames._mdanalysis_topology import atom_labels, universe_topology
from mdfuzzy.frames._selection import Bonds

if TYPE_CHECKING:
    import mdtraj as md
    from MDAnalysis import AtomGroup, Universe
    from MDAnalysis.core.groups import UpdatingAtomGroup

_ANGSTROM_PER_NM = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class UniversePiece:
    """Frames of a universe; `kept_places` restores the current frame after reading.

    Attributes
    ----------
    data : AtomGroup
        The atoms of a frame: those of the universe, or of the molecules that the selection is part of.
    first, count : int
        Which frames of the universe.
    updating : (UpdatingAtomGroup, (m,) int array) or None
        The selection, if its atoms may change from frame to frame, which is refused, and its atoms when it
        was opened.
    """

    data: "AtomGroup"
    first: int = 0
    count: int
    updating: "tuple[UpdatingAtomGroup, np.ndarray] | None" = None
    path: None = None
    name: str = ""

    @property
    def universe(self) -> "Universe":
        return self.data.universe

    def chunks(self, topology: "md.Topology") -> Iterator["md.Trajectory"]:
        chunk = Chunk(self)
        for _ in self.universe.trajectory[self.first : self.first + self.count]:
            chunk.add()
            if chunk.full:
                yield chunk.finish(topology)
        if len(chunk):
            yield chunk.finish(topology)

    def read(self, topology: "md.Topology", numbers: np.ndarray) -> "md.Trajectory":
        chunk = Chunk(self)
        with kept_places([self.universe]):
            for number in numbers.tolist():
                _ = self.universe.trajectory[number]
                chunk.add()
        return chunk.finish(topology)

    @property
    def n_atoms(self) -> int:
        return len(self.data)

    def topology(self) -> None:
        """Return None, because the topology is made from all universes together."""

    def frame_count(self) -> int:
        return self.count


@dataclass
class Chunk:
    """Frames collected so far, while other code moves through the universe."""

    piece: UniversePiece
    xyz: list[np.ndarray] = field(default_factory=list)
    boxes: list[np.ndarray | None] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        data = self.piece.data
        self._atoms = None if len(data) == len(data.universe.atoms) else data.indices
        self._timed = _has_times(data.universe)
        self._size = chunk_frames(len(data))

    def __len__(self) -> int:
        return len(self.xyz)

    @property
    def full(self) -> bool:
        return len(self) >= self._size

    def add(self) -> None:
        """Take the current frame of the universe."""
        piece, frame = self.piece, self.piece.universe.trajectory.ts
        if not frame.has_positions:
            raise InputValueError(f"{piece.name} has no positions in frame {frame.frame}. Leave it out.")
        group, chosen = piece.updating or (None, np.empty(0))
        if group is not None and not np.array_equal(group.indices, chosen):
            raise InputValueError(
                f"An AtomGroup must hold the same atoms in every frame; {piece.name} is updating, and has "
                f"{len(group)} atoms in frame {frame.frame}, not the {len(chosen)} before. Select without "
                f"updating=True."
            )
        positions = frame.positions if self._atoms is None else frame.positions[self._atoms]
        self.xyz.append(np.divide(positions, _ANGSTROM_PER_NM, dtype=np.float32))
        self.boxes.append(None if frame.dimensions is None else frame.dimensions.astype(np.float32))
        # Integers stand for "no times", as for files without them.
        self.times.append(float(frame.time) if self._timed else len(self.times))

    def finish(self, topology: "md.Topology") -> "md.Trajectory":
        """Return the collected frames and begin again with none."""
        import mdtraj as md

        box: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
        known = [each is not None for each in self.boxes]
        if all(known):
            boxes = np.array(self.boxes)
            box = boxes[:, :3] / _ANGSTROM_PER_NM, boxes[:, 3:]
        elif any(known):
            warn_user(
                f"{self.piece.name} has a periodic box in some frames only, so molecules that the boundary "
                f"divides may stay divided. Set the boxes of all frames by a transformation of the universe."
            )
        frames = md.Trajectory(np.array(self.xyz), topology, np.array(self.times), *box)
        self.xyz, self.boxes, self.times = [], [], []
        return frames


@dataclass(frozen=True)
class Universes:
    """Universes that were opened to be loaded.

    Attributes
    ----------
    trajectories : list of lists of UniversePiece
        The pieces of every trajectory.
    topology : md.Topology
        The atoms that all frames have.
    atoms : (m,) int64 or None
        The selected ones among them; None if whole universes were given.
    """

    trajectories: list[list[UniversePiece]]
    topology: "md.Topology"
    atoms: np.ndarray | None

    @property
    def words(self) -> str | None:
        return None if self.atoms is None else "the AtomGroup"

    def chosen(self, atoms: Any) -> Any:
        """Return the given AtomGroup or else `atoms`; raise if both are given."""
        if self.atoms is None:
            return atoms
        if atoms is not None:
            raise InputTypeError(
                f"`atoms` must not be given with an AtomGroup, which is the selection; got {atoms!r}. Leave "
                f"it out, or pass the universe."
            )
        return self.atoms

    def places(self, align: Any) -> Any:
        """Return an AtomGroup as places among the atoms that all frames have; anything else as it is."""
        if not is_of_mdanalysis(align):
            return align
        known, wanted = self.trajectories[0][0].data.indices, np.sort(align.atoms.indices)
        if not np.isin(wanted, known).all():
            raise InputValueError(
                "`align` must select atoms that all frames have; the AtomGroup holds others. Load universes "
                "of the same atoms, or select atoms in the molecules that are compared."
            )
        return np.searchsorted(known, wanted)


def is_of_mdanalysis(item: object) -> bool:
    """Return whether an item is an object of MDAnalysis, or a list that holds one."""
    if isinstance(item, list | tuple):
        return any(map(is_of_mdanalysis, item))
    kinds = {kind.__module__.partition(".")[0] for kind in type(item).__mro__}
    return "MDAnalysis" in kinds and hasattr(item, "universe")


def open_universes(paths: Any) -> Universes:
    """Return the pieces that universes or atom groups stand for, or raise.

    If all universes have the same atoms, the frames have all of them. Otherwise, for example if one universe
    has more water than another, they have the molecules that the selected atoms belong to.
    """
    items = [
        item if isinstance(item, list | tuple) else [item]
        for item in (paths if isinstance(paths, list | tuple) else [paths])
    ]
    if not all(items):
        raise InputValueError(
            "`paths` must name at least one universe or atom group in every list; got an empty list."
        )
    flat = [item for pieces in items for item in pieces]
    for item in flat:
        check_item(item)
    groups = [item.atoms for item in flat]
    whole = [item is item.universe for item in flat]
    if any(whole) and not all(whole):
        raise InputTypeError(
            "`paths` must hold universes only, or atom groups only; got both. Select atoms of every "
            "universe, or pass `group.universe`."
        )
    systems, topology, atoms = _systems(groups)
    waiting = iter(systems)
    trajectories: list[list[UniversePiece]] = []
    for pieces in items:
        name = f"trajectory {len(trajectories)} (an MDAnalysis {type(pieces[0]).__name__})"
        opened = [part for item in pieces for part in _parts(item, next(waiting), name)]
        # A list holds the pieces of one trajectory, as for files; the files of a universe are trajectories.
        trajectories += [opened] if len(pieces) > 1 else [[part] for part in opened]
    return Universes(trajectories, topology, None if all(whole) else atoms)


@contextmanager
def kept_places(universes: "Iterable[Universe]") -> Iterator[None]:
    """Restore the current frames of universes at the end of the block, also after an error."""
    places = {id(universe): (universe.trajectory, universe.trajectory.frame) for universe in universes}
    try:
        yield
    finally:
        for trajectory, frame in places.values():
            _ = trajectory[frame]


def check_item(item: Any) -> None:
    """Raise unless this is a universe or a group of atoms whose frames can be read."""
    if not is_of_mdanalysis(item) or isinstance(item, list | tuple):
        raise InputTypeError(
            f"Universes or atom groups of MDAnalysis must stand alone; got {type(item).__name__}. Load all "
            f"trajectories by MDAnalysis, or all from files."
        )
    if not hasattr(item, "atoms"):
        raise InputTypeError(
            f"`paths` must hold universes or groups of atoms of MDAnalysis; got {type(item).__name__}. "
            f"Use universe.select_atoms(...)."
        )
    if not hasattr(item.universe, "trajectory"):
        raise InputValueError(
            f"A universe must have a trajectory; {item.universe} has none. Make it from a topology and a "
            f"trajectory file, or give it one by load_new(...)."
        )
    group = item.atoms
    if item is not item.universe and len(group) < 3:
        what = "no atoms" if len(group) == 0 else f"{len(group)} atom{'s' * (len(group) > 1)}"
        raise InputValueError(
            f"An AtomGroup must hold at least 3 atoms, or a rotation is not determined; got {what}. Compare "
            f"the selection with the names in the topology."
        )
    if len(group.unique) < len(group):
        raise InputValueError("An AtomGroup must hold each atom once; got an atom twice. Use `group.unique`.")


def _systems(groups: "list[AtomGroup]") -> "tuple[list[AtomGroup], md.Topology, np.ndarray]":
    """Return the atoms that the frames of each group have, their topology, and the selected among them."""
    chosen = [np.sort(group.indices).astype(np.int64) for group in groups]
    labels = {id(group.universe): atom_labels(group.universe.atoms) for group in groups}
    _check_same_labels([labels[id(g.universe)][c] for g, c in zip(groups, chosen, strict=True)], "atoms")
    first = groups[0].universe
    topologies = {id(first): universe_topology(first)}
    if all(np.array_equal(each, chosen[0]) for each in chosen) and all(
        np.array_equal(each, labels[id(first)]) for each in labels.values()
    ):
        return [group.universe.atoms for group in groups], topologies[id(first)], chosen[0]
    systems, within = [], []
    for group, atoms in zip(groups, chosen, strict=True):
        key = id(group.universe)
        if key not in topologies:
            topologies[key] = universe_topology(group.universe)
        molecules = Bonds.of(topologies[key]).molecules
        members = np.flatnonzero(np.isin(molecules, molecules[atoms]))
        systems.append(members)
        within.append(labels[key][members] + np.where(np.isin(members, atoms), " (selected)", ""))
    _check_same_labels(within, "molecules")
    topology = topologies[id(first)].subset(systems[0])
    selected = np.searchsorted(systems[0], chosen[0])
    return [g.universe.atoms[members] for g, members in zip(groups, systems, strict=True)], topology, selected


def _check_same_labels(labels: list[np.ndarray], kind: str) -> None:
    for number, each in enumerate(labels):
        if len(each) != len(labels[0]):
            difference = f"{len(labels[0])} and {len(each)} atoms"
        elif not np.array_equal(each, labels[0]):
            at = int(np.argmax(each != labels[0]))
            difference = f"{labels[0][at]} and {each[at]} as atom {at}"
        else:
            continue
        where = "" if kind == "atoms" else " in the molecules that they are part of"
        raise InputValueError(
            f"All groups must have the same atoms, by residue and name, in the same order; got {difference}"
            f"{where}, in the first and in number {number} (counted from 0). Select the same atoms of the "
            f"same molecule in each, or load them apart."
        )


def _parts(item: "Universe | AtomGroup", system: "AtomGroup", name: str) -> list[UniversePiece]:
    """Return the frames of a universe, by the files that they come from, unless these continue each other."""
    from MDAnalysis.core.groups import UpdatingAtomGroup

    trajectory = item.universe.trajectory
    counts = [reader.n_frames for reader in getattr(trajectory, "readers", [trajectory])]
    if item.universe.kwargs.get("continuous") or sum(counts) != trajectory.n_frames:
        counts = [trajectory.n_frames]
    updating = (item, item.indices) if isinstance(item, UpdatingAtomGroup) else None
    starts = np.cumsum([0, *counts[:-1]]).tolist()
    return [
        UniversePiece(data=system, first=first, count=count, updating=updating, name=name)
        for first, count in zip(starts, counts, strict=True)
    ]


def _has_times(universe: "Universe") -> bool:
    """Return whether the trajectory has times; otherwise MDAnalysis counts frames, with a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _ = universe.trajectory.ts.time
    return not any("no dt information" in str(warning.message) for warning in caught)

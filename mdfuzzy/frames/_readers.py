"""Read pieces of trajectories (files, `md.Trajectory` objects, arrays, universes) as streams of chunks."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_unmasked
from mdfuzzy.frames import _formats
from mdfuzzy.frames._mdanalysis import UniversePiece, is_of_mdanalysis

if TYPE_CHECKING:
    import mdtraj as md
    from MDAnalysis import AtomGroup, Universe

    #: The sources of a piece of a trajectory.
    Item: TypeAlias = str | os.PathLike[str] | md.Trajectory | np.ndarray | Universe | AtomGroup
    #: Trajectories; each may be a list of pieces.
    Items: TypeAlias = Item | Sequence[Item | Sequence[Item]]

_OBJECT_FRAMES = 4096


@dataclass(frozen=True, eq=False)
class FilePiece:
    """The frames of a file."""

    path: str
    data: None = None
    first: int = 0  # the number of its first frame in the source

    @property
    def name(self) -> str:
        return repr(self.path)

    def topology(self) -> md.Topology | None:
        """Return the topology that the file holds, if its format has one."""
        return _formats.read_topology(self.path, name="paths") if _formats.has_topology(self.path) else None

    def chunks(self, topology: md.Topology) -> Iterator[md.Trajectory]:
        return _formats.stream(self.path, topology)

    def read(self, topology: md.Topology, numbers: np.ndarray) -> md.Trajectory:
        return _formats.read_frames(self.path, topology, numbers)

    @property
    def n_atoms(self) -> None:
        return None

    def frame_count(self) -> int | None:
        return _formats.frame_count(self.path)


@dataclass(frozen=True, eq=False)
class TrajectoryPiece:
    """The frames of an `md.Trajectory` of the caller, which is never changed."""

    data: md.Trajectory
    path: None = None
    name: str = ""
    first: int = 0

    def topology(self) -> md.Topology | None:
        return self.data.topology

    def chunks(self, topology: md.Topology | None) -> Iterator[md.Trajectory]:
        for start in range(0, len(self.data.xyz), _OBJECT_FRAMES):
            yield self.read(topology, np.arange(start, min(start + _OBJECT_FRAMES, len(self.data.xyz))))

    def read(self, topology: md.Topology | None, numbers: np.ndarray) -> md.Trajectory:
        import mdtraj as md

        whole = self.data
        box = (
            None if values is None else values[numbers]
            for values in (whole.unitcell_lengths, whole.unitcell_angles)
        )
        return md.Trajectory(whole.xyz[numbers], topology, whole.time[numbers], *box)

    @property
    def n_atoms(self) -> int:
        return self.data.n_atoms

    def frame_count(self) -> int:
        return len(self.data.xyz)


@dataclass(frozen=True, eq=False)
class ArrayPiece:
    """The frames of an array (n, atoms, 3) in nm of the caller, which is never changed."""

    data: np.ndarray
    path: None = None
    name: str = ""
    first: int = 0

    def topology(self) -> None:
        return None

    def chunks(self, topology: md.Topology | None) -> Iterator[md.Trajectory]:
        for start in range(0, len(self.data), _OBJECT_FRAMES):
            yield self.read(topology, np.arange(start, min(start + _OBJECT_FRAMES, len(self.data))))

    def read(self, topology: md.Topology | None, numbers: np.ndarray) -> md.Trajectory:
        import mdtraj as md

        # Centred in float64, because conversion to float32 far from the origin would lose digits.
        xyz = self.data[numbers].astype(np.float64)
        with np.errstate(invalid="ignore"):  # infinite coordinates are reported with file and frame
            xyz -= xyz.mean(axis=1, keepdims=True)
            return md.Trajectory(xyz.astype(np.float32), topology)

    @property
    def n_atoms(self) -> int:
        return self.data.shape[1]

    def frame_count(self) -> int:
        return len(self.data)


Piece = FilePiece | TrajectoryPiece | ArrayPiece | UniversePiece


def open_piece(item: Any, number: int = 0) -> Piece:
    """Return the piece that a path or an object stands for (of trajectory `number`), or raise."""
    if isinstance(item, str | os.PathLike):
        path = os.path.abspath(os.path.expanduser(os.fspath(item)))
        _formats.check_file(path, name="paths")
        return FilePiece(path)
    if isinstance(item, np.ndarray):
        if item.ndim != 3 or item.shape[2] != 3 or not np.issubdtype(item.dtype, np.number):
            raise InputValueError(
                f"`paths` must hold arrays of numbers of shape (frames, atoms, 3) if it holds arrays; "
                f"got shape {item.shape} and type {item.dtype}. Feature vectors go into `Features`."
            )
        check_unmasked("paths", item)
        return ArrayPiece(item, name=f"trajectory {number} (an array)")
    if hasattr(item, "xyz") and hasattr(item, "unitcell_lengths"):
        return TrajectoryPiece(item, name=f"trajectory {number} (an md.Trajectory)")
    if is_of_mdanalysis(item):
        return UniversePiece(data=item, count=item.universe.trajectory.n_frames, name=f"trajectory {number}")
    raise InputTypeError(
        f"`paths` must be a path, an md.Trajectory, an array of shape (frames, atoms, 3), a universe or atom "
        f"group of MDAnalysis, or a list of these; got {type(item).__name__}."
    )


def expand(paths: Items, lengths: npt.ArrayLike | None = None) -> list[list[Piece]]:
    """Return the pieces of every trajectory: globs matched, nested lists as the pieces of one trajectory."""
    if lengths is not None:
        return [[part] for part in _cut(paths, lengths)]
    trajectories: list[list[Piece]] = []
    for item in paths if isinstance(paths, list | tuple) else [paths]:
        if isinstance(item, list | tuple):
            number = len(trajectories)
            trajectories.append([open_piece(match, number) for part in item for match in _match(part)])
        else:
            for match in _match(item):
                trajectories.append([open_piece(match, len(trajectories))])
    if not trajectories or not all(trajectories):
        raise InputValueError("`paths` must name at least one file or object; got an empty list.")
    return trajectories


def _match(item: object) -> Sequence[object]:
    """Return the files that match a glob, in natural order (run2 before run10), or the item itself."""
    if not isinstance(item, str | os.PathLike):
        return [item]
    path = os.path.expanduser(os.fspath(item))
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    matches = glob.glob(path, recursive=True)
    if not matches:
        raise FileNotFoundError(
            f"`paths` must name existing files; got the pattern {path!r}, which matches none."
        )
    return sorted(matches, key=_natural)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(digits or 0), rest) for digits, rest in re.findall(r"(\d+)|(\D+)", name)]


def _cut(array: object, lengths: npt.ArrayLike) -> list[Piece]:
    """Cut one array into trajectories of the given lengths."""
    if not isinstance(array, np.ndarray):
        raise InputTypeError(f"`lengths` is for one array; `paths` is {type(array).__name__}.")
    open_piece(array)
    counts = np.asarray(lengths)
    integers = counts.ndim == 1 and counts.size > 0 and np.issubdtype(counts.dtype, np.integer)
    if not integers or counts.min() < 1 or counts.sum() != len(array):
        raise InputValueError(
            f"`lengths` must be positive ints that sum to the number of frames, {len(array)}; "
            f"got {lengths!r}."
        )
    parts = np.split(array, np.cumsum(counts)[:-1])
    return [open_piece(part, number) for number, part in enumerate(parts)]

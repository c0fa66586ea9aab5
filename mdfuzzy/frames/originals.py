"""Originals: loaded frames as they are in their sources, with all their atoms and their box."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError
from mdfuzzy.frames._formats import chunk_frames, read_topology
from mdfuzzy.frames._periodic import has_box, make_whole
from mdfuzzy.frames._provenance import Source
from mdfuzzy.frames._readers import Piece, open_piece
from mdfuzzy.frames._selection import Bonds

if TYPE_CHECKING:
    import mdtraj as md


class _Loaded(Protocol):
    """What originals need to know of frames; see `Frames`."""

    @property
    def xyz(self) -> np.ndarray: ...
    @property
    def times(self) -> np.ndarray | None: ...
    @property
    def atoms(self) -> np.ndarray | None: ...
    @property
    def sources(self) -> tuple[Source, ...]: ...
    @property
    def top(self) -> "str | md.Topology | None": ...
    @property
    def whole(self) -> bool: ...
    def sources_of(self, indices: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]: ...


#: Up to so many frames of a file for each that is wanted, all of them are read in chunks: single frames take
#: about ten times as long each (XTC files of 22 atoms).
_DENSE = 8


def read_originals(frames: _Loaded, chosen: np.ndarray) -> "md.Trajectory":
    """Return chosen frames, in any order, as they are in their sources.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=10)
    >>> read_originals(frames, np.array([2500, 3])).xyz.shape
    (2, 10, 3)
    """
    import mdtraj as md

    places, numbers = frames.sources_of(chosen)
    topology, trees = _topology_and_trees(frames)
    xyz = np.empty((len(chosen), topology.n_atoms, 3), np.float32)
    boxes = np.full((2, len(chosen), 3), np.nan, np.float32)
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        part = _open(frames, place).read(topology, numbers[rows])
        if has_box(part):
            boxes[0, rows], boxes[1, rows] = part.unitcell_lengths, part.unitcell_angles
        xyz[rows] = part.xyz
    box = (None, None) if np.isnan(boxes).any() else tuple(boxes)
    found = md.Trajectory(xyz, topology, None, *box)
    return _finish(frames, found, chosen, trees)


def stream_originals(frames: _Loaded, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, "md.Trajectory"]]:
    """Yield chosen frames in parts of a few megabytes, as they are in their sources, each read once.

    Parameters
    ----------
    frames : Frames
        With sources.
    chosen : (m,) int array
        Frame numbers, ascending.

    Yields
    ------
    (p,) int array, md.Trajectory
        Some of the frame numbers, and these frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=10)
    >>> parts = list(stream_originals(frames, np.arange(0, 3000, 2)))
    >>> len(parts) > 1, sum(len(part) for _, part in parts)
    (True, 1500)
    """
    places, numbers = frames.sources_of(chosen)
    topology, trees = _topology_and_trees(frames)
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        for here, part in _parts(_open(frames, place), topology, numbers[rows]):
            found = chosen[rows[here]]
            yield found, _finish(frames, part, found, trees)


def original_topology(frames: _Loaded) -> "md.Topology":
    """Return the topology of the sources, a copy."""
    assert frames.top is not None, "what has sources and a topology has this"
    return read_topology(frames.top) if isinstance(frames.top, str) else frames.top.copy()


def _topology_and_trees(frames: _Loaded) -> "tuple[md.Topology, np.ndarray | None]":
    """Return the topology of the sources, and the bonds along which molecules are made whole, if they are."""
    topology = original_topology(frames)
    return topology, Bonds.of(topology).trees(_atoms(frames, topology)) if frames.whole else None


def _atoms(frames: _Loaded, topology: "md.Topology") -> np.ndarray:
    return np.arange(topology.n_atoms) if frames.atoms is None else frames.atoms


def _open(frames: _Loaded, place: int) -> Piece:
    source = frames.sources[place]
    return open_piece(source.path if source.path is not None else source.data)


def _parts(
    piece: Piece, topology: "md.Topology", numbers: np.ndarray
) -> Iterator[tuple[slice, "md.Trajectory"]]:
    """Yield frames of ascending numbers of a source in parts, and which of the numbers they are."""
    if piece.path is None or numbers[-1] - numbers[0] >= _DENSE * len(numbers):
        size = chunk_frames(topology.n_atoms)
        for start in range(0, len(numbers), size):
            here = slice(start, min(start + size, len(numbers)))
            yield here, piece.read(topology, numbers[here])
        return
    begin = 0
    for chunk in piece.chunks(topology):
        here = slice(*np.searchsorted(numbers, [begin, begin + len(chunk.xyz)]))
        if here.start < here.stop:
            yield here, chunk.slice(numbers[here] - begin)
        begin += len(chunk.xyz)
        if begin > numbers[-1]:
            return
    raise InputValueError(
        f"{piece.name} was changed since its frames were loaded: frame {numbers[-1]} is no longer in it. "
        "Load the frames again."
    )


def _finish(
    frames: _Loaded, part: "md.Trajectory", chosen: np.ndarray, trees: np.ndarray | None
) -> "md.Trajectory":
    """Make molecules whole as they were when loaded, check that nothing has changed, and set the times."""
    import mdtraj as md

    box = (part.unitcell_lengths, part.unitcell_angles) if has_box(part) else None
    if trees is not None and box is not None:
        make_whole(part.xyz, *box, trees)
    _check_same(frames, part.xyz[:, _atoms(frames, part.topology)], chosen)
    times = None if frames.times is None else frames.times[chosen]
    return md.Trajectory(part.xyz, part.topology, times, *(box or (None, None)))


def _check_same(frames: _Loaded, xyz: np.ndarray, chosen: np.ndarray) -> None:
    """Raise if coordinates that were read again are not those that were loaded."""
    centred = xyz.astype(np.float64)
    centred -= centred.mean(axis=1, keepdims=True)
    extent = max(1.0, float(np.abs(frames.xyz[chosen]).max()))
    other = np.abs(centred - frames.xyz[chosen]).max(axis=(1, 2)) > 1e-4 * extent
    if other.any():
        frame = chosen[int(np.argmax(other))]
        places, numbers = frames.sources_of([frame])
        raise InputValueError(
            f"{frames.sources[places[0]].path or 'The trajectory'!r} was changed since its frames were "
            f"loaded: frame {numbers[0]} (counted from 0) is another one now. Load the frames again."
        )

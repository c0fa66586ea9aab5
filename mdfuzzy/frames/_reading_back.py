"""Read frames again from their sources with all atoms."""

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.frames._provenance import Source, source_frames

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames._readers import Piece

#: If a file has at most this many frames for each requested one, all are read in chunks, because reading a
#: single frame takes about ten times as long (XTC files of 22 atoms).
_DENSE = 8


def read_back(
    sources: Sequence[Source],
    top: "str | md.Topology",
    chosen: np.ndarray,
    *,
    times: np.ndarray | None,
) -> "md.Trajectory":
    """Return frames with all atoms of their sources and the box.

    Parameters
    ----------
    sources : sequence of Source
        The runs of frames, in order.
    top : path or md.Topology
        The topology of the sources, or the file that holds it.
    chosen : (m,) int64
        The numbers of the requested frames, counted over all sources.
    times : (m,) float64 or None
        The times of these frames in ps.
    """
    import mdtraj as md

    from mdfuzzy.frames._periodic import has_box

    places, numbers = source_frames(sources, chosen)
    topology = source_topology(top)
    xyz = np.empty((len(chosen), topology.n_atoms, 3), np.float32)
    boxes = np.full((2, len(chosen), 3), np.nan, np.float32)
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        part = _open(sources[place]).read(topology, numbers[rows])
        if has_box(part):
            boxes[0, rows], boxes[1, rows] = part.unitcell_lengths, part.unitcell_angles
        xyz[rows] = part.xyz
    box = None if np.isnan(boxes).any() else (boxes[0], boxes[1])
    return md.Trajectory(xyz, topology, times, *(box or (None, None)))


def stream_back(
    sources: Sequence[Source], topology: "md.Topology", chosen: np.ndarray
) -> Iterator[tuple[np.ndarray, "md.Trajectory"]]:
    """Yield ascending frames in parts of a few megabytes, each file read once, and their numbers."""
    places, numbers = source_frames(sources, chosen)
    for place in np.unique(places):
        rows = np.flatnonzero(places == place)
        for here, part in _parts(_open(sources[place]), topology, numbers[rows]):
            yield chosen[rows[here]], part


def source_topology(top: "str | md.Topology") -> "md.Topology":
    """Return the topology of sources, a copy, without the warnings of the first reading."""
    from mdfuzzy.frames._formats import read_topology

    if not isinstance(top, str):
        return top.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read_topology(top)


def _open(source: Source) -> "Piece":
    from mdfuzzy.frames._readers import open_piece

    return open_piece(source.path if source.path is not None else source.data)


def _parts(
    piece: "Piece", topology: "md.Topology", numbers: np.ndarray
) -> Iterator[tuple[slice, "md.Trajectory"]]:
    """Yield frames of a source in parts, with the positions of their numbers in the request."""
    from mdfuzzy.frames._formats import chunk_frames

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

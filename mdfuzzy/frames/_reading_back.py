"""Frames with all their atoms, read again from where they come from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy.frames._provenance import Source, source_frames

if TYPE_CHECKING:
    import mdtraj as md


def read_back(
    sources: Sequence[Source],
    top: "str | md.Topology",
    chosen: np.ndarray,
    *,
    times: np.ndarray | None,
    whole: np.ndarray | None,
) -> "md.Trajectory":
    """Return frames with all atoms of their sources and the box.

    Parameters
    ----------
    sources : sequence of Source
        The runs of frames, in order.
    top : path or md.Topology
        Their topology, or the file that holds it.
    chosen : (m,) int64
        Which frames, numbers over all sources.
    times : (m,) float64 or None
        Their times in ps.
    whole : (atoms,) int64 or None
        Atoms whose molecules are put together across the periodic boundary.
    """
    import mdtraj as md

    from mdfuzzy.frames._formats import read_topology
    from mdfuzzy.frames._periodic import has_box, make_whole
    from mdfuzzy.frames._readers import open_piece
    from mdfuzzy.frames._selection import Bonds

    places, numbers = source_frames(sources, chosen)
    topology = read_topology(top) if isinstance(top, str) else top.copy()
    xyz = np.empty((len(chosen), topology.n_atoms, 3), np.float32)
    boxes = np.full((2, len(chosen), 3), np.nan, np.float32)
    for place in np.unique(places):
        source, rows = sources[place], np.flatnonzero(places == place)
        piece = open_piece(source.path if source.path is not None else source.data)
        part = piece.read(topology, numbers[rows])
        if has_box(part):
            boxes[0, rows], boxes[1, rows] = part.unitcell_lengths, part.unitcell_angles
        xyz[rows] = part.xyz
    box = None if np.isnan(boxes).any() else (boxes[0], boxes[1])
    if whole is not None and box is not None:
        make_whole(xyz, *box, Bonds.of(topology).trees(whole))
    return md.Trajectory(xyz, topology, times, *(box or (None, None)))

"""Locate frames in files, so that another process can read the same coordinates."""

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

import numpy as np

from mdfuzzy.frames._extraction import make_plan
from mdfuzzy.frames._provenance import Source, source_frames
from mdfuzzy.frames._readers import open_piece
from mdfuzzy.frames._reading_back import source_topology
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.trajectories import Trajectories

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, eq=False)
class FrameFiles:
    """The files that frames were loaded from, and the options of loading.

    Attributes
    ----------
    sources : tuple of Source
        The runs of frames, in order.
    top : str or md.Topology
        The topology of the files, or the file that holds it.
    atoms : (atoms,) int64
        The atoms that were loaded.
    whole : bool
        Whether molecules were made whole across the periodic boundary.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=10)
    >>> files = FrameFiles.of(frames)
    >>> bool((files.read(np.array([3, 2500])) == frames.xyz[[3, 2500]]).all())
    True
    """

    sources: tuple[Source, ...]
    top: "str | md.Topology"
    atoms: np.ndarray
    whole: bool

    @classmethod
    def of(cls, frames: Trajectories) -> Optional["FrameFiles"]:
        """Return the files of `frames`; None unless all frames come from files and their coordinates are
        compared unchanged.
        """
        if not isinstance(frames, Frames):
            return None
        paths = [source.path for source in frames.sources]
        if frames.points is not frames.xyz or frames.top is None or frames.atoms is None:
            return None
        if not paths or not all(paths):
            return None
        return cls(frames.sources, frames.top, frames.atoms, frames.whole)

    def are_here(self) -> bool:
        """Return whether this process can access all of the files."""
        paths = {self.top, *(source.path for source in self.sources)}
        return all(os.path.exists(path) for path in paths if isinstance(path, str))

    def read(self, frames: np.ndarray) -> np.ndarray:
        """Return the centred coordinates (m, atoms, 3), float32, of the frames with these numbers."""
        topology = source_topology(self.top)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user was warned when the frames were loaded
            plan = make_plan(topology, self.atoms, None if self.whole else False)
        xyz = np.empty((len(frames), len(self.atoms), 3), np.float32)
        for path, (rows, numbers) in self._places(frames).items():
            piece, begin = open_piece(path), 0
            for chunk in piece.chunks(topology):
                here = slice(*np.searchsorted(numbers, [begin, begin + len(chunk.xyz)]))
                if here.start < here.stop:
                    xyz[rows[here]] = plan.take(chunk, numbers[here] - begin, piece).xyz
                begin += len(chunk.xyz)
                if begin > numbers[-1]:
                    break
        return xyz

    def _places(self, frames: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return, for each file, the `frames` in it and their numbers in the file, ascending."""
        source, numbers = source_frames(self.sources, frames)
        paths = np.array([each.path for each in self.sources])[source]
        places = {}
        for path in np.unique(paths):
            rows = np.flatnonzero(paths == path)
            rows = rows[np.argsort(numbers[rows], kind="stable")]
            places[str(path)] = rows, numbers[rows]
        return places

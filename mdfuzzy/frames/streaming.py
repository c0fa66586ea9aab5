"""Read trajectories once, chunk by chunk, and compute rows of numbers from each frame.

It serves all computations that must not hold all frames in memory: features, covariances, assignments to
states.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_optional_bool
from mdfuzzy.frames._clock import Clock
from mdfuzzy.frames._extraction import make_plan_for_features
from mdfuzzy.frames._formats import has_times, read_topology
from mdfuzzy.frames._periodic import has_box, make_whole
from mdfuzzy.frames._provenance import Source as Source
from mdfuzzy.frames._rows import RowStore
from mdfuzzy.frames._selection import Bonds, Torsions, heavy_solute_atoms, select_atoms
from mdfuzzy.frames._window import Window
from mdfuzzy.frames.loading import check_scratch, fill, open_trajectories, reading_arguments
from mdfuzzy.frames.trajectories import Trajectories

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames._mdanalysis import Universes
    from mdfuzzy.frames._readers import Items, Piece
    from mdfuzzy.frames._rows import Rows, Sink
    from mdfuzzy.frames._topologies import Top
    from mdfuzzy.workers.cluster import Client

#: The number of loaded frames that are processed at a time.
_LOADED = 4096


@dataclass(frozen=True, eq=False)
class Stream:
    """Trajectories opened by `open_stream` and not yet read.

    Attributes
    ----------
    topology : md.Topology
        All atoms of the frames.
    """

    topology: md.Topology
    _trajectories: list[list[Piece]]
    _handle: str | md.Topology | None
    _universes: Universes | None
    _top: Top
    _window: Window
    _atoms: str | npt.ArrayLike | None
    _whole: bool | None
    _progress: bool | None
    _scratch: Path | None = None
    _client: Client | None = None

    def read(
        self, rows: Rows, *, atoms: np.ndarray, sink: Sink | None = None, torsions: bool = True
    ) -> tuple[np.ndarray | None, list[int], dict[str, Any]]:
        """Read every frame once.

        Parameters
        ----------
        rows : callable
            A function that takes an `md.Trajectory` of some frames, with all their atoms, and returns
            (frames, columns) numbers.
        atoms : (m,) int array
            The atoms that `rows` needs; their molecules are made whole across the periodic boundary.
        sink : callable, optional
            A function that takes the number of the trajectory and the rows of its next frames. Rows are then
            not kept.
        torsions : bool
            Whether to keep the backbone torsions as well.

        Returns
        -------
        values : (n, columns) array or None
            The rows of all frames; None if the `sink` took them.
        lengths : list of int
            The number of frames of every trajectory.
        attributes : dict
            Other attributes of the frames, as for `Features`.
        """
        words = None if self._universes is None else self._universes.words
        chosen = self._atoms if self._universes is None else self._universes.chosen(self._atoms)
        plan = make_plan_for_features(self.topology, chosen, self._whole, used=atoms, words=words)
        store = RowStore(plan, self.topology, rows, sink, self._scratch, torsions=torsions)
        fill(
            store, self._trajectories, self._window, top=self._top, handle=self._handle,
            progress=self._progress, client=self._client,
        )  # fmt: skip
        options = {"whole": self._whole, **vars(self._window)}
        reading = reading_arguments(self._trajectories, self._top, self._atoms, None, None, **options)
        if reading is not None:
            reading = {name: reading[name] for name in reading if name not in ("align", "reference")}
        values = store.values() if sink is None else None
        return values, store.lengths, store.attributes(self._handle) | {"reading": reading}

    def first_frame(self) -> md.Trajectory:
        """Return the first frame of the first trajectory, with the molecules of the solute made whole."""
        piece = self._trajectories[0][0]
        frame = next(iter(piece.chunks(self.topology)))[0]
        solute = heavy_solute_atoms(self.topology)
        if self._whole is not False and has_box(frame) and len(solute):
            trees = Bonds.of(self.topology).trees(solute)
            make_whole(frame.xyz, frame.unitcell_lengths, frame.unitcell_angles, trees)
        return frame

    @property
    def lengths(self) -> list[int]:
        """The number of frames to read of every trajectory, if they are evenly spaced in time; at least 1.

        Files that do not say how many frames they have are read once.
        """
        return [max(self._count(pieces) // self._window.stride, 1) for pieces in self._trajectories]

    @property
    def timestep(self) -> float | None:
        """The time in ps between the first two frames to read; None without times, 0 if equal."""
        stride, given = self._window.stride, self._window.timestep
        step = self._clock(self._trajectories[0][0])[1] if given is None else given
        return None if step is None else stride * step

    def _count(self, pieces: list[Piece]) -> int:
        """Return the number of frames of a trajectory in the time window."""
        counts = [
            sum(len(chunk.xyz) for chunk in piece.chunks(self.topology)) if count is None else count
            for piece in pieces
            for count in [piece.frame_count()]
        ]
        total, window = sum(counts), self._window
        if window.begin is None and window.end is None:
            return total
        start, step = self._clock(pieces[0])
        if not step:
            return total
        return len(window.frames(start + step * np.arange(total), total, 0, pieces[0]))

    def _clock(self, piece: Piece) -> tuple[float, float | None]:
        """Return the time of the first frame and the time between frames in ps; None if it is not known."""
        own: list[float] = []
        timed = True
        for chunk in piece.chunks(self.topology):
            timed = has_times(piece.path, chunk.time)
            own += chunk.time[: 2 - len(own)].tolist()
            if len(own) > 1:
                break
        known = np.array(own) if timed else None
        times = Clock(self._window.timestep).times(known, 0, len(own), piece.name)
        if times is None or len(times) < 2:
            return 0.0, None
        return float(times[0]), float(f"{times[1] - times[0]:.6g}")


@dataclass(frozen=True, eq=False)
class LoadedStream:
    """Loaded frames as a stream; frames with sources are read again with all their atoms."""

    frames: Trajectories

    @property
    def topology(self) -> md.Topology:
        """All atoms of the frames."""
        return self.first_frame().topology

    def first_frame(self) -> md.Trajectory:
        """Return the first frame."""
        return self.frames.trajectory([0], atoms="all" if self.frames.sources else "loaded")

    @property
    def lengths(self) -> list[int]:
        """The number of frames of every trajectory."""
        return self.frames.lengths.tolist()

    @property
    def timestep(self) -> float | None:
        """The time between frames in ps; None if it is not known."""
        return self.frames.timestep

    def read(
        self, rows: Rows, *, atoms: np.ndarray, sink: Sink | None = None, torsions: bool = True
    ) -> tuple[np.ndarray | None, list[int], dict[str, Any]]:
        """Read every frame once, as `Stream.read` does."""
        frames, parts = self.frames, []
        starts = np.concatenate([[0], np.cumsum(frames.lengths)])
        for number, (start, end) in enumerate(pairwise(starts.tolist())):
            for part in self._parts(np.arange(start, end)):
                found = np.asarray(rows(part))
                if sink is None:
                    parts.append(found)
                else:
                    sink(number, found)
        names = ("times", "topology", "atoms", "phi", "psi", "residues", "sources", "top", "whole", "weights")
        attributes = {name: getattr(frames, name) for name in names}
        return np.concatenate(parts) if parts else None, frames.lengths.tolist(), attributes

    def _parts(self, chosen: np.ndarray) -> Iterator[md.Trajectory]:
        if self.frames.sources:
            yield from (part for _, part in self.frames.stream(chosen))
            return
        for first in range(0, len(chosen), _LOADED):
            yield self.frames.trajectory(chosen[first : first + _LOADED])


def open_stream(
    paths: Items | Trajectories,
    *,
    top: Top = None,
    atoms: str | npt.ArrayLike | None = None,
    stride: int = 1,
    begin: float | None = None,
    end: float | None = None,
    whole: bool | None = None,
    timestep: float | None = None,
    lengths: Sequence[int] | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    client: Client | None = None,
) -> Stream | LoadedStream:
    """Find trajectories and their topology; the arguments are the same as for `load`."""
    if isinstance(paths, Trajectories):
        given = {"top": top, "atoms": atoms, "begin": begin, "end": end, "whole": whole, "timestep": timestep}
        given |= {"lengths": lengths, "stride": None if stride == 1 else stride}
        for name, value in given.items():
            if value is not None:
                raise InputValueError(
                    f"`{name}` must be left out for frames that are loaded already; got {value!r}. Give it "
                    "to `load`."
                )
        if not paths.has_structures:
            raise InputValueError(
                "`paths` must be frames with a topology; these come from arrays. Give `top` to `load`."
            )
        return LoadedStream(paths)
    window = Window(stride=stride, begin=begin, end=end, timestep=timestep)
    check_optional_bool("whole", whole)
    trajectories, topology, handle, universes = open_trajectories(paths, lengths, top)
    if topology is None:
        raise InputValueError(
            "`top` must be given for arrays: features are computed from atoms that have names. For arrays of "
            "features use `Features`."
        )
    place = check_scratch(scratch)
    return Stream(
        topology, trajectories, handle, universes, top, window, atoms, whole, progress, place, client
    )


def atoms_of(topology: md.Topology, selection: str | npt.ArrayLike | None, *, name: str) -> np.ndarray:
    """Return the atoms of a selection, ascending; by default the heavy atoms of the solute."""
    return select_atoms(topology, selection, name=name, least=1)[0]


def topology_of(path: str) -> md.Topology:
    """Return the topology in a file."""
    return read_topology(path)


def backbone_residues(topology: md.Topology) -> tuple[str, ...]:
    """Return the labels of the residues that have phi and psi."""
    return Torsions.of(topology).residues


def molecules_of(topology: md.Topology) -> np.ndarray:
    """Return the molecule of every atom, (atoms,) int; without bonds, chains count as molecules."""
    return Bonds.of(topology).molecules

"""Collect loaded frames in growing columns, trajectory by trajectory and chunk by chunk."""

import logging
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy._messages import warn_user
from mdfuzzy.frames._clock import Clock
from mdfuzzy.frames._column import Column
from mdfuzzy.frames._equivalent import FRAMES, find_symmetry, warn_of_equivalent
from mdfuzzy.frames._extraction import Plan, warn_of_open_box
from mdfuzzy.frames._formats import has_times
from mdfuzzy.frames._periodic import box_vectors, has_box, unsound_box
from mdfuzzy.frames._provenance import Source, chosen_sources
from mdfuzzy.frames._readers import Piece
from mdfuzzy.frames._window import Window
from mdfuzzy.frames.aligned import AlignedFrames
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.symmetry import Symmetry

if TYPE_CHECKING:
    import mdtraj as md
    from tqdm import tqdm

logger = logging.getLogger("mdfuzzy")

#: Distances between neighbouring atoms vary by less than this factor in a molecule, but by more with units.
_OTHER_SCALE = 4


class Store:
    """The frames, times and torsions of the trajectories loaded so far."""

    def __init__(self, plan: Plan, topology: "md.Topology | None", scratch: Path | None = None) -> None:
        self.plan = plan
        self.topology = topology
        self.symmetry: Symmetry | None = None  # known from the first frames
        self._begin(scratch)

    def _begin(self, scratch: Path | None) -> None:
        """Hold no frames."""
        plan = self.plan
        self.scratch = scratch
        self.xyz = Column((len(plan.atoms), 3), np.float32, scratch)
        residues = len(plan.torsions.residues)
        self.phi, self.psi = (Column((residues,), np.float32, scratch) for _ in range(2))
        self.times = Column((), np.float64, scratch)
        self.untimed = ""  # the first piece without times
        self.any_times = False
        self.whole = False
        self.moved = 0  # frames with a molecule that was moved to its nearest image
        self.scale: tuple[float, str] | None = None  # between the atoms of the first piece, and its name
        self.scaled: Piece | None = None  # the piece that was compared with it last
        self.spread = False  # whether a frame was seen whose atoms are not all on one line
        self.lengths: list[int] = []
        self.sources: list[Source] = []

    @property
    def count(self) -> int:
        """The number of frames so far."""
        return self.xyz.count

    @property
    def depends_on_first(self) -> bool:
        """Whether the first frames determine how the others are read."""
        fit = self.plan.fit
        return (fit is not None and fit.reference is None) or self.plan.symmetry not in (None, False)

    def empty(self) -> Self:
        """Return a store without frames that reads in the same way, in memory."""
        new = copy(self)
        new._begin(None)
        return new

    def absorb(self, part: Self) -> None:
        """Add the trajectories of another store after those that are here."""
        if self.count == 0:
            self.plan, self.symmetry = part.plan, part.symmetry
        if part.scale is not None:
            self._compare_scale(*part.scale)
        self._absorb_columns(part)
        for mine, other in ((self.phi, part.phi), (self.psi, part.psi)):
            mine.append(other.filled)
        self.any_times |= part.any_times
        self.untimed = self.untimed or part.untimed
        if not self.untimed:
            self.times.append(part.times.filled)
        self.whole |= part.whole
        self.moved += part.moved
        self.spread |= part.spread
        first = len(self.lengths)
        self.sources += [replace(source, trajectory=source.trajectory + first) for source in part.sources]
        self.lengths += part.lengths

    def _absorb_columns(self, part: Self) -> None:
        """Add the numbers that are compared."""
        self.xyz.append(part.xyz.filled)

    def add_trajectory(self, pieces: list[Piece], window: Window, *, clock: Clock, bar: "tqdm") -> None:
        """Read one trajectory; the stride counts over its pieces, without frames that two pieces share."""
        before = self.count
        joined = inside = 0  # frames of this trajectory so far, before the stride: all, and in the window
        last = None  # the last frame of the piece before, and its time
        spans: list[tuple[float, float]] = []  # of the times that were read
        for piece in pieces:
            read, numbers = 0, [np.empty(0, np.int64)]
            stopped = False  # whether all times of the file are equal and so carry no information
            for chunk in piece.chunks(self.topology):
                size, skip = len(chunk.xyz), 0
                times = np.asarray(chunk.time) if has_times(piece.path, chunk.time) else None
                if read == 0 and times is not None and window.timestep is not None:
                    stopped = size > 1 and np.ptp(times) == 0
                if stopped:
                    times = None
                if len(pieces) > 1:
                    self.plan = self.plan.fitted_on_first(chunk, piece)
                    ends = self.plan.take(chunk, [0, -1], piece).xyz
                    if read == 0 and last is not None:
                        skip = int(_is_same(*last, ends[0], None if times is None else times[0]))
                        _warn_of_overlap(last[1], times, piece)
                    last = ends[1], None if times is None else times[-1]
                times = clock.times(times, joined - skip, size, piece.name)
                frames = window.frames(times, size, skip, piece)
                rows = frames[-inside % window.stride :: window.stride]
                if len(rows):
                    numbers.append(piece.first + read + rows)
                    timed = None if times is None else times[rows]
                    self.add(chunk, _as_slice(rows), numbers[-1], timed, piece)
                if times is not None:
                    spans.append((float(times.min()), float(times.max())))
                inside += len(frames)
                joined += size - skip
                read += size
                bar.update(size)
                del chunk  # before the next one is read
                if window.is_past(times):
                    break
            if read == 0:
                raise InputValueError(f"{piece.name} holds no frames: 0 frames could be read. Leave it out.")
            self._add_sources(piece, np.concatenate(numbers))
        if self.count == before:
            window.warn_of_no_frames(pieces, spans)
        else:
            self.lengths.append(self.count - before)

    def _add_sources(self, piece: Piece, numbers: np.ndarray) -> None:
        """Record the source frames that the frames of a piece were taken from."""
        at, data = len(self.lengths), None if self.topology is None else piece.data
        all_of_it = Source(
            path=piece.path,
            trajectory=at,
            first=0,
            stride=1,
            count=int(numbers.max(initial=-1)) + 1,
            data=data,
        )
        self.sources += chosen_sources([all_of_it], numbers, np.arange(at + 1))

    def add(
        self,
        chunk: "md.Trajectory",
        rows: slice | np.ndarray,
        numbers: np.ndarray,
        times: np.ndarray | None,
        piece: Piece,
    ) -> None:
        """Add some frames of a chunk, with their numbers in the source and any times."""
        if self.count == 0 and self.topology is not None:
            warn_of_open_box(chunk, self.plan)
        _check_box(chunk, rows, numbers, piece)
        if times is not None and not np.isfinite(times).all():
            raise InputValueError(
                f"Times must be finite; {piece.name} has NaN or infinite ones in frame "
                f"{numbers[np.argmin(np.isfinite(times))]} (counted from 0). Correct the file, or convert it "
                f"to a format without times and give `timestep`."
            )
        self.whole |= self.plan.makes_whole(chunk, piece)
        self._keep(chunk, rows, numbers, piece)
        self._add_times(times, piece)

    def _keep(
        self, chunk: "md.Trajectory", rows: slice | np.ndarray, numbers: np.ndarray, piece: Piece
    ) -> None:
        """Keep the selected atoms and the backbone torsions of some frames of a chunk."""
        self.plan = self.plan.fitted_on_first(chunk, piece)
        xyz, angles, moved = self.plan.take(chunk, rows, piece)
        self.moved += int(moved.sum())
        # One coordinate that is not finite spoils the centroid, and so the coordinates of all other atoms.
        finite = np.isfinite(xyz[:, 0]).all(axis=1)
        if not finite.all():
            raise InputValueError(
                f"Coordinates must be finite; {piece.name} has NaN or infinite ones in frame "
                f"{numbers[np.argmin(finite)]} (counted from 0). Leave such frames out."
            )
        self._check_scale(xyz[0], piece)
        if self.xyz.count == 0 and self.symmetry is None:
            self._find_symmetry(chunk)
        self.spread = (
            self.spread or self.plan.fit is not None or not _is_line(xyz[:1]).all() or not _is_line(xyz).all()
        )
        self.xyz.append(xyz)
        residues = len(self.plan.torsions.residues)
        self.phi.append(angles[:, :residues])
        self.psi.append(angles[:, residues:])

    def _find_symmetry(self, chunk: "md.Trajectory") -> None:
        """Find the permutations of equivalent atoms in the first frames, or warn of such atoms."""
        plan, few = self.plan, chunk.xyz[:: -(-len(chunk.xyz) // FRAMES)]
        boxes = box_vectors(chunk.unitcell_lengths, chunk.unitcell_angles) if has_box(chunk) else None
        finite = np.isfinite(few).all(axis=(1, 2))
        seen = few[finite], None if boxes is None else boxes[:: -(-len(chunk.xyz) // FRAMES)][finite]
        if not finite.any():
            return  # reported later, with the frame
        if plan.symmetry is None or plan.symmetry is False:
            if plan.symmetry is None and self.topology is not None:
                warn_of_equivalent(self.topology, plan.atoms, *seen)
            return
        superpose = plan.fit is None
        self.symmetry = find_symmetry(plan.symmetry, self.topology, plan.atoms, *seen, superpose=superpose)
        logger.info("equivalent atoms: %s", self.symmetry or "none among those that are compared")

    def _check_scale(self, xyz: np.ndarray, piece: Piece) -> None:
        """Warn if distances between atoms differ from the first piece by a factor as between units."""
        if piece is self.scaled:
            return
        self.scaled = piece
        self._compare_scale(_distance_between_atoms(xyz), piece.name)

    def _compare_scale(self, between: float, name: str) -> None:
        if self.scale is None:
            self.scale = between, name
        elif not 1 / _OTHER_SCALE < between / self.scale[0] < _OTHER_SCALE:
            warn_user(
                f"The atoms of {name} are {between / self.scale[0]:.3g} times as far apart as those of "
                f"{self.scale[1]}. One of the two may be in Angstrom where nm is expected, or the other way "
                f"round: write it again in the right unit."
            )

    def _add_times(self, times: np.ndarray | None, piece: Piece) -> None:
        if times is None:
            self.untimed = self.untimed or piece.name
            return
        self.any_times = True
        if not self.untimed:
            self.times.append(times)

    def _finish_times(self) -> np.ndarray | None:
        """Return the times of all frames; None unless every piece has times."""
        if self.untimed and self.any_times:
            warn_user(
                f"{self.untimed} holds no times, so the times of all frames are dropped. Leave it out, or "
                f"give `timestep`."
            )
        return None if self.untimed else self.times.finish()

    def frames(self, top: "str | md.Topology | None", *, reading: dict[str, object] | None) -> Frames:
        """Return all loaded frames, with the arguments that read them again."""
        plan = self.plan
        times = self._finish_times()
        if not self.spread:
            raise InputValueError(
                f"`atoms` must select atoms that are not all on one line, or a rotation is not determined; "
                f"{plan.selection} are collinear in all {self.xyz.count} frames."
            )
        kind = (
            Frames if plan.fit is None else partial(AlignedFrames, alignment=plan.fit.alignment(self.moved))
        )
        return kind(
            xyz=self.xyz.finish(),
            lengths=np.array(self.lengths),
            times=times,
            topology=None if self.topology is None else self.topology.subset(plan.atoms),
            atoms=plan.atoms,
            selection=plan.selection,
            phi=self.phi.finish() if plan.torsions.residues else None,
            psi=self.psi.finish() if plan.torsions.residues else None,
            residues=plan.torsions.residues,
            masses=plan.masses,
            symmetry=self.symmetry,
            sources=tuple(self.sources),
            top=top,
            whole=self.whole,
            reading=reading,
        )


def _warn_of_overlap(last_time: float | None, times: np.ndarray | None, piece: Piece) -> None:
    """Warn if a piece starts before the end of the previous piece."""
    if last_time is not None and times is not None and times[0] < last_time - 1e-3 - 1e-6 * abs(last_time):
        warn_user(
            f"{piece.name} starts at {times[0]:g} ps, before the end of the piece before it at "
            f"{last_time:g} ps. If the two overlap, frames of that time are loaded twice: cut one of them."
        )


def _as_slice(rows: np.ndarray) -> slice | np.ndarray:
    """Return ascending rows as a slice if their steps are equal, which avoids a copy of the other atoms."""
    steps = np.unique(np.diff(rows))
    return (
        rows if len(steps) > 1 else slice(int(rows[0]), int(rows[-1]) + 1, int(steps[0]) if len(steps) else 1)
    )


def _check_box(chunk: "md.Trajectory", rows: slice | np.ndarray, numbers: np.ndarray, piece: Piece) -> None:
    """Raise if a frame has an invalid periodic box."""
    if (chunk.unitcell_lengths is None) != (chunk.unitcell_angles is None):
        raise InputValueError(
            f"Periodic boxes must have lengths and angles; those of {piece.name} lack one of the two. "
            f"Correct or remove them."
        )
    if chunk.unitcell_lengths is None:
        return
    lengths, angles = chunk.unitcell_lengths[rows], chunk.unitcell_angles[rows]
    missing = lengths == 0
    if missing[0].any() and (missing == missing[0]).all():  # no box, or one in fewer dimensions
        return
    bad = unsound_box(lengths, angles)
    if bad is not None:
        edges = " x ".join(f"{edge:.3g}" for edge in lengths[bad])
        corners = ", ".join(f"{angle:.3g}" for angle in angles[bad])
        raise InputValueError(
            f"Periodic boxes must have a volume and no edge shorter than a bond; {piece.name} has one of "
            f"{edges} nm with angles {corners} in frame {numbers[bad]} (counted from 0). Correct it, or "
            f"leave such frames out."
        )


def _distance_between_atoms(xyz: np.ndarray) -> float:
    """Return the median distance between each atom of a frame and its nearest atom."""
    from scipy.spatial import cKDTree

    if len(xyz) == 1:
        return 1.0  # nothing to compare
    return float(max(np.median(cKDTree(xyz).query(xyz, 2)[0][:, 1]), 1e-30))


def _is_line(xyz: np.ndarray) -> np.ndarray:
    """Whether the atoms of each centred frame are on one line, up to a thousandth of their extent."""
    moments = np.linalg.eigvalsh(np.einsum("nai,naj->nij", xyz, xyz))
    return moments[:, 1] <= 1e-6 * moments[:, 2]


def _is_same(xyz: np.ndarray, time: float | None, next_xyz: np.ndarray, next_time: float | None) -> bool:
    """Return whether two frames agree in time and, within the precision of XTC, in coordinates."""
    if not np.abs(xyz - next_xyz).max() <= 1.5e-3:  # two roundings to 0.001 nm, and that of the centroid
        return False
    return time is None or next_time is None or abs(next_time - time) <= 1e-3 + 1e-6 * abs(time)

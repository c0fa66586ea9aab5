"""Trajectory files that are written frame by frame, as they are read."""

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

if TYPE_CHECKING:
    import mdtraj as md

Format = Literal["xtc", "dcd", "pdb"]


class TrajectoryWriter:
    """A trajectory file to which frames are appended.

    Parameters
    ----------
    path : Path
        The file; its extension is the format, one of `Format`.
    first : int
        The number of frames of the same trajectory in a file before this one.

    Examples
    --------
    >>> import tempfile, mdtraj as md, mdfuzzy as mf
    >>> part = mf.datasets.alanine_dipeptide(stride=100).trajectory([0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.xtc")
    ...     with TrajectoryWriter(path) as file:
    ...         file.append(part[:2])
    ...         file.append(part[2:])
    ...     md.load(path, top=part.topology).n_frames
    3
    """

    def __init__(self, path: Path, *, first: int = 0) -> None:
        import mdtraj as md

        self._kind = path.suffix
        self._file = md.open(str(path), "w")
        self._frames = first

    def append(self, part: "md.Trajectory") -> None:
        """Write frames after those already in the file."""
        if self._kind == ".xtc":
            steps = np.arange(self._frames, self._frames + part.n_frames, dtype=np.int32)
            times = np.asarray(part.time, np.float32)
            self._file.write(part.xyz, time=times, step=steps, box=part.unitcell_vectors)
        else:
            lengths = None if part.unitcell_lengths is None else 10 * part.unitcell_lengths  # angstrom
            if self._kind == ".dcd":
                self._file.write(10 * part.xyz, cell_lengths=lengths, cell_angles=part.unitcell_angles)
            else:
                for place in range(part.n_frames):
                    box = (None, None) if lengths is None else (lengths[place], part.unitcell_angles[place])
                    self._file.write(
                        10 * part.xyz[place],
                        part.topology,
                        modelIndex=self._frames + place,
                        unitcell_lengths=box[0],
                        unitcell_angles=box[1],
                    )
        self._frames += part.n_frames

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

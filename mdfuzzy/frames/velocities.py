"""Read the velocities of frames from the files that they were loaded from."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy.frames import _guarded
from mdfuzzy.frames._formats import extension
from mdfuzzy.frames._provenance import Source, source_frames
from mdfuzzy.frames._records import trr_velocities
from mdfuzzy.frames.trajectories import Trajectories

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup

#: Formats whose velocities are read; the velocities of other formats are ignored.
FORMATS = ("TRR", "GRO", "HDF5 of mdtraj", "NetCDF of AMBER")
_ANGSTROM = 0.1  # nm


def read_velocities(frames: Trajectories, indices: np.ndarray) -> np.ndarray | None:
    """Return the velocities of all atoms of the sources, (m, atoms, 3) in nm/ps.

    None if any of the frames has no velocities. Velocities are read from files in the formats TRR, GRO, HDF5
    (of mdtraj) and NetCDF (of AMBER), and from universes of MDAnalysis.

    Parameters
    ----------
    frames : Frames or Features
        The frames.
    indices : (m,) array of int
        The chosen frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> read_velocities(frames, np.array([3])) is None  # XTC files have none
    True
    """
    if not frames.sources:
        return None
    chosen = np.asarray(indices, np.int64)
    places, numbers = source_frames(frames.sources, chosen)
    parts, rows = [], []
    for place in np.unique(places):
        here = np.flatnonzero(places == place)
        found = _of_source(frames.sources[place], numbers[here])
        if found is None:
            return None
        parts.append(found)
        rows.append(here)
    return np.concatenate(parts)[np.argsort(np.concatenate(rows))]


def _of_source(source: Source, numbers: np.ndarray) -> np.ndarray | None:
    """Return the velocities of frames of a file or an object, (m, atoms, 3); None if any has none."""
    if source.path is None:
        return _of_atoms(source.data, numbers) if hasattr(source.data, "universe") else None
    kind = extension(source.path)
    if kind == ".trr":
        return trr_velocities(source.path, numbers)
    if kind == ".gro":
        return _of_gro(source.path, numbers)
    if kind in {".h5", ".hdf5"}:
        return _guarded.velocities(source.path, numbers)
    if kind in {".nc", ".netcdf", ".ncdf"}:
        return _of_netcdf(source.path, numbers)
    return None


def _of_atoms(atoms: "AtomGroup | Any", numbers: np.ndarray) -> np.ndarray | None:
    from mdfuzzy.frames._mdanalysis import kept_places

    found = []
    with kept_places([atoms.universe]):
        for number in numbers.tolist():
            if not atoms.universe.trajectory[number].has_velocities:
                return None
            found.append(atoms.velocities * _ANGSTROM)
    return np.array(found, np.float32)


def _of_netcdf(path: str, numbers: np.ndarray) -> np.ndarray | None:
    """Read an AMBER file: Angstrom/ps after its scale factor."""
    from scipy.io import netcdf_file

    try:
        with netcdf_file(path, "r", mmap=False, maskandscale=True) as file:
            if "velocities" not in file.variables:
                return None
            found = np.array([file.variables["velocities"][number] for number in numbers])
    except TypeError:  # NetCDF 4, which AMBER does not write
        return None
    return (found * _ANGSTROM).astype(np.float32)


def _of_gro(path: str, numbers: np.ndarray) -> np.ndarray | None:
    wanted = dict.fromkeys(numbers.tolist())
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, lines in enumerate(_gro_frames(file)):
            if number in wanted:
                wanted[number] = found = _gro_velocities(lines)
                if found is None:
                    return None
            if number >= max(wanted):
                break
    return np.array([wanted[number] for number in numbers.tolist()], np.float32)


def _gro_frames(file: Iterator[str]) -> Iterator[list[str]]:
    """Yield the lines of the atoms of each frame."""
    while next(file, None) is not None:
        count = next(file, "").strip()
        if not count.isdigit():
            return
        yield list(islice(file, int(count)))
        next(file, None)


def _gro_velocities(lines: list[str]) -> np.ndarray | None:
    """Return the velocities in the lines of atoms; columns are as wide as between two decimal points."""
    try:
        first = lines[0].index(".", 20)
        width = lines[0].index(".", first + 1) - first
        columns = [slice(20 + width * i, 20 + width * (i + 1)) for i in (3, 4, 5)]
        return np.array([[float(line[column]) for column in columns] for line in lines])
    except (ValueError, IndexError):  # no such columns
        return None

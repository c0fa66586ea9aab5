"""Trajectory files: what each format holds, and their frames in chunks of bounded size."""

import contextlib
import gzip
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy.frames._truncation import netcdf_frames, readable_if_short

if TYPE_CHECKING:
    import mdtraj as md

_HDF5 = frozenset({".h5", ".hdf5"})
_PDB = frozenset({".pdb", ".pdb.gz"})
_NETCDF = frozenset({".nc", ".ncdf", ".netcdf"})

#: Formats that hold the names of their atoms.
_MMCIF = frozenset({".pdbx", ".pdbx.gz", ".cif", ".cif.gz", ".mmcif", ".mmcif.gz"})
_WITH_TOPOLOGY = _HDF5 | _PDB | _MMCIF | {".lh5", ".gro", ".arc", ".gsd", ".mol2", ".hoomdxml"}

#: Formats that `md.iterload` really streams.
_ITERATED = _NETCDF | {
    ".xtc",
    ".trr",
    ".dcd",
    ".lammpstrj",
    ".xyz",
    ".xyz.gz",
    ".mdcrd",
    ".crd",
    ".dtr",
    ".stk",
}

#: Formats that hold times in ps. For all others mdtraj counts frames and calls that the time.
_TIMED = _NETCDF | _HDF5 | {".xtc", ".trr", ".gro", ".dtr", ".stk"}

#: Bytes of coordinates, all atoms, that are in memory at a time.
_CHUNK_BYTES = 8 * 2**20
_CHUNK_FRAMES = 4096


def extension(path: str) -> str:
    """Return the extension of a file, with the one before ``.gz``."""
    base, last = os.path.splitext(path)
    return os.path.splitext(base)[1] + last if last == ".gz" else last


def chunk_frames(n_atoms: int) -> int:
    """Return how many frames of so many atoms are read at a time."""
    return int(np.clip(_CHUNK_BYTES // (12 * n_atoms), 1, _CHUNK_FRAMES))


def has_topology(path: str) -> bool:
    """Whether a file of this format names its atoms."""
    return extension(path) in _WITH_TOPOLOGY


def has_times(path: str | None, times: np.ndarray) -> bool:
    """Whether `times`, as mdtraj gives them, are times and not the frame numbers it makes up (integers)."""
    return (path is None or extension(path) in _TIMED) and not np.issubdtype(times.dtype, np.integer)


def check_file(path: str, *, name: str) -> None:
    """Raise if a file is missing, is empty, has an unknown format, or one that needs a missing package."""
    from mdtraj.formats.registry import FormatRegistry

    if not os.path.exists(path):
        raise FileNotFoundError(f"`{name}` must be an existing file; got {path!r}. There is no such file.")
    known = set(FormatRegistry.loaders)
    if name == "top":
        known = _WITH_TOPOLOGY | {".prmtop", ".parm7", ".prm7", ".psf"}
    if extension(path) not in known:
        raise ValueError(
            f"`{name}` must have an extension that mdtraj reads; got {path!r}, extension "
            f"{extension(path)!r}. It reads {', '.join(sorted(known))}."
        )
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        raise ValueError(f"{path!r} is empty (0 bytes): 0 frames could be read. Leave it out.")
    if extension(path) in _HDF5:
        try:
            import tables  # noqa: F401
        except ImportError as error:
            raise ImportError(
                f"Reading {path!r} needs the package `tables`: pip install 'mdfuzzy[hdf5]'."
            ) from error


def read_topology(path: str, *, name: str = "top") -> "md.Topology":
    """Read the topology in a file."""
    import mdtraj as md

    check_file(path, name=name)
    try:
        topology = md.load_topology(path)
    except Exception as error:
        raise ValueError(f"The topology in {path!r} could not be read ({_words(error)}).") from error
    if topology is None or topology.n_atoms == 0:
        raise ValueError(f"The topology in {path!r} has no atoms.")
    return topology


def stream(path: str, topology: "md.Topology") -> Iterator["md.Trajectory"]:
    """Yield every frame of a file, all atoms, in chunks; raise if the file is not what it should be.

    Parameters
    ----------
    path : str
        The file, already checked by `check_file`.
    topology : md.Topology
        The atoms that the file must have.
    """
    if extension(path) in _NETCDF:  # here the library would fill what is missing with zeros
        claimed, present = netcdf_frames(path)
        if present < claimed:
            _refuse_damaged(path, present, ", then the file ends too early", None)
    size = chunk_frames(topology.n_atoms)
    count = 0
    try:
        for chunk in _chunks(path, topology, size):
            if chunk.n_atoms != topology.n_atoms:
                raise _WrongAtomsError
            count += len(chunk.xyz)
            yield chunk
            del chunk  # before the next one is read
    except (ImportError, MemoryError):  # nothing wrong with the file
        raise
    except Exception as error:
        atoms = _atoms_in(path)
        if atoms not in (None, topology.n_atoms):
            raise ValueError(
                f"`top` must have the atoms of every trajectory; got {topology.n_atoms} atoms, but {path!r} "
                f"has {atoms}. Give the topology of what was written to this file."
            ) from error
        _refuse_damaged(path, _count_readable(path, topology), f" ({_words(error)})", error)
    if count == 0:
        raise ValueError(f"{path!r} holds no frames: 0 frames could be read. Leave it out.")
    readable = readable_if_short(path, extension(path), count)
    if readable is not None:
        _refuse_damaged(path, readable, ", then the file ends too early", None)


def frame_count(path: str) -> int | None:
    """Return the number of frames in a file if that can be known without reading it, else None."""
    import mdtraj as md

    if extension(path) not in _NETCDF | _HDF5 | {".xtc", ".trr", ".dcd"}:
        return None
    try:
        with md.open(path) as file:
            return len(file)
    except Exception:  # a damaged file: the reader will say what is wrong with it
        return None


def read_frames(path: str, topology: "md.Topology", numbers: np.ndarray) -> "md.Trajectory":
    """Read chosen frames of a file, all atoms, in the order given by `numbers`."""
    import mdtraj as md

    wanted, inverse = np.unique(numbers, return_inverse=True)
    pieces = []
    if extension(path) in _NETCDF | {".xtc", ".dcd"}:
        with md.open(path) as file:
            for number in wanted:
                file.seek(int(number))
                pieces.append(file.read_as_traj(topology, n_frames=1))
    else:
        first = 0
        for chunk in stream(path, topology):
            inside = wanted[(wanted >= first) & (wanted < first + len(chunk.xyz))] - first
            if len(inside):
                pieces.append(chunk.slice(inside, copy=False))
            first += len(chunk.xyz)
            if first > wanted[-1]:
                break
    boxes = [piece.unitcell_lengths is not None for piece in pieces]
    return md.Trajectory(
        np.concatenate([piece.xyz for piece in pieces])[inverse],
        topology,
        np.concatenate([piece.time for piece in pieces])[inverse],
        np.concatenate([piece.unitcell_lengths for piece in pieces])[inverse] if all(boxes) else None,
        np.concatenate([piece.unitcell_angles for piece in pieces])[inverse] if all(boxes) else None,
    )


class _WrongAtomsError(Exception):
    """The file has another number of atoms than the topology."""


def _chunks(path: str, topology: "md.Topology", size: int) -> Iterator["md.Trajectory"]:
    import mdtraj as md

    kind = extension(path)
    if kind in _ITERATED:
        # All atoms and no stride: with `atom_indices` mdtraj makes a new topology for every chunk and copies
        # frame by frame (twice the time for ten atoms); its `stride` reads every frame of an XTC file anyway,
        # returns wrong frames of DTR files, and with `atom_indices` writes out of bounds for TRR files.
        yield from md.iterload(path, top=topology, chunk=size)
    elif kind == ".gro":  # md.iterload would read all frames at once
        with md.open(path) as file:
            _check_atoms(file.n_atoms, topology)
            while len((frames := file.read(n_frames=size))[0]):
                xyz, time, vectors = frames
                chunk = md.Trajectory(xyz, topology, time)
                if np.any(vectors):
                    chunk.unitcell_vectors = vectors
                yield chunk
    elif kind in _HDF5:  # md.iterload would parse the topology again for every chunk
        with md.open(path) as file:
            while len(frames := file.read(n_frames=size)):
                _check_atoms(frames.coordinates.shape[1], topology)
                box = frames.cell_lengths, frames.cell_angles
                yield md.Trajectory(frames.coordinates, topology, frames.time, *box)
    else:
        whole = md.load(path) if has_topology(path) else md.load(path, top=topology)
        for start in range(0, len(whole.xyz), size):
            yield whole.slice(slice(start, start + size), copy=False)


def _check_atoms(count: int, topology: "md.Topology") -> None:
    if count != topology.n_atoms:
        raise _WrongAtomsError


def _atoms_in(path: str) -> int | None:
    """Return the number of atoms of the first frame of a file, or None if it cannot be found out."""
    import mdtraj as md

    try:
        if has_topology(path):
            return md.load_topology(path).n_atoms
        with md.open(path) as file:
            first = file.read(n_frames=1)
        return (first[0] if isinstance(first, tuple) else first).shape[1]
    except Exception:
        return None


def _count_readable(path: str, topology: "md.Topology") -> int:
    """Return how many whole frames a damaged file has before the damage."""
    if extension(path) in _PDB:
        return _whole_models(path)
    count = 0
    with contextlib.suppress(Exception):
        for chunk in _chunks(path, topology, 1):
            count += len(chunk.xyz)
    return count


def _whole_models(path: str) -> int:
    """Return how many models of a PDB file come before the first line or model that is damaged."""
    count, expected, atoms = 0, None, 0
    opener = gzip.open if path.endswith(".gz") else open
    # A coordinate that is no number raises ValueError, compressed data without its end EOFError.
    with contextlib.suppress(ValueError, EOFError), opener(path, "rt", errors="replace") as file:
        for line in file:
            if line.startswith(("ATOM  ", "HETATM")):
                for column in (30, 38, 46):
                    float(line[column : column + 8])
                atoms += 1
            elif line.startswith("ENDMDL"):
                if expected not in (None, atoms):
                    break
                count, expected, atoms = count + 1, atoms, 0
    return count


def _refuse_damaged(path: str, readable: int, why: str, cause: Exception | None) -> None:
    raise ValueError(
        f"{path!r} is truncated or corrupt: {readable} frame{'s' * (readable != 1)} could be read{why}. "
        f"Copy the readable frames to a new file, or leave this one out."
    ) from cause


def _words(error: Exception) -> str:
    """Return the type and the first line of an error, short enough for a message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:120]}" if lines else type(error).__name__

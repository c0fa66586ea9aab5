"""Read trajectory files in chunks of bounded size, with the properties of each format."""

import contextlib
import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy._messages import warn_user
from mdfuzzy.frames import _guarded, _xtc
from mdfuzzy.frames._damage import DamageError, WrongAtomsError
from mdfuzzy.frames._elements import with_elements_of_names
from mdfuzzy.frames._plain_path import plain_path
from mdfuzzy.frames._records import check_dcd, check_trr
from mdfuzzy.frames._text import check_text
from mdfuzzy.frames._truncation import dcd_frames, netcdf_frames

if TYPE_CHECKING:
    import mdtraj as md

_HDF5 = frozenset({".h5", ".hdf5"})
_PDB = frozenset({".pdb", ".pdb.gz"})
_NETCDF = frozenset({".nc", ".ncdf", ".netcdf"})

#: Formats that hold the names of their atoms.
_MMCIF = frozenset({".pdbx", ".pdbx.gz", ".cif", ".cif.gz", ".mmcif", ".mmcif.gz"})
_WITH_TOPOLOGY = _HDF5 | _PDB | _MMCIF | {".lh5", ".gro", ".arc", ".gsd", ".mol2", ".hoomdxml"}

#: Formats that `md.iterload` streams without reading the whole file.
_ITERATED = _NETCDF | {
    ".trr",
    ".dcd",
    ".lammpstrj",
    ".xyz",
    ".xyz.gz",
    ".mdcrd",
    ".crd",
}

#: Formats whose libraries can end the process if a file is damaged.
_GUARDED = _HDF5 | {".lh5", ".dtr", ".stk"}
#: These, and formats that are checked here because their libraries would do the same.
_TRUSTING = _GUARDED | {".xtc", ".trr", ".dcd"}
#: Formats that are folders, or may be.
_FOLDERS = frozenset({".dtr", ".stk"})
#: System errors of a disk or of permissions, which do not indicate a damaged file.
_SYSTEM = frozenset(
    {errno.EACCES, errno.EPERM, errno.EIO, errno.ENOENT, errno.ESTALE, errno.EMFILE, errno.ENFILE}
)

#: Formats that hold times in ps. For all others mdtraj counts frames and calls that the time.
_TIMED = _NETCDF | _HDF5 | {".xtc", ".trr", ".gro", ".dtr", ".stk"}

#: The number of bytes of coordinates, of all atoms, that are in memory at a time.
_CHUNK_BYTES = 8 * 2**20
_CHUNK_FRAMES = 4096


def extension(path: str) -> str:
    """Return the extension of a file, with the one before ``.gz``."""
    base, last = os.path.splitext(path)
    return os.path.splitext(base)[1] + last if last == ".gz" else last


def chunk_frames(n_atoms: int) -> int:
    """Return the number of frames with `n_atoms` atoms that are read at a time."""
    return int(np.clip(_CHUNK_BYTES // (12 * n_atoms), 1, _CHUNK_FRAMES))


def has_topology(path: str) -> bool:
    """Return whether the format of a file includes a topology."""
    return extension(path) in _WITH_TOPOLOGY


def has_times(path: str | None, times: np.ndarray) -> bool:
    """Return whether `times` from mdtraj are real times and not frame numbers (integers)."""
    return (path is None or extension(path) in _TIMED) and not np.issubdtype(times.dtype, np.integer)


def check_file(path: str, *, name: str) -> None:
    """Raise if a path is missing, is not a file, has an unprintable name, or cannot be read."""
    from mdtraj.formats.registry import FormatRegistry

    _check_name(path, name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"`{name}` must be an existing file; got {path!r}. There is no such file.")
    known = frozenset(FormatRegistry.loaders)
    if name == "top":
        known = _WITH_TOPOLOGY | {".prmtop", ".parm7", ".prm7", ".psf"}
    _check_kind(path, name)
    if extension(path) not in known:
        raise InputValueError(
            f"`{name}` must have an extension that mdtraj reads; got {path!r}, extension "
            f"{extension(path)!r}. It reads {', '.join(sorted(known))}."
        )
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        raise InputValueError(f"{path!r} is empty (0 bytes): 0 frames could be read. Leave it out.")
    if extension(path) in _HDF5:
        try:
            import tables  # noqa: F401
        except ImportError as error:
            raise ImportError(
                f"Reading {path!r} needs the package `tables`: pip install 'mdfuzzy[hdf5]'."
            ) from error


def _check_name(path: str, name: str) -> None:
    """Raise if a path cannot be written in tables, reports and messages of one line."""
    # Cc: control characters, line breaks among them; Cs: bytes that are not UTF-8; Zl, Zp: line separators.
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in path):
        raise InputValueError(
            f"`{name}` must be a path in UTF-8 without line breaks and other control characters, or no table "
            f"could name it; got {path!r}. Rename it."
        )


def _check_kind(path: str, name: str) -> None:
    """Raise if a path is not a readable regular file."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        if extension(path) in _FOLDERS:
            return
        raise IsADirectoryError(
            f"`{name}` must be a file; got {path!r}, a folder. Name the files in it, such as "
            f"{os.path.join(path, '*.xtc')!r}."
        )
    if not stat.S_ISREG(mode):
        raise InputValueError(
            f"`{name}` must be a regular file; got {path!r}, a pipe or a device. Copy it to a file."
        )
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise type(error)(
            f"`{name}` must be a file that may be read; got {path!r} ({error.strerror}). Allow it."
        ) from error


def read_topology(path: str, *, name: str = "top") -> "md.Topology":
    """Read the topology in a file."""
    check_file(path, name=name)
    try:
        topology = _load_topology(path)
    except Exception as error:
        raise InputValueError(f"The topology in {path!r} could not be read ({_words(error)}).") from error
    if topology is None or topology.n_atoms == 0:
        raise InputValueError(f"The topology in {path!r} has no atoms.")
    return with_elements_of_names(topology, repr(path))


def stream(path: str, topology: "md.Topology") -> Iterator["md.Trajectory"]:
    """Yield every frame of a file, with all atoms, in chunks; raise if the file is damaged.

    Parameters
    ----------
    path : str
        The file, already checked by `check_file`.
    topology : md.Topology
        The atoms that the file must have.
    """
    count, readable = 0, None
    try:
        readable = _check_whole(path, topology.n_atoms)
        for chunk in _chunks(path, topology, chunk_frames(topology.n_atoms)):
            if chunk.n_atoms != topology.n_atoms:
                raise WrongAtomsError(chunk.n_atoms)
            count += len(chunk.xyz)
            yield chunk
            del chunk  # before the next one is read
    except ImportError:  # nothing wrong with the file
        raise
    except MemoryError as error:
        raise MemoryError(
            f"There is not enough memory to read {path!r} ({error}). If the file is not that large, it is "
            f"corrupt."
        ) from error
    except _UnsoundError as error:
        _refuse_atoms(path, topology, error.why)
        _refuse_damaged(path, error.readable, f", {error.why}", error.why)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _SYSTEM:
            raise type(error)(f"{path!r} could not be read: {error.strerror}.") from error
        _refuse_atoms(path, topology, error)
        words = f", {error}" if isinstance(error, DamageError) else f" ({_words(error)})"
        # Our own readers know how many frames were read; others may have read a part of a chunk.
        known = count if isinstance(error, DamageError) and extension(path) == ".xtc" else readable
        _refuse_damaged(path, _count_readable(path, topology) if known is None else known, words, error)
    if count == 0:
        raise InputValueError(f"{path!r} holds no frames: 0 frames could be read. Leave it out.")
    if readable is not None and count != readable:
        _refuse_damaged(path, count, f", but {readable} are in it", None)
    if extension(path) == ".dcd" and (claimed := dcd_frames(path)) != count:
        warn_user(
            f"The header of {path!r} counts {claimed} frames, but the file holds {count} whole ones, which "
            f"are read. The program that wrote it may have been stopped."
        )


class _UnsoundError(Exception):
    """Damage found before reading: the number of sound frames before it, and its description."""

    def __init__(self, readable: int, why: Exception) -> None:
        super().__init__(str(why))
        self.readable = readable
        self.why = why


def _check_whole(path: str, n_atoms: int) -> int | None:
    """Raise `_UnsoundError` if a file is incomplete; return its number of frames if known."""
    kind = extension(path)
    frames: int | None = None
    if kind in _NETCDF:  # here the library would fill what is missing with zeros
        _, frames, problem = netcdf_frames(path)
        frames = frames or None
    elif kind == ".trr":
        frames, problem = check_trr(path, n_atoms)
    elif kind == ".dcd":
        frames, _, problem = check_dcd(path, n_atoms)
        frames = frames or None  # formats that are not checked: all frames that the library reads
    else:
        frames, problem = check_text(path, kind, n_atoms)
        frames = frames or None
    if problem is not None:
        raise _UnsoundError(frames or 0, problem)
    return frames


def _refuse_atoms(path: str, topology: "md.Topology", error: Exception) -> None:
    """Raise if the file has another number of atoms than the topology."""
    atoms = error.atoms if isinstance(error, WrongAtomsError) else None
    if atoms is None and extension(path) not in _TRUSTING:
        atoms = _atoms_in(path)
    if atoms not in (None, topology.n_atoms):
        raise InputValueError(
            f"`top` must have the atoms of every trajectory; got {topology.n_atoms} atoms, but {path!r} "
            f"has {atoms}. Give the topology of what was written to this file."
        ) from error


def frame_count(path: str) -> int | None:
    """Return the number of frames of a file, or None if it requires reading the file."""
    import mdtraj as md

    kind = extension(path)
    try:
        if kind == ".xtc":
            return _xtc.count(path)
        if kind in _HDF5:
            return _guarded.count(path)
        if kind in _NETCDF | {".trr", ".dcd"}:
            with plain_path(path) as plain, md.open(plain) as file:
                return len(file)
    except Exception:  # a damaged file: the reader will describe the damage
        pass
    return None


def read_frames(path: str, topology: "md.Topology", numbers: np.ndarray) -> "md.Trajectory":
    """Read chosen frames of a file, all atoms, in the order given by `numbers`."""
    import mdtraj as md

    wanted, inverse = np.unique(numbers, return_inverse=True)
    pieces = []
    if extension(path) == ".xtc":
        try:
            pieces = list(_xtc.read(path, topology, wanted))
        except (DamageError, WrongAtomsError) as error:
            raise InputValueError(
                f"{path!r} was changed since its frames were loaded: {error}. Load the frames again."
            ) from error
    elif extension(path) in _NETCDF | {".dcd"}:
        with plain_path(path) as plain, md.open(plain) as file:
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
    if sum(len(piece.xyz) for piece in pieces) != len(wanted):
        raise InputValueError(
            f"{path!r} was changed since its frames were loaded: frame {wanted[-1]} is no longer in it. Load "
            f"the frames again."
        )
    boxes = [piece.unitcell_lengths is not None for piece in pieces]
    return md.Trajectory(
        np.concatenate([piece.xyz for piece in pieces])[inverse],
        topology,
        np.concatenate([piece.time for piece in pieces])[inverse],
        np.concatenate([piece.unitcell_lengths for piece in pieces])[inverse] if all(boxes) else None,
        np.concatenate([piece.unitcell_angles for piece in pieces])[inverse] if all(boxes) else None,
    )


def _chunks(path: str, topology: "md.Topology", size: int) -> Iterator["md.Trajectory"]:
    import mdtraj as md

    kind = extension(path)
    if kind == ".xtc":
        yield from _xtc.chunks(path, topology, size)
    elif kind in _GUARDED:
        yield from _guarded.chunks(path, topology, size)
    elif kind in _ITERATED:
        # All atoms and no stride: with `atom_indices` mdtraj makes a new topology for every chunk and copies
        # frame by frame (twice the time for ten atoms); its `stride` returns wrong frames of DTR files, and
        # with `atom_indices` writes out of bounds for TRR files.
        with plain_path(path) as plain:
            yield from md.iterload(plain, top=topology, chunk=size)
    elif kind == ".gro":  # md.iterload would read all frames at once
        with md.open(path) as file:
            _check_atoms(file.n_atoms, topology)
            while len((frames := file.read(n_frames=size))[0]):
                xyz, time, vectors = frames
                chunk = md.Trajectory(xyz, topology, time)
                if np.any(vectors):
                    chunk.unitcell_vectors = vectors
                yield chunk
    else:
        whole = md.load(path) if has_topology(path) else md.load(path, top=topology)
        for start in range(0, len(whole.xyz), size):
            yield whole.slice(slice(start, start + size), copy=False)


def _check_atoms(count: int, topology: "md.Topology") -> None:
    if count != topology.n_atoms:
        raise WrongAtomsError(count)


def _atoms_in(path: str) -> int | None:
    """Return the number of atoms of the first frame of a file, or None if it cannot be determined."""
    import mdtraj as md

    try:
        if has_topology(path):
            return _load_topology(path).n_atoms
        with plain_path(path) as plain, md.open(plain) as file:
            first = file.read(n_frames=1)
        return (first[0] if isinstance(first, tuple) else first).shape[1]
    except Exception:
        return None


def _count_readable(path: str, topology: "md.Topology") -> int:
    """Return the number of complete frames before the damage of a file."""
    count = 0
    with contextlib.suppress(Exception):
        for chunk in _chunks(path, topology, 1):
            count += len(chunk.xyz)
    return count


def _load_topology(path: str) -> "md.Topology":
    import mdtraj as md

    return _guarded.topology(path) if extension(path) in _GUARDED else md.load_topology(path)


def _refuse_damaged(path: str, readable: int, why: str, cause: Exception | None) -> None:
    raise InputValueError(
        f"{path!r} is truncated or corrupt: {readable} frame{'s' * (readable != 1)} could be read{why}. "
        f"Copy the readable frames to a new file, or leave this one out."
    ) from cause


def _words(error: Exception) -> str:
    """Return the type and the first line of an error, short enough for a message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:120]}" if lines else type(error).__name__

"""Map arrays in files, which take memory only while they are used."""

import ctypes
import mmap
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from weakref import WeakSet, finalize

import numpy as np
import numpy.typing as npt

from mdfuzzy._threads import share

#: Arrays of this many bytes or more are mapped, not read.
LARGE = 2**26

#: The files that are mapped now.
_MAPS: "WeakSet[mmap.mmap]" = WeakSet()


def open_array(path: Path, *, writable: bool = False) -> np.ndarray:
    """Return the array of an .npy file, as a map of the file if it is large or writable.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.npy")
    ...     np.save(path, np.arange(3))
    ...     open_array(path)
    array([0, 1, 2])
    """
    if not writable and path.stat().st_size < LARGE:
        return np.load(path, allow_pickle=False)
    return _kept(np.lib.format.open_memmap(path, mode="r+" if writable else "r"))


def new_array(path: Path, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
    """Create an .npy file of zeros and return its writable array."""
    if 0 in shape:  # an empty array cannot be mapped
        np.save(path, np.zeros(shape, dtype))
        return np.load(path)
    return _kept(np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(dtype), shape=shape))


def scratch_array(draft: Path, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
    """Return an array of zeros in a temporary file, which is deleted with the array.

    The file has no name while it is mapped. On Windows, where a mapped file cannot be removed, it stays as a
    draft.
    """
    array = new_array(draft, shape, dtype)
    with suppress(PermissionError):
        draft.unlink()
    return array


class ScratchFile:
    """A temporary file to which rows are appended, and that has no name once it is mapped.

    Parameters
    ----------
    draft : Path
        The name of the file until it is mapped.
    """

    def __init__(self, draft: Path) -> None:
        self._path = draft
        draft.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(draft, "xb")  # noqa: SIM115 (until it is mapped)
        self._end = finalize(self, _discard, self._file, draft)

    def write(self, rows: np.ndarray) -> None:
        """Write rows at the end."""
        self._file.write(rows.data.cast("B") if rows.size else b"")

    def map(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return all rows as a read-only array."""
        self._file.flush()
        array = _kept(np.memmap(self._path, dtype, "r", shape=shape))
        self._end()
        return array


def _discard(file: BinaryIO, path: Path) -> None:
    file.close()
    with suppress(PermissionError):  # Windows, if it is mapped
        path.unlink(missing_ok=True)


def copy_in_parts(source: np.ndarray, target: np.ndarray) -> None:
    """Copy rows to a mapped array in parts, so that little of it is in memory at a time."""
    rows = max(1, LARGE // max(1, source[:1].nbytes))
    for start in range(0, len(source), rows):
        target[start : start + rows] = source[start : start + rows]
        release()


def share_in_turn(kernel: Callable[..., object], total: int, stretch: int, *arguments: object) -> None:
    """Call a kernel as `share` does, on stretches one after another, and release mapped files after each.

    Little of an array in a file is then in memory at a time, if the rows of a stretch are close together.

    Examples
    --------
    >>> ranges = []
    >>> share_in_turn(lambda first, last: ranges.append((first, last)), 5, 2)
    >>> ranges
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, total, stretch):

        def work(first: int, last: int, *given: object, start: int = start) -> None:
            kernel(start + first, start + last, *given)

        share(work, min(stretch, total - start), *arguments)
        release()


def release() -> None:
    """Release the memory of the parts of mapped files that were read or written; the arrays stay unchanged.

    The system would reclaim this memory if needed, but until then it counts as memory of this process.
    """
    for each in list(_MAPS):
        if hasattr(mmap, "MADV_DONTNEED") and not each.closed:
            each.madvise(mmap.MADV_DONTNEED)


def trim() -> None:
    """Return freed memory to the system; the C library of Linux may keep hundreds of MB for later.

    It does so for freed arrays of less than 32 MB that were followed by others.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)


def _kept(array: np.memmap) -> np.ndarray:
    """Remember the map of an array, and return the array as a plain array."""
    found: object = array
    while not isinstance(found, mmap.mmap):
        found = found.base  # type: ignore[attr-defined]
    _MAPS.add(found)
    return array.view(np.ndarray)

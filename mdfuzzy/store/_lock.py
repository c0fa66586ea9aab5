"""A lock on a folder for one process at a time; the system releases it when its holder dies."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

#: The file whose lock protects the folder. It is never removed, because two processes could then hold a lock.
LOCK = ".lock"


class FolderLock:
    """Hold the right to write into a folder; one object may take it several times.

    The operating system holds the lock, not the presence of a file, so the lock of a killed process is free
    at once. Where the file system has no locks, every process may write.

    Parameters
    ----------
    folder : Path
        It must exist when the lock is taken.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._depth = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock inside the block.

        Raises
        ------
        BlockingIOError
            If another process, or another object of this one, holds it.
        """
        if self._depth == 0:
            self._file = open(self.path, "a+", opener=_open_no_link)  # noqa: SIM115 (held until the last exit)
            try:
                _lock(self._file)
            except BlockingIOError:
                self._file.seek(0)
                holder = self._file.read().strip() or "another process"
                self._file.close()
                raise BlockingIOError(
                    f"{self.path.parent} is in use by {holder}. Wait until it has ended, or give another "
                    "folder."
                ) from None
            self._file.truncate(0)
            self._file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            self._file.flush()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._file.close()  # closing the file releases the lock


def _open_no_link(path: str, flags: int) -> int:
    """Open a file, but do not follow a link, because the target of the link would be emptied."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError:
        if os.path.islink(path):
            raise FileExistsError(
                f"{path} must be a file; it is a symbolic link. Remove it, or give another folder."
            ) from None
        raise


def _lock(file: IO[str]) -> None:
    """Lock an open file, or raise BlockingIOError; do nothing where the file system cannot."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(2**30)  # a byte beyond the text, which other processes read
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # this file system has no locks
        return

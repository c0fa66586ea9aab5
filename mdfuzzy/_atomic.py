"""Drafts: written under another name beside their place, then renamed, so that what is there is whole.

One writer at a time may use a place: a draft that is found there was left by a writer that was killed.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

#: How the name of a draft ends.
TEMPORARY = ".tmp"


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to fill. When all went well it is at `path` and on the disk, otherwise it is gone.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answer.txt"
    ...     with whole_file(path) as file:
    ...         size, seen = file.write(b"42"), path.exists()
    ...     seen, path.read_text(), len(os.listdir(folder))
    (False, '42', 1)
    """
    draft = draft_beside(path)
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(path.parent)


def draft_beside(path: Path) -> Path:
    """Return a name beside `path` that nothing has, and remove what killed writers left under such names."""
    ours = re.compile(rf"\.{re.escape(path.name)}-[0-9a-f]{{8}}{re.escape(TEMPORARY)}")
    for left_over in path.parent.iterdir() if path.parent.is_dir() else ():
        if ours.fullmatch(left_over.name):
            shutil.rmtree(left_over) if left_over.is_dir() else left_over.unlink()
    # Not `tempfile`, whose files only their owner may read.
    return path.parent / f".{path.name}-{os.urandom(4).hex()}{TEMPORARY}"


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder last; some systems cannot, and do not need it."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

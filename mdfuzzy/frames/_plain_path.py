"""Provide ASCII paths for libraries written in C."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def plain_path(path: str) -> Iterator[str]:
    """Yield an ASCII path of the same file, with a link if needed, for readers that require ASCII.

    Examples
    --------
    >>> with plain_path("/data/run.xtc") as path:
    ...     path
    '/data/run.xtc'
    """
    if path.isascii():
        yield path
        return
    base, last = os.path.splitext(path)
    name = "file" + (os.path.splitext(base)[1] if last == ".gz" else "") + last
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if not folder.isascii() or not os.path.isdir(folder):
            continue
        with tempfile.TemporaryDirectory(prefix="mdfuzzy-", dir=folder) as inside:
            link = os.path.join(inside, name)
            try:
                os.symlink(path, link)
            except OSError:  # a system without links
                break
            yield link
            return
    yield os.path.relpath(path)  # sufficient if only a parent folder is not ASCII

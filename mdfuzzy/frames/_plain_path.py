"""Paths that libraries written in C take."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def plain_path(path: str) -> Iterator[str]:
    """Yield a path of the same file in ASCII, which is all that some readers take: a link if need be.

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
    yield os.path.relpath(path)  # good where only a folder above is not in ASCII

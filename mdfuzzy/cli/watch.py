"""Rerunning while trajectory files are being written."""

import glob
import os
import time
from collections.abc import Callable, Sequence

import click

from mdfuzzy._check import InputError


def watch(
    files: Sequence[str],
    act: Callable[[], object],
    *,
    seconds: float,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Call `act` now and whenever the files have changed, checking at intervals, until interrupted.

    An error after the first call is shown, and the call is repeated when the files have changed again: a
    file may be read while its last frame is being written.

    Parameters
    ----------
    files : sequence of str
        Files and patterns; new files that match a pattern count as a change.
    act : callable
        What to do.
    seconds : float
        The time between two checks, in seconds.
    sleep : callable
        Waits for a number of seconds.
    """
    seen = _state_of(files)
    act()
    click.echo(f"watching {len(seen)} files; press Ctrl-C to stop", err=True)
    while True:
        sleep(seconds)
        now = _state_of(files)
        if now == seen:
            continue
        seen = now
        try:
            act()
        except (InputError, OSError) as error:
            click.echo(f"mdfuzzy: warning: {error} mdfuzzy tries again when the files change.", err=True)


def _state_of(files: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the size of every file and the time of its last change."""
    found = {}
    for each in files:
        for path in [each] if os.path.exists(each) else glob.glob(os.path.expanduser(each), recursive=True):
            status = os.stat(path)
            found[path] = status.st_size, status.st_mtime_ns
    return found

"""Announce the compilation of kernels, and compile later kernels ahead in a second process."""

import logging
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from numba.core import event

from mdfuzzy._kernels.process import start_python

logger = logging.getLogger("mdfuzzy")

#: Code that uses all kernels after the neighbour search, on enough points that threads share the work.
_LATER_STEPS = """
import numpy, mdfuzzy
points = numpy.random.default_rng(0).normal(size=(4000, 2))
points[::2] += 6
mdfuzzy.cluster(points, mdfuzzy.Settings(n_jobs=1))
"""


#: The kernels of the search itself, which this process compiles.
_SEARCH = ("mdfuzzy._kernels.search.", "mdfuzzy._kernels.intrinsics")


class _Listener(event.Listener):
    """Call a function with the module of every kernel of this package that must be compiled."""

    def __init__(self, call: Callable[[str], object]) -> None:
        self._call = call

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if module.startswith("mdfuzzy."):
            self._call(module)

    def on_end(self, event: event.Event) -> None:
        pass


@contextmanager
def announced() -> Iterator[None]:
    """Log a message inside the block when the first kernel is compiled that is not on the disk."""
    told: list[str] = []

    def announce(module: str) -> None:
        if not told:
            told.append(module)
            logger.info("compiling kernels (up to a minute); the compiled code is kept on disk")

    with event.install_listener("numba:compile", _Listener(announce)):
        yield


@contextmanager
def compiled_ahead() -> Iterator[None]:
    """Compile the kernels of later steps in a second process inside the block, while this one is busy.

    numba compiles on one core. Kernels that the other process has compiled are read from the disk when they
    are needed; if they are needed earlier, this process waits. The other process is started when the first
    kernel is not on the disk, and stopped when the block ends.
    """
    processes: list[subprocess.Popen[bytes]] = []

    def share(module: str) -> None:
        if not processes:
            with suppress(OSError):  # then this process compiles everything
                nowhere = subprocess.DEVNULL
                processes.append(start_python(_LATER_STEPS, stdout=nowhere, stderr=nowhere))
        elif not module.startswith(_SEARCH):
            processes[0].wait()

    if (os.cpu_count() or 1) < 2:
        yield
        return
    try:
        with event.install_listener("numba:compile", _Listener(share)):
            yield
    finally:
        for process in processes:
            process.kill()
            if process.stdin is not None:
                process.stdin.close()
            process.wait()

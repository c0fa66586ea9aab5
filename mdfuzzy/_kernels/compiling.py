"""While kernels are compiled: a word to whoever waits, and a second process that compiles ahead."""

import logging
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from numba.core import event

from mdfuzzy._kernels.process import start_python

logger = logging.getLogger("mdfuzzy")

#: Uses all kernels that follow the search for neighbours, on enough points that threads share their work.
_LATER_STEPS = """
import numpy, mdfuzzy
points = numpy.random.default_rng(0).normal(size=(4000, 2))
points[::2] += 6
mdfuzzy.cluster(points, mdfuzzy.Settings(n_jobs=1))
"""


#: The kernels of the search itself, which this process compiles.
_SEARCH = ("mdfuzzy._kernels.search.", "mdfuzzy._kernels.intrinsics")


class _Listener(event.Listener):
    """Calls a function with the module of every kernel of this package that has to be compiled."""

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
    """Inside the block, log a message when the first kernel is compiled that is not on the disk."""
    told: list[str] = []

    def announce(module: str) -> None:
        if not told:
            told.append(module)
            logger.info("compiling kernels, which are then kept on disk: up to a minute, once")

    with event.install_listener("numba:compile", _Listener(announce)):
        yield


@contextmanager
def compiled_ahead() -> Iterator[None]:
    """Inside the block, let a second process compile the kernels of the later steps while this one is busy.

    numba compiles on one core. What the other process has compiled is on the disk when it is needed here; if
    it is needed earlier, this process waits. The other one is started when the first kernel is not there
    yet, and stopped when the block ends.
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

"""While kernels are compiled: a word to whoever waits, and a second process that compiles ahead."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from numba.core import event

logger = logging.getLogger("mdfuzzy")

#: Uses all kernels that follow the search for neighbours, on enough points that threads share their work.
_LATER_STEPS = """
import numpy, mdfuzzy
points = numpy.random.default_rng(0).normal(size=(4000, 2))
points[::2] += 6
mdfuzzy.cluster(points, mdfuzzy.Settings(n_jobs=1))
"""


class _Once(event.Listener):
    """Calls a function when the first kernel of this package has to be compiled."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call: Callable[[], object] | None = call

    def on_start(self, event: event.Event) -> None:
        if self._call is not None and event.data["dispatcher"].py_func.__module__.startswith("mdfuzzy."):
            call, self._call = self._call, None
            call()

    def on_end(self, event: event.Event) -> None:
        pass


def _announce() -> None:
    logger.info("compiling kernels, which are then kept on disk: up to two minutes, once")


@contextmanager
def announced() -> Iterator[None]:
    """Inside the block, log a message when the first kernel is compiled that is not on the disk."""
    with event.install_listener("numba:compile", _Once(_announce)):
        yield


@contextmanager
def compiled_ahead() -> Iterator[None]:
    """Inside the block, let a second process compile the kernels of the later steps while this one is busy.

    numba compiles on one core. What the other process has compiled is on the disk when it is needed here.
    It is started when the first kernel is not there yet, and stopped when the block ends.
    """
    processes: list[subprocess.Popen] = []

    def start() -> None:
        command = [sys.executable, "-W", "ignore", "-c", _LATER_STEPS]
        with suppress(OSError):  # then this process compiles everything
            processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    if (os.cpu_count() or 1) < 2:
        yield
        return
    try:
        with event.install_listener("numba:compile", _Once(start)):
            yield
    finally:
        for process in processes:
            process.kill()
            process.wait()

"""A word to whoever waits while kernels are compiled."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

logger = logging.getLogger("mdfuzzy")


class _Announcer(event.Listener):
    """Logs, once, that a kernel of this package has to be compiled."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: event.Event) -> None:
        if not self.told and event.data["dispatcher"].py_func.__module__.startswith("mdfuzzy."):
            self.told = True
            logger.info("compiling kernels, which are then kept on disk: up to two minutes, once")

    def on_end(self, event: event.Event) -> None:
        pass


@contextmanager
def announced() -> Iterator[None]:
    """Inside the block, log a message when the first kernel is compiled that is not on the disk."""
    with event.install_listener("numba:compile", _Announcer()):
        yield

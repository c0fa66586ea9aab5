"""Whether figures are shown as they are made: in notebooks."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Whether new figures are only written or embedded.
_UNSEEN: ContextVar[bool] = ContextVar("unseen", default=False)


@contextmanager
def unseen_figures() -> Iterator[None]:
    """Inside the block, new figures are not shown in a notebook."""
    token = _UNSEEN.set(True)
    try:
        yield
    finally:
        _UNSEEN.reset(token)


def is_shown() -> bool:
    """Whether new figures are shown: in a notebook, which shows those of pyplot below the cell."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel") and not _UNSEEN.get()

"""The command line: one file for each command. It computes nothing itself, and only calls the package."""

import os
import signal
import sys

TYPE_CHECKING = False  # the constant of `typing`, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the command line and return its exit status; see `program.main`.

    The commands are imported here, so that Ctrl-C during the import also ends with a short message.

    Parameters
    ----------
    arguments : list of str, optional
        By default, the arguments of the process.
    """
    known = signal.getsignal(signal.SIGINT)
    ours = known is signal.default_int_handler
    try:
        if ours:
            # During an import, a KeyboardInterrupt can be lost or become another error.
            signal.signal(signal.SIGINT, _end)
    except ValueError:  # only the main thread is interrupted
        ours = False
    try:
        from mdfuzzy.cli.commands import main as run
    finally:
        if ours:
            signal.signal(signal.SIGINT, known)
    return run(arguments)


def _end(*_: object) -> None:
    os.write(sys.stderr.fileno(), b"mdfuzzy: error: interrupted\n")
    os._exit(130)

"""The command line: one file for each command. It computes nothing: options in, calls of the package."""

import os
import signal
import sys

TYPE_CHECKING = False  # as of `typing`, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the command line and return its exit status; see `program.main`.

    The commands are imported here, so that Ctrl-C meanwhile ends in a word, too.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.
    """
    known = signal.getsignal(signal.SIGINT)
    ours = known is signal.default_int_handler
    try:
        if ours:
            # Imports lose a KeyboardInterrupt, or turn it into another error, depending on where it comes.
            signal.signal(signal.SIGINT, _end)
    except ValueError:  # not in the main thread, which alone is interrupted
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

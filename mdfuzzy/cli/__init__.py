"""The command line: one file for each command. It computes nothing: options in, calls of the package."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; see `program.main`.

    The commands are imported here, so that Ctrl-C meanwhile ends in a word, too.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process by default.
    """
    try:
        from mdfuzzy.cli.commands import main as run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("mdfuzzy: error: interrupted\n")
        return 130

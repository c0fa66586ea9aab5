"""Processes of our own: the same Python with the same packages, nothing from the current folder."""

import os
import subprocess
import sys

#: Finds this very package, which imports nothing by itself, then everything else where this process does; and
#: ends the process when the one that started it is gone, however that ended: its end of the pipe is closed.
_BEGINNING = """
import importlib, os, sys, threading
sys.path[:] = [{home!r}]
import mdfuzzy
sys.path[:] = {path!r}
def _end_with_parent(pipe=os.dup(0)):
    while os.read(pipe, 1):
        pass
    os._exit(1)
threading.Thread(target=_end_with_parent, daemon=True).start()
"""


def start_python(code: str, **options: object) -> subprocess.Popen:
    """Run code in another process, which finds the packages that this one finds and ends with it.

    Modules come from where this process finds its own, but never from the current folder, where a file of
    the user may have the name of a library. Only the package itself may lie there, as in a source tree.

    Parameters
    ----------
    code : str
        What to run. It ends when its standard input is closed.
    **options
        Passed to `subprocess.Popen`.

    Examples
    --------
    >>> with start_python("import mdfuzzy; print(mdfuzzy.__version__)", stdout=subprocess.PIPE) as process:
    ...     process.stdout.read().decode().count(".")
    2
    """
    here = os.path.realpath(os.getcwd())
    path = [each for each in sys.path if each and os.path.realpath(each) != here]
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = [sys.executable, "-P", "-W", "ignore", "-c", _BEGINNING.format(home=home, path=path) + code]
    return subprocess.Popen(command, stdin=subprocess.PIPE, **options)

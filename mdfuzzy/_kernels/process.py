"""Start processes with the same Python and packages, and with nothing from the current folder."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Import this package, which itself imports nothing else, and find all other packages on the path of this
#: process.
_BEGINNING = """
import importlib, sys
sys.path[:] = [{home!r}]
import mdfuzzy
sys.path[:] = {path!r}
"""
#: End the process when its parent is gone, for whatever reason: the parent's end of the pipe is then closed.
_WATCH = """
import os, threading
def _end_with_parent(pipe=os.dup(0)):
    while os.read(pipe, 1):
        pass
    os._exit(1)
threading.Thread(target=_end_with_parent, daemon=True).start()
"""


def start_python(code: str, *, listens: bool = False, **options: Any) -> subprocess.Popen[bytes]:
    """Run code in another process, which finds the same packages as this one and ends with it.

    Modules are imported from the same places as in this process, but never from the current folder, where a
    file of the user may have the name of a library. Only the package itself may be in the current folder, as
    in a source tree.

    Parameters
    ----------
    code : str
        The code to run. The process ends when its standard input is closed.
    listens : bool
        Whether the code reads its standard input itself, and ends when that does.
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
    home = str(Path(__file__).absolute().parents[2])
    code = _BEGINNING.format(home=home, path=path) + ("" if listens else _WATCH) + code
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-c", code], stdin=subprocess.PIPE, **options
    )

"""Processes of our own: what they import, and when they end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mdfuzzy
from mdfuzzy._kernels.process import start_python

HOME = str(Path(mdfuzzy.__file__).parents[1])


def answer(code: str) -> str:
    with start_python(code, stdout=subprocess.PIPE, text=True) as process:
        return process.stdout.read().strip()


def test_nothing_is_imported_from_the_current_folder(tmp_path, monkeypatch):
    for name in ("numpy", "numba", "random", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open('ran-{name}', 'w')\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # as `python -m` does
    assert answer("import numpy, random; print(numpy.__version__)")
    monkeypatch.setattr(sys, "path", ["", *sys.path[1:]])  # as `python -c` does
    assert answer("import numpy, random; print(numpy.__version__)")
    assert not list(tmp_path.glob("ran-*"))


def test_the_same_package_is_found_from_everywhere(tmp_path, monkeypatch):
    code = "import mdfuzzy; print(mdfuzzy.__file__)"
    for folder in (tmp_path, HOME):
        monkeypatch.chdir(folder)
        assert answer(code) == mdfuzzy.__file__
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != HOME])
    assert answer(code) == mdfuzzy.__file__


def test_a_source_tree_comes_after_the_libraries(tmp_path, monkeypatch):
    """A package that lies in the current folder is found there, and a library beside it is not."""
    (tmp_path / "numpy.py").write_text("raise SystemExit\n")
    os.symlink(Path(mdfuzzy.__file__).parent, tmp_path / "mdfuzzy")
    code = (
        "import subprocess, sys, mdfuzzy._kernels.process as p\n"
        "code = 'import mdfuzzy, numpy; print(mdfuzzy.__file__, numpy.__version__)'\n"
        "print(p.start_python(code, stdout=subprocess.PIPE, text=True).stdout.read())"
    )
    monkeypatch.chdir(tmp_path)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    file, version = done.stdout.split()
    assert Path(file).parent == tmp_path / "mdfuzzy"
    assert version[0].isdecimal()


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_the_process_that_started_it(kind):
    code = (
        "import time, mdfuzzy._kernels.process as p\n"
        "print(p.start_python('import time; time.sleep(200)').pid, flush=True)\n"
        "time.sleep(200)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(kind)
        parent.wait(timeout=20)
    end = time.monotonic() + 20
    while Path(f"/proc/{child}").exists() and time.monotonic() < end:
        status = Path(f"/proc/{child}/stat")
        if status.exists() and status.read_text().split()[2] == "Z":
            break  # it has ended, and nobody has asked how
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{child}").exists()

"""Kernels compile and run where no disk cache can be written."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import mdfuzzy
from mdfuzzy._kernels import compiling
from mdfuzzy._kernels.jit import compiled

#: Nothing can be made below a device file, not even by root.
NOWHERE = "/dev/null/none"


def run_without_cache(code: str, folder: Path) -> subprocess.CompletedProcess:
    """Run `code` with `folder` first on the path and no place for numba's cache outside it."""
    nowhere = dict.fromkeys(
        ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "IPYTHONDIR", "LOCALAPPDATA"), NOWHERE
    )
    environment = {**os.environ, **nowhere, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def package_without_cache(tmp_path: Path) -> Path:
    """A copy of the package in whose folders numba cannot make a ``__pycache__``: a file has that name."""
    copy = tmp_path / "mdfuzzy"
    shutil.copytree(Path(mdfuzzy.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        (folder / "__pycache__").touch()
    return tmp_path


def test_numba_itself_refuses_there(package_without_cache: Path):
    # Otherwise the next test would prove nothing.
    (package_without_cache / "mdfuzzy" / "plain.py").write_text(
        "import numba\n@numba.njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    done = run_without_cache("import mdfuzzy.plain", package_without_cache)
    assert done.returncode != 0
    assert "cannot cache function 'twice'" in done.stderr


def test_kernels_run_there(package_without_cache: Path):
    code = (
        "import numpy as np, mdfuzzy as mf\n"
        "nb = mf.Neighbors([[1], [0], [1]], [[1.0], [1.0], [2.0]])\n"
        "print(mf.__file__)\n"
        "print(nb.graph(k=1).indices)"
    )
    done = run_without_cache(code, package_without_cache)
    assert done.returncode == 0, done.stderr
    where, indices = done.stdout.splitlines()
    assert Path(where).parent == package_without_cache / "mdfuzzy"
    assert indices == "[1 0 2 1]"


def test_options_reach_numba():
    @compiled(parallel=True)
    def squares(n):
        out = np.empty(n)
        for i in numba.prange(n):
            out[i] = i * i
        return out

    np.testing.assert_array_equal(squares(4), [0, 1, 4, 9])
    assert squares.targetoptions["parallel"]


def test_division_by_zero_is_not_checked():
    @compiled()
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == np.inf


def test_other_errors_are_passed_on(monkeypatch: pytest.MonkeyPatch):
    def refuse(*, cache: bool = False, **options):
        if cache:
            raise RuntimeError("out of order")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", refuse)
    with pytest.raises(RuntimeError, match="out of order"):
        compiled()(lambda x: x)


def compile_one_of(module: str) -> None:
    def twice(x):
        return 2 * x

    twice.__module__ = f"mdfuzzy._kernels.{module}"
    numba.njit(twice)(1)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: nothing is compiled ahead")
def test_a_second_process_compiles_ahead_until_the_block_ends(monkeypatch, tmp_path: Path):
    mark = tmp_path / "pid"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(200)"
    monkeypatch.setattr(compiling, "_LATER_STEPS", code)
    with compiling.compiled_ahead():
        time.sleep(0.1)
        assert not mark.exists()  # nothing has to be compiled so far
        compile_one_of("search.knn")
        compile_one_of("search.cells")
        end = time.monotonic() + 60
        while not (mark.exists() and mark.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: nothing is compiled ahead")
def test_no_kernel_of_the_search_waits_for_the_process_that_compiles_ahead():
    code = (
        "import sys, mdfuzzy.neighbors._index; print(*(name for name in sys.modules if '._kernels.' in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split()) - {"mdfuzzy._kernels.jit", "mdfuzzy._kernels.search"}
    assert loaded
    assert all(name.startswith(compiling._SEARCH) for name in loaded)


def test_kernels_that_are_being_compiled_ahead_are_waited_for(monkeypatch, tmp_path: Path):
    mark = tmp_path / "done"
    code = f"import time; time.sleep(0.5); open({str(mark)!r}, 'w')"
    monkeypatch.setattr(compiling, "_LATER_STEPS", code)
    with compiling.compiled_ahead():
        compile_one_of("search.knn")
        assert not mark.exists()
        compile_one_of("walk.transitions")
        assert mark.exists()


def test_what_is_compiled_ahead_is_what_the_later_steps_need():
    used = """
from mdfuzzy._kernels import graph, tomato
from mdfuzzy._kernels.walk import groups, sweeps
later = graph.union_fill, tomato.ascend, groups.aggregate, sweeps.flows, sweeps.relax
assert all(kernel.signatures for kernel in later)
"""
    code = compiling._LATER_STEPS + used
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_a_word_while_kernels_are_compiled(caplog):
    def double(x):
        return x + x

    other = numba.njit(double)
    double.__module__ = "mdfuzzy._kernels.double"
    ours = numba.njit(double)
    with caplog.at_level("INFO", logger="mdfuzzy"):
        with compiling.announced():
            double.__module__ = "elsewhere"
            other(1)
            assert caplog.messages == []
            double.__module__ = "mdfuzzy._kernels.double"
            ours(1)
            ours(1.0)  # another one to compile
        ours(1j)  # nobody listens any more
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("compiling kernels")


@pytest.mark.parametrize(
    "code",
    [
        "mf.euclidean_neighbors([[0.0], [1.0]], n_neighbors=1).graph(k=1)",
        "mf.load(mf.datasets.folder() / 'ala2_00.xtc', top=mf.datasets.folder() / 'ala2.pdb')",
    ],
)
def test_without_a_compiler_the_variable_is_named(code):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", f"import mdfuzzy as mf; {code}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "ImportError: mdfuzzy needs compiled kernels, but the variable NUMBA_DISABLE_JIT" in done.stderr

"""How often one `mdfuzzy run --bare` goes from one module of the package into another.

python benchmarks/module_calls.py [--stride 50] [--pairs]

Works with any installed version of mdfuzzy. To compare versions, use the Python of each environment,
from a folder that holds no mdfuzzy. A pair counts once, however often a loop repeats it. Compiled kernels are
not seen.
"""

import argparse
import contextlib
import io
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

import mdfuzzy
from mdfuzzy.cli import main

PACKAGE = Path(mdfuzzy.__file__).parent
Function = tuple[str, str]


class Recorder:
    """Calls between modules of the package, in the order in which they happen."""

    def __init__(self) -> None:
        self.calls: set[tuple[Function, Function]] = set()
        self.sequence: list[tuple[str, str]] = []  # of modules; the same pair in a row counts once
        self._names: dict[str, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or frame.f_back is None:
            return
        caller, callee = self._name(frame.f_back), self._name(frame)
        if not caller or not callee or caller == callee:
            return
        self.calls.add(((caller, frame.f_back.f_code.co_qualname), (callee, frame.f_code.co_qualname)))
        if not self.sequence or self.sequence[-1] != (caller, callee):
            self.sequence.append((caller, callee))

    def _name(self, frame: FrameType) -> str:
        """Return the module of a frame; nothing outside of the package."""
        file = frame.f_code.co_filename
        if file not in self._names:
            path = Path(file)
            inside = path.is_relative_to(PACKAGE)
            self._names[file] = ".".join(path.relative_to(PACKAGE).with_suffix("").parts) if inside else ""
        return self._names[file]


def run(folder: str, stride: int) -> None:
    """Find the states of some bundled frames by the command line, without a word."""
    data = mdfuzzy.datasets.folder()
    files = [str(data / name) for name in ("ala2_00.xtc", "ala2_03.xtc")]
    options = ["--top", str(data / "ala2.pdb"), "--stride", str(stride), "--n-jobs", "1"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main(["run", *files, *options, "-o", folder, "--bare"])
    if code:
        raise SystemExit(f"the run failed with {code}")


def record(stride: int) -> Recorder:
    """Return the calls of a run; one before it imports and compiles what it needs."""
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/first", stride)
        threading.setprofile(recorder)
        sys.setprofile(recorder)
        try:
            run(f"{folder}/second", stride)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return recorder


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stride", type=int, default=50, help="use every Nth bundled frame")
    parser.add_argument("--pairs", action="store_true", help="also list the pairs of modules")
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    found = record(options.stride)
    modules = {(caller[0], callee[0]) for caller, callee in found.calls}
    print(f"mdfuzzy {mdfuzzy.__version__}, Python {sys.version.split()[0]}, stride {options.stride}")
    print(f"calls into another module (distinct pairs of functions): {len(found.calls)}")
    print(f"pairs of modules: {len(modules)}")
    print(f"in sequence, repeats in a row merged: {len(found.sequence)}")
    print(f"modules involved: {len({name for pair in modules for name in pair})}")
    if options.pairs:
        for caller, callee in sorted(modules):
            print(f"  {caller} -> {callee}")

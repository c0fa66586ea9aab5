"""Command lines with mistakes of all kinds, and some odd ones without."""

import itertools
import os
import shutil
from pathlib import Path

from attack import runs

_NUMBERS = ("0", "-1", "1e300", "nan", "inf", "-inf", "abc", "", "1e-300", "99999999999999999999", "0x10")
_OPTIONS = ("--stride", "--timestep", "--k", "--beta", "--prominence", "--seed", "--n-jobs")
_SELECTIONS = ("name ZZ", "name CA and", "", "all or", "((((", "index 0", "element H", "résidu", "name CA\n")
_PATHS = (
    *[
        "missing.xtc",
        "folder.xtc",
        "pipe.xtc",
        "device.xtc",
        "empty.xtc",
        "text.xtc",
        "noext",
        "a.unknown",
        "*.none",
        "loop.xtc",
    ],
    *("traj.xtc/inside.xtc", "dangling.xtc", "unreadable.xtc", "", "\0", "line\nbreak.xtc", "sep\u2028.xtc"),
    *("not-utf8-\udcff.xtc", "x" * 250 + ".xtc", "y" * 300 + ".xtc"),
)
_OUTPUTS = (
    *[
        "traj.xtc",
        "traj.xtc/out",
        "/dev/null",
        "/dev/null/out",
        "/proc/out",
        "busy/notes.txt",
        "loop.xtc",
        "pipe.xtc",
    ],
    *("dangling.xtc", "", "z" * 300),
)
_CLUSTERS = (
    "local:0",
    "local:-1",
    "local:x",
    "nowhere",
    "tcp://127.0.0.1:1",
    "missing.json",
    "text.json",
    "",
)


def cases(count: int, *, seed: int = 0) -> list[dict]:
    """Return at least so many command lines, or all that there are."""
    good = ["run", "traj.xtc", "--top", "top.pdb", "--bare"]
    lines = [("run", [*good, "-o", "new", option, value]) for option in _OPTIONS for value in _NUMBERS]
    lines += [("run", [*good, "-o", "new", "--atoms", selection]) for selection in _SELECTIONS]
    for path in _PATHS:
        lines.append(("files", ["run", path, "--top", "top.pdb", "--bare", "-o", "new"]))
        lines.append(("files", ["run", "traj.xtc", "--top", path, "--bare", "-o", "new"]))
    lines += [("output", [*good, "-o", output]) for output in _OUTPUTS]
    lines += [("dask", [*good, "-o", "new", "--dask", address]) for address in _CLUSTERS]
    lines += [("dask", [*good, "-o", "new", "--layout", "sharded"])]
    for command, folder in itertools.product(
        ("info", "plot", "export", "report", "assign"), ("missing", "empty", "busy", "traj.xtc", "", "forged")
    ):
        extra = ["traj.xtc", "--top", "top.pdb"] if command == "assign" else []
        lines.append((command, [command, folder, *extra]))
    twice = ["run", "traj.xtc", "traj.xtc", "--top", "top.pdb", "--bare", "-o", "new"]
    others = [
        ["runn"],
        ["run"],
        ["--nothing"],
        ["run", "--nothing"],
        ["plot"],
        ["export", "busy", "--nothing"],
    ]
    others += [["run", "traj.xtc"], ["run", "top.pdb", "top.pdb", "--bare", "-o", "new"], twice, []]
    others += [["demo", "-o", "traj.xtc"], ["info", "--help"], ["--version"]]
    lines += [("other", each) for each in others]
    named = [{"row": row, "line": line, "seed": number} for number, (row, line) in enumerate(lines)]
    return named[: max(count, 150)]


def warm(folder: Path) -> None:
    """Compile and make what all cases share, which counts for none of them."""
    runs.call(runs.arguments(runs.source(folder), folder / "whole"))


def attempt(case: dict, folder: Path) -> dict:
    """Run a command line among files of a user."""
    place = folder / "lines"
    shutil.rmtree(place, ignore_errors=True)
    _make(place, runs.source(folder))
    before = {path: runs.checksum(path) for path in place.rglob("*") if path.is_file()}
    os.chdir(place)
    try:
        status, said = runs.call(case["line"])
    finally:
        os.chdir(folder)
    lost = [path.name for path, sum_ in before.items() if runs.checksum(path) != sum_]
    if lost:
        return {"outcome": "lost", "words": ", ".join(lost)}
    if status == 0:
        return {"outcome": "same", "words": ""}
    return {"outcome": "clear" if runs.clear(status, said) else "unclear", "words": said[-300:]}


def _make(place: Path, source: Path) -> None:
    """Make files of all kinds."""
    shutil.copytree(source, place)
    for name in ("folder.xtc", "empty", "busy", "forged"):
        (place / name).mkdir()
    os.mkfifo(place / "pipe.xtc")
    for name, target in (("device.xtc", "/dev/zero"), ("loop.xtc", "loop.xtc"), ("dangling.xtc", "nothing")):
        (place / name).symlink_to(target)
    (place / "empty.xtc").touch()
    for name in ("text.xtc", "text.json", "noext", "a.unknown", "busy/notes.txt", "busy/run.json"):
        (place / name).write_text("some text\n")
    (place / "forged" / "run.json").write_text('{"version": 1}')
    for name in ("line\nbreak.xtc", "sep\u2028.xtc", "not-utf8-\udcff.xtc", "x" * 250 + ".xtc"):
        shutil.copy(source / "traj.xtc", place / name)
    shutil.copy(source / "traj.xtc", place / "unreadable.xtc")
    (place / "unreadable.xtc").chmod(0)

"""Damaged run directories: is the damage noticed, and computed again or named?"""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np

from attack import runs
from attack.damage import damage

#: What is done to one file of the folder: to its bytes, and to the file as a whole.
BYTES = ("flip", "zero", "noise", "swap", "cut", "delete", "insert", "append")
WHOLE = ("gone", "empty", "folder", "link", "zeros", "other file", "json")
KINDS = ("flip", "flip", "zeros", *BYTES, *WHOLE)


def cases(count: int, *, seed: int = 0) -> list[dict]:
    """Return so many cases, of all kinds of damage in turn."""
    return [{"row": KINDS[i % len(KINDS)], "seed": seed + i} for i in range(count)]


@cache
def _whole(folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
    output = folder / "whole"
    status, said = runs.call(runs.arguments(runs.source(folder), output))
    assert status == 0, said
    return output, runs.findings(output)


def warm(folder: Path) -> None:
    """Compile and make what all cases share, which counts for none of them."""
    _whole(folder)


def attempt(case: dict, folder: Path) -> dict:
    """Damage a file of a finished run, run the same command again, and compare what it finds."""
    whole, expected = _whole(folder)
    rng = np.random.default_rng(case["seed"])
    output = folder / f"run-{case['seed']}"
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(whole, output)
    looks, marks = rng.random() < 0.33, rng.random() < 0.25
    mine = runs.mark(output) if marks else {}
    outside = folder / "outside.txt"
    outside.write_text("mine, too")
    mine[outside] = runs.checksum(outside)
    files = sorted(path for path in output.rglob("*") if path.is_file() and path not in mine)
    if case["row"] == "json":
        files = [path for path in files if path.suffix == ".json"]
    if case["row"] == "zeros":
        files = [path for path in files if path.suffix == ".npy" and np.load(path).dtype.kind in "fiu"]
    path = files[int(rng.integers(len(files)))]
    _break(path, case["row"], rng, files, outside)
    try:
        answer = _run(folder, output, expected, looks=looks)
    except Exception as error:
        answer = {"outcome": "unclear", "words": f"{type(error).__name__}: {error}"}
    lost = [str(each) for each, before in mine.items() if runs.checksum(each) != before]
    if lost:
        answer = {"outcome": "lost", "words": ", ".join(lost)}
    shutil.rmtree(output, ignore_errors=True)
    return {**answer, "file": path.name}


def _run(folder: Path, output: Path, expected: dict[str, np.ndarray], *, looks: bool) -> dict:
    """Run the command again, or only look at what is there, and compare."""
    again = ["info", str(output)] if looks else runs.arguments(runs.source(folder), output)
    status, said = runs.call(again)
    if status != 0:
        return {"outcome": "clear" if runs.clear(status, said, output.name) else "unclear", "words": said}
    same = runs.same(runs.findings(output), expected)
    return {"outcome": "same" if same else "silent", "words": said[-300:]}


def _break(path: Path, kind: str, rng: np.random.Generator, files: list[Path], outside: Path) -> None:
    if kind in BYTES:
        data = path.read_bytes()
        if data:
            path.write_bytes(damage(data, kind, rng))
        return
    if kind == "zeros":
        np.save(path, np.zeros_like(np.load(path)))
    elif kind == "other file":
        shutil.copy(files[int(rng.integers(len(files)))], path.with_name("draft"))
        path.with_name("draft").replace(path)
    elif kind == "json":
        _change_json(path, rng)
    else:
        path.unlink()
        if kind == "empty":
            path.touch()
        elif kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(outside)


def _change_json(path: Path, rng: np.random.Generator) -> None:
    """Replace or remove one entry of a JSON file."""
    record = json.loads(path.read_text())
    holder, key = record, None
    while isinstance(holder, dict) and holder:
        key = sorted(holder)[int(rng.integers(len(holder)))]
        if not isinstance(holder[key], dict) or not holder[key] or rng.random() < 0.3:
            break
        holder = holder[key]
    if isinstance(holder, dict) and key is not None:
        values = [None, -1, 1e308, "", "../../outside.txt", [], {}, True, "x" * 300, [[[[[]]]]]]
        choice = int(rng.integers(len(values) + 1))
        if choice == len(values):
            del holder[key]
        else:
            holder[key] = values[choice]
    path.write_text(json.dumps(record))

"""Runs that are killed: the same command goes on, finds the same, and nothing of a user's is lost."""

import shutil
import signal
import subprocess
import time
from functools import cache
from pathlib import Path

import numpy as np

from attack import runs

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")


def cases(count: int, *, seed: int = 0) -> list[dict]:
    """Return so many kills, at times from the start of the process to its end."""
    return [
        {"row": SIGNALS[i % len(SIGNALS)], "seed": seed + i, "part": (i + 0.5) / count} for i in range(count)
    ]


@cache
def _whole(folder: Path) -> tuple[float, dict[str, np.ndarray]]:
    """Return how long the run takes and what it finds."""
    output = folder / "whole"
    command = [*runs.program(), *runs.arguments(runs.source(folder), output)]
    start = time.monotonic()
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return time.monotonic() - start, runs.findings(output)


def warm(folder: Path) -> None:
    """Compile and make what all cases share, which counts for none of them."""
    runs.call(runs.arguments(runs.source(folder), folder / "first"))
    _whole(folder)


def attempt(case: dict, folder: Path) -> dict:
    """Kill a run, run the command again, and compare."""
    duration, expected = _whole(folder)
    output = folder / f"run-{case['seed']}"
    shutil.rmtree(output, ignore_errors=True)
    command = [*runs.program(), *runs.arguments(runs.source(folder), output)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        time.sleep(case["part"] * duration)
        process.send_signal(getattr(signal, case["row"]))
        said = process.stderr.read().decode(errors="replace")
    if case["row"] == "SIGINT" and "Traceback" in said:
        return {"outcome": "unclear", "words": said[-300:]}
    # A folder with files that mdfuzzy did not write is rejected until the run has begun.
    mine = runs.mark(output) if any(output.rglob("run.json")) else {}
    again = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if again.returncode != 0:
        return {"outcome": "unclear", "words": again.stderr[-300:]}
    answer = {"outcome": "same" if runs.same(runs.findings(output), expected) else "silent", "words": ""}
    lost = [str(path) for path, before in mine.items() if runs.checksum(path) != before]
    shutil.rmtree(output, ignore_errors=True)
    return {"outcome": "lost", "words": ", ".join(lost)} if lost else answer

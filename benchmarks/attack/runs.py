"""Small runs to attack: their files, how they are started, and what they find."""

import contextlib
import hashlib
import io
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np

#: Frames of the run: enough for its states, few enough to be found in a moment.
FRAMES = 300


@cache
def source(folder: Path) -> Path:
    """Return a folder with ``traj.xtc`` and ``top.pdb``, cut from the bundled trajectories."""
    import mdfuzzy as mf

    place = folder / "source"
    place.mkdir(exist_ok=True)
    frames = mf.datasets.alanine_dipeptide(stride=40)
    frames.trajectory(np.arange(FRAMES)).save(str(place / "traj.xtc"))
    shutil.copy(mf.datasets.folder() / "ala2.pdb", place / "top.pdb")
    return place


def arguments(place: Path, output: Path) -> list[str]:
    """Return the arguments of the command that makes the run."""
    return ["run", str(place / "traj.xtc"), "--top", str(place / "top.pdb"), "-o", str(output), "--bare"]


def call(words: list[str]) -> tuple[int, str]:
    """Run the command line in this process; return its status and what it said on stderr."""
    from mdfuzzy.cli import main

    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main(words)
    return status, said.getvalue()


def findings(output: Path) -> dict[str, np.ndarray]:
    """Return what a finished run found, read as a user would read it."""
    import mdfuzzy as mf

    with contextlib.redirect_stderr(io.StringIO()):
        result = mf.RunDir(output).load()
    return {
        "memberships": result.memberships.values,
        "cores": result.cores.core_of,
        "peaks": result.cores.peaks,
        "density": result.log_density,
        "neighbors": result.neighbors.distances,
        "mixing": result.transition_regions.mixing,
    }


def same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
    """Whether two runs found the same."""
    return all(np.array_equal(found[name], values, equal_nan=True) for name, values in expected.items())


def mark(folder: Path) -> dict[Path, str]:
    """Put files of a user into a folder, under names that a program might take for its own."""
    names = ["notes.txt", "data.tmp/run.xtc", "exports/frames.csv.bak", ".cache.tmp", "plots/state-9.png"]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"mine: {name}")
    return {folder / name: checksum(folder / name) for name in names}


def checksum(path: Path) -> str:
    """Return a checksum of a file, or of its absence."""
    try:
        return hashlib.blake2b(path.read_bytes()).hexdigest()
    except OSError:
        return "gone"


def clear(status: int, said: str, *names: str) -> bool:
    """Whether an error is one line that a user understands, and names the file if there is one to name."""
    errors = [line for line in said.splitlines() if line.startswith("mdfuzzy: error:")]
    named = not names or any(name in said for name in names)
    return status == 2 and len(errors) == 1 and "Traceback" not in said and named


def program() -> list[str]:
    """Return the beginning of a command line in another process."""
    return [sys.executable, "-W", "ignore", "-m", "mdfuzzy"]

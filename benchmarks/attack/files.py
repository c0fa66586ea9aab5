"""Damaged trajectory files of all formats."""

import resource
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from attack.damage import IN_PLACE, KINDS, damage

TEXT = ("pdb", "gro", "lammpstrj", "xyz", "mdcrd", "cif")
FORMATS = ("xtc", "trr", "dcd", "nc", "h5", "pdb.gz", "xyz.gz", *TEXT)
_FRAMES = 12
#: Memory of a worker: a size in a header must not take the machine's.
_MEMORY = 6 * 2**30


def cases(count: int, *, seed: int = 0) -> list[dict]:
    """Return so many cases, of all formats and kinds of damage in turn; XTC and DCD, which C reads, twice."""
    formats = [*FORMATS, "xtc", "trr", "dcd"]
    return [
        {"row": formats[i % len(formats)], "kind": KINDS[i // len(formats) % len(KINDS)], "seed": seed + i}
        for i in range(count)
    ]


def make(form: str, path: Path, *, frames: int = _FRAMES) -> None:
    """Write the undamaged file, or one of fewer frames."""
    import mdtraj as md

    import mdfuzzy as mf

    folder = mf.datasets.folder()
    trajectory = next(md.iterload(str(folder / "ala2_00.xtc"), top=str(folder / "ala2.pdb"), chunk=_FRAMES))
    trajectory.xyz += 2.0
    trajectory.unitcell_lengths = np.full((_FRAMES, 3), 4.0)
    trajectory.unitcell_angles = np.full((_FRAMES, 3), 90.0)
    trajectory[:frames].save(str(path))


@cache
def _whole(form: str, folder: Path) -> tuple[bytes, object]:
    """Return the undamaged file and what is loaded from it."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    path = folder / f"whole.{form}"
    make(form, path)
    return path.read_bytes(), _load(path)


def _load(path: Path) -> object:
    import mdfuzzy as mf

    return mf.load(str(path), top=str(mf.datasets.folder() / "ala2.pdb"))


def warm(folder: Path) -> None:
    """Compile and make what all cases share, which counts for none of them."""
    for form in FORMATS:
        _whole(form, folder)


def attempt(case: dict, folder: Path) -> dict:
    """Load a damaged file and say what happened."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data, expected = _whole(case["row"], folder)
    rng = np.random.default_rng(case["seed"])
    path = folder / f"damaged-{case['seed']}.{case['row']}"
    broken = damage(data, case["kind"], rng, text=case["row"] in TEXT)
    path.write_bytes(broken)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _load(path)
    except Exception as error:
        known = isinstance(error, ValueError | TypeError | OSError) and not isinstance(error, UnicodeError)
        clear = known and path.name in str(error)
        return {"outcome": "clear" if clear else "unclear", "words": f"{type(error).__name__}: {error}"[:300]}
    finally:
        path.unlink(missing_ok=True)
    words = [str(each.message) for each in caught if path.name in str(each.message)]
    outcome = _judge(found, expected, case["kind"], data, broken, words)
    if (
        outcome == "silent"
        and len(found) < len(expected)
        and _is_shorter(case["row"], broken, len(found), folder)
    ):
        outcome = "value"
    return {"outcome": outcome, "words": "; ".join(words)[:300]}


def _is_shorter(form: str, broken: bytes, frames: int, folder: Path) -> bool:
    """Whether these bytes are what a writer of fewer frames would have written: nothing shows the cut."""
    path = folder / f"shorter.{form}"
    make(form, path, frames=frames)
    return path.read_bytes().rstrip(b"\n") == broken.rstrip(b"\n")


def _judge(found: object, expected: object, kind: str, data: bytes, broken: bytes, words: list[str]) -> str:
    equal_times = np.array_equal(found.times, expected.times) if expected.times is not None else True
    if len(found) == len(expected):
        different = np.abs(found.xyz - expected.xyz).max(axis=(1, 2)) > 0
        if not different.any() and equal_times:
            return "same"
    if words:
        return "warned"
    if len(found) != len(expected):
        return "silent"
    # As many frames, few of them touched: a coordinate or time was replaced by another.
    small = abs(len(data) - len(broken)) <= 64 and kind not in ("cut", "cut end")
    return "value" if kind in IN_PLACE or (small and different.sum() <= 2) else "silent"

"""Named dictionaries of arrays in a folder: plain files, each whole or not there."""

import json
import os
import re
from math import isfinite
from pathlib import Path

import numpy as np

from mdfuzzy._atomic import whole_file

#: The number of the format of the files. Raised when older programs could not read them.
FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class ArrayFolder:
    """Named dictionaries of arrays in a folder: NAME.json, and NAME-TAG.ARRAY.npy for each larger array.

    The arrays are written first, under a new tag, then the JSON file, which names them, takes the place of
    the old one: so a name has either all its old arrays or all its new ones, whenever the writer dies.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Return the arrays that were put under `name` with this `key`; None if there are none.

        Files that are not whole count as not there.
        """
        try:
            record = json.loads(self._record(name).read_text(encoding="utf-8"))
            if record["format"] != FORMAT or record["key"] != key:
                return None
            arrays = {each: np.array(value, dtype=kind) for each, (kind, value) in record["values"].items()}
            for each, file in record["files"].items():
                arrays[each] = np.load(self.path / file, allow_pickle=False)
        except (OSError, ValueError, KeyError, TypeError, EOFError):
            return None
        return arrays

    def put(self, name: str, *, key: str = "", **arrays: np.ndarray) -> None:
        """Keep `arrays` under `name` with `key`, instead of what is there.

        When this returns they are on the disk. Numbers and texts (arrays without dimensions) go into the JSON
        file, other arrays into one file each. Arrays of objects are refused.
        """
        record = self._record(name)
        self.path.mkdir(parents=True, exist_ok=True)
        values, files = {}, {}
        tag = os.urandom(4).hex()
        for each, array in arrays.items():
            array = np.asarray(array)
            if array.dtype.hasobject:
                raise TypeError(f"`{each}` must be an array of numbers or texts; got one of objects.")
            if array.ndim == 0:
                values[each] = [array.dtype.str, to_json(array.item())]
            else:
                files[each] = f"{name}-{tag}.{each}.npy"
                with whole_file(self.path / files[each]) as file:
                    np.save(file, array, allow_pickle=False)
        content = {"format": FORMAT, "key": key, "values": values, "files": files}
        write_json(record, content)
        for old in self.path.glob(f"{name}-*.npy"):
            if old.name not in files.values() and _is_array_of(name, old.name):
                old.unlink(missing_ok=True)

    def _record(self, name: str) -> Path:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "run":
            raise ValueError(
                f"`name` must be made of letters, digits, '_', '-' and '.', and not be 'run'; got {name!r}."
            )
        return self.path / f"{name}.json"


def _is_array_of(name: str, file: str) -> bool:
    """Whether the file holds an array of exactly this name, not of one that begins with it."""
    return re.fullmatch(re.escape(name) + r"-[0-9a-f]{8}\..*\.npy", file) is not None


def to_json(value: object) -> object:
    """Return numbers that JSON does not have (infinity, NaN) as texts, which numpy and float() can read."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def write_json(path: Path, content: dict) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(content, indent=1, allow_nan=False).encode("utf-8"))

"""Named dictionaries of arrays in a folder: plain files, each complete or absent, with checksums."""

import json
import logging
import os
import re
import zlib
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from mdfuzzy._atomic import is_draft, is_folder, remove_drafts, whole_file
from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.frames.mapping import open_array, release

#: The number of the format of the files. Increase it when older programs could not read them.
FORMAT = 2
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
#: The entry of a JSON file that holds the checksum of the others.
_CHECKSUM = "checksum"
#: Number of bytes per step of the checksum.
_PIECE = 2**26

logger = logging.getLogger("mdfuzzy")


class ArrayFolder:
    """Store named dictionaries of arrays in a folder: NAME.json, and NAME-TAG.ARRAY.npy for larger arrays.

    The arrays are written first, under a new tag. Then the JSON file, which names them, replaces the old one.
    So a name has either all its old arrays or all its new ones, even if the writing process is killed. Every
    file has a checksum (CRC-32), which is verified when the file is read.

    Attributes
    ----------
    path : Path
        The folder.
    damaged : list of str
        The files found damaged so far.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.damaged: list[str] = []

    @property
    def names(self) -> list[str]:
        """All names under which there are arrays."""
        if not is_folder(self.path):
            return []
        return sorted(file.stem for file in self.path.glob("*.json") if _NAME.fullmatch(file.stem))

    def get(self, name: str, *, key: str | None = "") -> dict[str, np.ndarray] | None:
        """Return the arrays that were put under `name` with this `key` (None: any); None if there are none.

        Large arrays are memory maps of their files. Damaged files count as missing; the log names them.
        """
        file = self._record(name)
        try:
            record = read_json(file)
            if record["format"] != FORMAT or key not in (None, record["key"]):
                return None
            arrays = {each: np.array(value, dtype=kind) for each, (kind, value) in record["values"].items()}
            for each, (stored, crc) in record["files"].items():
                file = self.path / stored
                arrays[each] = _load(file, crc)
        except FileNotFoundError:
            if file == self._record(name):
                return None
            self._report(file, "missing")
            return None
        except Exception as error:  # a damaged file can make numpy and json raise almost anything
            self._report(file, f"damaged ({reason(error)})")
            return None
        return arrays

    def has(self, name: str, *, key: str) -> bool:
        """Whether there are arrays under `name` with this `key`; they are not read."""
        try:
            record = read_json(self._record(name))
            return bool(record["format"] == FORMAT and record["key"] == key)
        except Exception:  # as in `get`
            return False

    def verifies(self, name: str) -> bool:
        """Whether the JSON file of `name` is one that this class wrote."""
        try:
            return read_json(self._record(name))["format"] == FORMAT
        except Exception:  # as in `get`
            return False

    def put(self, name: str, key: str = "", /, **arrays: np.ndarray) -> None:
        """Save `arrays` under `name` with `key`, replacing older ones.

        When this returns, the arrays are on the disk. Numbers and texts (arrays without dimensions) go into
        the JSON file, other arrays into one file each. Arrays of objects are rejected.
        """
        record = self._record(name)
        self.path.mkdir(parents=True, exist_ok=True)
        values: dict[str, list[Any]] = {}
        files: dict[str, list[Any]] = {}
        tag = os.urandom(4).hex()
        for each, array in arrays.items():
            array = np.asarray(array)
            if array.dtype.hasobject:
                raise InputTypeError(f"`{each}` must be an array of numbers or texts; got one of objects.")
            if array.ndim == 0:
                values[each] = [array.dtype.str, to_json(array.item())]
            else:
                array = np.ascontiguousarray(array)
                files[each] = [f"{name}-{tag}.{each}.npy", _checksum(array)]
                with whole_file(self.path / files[each][0]) as file:
                    np.save(file, array, allow_pickle=False)
        write_json(record, {"format": FORMAT, "key": key, "values": values, "files": files})
        kept = {stored for stored, _ in files.values()}
        for old in self.path.glob(f"{name}-*.npy"):
            if old.name not in kept and _is_array_of(name, old.name):
                with suppress(PermissionError):  # mapped, on Windows: the next `put` removes it
                    old.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the saved arrays, and the folder unless it holds other files."""
        if not is_folder(self.path):
            return
        remove_drafts(self.path)
        for name in self.names:
            for file in self.path.glob(f"{name}-*.npy"):
                if _is_array_of(name, file.name):
                    file.unlink(missing_ok=True)
            self._record(name).unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def _record(self, name: str) -> Path:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "run":
            raise InputValueError(
                f"`name` must be made of letters, digits, '_', '-' and '.', and not be 'run'; got {name!r}."
            )
        return self.path / f"{name}.json"

    def _report(self, file: Path, what: str) -> None:
        self.damaged.append(f"{file} is {what}")
        logger.warning(f"{file} is {what}; the step that wrote it is computed again")


def _is_array_of(name: str, file: str) -> bool:
    """Return whether the file holds an array of exactly this name, not of a longer name."""
    return re.fullmatch(re.escape(name) + r"-[0-9a-f]{8}\..*\.npy", file) is not None


def _checksum(array: np.ndarray) -> int:
    """Return the CRC-32 of an array: its type, its shape and its bytes."""
    crc = zlib.crc32(f"{array.dtype.str} {array.shape}".encode())
    content = array.data.cast("B") if array.size else b""
    for start in range(0, len(content), _PIECE):
        crc = zlib.crc32(content[start : start + _PIECE], crc)
        release()
    return crc


def _load(file: Path, crc: int) -> np.ndarray:
    array = open_array(file)
    if not isinstance(array, np.ndarray) or _checksum(np.ascontiguousarray(array)) != crc:
        raise InputValueError("the checksum differs")
    return array


def to_json(value: Any) -> Any:
    """Return numbers that JSON does not have (infinity, NaN) as texts, which numpy and float() can read."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file with a checksum."""
    content = {**content, _CHECKSUM: _crc(content)}
    with whole_file(path) as file:
        file.write(json.dumps(content, indent=1, allow_nan=False).encode("utf-8"))


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file; raise ValueError if its checksum differs."""
    content = json.loads(path.read_bytes().decode("utf-8"))
    if not isinstance(content, dict) or content.pop(_CHECKSUM, None) != _crc(content):
        raise InputValueError("the checksum differs")
    return content


def _crc(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True, allow_nan=False).encode("utf-8"))


def reason(error: Exception) -> str:
    """Return a description of the damage of a file."""
    return str(error) if isinstance(error, InputValueError) else type(error).__name__


def strangers(folder: Path) -> list[str]:
    """Return the names of the entries of a folder, without drafts; none if there is no folder."""
    return (
        sorted(each.name for each in folder.iterdir() if not is_draft(each.name)) if folder.exists() else []
    )

"""The run directory: the results of finished steps in plain files, from which a run goes on."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mdfuzzy.features import Features
from mdfuzzy.frames import Frames
from mdfuzzy.settings import Settings

#: The number of the format of the files. Raised when older programs could not read them.
FORMAT = 1
_RUN = "run.json"
_TEMPORARY = ".tmp"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class _Folder:
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
                values[each] = [array.dtype.str, _to_json(array.item())]
            else:
                files[each] = f"{name}-{tag}.{each}.npy"
                _write(self.path / files[each], lambda file, array=array: _save(file, array))
        content = {"format": FORMAT, "key": key, "values": values, "files": files}
        _write_json(record, content)
        for old in self.path.glob(f"{name}-*.npy"):
            if old.name not in files.values() and _is_array_of(name, old.name):
                old.unlink(missing_ok=True)

    def _record(self, name: str) -> Path:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "run":
            raise ValueError(
                f"`name` must be made of letters, digits, '_', '-' and '.', and not be 'run'; got {name!r}."
            )
        return self.path / f"{name}.json"


class RunDir(_Folder):
    """A folder that keeps the results of finished steps, for `cluster` to go on from.

    Each step is NAME.json (its key, and its numbers) with NAME-TAG.ARRAY.npy for each of its arrays; run.json
    says which data and settings they are for. All files are plain JSON and NumPy's format, without pickle.
    A file is written under another name first and then renamed, so it is whole or not there. One run at
    a time may use a folder.

    Parameters
    ----------
    path : path
        The folder; made when the first file is written.

    Attributes
    ----------
    path : Path
        The folder.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> points = np.random.default_rng(0).normal(size=(300, 2))
    >>> points[:150] += 6
    >>> first = mf.cluster(points, mf.Settings(beta=1), store=mf.RunDir(folder.name))
    >>> again = mf.cluster(points, mf.Settings(beta=2), store=mf.RunDir(folder.name))  # only the last step
    >>> "memberships" in mf.RunDir(folder.name).steps
    True
    >>> folder.cleanup()
    """

    def __repr__(self) -> str:
        return f"RunDir({str(self.path)!r}, {len(self.steps)} finished steps)"

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the finished steps."""
        if not self.path.is_dir():
            return ()
        return tuple(sorted(file.stem for file in self.path.glob("*.json") if file.name != _RUN))

    @property
    def settings(self) -> Settings | None:
        """The settings of the last run; None if there was none."""
        run = self._read_run()
        if run is None:
            return None
        return Settings(**{name: inf if value == "inf" else value for name, value in run["settings"].items()})

    def begin(self, data: Frames | Features, settings: Settings) -> str:
        """Prepare for a run on `data` with `settings`, and return a key of the data.

        Raises
        ------
        FileExistsError
            If the folder holds results for other data, or files that are not from a run.
        ValueError
            If it was written in a format that this version does not know.
        """
        fingerprint = _fingerprint(data)
        run = self._read_run()
        if run is None and self.path.exists():
            self._refuse_strangers()
        if run is not None and run["fingerprint"] != fingerprint:
            raise FileExistsError(
                f"{self.path} holds the results for other data: {run['data']}, not {_describe(data)}. Give "
                "another folder, or remove this one."
            )
        self.path.mkdir(parents=True, exist_ok=True)
        for left_over in self.path.rglob(f"*{_TEMPORARY}"):
            left_over.unlink(missing_ok=True)
        content = {
            "format": FORMAT,
            "fingerprint": fingerprint,
            "data": _describe(data),
            "settings": {name: _to_json(value) for name, value in settings.as_dict().items()},
        }
        _write_json(self.path / _RUN, content)
        return fingerprint

    def put(self, name: str, *, key: str = "", **arrays: np.ndarray) -> None:
        """Keep `arrays` under `name` with `key`, instead of what is there; remove the parts of `name`."""
        super().put(name, key=key, **arrays)
        shutil.rmtree(self._parts(name), ignore_errors=True)

    def parts(self, name: str, *, key: str) -> _Folder:
        """Return where the unfinished step `name` keeps its parts, with methods `get` and `put` like these.

        Parts that were made with another `key` are removed.
        """
        self._record(name)
        folder = self._parts(name)
        for other in folder.iterdir() if folder.is_dir() else ():
            if other.name != key:
                shutil.rmtree(other, ignore_errors=True)
        return _Folder(folder / key)

    def _parts(self, name: str) -> Path:
        return self.path / f"{name}.parts"

    def _read_run(self) -> dict | None:
        file = self.path / _RUN
        try:
            run = json.loads(file.read_text(encoding="utf-8"))
            number = run["format"]
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise NotADirectoryError(f"`path` must be a folder; {self.path} is a file.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{file} is damaged: {error}. Remove the folder, or give another one."
            ) from error
        if number != FORMAT:
            raise ValueError(
                f"{self.path} is in format {number!r}; this version of mdfuzzy reads format {FORMAT}. "
                "Use the version that wrote it, or give another folder."
            )
        return run

    def _refuse_strangers(self) -> None:
        """Raise if the folder holds anything although no run began there."""
        strangers = sorted(file.name for file in self.path.iterdir() if not file.name.endswith(_TEMPORARY))
        if strangers:
            raise FileExistsError(
                f"{self.path} must be a new or empty folder, or one of an earlier run; it holds "
                f"{strangers[0]!r} and no {_RUN}. Give another folder."
            )


def _fingerprint(data: Frames | Features) -> str:
    """Return a hash of all that the results depend on."""
    digest = hashlib.blake2b(digest_size=16)
    for each in _essence(data):
        array = np.ascontiguousarray(each)
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        digest.update(memoryview(array).cast("B") if array.size else b"")
    return digest.hexdigest()


def _essence(data: Frames | Features) -> Iterator[np.ndarray]:
    yield data.lengths
    if isinstance(data, Frames):
        yield data.xyz
    else:
        yield from (data.values, data.periodic, np.array([data.period]))


def _describe(data: Frames | Features) -> str:
    """Return what `data` is in a few words."""
    return repr(data)


def _is_array_of(name: str, file: str) -> bool:
    """Whether the file holds an array of exactly this name, not of one that begins with it."""
    return re.fullmatch(re.escape(name) + r"-[0-9a-f]{8}\..*\.npy", file) is not None


def _to_json(value: object) -> object:
    """Return numbers that JSON does not have (infinity, NaN) as texts, which numpy and float() can read."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _save(file: BinaryIO, array: np.ndarray) -> None:
    np.save(file, array, allow_pickle=False)


def _write_json(path: Path, content: dict) -> None:
    text = json.dumps(content, indent=1, allow_nan=False)
    _write(path, lambda file: file.write(text.encode("utf-8")))


def _write(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Write a file so that it is whole or not there: under another name, to the disk, then renamed."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=_TEMPORARY)
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder last; some systems cannot, and do not need it."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

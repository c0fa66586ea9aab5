"""The run directory: the results of finished steps in plain files, from which a run goes on."""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from pathlib import Path

import numpy as np

from mdfuzzy._atomic import TEMPORARY
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.loading import load
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.run import cluster
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.store._array_folder import FORMAT, ArrayFolder, to_json, write_json
from mdfuzzy.store._lock import LOCK, FolderLock

_RUN = "run.json"
#: Folders of the parts of unfinished steps end like this.
_PARTS = ".parts"


class RunDir(ArrayFolder):
    """A folder that keeps the results of finished steps, for `cluster` to go on from.

    Each step is NAME.json (its key, and its numbers) with NAME-TAG.ARRAY.npy for each of its arrays; run.json
    says which data and settings they are for, and how the data was read if it came from files. All files are
    plain JSON and NumPy's format, without pickle. A file is written under another name first and then
    renamed, so it is whole or not there. One process at a time may use a folder. Folders and other files
    beside these do not matter.

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
    >>> mf.RunDir(folder.name)
    RunDir(..., ... finished steps)
    >>> mf.RunDir(folder.name).load(points)  # computes nothing
    Clustering(2 states of 300 frames, k=20, beta=2 (2: as simulated, smaller: colder))
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike) -> None:
        super().__init__(path)
        self._lock = FolderLock(self.path)

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

    @property
    def reading(self) -> dict[str, object] | None:
        """The arguments of `load` that read the frames of the run; None if they do not come from files.

        Files that are no longer where they were are looked for where they would be if they had been moved
        together with the folder.
        """
        run = self._read_run()
        reading = None if run is None else run.get("reading")
        if reading is None:
            return None
        paths = [[self._find(file, run["folder"]) for file in pieces] for pieces in reading["paths"]]
        top = reading["top"]
        return reading | {"paths": paths, "top": None if top is None else self._find(top, run["folder"])}

    def _find(self, file: str, folder: str) -> str:
        moved = os.path.normpath(self.path.absolute() / os.path.relpath(file, folder))
        return moved if not os.path.exists(file) and os.path.exists(moved) else file

    def summary(self) -> str:
        """Return a text that says what was run here: the data, the settings that were changed, the steps."""
        run = self._run_or_refuse()
        default, settings = Settings().as_dict(), self.settings.as_dict()
        changed = [f"{name}={value!r}" for name, value in settings.items() if value != default[name]]
        return "\n".join(
            [
                f"run directory {self.path}",
                f"data: {run['data']}",
                f"settings: {', '.join(changed) or 'all as by default'}",
                f"finished steps: {', '.join(self.steps) or 'none'}",
            ]
        )

    def load(self, data: Frames | Features | np.ndarray | None = None) -> Clustering:
        """Return the result of a finished run, from the files alone: nothing is computed.

        Parameters
        ----------
        data : Frames, Features or arrays, optional
            What was clustered; needed if it did not come from files. By default the files are read again.

        Returns
        -------
        Clustering
            As `cluster` returned it. What it warned of is in its `warnings`.

        Raises
        ------
        FileNotFoundError
            If no run began in this folder, or a file that it read is gone.
        ValueError
            If the run is not finished, or `data` is needed, or is not what was clustered.

        Examples
        --------
        >>> import mdfuzzy as mf, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> frames = mf.datasets.alanine_dipeptide(stride=20)
        >>> result = mf.cluster(frames, mf.Settings(prominence=1.0), store=mf.RunDir(folder.name))
        >>> mf.RunDir(folder.name).load().n_states == result.n_states
        True
        >>> folder.cleanup()
        """
        self._run_or_refuse()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # given when the run was made, and kept with it
            if data is None:
                reading = self.reading
                if reading is None:
                    raise ValueError(
                        f"`data` must be given: what {self.path} was made of does not come from files. Use "
                        "RunDir(...).load(data)."
                    )
                data = load(**reading)
            return cluster(data, self.settings, store=_Finished(self), progress=False)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out of the folder inside the block; `cluster` does it for itself.

        Raises
        ------
        BlockingIOError
            If another process is at work there.
        FileExistsError
            If the folder holds files that are not from a run.
        """
        self.check_place()
        self.path.mkdir(parents=True, exist_ok=True)
        with self._lock.hold():
            yield

    def check_place(self) -> None:
        """Raise FileExistsError if the folder holds files that are not from a run. Nothing is written."""
        if self._read_run() is None and self.path.exists():
            self._refuse_strangers()

    def begin(self, data: Frames | Features, settings: Settings) -> str:
        """Prepare for a run on `data` with `settings`, and return a key of the data.

        Raises
        ------
        FileExistsError
            If the folder holds results for other data, or files that are not from a run.
        ValueError
            If it was written in a format that this version does not know.
        """
        with self.lock():
            fingerprint = self.check(data)
            for left_over in list(self.path.rglob(f"*{TEMPORARY}")):  # of writers that were killed
                if left_over.is_dir():
                    shutil.rmtree(left_over, ignore_errors=True)
                left_over.unlink(missing_ok=True)
            self._remove_parts_of_finished_steps()
            content = {
                "format": FORMAT,
                "fingerprint": fingerprint,
                "data": repr(data),
                "settings": {name: to_json(value) for name, value in settings.as_dict().items()},
                "reading": getattr(data, "reading", None),
                "folder": str(self.path.absolute()),
            }
            write_json(self.path / _RUN, content)
        return fingerprint

    def check(self, data: Frames | Features) -> str:
        """Return the key of `data`; raise FileExistsError if the folder holds results for other data."""
        fingerprint = _fingerprint(data)
        run = self._read_run()
        if run is not None and run["fingerprint"] != fingerprint:
            raise FileExistsError(
                f"{self.path} holds the results for other data: {run['data']}, not {data!r}. Give another "
                "folder, or remove this one."
            )
        return fingerprint

    def put(self, name: str, *, key: str = "", **arrays: np.ndarray) -> None:
        """Keep `arrays` under `name` with `key`, instead of what is there; remove the parts of `name`."""
        super().put(name, key=key, **arrays)
        shutil.rmtree(self._parts(name), ignore_errors=True)

    def parts(self, name: str, *, key: str) -> ArrayFolder:
        """Return where the unfinished step `name` keeps its parts, with methods `get` and `put` like these.

        Parts that were made with another `key` are removed.
        """
        self._record(name)
        folder = self._parts(name)
        for other in folder.iterdir() if folder.is_dir() else ():
            if other.name != key:
                shutil.rmtree(other, ignore_errors=True)
        return ArrayFolder(folder / key)

    def _remove_parts_of_finished_steps(self) -> None:
        """Do what `put` did not come to, if the run was killed in it."""
        for folder in self.path.glob(f"*{_PARTS}"):
            for part in folder.iterdir():
                if super().get(folder.stem, key=part.name) is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    break

    def _parts(self, name: str) -> Path:
        return self.path / f"{name}{_PARTS}"

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

    def _run_or_refuse(self) -> dict:
        run = self._read_run()
        if run is None:
            raise FileNotFoundError(
                f"{self.path} must be the folder of a run; there is no {_RUN} in it. `mdfuzzy run` and "
                "cluster(..., store=RunDir(...)) make one."
            )
        return run

    def _refuse_strangers(self) -> None:
        """Raise if the folder holds anything although no run began there."""
        strangers = sorted(
            file.name for file in self.path.iterdir() if not file.name.endswith((TEMPORARY, LOCK))
        )
        if strangers:
            raise FileExistsError(
                f"{self.path} must be a new or empty folder, or one of an earlier run; it holds "
                f"{strangers[0]!r} and no {_RUN}. Give another folder."
            )


class _Finished:
    """A run directory from which results are taken, and in which nothing is changed."""

    def __init__(self, run: RunDir) -> None:
        self._run = run

    def lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def begin(self, data: Frames | Features, settings: Settings) -> str:
        return self._run.check(data)

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        return self._run.get(name, key=key)

    def parts(self, name: str, *, key: str) -> ArrayFolder:
        """Asked for by a step that is to be computed."""
        raise ValueError(
            f"{self._run.path} is not finished: the step {name!r} is missing. Run it again, and it goes on "
            "from what is there."
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

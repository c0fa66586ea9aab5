"""The run directory: the results of finished steps in plain files, from which a run resumes."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf, prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._atomic import adopt_files, draft_in, refuse_links, remove_drafts
from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.features.memory import to_arrays
from mdfuzzy.frames.data import as_data
from mdfuzzy.frames.loading import load
from mdfuzzy.frames.mapping import LARGE, scratch_array
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.run import cluster
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.store._array_folder import (
    ArrayFolder,
    strangers,
)
from mdfuzzy.store._fingerprint import Fingerprint, digest
from mdfuzzy.store._lock import FolderLock
from mdfuzzy.store._migration import OldRun
from mdfuzzy.store._run_file import DATA, FEATURES, RUN, WEIGHTS, RunFile
from mdfuzzy.store._unfinished import UnfinishedSteps
from mdfuzzy.store._views import FinishedRun, SavedSteps, StepMissingError
from mdfuzzy.store.state_names import StateNames, match_states

#: The entry of a saved step that holds the fingerprint of the data it is for.
_OF = "fingerprint"
#: The name under which the names of the states are saved.
_NAMES = "names"


class RunDir:
    """Keep the results of finished steps in a folder, so that `cluster` can resume.

    The folder ``data`` in it holds each step as NAME.json (its key, and its numbers) with NAME-TAG.ARRAY.npy
    for each of its arrays; run.json records the data and the settings, and how the data was read if it came
    from files. All files are plain JSON and NumPy's format, without pickle, and have checksums. A file is
    written under another name first and then renamed, so it is either complete or absent. Only one process at
    a time may write to a folder. Folders of version 0.1 are converted when a run resumes or is loaded.

    Parameters
    ----------
    path : path
        The folder; it is created when the first file is written.

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
    Clustering(2 states of 300 frames, k=20, beta=2 (walk temperature; 2 = simulation temperature); ...)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._data = ArrayFolder(self.path / DATA)
        self._run = RunFile(self.path, self._data)
        self._unfinished = UnfinishedSteps(self._data)
        self._lock = FolderLock(self._data.path)
        self._begun: tuple[Trajectories, Fingerprint] | None = None

    def __repr__(self) -> str:
        return f"RunDir({str(self.path)!r}, {len(self.steps)} finished steps)"

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the finished steps."""
        others = (Path(RUN).stem, _NAMES, FEATURES, WEIGHTS)
        return tuple(name for name in self._data.names if name not in others)

    @property
    def scratch_folder(self) -> Path:
        """The folder for frames that do not fit into memory: `load(scratch=)`."""
        return self._data.path

    @property
    def settings(self) -> Settings | None:
        """The settings of the last run; None if there was none."""
        return self._run.settings

    @property
    def data_summary(self) -> str | None:
        """A description of the clustered data; None if there was no run."""
        return self._run.data_summary

    @property
    def reading(self) -> dict[str, Any] | None:
        """The arguments of `load` that read the frames of the run; None if they do not come from files.

        Missing files are searched where they would be if they had been moved together with the folder.
        """
        return self._run.reading

    def summary(self) -> str:
        """Return a text with the data, the changed settings and the steps of the run."""
        return self._run.summary(self.steps)

    def load(self, data: Trajectories | npt.ArrayLike | None = None) -> Clustering:
        """Return the result of a finished run from its files, without any computation.

        Parameters
        ----------
        data : Frames, Features or arrays, optional
            The clustered data; required if it did not come from files. By default the files are read again.

        Returns
        -------
        Clustering
            The result as `cluster` returned it. Its `warnings` hold the warnings of the run.

        Raises
        ------
        FileNotFoundError
            If no run began in this folder, or an input file of the run is missing.
        ValueError
            If the run is not finished, or if `data` is required or differs from the clustered data.

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
        self._run.read_or_refuse()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # given when the run was made, and saved with it
            if data is None:
                features = self._run.features()
                data = None if features is None else features.weighted()  # the weights may have changed since
            if data is None:
                reading = self.reading
                if reading is None:
                    raise InputValueError(
                        f"`data` must be given: what {self.path} was made of does not come from files. Use "
                        "RunDir(...).load(data)."
                    )
                data = load(**reading, scratch=self.scratch_folder)
            data = self._run.with_weights(as_data(data))
            if OldRun.is_here(self.path):
                return cluster(data, self.settings, store=self, progress=False, memory=inf)
            store = FinishedRun(self.path, self._data, self.check)
            return cluster(data, self.settings, store=store, progress=False, memory=inf)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder against writing by other processes inside the block; `cluster` does so itself.

        Raises
        ------
        BlockingIOError
            If another process is writing there.
        FileExistsError
            If the folder holds files that are not from a run.
        """
        self.check_place()
        self._data.path.mkdir(parents=True, exist_ok=True)
        with self._lock.hold():
            yield

    def check_place(self) -> None:
        """Raise FileExistsError if the folder holds files that are not from a run. Nothing is written."""
        if self.path.exists() and not self.path.is_dir():
            raise NotADirectoryError(f"`path` must be a folder; {self.path} is a file.")
        refuse_links(self._data.path, inside=self.path)
        if self._run.begun(self.steps):
            self._run.read()  # raises if it cannot be used
            return
        found = [name for name in strangers(self.path) if name != DATA]
        found += [f"{DATA}/{name}" for name in strangers(self._data.path) if name != self._lock.path.name]
        if found:
            raise FileExistsError(
                f"{self.path} must be a new or empty folder, or one of an earlier run; it holds "
                f"{found[0]!r} and no {DATA}/{RUN}. Give another folder."
            )

    def begin(self, data: Trajectories, settings: Settings) -> str:
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
            for folder in (self._data.path, self.path, *(self.path / name for name in ("plots", "exports"))):
                remove_drafts(folder)  # left by processes that were killed
            if OldRun.is_here(self.path):
                self._bring_up_to_date(data, fingerprint)
            self._unfinished.remove_finished()
            self._run.write(data, settings, fingerprint)
            arrays = to_arrays(data)
            if arrays is not None and not self._data.has(FEATURES, key=fingerprint.key):
                self._data.put(FEATURES, fingerprint.key, **arrays)
        self._begun = data, fingerprint
        return fingerprint.key

    def _bring_up_to_date(self, data: Trajectories, fingerprint: Fingerprint) -> None:
        """Save the results of version 0.1 under the keys of this version, and remove the old files."""
        old = OldRun(self.path)
        settings = Settings(**old.settings)
        saved = old.steps(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # given when the old run was made
            with suppress(StepMissingError):  # the old run may have ended early
                cluster(
                    data,
                    settings,
                    store=SavedSteps(self.put, saved, fingerprint.key),
                    progress=False,
                    memory=inf,
                )
        self._run.write(data, settings, fingerprint)
        pictures = old.pictures()
        if pictures:
            adopt_files(self.path / "plots", "plots", pictures)
        if (self.path / "exports" / "frames.csv").is_file():
            adopt_files(self.path / "exports", "table", [Path("frames.csv")])
        old.remove()
        for name in (RUN, ".lock"):
            (self.path / name).unlink(missing_ok=True)

    def check(self, data: Trajectories) -> Fingerprint:
        """Return the fingerprint of `data`; raise FileExistsError if the folder is of other data.

        Data that has grown does not count as other data: its results are computed again.
        """
        return self._run.check(data)

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Return the arrays put under `name` with this `key`; None if there are none, or damaged ones."""
        return self._data.get(name, key=key)

    def put(self, name: str, *, key: str = "", growing: bool = False, **arrays: np.ndarray) -> None:
        """Save `arrays` under `name` with `key`, replacing older ones; remove the parts of `name`.

        With `growing`, the data of the current run is recorded, for `earlier`.
        """
        of = {_OF: np.array(self._begun[1].as_json())} if growing and self._begun is not None else {}
        self._data.put(name, key, **arrays, **of)
        self._unfinished.remove(name)

    def earlier(self, name: str) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
        """Return the arrays saved under `name` for some frames of the current run, and their numbers.

        None if there are none, or if these frames are not among the frames of the run.
        """
        arrays = self._data.get(name, key=None)
        if self._begun is None or arrays is None or _OF not in arrays:
            return None
        frames = Fingerprint.read(json.loads(arrays.pop(_OF).item())).frames_in(self._begun[0])
        return None if frames is None else (arrays, frames)

    def scratch(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array of zeros for temporary data; a large array is in a file that is deleted with it.

        Parameters
        ----------
        shape : tuple of int
            The shape of the array.
        dtype : dtype
            The type of the array.
        """
        if np.dtype(dtype).itemsize * prod(shape) < LARGE:
            return np.zeros(shape, dtype)
        self._data.path.mkdir(parents=True, exist_ok=True)
        return scratch_array(draft_in(self._data.path), shape, dtype)

    def parts(self, name: str, *, key: str) -> ArrayFolder:
        """Return the store of the parts of the unfinished step `name`, with methods `get` and `put`.

        Parts that were made with another `key` are removed.
        """
        return self._unfinished.open(name, key=key)

    @property
    def names(self) -> StateNames | None:
        """The names of the states, which are kept from run to run; None if there are none."""
        saved = self._data.get(_NAMES, key=None)
        return None if saved is None else StateNames.of(saved)

    def name_states(self, result: Clustering) -> StateNames:
        """Match the states of a run in this folder with the previous run, and keep their names.

        Parameters
        ----------
        result : Clustering
            The result of `cluster` with this store.

        Returns
        -------
        StateNames
            The names, and the states that appeared, vanished, split or merged.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> rng, run = np.random.default_rng(0), mf.RunDir(folder.name)
        >>> heaps = [rng.normal(size=(200, 2)) + shift for shift in (0, 6, 12)]
        >>> print(run.name_states(mf.cluster(heaps[:2], store=run)))
        states, by number and name: 0 = A, 1 = B
        >>> print(run.name_states(mf.cluster(heaps, store=run)).events)
        ('C appeared',)
        >>> folder.cleanup()
        """
        check_type("result", result, Clustering, remedy="`cluster` makes it.")
        if result.data is None or self._begun is None or self._begun[0] is not result.data:
            raise InputValueError("`result` must come from the last run with this store; got another one.")
        labels = result.labels
        key = digest(labels) + self._begun[1].key
        saved = self._data.get(_NAMES, key=key)  # nothing changed
        if saved is None:
            with self.lock():
                found = self.earlier(_NAMES)
                before = None if found is None else (StateNames.of(found[0]), found[0]["labels"])
                frames = None if found is None else found[1]
                names = match_states(before, labels, n_states=result.n_states, frames=frames)
                self.put(_NAMES, key=key, growing=True, labels=labels, **names.arrays())
            return names
        return StateNames.of(saved)

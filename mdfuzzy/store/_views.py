"""Stores that compute nothing: the results of a finished run, and results that get new keys."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.store._array_folder import ArrayFolder
from mdfuzzy.store._fingerprint import Fingerprint


class FinishedRun:
    """A run directory from which results are taken, and in which nothing is changed.

    Parameters
    ----------
    path : Path
        The run directory, for messages.
    saved : ArrayFolder
        Its saved steps.
    check : callable
        Returns the fingerprint of data, or raises if the run was on other data.
    """

    def __init__(self, path: Path, saved: ArrayFolder, check: Callable[[Trajectories], Fingerprint]) -> None:
        self._path, self._saved, self._check = path, saved, check

    def lock(self) -> AbstractContextManager[None]:
        """Lock nothing."""
        return nullcontext()

    def begin(self, data: Trajectories, settings: Settings) -> str:
        """Return the key of `data`."""
        return self._check(data).key

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Return the arrays of a saved step; None if there are none."""
        return self._saved.get(name, key=key)

    def put(self, name: str, *, key: str = "", growing: bool = False, **arrays: np.ndarray) -> None:
        """Never called: `parts` refuses before."""

    def earlier(self, name: str) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
        """Never called: `parts` refuses before."""

    def scratch(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array of zeros in memory: nothing is written here."""
        return np.zeros(shape, dtype)

    def parts(self, name: str, *, key: str) -> ArrayFolder:
        """Raise an error: a step that requests its parts is about to be computed."""
        damaged = "".join(f" {each}." for each in self._saved.damaged)
        raise InputValueError(
            f"{self._path} is not finished: the step {name!r} is missing.{damaged} Run it again, and it "
            "resumes from what is there."
        )


class StepMissingError(Exception):
    """A step has not been saved."""


class SavedSteps:
    """Arrays of steps by name, with any keys, which are saved elsewhere under the requested keys.

    Parameters
    ----------
    put : callable
        Puts the arrays of a step under a key.
    saved : dict
        The arrays by the names of the steps.
    key : str
        The key of the data.
    """

    def __init__(self, put: Callable[..., None], saved: dict[str, dict[str, np.ndarray]], key: str) -> None:
        self._put, self._saved, self._key = put, saved, key

    def lock(self) -> AbstractContextManager[None]:
        """Lock nothing."""
        return nullcontext()

    def begin(self, data: Trajectories, settings: Settings) -> str:
        """Return the key of the data."""
        return self._key

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Put the arrays of a step under its key and return them; None if there are none."""
        if name not in self._saved:
            return None
        self._put(name, key=key, **self._saved[name])
        return dict(self._saved[name])

    def put(self, name: str, *, key: str = "", growing: bool = False, **arrays: np.ndarray) -> None:
        """Never called: `parts` ends the run before."""

    def earlier(self, name: str) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
        """Never called: `parts` ends the run before."""

    def scratch(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array of zeros in memory."""
        return np.zeros(shape, dtype)

    def parts(self, name: str, *, key: str) -> ArrayFolder:
        """End the run: a step that requests its parts is about to be computed."""
        raise StepMissingError(name)

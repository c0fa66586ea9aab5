"""The error of memberships by extension, measured against fits of more and of fewer frames."""

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from mdfuzzy.frames.mapping import LARGE, copy_in_parts
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.extension import extend_memberships
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.pipeline._cache import Run
from mdfuzzy.pipeline.extension import Extension, Fitted, Room
from mdfuzzy.pipeline.sample import ExtensionError, evenly_spaced
from mdfuzzy.pipeline.settings import Settings


def measure_error(
    data: Trajectories,
    frames: np.ndarray,
    fitted: Fitted,
    found: Extension,
    *,
    size: int,
    room: Room = np.zeros,
    means: Mapping[str, object] | None = None,
) -> ExtensionError:
    """Compare memberships by extension with a fit that contains the frames, and a fit with one of half of it.

    Parameters
    ----------
    data : Trajectories
        All frames.
    frames : (m,) int64
        The fitted frames among them.
    fitted : Fitted
        The fitted frames with their memberships.
    found : Extension
        The memberships of all frames.
    size : int
        The number of frames of the fit that contains other frames. If it is larger than the number of fitted
        frames, the fit also contains all of these; otherwise half of them.
    room : callable
        Allocates large arrays.
    means : mapping, optional
        Such as the number of threads; see `Run`.
    """
    n, m = len(data), len(frames)
    kept, count = (frames, min(size, n) - m) if size > m else (frames[::2], m - len(frames[::2]))
    others = np.setdiff1d(np.arange(n), frames, assume_unique=True)
    others = others[evenly_spaced(len(others), min(count, len(others)))]
    rows = np.sort(np.concatenate([kept, others]))
    settings = replace(fitted.settings, beta=fitted.memberships.beta, scan_beta=False)
    larger = _fit(data.sample(rows), settings, room, means).memberships.values
    known = larger[np.searchsorted(rows, others)]
    matched, apart = _matched(found.values[others], known, found.values[rows], larger)
    differences = 0.5 * (np.abs(matched - known).sum(axis=1) + apart)
    return ExtensionError(
        frames=len(others),
        fitted=len(rows),
        mean=float(differences.mean()),
        most=float(np.quantile(differences, 0.99)),
        agreement=float(np.mean(matched.argmax(axis=1) == known.argmax(axis=1))),
        n_states=found.values.shape[1],
        n_states_other=larger.shape[1],
        half=_half_error(fitted, settings, room, means),
        growth=log2(len(rows) / m),
        doublings=log2(n / m),
    )


def _half_error(fitted: Fitted, settings: Settings, room: Room, means: Mapping[str, object] | None) -> float:
    """Return the mean difference between extension from half of the sample and its fit, in the other half."""
    ours, others = np.arange(0, len(fitted.data), 2), np.arange(1, len(fitted.data), 2)
    half = _fit(fitted.data.sample(ours), settings, room, means)
    near = nearest_frames(
        half.data, n_neighbors=half.k, queries=fitted.data.subset(others), progress=False,
        n_jobs=settings.n_jobs,
    )  # fmt: skip
    values = extend_memberships(half.memberships, near, k=half.k, n_jobs=settings.n_jobs).values
    known = fitted.memberships.values
    matched, apart = _matched(values, known[others], half.memberships.values, known[ours])
    return float(np.mean(0.5 * (np.abs(matched - known[others]).sum(axis=1) + apart)))


def _fit(data: Trajectories, settings: Settings, room: Room, means: Mapping[str, object] | None) -> Fitted:
    """Find the states of some frames and their memberships."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they concern states that are not kept
        run = Run(settings, {"data": data}, store=_Temporary(room), means=means, growing=False)
        return Fitted(data, run["memberships"], run["k"], settings)


def _matched(
    values: np.ndarray, known: np.ndarray, of_all: np.ndarray, known_of_all: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return memberships in the states that they are compared with, and what is left for each frame.

    The states are matched so that the memberships of all frames overlap most.
    """
    from scipy.optimize import linear_sum_assignment

    ours, theirs = linear_sum_assignment(-(of_all.T @ known_of_all))
    matched = np.zeros_like(known)
    matched[:, theirs] = values[:, ours]
    return matched, values.sum(axis=1) - matched.sum(axis=1)


class _Temporary:
    """Hold the results of one run, the large arrays in files that disappear with it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._saved: dict[tuple[str, str], dict[str, np.ndarray]] = {}

    def lock(self) -> AbstractContextManager[None]:
        """Return a context in which nothing has to be locked."""
        return nullcontext()

    def begin(self, data: Trajectories, settings: Settings) -> str:
        """Return the key of the data."""
        return ""

    def get(self, name: str, *, key: str = "") -> dict[str, np.ndarray] | None:
        """Return arrays that were put."""
        found = self._saved.get((name, key))
        return None if found is None else dict(found)

    def put(self, name: str, *, key: str = "", growing: bool = False, **arrays: np.ndarray) -> None:
        """Hold arrays."""
        self._saved[name, key] = {each: self._moved(array) for each, array in arrays.items()}

    def _moved(self, array: np.ndarray) -> np.ndarray:
        if array.nbytes < LARGE:
            return array
        place = self._room(array.shape, array.dtype)
        copy_in_parts(array, place)
        return place

    def earlier(self, name: str) -> None:
        """Return None: no run came before."""

    def scratch(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """Return an array of zeros."""
        return self._room(shape, dtype)

    def parts(self, name: str, *, key: str) -> Any:
        """Return None: unfinished steps are not held."""

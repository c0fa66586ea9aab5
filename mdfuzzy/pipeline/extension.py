"""Memberships of all frames in the states of a sample, by extension, chunk by chunk."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from mdfuzzy._check import InputValueError, ReadOnly, read_only
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.mapping import release
from mdfuzzy.frames.rereading import FrameFiles
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.extension import extend_memberships
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.pipeline.settings import Settings

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client, Future

#: Smallest number of frames that are assigned together. It is half the number of fitted frames if that is
#: larger, because the index of the fitted frames is built for each chunk.
CHUNK = 262_144
#: Chunks that a worker has in progress at a time.
_IN_FLIGHT = 2

#: Allocates an array of a given shape and type.
Room = Callable[[tuple[int, ...], npt.DTypeLike], np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class Extension(ReadOnly):
    """Hold the memberships of all frames, extended from the nearest fitted frames.

    Attributes
    ----------
    nearest : (n,) int32
        The nearest fitted frame of each frame, as an index among the fitted frames.
    distances : (n,) float32
        The distance to that frame (nm for RMSD); 0 for a fitted frame.
    values : (n, K) float64
        The memberships.
    lost : (n,) float64
        The probability to reach no core.
    """

    nearest: np.ndarray
    distances: np.ndarray
    values: np.ndarray
    lost: np.ndarray

    def __post_init__(self) -> None:
        for name in ("nearest", "distances", "values", "lost"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Fitted:
    """Hold the data that extension needs: the fitted frames and their memberships.

    Attributes
    ----------
    data : Trajectories
        The fitted frames.
    memberships : Memberships
        The memberships of the fitted frames.
    k : int
        The number of neighbours that a step can reach.
    settings : Settings
        The settings with which the memberships were computed.
    """

    data: Trajectories
    memberships: Memberships
    k: int
    settings: Settings

    def extend(self, queries: Trajectories, *, n_jobs: int | None) -> dict[str, np.ndarray]:
        """Return the fields of `Extension` for some other frames."""
        with _quiet():
            near = nearest_frames(
                self.data,
                n_neighbors=self.k,
                queries=queries,
                recall=self.settings.recall,
                n_jobs=n_jobs,
                progress=False,
            )
        found = extend_memberships(self.memberships, near, k=self.k, n_jobs=n_jobs)
        first = near.indices[:, 0].copy(), near.distances[:, 0].copy()
        return dict(zip(_NAMES, (*first, found.values, found.lost), strict=True))


_NAMES = ("nearest", "distances", "values", "lost")


def extend_to_all(
    data: Trajectories,
    frames: np.ndarray,
    fitted: Fitted,
    *,
    n_jobs: int | None,
    progress: bool | None = None,
    blocks: BlockStore | None = None,
    room: Room = np.zeros,
    client: "Client | None" = None,
) -> Extension:
    """Extend the memberships of the fitted frames to all frames.

    Parameters
    ----------
    data : Trajectories
        All frames.
    frames : (m,) int64
        The fitted frames among them, in ascending order. They keep their memberships.
    fitted : Fitted
        The fitted frames with their memberships.
    n_jobs, progress
        As in `cluster`.
    blocks : BlockStore, optional
        Stores the finished chunks, so that a killed run can resume.
    room : callable
        Allocates the arrays of the result.
    client : distributed.Client, optional
        Assign on the workers of this Dask cluster. The workers read the frames from the files if they can
        access these.

    Returns
    -------
    Extension
        The result is bitwise identical for any number of threads or workers.
    """
    n, states = len(data), fitted.memberships.values.shape[1]
    kinds: tuple[npt.DTypeLike, ...] = (np.int32, np.float32, np.float64, np.float64)
    shapes = (n,), (n,), (n, states), (n,)
    made = {name: room(shape, kind) for name, shape, kind in zip(_NAMES, shapes, kinds, strict=True)}
    size = max(CHUNK, len(frames) // 2)
    chunks = {f"frames-{first:012d}": slice(first, min(first + size, n)) for first in range(0, n, size)}
    waiting = []
    hidden = None if progress is None else not progress
    with tqdm(total=n, unit=" frames", desc="assigning", disable=hidden) as bar:

        def put(chunk: slice, found: dict[str, np.ndarray]) -> None:
            for name, array in found.items():
                made[name][chunk] = array
            bar.update(chunk.stop - chunk.start)
            release()

        for name, chunk in chunks.items():
            found = None if blocks is None else blocks.get(name)
            if found is None:
                waiting.append(chunk)
            else:
                put(chunk, found)
        assigned = _assigned(data, frames, fitted, waiting, n_jobs, client)
        for chunk, found in assigned:
            whole = _with_fitted(chunk, frames, fitted, found)
            if blocks is not None:
                blocks.put(f"frames-{chunk.start:012d}", **whole)
            put(chunk, whole)
    return Extension(**made)


def _assigned(
    data: Trajectories,
    frames: np.ndarray,
    fitted: Fitted,
    chunks: list[slice],
    n_jobs: int | None,
    client: "Client | None",
) -> Iterator[tuple[slice, dict[str, np.ndarray]]]:
    """Yield each chunk with the results for its frames that were not fitted."""
    if client is not None:
        yield from _assigned_on_workers(data, frames, fitted, chunks, client)
        return
    for chunk in chunks:
        rows = _others(chunk, frames)
        if len(rows):
            yield chunk, fitted.extend(data.subset(rows), n_jobs=n_jobs)
        else:
            yield chunk, {}


def _others(chunk: slice, frames: np.ndarray) -> np.ndarray:
    """Return the frames of a chunk that were not fitted."""
    free = np.ones(chunk.stop - chunk.start, bool)
    free[_inside(chunk, frames) - chunk.start] = False
    return np.flatnonzero(free) + chunk.start


def _inside(chunk: slice, frames: np.ndarray) -> np.ndarray:
    first, last = np.searchsorted(frames, [chunk.start, chunk.stop])
    return frames[first:last]


def _with_fitted(
    chunk: slice, frames: np.ndarray, fitted: Fitted, found: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Combine the known results of the fitted frames of a chunk with the others, in frame order."""
    size = chunk.stop - chunk.start
    first, last = np.searchsorted(frames, [chunk.start, chunk.stop])
    known = frames[first:last] - chunk.start
    others = _others(chunk, frames) - chunk.start
    of_fit = {
        "nearest": np.arange(first, last, dtype=np.int32),
        "distances": np.zeros(last - first, np.float32),
        "values": fitted.memberships.values[first:last],
        "lost": fitted.memberships.lost[first:last],
    }
    whole = {}
    for name, array in of_fit.items():
        whole[name] = np.empty((size, *array.shape[1:]), array.dtype)
        whole[name][known] = array
        if len(others):
            whole[name][others] = found[name]
    return whole


# --- on the workers of a cluster


def _assigned_on_workers(
    data: Trajectories, frames: np.ndarray, fitted: Fitted, chunks: list[slice], client: "Client"
) -> Iterator[tuple[slice, dict[str, np.ndarray]]]:
    from mdfuzzy.workers.cluster import Scattered, find_workers, on_workers, results

    workers = find_workers(client)
    files = FrameFiles.of(data)
    if files is not None and set(on_workers(client, files.are_here).values()) != {True}:
        files = None
    where = "read by the workers from the files" if files else "sent to the workers"
    logging.getLogger("mdfuzzy").info(f"assigning {len(data):,} frames on {workers}; {where}")
    shared = Scattered(client, fitted)

    def submit(rows: np.ndarray) -> "Future":
        part = data.subset(rows)
        task: tuple[Any, ...] = (_extend_here, part)
        if files is not None:
            task = _extend_read, files, rows, _digest(part.points)
        return client.submit(task[0], shared.future(), *task[1:], pure=False)

    empty = [chunk for chunk in chunks if not len(_others(chunk, frames))]
    for chunk in empty:
        yield chunk, {}
    tasks = (
        (chunk, lambda chunk=chunk: submit(_others(chunk, frames))) for chunk in chunks if chunk not in empty
    )
    yield from results(client, tasks, _IN_FLIGHT * len(workers.addresses))


def _extend_here(fitted: Fitted, part: Trajectories) -> dict[str, np.ndarray]:
    return fitted.extend(part, n_jobs=1)


def _extend_read(fitted: Fitted, files: FrameFiles, rows: np.ndarray, digest: str) -> dict[str, np.ndarray]:
    """Assign frames that this worker reads, if they are identical to the loaded frames."""
    xyz = files.read(rows)
    if _digest(xyz) != digest:
        raise InputValueError(
            f"The trajectory files must be the same for the workers as when they were loaded; got other "
            f"coordinates from {files.sources[0].path!r} or one of the others. Load them again."
        )
    lengths = np.array([len(xyz)])
    part = fitted.data.subset(np.array([0]))  # only for the metric of the frames
    return _extend_here(fitted, replace(cast(Frames, part), xyz=xyz, lengths=lengths, weights=None))


def _digest(points: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(points).data, digest_size=16).hexdigest()


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the time estimates of searches inside the block: there is one search for every chunk."""

    def drop(record: logging.LogRecord) -> bool:
        return record.levelno > logging.INFO

    logger = logging.getLogger("mdfuzzy")
    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)

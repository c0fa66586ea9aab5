"""Write trajectories on the workers of a Dask cluster, which read the files themselves."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy.exports._splitting import split_by_group
from mdfuzzy.exports._writers import TrajectoryWriter
from mdfuzzy.frames.trajectories import Trajectories

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.workers.cluster import Client, Future


def can_read(client: "Client", frames: Trajectories) -> bool:
    """Return whether all frames come from files that all workers can access."""
    from mdfuzzy.workers.cluster import can_access

    paths = [source.path for source in frames.sources if source.path is not None]
    return can_access(client, paths) and 0 < len(paths) == len(frames.sources)


def write_elsewhere(
    client: "Client",
    frames: Trajectories,
    every: np.ndarray,
    group: np.ndarray,
    files: Sequence[Path],
    turn: "Callable[[md.Trajectory], md.Trajectory] | None",
) -> None:
    """Write frames with all their atoms to XTC files; each task reads one trajectory file.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    frames : Trajectories
        All frames.
    every : (m,) int64
        The frames to write, ascending.
    group : (m,) int64
        The file in `files` that each goes to.
    files : sequence of Path
        The files.
    turn : callable, optional
        Superposes frames.
    """
    from mdfuzzy.workers.queue import results_in_order

    tasks, written = [], np.zeros(len(files), np.int64)
    ends = np.cumsum([source.count for source in frames.sources])
    for begin, end in zip(ends - [source.count for source in frames.sources], ends, strict=True):
        first, last = np.searchsorted(every, [begin, end])
        if first == last:
            continue
        here = group[first:last]
        task = every[first:last] - begin, here, written.copy(), turn
        tasks.append(partial(_submit, client, frames, slice(int(begin), int(end)), *task))
        written += np.bincount(here, minlength=len(files))
    for path in files:
        path.touch()
    for found in results_in_order(client, tasks):
        for place, content in found.items():
            with open(files[place], "ab") as file:
                file.write(content)


def _submit(client: "Client", frames: Any, rows: slice, *task: Any) -> "Future":
    """Submit a task; its frames are taken only at this point, so that few frames are in memory."""
    return client.submit(_encode, frames[rows], *task, pure=False)


def _encode(
    frames: Trajectories,
    wanted: np.ndarray,
    group: np.ndarray,
    written: np.ndarray,
    turn: "Callable[[md.Trajectory], md.Trajectory] | None",
) -> dict[int, bytes]:
    """Return the content of the XTC files for the frames of one source."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {int(place): Path(folder, f"{place}.xtc") for place in np.unique(group)}
        with ExitStack() as stack:
            writers = {
                place: stack.enter_context(TrajectoryWriter(path, first=int(written[place])))
                for place, path in paths.items()
            }
            for place, part in split_by_group(frames.stream(np.unique(wanted)), wanted, group):
                writers[place].append(turn(part) if turn else part)
        return {place: path.read_bytes() for place, path in paths.items()}

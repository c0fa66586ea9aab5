"""Read files in a second process, because a damaged file can end the process that reads it.

The HDF5 and DTR libraries trust the data that they read. The process is kept for the next file, and replaced
if it has ended.
"""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._kernels.process import start_python
from mdfuzzy.frames._damage import DamageError, WrongAtomsError
from mdfuzzy.frames._plain_path import plain_path

if TYPE_CHECKING:
    import mdtraj as md

_CODE = "from mdfuzzy.frames._guarded import serve; serve()"
#: The process that waits for the next file, if there is one.
_IDLE: list[subprocess.Popen[bytes]] = []


def chunks(path: str, topology: "md.Topology", size: int) -> Iterator["md.Trajectory"]:
    """Yield the frames of a file, at most `size` at a time."""
    import mdtraj as md

    for xyz, time, lengths, angles in _answers("chunks", path, size, topology):
        if xyz.shape[1] != topology.n_atoms:
            raise WrongAtomsError(xyz.shape[1])
        yield md.Trajectory(xyz, topology, time, lengths, angles)


def topology(path: str) -> "md.Topology":
    """Return the topology that a file holds."""
    (found,) = _answers("topology", path)
    return found


def count(path: str) -> int:
    """Return the number of frames."""
    (found,) = _answers("count", path)
    return found


def velocities(path: str, numbers: np.ndarray) -> np.ndarray | None:
    """Return the velocities of frames of an HDF5 file, (m, atoms, 3) in nm/ps; None if it has none."""
    (found,) = _answers("velocities", path, numbers)
    return found


def _answers(request: str, *arguments: object) -> Iterator[Any]:
    """Yield the answers of the other process; raise its errors, and a `DamageError` if it dies."""
    process = _take()
    requests, answers = _pipes(process)
    whole = False  # whether all of the answer was read
    try:
        pickle.dump((request, *arguments), requests)
        requests.flush()
        while True:
            kind, value = pickle.load(answers)
            if kind == "answer":
                yield value
                continue
            whole = True
            if kind == "error":
                raise value
            return
    except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
        raise DamageError("the library that reads it crashed") from error
    finally:
        if whole and not _IDLE:
            _IDLE.append(process)
        else:
            _end(process)


def _take() -> subprocess.Popen[bytes]:
    """Return a process that waits for requests."""
    while _IDLE:
        process = _IDLE.pop()
        if process.poll() is None:
            return process
        _end(process)
    return start_python(_CODE, listens=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    """Return the pipe for requests and the pipe for answers."""
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    requests, answers = _pipes(process)
    process.kill()
    answers.close()
    with suppress(OSError):  # what was left to write, to a process that is gone
        requests.close()
    process.wait()


@atexit.register
def _end_idle() -> None:
    while _IDLE:
        _end(_IDLE.pop())


def serve() -> None:
    """Answer requests in the other process until there are no more."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print, too
    while True:
        try:
            request, *arguments = pickle.load(requests)
        except EOFError:
            return
        ending: tuple[str, Exception | None] = "end", None
        try:
            for value in _SERVICES[request](*arguments):
                pickle.dump(("answer", value), answers, protocol=pickle.HIGHEST_PROTOCOL)
                answers.flush()
        except Exception as error:
            ending = "error", _plain(error)
        pickle.dump(ending, answers)
        answers.flush()


def _plain(error: Exception) -> Exception:
    """Return an error that can be sent to another process; some HDF5 errors hold open files."""
    if isinstance(error, ImportError | MemoryError | DamageError):
        return type(error)(str(error))
    return DamageError(f"{type(error).__name__}: {' '.join(str(error).split())[:120]}")


def _read_chunks(path: str, size: int, topology: "md.Topology") -> Iterator[tuple[np.ndarray | None, ...]]:
    import mdtraj as md

    if path.endswith((".h5", ".hdf5")):  # md.iterload would parse the topology again for every chunk
        with md.open(path) as file:
            while len(frames := file.read(n_frames=size)):
                yield _checked(frames.coordinates, frames.time, frames.cell_lengths, frames.cell_angles)
    elif path.endswith(".lh5"):
        whole = md.load(path)
        for start in range(0, len(whole.xyz), size):
            yield whole.xyz[start : start + size], whole.time[start : start + size], None, None
    else:
        with plain_path(path) as plain:
            for chunk in md.iterload(plain, top=topology, chunk=size):
                yield _checked(chunk.xyz, chunk.time, chunk.unitcell_lengths, chunk.unitcell_angles)


def _checked(
    xyz: np.ndarray | None, time: np.ndarray | None, lengths: np.ndarray | None, angles: np.ndarray | None
) -> tuple[np.ndarray | None, ...]:
    if xyz is None or xyz.ndim != 3:
        raise DamageError("it has no coordinates")
    if (lengths is None) != (angles is None):
        raise DamageError("it has half a periodic box")
    return xyz, time, lengths, angles


def _read_topology(path: str) -> Iterator["md.Topology"]:
    import mdtraj as md

    yield md.load_topology(path)


def _read_count(path: str) -> Iterator[int]:
    import mdtraj as md

    with md.open(path) as file:
        yield len(file)


def _read_velocities(path: str, numbers: np.ndarray) -> Iterator[np.ndarray | None]:
    import mdtraj as md

    found = []
    with md.open(path) as file:
        for number in numbers.tolist():
            file.seek(number)
            found.append(file.read(n_frames=1).velocities)
    yield None if any(each is None for each in found) else np.concatenate(found).astype(np.float32)


_SERVICES: dict[str, Callable[..., Iterator[Any]]] = {
    "chunks": _read_chunks,
    "topology": _read_topology,
    "count": _read_count,
    "velocities": _read_velocities,
}

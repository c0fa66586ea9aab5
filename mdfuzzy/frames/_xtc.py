"""Read XTC files in chunks or chosen frames, safely also from damaged files."""

import os
from collections.abc import Iterator
from io import BufferedReader
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._threads import share, using_threads
from mdfuzzy.frames._damage import DamageError, WrongAtomsError

if TYPE_CHECKING:
    import mdtraj as md

#: Bytes that are looked at in one go for the beginnings of frames.
_LOOK = 1 << 16
#: Frames whose beginnings are looked for at a time.
_MANY = 4096
_CUT = "then the file ends too early"


def chunks(path: str, topology: "md.Topology", size: int) -> Iterator["md.Trajectory"]:
    """Yield the frames of a file, at most `size` at a time, up to the first that is damaged; then raise."""
    with open(path, "rb") as file:
        place, damage = 0, None
        while damage is None:
            starts, damage = _find(file, place, topology.n_atoms, size)
            if len(starts) == 1:
                break
            place = int(starts[-1])
            frames, bad = _unpack(file, starts, topology)
            damage = bad or damage
            if frames is not None:
                yield frames
            del frames
    if damage is not None:
        raise damage


def read(path: str, topology: "md.Topology", numbers: np.ndarray) -> Iterator["md.Trajectory"]:
    """Yield frames of ascending numbers one by one; other frames are skipped without unpacking."""
    with open(path, "rb") as file:
        place, first = 0, 0
        while True:
            starts, damage = _find(file, place, topology.n_atoms, _MANY)
            inside = numbers[(numbers >= first) & (numbers < first + len(starts) - 1)] - first
            for number in inside:
                frame, bad = _unpack(file, starts[number : number + 2], topology)
                if bad is not None:
                    raise bad
                yield frame
            place, first = int(starts[-1]), first + len(starts) - 1
            if first > numbers[-1]:
                return
            if damage is not None or len(starts) == 1:
                raise damage or DamageError(
                    f"{first} frames are in it, but frame {numbers[-1]} is to be read"
                )


def count(path: str) -> int:
    """Return the number of frames from their headers; for a damaged file, the frames before the damage."""
    with open(path, "rb") as file:
        n_atoms = int.from_bytes(file.read(8)[4:], "big", signed=True)
        place, frames, damage = 0, 0, None
        while damage is None:
            starts, damage = _find(file, place, n_atoms, _MANY)
            if len(starts) == 1:
                break
            place, frames = int(starts[-1]), frames + len(starts) - 1
    return frames


def _find(file: BufferedReader, place: int, n_atoms: int, limit: int) -> tuple[np.ndarray, Exception | None]:
    """Return where the next frames begin, at most `limit`, and the last of them ends; and what is wrong."""
    from mdfuzzy._kernels.xtc import BAD_HEADER, CUT, OTHER_ATOMS, find_frames

    end = os.fstat(file.fileno()).st_size
    starts = [np.array([place], np.int64)]
    found = 0
    while found < limit and place < end:
        file.seek(place)
        data = np.frombuffer(file.read(_LOOK), np.uint8)
        offsets = np.empty(limit - found + 1, np.int64)
        count, state, atoms = find_frames(data, n_atoms, offsets)
        starts.append(place + offsets[1 : count + 1])
        found += count
        if state == OTHER_ATOMS:
            return np.concatenate(starts), WrongAtomsError(int(atoms))
        if state == BAD_HEADER:
            return np.concatenate(starts), DamageError("what follows is no frame")
        # At the end of the file, or of one that has become shorter meanwhile.
        if (state == CUT and place + len(data) >= end) or count == 0:
            return np.concatenate(starts), DamageError(_CUT)
        place += int(offsets[count])
    return np.concatenate(starts), None


def _unpack(
    file: BufferedReader, starts: np.ndarray, topology: "md.Topology"
) -> "tuple[md.Trajectory | None, Exception | None]":
    """Return the frames up to the first that is damaged, and what is wrong with that."""
    import mdtraj as md

    from mdfuzzy._kernels.xtc import CUT, WHOLE, unpack

    length = int(starts[-1] - starts[0])
    data = np.zeros(min(length, os.fstat(file.fileno()).st_size - int(starts[0])) + 8, np.uint8)
    file.seek(int(starts[0]))
    got = file.readinto(data[:-8].data)
    data = data[: got + 8]
    n = len(starts) - 1
    xyz, head = np.empty((n, topology.n_atoms, 3), np.float32), np.empty((n, 10), np.float32)
    states = np.empty(n, np.int64)
    with using_threads(None):
        share(unpack, n, data, starts - starts[0], xyz, head, states)
    damage = None
    if states.any():
        bad = int(np.argmax(states != WHOLE))
        damage = DamageError(_CUT if states[bad] == CUT else "the next one cannot be unpacked")
        xyz, head = xyz[:bad], head[:bad]
        if bad == 0:
            return None, damage
    frames = md.Trajectory(xyz, topology, head[:, 0])
    vectors = head[:, 1:].reshape(-1, 3, 3)
    if vectors.any():
        frames.unitcell_vectors = vectors
    return frames, damage

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
#: Coordinates that are unpacked in one go when single frames are read.
_PART_BYTES = 1 << 24
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
            frames, bad = _unpack(*_read_bytes(file, starts[:-1], starts[1:]), topology)
            damage = bad or damage
            if frames is not None:
                yield frames
            del frames
    if damage is not None:
        raise damage


def read(path: str, topology: "md.Topology", numbers: np.ndarray) -> Iterator["md.Trajectory"]:
    """Yield frames of ascending numbers in parts; other frames are skipped without unpacking."""
    size = max(1, _PART_BYTES // (12 * topology.n_atoms))
    with open(path, "rb") as file:
        place, first = 0, 0
        while True:
            starts, damage = _find(file, place, topology.n_atoms, _MANY)
            inside = numbers[(numbers >= first) & (numbers < first + len(starts) - 1)] - first
            for part in (inside[begin : begin + size] for begin in range(0, len(inside), size)):
                frames, bad = _unpack(*_read_bytes(file, starts[part], starts[part + 1]), topology)
                if frames is not None:
                    yield frames
                if bad is not None:
                    raise bad
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


def _read_bytes(file: BufferedReader, begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of frames one after another, with eight more, and where each frame begins among them.

    A file that has become shorter meanwhile gives fewer bytes.
    """
    offsets = np.append(0, np.cumsum(ends - begins))
    data = np.zeros(min(int(offsets[-1]), os.fstat(file.fileno()).st_size) + 8, np.uint8)
    runs = np.append(0, np.flatnonzero(begins[1:] != ends[:-1]) + 1)  # frames that are adjacent in the file
    got = 0
    for first, last in zip(runs, np.append(runs[1:], len(begins)), strict=True):
        file.seek(int(begins[first]))
        got += file.readinto(data[offsets[first] : min(int(offsets[last]), len(data) - 8)].data)
        if got < offsets[last]:
            break
    return data[: got + 8], offsets


def _unpack(
    data: np.ndarray, offsets: np.ndarray, topology: "md.Topology"
) -> "tuple[md.Trajectory | None, Exception | None]":
    """Return the frames up to the first that is damaged, and what is wrong with that."""
    import mdtraj as md

    from mdfuzzy._kernels.xtc import CUT, WHOLE, unpack

    n = len(offsets) - 1
    xyz, head = np.empty((n, topology.n_atoms, 3), np.float32), np.empty((n, 10), np.float32)
    states = np.empty(n, np.int64)
    with using_threads(None):
        share(unpack, n, data, offsets, xyz, head, states)
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

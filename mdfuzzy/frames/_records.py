"""Check records of TRR and DCD files before a C library reads them."""

import os
import struct
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from mdfuzzy.frames._damage import DamageError, WrongAtomsError

#: Bytes that are read at a time.
_BLOCK = 8 * 2**20
_CUT = "then the file ends too early"

#: The beginning of a TRR frame: magic number, name, then the sizes of ten parts, atoms, step and another.
_TRR_HEAD = struct.Struct(">iii12s13i")
_TRR_MAGIC, _TRR_NAME = 1993, b"GMX_trn_file"


def check_trr(path: str, n_atoms: int) -> tuple[int, Exception | None]:
    """Return the number of sound frames at the beginning of a TRR file, and the error in the next frame."""
    end = os.path.getsize(path)
    place, frames = 0, 0
    with open(path, "rb") as file:
        while place < end:
            file.seek(place)
            head = file.read(_TRR_HEAD.size)
            if len(head) < _TRR_HEAD.size:
                return frames, DamageError(_CUT)
            magic, _, _, name, *sizes, atoms, _step, _nre = _TRR_HEAD.unpack(head)
            if magic != _TRR_MAGIC or name != _TRR_NAME or atoms < 1:
                return frames, DamageError("what follows is no frame")
            # input record, energies, box, virial, pressure, topology, symbols, then the atoms' three parts
            inputs, energies, *cells, names, symbols, x, v, f = sizes
            width = _trr_width(cells[0], (x, v, f), atoms)
            vectors = 3 * atoms * width
            if (
                width == 0
                or any((inputs, energies, names, symbols))
                or any(each not in (0, 9 * width) for each in cells)
                or any(each not in (0, vectors) for each in (x, v, f))
            ):
                return frames, DamageError("what follows is no frame")
            if atoms != n_atoms:
                return frames, WrongAtomsError(atoms)
            place += _TRR_HEAD.size + 2 * width + sum(sizes)
            if place > end:
                return frames, DamageError(_CUT)
            frames += 1
    return frames, None


def trr_velocities(path: str, numbers: np.ndarray) -> np.ndarray | None:
    """Return the velocities of frames of a sound TRR file, (m, atoms, 3) in nm/ps; None if any has none."""
    wanted = dict.fromkeys(numbers.tolist())
    place = 0
    with open(path, "rb") as file:
        for number in range(max(wanted) + 1):
            file.seek(place)
            *_, box, virial, pressure, _top, _sym, x, v, f, atoms, _step, _nre = _TRR_HEAD.unpack(
                file.read(_TRR_HEAD.size)
            )
            width = _trr_width(box, (x, v, f), atoms)
            place += _TRR_HEAD.size + 2 * width + box + virial + pressure
            if number in wanted:
                if v == 0:
                    return None
                file.seek(place + x)
                wanted[number] = np.frombuffer(file.read(v), f">f{width}").reshape(atoms, 3)
            place += x + v + f
    return np.array([wanted[number] for number in numbers.tolist()], np.float32)


def _trr_width(box: int, vectors: tuple[int, ...], atoms: int) -> int:
    """Return the bytes of a number, 4 or 8; 0 if it is neither."""
    width = box // 9 if box else max(vectors) // (3 * atoms)
    return width if width in (4, 8) else 0


@dataclass(frozen=True)
class DcdLayout:
    """The layout of the frames in a DCD file.

    Attributes
    ----------
    order : str
        ``"<"`` or ``">"``.
    claimed : int
        The number of frames that the header states.
    atoms : int
        The number of atoms of each frame.
    begin : int
        The place of the first frame.
    marks : tuple of (int, int)
        Places in a frame, and the lengths of records that must stand there.
    size : int
        Bytes of a frame.
    """

    order: str
    claimed: int
    atoms: int
    begin: int
    marks: tuple[tuple[int, int], ...]
    size: int


def read_dcd_layout(path: str) -> DcdLayout | None:
    """Read the header of a DCD file; None for kinds that are rare: fixed atoms, or records of 64 bits."""
    with open(path, "rb") as file:
        head = file.read(92)
        if len(head) < 92 or b"CORD" not in head[4:12]:
            raise DamageError("it does not begin as a DCD file")
        order = next((each for each in "<>" if struct.unpack_from(each + "i", head)[0] == 84), None)
        if order is None or head[4:8] != b"CORD":
            return None
        if struct.unpack_from(order + "i", head, 88)[0] != 84:
            raise DamageError("its header is damaged")
        control = struct.unpack_from(order + "20i", head, 8)
        claimed, fixed, charmm = control[0], control[8], control[19]
        if fixed != 0:
            return None
        titles = _record(file, order, "its titles are damaged")
        if len(titles) % 80 != 4:
            raise DamageError("its titles are damaged")
        count = _record(file, order, "its number of atoms is damaged")
        if len(count) != 4:
            raise DamageError("its number of atoms is damaged")
        begin = file.tell()
    atoms = struct.unpack(order + "i", count)[0]
    if atoms < 1:
        raise DamageError("its number of atoms is damaged")
    has_box, has_fourth = charmm != 0 and control[10] != 0, charmm != 0 and control[11] != 0
    lengths = [48] * has_box + [4 * atoms] * (3 + has_fourth)
    marks, place = [], 0
    for length in lengths:
        marks += [(place, length), (place + 4 + length, length)]
        place += 8 + length
    return DcdLayout(order, claimed, atoms, begin, tuple(marks), place)


def _record(file: BinaryIO, order: str, words: str) -> bytes:
    """Return the next record of a DCD header, between its two lengths."""
    length = file.read(4)
    size = struct.unpack(order + "i", length)[0] if len(length) == 4 else -1
    if not 0 <= size <= 80 * 10_000 + 4:
        raise DamageError(words)
    data = file.read(size + 4)
    if data[size:] != length:
        raise DamageError(words)
    return data[:size]


def check_dcd(path: str, n_atoms: int) -> tuple[int, int, Exception | None]:
    """Return the number of sound frames of a DCD file, the number in its header, and any error."""
    try:
        layout = read_dcd_layout(path)
    except DamageError as error:
        return 0, 0, error
    if layout is None:
        return 0, 0, None
    if layout.atoms != n_atoms:
        return 0, layout.claimed, WrongAtomsError(layout.atoms)
    places = np.concatenate([np.arange(place, place + 4) for place, _ in layout.marks])
    lengths = np.array([length for _, length in layout.marks], layout.order + "i4")
    expected = np.frombuffer(lengths.tobytes(), np.uint8)
    frames, many = 0, max(1, _BLOCK // layout.size)
    with open(path, "rb") as file:
        file.seek(layout.begin)
        while data := file.read(many * layout.size):
            whole, rest = divmod(len(data), layout.size)
            block = np.frombuffer(data, np.uint8, whole * layout.size).reshape(whole, layout.size)
            sound = (block[:, places] == expected).all(axis=1)
            if not sound.all():
                return frames + int(np.argmin(sound)), layout.claimed, DamageError("what follows is no frame")
            frames += whole
            if rest:
                return frames, layout.claimed, DamageError(_CUT)
    return frames, layout.claimed, None

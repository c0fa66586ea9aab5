"""Check trajectories in text formats line by line before a library reads them.

The readers of mdtraj accept the end of a file anywhere as the end of the trajectory, and the rest of a
truncated number as a number.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator

from mdfuzzy.frames._damage import DamageError, WrongAtomsError

_CUT = "then the file ends too early"


def check_text(path: str, kind: str, n_atoms: int) -> tuple[int, Exception | None]:
    """Return the number of sound frames at the beginning of a file, and the error in the next frame.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        Its extension, ``.gz`` included.
    n_atoms : int
        The number of atoms of each frame.
    """
    check = _CHECKS.get(kind.removesuffix(".gz"))
    if check is None:
        return 0, None
    frames = 0
    try:
        for _ in check(_lines(path), n_atoms):
            frames += 1
    except (DamageError, WrongAtomsError) as error:
        return frames, error
    except EOFError:  # of gzip
        return frames, DamageError(_CUT)
    except (OSError, ValueError, zlib.error) as error:
        return frames, DamageError(f"the next one cannot be read ({type(error).__name__})")
    return frames, None


def _lines(path: str) -> Iterator[bytes]:
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        yield from file


def _needed(lines: Iterator[bytes]) -> bytes:
    line = next(lines, b"")
    if not line:
        raise DamageError(_CUT)
    return line


def _check_cut(line: bytes, model: bytes) -> None:
    """Raise if the last line of a file is not ended and its last number has fewer digits than in `model`."""
    if line.endswith(b"\n"):
        return
    last, other = line.split()[-1:], model.split()[-1:]
    if last and other and _decimals(last[0]) < _decimals(other[0]):
        raise DamageError("then the file ends within a number")


def _decimals(number: bytes) -> int:
    return len(number.partition(b".")[2])


def _xyz(lines: Iterator[bytes], n_atoms: int) -> Iterator[None]:
    model = b""
    for line in lines:
        if not line.strip():  # blank lines at the end are none of a frame
            if any(each.strip() for each in lines):
                raise DamageError("a blank line follows instead of the number of atoms")
            return
        if int(line) != n_atoms:
            raise WrongAtomsError(int(line))
        _needed(lines)
        for _ in range(n_atoms):
            line = _needed(lines)
            if len(line.split()) < 4:
                raise DamageError("a line of the next one has fewer than three coordinates")
            _check_cut(line, model)
            model = line
        yield


def _lammps(lines: Iterator[bytes], n_atoms: int) -> Iterator[None]:
    for line in lines:
        if not line.strip() and not any(each.strip() for each in lines):
            return
        _item(line, b"TIMESTEP")
        int(_needed(lines))
        _item(_needed(lines), b"NUMBER OF ATOMS")
        count = int(_needed(lines))
        if count != n_atoms:
            raise WrongAtomsError(count)
        _item(_needed(lines), b"BOX BOUNDS")
        for _ in range(3):
            [float(each) for each in _needed(lines).split()]
        columns = _needed(lines)
        _item(columns, b"ATOMS")
        names = columns.split()[2:]
        place = names.index(b"id") if b"id" in names else None
        seen = set()
        for _ in range(n_atoms):
            line = _needed(lines)
            if not line.endswith(b"\n"):
                raise DamageError("then the file ends within a line")
            values = line.split()
            if len(values) < len(names):
                raise DamageError("a line of the next one has too few numbers")
            if place is not None:
                seen.add(int(values[place]))
        if place is not None and seen != set(range(1, n_atoms + 1)):
            raise DamageError(f"the next one has not each of the atoms 1 to {n_atoms} once")
        yield


def _item(line: bytes, name: bytes) -> None:
    if not line.startswith(b"ITEM: " + name):
        raise DamageError(f"a line 'ITEM: {name.decode()}' is missing")


def _mdcrd(lines: Iterator[bytes], n_atoms: int) -> Iterator[None]:
    """A title, then ten numbers of eight characters a line; perhaps a line of three for the box."""
    next(lines, None)
    widths = [80] * ((3 * n_atoms - 1) // 10) + [8 * (3 * n_atoms % 10 or 10)]
    box = None  # the length of that line, known after the first frame: 0 if there is none
    line = next(lines, b"")
    while line.strip():
        for number, width in enumerate(widths):
            line = line if number == 0 else _needed(lines)
            if len(line.rstrip()) != width:
                raise DamageError(f"a line of the next one has not the {width} characters of {n_atoms} atoms")
        line = next(lines, b"")
        if box is None:
            box = len(line.rstrip()) if len(line.split()) == 3 and len(line.rstrip()) != widths[0] else 0
        if box:
            if len(line.rstrip()) != box:
                raise DamageError("the box of the next one is missing or cut")
            line = next(lines, b"")
        yield
    if any(each.strip() for each in lines):
        raise DamageError("blank lines follow")


def _pdb(lines: Iterator[bytes], n_atoms: int) -> Iterator[None]:
    """Models with as many atoms, each of them with coordinates of full width.

    These may be more than `n_atoms`: of an atom with several places one is taken.
    """
    atoms, expected, inside = 0, 0, False
    for line in lines:
        if b"MODE".startswith(line.rstrip(b" ")):  # without the end of a line, and not blank
            raise DamageError(_CUT)
        if line.startswith((b"ATOM  ", b"HETATM")):
            if len(line.rstrip(b"\r\n")) < 54:
                raise DamageError("an atom of the next one has no three coordinates of full width")
            for column in (30, 38, 46):
                float(line[column : column + 8])
            atoms += 1
        elif line.startswith(b"MODEL"):
            if inside:
                raise DamageError("the next one has no end")
            inside = True
        elif line.startswith(b"ENDMDL"):
            if expected not in (0, atoms):
                raise DamageError(f"the next one has {atoms} atoms instead of {expected}")
            atoms, expected, inside = 0, atoms, False
            yield
    if inside:
        raise DamageError(_CUT)
    if atoms:
        yield


def _gro(lines: Iterator[bytes], n_atoms: int) -> Iterator[None]:
    """A title, the number of atoms, a line for each, and the box."""
    model, width = b"", None
    for title in lines:
        second = next(lines, b"")
        if not title.strip() and not second.strip():  # the end; a title may be blank
            if any(each.strip() for each in lines):
                raise DamageError("blank lines follow")
            return
        if not second:
            raise DamageError(_CUT)
        count = int(second)
        if count != n_atoms:
            raise WrongAtomsError(count)
        for _ in range(n_atoms):
            line = _needed(lines).rstrip(b"\r\n")
            width = len(line.rstrip()) if width is None else width
            if len(line.rstrip()) < width:
                raise DamageError("a line of the next one is too short")
        line = _needed(lines)
        if len(line.split()) not in (3, 9):
            raise DamageError("the next one has no box of three or nine numbers")
        _check_cut(line, model)
        model = line
        yield


_CHECKS: dict[str, Callable[[Iterator[bytes], int], Iterator[None]]] = {
    ".xyz": _xyz,
    ".lammpstrj": _lammps,
    ".mdcrd": _mdcrd,
    ".crd": _mdcrd,
    ".pdb": _pdb,
    ".gro": _gro,
}

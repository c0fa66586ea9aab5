"""Read text files with one row of numbers per time, such as the COLVAR files of PLUMED."""

import gzip
import math
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, read_only
from mdfuzzy._messages import counted, warn_user

_FIELDS, _SET, _TIME = "FIELDS", "SET", "time"


@dataclass(frozen=True, eq=False, kw_only=True)
class Colvar(ReadOnly):
    """The columns of a COLVAR file, by name.

    Attributes
    ----------
    path : str
        The file.
    names : tuple of str
        The columns, without the time. Columns of a file without names are called ``"1"``, ``"2"``, ...
    values : (rows, columns) float64
        The numbers.
    times : (rows,) float64 or None
        The column ``time``, which increases; None if there is none.
    settings : dict of str to str
        The declarations in lines such as ``#! SET min_phi -pi``.
    """

    path: str
    names: tuple[str, ...]
    values: np.ndarray
    times: np.ndarray | None
    settings: dict[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))
        if self.times is not None:
            object.__setattr__(self, "times", read_only(self.times))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return one column, (rows,) float64."""
        if name == _TIME and self.times is not None:
            return self.times
        if name not in self.names:
            raise InputValueError(
                f"The column must be one that {self.path} has in all its parts: {', '.join(self.names)}; got "
                f"{name!r}."
            )
        return self.values[:, self.names.index(name)]

    def period(self, name: str) -> float | None:
        """Return the period of a column from its declared minimum and maximum; None if it has none."""
        ends = [_number(self.settings.get(f"{end}_{name}", "")) for end in ("min", "max")]
        if ends[0] is None or ends[1] is None or ends[1] <= ends[0]:
            return None
        return ends[1] - ends[0]

    def rows_at(self, times: np.ndarray | None, n_frames: int, *, what: str = "frames") -> np.ndarray:
        """Return the row of every frame.

        Rows and frames are matched by time, so the file may have more rows than there are frames. If rows or
        frames have no times, they are matched in order, and their numbers must be equal.

        Parameters
        ----------
        times : (n,) array or None
            The times of the frames in ps.
        n_frames : int
            The number of frames, n.
        what : str
            The frames in words, for messages.

        Returns
        -------
        (n,) int64
        """
        if times is None or self.times is None:
            if len(self) != n_frames:
                missing = "the frames have no times" if times is None else "it has no column 'time'"
                raise InputValueError(
                    f"{self.path} must have one row per frame, because {missing}; got "
                    f"{counted(len(self), 'row')} for {n_frames:,} {what}. Give the frames times "
                    "(`timestep`), or write one row for each."
                )
            return np.arange(n_frames)
        times = np.asarray(times, np.float64)
        after = np.searchsorted(self.times, times).clip(1, max(len(self) - 1, 1))
        nearest = np.stack([after - 1, np.minimum(after, len(self) - 1)])
        apart = np.abs(self.times[nearest] - times)
        rows = np.where(apart[0] <= apart[1], nearest[0], nearest[1])
        # Files hold times in single precision, or with six decimals.
        tolerance = 0.01 * min(_step(self.times), _step(times)) + 1e-6 * np.abs(times)
        missed = apart.min(axis=0) > tolerance
        if missed.any():
            raise InputValueError(
                f"{self.path} must have a row at the time of every frame; got none for "
                f"{np.count_nonzero(missed):,} of {n_frames:,} {what}, the first at "
                f"{times[missed][0]:g} ps. Its {counted(len(self), 'row')}: {_extent(self.times)}; the "
                f"frames: {_extent(times)}. Leave out the frames that have no row, or, if rows and frames "
                "correspond in order, pass the column as an array."
            )
        return rows.astype(np.int64)


def read_colvar(path: str | os.PathLike[str]) -> Colvar:
    """Read a COLVAR file of PLUMED, or a plain table of numbers.

    A restarted run appends a new header, and rows that begin at the time of the restart. These replace
    earlier rows of the same times. An incomplete last line is omitted with a warning.

    Parameters
    ----------
    path : path
        The file, which may be compressed (``.gz``). Lines that start with ``#`` or ``@`` are comments, except
        for ``#! FIELDS`` and ``#! SET``.

    Returns
    -------
    Colvar

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "COLVAR")
    ...     header = "#! FIELDS time phi\\n#! SET min_phi -pi\\n#! SET max_phi pi\\n"
    ...     _ = path.write_text(header + "0 -1.5\\n2 1.0\\n")
    ...     colvar = read_colvar(path)
    >>> colvar["phi"]
    array([-1.5,  1. ])
    >>> colvar.rows_at(np.array([2.0]), 1)
    array([1])
    >>> round(colvar.period("phi"), 3)
    6.283
    """
    path = os.path.expanduser(os.fspath(path))
    settings: dict[str, str] = {}
    parts = list(_parts(path, settings))
    if not parts:
        raise InputValueError(f"{path} must hold rows of numbers; got none. Check that it is the right file.")
    common = [name for name in parts[0][0] if all(name in names for names, _, _ in parts)]
    if not common:
        raise InputValueError(
            f"All parts of {path} must have a column in common; got {', '.join(parts[0][0])} and "
            f"{', '.join(parts[-1][0])}. Pass the files of different runs one by one."
        )
    values = np.concatenate([part[:, [names.index(name) for name in common]] for names, part, _ in parts])
    if _TIME not in common:
        return Colvar(path=path, names=tuple(common), values=values, times=None, settings=settings)
    lines = np.concatenate([line for _, _, line in parts])
    times = values[:, common.index(_TIME)]
    values = values[_kept_after_restarts(path, times, lines)]
    column = common.index(_TIME)
    return Colvar(
        path=path,
        names=tuple(common[:column] + common[column + 1 :]),
        values=np.delete(values, column, axis=1),
        times=values[:, column],
        settings=settings,
    )


def _parts(path: str, settings: dict[str, str]) -> Iterator[tuple[list[str], np.ndarray, np.ndarray]]:
    """Yield the names, the numbers and the line numbers of every part of a file; fill `settings`."""
    names: list[str] | None = None
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(_lines(path), start=1):
        # A crash may leave a line without an end, to which a restart appends its header.
        before, mark, header = line.partition("#!")
        if before.strip() and not before.lstrip().startswith(("#", "@")):
            lines.append(before)
            numbers.append(number)
        words = header.split() if mark else []
        if words[:1] == [_FIELDS]:
            if lines:
                yield _table(path, names, lines, numbers)
            names, lines, numbers = words[1:], [], []
            if len(set(names)) < len(names) or not names:
                raise InputValueError(
                    f"The FIELDS of {path} must be different names; got {' '.join(names)!r} in line "
                    f"{number}. Label the actions of PLUMED differently."
                )
        elif words[:1] == [_SET] and len(words) == 3:
            settings[words[1]] = words[2]
    if lines:
        yield _table(path, names, lines, numbers)


def _lines(path: str) -> Iterator[str]:
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            yield from file
    except FileNotFoundError:
        raise InputValueError(
            f"A file of weights or columns must exist; got {path!r}. Check the path."
        ) from None
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputValueError(
            f"{path} must be a text file with columns of numbers; got {type(error).__name__}: {error}."
        ) from error


def _table(
    path: str, names: list[str] | None, lines: list[str], numbers: list[int]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names, the numbers and the line numbers of the rows of one part."""
    if names is None:
        names = [str(column + 1) for column in range(len(lines[0].split()))]
    width = len(names)
    if len(lines[-1].split()) < width or (len(lines) > 1 and _is_cut(lines[-1], lines[-2])):
        warn_user(
            f"Line {numbers[-1]} of {path} was cut short and is left out: {lines[-1].strip()!r}. A run that "
            "goes on, or crashed, leaves such a line."
        )
        lines, numbers = lines[:-1], numbers[:-1]
    if not lines:
        return names, np.empty((0, width)), np.empty(0, np.int64)
    try:
        table = np.loadtxt(lines, dtype=np.float64, comments="#", ndmin=2)
    except ValueError:
        table = np.empty((0, 0))
    if table.shape != (len(lines), width):
        _refuse_line(path, names, lines, numbers)
    return names, table, np.array(numbers)


def _is_cut(line: str, model: str) -> bool:
    """Return whether a line is not ended and its last number has fewer digits than in the line before."""
    last, other = line.split()[-1], model.split()[-1]
    return not line.endswith("\n") and len(last.partition(".")[2]) < len(other.partition(".")[2])


def _refuse_line(path: str, names: list[str], lines: list[str], numbers: list[int]) -> None:
    """Raise and name the first line that does not have one number for each name."""
    for line, number in zip(lines, numbers, strict=True):
        words = line.partition("#")[0].split()
        try:
            [float(word) for word in words]
        except ValueError:
            words = []
        if len(words) != len(names):
            raise InputValueError(
                f"Every row of {path} must have {counted(len(names), 'number')} ({' '.join(names)}); got "
                f"{line.strip()[:60]!r} in line {number}. Repair or remove that line."
            )


def _kept_after_restarts(path: str, times: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Return the rows that no restart has replaced; their times increase."""
    if not np.isfinite(times).all():
        bad = int(np.flatnonzero(~np.isfinite(times))[0])
        raise InputValueError(
            f"The times of {path} must be finite; got {times[bad]} in line {lines[bad]}. Repair that line."
        )
    for row in np.flatnonzero(np.diff(times) < 0) + 1:
        if times[row] <= times[0]:
            raise InputValueError(
                f"The times of {path} must go on after a restart; got {times[row]:g} after "
                f"{times[row - 1]:g} in line {lines[row]}, which is where the file starts. If it holds "
                "several trajectories, divide it there and pass one file for each."
            )
    # A row is replaced if any later row has a time that is not later.
    earliest = np.minimum.accumulate(times[::-1])[::-1]
    return np.append(times[:-1] < earliest[1:], True)


def _number(word: str) -> float | None:
    """Return a number as PLUMED writes it, with ``pi`` as a word; None if it is not a number."""
    sign, word = (-1.0, word[1:]) if word.startswith("-") else (1.0, word.removeprefix("+"))
    if word.lower() == "pi":
        return sign * math.pi
    try:
        return sign * float(word)
    except ValueError:
        return None


def _step(times: np.ndarray) -> float:
    """Return the shortest time between rows; 0 for a single row."""
    steps = np.diff(times)
    steps = steps[steps > 0]
    return float(steps.min()) if len(steps) else 0.0


def _extent(times: np.ndarray) -> str:
    step = f", {_step(times):g} ps apart" if len(times) > 1 else ""
    return f"{times.min():g} to {times.max():g} ps{step}"

"""Features computed elsewhere: arrays, .npy files, and columns of COLVAR files."""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError, check_finite, check_numbers, check_real
from mdfuzzy.frames.colvar import read_colvar


@dataclass(frozen=True, eq=False, kw_only=True)
class Given:
    """Columns computed elsewhere, with one row for every frame.

    Attributes
    ----------
    data : path, array, or a list with one for each trajectory
        Arrays (frames, columns), ``.npy`` files, or COLVAR files, in the order of the trajectories; a path
        may be a pattern. ``:name,name`` after a path selects columns of a COLVAR file; all by default. The
        rows of a COLVAR file are matched to the frames by time.
    names : sequence of str, optional
        The names of the columns of arrays.
    unit : str
        The unit of the columns.
    period : float, optional
        The period of the columns, if they are periodic. COLVAR files written by PLUMED state it.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> given = mf.features.Given(data=np.arange(4.0), names=["distance"], unit="nm")
    >>> given.rows([4], None)[0].shape
    (4, 1)
    """

    data: Any
    names: Sequence[str] | None = None
    unit: str = ""
    period: float | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_real("weight", self.weight, above=0, remedy="To leave a feature out, do not name it.")

    def spec(self) -> dict[str, Any]:
        """Return a description of the columns that JSON can hold."""
        given = self.data if isinstance(self.data, list | tuple) else [self.data]
        paths = [os.fspath(each) for each in given if isinstance(each, str | os.PathLike)]
        names = None if self.names is None else list(self.names)
        return {"kind": "columns", "data": paths, "names": names, "weight": self.weight}

    def rows(
        self, lengths: Sequence[int], times: np.ndarray | None, *, before: int = 0
    ) -> tuple[np.ndarray, tuple[str, ...], tuple[float | None, ...]]:
        """Return columns (n, d), names and periods for frames of these `lengths` and `times`.

        Columns without names are numbered after the `before` columns of other arrays.
        """
        parts = self._parts()
        if len(parts) == 1 < len(lengths) and not isinstance(parts[0], str) and len(parts[0]) == sum(lengths):
            parts = np.split(np.asarray(parts[0]), np.cumsum(lengths)[:-1])
        if len(parts) != len(lengths):
            raise InputValueError(
                f"Columns in `features` must be given for each of the {len(lengths)} trajectories; got "
                f"{len(parts)} of {self._words()}."
            )
        starts = np.concatenate([[0], np.cumsum(lengths)])
        found = [
            self._of_trajectory(part, None if times is None else times[a:b], b - a, before)
            for part, a, b in zip(parts, starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        ]
        _, names, periods = found[0]
        for other, (_, theirs, _) in zip(parts, found, strict=True):
            if theirs != names:
                raise InputValueError(
                    f"Columns in `features` must be the same for all trajectories; got {', '.join(theirs)} "
                    f"for {other if isinstance(other, str) else 'an array'} instead of {', '.join(names)}."
                )
        return np.concatenate([values for values, _, _ in found]), names, periods

    def _words(self) -> str:
        return repr(self.data) if isinstance(self.data, str) else "them"

    def _parts(self) -> list[Any]:
        """Return the input of each trajectory: an array, or a path with the names of columns."""
        given = self.data if isinstance(self.data, list | tuple) else [self.data]
        parts: list[Any] = []
        for each in given:
            if not isinstance(each, str | os.PathLike):
                parts.append(check_numbers("features", each))
                continue
            path, colon, names = os.fspath(each).partition(":")
            path = os.path.expanduser(path)
            matches = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
            if not path or not matches or not all(map(os.path.isfile, matches)):
                raise FileNotFoundError(
                    f"Columns in `features` must be existing files; got {os.fspath(each)!r}."
                )
            parts += [match + colon + names for match in matches]
        return parts

    def _of_trajectory(
        self, part: Any, times: np.ndarray | None, n_frames: int, before: int
    ) -> tuple[np.ndarray, tuple[str, ...], tuple[float | None, ...]]:
        periods: tuple[float | None, ...]
        if isinstance(part, str) and not part.partition(":")[0].endswith(".npy"):
            path, _, chosen = part.partition(":")
            colvar = read_colvar(path)
            names = tuple(name.strip() for name in chosen.split(",")) if chosen else colvar.names
            rows = colvar.rows_at(times, n_frames)
            values = np.column_stack([colvar[name][rows] for name in names])
            periods = tuple(colvar.period(name) or self.period for name in names)
            check_finite(f"features: {part}", values)
            return values, names, periods
        words = "array"
        if isinstance(part, str):
            path, words = part.partition(":")[0], part
            try:
                part = check_numbers("features", np.load(path, allow_pickle=False))
            except ValueError as error:
                raise InputTypeError(f"{path} must be an array in NumPy's format; got {error}.") from error
        values = part[:, None] if part.ndim == 1 else part
        if values.ndim != 2 or len(values) != n_frames:
            raise InputValueError(
                f"Columns in `features` must have one row per frame, {n_frames:,}; got shape {part.shape} of "
                f"{words}."
            )
        names = tuple(self.names or (f"column {before + at + 1}" for at in range(values.shape[1])))
        if len(names) != values.shape[1]:
            raise InputValueError(
                f"`names` must name the {values.shape[1]} columns in `features`; got {len(names)}."
            )
        check_finite("features", values)
        return values, names, (self.period,) * len(names)

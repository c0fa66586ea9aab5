"""Checks of the columns of features: their numbers, names, units, periods and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_finite, check_numbers, check_real
from mdfuzzy._messages import shorten


def check_vectors(part: object) -> np.ndarray:
    """Return an array of real numbers, float32 if the input is float32 and else float64, or raise."""
    if isinstance(part, np.ndarray) and not isinstance(part, np.ma.MaskedArray) and part.dtype == np.float32:
        return part
    return check_numbers("arrays", part)


def check_periods(
    periodic: Sequence[int] | None, period: float | Sequence[float], d: int
) -> tuple[float | None, ...]:
    """Return the period of each of `d` columns, None for columns that are not periodic, or raise."""
    columns = np.array([] if periodic is None else periodic)
    if columns.size == 0:
        columns = np.empty(0, np.int64)
    if (
        columns.ndim != 1
        or columns.dtype.kind not in "iu"
        or np.any((columns < 0) | (columns >= d))
        or len(set(columns.tolist())) < len(columns)
    ):
        raise InputValueError(
            f"`periodic` must be different columns in [0, {d - 1}]; got {columns.tolist()}."
        )
    if np.ndim(period) == 0:
        each = [check_real("period", period, above=0)] * len(columns)
        if period != 360 and not columns.size:
            raise InputValueError(
                f"`period` must be left out if no column is periodic; got {period:g}. Name the columns in "
                "`periodic`."
            )
    else:
        each = [check_real("period", value, above=0) for value in np.asarray(period).ravel().tolist()]
        if len(each) != len(columns):
            raise InputValueError(
                f"`period` must be a number, or one for each of the {len(columns)} periodic columns; got "
                f"{len(each)} of them."
            )
    periods = dict(zip(columns.tolist(), each, strict=True))
    return tuple(periods.get(at) for at in range(d))


def check_words(name: str, words: Sequence[str] | None, d: int) -> tuple[str, ...] | None:
    """Return the names or units of `d` columns, or raise."""
    if words is None:
        return None
    found = tuple(words)
    if len(found) != d or not all(isinstance(word, str) for word in found):
        raise InputValueError(f"`{name}` must be {d} texts, one per column; got {shorten(found)}.")
    if name == "names" and len(set(found)) < d:
        twice = next(word for word in found if found.count(word) > 1)
        raise InputValueError(f"`names` must differ; got {twice!r} twice.")
    return found


def check_column_weights(column_weights: npt.ArrayLike, d: int) -> np.ndarray:
    """Return the factors that multiply `d` columns, a copy, or raise."""
    factors = check_numbers("column_weights", column_weights)
    if factors.shape != (d,) or not np.isfinite(factors).all() or (factors <= 0).any():
        raise InputValueError(
            f"`column_weights` must be {d} finite numbers > 0, one per column; got shape "
            f"{factors.shape}. To leave a column out, leave it out of `arrays`."
        )
    return factors.copy()


def check_times(times: object, lengths: np.ndarray) -> np.ndarray:
    """Return the times of frames, (n,), from one array or one for each trajectory, or raise."""
    several = isinstance(times, list | tuple) and len(times) > 0 and all(np.ndim(each) == 1 for each in times)
    parts = [check_numbers("times", each) for each in (cast(Iterable[object], times) if several else [times])]
    if any(part.ndim != 1 for part in parts) or sum(map(len, parts)) != lengths.sum():
        raise InputValueError(
            f"`times` must be one number per frame, {lengths.sum()} in all; got shapes "
            f"{[part.shape for part in parts]}."
        )
    return check_finite("times", np.concatenate(parts))


def check_same_columns(
    known: int, known_names: tuple[str, ...] | None, new: int, new_names: tuple[str, ...] | None
) -> None:
    """Raise unless `new` and `known` columns are as many, with the same names if both have names."""
    if new != known:
        raise InputValueError(
            f"`data` must have the {known} features of `result`; got {new}. Compute the same features."
        )
    if known_names is not None and new_names is not None and known_names != new_names:
        at = next(i for i, (a, b) in enumerate(zip(known_names, new_names, strict=True)) if a != b)
        raise InputValueError(
            f"`data` must have the features of `result`; got {new_names[at]!r} instead of "
            f"{known_names[at]!r} as column {at}. Compute the same features."
        )

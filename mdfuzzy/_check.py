"""Check arguments; every error names the argument, the rule, the value and the remedy."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import NoReturn, TypeVar, cast

import numpy as np

Choice = TypeVar("Choice", bound=str)


class InputError(Exception):
    """Input that violates a rule; the message names the argument, the rule, the value and the remedy.

    Every such error is also a ValueError, a TypeError or an IndexError. Errors of these types that are not
    an `InputError` are bugs of the program.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> try:
    ...     mf.Settings(k=0)
    ... except mf.InputError as error:
    ...     print(error)
    `k` must be an int of at least 1; got 0.
    """

    __module__ = "mdfuzzy"


class InputValueError(InputError, ValueError):
    """A value that violates a rule.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.Settings(recall=2)
    Traceback (most recent call last):
    mdfuzzy.InputValueError: `recall` must be a finite number > 0 and <= 1; got 2.0.
    """

    __module__ = "mdfuzzy"


class InputTypeError(InputError, TypeError):
    """A value of a type that the rule does not allow.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.Settings(k="ten")
    Traceback (most recent call last):
    mdfuzzy.InputTypeError: `k` must be an int of at least 1; got 'ten'.
    """

    __module__ = "mdfuzzy"


class InputIndexError(InputError, IndexError):
    """An index beyond the end.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.datasets.alanine_dipeptide(stride=300).trajectory([200])
    Traceback (most recent call last):
    mdfuzzy.InputIndexError: `indices` must be in [0, 100]; got 200. There are 101 frames.
    """

    __module__ = "mdfuzzy"


def _refuse(
    name: str, rule: str, value: object, remedy: str, kind: type[Exception] = InputValueError
) -> NoReturn:
    raise kind(f"`{name}` must be {rule}; got {value!r}." + (f" {remedy}" if remedy else ""))


def check_int(name: str, value: object, low: int, high: int | None = None, *, remedy: str = "") -> int:
    """Return `value` as an int of [low, high] (`high` None: no upper limit), or raise."""
    rule = f"an int of at least {low}" if high is None else f"an int in [{low}, {high}]"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        _refuse(name, rule, value, remedy, InputTypeError)
    value = int(value)
    if value < low or (high is not None and value > high):
        _refuse(name, rule, value, remedy)
    return value


def check_real(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    finite: bool = True,
    remedy: str = "",
) -> float:
    """Return `value` as a float inside the given limits, or raise."""
    limits = [
        f"> {above:g}" if above is not None else "",
        f">= {at_least:g}" if at_least is not None else "",
        f"<= {at_most:g}" if at_most is not None else "",
    ]
    rule = " ".join(["a finite number" if finite else "a number", " and ".join(filter(None, limits))]).strip()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        _refuse(name, rule, value, remedy, InputTypeError)
    value = float(value)
    inside = (
        not np.isnan(value)
        and (np.isfinite(value) or not finite)
        and (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (at_most is None or value <= at_most)
    )
    if not inside:
        _refuse(name, rule, value, remedy)
    return value


def check_optional_bool(name: str, value: object) -> bool | None:
    """Return `value` if it is True, False or None, or raise."""
    if not any(value is each for each in (True, False, None)):
        _refuse(name, "True, False or None", value, "", InputTypeError)
    return cast("bool | None", value)


def check_choice(name: str, value: object, choices: Sequence[Choice], *, remedy: str = "") -> Choice:
    """Return `value` if it is one of `choices`, or raise."""
    if value not in choices:
        _refuse(name, "one of " + ", ".join(map(repr, choices)), value, remedy)
    return cast("Choice", value)


def check_type(name: str, value: object, *kinds: type | None, remedy: str = "") -> None:
    """Raise unless `value` is of one of the `kinds`; None stands for None itself."""
    if not isinstance(value, tuple(type(None) if kind is None else kind for kind in kinds)):
        rule = " or ".join("None" if kind is None else f"`{kind.__name__}`" for kind in kinds)
        got = type(value).__name__
        raise InputTypeError(f"`{name}` must be {rule}; got {got}." + (f" {remedy}" if remedy else ""))


def check_numbers(name: str, values: object) -> np.ndarray:
    """Return `values` as a float64 array, without a copy if it is one, or raise."""
    check_unmasked(name, values)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":  # a cast would drop the imaginary parts
            raise InputTypeError(
                "complex numbers; take their real part, or the real and imaginary parts as columns"
            )
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"`{name}` must be an array of real numbers; got {type(values).__name__}: {error}."
        ) from error


def check_unmasked(name: str, values: object) -> None:
    """Raise if an array has masked entries, which would be treated as numbers."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        count = np.count_nonzero(np.ma.getmaskarray(values))
        raise InputValueError(
            f"`{name}` must not have masked entries; got {count} of them. Leave such frames out, or pass "
            "the `filled()` array."
        )


def check_finite(name: str, array: np.ndarray, *, remedy: str = "") -> np.ndarray:
    """Return `array` if every entry is finite; otherwise raise and name the first one that is not."""
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        bad = int(array.size - np.count_nonzero(finite))
        raise InputValueError(
            f"`{name}` must be finite; got {array[where]!s} at index {where if len(where) > 1 else where[0]} "
            f"({bad} such entries)." + (f" {remedy}" if remedy else "")
        )
    return array


def read_only(array: np.ndarray) -> np.ndarray:
    """Return `array` itself, or a view of it, that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


class ReadOnly:
    """Base class of results with read-only arrays, also in copies (`pickle`, `copy.deepcopy`).

    Examples
    --------
    >>> import copy, mdfuzzy as mf
    >>> graph = mf.Neighbors([[1], [0]], [[1.0], [1.0]])
    >>> copy.deepcopy(graph).indices.flags.writeable
    False
    """

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update({name: _read_only_inside(value) for name, value in state.items()})


def _read_only_inside(value: object) -> object:
    """Return arrays, also those in a tuple, as read-only arrays, and other objects as they are."""
    if isinstance(value, np.ndarray):
        return read_only(value)
    if type(value) is tuple:
        return tuple(map(_read_only_inside, value))
    return value

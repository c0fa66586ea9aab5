"""Format messages for users: warnings that point at the line of the user, counts and times."""

import re
import sys
import warnings
from collections.abc import Sequence
from math import isfinite

#: This package, and MDAnalysis, whose analyses call it.
_NOT_THE_USER = (__name__.split(".")[0], "MDAnalysis")

#: Units of time that are larger than ps, and how many ps each has.
_LARGER_UNITS = {"s": 1e12, "ms": 1e9, "µs": 1e6, "ns": 1e3}


def warn_user(message: str) -> None:
    """Issue a UserWarning at the innermost line outside this package and MDAnalysis.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("Two of the frames are equal.")
    >>> str(caught[0].message)
    'Two of the frames are equal.'
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package_of(frame.f_globals.get("__name__", "")) in _NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def _package_of(module: str) -> str:
    return module.partition(".")[0]


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in words.

    Examples
    --------
    >>> counted(1, "frame"), counted(1200, "frame"), counted(0, "peak of noise")
    ('1 frame', '1,200 frames', '0 peaks of noise')
    """
    first, space, rest = noun.partition(" ")
    return f"{number:,} {first}{'s' * (number != 1)}{space}{rest}"


def time_span(low: float, high: float, unit: str) -> str:
    """Return a range of times in words; it may be open on either side.

    Examples
    --------
    >>> time_span(900.0, 2500.0, "ps"), time_span(20.0, 30.0, "ps"), time_span(900.0, float("nan"), "ps")
    ('900 ps to 2.5 ns', '20 to 30 ps', 'at least 900 ps')
    """
    ends = [duration(end, unit) if isfinite(end) else "" for end in (low, high)]
    if all(ends):
        (first, its), (_, other) = (end.rsplit(" ", 1) for end in ends)
        return f"{first if its == other else ends[0]} to {ends[1]}"
    return f"at least {ends[0]}" if ends[0] else f"at most {ends[1]}" if ends[1] else "open"


def duration(value: float, unit: str) -> str:
    """Return a time with three digits, in the most readable unit; frames stay frames.

    Examples
    --------
    >>> duration(6000.0, "ps"), duration(0.2, "ps"), duration(12.5, "frames"), duration(2.5e8, "ps")
    ('6 ns', '0.2 ps', '12.5 frames', '250 µs')
    """
    factor, unit = time_unit(value / 0.9995, unit)  # 999.6 ps is 1 ns in three digits
    value *= factor
    if unit == "ps" and 0 < abs(value) < 0.1:
        value, unit = 1000 * value, "fs"
    if not isfinite(value) or abs(value) < 1000:
        return f"{value:.3g} {unit}"
    return f"{float(f'{value:.3g}'):,.0f} {unit}"


#: ps in each unit of time.
TIME_UNITS = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9}
_TIME = re.compile(r"\s*([+-]?[0-9.]+(?:e[+-]?\d+)?)\s*([a-zµ]*)\s*")


def parse_time(text: str) -> tuple[float, str] | None:
    """Return a time as its number in ps and its unit, or the bare number and an empty unit; None if invalid.

    Examples
    --------
    >>> parse_time("10ns"), parse_time("1.5 us"), parse_time("200"), parse_time("10 parsec")
    ((10000.0, 'ns'), (1500000.0, 'us'), (200.0, ''), None)
    """
    match = _TIME.fullmatch(text)
    if match is None or (match.group(2) and match.group(2) not in TIME_UNITS):
        return None
    try:
        number = float(match.group(1))
    except ValueError:
        return None
    return number * TIME_UNITS.get(match.group(2), 1.0), match.group(2)


def time_unit(longest: float, unit: str) -> tuple[float, str]:
    """Return the factor and the most readable unit for times up to `longest` ps; frames stay frames.

    Examples
    --------
    >>> time_unit(5e4, "ps"), time_unit(50, "ps"), time_unit(5e4, "frames")
    ((0.001, 'ns'), (1.0, 'ps'), (1.0, 'frames'))
    """
    if unit == "ps" and isfinite(longest):
        for larger, size in _LARGER_UNITS.items():
            if abs(longest) >= size:
                return 1 / size, larger
    return 1.0, unit


def shorten(names: Sequence[object]) -> str:
    """List names, omitting the middle of a long list."""
    words = [str(name) for name in names]
    return ", ".join(words if len(words) <= 6 else [*words[:3], f"... ({len(words)} in all) ...", words[-1]])

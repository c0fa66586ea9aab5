"""Words for users: warnings that point at their own line, and numbers of things."""

import sys
import warnings

#: This package, and the one whose analyses call it in turn.
_NOT_THE_USER = (__name__.split(".")[0], "MDAnalysis")


def warn_user(message: str) -> None:
    """Give a UserWarning at the innermost line outside this package and MDAnalysis.

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
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "frame"), counted(1200, "frame"), counted(0, "peak of noise")
    ('1 frame', '1,200 frames', '0 peaks of noise')
    """
    first, space, rest = noun.partition(" ")
    return f"{number:,} {first}{'s' * (number != 1)}{space}{rest}"

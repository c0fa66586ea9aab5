"""Warnings that point at the user's own line, however deep in the package they arise."""

import sys
import warnings

_PACKAGE = __name__.split(".")[0]


def warn_user(message: str) -> None:
    """Give a UserWarning at the innermost line outside this package.

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
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(_PACKAGE + ".")

"""Send arrays to other processes together."""

from typing import Any

import numpy as np


class Movable:
    """A frozen dataclass of arrays, and of tuples of arrays, that may be sent to another process.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pair(Movable):
    ...     one: np.ndarray
    ...     two: np.ndarray
    >>> Pair(np.zeros(3), np.ones(4)).__sizeof__()
    56
    """

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays; Dask requests them before it moves an object."""
        return sum(map(_bytes, vars(self).values()))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore an object that came from another process.

        Kernels cannot use arrays that are at an address that is not a multiple of the size of a number, and
        would be compiled again for read-only arrays. Such arrays are copied.
        """
        for name, value in state.items():
            object.__setattr__(self, name, _usable(value))


def _bytes(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_bytes, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0 if value is None else value.__sizeof__()


def _usable(value: Any) -> Any:
    if isinstance(value, tuple):
        return type(value)(*map(_usable, value)) if hasattr(value, "_fields") else tuple(map(_usable, value))
    return np.require(value, requirements=["C", "A", "W"]) if isinstance(value, np.ndarray) else value

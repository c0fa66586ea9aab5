"""Data that can be clustered, from frames, features or arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy.typing as npt

from mdfuzzy._check import InputTypeError
from mdfuzzy.frames.features import Features
from mdfuzzy.frames.trajectories import Trajectories


def as_data(data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> Trajectories:
    """Return frames or features as they are, and arrays as features.

    Examples
    --------
    >>> import numpy as np
    >>> as_data([np.zeros((3, 2)), np.ones((4, 2))])
    Features(7 vectors of 2 in 2 trajectories)
    """
    if isinstance(data, Trajectories):
        return data
    for part in data if isinstance(data, list | tuple) else [data]:
        if isinstance(part, str | os.PathLike) or hasattr(part, "xyz"):
            raise InputTypeError(
                f"`data` must be Frames, Features or arrays of features; got {part!r}. Read trajectories "
                "with mf.load(...)."
            )
    return Features(data)

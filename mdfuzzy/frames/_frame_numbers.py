"""Numbers of frames, counted over all trajectories."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputIndexError, InputTypeError, InputValueError


def check_frames(index: npt.ArrayLike, n: int) -> np.ndarray:
    """Return numbers of frames out of `n`, in any order and shape, or raise.

    Examples
    --------
    >>> check_frames([3, 1], 4)
    array([3, 1])
    """
    frames = np.asarray(index)
    if frames.size and not np.issubdtype(frames.dtype, np.integer):
        raise InputTypeError(
            f"`indices` must be frame numbers; got an array of type {frames.dtype}. "
            f"For a mask, pass np.flatnonzero(mask)."
        )
    if frames.size and not 0 <= frames.min() <= frames.max() < n:
        bad = frames[(frames < 0) | (frames >= n)].flat[0] if frames.ndim else int(frames)
        raise InputIndexError(f"`indices` must be in [0, {n - 1}]; got {bad}. There are {n} frames.")
    return frames.astype(np.int64)


def ascending_frames(chosen: slice | npt.ArrayLike, n: int) -> np.ndarray:
    """Return the numbers of chosen frames out of `n`, which must ascend to form trajectories.

    Examples
    --------
    >>> ascending_frames(slice(None, None, 2), 5), ascending_frames([False, True, True], 3)
    (array([0, 2, 4]), array([1, 2]))
    """
    rule = "`frames[...]` takes a slice, a mask, or a list of frame numbers in ascending order"
    if isinstance(chosen, slice):
        indices = np.arange(n)[chosen]
    else:
        indices = np.asarray(chosen)
        if indices.dtype == bool and indices.shape == (n,):
            indices = np.flatnonzero(indices)
        if indices.ndim != 1 or indices.dtype == bool:
            raise InputTypeError(f"{rule}; got {chosen!r}. For a single frame: frames[[5]].")
        indices = check_frames(indices, n)
    if len(indices) == 0 or np.any(np.diff(indices) <= 0):
        raise InputValueError(
            f"{rule}, at least one and none twice; got {chosen!r}. `trajectory` takes any order."
        )
    return indices

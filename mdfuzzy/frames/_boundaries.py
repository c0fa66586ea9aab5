"""Boundaries between trajectories: what everything with one row per frame can do with them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import read_only


class Trajectories:
    """What everything with one row per frame and boundaries between trajectories can do."""

    lengths: np.ndarray

    def __len__(self) -> int:
        return int(self.lengths.sum())

    @property
    def n_trajectories(self) -> int:
        """The number of trajectories."""
        return len(self.lengths)

    def split(self, values: npt.ArrayLike) -> list[np.ndarray]:
        """Fold an array with one row per frame into one array per trajectory.

        Parameters
        ----------
        values : (n, ...) array
            One entry or row per frame.

        Returns
        -------
        list of arrays
            Views of `values`, one per trajectory.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> features = mf.Features([np.zeros((2, 1)), np.ones((3, 1))])
        >>> features.split([5, 6, 7, 8, 9])
        [array([5, 6]), array([7, 8, 9])]
        """
        values = np.asarray(values)
        if values.ndim == 0 or len(values) != len(self):
            raise ValueError(
                f"`values` must have one row per frame; got shape {values.shape}. "
                f"There are {len(self)} frames."
            )
        return np.split(values, np.cumsum(self.lengths)[:-1])

    def locate(self, index: npt.ArrayLike) -> tuple:
        """Return the trajectory of a frame and its place in it.

        Parameters
        ----------
        index : int or array of int
            Frames, counted over all trajectories.

        Returns
        -------
        trajectory, frame : int, or arrays of int
            Both counted from 0; the frame among the loaded ones of its trajectory.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> features = mf.Features([np.zeros((2, 1)), np.ones((3, 1))])
        >>> features.locate(3)
        (1, 1)
        """
        frames = self._check_frames(index)
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        trajectory = np.searchsorted(starts, frames, side="right") - 1
        frame = frames - starts[trajectory]
        return (int(trajectory), int(frame)) if frames.ndim == 0 else (trajectory, frame)

    def _check_frames(self, index: npt.ArrayLike) -> np.ndarray:
        frames = np.asarray(index)
        if frames.size and not np.issubdtype(frames.dtype, np.integer):
            raise TypeError(
                f"`indices` must be frame numbers; got an array of type {frames.dtype}. "
                f"For a mask, pass np.flatnonzero(mask)."
            )
        if frames.size and not 0 <= frames.min() <= frames.max() < len(self):
            bad = frames[(frames < 0) | (frames >= len(self))].flat[0] if frames.ndim else int(frames)
            raise IndexError(
                f"`indices` must be in [0, {len(self) - 1}]; got {bad}. There are {len(self)} frames."
            )
        return frames.astype(np.int64)

    def _check_lengths(self, rows: int) -> None:
        lengths = np.array(self.lengths, dtype=np.int64)
        if lengths.ndim != 1 or lengths.sum() != rows or np.any(lengths < 1):
            raise ValueError(
                f"`lengths` must be positive and sum to the number of frames, {rows}; got {lengths.tolist()}."
            )
        object.__setattr__(self, "lengths", read_only(lengths))


def shorten(names: Sequence[object]) -> str:
    """List names, leaving out the middle of a long list."""
    names = [str(name) for name in names]
    return ", ".join(names if len(names) <= 6 else [*names[:3], f"... ({len(names)} in all) ...", names[-1]])

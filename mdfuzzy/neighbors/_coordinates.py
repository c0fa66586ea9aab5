"""Check and centre the coordinates of conformations that are compared."""

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError, check_finite
from mdfuzzy._threads import run_ranges
from mdfuzzy.frames.trajectories import Trajectories

#: The largest coordinate in nm; beyond it, fourth powers leave the range of float32.
LARGEST = 1e6
_STRETCH = 16_384  # frames centred together


def check_conformations(
    frames: object, queries: object, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the centred coordinates of both, (n, atoms, 3) float32, or raise; None for no queries."""
    xyz = _coordinates("frames", frames, n_jobs)
    if queries is None:
        if len(xyz) < 2:
            raise InputValueError(f"`frames` must hold at least 2 frames to have neighbours; got {len(xyz)}.")
        return xyz, None
    others = _coordinates("queries", queries, n_jobs)
    if others.shape[1] != xyz.shape[1]:
        raise InputValueError(
            f"`queries` must have the atoms of `frames`; got {others.shape[1]} atoms, expected "
            f"{xyz.shape[1]}. "
            f"Load both with the same `atoms`."
        )
    return xyz, others


def _coordinates(name: str, frames: object, n_jobs: int | None) -> np.ndarray:
    """Return centred float32 coordinates, without a copy for `Frames`."""
    if isinstance(frames, Trajectories) and frames.metric.superpose:
        xyz = frames.points
    else:
        try:
            xyz = np.asarray(frames)
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"`{name}` must be Frames or an array of shape (frames, atoms, 3); got "
                f"{type(frames).__name__}: {error}. All frames need the same atoms."
            ) from error
        if xyz.ndim != 3 or xyz.shape[2] != 3 or xyz.dtype.kind not in "fiu":
            raise InputValueError(
                f"`{name}` must be Frames or an array of shape (frames, atoms, 3); got shape {xyz.shape} of "
                f"{xyz.dtype}. For feature vectors use `euclidean_neighbors`."
            )
        check_finite(name, xyz, remedy="Remove or repair these frames.")
        xyz = _centred(xyz, n_jobs)
    if len(xyz) == 0 or xyz.shape[1] < 3:
        raise InputValueError(
            f"`{name}` must have at least 1 frame of 3 atoms; got shape {xyz.shape}. "
            f"With fewer than 3 atoms there is no shape to compare."
        )
    largest = max(xyz.max(), -xyz.min())
    if not (largest == 0 or 1e-9 <= largest <= LARGEST):
        raise InputValueError(
            f"`{name}` must have coordinates between 1e-9 and {LARGEST:g} nm from the centroid; got at most "
            f"{largest:g} nm. Check the unit: nm is expected."
        )
    return xyz


def _centred(xyz: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Return coordinates relative to the centroid of each frame, float32."""
    centred = np.empty(xyz.shape, np.float32)

    def centre(first: int, last: int) -> None:
        part = xyz[first:last].astype(np.float64)
        centred[first:last] = part - part.mean(axis=1, keepdims=True)

    run_ranges(centre, len(xyz), _STRETCH, n_jobs)
    return centred

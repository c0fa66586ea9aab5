"""Split a stream of frames into groups."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mdtraj as md


def split_by_group(
    stream: "Iterable[tuple[np.ndarray, md.Trajectory]]", every: np.ndarray, group: np.ndarray
) -> "Iterator[tuple[int, md.Trajectory]]":
    """Yield the frames of each group in parts, with the number of the group.

    Parameters
    ----------
    stream : iterable of (numbers, frames)
        Parts of the frames, in ascending order.
    every, group : (m,) int64
        The number of each frame in a group, ascending, and the group. A frame may be in several.
    """
    for numbers, part in stream:
        first, last = np.searchsorted(every, numbers[0]), np.searchsorted(every, numbers[-1], "right")
        here, wanted = group[first:last], every[first:last]
        for place in np.unique(here):
            yield int(place), part.slice(np.searchsorted(numbers, wanted[here == place]))

"""Record the sources of frames as runs at equal steps in a file or an object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """The source of a run of frames: ``first + stride * arange(count)`` of one file or object.

    Attributes
    ----------
    path : str or None
        The file; None for frames of an object in memory.
    trajectory : int
        The trajectory of the `Frames` that these frames belong to.
    first, stride, count : int
        The frames of the file.
    data : md.Trajectory, array, AtomGroup or None
        The caller's object, if there is no file; of an MDAnalysis universe the atoms that frames have.
    """

    path: str | None
    trajectory: int
    first: int
    stride: int
    count: int
    data: object = None


def source_frames(sources: Sequence[Source], indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of the source of each frame, and its number there, both (m,) int64.

    Examples
    --------
    >>> a = Source(path="a.xtc", trajectory=0, first=5, stride=10, count=3)
    >>> files = [a, Source(path="b.xtc", trajectory=1, first=0, stride=1, count=8)]
    >>> source_frames(files, np.array([2, 3, 10]))
    (array([0, 1, 1]), array([25,  0,  7]))
    """
    first, stride, count = np.array([(each.first, each.stride, each.count) for each in sources]).T
    ends = np.cumsum(count)
    source = np.searchsorted(ends, indices, side="right")
    return source, first[source] + stride[source] * (indices - (ends - count)[source])


def chosen_sources(sources: Sequence[Source], indices: np.ndarray, kept: np.ndarray) -> Iterator[Source]:
    """Yield the sources of chosen frames, one for every run of them at equal steps.

    Parameters
    ----------
    sources : sequence of Source
        The sources of all frames.
    indices : (m,) int array
        The chosen frames, ascending.
    kept : (t,) int array
        The trajectories that they belong to, ascending. These are renumbered from 0.

    Examples
    --------
    >>> file = Source(path="run.xtc", trajectory=3, first=100, stride=10, count=8)
    >>> for part in chosen_sources([file], np.array([0, 2, 4, 7]), np.array([3])):
    ...     print(part.trajectory, part.first, part.stride, part.count)
    0 100 20 3
    0 170 10 1
    """
    start_of_source = 0
    for source in sources:
        inside = (indices >= start_of_source) & (indices < start_of_source + source.count)
        places = indices[inside] - start_of_source
        start_of_source += source.count
        trajectory = int(np.searchsorted(kept, source.trajectory))
        steps = np.diff(places)
        ends = np.append(np.flatnonzero(np.diff(steps)) + 1, len(steps))  # of runs of equal steps
        start = 0
        while start < len(places):
            step, count = 1, 1
            if start < len(steps):
                step = int(steps[start])
                count += int(ends[np.searchsorted(ends, start, side="right")]) - start
            first = source.first + source.stride * int(places[start])
            yield replace(
                source, trajectory=trajectory, first=first, stride=source.stride * step, count=count
            )
            start += count

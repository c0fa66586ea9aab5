"""Fingerprints of data, trajectory by trajectory: the same data, data that has grown, or other data."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mdfuzzy.frames.mapping import release
from mdfuzzy.frames.trajectories import Trajectories

#: The number of bytes that are hashed together.
_PIECE = 2**26


@dataclass(frozen=True)
class Fingerprint:
    """Hold hashes of the data, which determine the results.

    Attributes
    ----------
    compared : str
        The metric of the frames, with its parameters.
    lengths : tuple of int
        Frames per trajectory.
    digests : tuple of str
        A hash of the points of each trajectory.
    """

    compared: str
    lengths: tuple[int, ...]
    digests: tuple[str, ...]

    @property
    def key(self) -> str:
        """A hash of all."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()[:32]

    def as_json(self) -> str:
        """Return the fingerprint as a JSON text; `read` restores it from the parsed text."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, data: Trajectories) -> "Fingerprint":
        """Return the fingerprint of `data`.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> one, same, other = (Fingerprint.of(mf.Features([[[0.0], [x]]])) for x in (1, 1, 2))
        >>> one == same, one == other
        (True, False)
        """
        digests = tuple(digest(part) for part in data.split(data.points))
        return cls(_compared(data), tuple(data.lengths.tolist()), digests)

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Fingerprint":
        """Return the fingerprint that was saved as JSON."""
        return cls(str(content["compared"]), tuple(content["lengths"]), tuple(content["digests"]))

    def frames_in(self, data: Trajectories) -> np.ndarray | None:
        """Return the frames of `data` that belong to this fingerprint, ascending; None if some are missing.

        Frames may have been added at the end of trajectories, and trajectories anywhere in their list.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> known = Fingerprint.of(mf.Features([[[0.0], [1.0]], [[2.0]]]))
        >>> known.frames_in(mf.Features([[[0.0], [1.0], [5.0]], [[7.0]], [[2.0]]]))
        array([0, 1, 4])
        >>> known.frames_in(mf.Features([[[0.0], [1.0]]])) is None
        True
        """
        if self.compared != _compared(data):
            return None
        parts = data.split(data.points)
        starts = np.cumsum(data.lengths) - data.lengths
        frames: list[np.ndarray] = []
        at = 0
        for length, known in zip(self.lengths, self.digests, strict=True):
            while at < len(parts) and not (length <= len(parts[at]) and digest(parts[at][:length]) == known):
                at += 1
            if at == len(parts):
                return None
            frames.append(starts[at] + np.arange(length))
            at += 1
        return np.concatenate(frames).astype(np.int64)

    def difference(self, data: Trajectories) -> str:
        """Return in words why `data` does not hold these frames; empty if there is no simple reason."""
        parts = data.split(data.points)
        if self.compared != _compared(data):
            return ""
        found = [self._holds(number, parts) for number in range(len(self.lengths))]
        if len(parts) < len(self.lengths):
            return f"there were {len(self.lengths)} trajectories, and there are {len(parts)} now"
        if found.count(False) * 2 > len(found):
            return ""  # other data altogether
        number = found.index(False)
        length, left = self.lengths[number], len(parts[number])
        if left < length:
            return f"trajectory {number} shrank from {length:,} to {left:,} frames"
        return f"the first {length:,} frames of trajectory {number} are others now"

    def _holds(self, number: int, parts: list[np.ndarray]) -> bool:
        if number >= len(parts) or len(parts[number]) < self.lengths[number]:
            return False
        return digest(parts[number][: self.lengths[number]]) == self.digests[number]


def digest(*arrays: Any) -> str:
    """Return a hash of arrays: their types, shapes and bytes."""
    found = hashlib.blake2b(digest_size=16)
    for each in arrays:
        array = np.ascontiguousarray(each)
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        content = array.data.cast("B") if array.size else b""
        for start in range(0, len(content), _PIECE):
            found.update(content[start : start + _PIECE])
            release()
    return found.hexdigest()


def _compared(data: Trajectories) -> str:
    return digest(np.frombuffer(repr(data.metric).encode(), np.uint8), *data.essence())

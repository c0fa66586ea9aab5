"""Fingerprints of data, trajectory by trajectory: the same data, data that has grown, or other data."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories


@dataclass(frozen=True)
class Fingerprint:
    """What the results depend on, as hashes.

    Attributes
    ----------
    compared : str
        How frames are compared: the metric, and what belongs to it.
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
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]

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

    def grew_into(self, data: Trajectories) -> bool:
        """Whether `data` begins with the same trajectories: frames were added to them, or trajectories."""
        parts = data.split(data.points)
        return (
            self.compared == _compared(data)
            and len(self.lengths) <= len(parts)
            and all(
                length <= len(part) and digest(part[:length]) == known
                for length, known, part in zip(self.lengths, self.digests, parts, strict=False)
            )
        )


def digest(*arrays: Any) -> str:
    """Return a hash of arrays: their types, shapes and bytes."""
    found = hashlib.blake2b(digest_size=16)
    for each in arrays:
        array = np.ascontiguousarray(each)
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        found.update(array.data.cast("B") if array.size else b"")
    return found.hexdigest()


def _compared(data: Trajectories) -> str:
    return digest(np.frombuffer(repr(data.metric).encode(), np.uint8), *data.essence())

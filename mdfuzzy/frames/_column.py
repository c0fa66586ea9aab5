"""An array that grows at its end, in memory or in a file."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mdfuzzy._atomic import draft_in
from mdfuzzy.frames.mapping import LARGE, ScratchFile


@dataclass
class Column:
    """An array that grows at the end by an eighth at a time, to hold little memory in reserve.

    With a scratch folder, it continues in a file there as soon as it is large.
    """

    shape: tuple[int, ...]
    dtype: type
    scratch: Path | None = None
    count: int = 0
    values: np.ndarray = field(init=False)
    file: ScratchFile | None = None

    def __post_init__(self) -> None:
        self.values = np.empty((0, *self.shape), self.dtype)

    def append(self, rows: np.ndarray) -> None:
        """Add rows at the end."""
        needed = self.count + len(rows)
        if self.scratch is not None and self.file is None and self.values.nbytes >= LARGE:
            self.file = ScratchFile(draft_in(self.scratch))
            self.file.write(self.values[: self.count])
            self.values = self.values[:0].copy()
        if self.file is not None:
            self.file.write(np.ascontiguousarray(rows, self.dtype))
            self.count = needed
            return
        if needed > len(self.values):
            # realloc moves the pages of a large array without making a second copy of them.
            self.values.resize((max(needed, len(self.values) * 9 // 8), *self.shape), refcheck=False)
        self.values[self.count : needed] = rows
        self.count = needed

    @property
    def filled(self) -> np.ndarray:
        """The rows so far, in memory; an array from another process cannot release its reserve."""
        return self.values[: self.count]

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"values": self.filled}

    def finish(self) -> np.ndarray:
        """Release the reserve and return the array."""
        if self.file is not None:
            return self.file.map((self.count, *self.shape), self.dtype)
        self.values.resize((self.count, *self.shape), refcheck=False)
        return self.values

"""Select the frames to load by a time window and a stride."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError, check_int, check_real
from mdfuzzy._messages import time_unit, warn_user
from mdfuzzy.frames._readers import Piece


@dataclass(frozen=True, kw_only=True)
class Window:
    """The time window and the stride of the frames to load.

    Parameters
    ----------
    stride : int
        Load every Nth frame of the window, beginning with its first.
    begin, end : float or None
        The limits of the window in ps, inclusive; None stands for no limit.
    timestep : float or None
        Time between frames in ps, if the source has no times.
    """

    stride: int = 1
    begin: float | None = None
    end: float | None = None
    timestep: float | None = None

    def __post_init__(self) -> None:
        check_int("stride", self.stride, 1, remedy="1 loads every frame.")
        for name in ("begin", "end"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), remedy="It is a time in ps.")
        if self.begin is not None and self.end is not None and self.begin > self.end:
            raise InputValueError(
                f"`begin` must not be later than `end`; got {_time(self.begin)} and {_time(self.end)}."
            )
        if self.timestep is not None:
            check_real("timestep", self.timestep, above=0, remedy="It is the time between frames in ps.")

    def frames(self, times: np.ndarray | None, size: int, skip: int, piece: Piece) -> np.ndarray:
        """Return the frames of a chunk of `size` frames in the window, without the first `skip`."""
        if self.begin is None and self.end is None:
            return np.arange(skip, size)
        if times is None:
            name = "begin" if self.begin is not None else "end"
            raise InputValueError(
                f"`{name}` must be left out if the frames have no times; {piece.name} holds none. Give "
                f"`timestep`, the time between its frames in ps."
            )
        # Files hold times in single precision, whose rounding late in a long run may exceed the time step.
        margin = 1e-3 + 1e-6 * np.abs(times)
        inside = np.ones(size, bool)
        if self.begin is not None:
            inside &= times >= self.begin - margin
        if self.end is not None:
            inside &= times <= self.end + margin
        inside[:skip] = False
        return np.flatnonzero(inside)

    def is_past(self, times: np.ndarray | None) -> bool:
        """Return whether later frames are beyond the window; times ascend in a file."""
        return (
            self.end is not None
            and times is not None
            and bool(times[-1] > self.end + 1e-3 + 1e-6 * abs(times[-1]))
        )

    def warn_of_no_frames(self, pieces: list[Piece], spans: list[tuple[float, float]]) -> None:
        """Warn that a trajectory has no frames in the window."""
        warn_user(
            f"{pieces[0].name} is left out: it has no frames {self}, but from {_time(min(spans)[0])} to "
            f"{_time(max(end for _, end in spans))}."
        )

    def __str__(self) -> str:
        begin = "" if self.begin is None else f"from {_time(self.begin)}"
        end = "" if self.end is None else f"to {_time(self.end)}"
        return " ".join(filter(None, [begin, end]))


def _time(value: float) -> str:
    """Write a time in ps with all its digits, in the most readable unit."""
    factor, unit = time_unit(abs(value), "ps")
    return f"{factor * value:.10g} {unit}"

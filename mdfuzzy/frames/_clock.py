"""Determine the times of frames, from files or from the time step of the caller."""

from dataclasses import dataclass, field

import numpy as np

from mdfuzzy._messages import counted, duration, time_unit, warn_user

#: The relative difference from the given times above which times of a file are wrong; less is rounding.
_TOLERANCE = 0.01


@dataclass
class Clock:
    """The times of all frames that are read.

    Parameters
    ----------
    timestep : float or None
        The time between frames in ps, if the caller gives it.
    """

    timestep: float | None
    _replaced: dict[str, float] = field(default_factory=dict)  # the time between frames of files, by name
    _seen: dict[str, bool] = field(default_factory=dict)  # the files read so far, and whether they had times

    def times(self, times: np.ndarray | None, first: int, size: int, name: str) -> np.ndarray | None:
        """Return the times of some frames of a trajectory.

        Parameters
        ----------
        times : (size,) array or None
            The times in the file.
        first : int
            The number of the first of these frames in the trajectory.
        size : int
            The number of these frames.
        name : str
            The file.

        Returns
        -------
        (size,) array or None
            The times of the file if they are `timestep` apart or if it has one frame only; else the given
            times.
        """
        if self.timestep is None:
            return times
        own = self.timestep * (first + np.arange(size, dtype=np.float64))
        if name not in self._seen:
            self._seen[name] = times is not None
            step = float(np.median(np.diff(times))) if times is not None and size > 1 else self.timestep
            if not abs(step - self.timestep) <= _TOLERANCE * self.timestep:
                self._replaced[name] = step
        return own if times is None or name in self._replaced else times

    def absorb(self, other: "Clock") -> None:
        """Add the files that another clock has seen."""
        self._replaced |= other._replaced
        self._seen |= other._seen

    def warn_of_replaced(self) -> None:
        """Warn once for all files whose times were replaced."""
        if not self._replaced:
            return
        name, step = next(iter(self._replaced.items()))
        files = f"{len(self._replaced)} of {counted(len(self._seen), 'file')}"
        if len(self._seen) == 1:
            files = name
        first = "" if len(self._seen) == 1 else f", the first {name}"
        warn_user(
            f"`timestep` is {duration(float(self.timestep or 0), 'ps')} and replaces the times in "
            f"{files}{first}: they are {duration(step, 'ps')} apart there. If those are right, leave it out."
        )


def even_step(times: list[np.ndarray]) -> float | None:
    """Return the time between frames; None if it varies.

    Files hold times in single precision, so the steps between late frames vary by rounding. The mean is
    rounded to six digits, so that 0.2 ps is 0.2.
    """
    steps = np.concatenate([np.diff(part) for part in times])
    if len(steps) == 0:
        return None
    step = float(steps.mean())
    latest = max(float(np.abs(part).max()) for part in times)
    even = step > 0 and np.abs(steps - step).max() <= 0.01 * step + 1e-6 * latest
    return float(f"{step:.6g}") if even else None


def time_words(times: list[np.ndarray]) -> str:
    """Return the lengths of trajectories and the time between frames in words."""
    total = sum(float(part[-1] - part[0]) for part in times)
    length = _time(total)
    if all(len(part) == 1 for part in times):
        return length
    if all(np.ptp(part) == 0 for part in times):
        return "all frames of a trajectory at the same time (timestep gives the time between them)"
    step = even_step(times)
    return f"{length}, frames at uneven times" if step is None else f"{length}, a frame every {_time(step)}"


def _time(value: float) -> str:
    """Write a time in ps with four digits, in the most readable unit."""
    factor, unit = time_unit(abs(value), "ps")
    return f"{factor * value:.4g} {unit}"

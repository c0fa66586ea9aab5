"""The memory and disk that a clustering needs, estimated before it begins, and the sample that fits."""

import logging
from dataclasses import dataclass, replace

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors.copies import count_different
from mdfuzzy.pipeline.extension import CHUNK
from mdfuzzy.pipeline.memory import machine_memory, parse_bytes
from mdfuzzy.pipeline.settings import Settings, resolve_k, suggest_k

#: The fraction of the machine's memory that a run may use if no limit is given.
_SHARE = 0.7
#: Bytes without any frames: Python, its libraries and the compiled kernels.
_PROCESS = 500_000_000
#: Edges of the union graph for each of the k neighbours of a frame (alanine dipeptide, k = 50: 1.44).
_EDGES = 1.5
#: Bytes of each edge while memberships are solved: the walk on two orders of the points, and coarser levels.
_SOLVE_EDGE = 16
#: Bytes of each fitted frame while memberships are solved: eight steps of the acceleration, and the columns.
_SOLVE_FRAME = 900
#: Bytes of each number of a frame in the index of a search, and additional bytes of each frame.
_INDEX_NUMBER, _INDEX_FRAME = 10, 50
#: Bytes of every frame: its labels, basins, cores and density, and its use in plots and tables (9,945,166
#: frames: 290).
_FRAME = 300
#: Bytes of every frame in files, beside coordinates and memberships: labels, exports, its row of the table.
_SAVED = 200
#: Memberships in more states than this need more memory.
_STATES = 8
#: The memory plan of runs with fewer frames is not reported.
_SMALL = 100_000

logger = logging.getLogger("mdfuzzy")


@dataclass(frozen=True, kw_only=True)
class MemoryPlan:
    """Estimate the memory and disk space that a clustering needs.

    Attributes
    ----------
    frames, fitted : int
        The number of all frames, and of the frames on which states are found.
    checked : int
        The number of frames of the fit that checks the memberships of the others; 0 if all are fitted.
    numbers : int
        The number of coordinates or features of a frame.
    k : int
        Neighbours per fitted frame.
    saved : bool
        Whether there is a run directory. Its files then hold neighbours and edges.
    """

    frames: int
    fitted: int
    checked: int
    numbers: int
    k: int
    saved: bool

    @property
    def memory(self) -> int:
        """The largest memory use in bytes."""
        edges = int(_EDGES * self.k)
        held = 4 * self.numbers + (0 if self.saved else 16 * self.k + 8 * edges)
        index = _INDEX_NUMBER * self.numbers + _INDEX_FRAME
        search = 4 * self.numbers + index + 16 * self.k
        solve = held + _SOLVE_EDGE * edges + _SOLVE_FRAME
        fit = max(self.fitted, self.checked) * max(search, solve)
        if self.fitted == self.frames:
            return _PROCESS + max(fit, self.frames * (held + _FRAME))
        chunk = min(self.frames, max(CHUNK, self.fitted // 2)) * (
            8 * self.numbers + 40 * self.k + 24 * _STATES
        )
        assign = self.fitted * (held + index) + chunk
        return _PROCESS + max(fit, assign, self.frames * _FRAME)

    @property
    def disk(self) -> int:
        """Bytes in the run directory while the clustering is made."""
        fitted = self.fitted * (16 * self.k + int(_EDGES * self.k) * 8)
        return self.frames * (4 * self.numbers + 8 * _STATES + _SAVED) + fitted if self.saved else 0

    def __str__(self) -> str:
        fitted = "" if self.fitted == self.frames else f", states found on {self.fitted:,} of them"
        disk = f" and {self.disk / 1e9:.1f} GB of disk" if self.saved else ""
        return f"{self.frames:,} frames{fitted}: about {self.memory / 1e9:.1f} GB of memory{disk}"


def plan_memory(
    data: Trajectories, settings: Settings, *, saved: bool, memory: float | str | None = None
) -> tuple[Settings, int]:
    """Choose the frames to fit if all frames do not fit into memory, and report the memory needed.

    Parameters
    ----------
    data : Frames or Features
        All frames.
    settings : Settings
        The settings of the user.
    saved : bool
        Whether there is a run directory.
    memory : float or str, optional
        The number of bytes that may be used; by default most of the memory of the machine.

    Returns
    -------
    settings : Settings
        The settings, with the number of frames to fit.
    check_frames : int
        The number of frames of the fit that checks the memberships of the others: twice the number of fitted
        frames, or the same number if twice as many do not fit into memory.

    Raises
    ------
    ValueError
        If no sample fits into the memory, or the requested sample does not fit.
    """
    limit, given = None if memory is None else parse_bytes("memory", memory), memory is not None
    if limit is None:
        machine = machine_memory()
        limit = np.inf if machine is None else _SHARE * machine
    n, numbers = len(data), data.subset(np.array([0])).points.size
    different = n

    def plan(fitted: int, checked: int | None = None) -> MemoryPlan:
        checked = (0 if fitted == n else fitted) if checked is None else checked
        searched = max(fitted, checked)
        k = resolve_k(settings.k, searched, n_different=min(searched, different))
        return MemoryPlan(frames=n, fitted=fitted, checked=checked, numbers=numbers, k=k, saved=saved)

    wanted = n if settings.fit_frames is None else min(n, settings.fit_frames)
    found = plan(wanted)
    if wanted == n and settings.k is None and found.memory <= limit:
        different = count_different(data.points)
        found = plan(wanted)
    if found.memory > limit and settings.fit_frames is not None and given:
        raise InputValueError(
            f"`memory` must be enough for a fit of `fit_frames` frames; got {limit / 1e9:.1f} GB, and "
            f"{found}. Give more memory, or fewer frames to fit."
        )
    if found.memory > limit and settings.fit_frames is None:
        sizes = [m for m in _round_numbers(n) if m >= 20 * (settings.k or suggest_k(m))]
        fitting = [m for m in sizes if plan(m).memory <= limit]
        if not fitting:
            least = min((plan(m).memory for m in sizes), default=found.memory)
            raise InputValueError(
                f"`memory` must be at least {least / 1e9:.1f} GB for {n:,} frames, states found on few "
                f"of them; got {limit / 1e9:.1f} GB. Give more, or load fewer frames (`stride`)."
            )
        settings = replace(settings, fit_frames=fitting[-1])
        logger.info(f"{found}, more than the {limit / 1e9:.1f} GB that may be used")
        found = plan(fitting[-1])
    if found.fitted < n:
        larger = plan(found.fitted, min(n, 2 * found.fitted))
        found = larger if larger.memory <= limit else found
    if n >= _SMALL or found.fitted < n:
        logger.info(f"{found}")
    return settings, found.checked


def _round_numbers(n: int) -> list[int]:
    """Return 1, 2 and 5 times the powers of 10 below n, so that the choice depends little on the memory."""
    return [d * 10**power for power in range(2, 12) for d in (1, 2, 5) if d * 10**power < n]

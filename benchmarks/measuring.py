"""What the benchmarks have in common: seconds, peak memory, and the machine they were measured on."""

import ctypes
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import mdfuzzy as mf

_STATUS = Path("/proc/self/status")


def reset_peak() -> None:
    """Let the peak memory of this process start from what it uses now (Linux only)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> float:
    """Return the peak memory of this process in GB since the last reset, or in all where there is none."""
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


@contextmanager
def held_memory(gigabytes: float) -> Iterator[None]:
    """Inside the block, this process keeps the memory that it gives back, and has so much from the beginning.

    A virtual machine may get memory from its host only when it is used for the first time, which takes
    seconds for each GB, and lose it again soon after it was given back. (With glibc; elsewhere nothing is
    held.)
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        yield
        return
    trim_threshold, mmap_max = -1, -4  # from malloc.h
    library.mallopt(mmap_max, 0)  # all from the heap ...
    library.mallopt(trim_threshold, -1)  # ... which never becomes smaller
    np.empty(int(gigabytes * 1e9), np.uint8).fill(1)
    try:
        yield
    finally:
        library.mallopt(mmap_max, 65_536)  # as it is by default
        library.mallopt(trim_threshold, 128 * 1024)
        library.malloc_trim(0)


@dataclass
class Lap:
    """What one step took, in all of its turns."""

    name: str
    seconds: float = 0.0
    memory: float = 0.0  # peak, GB
    processor: float = 0.0  # seconds of all threads in the program
    system: float = 0.0  # seconds of all threads in the system: for memory, above all


@dataclass
class Clock:
    """Shares out the time since it was made, and the peak memory, among named steps."""

    laps: dict[str, Lap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Count from now on."""
        reset_peak()
        self._since, self._used = time.perf_counter(), _processor_times()

    def lap(self, name: str) -> None:
        """Give the time since the last lap to the step `name`."""
        step = self.laps.setdefault(name, Lap(name))
        step.seconds += time.perf_counter() - self._since
        program, system = np.subtract(_processor_times(), self._used).tolist()
        step.processor += program
        step.system += system
        step.memory = max(step.memory, peak_memory())
        self.restart()

    def rows(self) -> list[dict]:
        """Return the steps as plain dictionaries."""
        return [asdict(lap) for lap in self.laps.values()]


def _processor_times() -> tuple[float, float]:
    """Return the seconds of all threads in the program and in the system."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def machine(*packages: str) -> dict:
    """Describe this machine, and the versions of Python, mdfuzzy and the packages named."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": _total_memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"Python": platform.python_version(), "mdfuzzy": mf.__version__}
        | {name: _version(name) for name in ("numpy", "numba", "scipy", *packages)},
        "date": time.strftime("%Y-%m-%d"),
    }


def describe_machine(described: dict) -> str:
    """Return the machine as a sentence."""
    versions = ", ".join(f"{name} {number}" for name, number in described["versions"].items())
    return (
        f"{described['cores']} cores of {described['processor']}, {described['memory']:.0f} GB of memory, "
        f"{described['system']}; {versions}; {described['date']}."
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def _total_memory() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (ValueError, OSError, AttributeError):
        return float("nan")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"

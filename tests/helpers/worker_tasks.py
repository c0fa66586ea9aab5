"""What tests let the workers of a cluster do: in a module that workers can import, too."""

from pathlib import Path
from types import SimpleNamespace


def peak_memory() -> int:
    """The largest memory that the process had so far, bytes."""
    # not getrusage, whose number a process inherits from the one that started it
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024


def compiled() -> tuple[int, int]:
    """How many versions of the search a worker has, and how many of them it compiled itself."""
    from mdfuzzy._kernels.search.knn import search_groups

    return len(search_groups.signatures), sum(search_groups.stats.cache_misses.values())


def give_up(name: str) -> None:
    """Fail as a task does whose workers all ended."""
    import distributed

    raise distributed.KilledWorker(name, SimpleNamespace(address="tcp://nowhere"), 3)

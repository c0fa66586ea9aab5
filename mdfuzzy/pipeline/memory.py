"""The memory of the machine, and the parsing of sizes."""

import os
import re
from pathlib import Path

from mdfuzzy._check import InputValueError, check_real

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
#: Files in which control groups (of containers and job schedulers) hold the limit of this process.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def machine_memory() -> int | None:
    """Return the bytes of memory that this process may use; None if the system does not report them."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (ValueError, OSError, AttributeError):
        found = []
    for limit in map(Path, _LIMITS):
        try:
            found.append(int(limit.read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(found, default=None)


def parse_bytes(name: str, value: object) -> float:
    """Return a size such as 8e9 or ``"8GB"`` in bytes, or raise.

    Examples
    --------
    >>> parse_bytes("memory", "1.5 GB"), parse_bytes("memory", 2e9)
    (1500000000.0, 2000000000.0)
    """
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)B?\s*", value, re.IGNORECASE)
        if match is None:
            raise InputValueError(
                f"`{name}` must be a size in bytes, or a text such as '8GB'; got {value!r}."
            )
        value = float(match[1]) * _UNITS[match[2].upper()]
    return check_real(name, value, above=0, finite=False, remedy="It is a size in bytes, such as '8GB'.")

"""Unique names of trajectories, from the names of their files."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mdfuzzy.frames.trajectories import Trajectories

#: The largest number of bytes of a name: with a suffix and a number it is allowed on every file system.
_LONGEST = 120


def trajectory_names(data: Trajectories) -> list[str]:
    """Return a name for each trajectory that can be the name of a file.

    It is the name of the first file of the trajectory, with as many of its folders as are needed to
    distinguish it from the others. Without a file it is the number of the trajectory. A name that is too long
    is cut and ends with a checksum.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> trajectory_names(mf.datasets.alanine_dipeptide())
    ['ala2_00', 'ala2_03']
    """
    width = len(str(data.n_trajectories - 1))
    parts: list[tuple[str, ...]] = [(f"{number:0{width}}",) for number in range(data.n_trajectories)]
    for source in reversed(data.sources):
        if source.path is not None:
            path = Path(source.path)
            stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
            parts[source.trajectory] = (*path.parts[1:-1], stem)
    names = [each[-1] for each in parts]
    for depth in range(2, max(map(len, parts)) + 1):
        counts = _counts(names)
        if max(counts.values()) == 1:
            break
        repeated = [counts[name.casefold()] > 1 for name in names]
        names = [
            "_".join(each[-depth:]) if again else name
            for each, name, again in zip(parts, names, repeated, strict=True)
        ]
    return unique([_fitting(name) for name in names])


def _fitting(name: str) -> str:
    """Return a name that is not too long for a file."""
    data = name.encode("utf-8", "backslashreplace")
    if len(data) <= _LONGEST:
        return name
    checksum = hashlib.blake2b(data, digest_size=4).hexdigest()
    return f"{data[: _LONGEST - len(checksum) - 1].decode('utf-8', 'ignore')}_{checksum}"


def unique(names: Sequence[str]) -> list[str]:
    """Return names that differ even if case is ignored; repeated names get a number.

    Examples
    --------
    >>> unique(["run", "ALA2", "ala2"])
    ['run', 'ALA2', 'ala2_1']
    """
    taken, given = {name.casefold() for name in names}, []
    seen: set[str] = set()
    for name in names:
        number, new = 0, name
        while new.casefold() in (seen if number == 0 else taken | seen):
            number += 1
            new = f"{name}_{number}"
        seen.add(new.casefold())
        given.append(new)
    return given


def _counts(names: Sequence[str]) -> Counter[str]:
    return Counter(name.casefold() for name in names)

"""Assign trajectories to ensembles."""

from dataclasses import dataclass, replace

import numpy as np

from mdfuzzy._check import ReadOnly, read_only
from mdfuzzy.frames.matching import AtomMatch


@dataclass(frozen=True, eq=False, kw_only=True)
class Ensembles(ReadOnly):
    """The ensemble of each trajectory.

    Attributes
    ----------
    names : tuple of str
        The names of the ensembles, in the order in which they were given.
    of : (trajectories,) int64
        The index of the ensemble of each trajectory among the names.
    match : AtomMatch or None
        The corresponding atoms of the ensembles; None for features.

    Examples
    --------
    >>> Ensembles(names=("wild type", "mutant"), of=[0, 0, 1]).trajectories("mutant")
    array([2])
    """

    names: tuple[str, ...]
    of: np.ndarray
    match: AtomMatch | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", read_only(np.asarray(self.of, np.int64)))

    def __len__(self) -> int:
        return len(self.names)

    def trajectories(self, name: str) -> np.ndarray:
        """Return the trajectories of the ensemble `name`."""
        return np.flatnonzero(self.of == self.names.index(name))

    def kept(self, trajectories: np.ndarray) -> "Ensembles":
        """Return the ensembles of some of the `trajectories`."""
        return replace(self, of=self.of[trajectories])

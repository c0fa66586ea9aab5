"""Closest distances between residues, and contacts with a smooth switching function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_int, check_real
from mdfuzzy.features.distances import PairDistances
from mdfuzzy.features.feature import Columns, Feature, residue_labels
from mdfuzzy.frames.streaming import atoms_of

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, kw_only=True)
class ClosestDistances(Feature):
    """The smallest distance in nm between the heavy atoms of two residues.

    Attributes
    ----------
    selection : str or (m,) int array, optional
        The residues, or some of their atoms; the heavy atoms of the solute by default.
    other : str or (m,) int array, optional
        Residues of a second set, such as a ligand. The distances are then from one set to the other.
    separation : int
        The smallest separation in sequence of two residues of one chain.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> mf.features.ClosestDistances(separation=2).bind(frame).names
    ('closest ACE1 NME3',)
    """

    kind: ClassVar[str] = "closest"

    selection: str | npt.ArrayLike | None = None
    other: str | npt.ArrayLike | None = None
    separation: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("separation", self.separation, 1, remedy="It counts residues along a chain.")

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`."""
        names, atoms, compute = self._closest(first)
        return Columns(
            names=tuple(f"closest {name}" for name in names),
            unit="nm",
            periods=(None,) * len(names),
            atoms=atoms,
            compute=compute,
        )

    def _closest(
        self, first: md.Trajectory
    ) -> tuple[list[str], np.ndarray, Callable[[md.Trajectory], np.ndarray]]:
        topology = first.topology
        one = _heavy_by_residue(topology, self.selection)
        two = one if self.other is None else _heavy_by_residue(topology, self.other)
        both = combinations(one, 2) if self.other is None else product(one, two)
        different = {frozenset(pair): pair for pair in both}.values()  # two selections may overlap
        wanted = [
            (a, b)
            for a, b in different
            if a.chain.index != b.chain.index or abs(a.index - b.index) >= self.separation
        ]
        if not wanted:
            raise InputValueError(
                f"`features` must name at least one pair of residues; got none that are {self.separation} "
                "residues apart. Select more residues, or give a smaller `separation`."
            )
        sets = [list(product(one[a], two[b])) for a, b in wanted]
        starts = np.cumsum([0, *map(len, sets)])[:-1]
        distances = PairDistances(topology, np.array([pair for each in sets for pair in each]))
        involved = list(dict.fromkeys(residue for pair in wanted for residue in pair))
        labels = dict(zip(involved, residue_labels(involved), strict=True))

        def compute(frames: md.Trajectory) -> np.ndarray:
            # There may be hundreds of atomic distances for each smallest distance that is kept.
            parts = [np.minimum.reduceat(distances(part), starts, axis=1) for part in distances.parts(frames)]
            return np.concatenate(parts)

        return [f"{labels[a]} {labels[b]}" for a, b in wanted], np.unique(distances.pairs), compute


@dataclass(frozen=True, kw_only=True)
class Contacts(ClosestDistances):
    r"""Contacts between residues: 1 where they touch, 0 where they are apart, smooth in between.

    A contact is :math:`1 / (1 + \exp((d - d_0)/w))` with d the smallest distance between heavy atoms. Far
    beyond :math:`d_0` it does not depend on the distance: all unbound poses of a ligand look the same.

    Attributes
    ----------
    selection, other : str or (m,) int array, optional
        As in `ClosestDistances`.
    separation : int
        As in `ClosestDistances`.
    cutoff : float
        The distance of half a contact in nm, :math:`d_0`.
    width : float
        The width of the switching function in nm, w. The contact changes most within 3.5 w, which should be
        about the distance between neighbouring residues in a folded protein, 0.5 to 0.6 nm: a ligand that
        moves from one residue to the next then changes both contacts gradually. With a much smaller width a
        contact is 0 or 1 for almost all frames; a much larger one does not tell residues apart. The default
        was chosen on a single system, a ligand that binds to trypsin: try several widths for others.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> contact = mf.features.Contacts(separation=2).bind(frame)
    >>> contact.names, contact.compute(frame).shape
    (('contact ACE1 NME3',), (1, 1))
    """

    kind: ClassVar[str] = "contacts"

    cutoff: float = 0.5
    width: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("cutoff", self.cutoff, above=0, remedy="It is a distance in nm, such as 0.5.")
        check_real("width", self.width, above=0, remedy="It is a distance in nm, such as 0.2.")

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`."""
        names, atoms, closest = self._closest(first)

        def compute(frames: md.Trajectory) -> np.ndarray:
            return soft_contact(closest(frames), cutoff=self.cutoff, width=self.width)

        return Columns(
            names=tuple(f"contact {name}" for name in names),
            unit="",
            periods=(None,) * len(names),
            atoms=atoms,
            compute=compute,
        )


def soft_contact(distances: npt.ArrayLike, *, cutoff: float = 0.5, width: float = 0.2) -> np.ndarray:
    """Return the degree of contact at each distance, between 0 and 1.

    Parameters
    ----------
    distances : array
        Distances in nm.
    cutoff : float
        The distance of half a contact in nm.
    width : float
        The width of the switching function in nm.

    Returns
    -------
    array
        The contacts, of the same shape.

    Examples
    --------
    >>> soft_contact([0.5, 5.0]).round(3)
    array([0.5, 0. ])
    """
    from scipy.special import expit

    return expit((cutoff - np.asarray(distances)) / width)


def _heavy_by_residue(
    topology: md.Topology, selection: str | npt.ArrayLike | None
) -> dict[md.core.topology.Residue, list[int]]:
    """Return the selected heavy atoms of every residue that has any."""
    found: dict[md.core.topology.Residue, list[int]] = {}
    for index in atoms_of(topology, selection, name="features"):
        atom = topology.atom(int(index))
        if atom.element is None or atom.element.symbol not in ("H", "D"):
            found.setdefault(atom.residue, []).append(int(index))
    return found

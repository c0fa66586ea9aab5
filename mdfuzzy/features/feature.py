"""The base class of features, and the columns of a feature for one molecule."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mdfuzzy._check import check_real

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """The d columns of a feature for one molecule, and how they are computed.

    Attributes
    ----------
    names : tuple of d str
        The name of each column.
    unit : str
        The unit of all columns; empty if they have none.
    periods : tuple of d (float or None)
        The period of each column; None if it has none.
    atoms : (m,) int64
        The atoms that the columns are computed from.
    compute : callable
        A function that takes an `md.Trajectory` with all atoms, of whole molecules, and returns (frames, d)
        float32.
    """

    names: tuple[str, ...]
    unit: str
    periods: tuple[float | None, ...]
    atoms: np.ndarray
    compute: "Callable[[md.Trajectory], np.ndarray]"


@dataclass(frozen=True, kw_only=True)
class Feature(ABC):
    """The base class of all features: columns that are computed from every frame of any molecule.

    Attributes
    ----------
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> isinstance(mf.features.Torsions(), mf.features.Feature)
    True
    """

    #: The name of the kind in JSON.
    kind: ClassVar[str]

    weight: float = field(default=1.0)

    def __post_init__(self) -> None:
        check_real("weight", self.weight, above=0, remedy="To leave a feature out, do not name it.")

    @abstractmethod
    def bind(self, first: "md.Trajectory") -> Columns:
        """Return the columns for the molecule in `first`, a single frame with all atoms, or raise."""

    def spec(self) -> dict[str, Any]:
        """Return a description that JSON can hold and that restores the feature."""
        return {"kind": self.kind} | {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value


def atom_labels(topology: "md.Topology", atoms: np.ndarray) -> dict[int, str]:
    """Return labels such as ``"ALA2-CA"`` of atoms, by their numbers.

    They are preceded by the chain if the atoms are of several chains, and followed by the number of the atom
    if several atoms have the same label, as in a ligand whose atoms have only the names of their elements.
    """
    chosen = np.unique(atoms).tolist()
    chains = {at: topology.atom(at).residue.chain.index for at in chosen}
    several = len(set(chains.values())) > 1
    labels = {at: f"{chains[at]}:{topology.atom(at)}" if several else str(topology.atom(at)) for at in chosen}
    counts = Counter(labels.values())
    return {at: f"{label}#{at}" if counts[label] > 1 else label for at, label in labels.items()}


def residue_labels(residues: "list[md.core.topology.Residue]") -> list[str]:
    """Return labels such as ``"ALA2"`` of different residues, with the chain if they are of several chains.

    The number of the residue in the topology follows if several have the same label, as with insertion codes.
    """
    several = len({residue.chain.index for residue in residues}) > 1
    labels = [f"{each.chain.index}:{each}" if several else str(each) for each in residues]
    counts = Counter(labels)
    pairs = zip(labels, residues, strict=True)
    return [f"{label}#{each.index}" if counts[label] > 1 else label for label, each in pairs]

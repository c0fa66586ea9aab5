"""Collect rows of features, one per frame, chunk by chunk."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.frames._accumulator import Store
from mdfuzzy.frames._column import Column
from mdfuzzy.frames._extraction import Plan
from mdfuzzy.frames._periodic import has_box, make_whole
from mdfuzzy.frames._readers import Piece
from mdfuzzy.frames.dihedrals import dihedral_angles

if TYPE_CHECKING:
    import mdtraj as md

    #: A function that takes frames and returns an array with a row for each.
    Rows = Callable[[md.Trajectory], np.ndarray]
    #: A function that takes the number of a trajectory and some of its rows, in order.
    Sink = Callable[[int, np.ndarray], None]


class RowStore(Store):
    """The rows of the trajectories read so far, with times and backbone torsions.

    Parameters
    ----------
    plan : Plan
        The molecules to make whole, and the torsions to compute.
    topology : md.Topology or None
        All atoms of the frames.
    rows : callable
        Returns the rows of frames with all their atoms, of whole molecules.
    sink : callable, optional
        Takes the rows instead of this store, with the number of their trajectory.
    scratch : Path, optional
        A folder for rows that do not fit into memory.
    torsions : bool
        Whether to keep the backbone torsions as well.
    """

    def __init__(
        self,
        plan: Plan,
        topology: "md.Topology | None",
        rows: "Rows",
        sink: "Sink | None" = None,
        scratch: Path | None = None,
        *,
        torsions: bool = True,
    ) -> None:
        self._torsions = torsions
        self._rows = rows
        self._sink = sink
        super().__init__(plan, topology, scratch)

    def _begin(self, scratch: Path | None) -> None:
        super()._begin(scratch)
        self._values: Column | None = None
        self._parts: list[np.ndarray] = []
        self._count = 0

    def empty(self) -> Self:
        """Return a store without frames that reads in the same way, in memory."""
        new = super().empty()
        if self._sink is not None:
            new._sink = new._keep_part
        return new

    def _keep_part(self, trajectory: int, rows: np.ndarray) -> None:
        self._parts.append(rows)

    def _absorb_columns(self, part: Self) -> None:
        if self._sink is not None:
            for rows in part._parts:  # as they were read, because sums depend on it
                self._sink(len(self.lengths), rows)
        elif part._values is not None:
            if self._values is None:
                self._values = Column(part._values.shape, part._values.dtype, self.scratch)
            self._values.append(part._values.filled)
        self._count += part._count

    @property
    def count(self) -> int:
        """The number of frames so far."""
        return self._count

    def _keep(
        self, chunk: "md.Trajectory", rows: slice | np.ndarray, numbers: np.ndarray, piece: Piece
    ) -> None:
        # The atoms of a chunk belong to this process, so they may be moved.
        part = chunk.slice(rows, copy=False)
        together = len(self.plan.trees) > 0 and has_box(part)
        if together and self.plan.whole is not False:
            make_whole(part.xyz, part.unitcell_lengths, part.unitcell_angles, self.plan.trees)
        with np.errstate(invalid="ignore"):  # infinite coordinates are reported below, with their frame
            found = np.asarray(self._rows(part))
        if not np.issubdtype(found.dtype, np.floating):
            found = found.astype(np.float32)
        self._check(found, part, numbers, piece)
        self._check_scale(part.xyz[0, self.plan.atoms], piece)
        if self._sink is None:
            if self._values is None:
                self._values = Column(found.shape[1:], found.dtype.type, self.scratch)
            self._values.append(found)
            if self._torsions:
                torsions = self.plan.torsions
                angles = dihedral_angles(part, torsions.quartets, periodic=not together)
                self.phi.append(angles[:, : len(torsions.residues)])
                self.psi.append(angles[:, len(torsions.residues) :])
        else:
            self._sink(len(self.lengths), found)
        self._count += len(found)

    def _check(self, found: np.ndarray, part: "md.Trajectory", numbers: np.ndarray, piece: Piece) -> None:
        if found.ndim != 2 or len(found) != len(part.xyz):
            raise InputValueError(
                f"A feature must give an array (frames, columns) with one row per frame; got shape "
                f"{found.shape} for {len(part.xyz)} frames of {piece.name}."
            )
        finite = np.isfinite(found).all(axis=1)
        if not finite.all():
            raise InputValueError(
                f"Features must be finite; {piece.name} gives NaN or infinite ones in frame "
                f"{numbers[np.argmin(finite)]} (counted from 0). Leave such frames out."
            )

    def attributes(self, top: "str | md.Topology | None") -> dict[str, object]:
        """Return the properties of the frames of all rows as attributes of `Features`."""
        plan = self.plan
        return {
            "times": self._finish_times(),
            "topology": None if self.topology is None else self.topology.subset(plan.atoms),
            "atoms": plan.atoms,
            "phi": self.phi.finish() if self._torsions and plan.torsions.residues else None,
            "psi": self.psi.finish() if self._torsions and plan.torsions.residues else None,
            "residues": plan.torsions.residues,
            "sources": tuple(self.sources),
            "top": top,
            "whole": self.whole,
        }

    def values(self) -> np.ndarray:
        """Return all rows."""
        assert self._values is not None, "frames were read"
        return self._values.finish()

"""Frames superposed on a reference by some atoms and compared by others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.metric import Metric, rmsd_metric
from mdfuzzy.frames.superposition import Alignment
from mdfuzzy.frames.trajectories import Trajectories

if TYPE_CHECKING:
    import mdtraj as md

#: References that differ by more than this, in nm, are different structures; files have 0.001 nm precision.
_SAME = 2e-3


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AlignedFrames(Frames):
    """Frames superposed on a reference structure by some atoms and compared by others.

    `load` makes them with `align`, for example on the protein to compare the poses of a ligand. The distance
    between two frames is the RMSD of the loaded atoms without another superposition.

    Attributes
    ----------
    xyz : (n, atoms, 3) float32
        Coordinates of the loaded atoms in nm, after the superposition. The origin is the centre of the
        aligned atoms of the reference.
    alignment : Alignment
        The aligned atoms and the reference.
    lengths, times, weights, topology, atoms, selection, phi, psi, residues
        As in `Frames`.
    masses, symmetry, sources, top, whole, reading, ensembles
        As in `Frames`.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> folder = mf.datasets.folder()
    >>> frames = mf.load(folder / "ala2_00.xtc", top=folder / "ala2.pdb", stride=100,
    ...                  align="resid 0 1 and name C O N CA", atoms="resname NME")
    >>> frames.metric.name, frames.points.shape
    ('RMSD after alignment', (200, 6))
    """

    alignment: Alignment

    def __post_init__(self) -> None:
        check_type("alignment", self.alignment, Alignment, remedy="`load` makes it.")
        super().__post_init__()

    def _check_origin(self) -> None:
        """Raise unless all coordinates are finite; the centroid may be anywhere."""
        if not np.isfinite(self.xyz).all():
            raise InputValueError("`xyz` must be finite; got NaN or infinite coordinates.")

    @property
    def metric(self) -> Metric:
        """How two frames are compared: RMSD in nm without superposition, optionally mass-weighted or
        symmetry-corrected.
        """
        return rmsd_metric(
            aligned=True, mass_weighted=self.masses is not None, symmetric=self.symmetry is not None
        )

    @property
    def points(self) -> np.ndarray:
        """Coordinates over the root of the number of atoms, (n, 3 atoms). The distance between them is the
        RMSD, the least over the permutations of `symmetry`.
        """
        roots = np.sqrt((1.0 if self.masses is None else self.masses) / np.full(self.n_atoms, self.n_atoms))
        return (self.xyz * roots[:, None]).reshape(len(self), -1)

    @property
    def vectors(self) -> np.ndarray:
        """The points, with equivalent atoms exchanged so that each frame is nearest to the mean."""
        return self.images

    @cached_property
    def columns(self) -> np.ndarray:
        """The columns for plots: principal components of the points in nm, the largest variance first."""
        points = self.vectors
        points = points - points.mean(axis=0)
        variances, axes = np.linalg.eigh(points.T @ points)
        axes = axes[:, np.argsort(-variances, kind="stable")]
        axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
        return points @ axes

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers of the principal components."""
        return tuple(f"PC {at + 1}" for at in range(self.columns.shape[1]))

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the principal components: nm."""
        return ("nm",) * self.columns.shape[1]

    @property
    def labels(self) -> tuple[str, ...]:
        """The principal components with their shares of the variance."""
        variances = self.columns.var(axis=0)
        shares = 100 * variances / max(variances.sum(), np.finfo(float).tiny)
        return tuple(f"PC {at + 1} (nm), {share:.0f} % of variance" for at, share in enumerate(shares))

    @property
    def fit_atoms(self) -> np.ndarray:
        """The atoms of the sources used to superpose structures: the aligned atoms."""
        return self.alignment.atoms

    @property
    def title(self) -> str:
        """The molecule, the loaded and the aligned atoms in words."""
        return f"{super().title}; aligned on {self.alignment.selection}"

    def subset(self, frames: np.ndarray) -> AlignedFrames:
        """Return the coordinates of `frames`, numbers over all trajectories, as one trajectory."""
        return AlignedFrames(
            xyz=self.xyz[frames],
            lengths=np.array([len(frames)]),
            weights=None if self.weights is None else self.weights[frames],
            masses=self.masses,
            symmetry=self.symmetry,
            alignment=self.alignment,
        )

    def like(self, data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> AlignedFrames:
        """Return `data` if it is frames of the same atoms, aligned on the same structure; otherwise raise."""
        found = super().like(data)
        assert isinstance(found, AlignedFrames)  # because it has the same metric
        ours, theirs = self.alignment.reference, found.alignment.reference
        if ours.shape != theirs.shape or np.abs(ours - theirs).max() > _SAME:
            raise InputValueError(
                "`data` must be aligned on the reference structure of `result`; got frames aligned on "
                "another. Load them with reference=result.data."
            )
        return found

    def summary(self) -> str:
        """Return a text that describes the loaded atoms, the alignment, and the number of moved frames."""
        first, *rest = super().summary().splitlines()
        line = f"aligned on: {self.alignment.selection}"
        if self.whole:
            line += f"; molecules moved to their nearest image in {self.alignment.moved:,} frames"
        return "\n".join([first, line, *rest])

    def _restorer(self, topology: md.Topology) -> Callable[[md.Trajectory], None]:
        from mdfuzzy.frames._periodic import bring_together, has_box, make_whole
        from mdfuzzy.frames._selection import Bonds

        if not self.whole:
            return lambda part: None
        assert self.atoms is not None, "aligned frames have a topology"
        atoms, used = self.atoms, np.union1d(self.atoms, self.alignment.atoms)
        bonds = Bonds.of(topology).joined(topology, used)
        trees = bonds.trees(used)

        def restore(part: md.Trajectory) -> None:
            if has_box(part):
                box = part.unitcell_lengths, part.unitcell_angles
                make_whole(part.xyz, *box, trees)
                bring_together(part.xyz, *box, bonds.molecules, self.alignment.atoms, atoms)

        return restore

    def _as_loaded(self, xyz: np.ndarray) -> np.ndarray:
        return self.alignment.apply(xyz[:, self.alignment.atoms], xyz[:, self.atoms])

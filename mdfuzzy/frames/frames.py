"""Frames of trajectories: coordinates that are compared by RMSD, and the sources of the frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, read_only
from mdfuzzy._messages import counted, shorten
from mdfuzzy.frames._clock import time_words
from mdfuzzy.frames._frame_numbers import ascending_frames
from mdfuzzy.frames._provenance import Source, chosen_sources
from mdfuzzy.frames.ensembles import Ensembles
from mdfuzzy.frames.mapping import release
from mdfuzzy.frames.metric import Metric, rmsd_metric
from mdfuzzy.frames.superposition import rotations_onto
from mdfuzzy.frames.symmetry import Symmetry
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.frames.weights import chosen_weights, frame_weights

if TYPE_CHECKING:
    import mdtraj as md

#: The number of iterations that find the images and their mean, and the number of frames in the mean.
_ROUNDS, _SAMPLE = 3, 2000
_STRETCH = 262_144  # frames checked together


@dataclass(frozen=True, eq=False, repr=False)
class Frames(Trajectories):
    """The frames of one or many trajectories, as made by `load`, ready to be compared by RMSD.

    Attributes
    ----------
    xyz : (n, atoms, 3) float32
        Coordinates in nm, every frame centred on its centroid, not superposed.
    lengths : (trajectories,) int64
        The number of frames of each trajectory.
    times : (n,) float64 or None
        Times in ps; None unless every trajectory has them.
    weights : (n,) float64 or None
        The weight of each frame, with a maximum of 1; None if all frames have the same weight.
    topology : md.Topology or None
        The loaded atoms; None for frames that come from arrays.
    atoms : (atoms,) int64 or None
        The indices of the loaded atoms in the sources.
    selection : str
        The loaded atoms in words.
    phi, psi : (n, residues) float32 or None
        Backbone torsions in degrees, of every residue of the whole topology that has both; None if there are
        none.
    residues : tuple of str
        The labels of these residues, such as ``"ALA2"``.
    masses : (atoms,) float64 or None
        The masses of the atoms over their mean, if the RMSD is mass-weighted.
    symmetry : Symmetry or None
        The permutations of equivalent atoms over which the RMSD is minimised; None if there are none.
    sources : tuple of Source
        The runs of frames, in order, from which any frame can be read again with all its atoms.
    top : str, md.Topology or None
        The topology of the sources, or the file that holds it.
    whole : bool
        Whether molecules were put together across the periodic boundary.
    reading : dict or None
        The arguments with which `load` reads the same frames again; None unless all come from files.
    ensembles : Ensembles or None
        The ensemble of each trajectory, if there are several ensembles.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide()
    >>> frames.xyz.shape[1:], frames.residues
    ((10, 3), ('ALA2',))
    >>> frames[frames.phi[:, 0] > 0]  # some of them: a slice, a mask, or frame numbers
    Frames(... frames of 10 atoms in 2 trajectories; ...)
    """

    xyz: np.ndarray
    lengths: np.ndarray
    _: KW_ONLY
    times: np.ndarray | None = None
    weights: np.ndarray | None = None
    topology: md.Topology | None = None
    atoms: np.ndarray | None = None
    selection: str = ""
    phi: np.ndarray | None = None
    psi: np.ndarray | None = None
    residues: tuple[str, ...] = ()
    masses: np.ndarray | None = None
    symmetry: Symmetry | None = None
    sources: tuple[Source, ...] = ()
    top: str | md.Topology | None = None
    whole: bool = False
    reading: dict[str, object] | None = None
    ensembles: Ensembles | None = None

    def __post_init__(self) -> None:
        xyz = np.ascontiguousarray(self.xyz, dtype=np.float32)
        if xyz.ndim != 3 or xyz.shape[2] != 3:
            raise InputValueError(f"`xyz` must have shape (frames, atoms, 3); got {xyz.shape}.")
        object.__setattr__(self, "xyz", read_only(xyz))
        self._check_lengths(len(xyz))
        self._check_origin()
        torsions = len(xyz), len(self.residues)
        expected: dict[str, tuple[int, ...]]
        expected = {"times": (len(xyz),), "atoms": (xyz.shape[1],), "phi": torsions, "psi": torsions}
        expected["masses"] = expected["atoms"]
        types = {"times": np.float64, "atoms": np.int64, "phi": np.float32, "psi": np.float32}
        types["masses"] = np.float64
        for name, shape in expected.items():
            if getattr(self, name) is not None:
                array = np.ascontiguousarray(getattr(self, name), dtype=types[name])
                if array.shape != shape:
                    raise InputValueError(f"`{name}` must have shape {shape}; got {array.shape}.")
                object.__setattr__(self, name, read_only(array))
        found = frame_weights(self.weights, None, lengths=self.lengths)
        object.__setattr__(self, "weights", None if found is None else read_only(found))
        if self.topology is not None and self.topology.n_atoms != xyz.shape[1]:
            raise InputValueError(
                f"`topology` must have the atoms of `xyz`, {xyz.shape[1]}; got {self.topology.n_atoms}."
            )
        if self.symmetry is not None and self.symmetry.n_atoms != xyz.shape[1]:
            raise InputValueError(
                f"`symmetry` must be of the atoms of `xyz`, {xyz.shape[1]}; got one of "
                f"{self.symmetry.n_atoms} atoms."
            )

    def _check_origin(self) -> None:
        """Raise unless every frame is centred."""
        # The error of a sum of rounded coordinates is far below the tolerance, an offset far above it.
        # Absolute values would need a second array as large as the first; maximum and minimum do not.
        # A stretch at a time: the frames may lie in a file and not fit into memory.
        offset, extent = 0.0, 1.0
        for start in range(0, len(self.xyz), _STRETCH):
            part = self.xyz[start : start + _STRETCH]
            sums = np.einsum("nac->nc", part)
            offset = np.maximum(
                offset, max(sums.max(initial=0.0), -sums.min(initial=0.0)) / max(1, self.xyz.shape[1])
            )
            extent = np.maximum(extent, max(part.max(initial=0.0), -part.min(initial=0.0)))
            release()
        if not offset <= 1e-4 * extent:
            raise InputValueError(
                f"`xyz` must be finite and centred on the centroid of every frame; got a centroid "
                f"{offset:g} nm from the origin. Use `load`, which centres a copy."
            )

    @property
    def n_atoms(self) -> int:
        """The number of loaded atoms."""
        return self.xyz.shape[1]

    @property
    def metric(self) -> Metric:
        """How two frames are compared: RMSD in nm with every pair superposed, optionally mass-weighted or
        symmetry-corrected.
        """
        return rmsd_metric(mass_weighted=self.masses is not None, symmetric=self.symmetry is not None)

    @property
    def points(self) -> np.ndarray:
        """The compared coordinates: `xyz`, or from the centre of mass times the square roots of `masses`."""
        if self.masses is None:
            return self.xyz
        centres = np.einsum("nak,a->nk", self.xyz, self.masses / self.masses.sum())
        return ((self.xyz - centres[:, None]) * np.sqrt(self.masses)[:, None]).astype(np.float32)

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates of the atoms in nm: `xyz`."""
        return self.xyz

    @property
    def vectors(self) -> np.ndarray | None:
        """Cosines and sines of the backbone torsions, (n, 4 residues) float64; None without torsions."""
        if self.phi is None or self.psi is None:
            return None
        angles = np.deg2rad(np.concatenate([self.phi, self.psi], axis=1).astype(np.float64))
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)

    @property
    def width(self) -> str:
        """The number of loaded atoms in words."""
        return f"{self.n_atoms:,} atoms"

    @property
    def title(self) -> str:
        """The molecule and the loaded atoms in words."""
        parts = [self.selection or f"{self.n_atoms} atoms"]
        if self.topology is not None:
            parts.insert(0, self.molecule)
        return "; ".join(parts)

    def subset(self, frames: np.ndarray) -> Self:
        """Return the coordinates of `frames`, numbers over all trajectories, as one trajectory."""
        return type(self)(
            self.xyz[frames],
            np.array([len(frames)]),
            weights=chosen_weights(self.weights, frames),
            masses=self.masses,
            symmetry=self.symmetry,
        )

    def like(self, data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> Frames:
        """Return `data` if it is `Frames` of the same atoms; otherwise raise."""
        if not isinstance(data, Frames):
            kind = type(data).__name__
            raise InputTypeError(
                f"`data` must be Frames, as `result` was made of; got {kind}. Use mf.load(...)."
            )
        if self.topology is not None and data.topology is not None:
            _check_atoms(_atom_names(self.topology), _atom_names(data.topology))
        if data.metric != self.metric:
            raise InputValueError(
                f"`data` must be compared as `result` was, by {self.metric.name}; got frames that are "
                f"compared by {data.metric.name}. Load them with the same `align`, `mass_weighted` and "
                f"`symmetry`."
            )
        if data.symmetry != self.symmetry:
            raise InputValueError(
                f"`data` must exchange the same equivalent atoms as `result`: {self.symmetry}; got "
                f"{data.symmetry}. Load them with symmetry=result.data.symmetry."
            )
        return data

    def essence(self) -> Iterator[npt.ArrayLike]:
        """Yield the permutations of equivalent atoms, if there are any."""
        for part in () if self.symmetry is None else self.symmetry.parts:
            yield part.members
            yield part.permutations

    @property
    def images(self) -> np.ndarray:
        """The points for pictures, with equivalent atoms exchanged so that each frame is as near as possible
        to the mean of all frames.
        """
        if self.symmetry is None:
            return self.points
        points = self.points.reshape(len(self), -1, 3)
        superpose, reference = self.metric.superpose, points[0]
        for _ in range(_ROUNDS):
            sample = points[:: -(-len(points) // _SAMPLE)]
            near = self.symmetry.nearest_images(sample, reference, superpose=superpose)
            turned = near @ rotations_onto(near, reference) if superpose else near
            reference = turned.mean(axis=0)
        images = self.symmetry.nearest_images(points, reference, superpose=superpose)
        return images.reshape(self.points.shape)

    @property
    def n_frames(self) -> int:
        """The number of frames, all trajectories together."""
        return len(self)

    def __getitem__(self, chosen: slice | npt.ArrayLike) -> Frames:
        """Return some of the frames, in their order, with their trajectories, times, torsions and sources.

        A trajectory without any chosen frame is omitted.
        """
        indices = ascending_frames(chosen, len(self))
        trajectory, _ = self.locate(indices)
        kept, lengths = np.unique(trajectory, return_counts=True)
        times, phi, psi = (
            None if values is None else values[indices] for values in (self.times, self.phi, self.psi)
        )
        weights = chosen_weights(self.weights, indices)
        return replace(
            self,
            xyz=self.xyz[indices],
            lengths=lengths,
            sources=tuple(chosen_sources(self.sources, indices, kept)),
            times=times,
            weights=weights,
            phi=phi,
            psi=psi,
            reading=None,
            ensembles=None if self.ensembles is None else self.ensembles.kept(kept),
        )

    def __repr__(self) -> str:
        parts = [f"{counted(len(self), 'frame')} of {self.n_atoms} atoms in {self.n_trajectories} trajector"]
        parts[0] += "y" if self.n_trajectories == 1 else "ies"
        if self.times is not None:
            parts.append(time_words(self.split(self.times)))
        if self.residues:
            parts.append(f"phi and psi of {shorten(self.residues)}")
        parts += self._weighted_words()
        return f"{type(self).__name__}({'; '.join(parts)})"

    def summary(self) -> str:
        """Return a text that describes the loaded atoms, and each trajectory with its length.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> print(mf.datasets.alanine_dipeptide().summary())
        Frames(...)
        atoms: heavy atoms of the solute (10 of 10 atoms)
        files in ...ala2
        trajectory 0: ala2_00.xtc: 20,000 frames, 4 ns, a frame every 0.2 ps
        trajectory 1: ala2_03.xtc: 10,000 frames, 2 ns, a frame every 0.2 ps
        """
        lines = [repr(self)]
        if self.selection:
            lines.append(f"atoms: {self.selection}" + (", molecules made whole" if self.whole else ""))
        if self.symmetry is not None:
            lines.append(f"equivalent atoms: {self.symmetry}")
        if self.ensembles is not None:
            for name in self.ensembles.names:
                chosen = self.ensembles.trajectories(name)
                frames = counted(int(self.lengths[chosen].sum()), "frame")
                lines.append(f"ensemble {name}: {_trajectories(len(chosen))}, {frames}")
            lines += [] if self.ensembles.match is None else str(self.ensembles.match).splitlines()
        times = self.split(self.times) if self.times is not None else None
        folders = {os.path.dirname(source.path) for source in self.sources if source.path is not None}
        folder = os.path.commonpath(folders) if folders else ""
        if folders:
            lines.append(f"files in {folder}")
        for number, length in enumerate(self.lengths):
            sources = [source for source in self.sources if source.trajectory == number]
            names = [os.path.relpath(s.path, folder) if s.path else type(s.data).__name__ for s in sources]
            span = f", {time_words([times[number]])}" if times is not None else ""
            files = f": {shorten(names)}" if names else ""
            lines.append(f"trajectory {number}{files}: {length:,} frames{span}")
        return "\n".join(lines)

    def _as_loaded(self, xyz: np.ndarray) -> np.ndarray:
        """Return the loaded atoms of frames with all atoms in the convention of `xyz`, float64."""
        chosen = (xyz if self.atoms is None else xyz[:, self.atoms]).astype(np.float64)
        return chosen - chosen.mean(axis=1, keepdims=True)

    def _check_same(self, xyz: np.ndarray, chosen: np.ndarray) -> None:
        """Raise if coordinates that were read again differ from the loaded coordinates."""
        found = self._as_loaded(xyz)
        extent = max(1.0, float(np.abs(self.xyz[chosen]).max()))
        other = np.abs(found - self.xyz[chosen]).max(axis=(1, 2)) > 1e-4 * extent
        if other.any():
            frame = chosen[int(np.argmax(other))]
            places, numbers = self.sources_of([frame])
            raise InputValueError(
                f"{self.sources[places[0]].path or 'The trajectory'!r} was changed since its frames were "
                f"loaded: frame {numbers[0]} (counted from 0) is another one now. Load the frames again."
            )


def _trajectories(number: int) -> str:
    return f"{number:,} trajector{'y' if number == 1 else 'ies'}"


def _atom_names(topology: md.Topology) -> list[str]:
    return [f"{atom.residue.name}-{atom.name}" for atom in topology.atoms]


def _check_atoms(expected: list[str], atoms: list[str]) -> None:
    if expected == atoms:
        return
    if len(expected) != len(atoms):
        difference = f"{len(atoms)} atoms instead of {len(expected)}"
    else:
        at = next(i for i, (a, b) in enumerate(zip(expected, atoms, strict=True)) if a != b)
        difference = f"{atoms[at]} instead of {expected[at]} as atom {at}"
    raise InputValueError(
        f"`data` must have the atoms of `result`; got {difference}. Load it with the same `atoms`, and with "
        "the topology of the same molecule."
    )

"""RMSD of the states to a reference structure, such as a crystal structure."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._atomic import new_file
from mdfuzzy._check import InputTypeError, InputValueError, ReadOnly, read_only
from mdfuzzy.exports._checks import check_structures
from mdfuzzy.exports.medoids import find_medoids
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.assignment import Result

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames.symmetry import Symmetry

#: Frames that are compared with the reference at a time.
_CHUNK = 100_000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReferenceRmsd(ReadOnly):
    """Hold the RMSD of every state to a reference structure, in nm, over the clustered atoms.

    Attributes
    ----------
    reference : str
        The name of the reference.
    n_atoms : int
        The number of compared atoms.
    mean, std : (K,) float64
        (Weighted) mean and standard deviation over the frames of each state; NaN for a state without frames.
    peak, medoid : (K,) float64
        The RMSD of the density peak and of the medoid.
    minimum : (K,) float64
        The smallest RMSD of a frame of the state.
    closest : (K,) int64
        The frame with the smallest RMSD; -1 for a state without frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=50), mf.Settings(prominence=1.0))
    >>> start = result.data.trajectory(result.cores.peaks[:1])
    >>> print(mf.exports.reference_rmsd(result, start))
    RMSD to the given structure in nm, 10 atoms
    state        mean    std   peak medoid  minimum  closest frame
    0           0.0...
    ...
    """

    reference: str
    n_atoms: int
    mean: np.ndarray
    std: np.ndarray
    peak: np.ndarray
    medoid: np.ndarray
    minimum: np.ndarray
    closest: np.ndarray

    def __post_init__(self) -> None:
        for name in ("mean", "std", "peak", "medoid", "minimum", "closest"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        return f"ReferenceRmsd({len(self)} states to {self.reference})"

    def __str__(self) -> str:
        lines = [f"RMSD to {self.reference} in nm, {self.n_atoms} atoms"]
        lines.append(
            f"{'state':<7}{'mean':>10}{'std':>7}{'peak':>7}{'medoid':>7}{'minimum':>9}{'closest frame':>15}"
        )
        for state, row in enumerate(
            zip(self.mean, self.std, self.peak, self.medoid, self.minimum, strict=True)
        ):
            numbers = "".join(f"{value:>7.3f}" for value in row[1:-1])
            lines.append(f"{state:<7}{row[0]:>10.3f}{numbers}{row[-1]:>9.3f}{self.closest[state]:>15}")
        return "\n".join(lines)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the table as comma-separated values to `path` (if there is a file: `overwrite`), returned."""
        heads = ("mean", "std", "peak", "medoid", "minimum")
        lines = [",".join(["state", *(f"rmsd_{name}_nm" for name in heads), "closest_frame"])]
        for state in range(len(self)):
            values = [f"{getattr(self, name)[state]:.5f}" for name in heads]
            lines.append(",".join([str(state), *values, str(self.closest[state])]))
        with new_file(path, overwrite=overwrite) as file:
            file.write("\n".join([*lines, ""]).encode())
        return Path(path).expanduser()


def reference_rmsd(result: Result, reference: "str | os.PathLike[str] | md.Trajectory") -> ReferenceRmsd:
    """Compute the RMSD of every state to a reference structure, each frame superposed on it.

    Parameters
    ----------
    result : Clustering or Assignment
        Of frames.
    reference : path or md.Trajectory
        A structure, such as ``"crystal.pdb"``, that has the clustered atoms; other atoms do not matter. The
        first of several models is used. Atoms are identified by residue number and name; if the numbering
        differs, by the order of the residues.

    Returns
    -------
    ReferenceRmsd

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If atoms are missing in the reference, or its residues differ.

    See Also
    --------
    exports.write_structures : Write the structures of the states.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=50), mf.Settings(prominence=1.0))
    >>> found = mf.exports.reference_rmsd(result, result.data.trajectory([int(result.cores.peaks[0])]))
    >>> bool(found.peak[0] < 1e-4), bool(found.mean.argmin() == 0)
    (True, True)
    """
    import mdtraj as md

    frames, _ = check_structures(result)
    structure, name = _load(reference)
    target = structure.atom_slice(_matching(frames.topology, structure.topology))
    parts = [md.rmsd(_images(part, target, frames.symmetry), target) for part in _loaded(frames)]
    rmsd = np.concatenate(parts).astype(np.float64)
    medoids, labels = find_medoids(result), result.labels
    members = [np.flatnonzero(labels == state) for state in range(result.n_states)]
    counts = np.ones(len(frames)) if frames.weights is None else frames.weights
    means, deviations = np.array([_moments(rmsd[rows], counts[rows]) for rows in members]).T
    nearest = np.array([rows[rmsd[rows].argmin()] if len(rows) else -1 for rows in members])
    return ReferenceRmsd(
        reference=name,
        n_atoms=target.n_atoms,
        mean=means,
        std=deviations,
        peak=rmsd[result.cores.peaks],
        medoid=np.where(medoids >= 0, rmsd[medoids], np.nan),
        minimum=np.where(nearest >= 0, rmsd[nearest], np.nan),
        closest=nearest,
    )


def _images(part: "md.Trajectory", target: "md.Trajectory", symmetry: "Symmetry | None") -> "md.Trajectory":
    """Return frames with equivalent atoms exchanged so that each is as near as possible to the target."""
    if symmetry is not None:
        part.center_coordinates()
        reference = target.xyz[0] - target.xyz[0].mean(axis=0)
        part.xyz = symmetry.nearest_images(part.xyz, reference, superpose=True)
    return part


def _moments(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and standard deviation of values; NaN without any weight."""
    if not weights.any():
        return np.nan, np.nan
    mean = float(np.average(values, weights=weights))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def _loaded(frames: Trajectories) -> "Iterator[md.Trajectory]":
    """Yield the loaded atoms of all frames in parts, from the memory if they are there."""
    import mdtraj as md

    if frames.coordinates is None:
        for _, part in frames.stream(np.arange(len(frames))):
            yield part.atom_slice(frames.atoms)
        return
    for start in range(0, len(frames), _CHUNK):
        yield md.Trajectory(frames.coordinates[start : start + _CHUNK].copy(), frames.topology)


def _load(reference: "str | os.PathLike[str] | md.Trajectory") -> "tuple[md.Trajectory, str]":
    """Return the first model of a structure, and its name."""
    import mdtraj as md

    if isinstance(reference, md.Trajectory):
        return reference[0], "the given structure"
    if not isinstance(reference, str | os.PathLike):
        raise InputTypeError(
            f"`reference` must be a structure file or an md.Trajectory; got {type(reference).__name__}."
        )
    path = Path(reference).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"`reference` must be an existing file; got {str(reference)!r}.")
    try:
        return md.load_frame(str(path), 0), path.name
    except Exception as error:
        raise InputValueError(
            f"`reference` must be a structure that mdtraj reads without a topology, such as a PDB file; got "
            f"{str(reference)!r} ({error})."
        ) from error


def _matching(loaded: "md.Topology", topology: "md.Topology") -> np.ndarray:
    """Return for each loaded atom the same atom of another topology, or raise."""
    by_number = _match(loaded, topology, lambda residue, place: (residue.chain.index, residue.resSeq))
    by_order = _match(loaded, topology, lambda residue, place: (place,))
    found = min(by_number, by_order, key=lambda each: len(each[1]))
    if found[1]:
        raise InputValueError(
            f"`reference` must have all {loaded.n_atoms} clustered atoms, by residue number or in order; "
            f"{len(found[1])} are missing or belong to another residue: {', '.join(found[1][:5])}. Cluster "
            "atoms that both have, such as --atoms 'name CA', or give a structure of the same molecule."
        )
    return found[0]


def _match(
    loaded: "md.Topology", topology: "md.Topology", key: Callable[..., tuple[int, ...]]
) -> tuple[np.ndarray, list[str]]:
    """Return the atoms of `topology` with the key and the name of each loaded atom, and the missing ones."""
    atoms: dict[tuple[object, ...], Any] = {}
    for place, residue in enumerate(residue for residue in topology.residues if not residue.is_water):
        for atom in residue.atoms:
            atoms.setdefault((*key(residue, place), atom.name), atom)
    found, missing = [], []
    for place, residue in enumerate(loaded.residues):
        for atom in residue.atoms:
            other = atoms.get((*key(residue, place), atom.name))
            if other is None or _letter(other.residue) != _letter(residue):
                missing.append(str(atom))
            else:
                found.append(other.index)
    return np.array(found, np.int64), missing


def _letter(residue: "md.core.topology.Residue") -> str:
    """Return the one-letter code of an amino acid, whatever its protonation; other residues by name."""
    return residue.code or residue.name

"""Two coordinates per frame, to draw: torsions, features, or principal components."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, ReadOnly, check_finite, check_int, read_only
from mdfuzzy._threads import run_ranges
from mdfuzzy.frames.data import as_data
from mdfuzzy.frames.superposition import rotations_onto
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.plots.bins import Bins, bin_points

_SAMPLE = 10_000  # frames from which the mean structure and the components are found
#: With more coordinates than this, the sample has so many frames. The eigenvalue problem has the size of the
#: smaller of the two numbers, and a picture needs only the directions of the largest variance.
_LARGE = 2_000
_CHUNK = 20_000  # frames superposed at a time
_ROUNDS = 10  # of superposing on the mean; two or three are enough
#: The projections of data that are still in use: pictures and the report draw the same ones.
_KNOWN: WeakKeyDictionary[Trajectories, dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True, eq=False)
class Projection(ReadOnly):
    """Hold two coordinates of every frame, with their names and units.

    Attributes
    ----------
    values : (n, 2) float64
        Periodic coordinates in [-period / 2, period / 2).
    labels : tuple of 2 str
        Names with units, for the axes.
    periods : tuple of 2 (float or None)
        The period of each coordinate; None if it has none.
    equal : bool
        Whether both have the same unit, so that a picture should give them the same scale.
    weights : (n,) float64 or None
        The weight of every frame, if frames have weights.

    See Also
    --------
    plots.torsions : Phi and psi of a residue.
    plots.project : Principal components or features.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.plots.torsions(mf.datasets.alanine_dipeptide(stride=100)).labels
    ('φ (degrees)', 'ψ (degrees)')
    """

    values: np.ndarray
    labels: tuple[str, str]
    periods: tuple[float | None, float | None] = (None, None)
    equal: bool = False
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != 2 or len(values) == 0:
            raise InputValueError(f"`values` must have shape (frames, 2); got {values.shape}.")
        check_finite("values", values)
        for column, period in enumerate(self.periods):
            if period is not None:
                values[:, column] = (values[:, column] + period / 2) % period - period / 2
        object.__setattr__(self, "values", read_only(values))

    def __len__(self) -> int:
        return len(self.values)

    def bin(self, number: int | None = None) -> Bins:
        """Count the frames in a grid of `number` by `number` bins, as `bin_points` does."""
        return bin_points(self.values, number=number, periods=self.periods, weights=self.weights)


def torsions(frames: Trajectories, residue: int | str = 0) -> Projection:
    """Take phi and psi of a residue as the coordinates of every frame.

    Parameters
    ----------
    frames : Frames
        With torsions: a molecule with a protein backbone, loaded with its topology.
    residue : int or str
        Its place among ``frames.residues``, or its name there, such as ``"ALA2"``.

    Returns
    -------
    Projection
        In degrees.

    Raises
    ------
    ValueError
        If the frames have no phi and psi, or there is no such residue.

    See Also
    --------
    plots.ramachandran : Plot frames over phi and psi.
    plots.project : Coordinates of molecules without phi and psi.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=100)
    >>> mf.plots.torsions(frames, "ALA2").values.shape
    (300, 2)
    """
    if frames.phi is None or frames.psi is None or not frames.residues:
        raise InputValueError(
            f"`frames` must be Frames with phi and psi; got {frames!r}. For a molecule without them use "
            "`plots.plane`, on principal components or features."
        )
    if isinstance(residue, str):
        if residue not in frames.residues:
            names = ", ".join(frames.residues)
            raise InputValueError(
                f"`residue` must be one of those with phi and psi, {names}; got {residue!r}."
            )
        at = frames.residues.index(residue)
    else:
        at = check_int(
            "residue", residue, 0, len(frames.residues) - 1, remedy=f"They are {', '.join(frames.residues)}."
        )
    of = f" of {frames.residues[at]}" if len(frames.residues) > 1 else ""
    values = np.stack([frames.phi[:, at], frames.psi[:, at]], axis=1)
    labels = f"φ{of} (degrees)", f"ψ{of} (degrees)"
    return Projection(values, labels, (360.0, 360.0), equal=True, weights=frames.weights)


def project(
    data: Trajectories | npt.ArrayLike,
    *,
    columns: tuple[int, int] = (0, 1),
    labels: tuple[str, str] | None = None,
) -> Projection:
    """Take two features, or two principal components of the superposed coordinates, of every frame.

    Parameters
    ----------
    data : Frames, Features or (n, d) array
        Of frames the principal components are taken, of the others the values themselves.
    columns : (int, int)
        The numbers of the features or principal components; principal components are ordered by variance, the
        largest first.
    labels : (str, str), optional
        Names of the two features with their units.

    Returns
    -------
    Projection
        Periodic where the features are. Of frames in nm: a distance between two points is never more than
        the RMSD of the two frames as they were superposed on the mean structure.

    Raises
    ------
    ValueError
        If `columns` are not two different columns.

    See Also
    --------
    plots.plane : Draw the projection.
    plots.torsions : Phi and psi instead.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.plots.project(mf.datasets.alanine_dipeptide(stride=100)).labels
    ('PC 1 (nm), ... % of variance', 'PC 2 (nm), ... % of variance')
    """
    data = as_data(data)
    if data.metric.superpose:
        remedy = "So many coordinates have the loaded atoms."
        pair = _check_columns(columns, data.points[0].size, remedy)
        known = _KNOWN.setdefault(data, {})
        if pair not in known:
            known[pair] = _principal_components(data.images, pair)
        values, shares = known[pair]
        first, second = (
            f"PC {at + 1} (nm), {100 * share:.0f} % of variance"
            for at, share in zip(pair, shares, strict=True)
        )
        names = first, second
        names = names if labels is None else _check_labels(labels)
        return Projection(values, names, equal=True, weights=data.weights)
    pair = _check_columns(columns, data.columns.shape[1], "So many features there are.")
    x, y = (data.periods[at] for at in pair)
    names = (data.labels[pair[0]], data.labels[pair[1]]) if labels is None else _check_labels(labels)
    equal = x == y is not None
    return Projection(data.columns[:, pair], names, (x, y), equal=equal, weights=data.weights)


def _check_columns(columns: tuple[int, int], number: int, remedy: str) -> tuple[int, int]:
    if np.shape(columns) != (2,) or columns[0] == columns[1]:
        raise InputValueError(f"`columns` must be two different columns; got {columns!r}. {remedy}")
    x, y = (check_int("columns", at, 0, number - 1, remedy=remedy) for at in columns)
    return x, y


def _check_labels(labels: tuple[str, str]) -> tuple[str, str]:
    if isinstance(labels, str) or len(labels) != 2:
        raise InputValueError(f"`labels` must be two texts, one per axis; got {labels!r}.")
    return str(labels[0]), str(labels[1])


def _principal_components(xyz: np.ndarray, columns: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return two components (n, 2), in nm over the square root of the atoms, and their shares of variance.

    Mean structure and components come from evenly spaced frames, if there are many.
    """
    n, atoms, _ = xyz.shape
    size = min(n, _SAMPLE if 3 * atoms <= _LARGE else _LARGE)
    sample = xyz[np.linspace(0, n - 1, size).astype(np.int64)].astype(np.float64)
    mean = sample[0]
    for _ in range(_ROUNDS):
        before, mean = mean, superpose(sample, mean).mean(axis=0)
        if np.abs(mean - before).max() < 1e-5:
            break
    deviations = (superpose(sample, mean) - mean).reshape(len(sample), -1)
    variances, chosen = _principal_axes(deviations, columns)
    values = np.empty((n, 2))

    def project_part(first: int, last: int) -> None:
        part = superpose(xyz[first:last].astype(np.float64), mean) - mean
        values[first:last] = part.reshape(len(part), -1) @ chosen / np.sqrt(atoms)

    run_ranges(project_part, n, _CHUNK, None)
    total = np.square(deviations).sum() / len(deviations)
    return values, variances / max(total, np.finfo(float).tiny)


def _principal_axes(deviations: np.ndarray, columns: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the variances along two principal axes, (2,), and these axes, (coordinates, 2).

    With fewer frames than coordinates, the axes are combinations of the frames: if u is an eigenvector of
    D Dᵀ, Dᵀ u is one of Dᵀ D.
    """
    from scipy.linalg import eigh

    n, p = deviations.shape
    few = n < p
    products = deviations @ deviations.T if few else deviations.T @ deviations
    size = len(products)
    last = min(max(columns), size - 1)
    values, vectors = eigh(products / n, subset_by_index=(size - 1 - last, size - 1))
    variances, axes = np.zeros(2), np.zeros((p, 2))  # beyond the number of frames there is no motion
    for place, column in enumerate(columns):
        if column < size:
            axis = vectors[:, last - column]
            axis = deviations.T @ axis if few else axis
            axis /= max(np.linalg.norm(axis), np.finfo(float).tiny)
            # Eigenvectors have no sign of their own.
            axes[:, place] = axis * np.sign(axis[np.abs(axis).argmax()])
            variances[place] = max(values[last - column], 0.0)
    return variances, axes


def superpose(xyz: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Rotate centred frames (n, atoms, 3) so that each is as near as possible to `reference` (atoms, 3).

    Examples
    --------
    >>> square = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    >>> turned = square[:, [1, 0, 2]] * [-1, 1, 1]
    >>> bool(np.allclose(superpose(turned[None], square), square, atol=1e-12))
    True
    """
    return xyz @ rotations_onto(xyz, reference)

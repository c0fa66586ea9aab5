"""The base class of frames and features: their points, their metric and their sources."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputIndexError,
    InputTypeError,
    InputValueError,
    ReadOnly,
    check_choice,
    read_only,
)
from mdfuzzy.frames._provenance import Source, source_frames
from mdfuzzy.frames._reading_back import read_back, source_topology, stream_back
from mdfuzzy.frames.ensembles import Ensembles
from mdfuzzy.frames.metric import Metric
from mdfuzzy.frames.weights import Weights, effective_frames, frame_weights

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames.symmetry import Symmetry


class FeaturizerLike(Protocol):
    """The interface of `features.Featurizer`, which computes features."""

    components: tuple[Any, ...]

    def completed(self, data: Any) -> Any:
        """Return features with the components that have not been applied yet."""
        ...

    def then(self, components: Any) -> "FeaturizerLike":
        """Return a featuriser that also computes these components."""
        ...

    def spec(self) -> dict[str, Any]:
        """Return a description that JSON can hold and that restores the featuriser."""
        ...


class Trajectories(ReadOnly, ABC):
    """The base class of `Frames` and `Features`: one row per frame, with trajectory boundaries.

    All steps of a clustering accept any subclass. A subclass defines the compared `points` and the `metric`.
    Attributes that it does not know keep the defaults below.

    Attributes
    ----------
    lengths : (trajectories,) int64
        The number of frames of each trajectory.
    times : (n,) float64 or None
        Times in ps.
    weights : (n,) float64 or None
        The weight of each frame, with a maximum of 1, if the frames were sampled from another ensemble, for
        example in a biased simulation; None if all frames have the same weight.
    topology : md.Topology or None
        The atoms of the frames.
    phi, psi : (n, residues) float32 or None
        Backbone torsions in degrees.
    residues : tuple of str
        The residues of these torsions.
    sources : tuple of Source
        The sources that the frames were read from.
    top : str, md.Topology or None
        The topology of the sources, or the file that holds it.
    symmetry : Symmetry or None
        Permutations of equivalent atoms; the distance between two frames is the least over them.
    atoms : (atoms,) int64 or None
        The indices of the atoms of `topology` in the sources.
    whole : bool
        Whether molecules were put together across the periodic boundary.
    reading : dict or None
        The arguments that read the same frames again; None unless all come from files.
    featurizer : features.Featurizer or None
        The method that computes the columns from frames, if they are computed.
    ensembles : Ensembles or None
        The ensemble of each trajectory, if there are several ensembles.
    """

    lengths: np.ndarray
    times: np.ndarray | None = None
    weights: np.ndarray | None = None
    topology: "md.Topology | None" = None
    phi: np.ndarray | None = None
    psi: np.ndarray | None = None
    residues: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    top: "str | md.Topology | None" = None
    symmetry: "Symmetry | None" = None
    atoms: np.ndarray | None = None
    whole: bool = False
    reading: dict[str, object] | None = None
    featurizer: "FeaturizerLike | None" = None
    ensembles: Ensembles | None = None

    @property
    @abstractmethod
    def metric(self) -> Metric:
        """The metric that compares two frames."""

    @property
    @abstractmethod
    def points(self) -> np.ndarray:
        """The points that the metric compares, one per frame: coordinates (n, atoms, 3) or vectors (n, d)."""

    @property
    def images(self) -> np.ndarray:
        """The points for pictures, with equivalent atoms exchanged so that frames look similar."""
        return self.points

    @property
    def coordinates(self) -> np.ndarray | None:
        """Coordinates of the atoms in nm, (n, atoms, 3) float32; None if they are not known."""
        return None

    @property
    @abstractmethod
    def vectors(self) -> np.ndarray | None:
        """Euclidean coordinates of the frames for k-means, (n, d) float64; None if unknown."""

    @property
    def columns(self) -> np.ndarray:
        """The columns for plots of frames that are not superposed, (n, d); by default the points."""
        return self.points

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period of each of the `columns`; None for a column without a period."""
        return (None,) * self.columns.shape[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each of the `columns`."""
        return tuple(f"feature {at}" for at in range(self.columns.shape[1]))

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each of the `columns`; empty for a column without a unit."""
        return ("",) * len(self.names)

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each of the `columns` with its unit, for plots."""
        return tuple(
            f"{name} ({unit})" if unit else name for name, unit in zip(self.names, self.units, strict=True)
        )

    @property
    def fit_atoms(self) -> np.ndarray | None:
        """The atoms of the sources used to superpose structures for viewing; by default `atoms`."""
        return self.atoms

    @property
    @abstractmethod
    def width(self) -> str:
        """The size of a frame in words, such as ``"10 atoms"``."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The molecule in words; empty if it is not known."""

    @abstractmethod
    def subset(self, frames: np.ndarray) -> Self:
        """Return the points of `frames` (numbers over all trajectories) as one trajectory."""

    def sample(self, frames: np.ndarray) -> Self:
        """Return the points of `frames`, ascending numbers over all trajectories, with their trajectories.

        They keep their times and weights, but not their sources.
        """
        found = copy.copy(self.subset(frames))
        lengths = np.unique(self.locate(frames)[0], return_counts=True)[1]
        object.__setattr__(found, "lengths", read_only(lengths.astype(np.int64)))
        times = None if self.times is None else read_only(self.times[frames])
        object.__setattr__(found, "times", times)
        return found

    @abstractmethod
    def like(self, data: "Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]") -> Self:
        """Return `data` as data that can be compared with these, or raise."""

    @abstractmethod
    def essence(self) -> Iterator[npt.ArrayLike]:
        """Yield the data that the results depend on in addition to the points, such as periods."""

    @abstractmethod
    def summary(self) -> str:
        """Return a text that describes the data."""

    def __len__(self) -> int:
        return int(self.lengths.sum())

    @property
    def timestep(self) -> float | None:
        """The time between frames in ps; None if it is not known or not the same in all trajectories."""
        return None if self.times is None else even_step(self.split(self.times))

    @property
    def n_trajectories(self) -> int:
        """The number of trajectories."""
        return len(self.lengths)

    @property
    def n_effective(self) -> float:
        r"""The effective number of frames, :math:`(\sum w)^2 / \sum w^2`; without weights all frames."""
        return float(len(self)) if self.weights is None else effective_frames(self.weights)

    def weighted(
        self,
        weights: Weights | None = None,
        *,
        log_weights: Weights | None = None,
        temperature: float | None = None,
    ) -> Self:
        """Return the same frames with other weights, or without weights if none are given.

        Parameters
        ----------
        weights : array, path, or sequence of them
            The weight of each frame, up to a constant and not negative, in one array for all frames or one
            for each trajectory. Text files with one row for each frame, such as COLVAR files of PLUMED, are
            also accepted; ``"COLVAR:metad.rbias"`` names the column. The default is the column whose name
            ends in ``logweight``, ``rbias``, ``weight`` or ``bias``. Rows are matched to frames by time.
        log_weights : array, path, or sequence of them
            The logarithms of the weights, up to a constant, instead of `weights`.
        temperature : float, optional
            The temperature in K, for columns that hold a bias in kJ/mol. The weights are then exp(bias / kT).

        Returns
        -------
        Frames or Features
            The same frames; the arrays are shared.

        Raises
        ------
        ValueError
            If the weights are negative, not finite, all zero, or not as many as the frames; if the rows of a
            file do not match the times of the frames; if a bias grows with time.

        Warns
        -----
        UserWarning
            If one frame holds more than half of the weight; if the mean of a bias decreases with time.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> features = mf.Features(np.arange(4.0)[:, None]).weighted([1.0, 1.0, 2.0, 0.0])
        >>> features.weights, round(features.n_effective, 2)
        (array([0.5, 0.5, 1. , 0. ]), 2.67)
        """
        found = frame_weights(
            weights, log_weights, lengths=self.lengths, times=self.times, temperature=temperature
        )
        result = copy.copy(self)
        object.__setattr__(result, "weights", None if found is None else read_only(found))
        return result

    def split(self, values: npt.ArrayLike) -> list[np.ndarray]:
        """Split an array with one row per frame into one array per trajectory.

        Parameters
        ----------
        values : (n, ...) array
            One entry or row per frame.

        Returns
        -------
        list of arrays
            Views of `values`, one per trajectory.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> features = mf.Features([np.zeros((2, 1)), np.ones((3, 1))])
        >>> features.split([5, 6, 7, 8, 9])
        [array([5, 6]), array([7, 8, 9])]
        """
        values = np.asarray(values)
        if values.ndim == 0 or len(values) != len(self):
            raise InputValueError(
                f"`values` must have one row per frame; got shape {values.shape}. "
                f"There are {len(self)} frames."
            )
        return np.split(values, np.cumsum(self.lengths)[:-1])

    def locate(self, index: npt.ArrayLike) -> tuple[Any, Any]:
        """Return the trajectory of a frame and its index in the trajectory.

        Parameters
        ----------
        index : int or array of int
            Frames, counted over all trajectories.

        Returns
        -------
        trajectory, frame : int, or arrays of int
            Both count from 0; the frame index counts the loaded frames of its trajectory.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> features = mf.Features([np.zeros((2, 1)), np.ones((3, 1))])
        >>> features.locate(3)
        (1, 1)
        """
        frames = self._check_frames(index)
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        trajectory = np.searchsorted(starts, frames, side="right") - 1
        frame = frames - starts[trajectory]
        return (int(trajectory), int(frame)) if frames.ndim == 0 else (trajectory, frame)

    @property
    def has_structures(self) -> bool:
        """Whether `trajectory` can return structures of the frames."""
        return self.topology is not None and (self.coordinates is not None or bool(self.sources))

    def trajectory(
        self, indices: npt.ArrayLike | None = None, *, atoms: Literal["loaded", "all"] = "loaded"
    ) -> "md.Trajectory":
        """Return chosen frames as an `md.Trajectory`.

        Parameters
        ----------
        indices : (m,) array of int, optional
            Frames, in any order; all by default.
        atoms : {"loaded", "all"}
            ``"loaded"`` returns the atoms of `topology`, centred. ``"all"`` reads the source files again and
            returns all atoms with their box.

        Returns
        -------
        md.Trajectory
            The frames, with times in ps if they are known; otherwise mdtraj numbers the frames.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> frames = mf.datasets.alanine_dipeptide()
        >>> frames.trajectory([0, 100])
        <mdtraj.Trajectory with 2 frames, 10 atoms, 3 residues, without unitcells at 0x...>
        """
        check_choice("atoms", atoms, ("loaded", "all"))
        chosen = self._check_frames(np.arange(len(self)) if indices is None else indices)
        if chosen.ndim != 1 or chosen.size == 0:
            raise InputValueError(
                f"`indices` must be a list of at least one frame; got shape {chosen.shape}."
            )
        if self.topology is None:
            raise InputValueError(
                "These frames have no topology, because they come from arrays. Give `top` to `load`, or "
                "`frames` to `Features`."
            )
        return self._loaded(chosen, self.topology.copy()) if atoms == "loaded" else self._read_back(chosen)

    def stream(self, indices: npt.ArrayLike) -> "Iterator[tuple[np.ndarray, md.Trajectory]]":
        """Yield chosen frames with all their atoms in parts of a few megabytes, each source read once.

        Parameters
        ----------
        indices : (m,) array of int
            Frames, in ascending order.

        Yields
        ------
        (p,) int64, md.Trajectory
            The numbers of some of the frames, and these frames as they are in the source files.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> frames = mf.datasets.alanine_dipeptide()
        >>> parts = list(frames.stream(np.arange(0, 30000, 2)))
        >>> len(parts) > 1, sum(len(part) for _, part in parts)
        (True, 15000)
        """
        chosen = self._ascending(indices)
        self.sources_of(chosen)
        topology = self.source_topology
        restore = self._restorer(topology)
        for numbers, part in stream_back(self.sources, topology, chosen):
            restore(part)
            self._check_same(part.xyz, numbers)
            if self.times is not None:
                part.time = self.times[numbers]
            yield numbers, part

    @property
    def source_topology(self) -> "md.Topology":
        """A copy of the topology of all atoms of the sources, or of `topology` if there are no sources."""
        top = self.topology if self.top is None else self.top
        if top is None:
            raise InputValueError("These frames have no topology, because they come from arrays.")
        return source_topology(top)

    def _read_back(self, chosen: np.ndarray) -> "md.Trajectory":
        self.sources_of(chosen)
        times = None if self.times is None else self.times[chosen]
        assert self.top is not None, "what has sources and a topology has this"
        found = read_back(self.sources, self.top, chosen, times=times)
        self._restorer(found.topology)(found)
        self._check_same(found.xyz, chosen)
        return found

    def _restorer(self, topology: "md.Topology") -> "Callable[[md.Trajectory], None]":
        """Return a function that makes molecules whole across the periodic boundary, as during loading."""
        from mdfuzzy.frames._periodic import has_box, make_whole
        from mdfuzzy.frames._selection import Bonds

        if not self.whole or self.atoms is None:
            return lambda part: None
        trees = Bonds.of(topology).trees(self.atoms)

        def restore(part: "md.Trajectory") -> None:
            if has_box(part):
                make_whole(part.xyz, part.unitcell_lengths, part.unitcell_angles, trees)

        return restore

    def _check_same(self, xyz: np.ndarray, chosen: np.ndarray) -> None:
        """Raise if coordinates that were read again differ from known loaded coordinates."""

    def _loaded(self, chosen: np.ndarray, topology: "md.Topology") -> "md.Trajectory":
        """Return the centred atoms of `topology`, from memory if they are there, otherwise read again."""
        import mdtraj as md

        if self.coordinates is None:
            xyz = self._read_back(chosen).xyz[:, self.atoms]
            xyz = xyz - xyz.mean(axis=1, keepdims=True)
        else:
            xyz = self.coordinates[chosen]
        return md.Trajectory(xyz, topology, None if self.times is None else self.times[chosen])

    def sources_of(self, indices: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the source of each of the frames `indices`, and the number of the frame in the source.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> frames = mf.datasets.alanine_dipeptide(stride=10)
        >>> places, numbers = frames.sources_of([7, 2500])
        >>> [(frames.sources[place].path[-11:], int(n)) for place, n in zip(places, numbers)]
        [('ala2_00.xtc', 70), ('ala2_03.xtc', 5000)]
        """
        if not self.sources:
            raise InputValueError(
                "These frames have no sources to read them from again. Use the loaded atoms."
            )
        return source_frames(self.sources, self._check_frames(indices))

    def _ascending(self, chosen: slice | npt.ArrayLike) -> np.ndarray:
        """Return the numbers of chosen frames, which must ascend to form trajectories."""
        rule = "`frames[...]` takes a slice, a mask, or a list of frame numbers in ascending order"
        if isinstance(chosen, slice):
            indices = np.arange(len(self))[chosen]
        else:
            indices = np.asarray(chosen)
            if indices.dtype == bool and indices.shape == (len(self),):
                indices = np.flatnonzero(indices)
            if indices.ndim != 1 or indices.dtype == bool:
                raise InputTypeError(f"{rule}; got {chosen!r}. For a single frame: frames[[5]].")
            indices = self._check_frames(indices)
        if len(indices) == 0 or np.any(np.diff(indices) <= 0):
            raise InputValueError(
                f"{rule}, at least one and none twice; got {chosen!r}. `trajectory` takes any order."
            )
        return indices

    def _weighted_words(self) -> list[str]:
        """Return words for `repr` that say whether the frames have weights."""
        return [] if self.weights is None else [f"weighted, {self.n_effective:,.0f} effective frames"]

    def _check_frames(self, index: npt.ArrayLike) -> np.ndarray:
        frames = np.asarray(index)
        if frames.size and not np.issubdtype(frames.dtype, np.integer):
            raise InputTypeError(
                f"`indices` must be frame numbers; got an array of type {frames.dtype}. "
                f"For a mask, pass np.flatnonzero(mask)."
            )
        if frames.size and not 0 <= frames.min() <= frames.max() < len(self):
            bad = frames[(frames < 0) | (frames >= len(self))].flat[0] if frames.ndim else int(frames)
            raise InputIndexError(
                f"`indices` must be in [0, {len(self) - 1}]; got {bad}. There are {len(self)} frames."
            )
        return frames.astype(np.int64)

    def _check_lengths(self, rows: int) -> None:
        lengths = np.array(self.lengths, dtype=np.int64)
        if lengths.ndim != 1 or lengths.sum() != rows or np.any(lengths < 1):
            raise InputValueError(
                f"`lengths` must be positive and sum to the number of frames, {rows}; got {lengths.tolist()}."
            )
        object.__setattr__(self, "lengths", read_only(lengths))


def even_step(times: list[np.ndarray]) -> float | None:
    """Return the time between frames; None if it varies.

    Files hold times in single precision, so the steps between late frames vary by rounding. The mean is
    rounded to six digits, so that 0.2 ps is 0.2.
    """
    steps = np.concatenate([np.diff(part) for part in times])
    if len(steps) == 0:
        return None
    step = float(steps.mean())
    latest = max(float(np.abs(part).max()) for part in times)
    even = step > 0 and np.abs(steps - step).max() <= 0.01 * step + 1e-6 * latest
    return float(f"{step:.6g}") if even else None

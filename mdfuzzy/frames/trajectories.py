"""The base class of frames and features: their points, their metric and their sources."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, read_only
from mdfuzzy.frames._clock import even_step
from mdfuzzy.frames._featurizer import FeaturizerLike
from mdfuzzy.frames._frame_numbers import check_frames
from mdfuzzy.frames.ensembles import Ensembles
from mdfuzzy.frames.metric import Metric
from mdfuzzy.frames.structures import Structures
from mdfuzzy.frames.weights import Weights, effective_frames, frame_weights

#: Molecules with more residues than this are described without their sequence.
_MAX_NAMED = 12

if TYPE_CHECKING:
    from mdfuzzy.frames.symmetry import Symmetry


class Trajectories(Structures, ABC):
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
    weights: np.ndarray | None = None
    phi: np.ndarray | None = None
    psi: np.ndarray | None = None
    residues: tuple[str, ...] = ()
    symmetry: Symmetry | None = None
    reading: dict[str, object] | None = None
    featurizer: FeaturizerLike | None = None
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
    @abstractmethod
    def width(self) -> str:
        """The size of a frame in words, such as ``"10 atoms"``."""

    @property
    def molecule(self) -> str:
        """The sequence of a small molecule, or the number of residues; empty if there is no topology."""
        if self.topology is None:
            return ""
        names = [residue.name for residue in self.topology.residues]
        return "-".join(names) if len(names) <= _MAX_NAMED else f"{len(names):,} residues"

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
        if self.weights is not None and not self.weights[frames].any():
            raise InputValueError(
                f"`weights` must not all be 0 in the sample of {len(frames):,} of the {len(self):,} frames. "
                "Fit more frames, or leave out frames without weight."
            )
        found = copy.copy(self.subset(frames))
        lengths = np.unique(self.locate(frames)[0], return_counts=True)[1]
        object.__setattr__(found, "lengths", read_only(lengths.astype(np.int64)))
        times = None if self.times is None else read_only(self.times[frames])
        object.__setattr__(found, "times", times)
        return found

    @abstractmethod
    def like(self, data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> Self:
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
        frames = check_frames(index, len(self))
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        trajectory = np.searchsorted(starts, frames, side="right") - 1
        frame = frames - starts[trajectory]
        return (int(trajectory), int(frame)) if frames.ndim == 0 else (trajectory, frame)

    def _weighted_words(self) -> list[str]:
        """Return words for `repr` that say whether the frames have weights."""
        return [] if self.weights is None else [f"weighted, {self.n_effective:,.0f} effective frames"]

    def _check_lengths(self, rows: int) -> None:
        lengths = np.array(self.lengths, dtype=np.int64)
        if lengths.ndim != 1 or lengths.sum() != rows or np.any(lengths < 1):
            raise InputValueError(
                f"`lengths` must be positive and sum to the number of frames, {rows}; got {lengths.tolist()}."
            )
        object.__setattr__(self, "lengths", read_only(lengths))

"""Feature vectors of the frames of trajectories."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_finite, check_numbers, check_real, read_only
from mdfuzzy.frames.metric import EUCLIDEAN, Metric
from mdfuzzy.frames.trajectories import Trajectories, shorten
from mdfuzzy.frames.weights import Weights, frame_weights


class Features(Trajectories):
    """Feature vectors of the frames of one or many trajectories.

    Parameters
    ----------
    arrays : (n, d) array or sequence of (n_i, d) arrays
        One array per trajectory.
    periodic : sequence of int, optional
        The columns that are periodic, such as torsion angles.
    period : float
        Their period: 360 for degrees, 2 * pi for radians.
    weights, log_weights : array or sequence of arrays, optional
        Weights of the frames, or their logarithms, for frames of a biased simulation: see `weighted`.

    Attributes
    ----------
    values : (n, d) float64
        All vectors, one trajectory after the other.
    lengths : (trajectories,) int64
        Vectors per trajectory.
    periodic : (k,) int64
        The columns that are periodic.
    period : float
        Their period.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> features = mf.Features([np.zeros((2, 2)), np.full((3, 2), 180.0)], periodic=[0])
    >>> features
    Features(5 vectors of 2 in 2 trajectories; periodic columns 0)
    >>> features.embedded.shape
    (5, 3)
    """

    values: np.ndarray
    periodic: np.ndarray
    period: float

    def __init__(
        self,
        arrays: npt.ArrayLike | Sequence[npt.ArrayLike],
        *,
        periodic: Sequence[int] | None = None,
        period: float = 360.0,
        weights: Weights | None = None,
        log_weights: Weights | None = None,
    ) -> None:
        # A data frame is iterable, too, but one array.
        several = isinstance(arrays, Iterable) and not hasattr(arrays, "__array__")
        parts = [
            check_numbers("arrays", part)
            for part in (cast(Iterable[object], arrays) if several else [arrays])
        ]
        if not parts or any(p.ndim != 2 or 0 in p.shape or p.shape[1] != parts[0].shape[1] for p in parts):
            raise InputValueError(
                f"`arrays` must be one or more arrays of shape (frames, features), none empty, with the same "
                f"number of features; got shapes {[p.shape for p in parts]}. For one feature pass "
                f"array[:, None]."
            )
        values = np.concatenate(parts)
        check_finite("arrays", values)
        d = values.shape[1]
        columns = np.array([] if periodic is None else periodic)
        if columns.size == 0:
            columns = np.empty(0, np.int64)
        if (
            columns.ndim != 1
            or columns.dtype.kind not in "iu"
            or np.any((columns < 0) | (columns >= d))
            or len(set(columns.tolist())) < len(columns)
        ):
            raise InputValueError(
                f"`periodic` must be different columns in [0, {d - 1}]; got {columns.tolist()}."
            )
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "lengths", np.array([len(part) for part in parts]))
        self._check_lengths(len(values))
        object.__setattr__(self, "periodic", read_only(np.sort(columns).astype(np.int64)))
        period = check_real("period", period, above=0)
        if period != 360 and not columns.size:
            raise InputValueError(
                f"`period` must be left out if no column is periodic; got {period:g}. Name the columns in "
                "`periodic`."
            )
        object.__setattr__(self, "period", period)
        found = frame_weights(weights, log_weights, lengths=self.lengths, times=self.times)
        object.__setattr__(self, "weights", None if found is None else read_only(found))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`Features` cannot be changed; tried to set {name!r}.")

    def __repr__(self) -> str:
        trajectories = "1 trajectory" if self.n_trajectories == 1 else f"{self.n_trajectories} trajectories"
        parts = [f"{len(self):,} vectors of {self.values.shape[1]} in {trajectories}"]
        parts += [f"periodic columns {shorten(self.periodic.tolist())}"] if len(self.periodic) else []
        return f"Features({'; '.join(parts + self._weighted_words())})"

    @property
    def metric(self) -> Metric:
        """How two vectors are compared: Euclidean distance."""
        return EUCLIDEAN

    @property
    def points(self) -> np.ndarray:
        """What is compared: `embedded`."""
        return self.embedded

    @property
    def vectors(self) -> np.ndarray:
        """What is compared: `embedded`."""
        return self.embedded

    @property
    def columns(self) -> np.ndarray:
        """What plots show: `values`."""
        return self.values

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period of each column; None for one that is not periodic."""
        return tuple(self.period if at in self.periodic else None for at in range(self.values.shape[1]))

    @property
    def width(self) -> str:
        """The number of features in words."""
        return f"{self.values.shape[1]:,} features"

    @property
    def title(self) -> str:
        """Nothing: vectors alone do not tell what they describe."""
        return ""

    def subset(self, frames: np.ndarray) -> "Features":
        """Return the vectors of `frames`, numbers over all trajectories, as one trajectory."""
        chosen = None if self.weights is None else self.weights[frames]
        return Features(
            self.values[frames], periodic=self.periodic.tolist(), period=self.period, weights=chosen
        )

    def like(self, data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> "Features":
        """Return `data` as features with the same periodic columns; raise if it is something else."""
        if isinstance(data, Features):
            return data
        if isinstance(data, Trajectories):
            raise InputTypeError(
                f"`data` must be features, as `result` was made of; got {type(data).__name__}."
            )
        several = isinstance(data, list | tuple) and all(np.ndim(part) == 2 for part in data)
        arrays = cast(Sequence[npt.ArrayLike], data if several else [data])
        return Features(arrays, periodic=self.periodic.tolist(), period=self.period)

    def essence(self) -> Iterator[npt.ArrayLike]:
        """Yield the periodic columns and their period."""
        yield from (self.periodic, self.period)

    def summary(self) -> str:
        """Return a line that describes the data."""
        return repr(self)

    @property
    def embedded(self) -> np.ndarray:
        """The vectors with every periodic column replaced by a point on a circle of that circumference.

        Distances between near angles are kept, and no pair is torn apart at the end of the period.
        The other columns come first, then the cosines, then the sines: (n, d + len(periodic)) float64.
        """
        others = np.delete(self.values, self.periodic, axis=1)
        radius = self.period / (2 * np.pi)
        angles = self.values[:, self.periodic] / radius
        return np.concatenate([others, radius * np.cos(angles), radius * np.sin(angles)], axis=1)


def as_data(data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> Trajectories:
    """Return frames or features as they are, and arrays as features.

    Examples
    --------
    >>> as_data([np.zeros((3, 2)), np.ones((4, 2))])
    Features(7 vectors of 2 in 2 trajectories)
    """
    if isinstance(data, Trajectories):
        return data
    for part in data if isinstance(data, list | tuple) else [data]:
        if isinstance(part, str | os.PathLike) or hasattr(part, "xyz"):
            raise InputTypeError(
                f"`data` must be Frames, Features or arrays of features; got {part!r}. Read trajectories "
                "with mf.load(...)."
            )
    return Features(data)

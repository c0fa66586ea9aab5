"""Feature vectors of the frames of trajectories."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_finite, check_type, read_only
from mdfuzzy._messages import shorten
from mdfuzzy.frames._clock import time_words
from mdfuzzy.frames._columns import (
    check_column_weights,
    check_periods,
    check_same_columns,
    check_times,
    check_vectors,
    check_words,
)
from mdfuzzy.frames._frame_numbers import ascending_frames
from mdfuzzy.frames._provenance import chosen_sources
from mdfuzzy.frames.embedding import embed
from mdfuzzy.frames.metric import EUCLIDEAN, Metric
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.frames.weights import Weights, chosen_weights, frame_weights

#: Attributes that features take over from the frames that they describe; the first have a row per frame.
_ROWS = ("times", "phi", "psi")
_OF_FRAMES = (*_ROWS, "weights", "topology", "residues", "sources", "top", "atoms", "whole")


class Features(Trajectories):
    """Feature vectors of the frames of one or many trajectories.

    Parameters
    ----------
    arrays : (n, d) array or sequence of (n_i, d) arrays
        One array per trajectory.
    periodic : sequence of int, optional
        The columns that are periodic, such as torsion angles.
    period : float or sequence of float
        The period of all periodic columns, or of each: 360 for degrees, 2 * pi for radians.
    names : sequence of d str, optional
        The names of the columns.
    units : str or sequence of d str, optional
        The unit of all columns, or of each.
    column_weights : sequence of d float, optional
        The factor that multiplies differences in each column in the distance between two frames; 1 by
        default. Choose weights that make columns of different units comparable.
    times : (n,) array or sequence of (n_i,) arrays, optional
        Times in ps.
    frames : Frames, optional
        The frames that the features describe. Times, topology, backbone torsions and sources are taken from
        them, so that structures can be written and shown.
    weights, log_weights : array or sequence of arrays, optional
        Weights of the frames, or their logarithms, for frames of a biased simulation: see `weighted`.

    Attributes
    ----------
    values : (n, d) float64, or float32 if all arrays are
        All vectors, one trajectory after another.
    lengths : (trajectories,) int64
        The number of vectors of each trajectory.
    periodic : (k,) int64
        The columns that are periodic.
    periods : tuple of d (float or None)
        The period of each column.
    names, units : tuple of d str
        The name and the unit of each column.
    column_weights : (d,) float64 or None
        The factor that multiplies differences in each column.
    times : (n,) float64 or None
        Times in ps.
    featurizer : features.Featurizer or None
        The method that computes the columns from frames, if `featurize`, `tica`, `vamp` or `pca` made them.

    See Also
    --------
    featurize : Compute torsions, distances, contacts and other features of trajectories.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> features = mf.Features([np.zeros((2, 2)), np.full((3, 2), 180.0)], periodic=[0])
    >>> features
    Features(5 vectors of 2 in 2 trajectories; periodic columns 0)
    >>> features.embedded.shape
    (5, 3)
    >>> mf.Features(np.zeros((3, 2)), names=["N-O", "phi"], units=["nm", "degrees"], periodic=[1]).labels
    ('N-O (nm)', 'phi (degrees)')
    """

    values: np.ndarray
    column_weights: np.ndarray | None = None
    _names: tuple[str, ...] | None
    _units: tuple[str, ...] | None
    _periods: tuple[float | None, ...]

    def __init__(
        self,
        arrays: npt.ArrayLike | Sequence[npt.ArrayLike],
        *,
        periodic: Sequence[int] | None = None,
        period: float | Sequence[float] = 360.0,
        names: Sequence[str] | None = None,
        units: str | Sequence[str] | None = None,
        column_weights: npt.ArrayLike | None = None,
        times: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
        frames: Trajectories | None = None,
        weights: Weights | None = None,
        log_weights: Weights | None = None,
    ) -> None:
        # A data frame is iterable, too, but it is a single array.
        several = isinstance(arrays, Iterable) and not hasattr(arrays, "__array__")
        parts = [check_vectors(part) for part in (cast(Iterable[object], arrays) if several else [arrays])]
        if not parts or any(p.ndim != 2 or 0 in p.shape or p.shape[1] != parts[0].shape[1] for p in parts):
            raise InputValueError(
                f"`arrays` must be one or more arrays of shape (frames, features), none empty, with the same "
                f"number of features; got shapes {[p.shape for p in parts]}. For one feature pass "
                f"array[:, None]."
            )
        values = np.concatenate(parts)
        check_finite("arrays", values)
        self._set(values, [len(part) for part in parts])
        d = values.shape[1]
        object.__setattr__(self, "_periods", check_periods(periodic, period, d))
        object.__setattr__(self, "_names", check_words("names", names, d))
        object.__setattr__(
            self, "_units", check_words("units", [units] * d if isinstance(units, str) else units, d)
        )
        if column_weights is not None:
            factors = check_column_weights(column_weights, d)
            object.__setattr__(self, "column_weights", read_only(factors))
        if frames is not None:
            self._take_over(frames)
        if times is not None:
            object.__setattr__(self, "times", read_only(check_times(times, self.lengths)))
        if weights is not None or log_weights is not None:
            found = frame_weights(weights, log_weights, lengths=self.lengths, times=self.times)
            object.__setattr__(self, "weights", None if found is None else read_only(found))

    @classmethod
    def made(cls, values: np.ndarray, lengths: Sequence[int] | np.ndarray, **attributes: Any) -> Features:
        """Return features that take ownership of an array, which is neither copied nor checked.

        Parameters
        ----------
        values : (n, d) float array
            Finite values. The array must not be changed afterwards.
        lengths : sequence of int
            The number of vectors of each trajectory.
        **attributes
            Other attributes, such as `times` and `sources`; `names`, `units` and `periods` have d entries.
        """
        features = object.__new__(cls)
        features._set(values, lengths)
        d = values.shape[1]
        given = {"names": None, "units": None, "periods": (None,) * d} | attributes
        for name, value in given.items():
            if isinstance(value, np.ndarray):
                value = read_only(value)
            own = f"_{name}" if name in ("names", "units", "periods") else name
            object.__setattr__(features, own, value)
        return features

    def _set(self, values: np.ndarray, lengths: Sequence[int] | np.ndarray) -> None:
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "lengths", np.array(lengths))
        self._check_lengths(len(values))

    def _take_over(self, frames: Trajectories) -> None:
        """Take over times, topology, torsions and sources of the frames that these features describe."""
        check_type("frames", frames, Trajectories, remedy="`load` makes them.")
        if frames.lengths.tolist() != self.lengths.tolist():
            raise InputValueError(
                f"`frames` must be of the same trajectories, of {shorten(self.lengths.tolist())} frames; got "
                f"{shorten(frames.lengths.tolist())} frames."
            )
        for name in _OF_FRAMES:
            object.__setattr__(self, name, getattr(frames, name))

    def _columns(self) -> dict[str, Any]:
        """Return the attributes of the columns."""
        return {
            "names": self._names,
            "units": self._units,
            "periods": self._periods,
            "column_weights": self.column_weights,
            "featurizer": self.featurizer,
        }

    def with_columns(self, values: np.ndarray, **columns: Any) -> Features:
        """Return other columns of the same frames, with the same times, topology, weights and sources.

        Parameters
        ----------
        values : (n, d) float array
            Finite values. The array must not be changed afterwards.
        **columns
            `names`, `units`, `periods`, `column_weights` and `featurizer`.
        """
        frames = {name: getattr(self, name) for name in (*_OF_FRAMES, "reading")}
        return Features.made(values, self.lengths, **frames, **columns)

    def with_reading(self, reading: dict[str, Any]) -> Features:
        """Return the same features with other arguments for reading them again, `reading`."""
        result = copy.copy(self)
        object.__setattr__(result, "reading", reading)
        return result

    @property
    def components(self) -> Any:
        """The linear combinations found by the last of `tica`, `vamp` and `pca`; None if there are none."""
        made = () if self.featurizer is None else self.featurizer.components
        return made[-1] if made else None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`Features` cannot be changed; tried to set {name!r}.")

    def __repr__(self) -> str:
        trajectories = "1 trajectory" if self.n_trajectories == 1 else f"{self.n_trajectories} trajectories"
        parts = [f"{len(self):,} vectors of {self.values.shape[1]} in {trajectories}"]
        if self._names is not None:
            parts[0] += f": {shorten(self.names)}"
        elif len(self.periodic):
            parts.append(f"periodic columns {shorten(self.periodic.tolist())}")
        if self.times is not None:
            parts.append(time_words(self.split(self.times)))
        return f"Features({'; '.join(parts + self._weighted_words())})"

    @property
    def metric(self) -> Metric:
        """The metric that compares two vectors: Euclidean distance."""
        return EUCLIDEAN

    @property
    def points(self) -> np.ndarray:
        """The vectors that are compared: `embedded`."""
        return self.embedded

    @property
    def vectors(self) -> np.ndarray:
        """The vectors that are compared: `embedded`."""
        return self.embedded

    @property
    def columns(self) -> np.ndarray:
        """The columns for plots: `values`."""
        return self.values

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return super().names if self._names is None else self._names

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each column; empty for one that has none."""
        return super().units if self._units is None else self._units

    @property
    def periods(self) -> tuple[float | None, ...]:
        """The period of each column; None for one that is not periodic."""
        return self._periods

    @property
    def periodic(self) -> np.ndarray:
        """The columns that are periodic, ascending."""
        return np.flatnonzero([period is not None for period in self._periods])

    @property
    def width(self) -> str:
        """The number of features in words."""
        return f"{self.values.shape[1]:,} features"

    @property
    def title(self) -> str:
        """The molecule and the first names in words; empty if there are none."""
        names = "" if self._names is None else shorten(self.names)
        return "; ".join(filter(None, [self.molecule, names]))

    def subset(self, frames: np.ndarray) -> Features:
        """Return the vectors of `frames`, numbers over all trajectories, as one trajectory."""
        weights = chosen_weights(self.weights, frames)
        return Features.made(self.values[frames], [len(frames)], weights=weights, **self._columns())

    def __getitem__(self, chosen: slice | npt.ArrayLike) -> Features:
        """Return some of the frames, in their order, with their trajectories, times and sources.

        A trajectory without any chosen frame is omitted.
        """
        indices = ascending_frames(chosen, len(self))
        kept, lengths = np.unique(self.locate(indices)[0], return_counts=True)
        others = {name: getattr(self, name) for name in _OF_FRAMES}
        rows = {name: None if others[name] is None else others[name][indices] for name in _ROWS}
        rows["weights"] = chosen_weights(self.weights, indices)
        others["sources"] = tuple(chosen_sources(self.sources, indices, kept))
        return Features.made(self.values[indices], lengths, **self._columns(), **others | rows)

    def like(self, data: Trajectories | npt.ArrayLike | Sequence[npt.ArrayLike]) -> Features:
        """Return `data` as features with the same columns, or raise."""
        if isinstance(data, Trajectories) and not isinstance(data, Features):
            raise InputTypeError(
                f"`data` must be features, as `result` was made of; got {type(data).__name__}."
            )
        if not isinstance(data, Features):
            several = isinstance(data, list | tuple) and all(np.ndim(part) == 2 for part in data)
            found = Features(cast(Sequence[npt.ArrayLike], data if several else [data]))
            same = found.values.shape[1] == self.values.shape[1]
            new = found.with_columns(found.values, **self._columns()) if same else found
        else:
            new = data
        if self.featurizer is not None:
            new = cast(Features, self.featurizer.completed(new))
        check_same_columns(self.values.shape[1], self._names, new.values.shape[1], new._names)
        # Distances to these features use the weights of these features.
        return new.with_columns(new.values, **new._columns() | {"column_weights": self.column_weights})

    def essence(self) -> Iterator[npt.ArrayLike]:
        """Yield the periodic columns, their periods, and the weights of the columns."""
        yield self.periodic
        periods = [self._periods[at] for at in self.periodic]
        yield periods[0] if len(set(periods)) == 1 else periods or 360.0
        if self.column_weights is not None:
            yield self.column_weights

    def summary(self) -> str:
        """Return a text that describes the columns and the meaning of components of features."""
        lines = [repr(self)]
        if self.components is not None:
            lines += [f"{self.components!r}: {self.components.reason}".rstrip(": "), self.components.table()]
        return "\n".join(lines)

    @property
    def embedded(self) -> np.ndarray:
        """The vectors with every periodic column replaced by a point on a circle.

        The circumference of the circle is the period. Distances between near angles are kept, and angles at
        opposite ends of the period are near each other. The other columns come first, then the cosines, then
        the sines: (n, d + len(periodic)) float64. Each is multiplied by the weight of its column.
        """
        return embed(self.values, self._periods, self.column_weights)

"""Linear combinations of features, such as the components of TICA, and their meaning."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from mdfuzzy._check import ReadOnly, read_only
from mdfuzzy._messages import duration
from mdfuzzy.frames.embedding import embed

Method = Literal["TICA", "VAMP", "PCA"]

#: The names of the components of each method.
_NAMES = {"TICA": "TIC", "VAMP": "VAMP", "PCA": "PC"}
#: The number of rows that are projected at a time.
_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Components(ReadOnly):
    """Linear combinations of d features, such as TICA or principal components.

    Attributes
    ----------
    method : {"TICA", "VAMP", "PCA"}
        The method that found the components.
    inputs : tuple of d str
        The names of the features.
    periods : tuple of d (float or None)
        The periods of the features. A periodic feature enters as its cosine and its sine.
    column_weights : (d,) float64 or None
        The factors that multiply the features.
    mean : (e,) float64
        The mean of the features, with cosines and sines.
    matrix : (e, dim) float64
        The coefficients: components are the deviations from the mean times this matrix.
    eigenvalues : (dim,) float64
        Autocorrelations at the lag time (TICA), singular values (VAMP), variances (PCA).
    shares : (dim,) float64
        The share of the kinetic variance of each component; for PCA, the share of the variance.
    correlations : (d, dim) float64
        The correlation of each feature with each component. For a periodic feature it is the multiple
        correlation of its cosine and its sine, which has no sign.
    lag : int or None
        The lag time in frames.
    lag_time : float or None
        The lag time in ps.
    reason : str
        The reason for the number of components.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> columns = {"inputs": ["a", "b"], "periods": [None, None], "column_weights": None}
    >>> found = mf.features.Components(
    ...     method="PCA", mean=np.zeros(2), matrix=[[0.6], [0.8]], eigenvalues=[2.0], shares=[0.9],
    ...     correlations=[[0.5], [0.9]], **columns,
    ... )
    >>> found.apply(np.array([[3.0, 4.0]]))
    array([[5.]], dtype=float32)
    >>> print(found.table())
    PC 1: 90.0 % of variance; +0.90 b, +0.50 a
    """

    method: Method
    inputs: tuple[str, ...]
    periods: tuple[float | None, ...]
    column_weights: np.ndarray | None
    mean: np.ndarray
    matrix: np.ndarray
    eigenvalues: np.ndarray
    shares: np.ndarray
    correlations: np.ndarray
    lag: int | None = None
    lag_time: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("mean", "matrix", "eigenvalues", "shares", "correlations", "column_weights"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, read_only(np.asarray(value, np.float64)))
        for name in ("inputs", "periods"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def __repr__(self) -> str:
        lag = "" if self.lag_time is None else f" at a lag time of {duration(self.lag_time, 'ps')}"
        return f"Components({len(self)} of {self.method} of {self.n_inputs:,} features{lag})"

    def __len__(self) -> int:
        return self.matrix.shape[1]

    @property
    def n_inputs(self) -> int:
        """The number of features, d."""
        return len(self.inputs)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple(f"{_NAMES[self.method]} {at + 1}" for at in range(len(self)))

    @property
    def timescales(self) -> np.ndarray | None:
        """The relaxation times of the components in ps, (dim,); NaN for an autocorrelation below 0."""
        if self.lag is None:
            return None
        step = self.lag if self.lag_time is None else self.lag_time
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.eigenvalues > 0, -step / np.log(self.eigenvalues), np.nan)

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return the components, (n, dim) float32, of rows of features, `values` (n, d)."""
        found = np.empty((len(values), len(self)), np.float32)
        for first in range(0, len(values), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            found[part] = (self.embed(values[part]) - self.mean) @ self.matrix
        return found

    def embed(self, values: np.ndarray) -> np.ndarray:
        """Return the features `values` with cosines and sines for periodic ones, (n, e) float64."""
        return embed(values, self.periods, self.column_weights)

    def table(self, *, n_inputs: int = 5) -> str:
        """Return a line for each component: its timescale, and the features most correlated with it.

        Parameters
        ----------
        n_inputs : int
            The number of features in a line.
        """
        lines = []
        for at, name in enumerate(self.names):
            words = [f"{100 * self.shares[at]:.1f} % of {'' if self.method == 'PCA' else 'kinetic '}variance"]
            if self.timescales is not None:
                unit = "frames" if self.lag_time is None else "ps"
                time = float(self.timescales[at])
                # With an autocorrelation of 1 or more, finite data give no bound.
                known = np.isfinite(time) and time > 0
                words.insert(0, f"timescale {duration(time, unit)}" if known else "no timescale")
            order = np.argsort(-np.abs(self.correlations[:, at]), kind="stable")[:n_inputs]
            most = ", ".join(f"{self.correlations[i, at]:+.2f} {self.inputs[i]}" for i in order)
            lines.append(f"{name}: {', '.join(words)}; {most}")
        return "\n".join(lines)

    def spec(self) -> dict[str, Any]:
        """Return a description that JSON can hold and that restores the components."""
        values = asdict(self)
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> "Components":
        """Return the components described by `spec`."""
        return cls(**spec)

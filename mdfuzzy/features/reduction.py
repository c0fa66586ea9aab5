"""Reduce many features to few components by TICA, VAMP and PCA, with deeptime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from mdfuzzy._check import InputValueError, check_choice, check_int, check_real
from mdfuzzy._messages import TIME_UNITS, counted, duration, parse_time, shorten, warn_user
from mdfuzzy.features._dimensions import left_out_correlations, slow_components
from mdfuzzy.features._moments import Moments
from mdfuzzy.features.components import Components, Method

#: Directions with a smaller variance than this, relative to the largest, are omitted.
_SINGULAR = 1e-6
#: The share of the variance that the principal components explain together, and their largest number.
_VARIANCE, _MOST = 0.9, 5


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """The reduction of features to a few components.

    Attributes
    ----------
    method : {"TICA", "VAMP", "PCA"}
        The slow components of reversible dynamics, the slow components of any dynamics, or the components of
        the largest variance.
    lag : float, optional
        The lag time in ps; not used for PCA.
    dim : int, optional
        The number of components; by default those that are slow on left-out data, at most 5.
    kinetic_map : bool
        Whether components are multiplied by their autocorrelation, so that distances are kinetic distances.
    parsed : bool
        Whether the lag time was written with a unit, as on the command line. The frames must then have times;
        otherwise the lag time of frames without times counts frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.features.Reduction.parse("TICA", "1us:2")
    Reduction(method='TICA', lag=1000000.0, dim=2, kinetic_map=True)
    """

    method: Method = "TICA"
    lag: float | None = None
    dim: int | None = None
    kinetic_map: bool = True
    parsed: bool = field(default=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("method", self.method, get_args(Method))
        if self.method != "PCA":
            check_real("lag", self.lag, above=0, remedy="It is the lag time in ps.")
        if self.dim is not None:
            check_int("dim", self.dim, 1)

    @classmethod
    def parse(cls, method: Method, text: str) -> Reduction:
        """Return the reduction by `method` with a lag time and a number from a `text` such as ``"1us:2"``."""
        first, _, last = text.partition(":")
        rule = (
            "a lag time above 0 with a unit and, after a colon, the number of components, at least 1, such "
            "as 10ns or 1us:2"
        )
        if method == "PCA":
            rule, first, last = "the number of components, at least 1, such as 2", "", text
        lag, unit = parse_time(first) or (None, "")
        bad = method != "PCA" and (not unit or lag is None or lag <= 0)
        count = last.strip()
        if bad or (count and not (count.isdecimal() and int(count) > 0)) or (method == "PCA" and not count):
            units = ", ".join(unit for unit in TIME_UNITS if unit.isascii())
            raise InputValueError(
                f"`{method.lower()}` must be {rule}; got {text!r}."
                + (f" The units are {units}." if method != "PCA" else "")
            )
        return cls(method=method, lag=lag, dim=int(count) if count else None, parsed=True)

    def _word(self, argument: str) -> str:
        """Return how messages name an argument: if it was parsed from a text, by the method."""
        return self.method.lower() if self.parsed else argument

    def frames(self, timestep: float | None, longest: int, *, known: bool = True) -> int:
        """Return the lag time in frames that are `timestep` ps apart, 0 for PCA, or raise.

        `longest` is the number of frames of the longest trajectory. If the times of the frames are not
        `known`, the lag time counts frames.
        """
        if self.lag is None or self.method == "PCA":
            return 0
        word = f"`{self._word('lag')}`"
        if known and not timestep:
            raise InputValueError(
                f"{word} must be a multiple of the time between frames, which is 0 or differs between these "
                "frames. Give `timestep` when they are read, or leave out trajectories with another spacing."
            )
        if timestep is None and self.parsed:
            raise InputValueError(
                f"{word} needs the time between frames; got a lag time of {duration(self.lag, 'ps')} for "
                "frames without times. Give `timestep`."
            )
        step, unit = (1.0, "frames") if timestep is None else (timestep, "ps")
        found = round(self.lag / step)
        if self.lag < step * (1 - 1e-6) or found < 1:
            raise InputValueError(
                f"{word} must be at least the time between frames, {duration(step, unit)}; got "
                f"{duration(self.lag, unit)}. Give a longer lag time, or read more frames (`stride`)."
            )
        if found >= longest:
            raise InputValueError(
                f"{word} must be shorter than the longest trajectory, "
                f"{duration((longest - 1) * step, unit)}; got {duration(self.lag, unit)}. Give a shorter lag "
                "time."
            )
        return found

    def fit(
        self,
        halves: list[Moments],
        *,
        lag: int,
        timestep: float | None,
        inputs: tuple[str, ...],
        periods: tuple[float | None, ...],
        column_weights: np.ndarray | None,
    ) -> Components:
        """Return the components of features.

        Parameters
        ----------
        halves : list of Moments
            The moments of the features, with cosines and sines for periodic ones, in two halves of the data.
        lag : int
            The lag time in frames.
        timestep : float or None
            The time between frames in ps.
        inputs, periods, column_weights
            The names, periods and weights of the features.
        """
        moments = halves[0] if len(halves) == 1 else halves[0] + halves[1]
        spread = np.sqrt(np.clip(np.diag(moments.covariances(reversible=True).cov_00), 0, None))
        places = column_places(periods)
        self._check_columns(moments, inputs, spread, places)
        # The choice of singular directions must not depend on units.
        factors = np.ones(len(spread)) if self.method == "PCA" else 1 / np.where(spread > 0, spread, 1)
        values, vectors = _ordered(self._decompose(moments.scaled(factors)))
        vectors = vectors * factors[:, None]
        available = vectors.shape[1]
        if self.dim is not None and self.dim > available:
            raise InputValueError(
                f"`{self._word('dim')}` must have at most {available} components, the number of independent "
                f"features; got {self.dim}. Give fewer, or more features."
            )
        dim, reason = self._choose([half.scaled(factors) for half in halves], values, lag, moments.n)
        dim = min(dim, available)
        values, vectors, all_values = values[:dim], vectors[:, :dim], values
        cov = moments.covariances(reversible=self.method != "VAMP")
        correlations = _correlations(cov.cov_00, vectors, places)
        signs = _signs(cov.cov_00, vectors, spread)
        scale = values if self.kinetic_map and self.method != "PCA" else np.ones(dim)
        shares = all_values if self.method == "PCA" else all_values**2
        return Components(
            method=self.method,
            inputs=inputs,
            periods=periods,
            column_weights=column_weights,
            mean=cov.mean_0,
            matrix=vectors * signs * scale,
            eigenvalues=values,
            shares=values * (1 if self.method == "PCA" else values) / shares.sum(),
            correlations=correlations * np.where(_is_single(places)[:, None], signs, 1),
            lag=lag or None,
            lag_time=None if timestep is None or not lag else lag * timestep,
            reason=reason,
        )

    def _decompose(self, moments: Moments) -> Any:
        from deeptime.decomposition import TICA, VAMP

        if self.method == "PCA":
            return moments.covariances(reversible=True).cov_00
        if self.method == "TICA":
            return (
                TICA(epsilon=_SINGULAR, scaling=None).fit(moments.covariances(reversible=True)).fetch_model()
            )
        return VAMP(epsilon=_SINGULAR, scaling=None).fit(moments.covariances(reversible=False)).fetch_model()

    def _choose(self, halves: list[Moments], values: np.ndarray, lag: int, n_pairs: int) -> tuple[int, str]:
        """Return the number of components and the reason for it."""
        if self.dim is not None:
            return self.dim, ""
        if self.method == "PCA":
            shares = np.cumsum(values) / values.sum()
            dim = min(int(np.searchsorted(shares, _VARIANCE)) + 1, _MOST)
            return dim, f"{100 * shares[dim - 1]:.0f} % of the variance; at most {_MOST}"
        if len(halves) < 2:
            return 1, (
                "one component, because the data are too short to be divided into halves that test it. A "
                "shorter lag time may show more"
            )

        def fit(part: Moments) -> np.ndarray:
            return _ordered(self._decompose(part))[1]

        found = left_out_correlations(halves, fit, lag=lag)
        return slow_components(found, n_pairs=n_pairs, lag=lag)

    def _check_columns(
        self, moments: Moments, inputs: tuple[str, ...], spread: np.ndarray, places: list[np.ndarray]
    ) -> None:
        """Warn of constant or equal columns; raise if all are constant."""
        rounding = 1e-7 * (1 + np.abs(moments.mean_0))  # float32 values that are equal have this spread
        constant = [
            name for name, at in zip(inputs, places, strict=True) if (spread[at] <= rounding[at]).all()
        ]
        if len(constant) == len(inputs):
            raise InputValueError(
                f"Features must vary; {shorten(inputs)} {'is' if len(inputs) == 1 else 'are'} constant. "
                "Choose others."
            )
        if constant:
            warn_user(
                f"{len(constant)} of {len(inputs):,} features are constant and add nothing: "
                f"{shorten(constant)}. Leave them out."
            )
        twins = _equal_columns(moments, spread, places)
        if twins:
            pairs = shorten([f"{inputs[a]} and {inputs[b]}" for a, b in twins])
            warn_user(f"Some features are equal, and one of each pair adds nothing: {pairs}. Leave it out.")


def column_places(periods: tuple[float | None, ...]) -> list[np.ndarray]:
    """Return the columns of each feature among the embedded ones: one column, or a cosine and a sine.

    Examples
    --------
    >>> [place.tolist() for place in column_places((360.0, None, 180.0))]
    [[1, 3], [0], [2, 4]]
    """
    periodic = [at for at, period in enumerate(periods) if period is not None]
    plain = [at for at, period in enumerate(periods) if period is None]
    found = {at: np.array([place]) for place, at in enumerate(plain)}
    for place, at in enumerate(periodic, start=len(plain)):
        found[at] = np.array([place, place + len(periodic)])
    return [found[at] for at in range(len(periods))]


def _is_single(places: list[np.ndarray]) -> np.ndarray:
    return np.array([len(at) == 1 for at in places])


def _ordered(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues or singular values in descending order, and the coefficients of the components."""
    if isinstance(model, np.ndarray):
        values, vectors = np.linalg.eigh(model)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > _SINGULAR**2 * values[0]
        return values[kept], vectors[:, kept]
    values = np.asarray(model.singular_values)
    vectors = np.asarray(model.singular_vectors_left)[:, : len(values)]
    return values, vectors


def _correlations(c_00: np.ndarray, vectors: np.ndarray, places: list[np.ndarray]) -> np.ndarray:
    """Return the correlation of each feature with each component; for cosine and sine the multiple one."""
    norms = np.sqrt(np.einsum("ek,ef,fk->k", vectors, c_00, vectors, optimize=True))
    covariances = c_00 @ vectors / norms
    found = np.empty((len(places), vectors.shape[1]))
    for row, at in zip(found, places, strict=True):
        if len(at) == 1:
            row[:] = covariances[at[0]] / np.sqrt(max(c_00[at[0], at[0]], np.finfo(float).tiny))
        else:
            inverse = np.linalg.pinv(c_00[np.ix_(at, at)], rcond=1e-12, hermitian=True)
            row[:] = np.sqrt(
                np.clip(np.einsum("ak,ab,bk->k", covariances[at], inverse, covariances[at]), 0, 1)
            )
    return found.clip(-1, 1)


def _signs(c_00: np.ndarray, vectors: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the signs that make the largest correlation of each component with a feature positive."""
    scaled = (c_00 @ vectors) / np.maximum(spread, np.finfo(float).tiny)[:, None]
    scaled[spread == 0] = 0
    strongest = np.abs(scaled).argmax(axis=0)
    return np.where(scaled[strongest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def _equal_columns(moments: Moments, spread: np.ndarray, places: list[np.ndarray]) -> list[tuple[int, int]]:
    """Return features that are equal in all rows, among those that are not periodic and vary."""
    single = [at for at, place in enumerate(places) if len(place) == 1 and spread[place[0]] > 0]
    rows = np.array([places[at][0] for at in single], np.int64)
    # Equal columns have equal means and equal products with every column.
    keys: dict[tuple[float, float], list[int]] = {}
    for at, row in zip(single, rows.tolist(), strict=True):
        keys.setdefault((float(moments.mean_0[row]), float(moments.c_00[row, row])), []).append(at)
    return [
        (group[0], other)
        for group in keys.values()
        for other in group[1:]
        if np.array_equal(moments.c_00[places[group[0]][0]], moments.c_00[places[other][0]])
    ]


def describe(components: Components) -> str:
    """Return a line that describes components, for messages.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> walk = np.random.default_rng(0).normal(size=(500, 2)).cumsum(axis=0)
    >>> describe(mf.pca(mf.Features(walk), dim=1).components)
    'PCA: 1 component of 2 features'
    """
    number = counted(len(components), "component")
    text = f"{components.method}: {number} of {counted(components.n_inputs, 'feature')}"
    if components.lag_time is not None:
        text += f" at a lag time of {duration(components.lag_time, 'ps')}"
    elif components.lag is not None:
        text += f" at a lag time of {components.lag} frames"
    return text + (f"; {components.reason}" if components.reason else "")

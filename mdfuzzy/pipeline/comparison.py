"""Comparison of two states: the features that differ most between their frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, check_type, read_only
from mdfuzzy.frames.bootstrap import bootstrap_units, interval, statistical_inefficiency
from mdfuzzy.frames.features import Features
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.pipeline.describing import describe_frames

#: The most pairs of states that are compared for pictures and tables.
_PAIRS = 4
_TINY = np.finfo(float).tiny
#: Number of columns whose sums are computed together.
_AT_ONCE = 500


@dataclass(frozen=True, eq=False, kw_only=True)
class StateComparison(ReadOnly):
    """Compare the means of features in two states, in units of their standard deviation.

    Attributes
    ----------
    states : (int, int)
        The two states, a and b.
    names, units : tuple of d str
        The features.
    means : (2, d) float64
        The means in each state; circular means for periodic features.
    difference : (d,) float64
        Mean of a minus mean of b; for periodic features the smaller of the two angular differences, with its
        sign.
    effect : (d,) float64
        The difference divided by the pooled standard deviation (Cohen's d); 1 is about the width of a state.
    low, high : (d,) float64
        The bootstrap interval of the effect; NaN where it is unknown.
    confidence : float
        The confidence level of the interval.
    resampled : str
        The units that the bootstrap draws: trajectories or blocks.

    See Also
    --------
    compare_states : Compare two states.
    plots.state_differences : Plot the comparison.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(600, 2)) + [[8, 0]] * (np.arange(600)[:, None] // 100 % 2)
    >>> result = mf.cluster(mf.Features(values, names=["distance", "angle"]))
    >>> found = mf.compare_states(result, 0, 1)
    >>> found.order[0], found.names[found.order[0]]
    (np.int64(0), 'distance')
    """

    states: tuple[int, int]
    names: tuple[str, ...]
    units: tuple[str, ...]
    means: np.ndarray
    difference: np.ndarray
    effect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    resampled: str

    def __post_init__(self) -> None:
        for name in ("means", "difference", "effect", "low", "high"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __repr__(self) -> str:
        a, b = self.states
        best = self.order[0]
        return (
            f"StateComparison(states {a} and {b}: {len(self.names):,} features, the largest difference in "
            f"{self.names[best]}, {self.effect[best]:+.2g} standard deviations)"
        )

    @property
    def order(self) -> np.ndarray:
        """The features sorted by the interval end that is closer to 0, the largest first."""
        with np.errstate(invalid="ignore"):
            sure = np.minimum(np.abs(self.low), np.abs(self.high)) * (np.sign(self.low) == np.sign(self.high))
        known = np.isfinite(self.low) & np.isfinite(self.high)
        return np.lexsort((-np.abs(self.effect), -np.where(known, sure, 0)))

    def table(self, *, n_features: int = 15) -> str:
        """Return a text table of the features that differ most.

        Parameters
        ----------
        n_features : int
            The number of features.
        """
        a, b = self.states
        chosen = self.order[: check_int("n_features", n_features, 1)].tolist()
        names = [self.names[at] + (f" ({self.units[at]})" if self.units[at] else "") for at in chosen]
        width = max(map(len, [*names, "feature"]))
        interval_head = f"{self.confidence:.0%} interval"
        lines = [f"{'feature':<{width}}{f'state {a}':>10}{f'state {b}':>10}{'effect':>8}{interval_head:>18}"]
        for at, name in zip(chosen, names, strict=True):
            ends = f"[{self.low[at]:+.2f}, {self.high[at]:+.2f}]"
            lines.append(
                f"{name:<{width}}{self.means[0, at]:>10.3g}{self.means[1, at]:>10.3g}{self.effect[at]:>+8.2f}"
                f"{ends:>18}"
            )
        return "\n".join(lines)


def compare_states(
    result: Clustering,
    a: int,
    b: int,
    *,
    features: Features | None = None,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> StateComparison:
    r"""Find the features that differ most between two states.

    The effect size is Cohen's d, :math:`(\bar x_a - \bar x_b) / s` with the pooled standard deviation s of
    the two states. Frames are not independent, so the interval comes from a bootstrap of whole trajectories,
    or of blocks if there are few trajectories. Weighted frames count by their weights.

    Parameters
    ----------
    result : Clustering
        A clustering of frames or features.
    a, b : int
        The two states.
    features : Features, optional
        Features of the same frames. The default is the clustered features; if components (TICA) of features
        were clustered, it is these features, computed again from the files for up to 10,000 frames of each
        state. If frames were compared by RMSD, it is the backbone torsions.
    n_bootstrap : int
        Number of bootstrap samples.
    confidence : float
        The confidence level of the interval.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    StateComparison

    Raises
    ------
    ValueError
        If the features describe other frames, or there are none.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=10)
    >>> result = mf.cluster(frames, mf.Settings(n_states=3))
    >>> print(mf.compare_states(result, 0, 1).table())
    feature...state 0...state 1...effect...95% interval
    phi ALA2 (degrees)...
    psi ALA2 (degrees)...
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    for name, state in (("a", a), ("b", b)):
        check_int(name, state, 0, result.n_states - 1, remedy="It is the number of a state.")
    if a == b:
        raise InputValueError(f"`a` and `b` must be different states; got {a} twice.")
    check_real("confidence", confidence, above=0, at_most=1)
    labels = result.memberships.hard
    both = np.stack([labels == a, labels == b])
    if features is None:
        described = describe_frames(result.data, both)
        data, frames = described.features, described.frames
    else:
        data, frames = features, np.arange(len(result))
        if len(data) != len(result):
            raise InputValueError(
                f"`features` must be of the frames of `result`, {len(result):,}; got {len(data):,}."
            )
    assert result.data is not None, "there are features"
    weights = np.ones(len(labels)) if result.data.weights is None else result.data.weights
    series = result.data.split(both[0].astype(np.float64) - both[1])
    units = bootstrap_units(result.data.lengths, inefficiency=statistical_inefficiency(series))
    drawn = units.draw(n_bootstrap, seed=seed)
    samples = np.concatenate([np.ones((1, len(units)), np.int64), drawn])
    unit_of = np.repeat(np.arange(len(units)), units.lengths)[frames]
    counted = (both * weights)[:, frames]
    # Each state counts with all its frames, also if some of them were described.
    counted *= ((both * weights).sum(axis=1) / np.maximum(counted.sum(axis=1), _TINY))[:, None]
    parts = []
    for first in range(0, data.columns.shape[1], _AT_ONCE):
        at = slice(first, first + _AT_ONCE)
        sums = _sums(data.columns[:, at], data.periods[at], counted, unit_of, len(units))
        parts.append(_effects(samples, sums, data.periods[at]))
    means, difference, effect = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    known = effect[1:][np.isfinite(effect[1:]).all(axis=1)]
    low, high = interval(known, confidence)
    return StateComparison(
        states=(a, b),
        names=data.names,
        units=data.units,
        means=means,
        difference=difference,
        effect=effect[0],
        low=np.broadcast_to(low, effect[0].shape),
        high=np.broadcast_to(high, effect[0].shape),
        confidence=confidence,
        resampled=units.words,
    )


def pairs_to_compare(result: Clustering) -> list[tuple[int, int]]:
    """Return the pairs of states with most transitions, then those of the largest states; at most four.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=10)
    >>> len(pairs_to_compare(mf.cluster(frames, mf.Settings(n_states=3))))
    3
    """
    largest = list(combinations(range(min(result.n_states, _PAIRS)), 2))
    counts: dict[tuple[int, int], int] = {}
    regions = result.transition_regions
    if regions is not None and regions.transitions is not None:
        seen = [*regions.others.tolist(), *np.column_stack([regions.pairs, regions.transitions]).tolist()]
        counts = {(min(a, b), max(a, b)): number for a, b, number in seen if number}
    pairs = [*sorted(counts, key=lambda pair: (-counts[pair], pair)), *largest]
    return list(dict.fromkeys(pairs))[:_PAIRS]


def _sums(
    values: np.ndarray,
    periods: tuple[float | None, ...],
    weights: np.ndarray,
    unit_of: np.ndarray,
    n_units: int,
) -> np.ndarray:
    """Return sums over the frames of every unit, (2 states, units, 4, d): weights, moments, and the centre.

    The first and second moments are about the centre. For periodic columns they are the sums of the cosine
    and of the sine.
    """
    found = np.zeros((2, n_units, 3, values.shape[1]))
    present, starts = np.unique(unit_of, return_index=True)
    turn = np.array([np.nan if period is None else 2 * np.pi / period for period in periods])
    periodic = np.isfinite(turn)
    centre = values.mean(axis=0, dtype=np.float64)
    for state in (0, 1):
        weight = weights[state][:, None]
        found[state, present, 0] = np.add.reduceat(weight, starts)
        first = values - centre
        second = first**2
        angles = values[:, periodic] * turn[periodic]
        first[:, periodic], second[:, periodic] = np.cos(angles), np.sin(angles)
        found[state, present, 1] = np.add.reduceat(weight * first, starts)
        found[state, present, 2] = np.add.reduceat(weight * second, starts)
    return np.concatenate([found, np.broadcast_to(centre, (2, n_units, 1, len(centre)))], axis=2)


def _effects(
    samples: np.ndarray, sums: np.ndarray, periods: tuple[float | None, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the means (2, d) and difference (d,) of the first sample, and the effect in every sample."""
    centre = sums[0, 0, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        total, first, second = (np.einsum("su,kud->ksd", samples, sums[:, :, each]) for each in (0, 1, 2))
        first, second = first / total, second / total
        means = first + centre
        variances = np.clip(second - first**2, 0, None)
        differences = means[0] - means[1]
        for at, period in _periodic(periods):
            radius = period / (2 * np.pi)
            means[..., at] = radius * np.arctan2(second[..., at], first[..., at])
            length = np.clip(np.hypot(first[..., at], second[..., at]), 1e-12, 1)
            variances[..., at] = -2 * np.log(length) * radius**2
            apart = means[0, :, at] - means[1, :, at]
            differences[:, at] = apart - period * np.round(apart / period)
        pooled = np.sqrt((total * variances).sum(axis=0) / total.sum(axis=0))
        effects = np.where(differences == 0, 0.0, differences / pooled)
    return means[:, 0], differences[0], effects


def _periodic(periods: tuple[float | None, ...]) -> Iterator[tuple[int, float]]:
    for at, period in enumerate(periods):
        if period is not None:
            yield at, period

"""Comparison of ensembles: fractions of states, free energies, and significant differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, check_type, read_only
from mdfuzzy.ensembles._parts import Parts
from mdfuzzy.ensembles._permutation import permutation_test
from mdfuzzy.ensembles.difference import EnsembleDifference, free_energy_differences, thermal_energies
from mdfuzzy.ensembles.mixing import neighbor_mixing
from mdfuzzy.frames.bootstrap import interval
from mdfuzzy.frames.ensembles import Ensembles
from mdfuzzy.pipeline.clustering import Clustering

#: A state with less than this share of its weight outside one ensemble is found in this ensemble only.
_ALONE = 0.01
#: Below this mixing, almost all neighbours of a frame are from its own ensemble.
SEPARATE = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleComparison(ReadOnly):
    """Hold the comparison of ensembles that were clustered together, as made by `compare_ensembles`.

    Attributes
    ----------
    names : tuple of str
        The ensembles.
    fractions : (E, K) float64
        The fraction of each ensemble in each state.
    low, high : (E, K) float64
        The ends of their confidence intervals; NaN if there is nothing to draw.
    visitors : (E, K) int64
        The number of trajectories of each ensemble that visit each state.
    trajectories : (E,) int64
        The number of trajectories of each ensemble.
    drawn : tuple of str
        The independent units of the bootstrap and of the test, for each ensemble.
    alone : tuple of str
        For each state the only ensemble that visits it (99 % of its weight); empty if several do.
    differences : tuple of EnsembleDifference
        The differences of each pair of ensembles.
    unit : str
        The unit of the free energies: "kT" or "kJ/mol".
    level : float
        Differences with a smaller p are significant.
    confidence : float
        The confidence level of the intervals.

    See Also
    --------
    compare_ensembles : Compute the comparison.
    plots.ensemble_fractions : Plot the fractions.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> shares = [0.3] * 6 + [0.6] * 6
    >>> points = [rng.normal(size=(100, 2)) + 6 * (rng.random(100) < s)[:, None] for s in shares]
    >>> mf.compare_ensembles(mf.cluster(points), ["cold"] * 6 + ["hot"] * 6)
    EnsembleComparison(cold, hot; 2 states)
    """

    names: tuple[str, ...]
    fractions: np.ndarray
    low: np.ndarray
    high: np.ndarray
    visitors: np.ndarray
    trajectories: np.ndarray
    drawn: tuple[str, ...]
    alone: tuple[str, ...]
    differences: tuple[EnsembleDifference, ...]
    unit: str
    level: float
    confidence: float

    def __post_init__(self) -> None:
        for name in ("fractions", "low", "high"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))
        for name in ("visitors", "trajectories"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.int64)))

    def __len__(self) -> int:
        return self.fractions.shape[1]

    def __repr__(self) -> str:
        return f"EnsembleComparison({', '.join(self.names)}; {len(self)} states)"

    @property
    def significant(self) -> np.ndarray:
        """Which states differ significantly in any pair of ensembles, (K,) bool."""
        return np.any([each.p < self.level for each in self.differences], axis=0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the reliability of the numbers, a sentence each."""
        notes = [
            f"{name} has {count} trajector{'y' if count == 1 else 'ies'}, so {drawn} count as independent."
            for name, count, drawn in zip(self.names, self.trajectories, self.drawn, strict=True)
            if drawn != "whole trajectories"
        ]
        for each in self.differences:
            pair = f"{each.first} and {each.second}"
            if not each.least_p < self.level:
                notes.append(
                    f"{pair}: no difference can be significant with so few trajectories or blocks (smallest "
                    f"p: {each.least_p:.2g})."
                )
            if each.mixing < SEPARATE:
                notes.append(
                    f"{pair} hardly overlap (mixing {each.mixing:.2g}): the states mostly tell which system "
                    "a frame is from. Compare fewer atoms, or features that both have in common."
                )
        return tuple(notes)

    def __str__(self) -> str:
        percent = f"{100 * self.confidence:g} %"
        lines = [f"fractions of the states in each ensemble, with {percent} intervals"]
        lines.append("state" + "".join(f"{name:>28}" for name in self.names) + "  found only in")
        for state in range(len(self)):
            cells = [
                f"{self.fractions[e, state]:>9.2%} [{self.low[e, state]:>6.2%}, {self.high[e, state]:>6.2%}]"
                for e in range(len(self.names))
            ]
            lines.append(f"{state:<5}" + "".join(f"{cell:>28}" for cell in cells) + f"  {self.alone[state]}")
        for each in self.differences:
            lines += [
                "",
                f"{each.second} - {each.first}: mixing {each.mixing:.2f}, overlap {each.overlap:.2f}",
            ]
            lines.append(f"state{f'free energy ({self.unit})':>24}{'interval':>22}{'p (corrected)':>16}")
            for state in range(len(self)):
                mark = " *" if each.p[state] < self.level else ""
                span = f"[{each.low[state]:.2f}, {each.high[state]:.2f}]"
                lines.append(
                    f"{state:<5}{each.free_energy[state]:>24.2f}{span:>22}{each.p[state]:>16.3g}{mark}"
                )
        return "\n".join([*lines, *self.notes])


def compare_ensembles(
    result: Clustering,
    ensembles: Sequence[str] | None = None,
    *,
    temperature: float | Mapping[str, float] | None = None,
    n_bootstrap: int = 1000,
    n_permutations: int = 9999,
    confidence: float = 0.95,
    level: float = 0.05,
    seed: int = 0,
) -> EnsembleComparison:
    r"""Compare the ensembles of a clustering, state by state.

    The fraction of state s in ensemble e is :math:`f_{es}`, and the difference in free energy of a state
    :math:`-kT \ln (f_{bs} / f_{as})`. Intervals are from a bootstrap of the trajectories, and p-values from a
    permutation test of the trajectories, corrected for the number of states and of pairs of ensembles. An
    ensemble with fewer than five trajectories is cut into blocks that are long compared with its correlation
    time.

    Parameters
    ----------
    result : Clustering
        The clustering of all ensembles together.
    ensembles : sequence of str, optional
        The ensemble of each trajectory; by default those with which the data was loaded.
    temperature : float or mapping of str to float, optional
        The temperature in K, of all ensembles or of each: free energies are then in kJ/mol. By default they
        are in kT.
    n_bootstrap : int
        Number of bootstrap samples.
    n_permutations : int
        Number of random permutations; all of them are used if there are fewer.
    confidence : float
        The confidence level of the intervals, in (0, 1).
    level : float
        Differences with a smaller p are called significant; in (0, 1).
    seed : int
        Random seed of the bootstrap and the permutations.

    Returns
    -------
    EnsembleComparison

    Raises
    ------
    ValueError
        If there are no ensembles, or not one for each trajectory.

    See Also
    --------
    load : Load several ensembles, as a dict.
    state_fractions : The fractions of one ensemble.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> def trajectory(share):  # of frames near (6, 6)
    ...     return rng.normal(size=(100, 2)) + 6 * (rng.random(100) < share)[:, None]
    >>> result = mf.cluster([trajectory(s) for s in [0.3] * 6 + [0.6] * 6])
    >>> found = mf.compare_ensembles(result, ["cold"] * 6 + ["hot"] * 6)
    >>> found.fractions.round(1), found.significant
    (array([[0.7, 0.3],
           [0.4, 0.6]]), array([ True,  True]))
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    of = _ensembles(result, ensembles)
    assert result.data is not None, "it has trajectories"
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, 0)
    n_permutations = check_int("n_permutations", n_permutations, 1)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    level = check_real("level", level, above=0, at_most=1)
    seed = check_int("seed", seed, 0)
    energies = thermal_energies(temperature, of.names)
    lengths, labels = result.data.lengths, result.labels
    weights = np.ones(len(labels)) if result.data.weights is None else result.data.weights
    trajectory = np.repeat(np.arange(len(lengths)), lengths)
    parts = [
        Parts.of(labels, weights, lengths, trajectory, np.flatnonzero(of.of == e), result.n_states)
        for e in range(len(of))
    ]
    draws = [part.bootstrap(n_bootstrap, seed + e) for e, part in enumerate(parts)]
    fractions = np.array([part.fractions for part in parts])
    ends = np.array([interval(drawn, confidence) for drawn in draws])
    visitors = np.array([part.visitors for part in parts])
    mixing = _mixing(result, of, parts, trajectory, weights)
    pairs = list(combinations(range(len(of)), 2))
    differences = []
    for a, b in pairs:
        free_energy = free_energy_differences(fractions[a], fractions[b], energies[a], energies[b])
        low, high = interval(
            free_energy_differences(draws[a], draws[b], energies[a], energies[b]), confidence
        )
        sums = np.concatenate([parts[a].sums, parts[b].sums])
        totals = np.concatenate([parts[a].totals, parts[b].totals])
        p, least = np.full(result.n_states, np.nan), np.nan
        if min(len(parts[a].totals), len(parts[b].totals)) > 1:
            found = permutation_test(
                sums, totals, len(parts[a].totals), n_permutations=n_permutations, seed=seed
            )
            p, least = np.minimum(len(pairs) * found.corrected, 1.0), min(len(pairs) * found.least, 1.0)
        differences.append(
            EnsembleDifference(
                first=of.names[a],
                second=of.names[b],
                free_energy=free_energy,
                low=low,
                high=high,
                p=p,
                least_p=least,
                mixing=float(mixing[a, b]),
                overlap=float(np.minimum(fractions[a], fractions[b]).sum()),
            )
        )
    shares = fractions / np.maximum(fractions.sum(axis=0), 1e-300)
    alone = [
        of.names[int(e)] if share > 1 - _ALONE else ""
        for e, share in zip(shares.argmax(0), shares.max(0), strict=True)
    ]
    return EnsembleComparison(
        names=of.names,
        fractions=fractions,
        low=ends[:, 0],
        high=ends[:, 1],
        visitors=visitors,
        trajectories=np.array([len(part.trajectories) for part in parts]),
        drawn=tuple(part.units.words for part in parts),
        alone=tuple(alone),
        differences=tuple(differences),
        unit="kT" if temperature is None else "kJ/mol",
        level=level,
        confidence=confidence,
    )


def _ensembles(result: Clustering, ensembles: Sequence[str] | None) -> Ensembles:
    """Return the ensemble of each trajectory, or raise."""
    if result.data is None:
        raise InputValueError("`result` must be of trajectories; got one of neighbours alone.")
    if ensembles is None:
        if result.data.ensembles is None:
            raise InputValueError(
                "`ensembles` must name the ensemble of each trajectory, as the data was not loaded as a dict "
                "of ensembles. Use compare_ensembles(result, ['wt', 'wt', 'mutant'])."
            )
        return result.data.ensembles
    if len(ensembles) != result.data.n_trajectories:
        raise InputValueError(
            f"`ensembles` must hold one name for each trajectory; got {len(ensembles)} for "
            f"{result.data.n_trajectories} trajectories."
        )
    names = tuple(dict.fromkeys(map(str, ensembles)))
    if len(names) < 2:
        raise InputValueError(f"`ensembles` must name at least 2 ensembles; got only {names[0]!r}.")
    return Ensembles(names=names, of=np.array([names.index(str(each)) for each in ensembles]))


def _mixing(
    result: Clustering, of: Ensembles, parts: Sequence[Parts], trajectory: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    numbers = np.empty(len(trajectory), np.int64)
    count = 0
    for part in parts:
        numbers[part.frames] = count + part.number
        count += len(part.totals)
    # Only the frames on which the states were found have neighbours.
    chosen = slice(None) if result.sample is None else result.sample.frames
    of_each = of.of[trajectory[chosen]]
    return neighbor_mixing(result.neighbors, of_each, numbers[chosen], weights[chosen], len(of))

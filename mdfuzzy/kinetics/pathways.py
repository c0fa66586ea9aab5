"""Fluxes and pathways from one state to another by transition-path theory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, read_only
from mdfuzzy._messages import duration, time_span
from mdfuzzy.frames.bootstrap import interval
from mdfuzzy.kinetics.dtrajs import Milestoned
from mdfuzzy.kinetics.equilibrium import bootstrap_models
from mdfuzzy.kinetics.markov import check_dtrajs, check_lag, unit_of_times

if TYPE_CHECKING:
    from deeptime.markov import ReactiveFlux
    from deeptime.markov.msm import MarkovStateModel


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pathways(ReadOnly):
    """Hold the equilibrium flux from one state to another, and the pathways that carry it.

    Attributes
    ----------
    source, target : int
        The states at the ends of the pathways.
    states : (K,) int64
        The states of the Markov model, in the order of `committor` and of `net_flux`.
    committor : (K,) float64
        The probability to reach the target before the source.
    net_flux : (K, K) float64
        Net number of transitions per `unit` of time on the way from the source to the target: forward minus
        backward.
    flux, flux_low, flux_high : float
        The total flux: the number of passages per `unit` of time from the source to the target.
    time, time_low, time_high : float
        The mean first-passage time from the source to the target, in `unit`.
    paths : tuple of (m_i,) int64 arrays
        The states along each pathway; the pathways with the largest flux come first.
    shares, shares_low, shares_high : (P,) float64
        The fraction of the flux that each pathway carries; 0 in a bootstrap sample without the pathway.
    unit : str
        "ps" or "frames".
    n_bootstrap : int
        The number of bootstrap samples.
    confidence : float
        The confidence level of the intervals.

    See Also
    --------
    kinetics.find_pathways : Compute the pathways.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.abs(np.cumsum(rng.integers(-1, 2, size=5000)) % 4 - 2) for _ in range(6)]  # 0 - 1 - 2
    >>> mf.kinetics.find_pathways(dtrajs, 0, 2, lag=1).paths
    (array([0, 1, 2]),)
    """

    source: int
    target: int
    states: np.ndarray
    committor: np.ndarray
    net_flux: np.ndarray
    flux: float
    flux_low: float
    flux_high: float
    time: float
    time_low: float
    time_high: float
    paths: tuple[np.ndarray, ...]
    shares: np.ndarray
    shares_low: np.ndarray
    shares_high: np.ndarray
    unit: str
    n_bootstrap: int
    confidence: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", read_only(np.asarray(self.states, np.int64)))
        for name in ("committor", "net_flux", "shares", "shares_low", "shares_high"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), np.float64)))

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return (
            f"Pathways({self.source} to {self.target}: {len(self)} pathways, mean first-passage time "
            f"{duration(self.time, self.unit)})"
        )

    def __str__(self) -> str:
        lines = [
            f"pathways from {self.source} to {self.target}; mean first-passage time "
            f"{duration(self.time, self.unit)} ({time_span(self.time_low, self.time_high, self.unit)})",
            f"{'share':>7}{'interval':>16}  pathway",
        ]
        for path, share, low, high in zip(
            self.paths, self.shares, self.shares_low, self.shares_high, strict=True
        ):
            span = f"{low:.0%} to {high:.0%}" if np.isfinite([low, high]).all() else "not known"
            lines.append(f"{share:>7.1%}{span:>16}  {' -> '.join(map(str, path.tolist()))}")
        return "\n".join(lines)


def find_pathways(
    dtrajs: Sequence[np.ndarray] | Milestoned,
    source: int | None = None,
    target: int | None = None,
    *,
    lag: int,
    timestep: float | None = None,
    fraction: float = 0.99,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> Pathways:
    """Find the pathways from one state to another by transition-path theory (deeptime).

    Parameters
    ----------
    dtrajs : Milestoned, or sequence of (n_i,) int arrays
        One array of states per trajectory, none negative.
    source, target : int, optional
        Two states of the model. By default the most populated states on the two sides of its slowest process.
    lag : int
        Lag time of the model in frames.
    timestep : float, optional
        Time between frames in ps; without it all times are in frames.
    fraction : float
        Pathways are listed until they carry this fraction of the flux.
    n_bootstrap : int
        Number of bootstrap samples; 0 for no intervals.
    confidence : float
        The confidence level of the intervals.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Pathways

    Raises
    ------
    ValueError
        If the model has no such states, or they are the same.

    See Also
    --------
    kinetics.estimate_equilibrium : Populations, and passage times between all states.

    References
    ----------
    * F. Noé, C. Schütte, E. Vanden-Eijnden, L. Reich and T. R. Weikl, *Constructing the Equilibrium Ensemble
      of Folding Pathways from Short Off-Equilibrium Simulations*, PNAS 106 (2009) 19011-19016.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> dtrajs = [np.abs(np.cumsum(rng.integers(-1, 2, size=5000)) % 4 - 2) for _ in range(6)]  # 0 - 1 - 2
    >>> print(mf.kinetics.find_pathways(dtrajs, 0, 2, lag=1))
    pathways from 0 to 2; mean first-passage time ... frames (... to ... frames)
      share        interval  pathway
     100.0%    100% to 100%  0 -> 1 -> 2
    """
    dtrajs, unit, scale = check_dtrajs(dtrajs), *unit_of_times(timestep)
    lag = check_lag(lag, dtrajs)
    fraction = check_real("fraction", fraction, above=0, at_most=1)
    confidence = check_real("confidence", confidence, above=0, at_most=1)
    model, states, drawn, _ = bootstrap_models(dtrajs, lag, n_bootstrap=n_bootstrap, seed=seed)
    first, last = _ends(model, states, source, target)
    flow = model.reactive_flux([first], [last])
    total = flow.total_flux / (scale * lag)
    paths = _paths(flow, fraction)
    fluxes, times, shares = [], [], []
    for found in drawn:
        symbols = [] if found is None else found.count_model.state_symbols.tolist()
        if found is None or first not in symbols or last not in symbols:
            fluxes.append(0.0)
            times.append(np.inf)
            shares.append(np.zeros(len(paths)))
            continue
        sampled = found.reactive_flux([symbols.index(first)], [symbols.index(last)])
        known = {
            tuple(symbols[place] for place in path): share for path, share in _paths(sampled, 1.0).items()
        }
        fluxes.append(sampled.total_flux / (scale * lag))
        times.append(scale * lag * sampled.mfpt)
        shares.append(np.array([known.get(path, 0.0) for path in paths]))
    (flux_low, flux_high), (time_low, time_high) = (
        interval(np.array(each), confidence) for each in (fluxes, times)
    )
    low, high = interval(np.array(shares).reshape(len(shares), len(paths)), confidence)
    return Pathways(
        source=int(states[first]),
        target=int(states[last]),
        states=states,
        committor=flow.forward_committor,
        net_flux=flow.net_flux / (scale * lag),
        flux=float(total),
        flux_low=float(flux_low),
        flux_high=float(flux_high),
        time=float(scale * lag * flow.mfpt),
        time_low=float(time_low),
        time_high=float(time_high),
        paths=tuple(states[list(path)].astype(np.int64) for path in paths),
        shares=np.array(list(paths.values())),
        shares_low=low,
        shares_high=high,
        unit=unit,
        n_bootstrap=len(fluxes),
        confidence=confidence,
    )


def _ends(
    model: "MarkovStateModel", states: np.ndarray, source: int | None, target: int | None
) -> tuple[int, int]:
    """Return the places of source and target among the states of the model."""
    known = states.tolist()
    remedy = f"The states of the Markov model are {', '.join(map(str, known))}."
    for name, state in (("source", source), ("target", target)):
        if state is not None and check_int(name, state, 0, remedy=remedy) not in known:
            raise InputValueError(f"`{name}` must be a state of the Markov model; got {state}. {remedy}")
    if source is not None and source == target:
        raise InputValueError(f"`source` and `target` must differ; got {source} twice. {remedy}")
    slowest = model.eigenvectors_right()[:, 1].real
    weights = model.stationary_distribution
    sides = [int(np.argmax(np.where(slowest * sign > 0, weights, -1.0))) for sign in (1, -1)]
    sides.sort(key=lambda place: -weights[place])
    if source is None and target is None:
        return sides[1], sides[0]  # to the more populated one
    given = known.index(source if source is not None else target)
    other = next(place for place in [*sides, *range(len(known))] if place != given)
    first = given if source is not None else other
    last = known.index(target) if target is not None else other
    return first, last


def _paths(flow: "ReactiveFlux", fraction: float) -> dict[tuple[int, ...], float]:
    """Return the pathways that carry a fraction of the flux, the strongest first, each with its share."""
    paths, fluxes = flow.pathways(fraction=fraction)
    return {
        tuple(int(place) for place in path): float(flux / flow.total_flux)
        for path, flux in zip(paths, fluxes, strict=True)
    }

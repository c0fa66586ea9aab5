"""Calibration of memberships: comparison with the core that the molecule reaches next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import (
    InputValueError,
    ReadOnly,
    check_choice,
    check_finite,
    check_int,
    check_real,
    read_only,
)
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics._forecasts import (
    Forecast,
    best_power,
    constant_guess,
    kmeans_committor,
    kmeans_coordinates,
    power_error,
    sharpened,
    state_frequencies,
)
from mdfuzzy.kinetics.outcomes import Case, Direction, make_case
from mdfuzzy.kinetics.reliability import Reliability, reliability
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.states.cores import Cores

CONSTANT, HARD, FITTED = "constant guess", "hard assignment", "hard assignment, fitted"
MEMBERSHIPS, SHARPENED, CHOSEN = "memberships", "memberships, sharpened", "memberships, beta by calibration"
COMMITTOR = "k-means Markov model"

#: Number of bootstrap samples for the intervals.
_RESAMPLES = 1000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Calibration(ReadOnly):
    """Hold the skill of memberships, and of reference forecasts, in predicting the next (or the last) core.

    Attributes
    ----------
    names : tuple of str
        The forecasts, one per row.
    scores : (r,) float64
        Mean over the scored frames of log(epsilon + probability of the observed core), in nats. Every
        trajectory is scored by forecasts fitted on other trajectories.
    skills : (r,) float64
        1 - score / score of the constant guess: the fraction of the uncertainty about the next core that is
        resolved. 0 for the constant guess, 1 for certainty, negative for worse than a constant guess.
    lower, upper : (r,) float64
        95 % intervals of the skills, from a bootstrap over whole trajectories.
    powers : (r,) float64
        The power to which the probabilities would have to be raised to be calibrated. With 1 they are
        calibrated, below 1 they are over-confident, above 1 they are too cautious.
    power_errors : (r,) float64
        Standard errors of the powers, with whole trajectories as the independent units.
    diagrams : tuple of Reliability
        The reliability diagrams, predicted against observed, one per row.
    direction : {"next", "last"}
        The predicted core.
    n_frames, n_transitions, n_trajectories : int
        The numbers of scored frames, of the transitions between cores that hold them, and of trajectories.

    See Also
    --------
    kinetics.calibration : Compute the calibration.
    plots.reliability : Plot the reliability diagrams.

    Examples
    --------
    A walk on a line between two cores; the memberships are its committor.

    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> walks = np.abs((np.cumsum(rng.choice([-1, 1], (10, 2000)), axis=1) + 4) % 16 - 8)
    >>> labels = np.where(walks == 0, 0, np.where(walks == 8, 1, -1)).ravel()
    >>> committor = np.stack([1 - walks.ravel() / 8, walks.ravel() / 8], axis=1)
    >>> data = mf.Features(list(walks[:, :, None].astype(float)))
    >>> found = mf.kinetics.calibration(data, committor, labels)
    >>> print(found)
    next core of ... frames in ... transitions of 10 trajectories
    ...
    """

    names: tuple[str, ...]
    scores: np.ndarray
    skills: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    powers: np.ndarray
    power_errors: np.ndarray
    diagrams: tuple[Reliability, ...]
    direction: Direction
    n_frames: int
    n_transitions: int
    n_trajectories: int

    def __post_init__(self) -> None:
        for name in ("scores", "skills", "lower", "upper", "powers", "power_errors"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.float64)))

    def __repr__(self) -> str:
        return f"Calibration({len(self.names)} forecasts, {self.direction} core of {self.n_frames:,} frames)"

    def __str__(self) -> str:
        lines = [
            f"{self.direction} core of {self.n_frames:,} frames in {self.n_transitions:,} transitions of "
            f"{self.n_trajectories} trajectories",
            f"{'':<36}{'skill':>7}  {'95 % interval':<18}{'power':>6}",
        ]
        if any("beta = " in name for name in self.names):
            lines[0] += f"; beta: {BETA_MEANS}"
        for at, name in enumerate(self.names):
            interval = f"{self.lower[at]:.3f} to {self.upper[at]:.3f}"
            lines.append(f"{name:<36}{self.skills[at]:>7.3f}  {interval:<18}{self.powers[at]:>6.2f}")
        return "\n".join(lines)

    def row(self, name: str) -> int:
        """Return the place of the forecast called `name`."""
        return self.names.index(check_choice("name", name, self.names))


def calibration(
    data: Trajectories,
    memberships: Memberships | BetaScan | npt.ArrayLike,
    cores: Cores | npt.ArrayLike,
    *,
    direction: Direction = "next",
    coordinates: npt.ArrayLike | None = None,
    frames: npt.ArrayLike | None = None,
    n_folds: int = 5,
    n_centers: int = 100,
    lag: int = 1,
    n_bins: int = 10,
    epsilon: float = 1e-3,
    seed: int = 0,
) -> Calibration:
    """Compare memberships with the core that the molecule reaches next, or came from.

    Frames inside cores are left out, and so are the ends of trajectories that never reach a core again.
    Column c of the memberships is the probability of core c; columns are not matched or permuted. All fits
    use some of the trajectories, and the scores use the others.

    The rows: the *constant guess* (how often each core comes next); the *hard assignment* (all on the largest
    membership), as it is and *fitted* (how often each core comes next from that state); the *memberships* as
    they are, and *sharpened* by the one power that suits the fitted trajectories; for a scan over beta, the
    memberships at every beta, and at the beta that is best on the fitted trajectories; and the committor of a
    *k-means Markov model* to the same cores. This model is fitted to the dynamics and serves as the reference
    to approach.

    Parameters
    ----------
    data : Frames or Features
        The trajectories, whose frames are in the order of time and evenly spaced.
    memberships : Memberships, BetaScan or (n, K) array
        The memberships to judge; a scan must hold its memberships.
    cores : Cores or (n,) int array
        The core of each frame, -1 outside. To compare several sets of memberships, pass the same cores for
        all of them.
    direction : {"next", "last"}
        The core to predict: the next one, or the last one that the molecule came from.
    coordinates : (n, d) array, optional
        The coordinates for k-means; by default the cosines and sines of all phi and psi of `Frames`, or the
        `Features`. Frames without torsions have no such row.
    frames : (n,) bool array, optional
        The frames to score; by default all.
    n_folds : int
        The number of folds of the cross-validation; at most the number of trajectories with transitions.
    n_centers : int
        The number of centres of k-means.
    lag : int
        Lag of the k-means Markov model, in frames.
    n_bins : int
        The number of bins of the reliability diagrams.
    epsilon : float
        A small number that keeps one confident mistake from dominating the score.
    seed : int
        Random seed of the folds, the centres and the bootstrap.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        If fewer than two trajectories hold transitions, or the memberships are of other frames or states.

    See Also
    --------
    kinetics.kinetic_criterion : Choose beta by this score.
    kinetics.find_outcomes : The core that the molecule reaches next.
    plots.reliability : Plot predicted against observed frequencies.

    References
    ----------
    * J. Bröcker and L. A. Smith, *Increasing the Reliability of Reliability Diagrams*, Weather and
      Forecasting 22 (2007) 651-661.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> wells = [np.sin(np.arange(300) / 9.0 + shift)[:, None] for shift in (0.0, 1.0, 2.0)]
    >>> data, x = mf.Features(wells), np.concatenate(wells)[:, 0]
    >>> labels = np.where(x < -0.9, 0, np.where(x > 0.9, 1, -1))
    >>> found = mf.kinetics.calibration(data, np.stack([x < 0, x >= 0], axis=1) * 1.0, labels)
    >>> found.names[:2], float(found.skills[0])
    (('constant guess', 'hard assignment'), 0.0)
    """
    case = make_case(data, cores, direction, frames)
    n_bins = check_int("n_bins", n_bins, 2)
    epsilon = check_real("epsilon", epsilon, above=0)
    kmeans = {
        "n_centers": check_int("n_centers", n_centers, 1),
        "lag": check_int("lag", lag, 1),
        "seed": seed,
    }
    fold, owner = _folds(case, check_int("n_folds", n_folds, 2), seed)
    forecasts = _forecasts(case, memberships, epsilon)
    coordinates = kmeans_coordinates(data, coordinates)
    if coordinates is not None:
        forecasts[COMMITTOR] = kmeans_committor(case, coordinates, **kmeans)
    outcomes, transitions = case.outcomes[case.scored], case.found.transitions[case.scored]
    turn = fold[owner]
    predictions = np.empty((len(forecasts), len(outcomes), case.n_states))
    for each in range(fold.max() + 1):
        train = fold[owner] != each
        asked = case.scored & ~train
        for predicted, fit in zip(predictions, forecasts.values(), strict=True):
            predicted[turn[case.scored] == each] = fit(train)[asked]
    return _summarise(
        predictions,
        outcomes,
        transitions,
        owner[case.scored],
        tuple(forecasts),
        direction,
        n_bins,
        epsilon,
        seed,
    )


def _folds(case: Case, n_folds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (fold of each trajectory, -1 without a frame that counts; trajectory of each frame)."""
    owner = np.repeat(np.arange(case.data.n_trajectories), case.data.lengths)
    usable = np.unique(owner[case.scored])
    if len(usable) < 2:
        raise InputValueError(
            f"`data` must hold at least 2 trajectories with transitions, so that one can be left out; got "
            f"{len(usable)}. Cut a long trajectory into pieces that are longer than the slowest transition."
        )
    fold = np.full(case.data.n_trajectories, -1)
    fold[np.random.default_rng(seed).permutation(usable)] = np.arange(len(usable)) % min(n_folds, len(usable))
    return fold, owner


def _forecasts(
    case: Case, memberships: Memberships | BetaScan | npt.ArrayLike, epsilon: float
) -> dict[str, Forecast]:
    """Return the forecasts by name, in the order of the table, except the Markov model."""
    table = _values(case, memberships)
    first = next(iter(table.values()))
    hard = np.where(first.sum(axis=1) > 0, first.argmax(axis=1), -1)
    certain = np.eye(case.n_states + 1)[hard][:, : case.n_states]
    forecasts: dict[str, Forecast] = {
        CONSTANT: constant_guess(case),
        HARD: lambda train: certain,
        FITTED: state_frequencies(case, hard),
    }
    for name, values in table.items():
        forecasts[name] = lambda train, values=values: values  # type: ignore[misc]
    if len(table) > 1:
        forecasts[CHOSEN] = _best_of(case, list(table.values()), epsilon)
    else:
        forecasts[SHARPENED] = sharpened(case, first)
    return forecasts


def _values(case: Case, memberships: Memberships | BetaScan | npt.ArrayLike) -> dict[str, np.ndarray]:
    """Return the (n, K) memberships by the names of their rows; those at beta = 2 first."""
    if isinstance(memberships, BetaScan):
        if memberships.memberships is None or memberships.frames is not None:
            raise InputValueError(
                "`memberships` must be a scan of all frames that has kept its memberships; got one without, "
                "or of some of the frames. `scan_beta(..., max_kept=...)` keeps more."
            )
        pairs = sorted(
            zip(memberships.betas, memberships.memberships, strict=True), key=lambda pair: pair[0] != 2
        )
        table = {f"{MEMBERSHIPS}, beta = {beta:.3g}": values for beta, values in pairs}
    else:
        table = {
            MEMBERSHIPS: memberships.values
            if isinstance(memberships, Memberships)
            else np.asarray(memberships)
        }
    expected = (len(case.labels), case.n_states)
    for values in table.values():
        if values.shape != expected:
            raise InputValueError(
                f"`memberships` must have one row per frame and one column per core, shape {expected}; got "
                f"{values.shape}."
            )
        check_finite("memberships", values)
    return table


def _best_of(case: Case, tables: list[np.ndarray], epsilon: float) -> Forecast:
    """Return the forecast by the memberships at the beta that is best on the training trajectories."""

    def fit(train: np.ndarray) -> np.ndarray:
        use = np.flatnonzero(case.scored & train)
        came = case.outcomes[use]
        return max(tables, key=lambda values: np.log(epsilon + values[use, came]).mean())

    return fit


def _summarise(
    predictions: np.ndarray,
    outcomes: np.ndarray,
    transitions: np.ndarray,
    owner: np.ndarray,
    names: tuple[str, ...],
    direction: Direction,
    n_bins: int,
    epsilon: float,
    seed: int,
) -> Calibration:
    """Score all forecasts, with intervals from a bootstrap over whole trajectories."""
    _, owner = np.unique(owner, return_inverse=True)
    number = owner.max() + 1
    at = np.arange(len(outcomes))
    sums = np.array([np.bincount(owner, np.log(epsilon + p[at, outcomes]), number) for p in predictions])
    draws = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), size=_RESAMPLES)
    drawn = sums @ draws.T
    lower, upper = np.percentile(1 - drawn / drawn[0], [2.5, 97.5], axis=1)
    powers = [best_power(p, outcomes) for p in predictions]
    return Calibration(
        names=names,
        scores=sums.sum(axis=1) / len(outcomes),
        skills=1 - sums.sum(axis=1) / sums[0].sum(),
        lower=lower,
        upper=upper,
        powers=np.array(powers),
        power_errors=np.array(
            [power_error(p, outcomes, owner, power) for p, power in zip(predictions, powers, strict=True)]
        ),
        diagrams=tuple(reliability(p, outcomes, transitions, n_bins=n_bins) for p in predictions),
        direction=direction,
        n_frames=len(outcomes),
        n_transitions=len(np.unique(transitions)),
        n_trajectories=int(number),
    )

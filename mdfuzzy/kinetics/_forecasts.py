"""Forecasts of the next core: fitted on some trajectories, evaluated at all frames."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_finite
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.outcomes import Case

#: Fits a forecast on the frames of a mask, (n,) bool, and returns the probability of every core, (n, K).
Forecast = Callable[[np.ndarray], np.ndarray]

#: The number of evenly spaced frames from which the centres of k-means are computed.
_KMEANS_FRAMES = 10_000
#: Memberships of 0 count as this much before they are raised to a power.
FLOOR = 1e-6


def constant_guess(case: Case) -> Forecast:
    """Return the constant forecast: the frequency with which each core comes next."""
    return lambda train: np.broadcast_to(case.frequencies(train), (len(case.labels), case.n_states))


def state_frequencies(case: Case, hard: np.ndarray) -> Forecast:
    """Return the forecast from the hard state alone: the frequency of each next core in that state."""

    def fit(train: np.ndarray) -> np.ndarray:
        use = case.scored & train
        # One more count in each row, spread as the constant guess, for states that were never seen.
        table = np.tile(case.frequencies(train), (case.n_states + 1, 1))
        np.add.at(table, (hard[use], case.outcomes[use]), 1.0)
        return (table / table.sum(axis=1, keepdims=True))[hard]

    return fit


def sharpened(case: Case, values: np.ndarray) -> Forecast:
    """Return the forecast that raises the memberships to the power that suits the outcomes best."""

    def fit(train: np.ndarray) -> np.ndarray:
        use = case.scored & train
        return raised(values, best_power(values[use], case.outcomes[use]))

    return fit


def raised(values: np.ndarray, power: float) -> np.ndarray:
    """Return the memberships raised to a power, with rows that sum to 1 again."""
    new = np.exp(power * _relative_logs(values))
    return new / new.sum(axis=1, keepdims=True)


def best_power(values: np.ndarray, outcomes: np.ndarray) -> float:
    """Return the power of the memberships that makes the outcomes most likely; 1 if they are calibrated.

    It is sought in [0, 20]. The log-likelihood is concave in the power, so its slope has one zero.

    Examples
    --------
    >>> round(best_power(np.array([[0.9, 0.1]] * 4), np.array([0, 0, 0, 1])), 3)
    0.5
    """
    from scipy.optimize import brentq

    logs = _relative_logs(values)

    def slope(power: float) -> float:
        return float(_slopes(logs, outcomes, power).mean())

    low, high = 0.0, 20.0
    if slope(low) <= 0.0:
        return low
    return high if slope(high) >= 0.0 else float(brentq(slope, low, high, xtol=1e-5))


def power_error(values: np.ndarray, outcomes: np.ndarray, owner: np.ndarray, power: float) -> float:
    """Return the standard error of the power (the sandwich estimate, trajectories being independent)."""
    logs, chances = _relative_logs(values), raised(values, power)
    slopes = _slopes(logs, outcomes, power)
    curvature = float(np.sum(np.sum(chances * logs**2, axis=1) - np.sum(chances * logs, axis=1) ** 2))
    return float(np.sqrt(np.sum(np.bincount(owner, slopes) ** 2)) / max(curvature, 1e-12))


def _relative_logs(values: np.ndarray) -> np.ndarray:
    """Return the logarithms of memberships, less the largest of each row."""
    logs = np.log(np.asarray(values, dtype=np.float64) + FLOOR)
    return logs - logs.max(axis=1, keepdims=True)


def _slopes(logs: np.ndarray, outcomes: np.ndarray, power: float) -> np.ndarray:
    """Return how the log-likelihood of each frame's outcome changes with the power."""
    weights = np.exp(power * logs)
    means = np.einsum("nk,nk->n", weights, logs) / weights.sum(axis=1)
    return logs[np.arange(len(outcomes)), outcomes] - means


def kmeans_coordinates(data: Trajectories, coordinates: npt.ArrayLike | None) -> np.ndarray | None:
    """Return the coordinates for k-means, (n, d) float64; None for frames without torsions."""
    if coordinates is None:
        return data.vectors
    coordinates = np.asarray(coordinates, dtype=np.float64)
    if coordinates.ndim != 2 or len(coordinates) != len(data):
        raise InputValueError(
            f"`coordinates` must have one row per frame, shape ({len(data)}, d); got shape "
            f"{coordinates.shape}."
        )
    return check_finite("coordinates", coordinates)


def kmeans_committor(case: Case, coordinates: np.ndarray, *, n_centers: int, lag: int, seed: int) -> Forecast:
    """Return the committor of a Markov model on k-means cells to the same cores, fitted to the dynamics.

    Each core is a state, and so is each cell outside the cores. The walk is stopped at the first core within
    the lag, so that no visit is missed at any lag.
    """

    def fit(train: np.ndarray) -> np.ndarray:
        from deeptime.clustering import KMeans
        from deeptime.markov.tools.analysis import committor

        points = coordinates[train]
        some = points[np.linspace(0, len(points) - 1, min(len(points), _KMEANS_FRAMES)).astype(np.int64)]
        number = min(n_centers, len(np.unique(some, axis=0)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the centres need not be converged
            clusters = KMeans(number, max_iter=50, fixed_seed=seed, n_jobs=1).fit_fetch(some)
        cells = clusters.transform(coordinates)
        counts = _stopped_counts(case, cells, train, lag)
        cores = np.arange(case.n_states)
        known = _reaching(counts, case.n_states)
        matrix = counts[np.ix_(known, known)]
        matrix /= matrix.sum(axis=1, keepdims=True)
        table = np.tile(case.frequencies(train), (len(counts), 1))  # for cells that were never seen
        for core in cores:
            table[known, core] = committor(matrix, np.delete(cores, core).tolist(), [int(core)])
        return table[case.n_states + cells]

    return fit


def _stopped_counts(case: Case, cells: np.ndarray, train: np.ndarray, lag: int) -> np.ndarray:
    """Count the steps of the stopped trajectories: the cores, which are never left, then the cells."""
    n_states = case.n_states
    total = n_states + int(cells.max()) + 1
    places = np.where(case.labels >= 0, case.labels, n_states + cells)
    counts = np.zeros((total, total))
    for path, used in zip(case.data.split(places), case.data.split(train), strict=True):
        if not used[0] or len(path) <= lag:
            continue
        path = path[::-1] if case.backward else path
        stops = np.where(path < n_states, np.arange(len(path)), len(path))
        stops = np.minimum.accumulate(stops[::-1])[::-1]
        begin = np.arange(len(path) - lag)
        begin = begin[path[begin] >= n_states]
        np.add.at(counts, (path[begin], path[np.minimum(begin + lag, stops[begin])]), 1.0)
    counts[np.arange(n_states), np.arange(n_states)] = 1.0
    return counts


def _reaching(counts: np.ndarray, n_states: int) -> np.ndarray:
    """Return the states from which a core can be reached, ascending: the cores first."""
    from scipy.sparse.csgraph import breadth_first_order

    backwards = np.zeros((len(counts) + 1,) * 2)
    backwards[:-1, :-1] = counts.T
    backwards[-1, :n_states] = 1.0
    reached = breadth_first_order(backwards, len(counts), return_predecessors=False)
    return np.sort(reached[reached < len(counts)])

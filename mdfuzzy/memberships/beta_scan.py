"""Memberships over a range of walk temperatures, and the choice of a temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from mdfuzzy._check import (
    InputTypeError,
    InputValueError,
    ReadOnly,
    check_finite,
    check_int,
    check_numbers,
    check_real,
    check_type,
    read_only,
)
from mdfuzzy._messages import counted
from mdfuzzy.memberships.memberships import Memberships, membership_entropy, solve_memberships
from mdfuzzy.memberships.weights import BETA_MEANS, linear_is_positive
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.states.cores import Cores
from mdfuzzy.states.persistence import check_log_density

#: A slope below this fraction of the steepest slope counts as level.
_LEVEL = 0.2
#: Tolerance of the solves: far below the resolution of a choice or a plot, at little more than half the time.
_TOLERANCE = 1e-7
#: The beginning of the note that lists the requested betas that were not solved.
LEFT_OUT = "Left out of the scan"
#: The largest number of frames whose memberships at every beta are kept.
MAX_KEPT = 100_000


@dataclass(frozen=True, eq=False, kw_only=True)
class BetaScan(ReadOnly):
    """Hold the memberships and their entropy at each walk temperature beta, and the choice.

    Attributes
    ----------
    betas : (m,) float64
        The walk temperatures in ascending order; the last may be infinite. Large is hot: 2 is the
        temperature of the simulation.
    entropy : (m,) float64
        H, the mean over the frames of the sum of mu log mu. It is never positive and falls as fuzziness
        grows.
    scores : (m,) float64
        The values of the criterion; without a criterion, minus the slope of H against log beta (NaN where
        beta is infinite).
    beta : float
        The beta with the largest score.
    n_plateaus : int
        The number of plateaus of H as a function of log beta.
    notes : tuple of str
        Reservations about the choice, and the betas that were left out; empty if there are none.
    frames : (m,) int array or None
        The frames whose memberships are kept; None for all.
    residuals, row_sum_errors : (m,) float64
        The residuals and row-sum errors of the solves, which end earlier than in `solve_memberships`: see
        `scan_beta`.
    memberships : (m, n, K) float32 or None
        The memberships of the kept frames at each beta; each row, with its lost probability, is divided by
        its sum.

    See Also
    --------
    scan_beta : Compute a scan.
    plots.beta_scan : Plot a scan.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> cores = mf.find_cores(graph, log_density, peaks, min_prominence=1.0)
    >>> scan = mf.scan_beta(graph, log_density, cores, betas=[0.5, 1.0, 2.0, 4.0])
    >>> scan.betas, bool(np.all(scan.entropy <= 0))
    (array([0.5, 1. , 2. , 4. ]), True)
    """

    betas: np.ndarray
    entropy: np.ndarray
    scores: np.ndarray
    beta: float
    n_plateaus: int
    notes: tuple[str, ...]
    frames: np.ndarray | None
    residuals: np.ndarray
    row_sum_errors: np.ndarray
    memberships: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("betas", "entropy", "scores", "residuals", "row_sum_errors"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.float64)))
        if self.frames is not None:
            object.__setattr__(self, "frames", read_only(np.asarray(self.frames)))
        if self.memberships is not None:
            object.__setattr__(self, "memberships", read_only(np.asarray(self.memberships, dtype=np.float32)))

    def __repr__(self) -> str:
        return (
            f"BetaScan({len(self.betas)} betas from {self.betas[0]:g} to {self.betas[-1]:g}, "
            f"beta={self.beta:.3g} ({BETA_MEANS}))"
        )


def default_betas(low: float = 0.3, high: float = 20.0, number: int = 13) -> np.ndarray:
    """Return a grid even in log beta, with 1 (the plain walk), 2 (as simulated) and infinity (no drift).

    Examples
    --------
    >>> default_betas(number=4).round(2)
    array([ 0.3 ,  1.  ,  1.22,  2.  ,  4.93, 20.  ,   inf])
    """
    return np.unique(np.concatenate([np.geomspace(low, high, number), [1.0, 2.0, np.inf]]))


def kept_frames(n: int, *, max_kept: int = MAX_KEPT) -> np.ndarray | None:
    """Return at most `max_kept` evenly spaced frames out of n; None if these are all frames.

    Examples
    --------
    >>> kept_frames(10, max_kept=4)
    array([0, 3, 6, 9])
    """
    return None if n <= max_kept else np.linspace(0, n - 1, max_kept).astype(np.int64)


def scan_beta(
    graph: Graph,
    log_density: npt.ArrayLike,
    cores: Cores,
    *,
    betas: Sequence[float] | None = None,
    criterion: Callable[[Memberships], float] | None = None,
    weights: npt.ArrayLike | None = None,
    max_kept: int = MAX_KEPT,
    **options: object,
) -> BetaScan:
    """Solve for the memberships over a range of walk temperatures beta, and choose one.

    Each solve starts from the previous one. Without a criterion the choice is the beta at which the entropy H
    falls most steeply against log beta: the middle of the change from nearly hard clusters to fuzzy ones.

    The solves end at a tolerance of 1e-7, so their rows sum to 1 within 1e-4, instead of within 1e-8 as in
    `solve_memberships`. (`BetaScan.row_sum_errors` holds the actual errors.) This accuracy suffices for the
    choice and for plots. Every row, with its lost probability, is then divided by its sum, as scores and
    criteria require. For memberships to keep, solve at the chosen beta, or pass `tolerance`.

    Parameters
    ----------
    graph, log_density, cores
        As for `solve_memberships`.
    betas : sequence of float, optional
        13 values even in log beta from 0.3 to 20, and 1, 2 and infinity, by default. With a criterion, 2 is
        always among them: any other choice has to be better than the temperature of the simulation. Betas
        at which linear weights are not positive are left out and listed in the notes.
    criterion : callable, optional
        Takes `Memberships` and returns a score to maximise, such as their skill in predicting the next core
        of the trajectories, `kinetics.kinetic_criterion`. The choice may then be infinite.
    weights : (n,) array, optional
        Weights of the points in the mean of their entropies.
    max_kept : int
        With more frames, the result holds the memberships of this many, evenly spaced. The entropies and
        scores are computed on all frames.
    **options
        Passed on to `solve_memberships` (sampled, walk_weights, kernel, bandwidth, dimension, unit_density,
        tolerance, n_jobs).

    Returns
    -------
    BetaScan
        The result holds the memberships at every beta. Its `notes` report if the choice is at an end of the
        grid, if H is not level at both ends and in between (three plateaus), or if H does not fall at all.

    Raises
    ------
    ValueError
        If `betas` holds fewer than three different finite numbers, or `max_kept` is below 1.
    TypeError
        If `criterion` is not a function.

    See Also
    --------
    solve_memberships : Memberships at one temperature.
    kinetics.kinetic_criterion : Choose beta by the prediction of the next state that the molecule reaches.
    plots.beta_scan : Draw the scan.

    References
    ----------
    * T. Bonis and S. Oudot, *A Fuzzy Clustering Algorithm for the Mode-Seeking Framework*, Pattern
      Recognition Letters 102 (2018) 37-43, arXiv:1406.7130.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [4, 0]], 150, axis=0)
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=20)
    >>> logf, graph = mf.dtm_log_density(neighbors, dimension=2), neighbors.graph()
    >>> peaks = mf.compute_persistence(graph, logf)
    >>> cores = mf.find_cores(graph, logf, peaks, min_prominence=0.8)
    >>> scan = mf.scan_beta(graph, logf, cores, betas=[0.5, 1, 2, 4], dimension=2)
    >>> bool(np.all(np.diff(scan.entropy) < 0))
    True
    """
    check_type("graph", graph, Graph, remedy="Make one with `Neighbors.graph`.")
    check_type("cores", cores, Cores, remedy="`find_cores` gives them.")
    asked = default_betas() if betas is None else _check_betas(betas)
    if criterion is not None:
        if not callable(criterion):
            raise InputTypeError(
                f"`criterion` must be None or a function that takes `Memberships` and returns a number; got "
                f"{criterion!r}. `kinetics.kinetic_criterion` makes one."
            )
        asked = np.union1d(asked, [2.0])  # the reference of any choice
    frames = kept_frames(len(graph), max_kept=check_int("max_kept", max_kept, 1))
    counted = None if weights is None else check_finite("weights", check_numbers("weights", weights))
    scanned, left_out = _solvable(asked, graph, log_density, options)
    entropy, scores = np.empty(len(scanned)), np.full(len(scanned), np.nan)
    residuals, errors = np.empty(len(scanned)), np.empty(len(scanned))
    kept = np.empty((len(scanned), len(graph) if frames is None else len(frames), len(cores)), np.float32)
    start: np.ndarray | None = None
    # With disable=None tqdm checks whether it writes to a terminal.
    for at in tqdm(range(len(scanned) - 1, -1, -1), unit=" betas", desc="beta", disable=None):
        solve: dict[str, Any] = {"beta": float(scanned[at]), "start": start, "tolerance": _TOLERANCE}
        mu = _normalised(solve_memberships(graph, log_density, cores, **{**solve, **options}))
        entropies = membership_entropy(mu.values)
        entropy[at] = entropies.mean() if counted is None else np.average(entropies, weights=counted)
        residuals[at], errors[at] = mu.residual, mu.row_sum_error
        if criterion is not None:
            scores[at] = check_real("criterion(memberships)", criterion(mu))
        start = mu.values
        kept[at] = start if frames is None else start[frames]
    falls = -np.gradient(entropy[np.isfinite(scanned)], np.log(scanned[np.isfinite(scanned)]))
    if criterion is None:
        scores[: len(falls)] = falls
    choice = int(np.nanargmax(scores))
    plateaus = _count_plateaus(falls)
    notes = _reservations(scanned, choice, falls, plateaus, criterion is None, left_out)
    return BetaScan(
        betas=scanned,
        entropy=entropy,
        scores=scores,
        beta=float(scanned[choice]),
        n_plateaus=plateaus,
        notes=notes,
        frames=frames,
        residuals=residuals,
        row_sum_errors=errors,
        memberships=kept,
    )


def _normalised(mu: Memberships) -> Memberships:
    """Normalise memberships so that rows, with the lost part, sum to 1 up to rounding, as scores require.

    `row_sum_error` remains the error of the solve.
    """
    sums = mu.values.sum(axis=1) + mu.lost
    return replace(mu, values=mu.values / sums[:, None], lost=mu.lost / sums)


def _check_betas(betas: Sequence[float]) -> np.ndarray:
    rule = "`betas` must hold at least 3 different finite numbers > 0 (and infinity, if you like)"
    try:
        values = check_numbers("betas", betas)
    except TypeError as error:
        raise InputTypeError(f"{rule}; got {betas!r}.") from error
    if values.ndim != 1 or np.isnan(values).any() or (values <= 0).any():
        raise InputValueError(f"{rule}; got {betas!r}.")
    values = np.unique(values)
    if np.count_nonzero(np.isfinite(values)) < 3:
        raise InputValueError(f"{rule}; got {betas!r}. A slope needs them.")
    return values


def _solvable(
    betas: np.ndarray, graph: Graph, log_density: npt.ArrayLike, options: dict[str, object]
) -> tuple[np.ndarray, np.ndarray]:
    """Split betas into those with positive weights and the others, which occur only with linear weights."""
    if options.get("walk_weights") != "linear":
        return betas, betas[:0]
    logf, unit = check_log_density(graph, log_density), bool(options.get("unit_density", False))
    fits = np.array([linear_is_positive(logf, beta, unit) for beta in betas])
    if np.count_nonzero(np.isfinite(betas[fits])) < 3:
        raise InputValueError(
            "`betas` must hold at least 3 different finite numbers at which linear weights are positive; "
            f"got {_listed(betas[fits])} of {_listed(betas)} ({BETA_MEANS}). Use smaller ones, "
            "`walk_weights='power'`, or `unit_density=True`."
        )
    return betas[fits], betas[~fits]


def _listed(betas: np.ndarray) -> str:
    return ", ".join(f"{beta:.3g}" for beta in betas) or "none"


def _count_plateaus(falls: np.ndarray) -> int:
    """Count the plateaus: runs of slopes that are small compared with the steepest."""
    if falls.max() <= 0.0:
        return 1
    level = falls < _LEVEL * falls.max()
    return int(level[0]) + int(np.count_nonzero(level[1:] & ~level[:-1]))


def _reservations(
    betas: np.ndarray, choice: int, falls: np.ndarray, plateaus: int, by_entropy: bool, left_out: np.ndarray
) -> tuple[str, ...]:
    notes = []
    last = len(falls) - 1 if by_entropy else len(betas) - 1
    if falls.max() <= 1e-12:
        notes.append("H does not fall with beta: the memberships are as hard (or fuzzy) at every beta.")
    elif np.isinf(betas[choice]):
        notes.append(
            "The choice is infinite beta: the density does not improve the prediction, only the metric does."
        )
    elif choice in (0, last):
        end = "lowest" if choice == 0 else "highest"
        blocked = choice == last and np.isfinite(left_out).any()
        remedy = (
            "linear weights go no further, `walk_weights='power'` does" if blocked else "scan further there"
        )
        notes.append(
            f"The choice, beta = {betas[choice]:.3g} ({BETA_MEANS}), sits on the {end} end of the grid: "
            f"{remedy}."
        )
    if by_entropy and plateaus < 3:
        notes.append(
            f"H has {counted(plateaus, 'plateau')} against log beta, not three: no range of beta "
            "between hard clusters and plain diffusion stands out."
        )
    if len(left_out):
        notes.append(
            f"{LEFT_OUT}: beta = {_listed(left_out)} ({BETA_MEANS}), where linear weights are not positive."
        )
    return tuple(notes)

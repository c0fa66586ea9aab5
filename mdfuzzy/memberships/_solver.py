"""The absorbing walk: the probability that a walk from each point reaches each target first.

The walk moves from i to j with weight ``exp(pull[j] - falloff * length**2)`` and stops in the first target
that it meets. At low temperature the walk falls into traps (low peaks of the density) that it leaves once in
1e10 steps or more. The linear system is then singular to working precision, and a method that relies on the
ordinary residual returns wrong results with a small residual. Two techniques prevent that:

* *Aggregation.* Points are grouped with the neighbours that they are most strongly tied to, groups again,
  and so on up to one group. The lumped walk between groups, conditional on leaving the group, is free of the
  traps inside them. Each iteration corrects all levels, coarsest first.
* *Flows.* The right-hand side of a level is the net flow across the borders of its groups, summed over
  crossing edges only. Nothing is formed by subtraction of large numbers that nearly cancel, as in the
  elimination of Grassmann, Taksar and Heyman.

The iteration is accelerated by Anderson's method for each column separately, so that the sum over columns is
an independent check. See the page on the solver in the theory section of the documentation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mdfuzzy._threads import share
from mdfuzzy.frames.mapping import share_in_turn
from mdfuzzy.memberships._multilevel import STRETCH, Level, build_hierarchy, positions
from mdfuzzy.memberships.errors import SolveError

#: Above this many edges the probabilities are stored in single precision, if their ratios allow it.
SINGLE_EDGES = 20_000_000
#: Smallest log ratio of weights within a neighbourhood for single precision (its range ends at -87).
SINGLE_LOG_RATIO = -60.0
#: Targets that are solved for together: a register of the processor holds eight columns. Each group has its
#: own history, so that memory does not grow with the number of targets.
COLUMNS = 8
#: Number of previous iterations that the acceleration uses.
HISTORY = 8
MAX_ITERATIONS = 400
#: Smaller relative changes of the correction are rounding errors.
NOISE = 1e-6
#: Sweeps on the coarsest level.
TOP_SWEEPS = 4
#: Passes over all edges, by all threads, before edges are followed back one by one.
REACH_PASSES = 20


@dataclass(frozen=True)
class Solution:
    """Hold hitting probabilities (n, targets), the largest remaining flow imbalance, and the iterations."""

    values: np.ndarray
    residual: float
    iterations: int


def reaches_target(indptr: np.ndarray, indices: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return which points can reach a point with ``targets >= 0`` along the edges, (n,) bool."""
    from mdfuzzy._kernels.walk import balance
    from mdfuzzy._kernels.walk import transitions as kernels

    reached = targets >= 0
    changed = np.ones(-(-len(reached) // kernels.BLOCK), bool)
    for _ in range(REACH_PASSES):
        changed[:] = False
        share(kernels.reach_further, len(changed), indptr, indices, reached, changed)
        if not changed.any():
            return reached
    # In long thin data every pass advances only a little.
    kernels.spread_back(*balance.transpose(indptr, indices)[:2], reached)
    return reached


def solve_walk(
    indptr: np.ndarray,
    indices: np.ndarray,
    lengths: np.ndarray,
    pull: np.ndarray,
    falloff: float,
    targets: np.ndarray,
    n_targets: int,
    *,
    reversible: bool,
    tolerance: float,
    start: np.ndarray | None = None,
) -> Solution:
    """Compute the probability that the walk from each point reaches each target first.

    Parameters
    ----------
    indptr, indices, lengths : arrays
        The edges in compressed rows.
    pull : (n,) float64
        The edge i -> j has weight ``exp(pull[j] - falloff * length**2)``. Weights below 1e-300 of the largest
        weight in their neighbourhood are raised to this value.
    falloff : float
        0 if the weight of an edge does not depend on its length.
    targets : (n,) int32
        The target that a point belongs to; -1 for the other points. Each of these must be able to reach some
        target.
    n_targets : int
        Number of targets.
    reversible : bool
        Whether every edge exists in both directions.
    tolerance : float
        The iteration ends when the next correction of every membership is below this.
    start : (n, n_targets) array, optional
        An initial guess.

    Raises
    ------
    SolveError
        If the accuracy cannot be reached.
    """
    if np.all(targets >= 0):
        return Solution(_of_targets(targets, n_targets), 0.0, 0)
    groups = [slice(first, min(first + COLUMNS, n_targets)) for first in range(0, n_targets, COLUMNS)]
    finest, borders = _finest(indptr, indices, lengths, pull, float(falloff), targets, groups)
    levels, order = build_hierarchy(finest, lengths, targets, reversible)
    places, residual, iterations, values = positions(order, len(targets)), 0.0, 0, np.empty((0, 0))
    for group in groups:
        solved, left, taken = _iterate(
            levels, *borders.pop(0).arrange(places, order, group, start), tolerance
        )
        if not len(values):  # memory is at its peak before
            values = _of_targets(targets, n_targets)
        values[order, group] = solved[:, : group.stop - group.start]
        residual, iterations = max(residual, left), max(iterations, taken)
    return Solution(values, residual, iterations)


def _of_targets(targets: np.ndarray, n_targets: int) -> np.ndarray:
    """Return the probabilities of the targets themselves, and zeros for all other points."""
    values = np.zeros((len(targets), n_targets))
    caught = np.flatnonzero(targets >= 0)
    values[caught, targets[caught]] = 1.0
    return values


class _Border(NamedTuple):
    """Hold the steps to the targets of a group: the points that have such steps, and their probabilities."""

    rows: np.ndarray
    steps: np.ndarray

    def arrange(
        self, places: np.ndarray, order: np.ndarray, group: slice, start: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps of all points of the finest level in order, and the start of each point."""
        absorb, guess = np.zeros((2, len(order), self.steps.shape[1]))
        absorb[places[self.rows]] = self.steps
        if start is not None:
            guess[:, : group.stop - group.start] = start[order, group]
        return absorb, guess


def _finest(
    indptr: np.ndarray,
    indices: np.ndarray,
    lengths: np.ndarray,
    pull: np.ndarray,
    falloff: float,
    targets: np.ndarray,
    groups: list[slice],
) -> tuple[Level, list[_Border]]:
    """Return the walk on the edges of the graph, and the steps to each group of targets."""
    from mdfuzzy._kernels.walk import transitions as kernels

    n = len(targets)
    edges = indptr, indices, pull, lengths, falloff, targets
    log_sums, log_ratios, degrees = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    share_in_turn(kernels.row_ranges, n, STRETCH, *edges, log_sums, log_ratios, degrees)
    single = len(indices) > SINGLE_EDGES and log_ratios.min() > SINGLE_LOG_RATIO
    probs = np.empty(len(indices), np.float32 if single else np.float64)
    log_tops, exits, borders = log_sums, np.zeros(n), []
    for group in groups:
        width = group.stop - group.start
        absorb, log_sums = np.zeros((n, width + width % 2)), log_tops.copy()  # kernels take even columns
        columns = group.start, group.stop
        share_in_turn(kernels.transition_fill, n, STRETCH, *edges, *columns, log_sums, probs, absorb)
        exits += absorb.sum(axis=1)
        rows = np.flatnonzero(absorb.any(axis=1))
        borders.append(_Border(rows, absorb[rows]))
    exits[targets >= 0] = 1.0
    return Level(
        indptr=indptr, indices=indices, probs=probs, exits=exits, log_mass=pull + log_sums, degrees=degrees
    ), borders


def _iterate(
    levels: list[Level], absorb: np.ndarray, x: np.ndarray, tolerance: float
) -> tuple[np.ndarray, float, int]:
    """Correct `x` on all levels, with Anderson acceleration, until the corrections vanish."""
    from mdfuzzy._kernels.walk import acceleration as kernels

    _allocate(levels, x.shape[1])
    moves, changes = np.empty((2, HISTORY, *x.shape), np.float32)
    gram = np.zeros((HISTORY, HISTORY, x.shape[1]))
    for iteration in range(1, MAX_ITERATIONS + 1):
        residuals = _residuals(levels, 0, x, absorb)
        correction = _correct(levels, 0, residuals)
        largest = _largest(correction)
        if not np.isfinite(largest).all():
            break
        if largest.max() < tolerance:
            x += correction
            return x, float(max(_largest(r).max() for r in residuals)), iteration
        known = min(iteration - 1, HISTORY)
        shares = np.zeros((known, x.shape[1]))
        if known:
            at = (iteration - 2) % HISTORY
            dots = _dots(correction, known, at, moves, changes)
            gram[at, :known] = gram[:known, at] = dots[:, 0]
            # A converged column changes only by rounding, which carries no information.
            noise = np.where(largest < tolerance, np.inf, NOISE * largest)
            shares = _least_squares(gram[:known, :known], dots[:, 1], noise)
        oldest = (iteration - 1) % HISTORY
        share(kernels.take_step, len(x), correction, shares, oldest, x, moves, changes)
    raise SolveError(
        f"No convergence after {iteration} iterations: the memberships still change by {largest.max():.1e} "
        f"(promised: {tolerance:.0e}). Take a `beta` nearer to 2."
    )


def _allocate(levels: list[Level], columns: int) -> None:
    """Allocate the working arrays of all iterations once: new memory from the system is slow."""
    for level in levels:
        level.x = np.empty((2, len(level), columns), np.float32)
        level.inner = np.empty((len(level.first) - 1, level.above, columns))
    levels[0].own = np.empty((len(levels[0]), columns), np.float32)


def _largest(values: np.ndarray) -> np.ndarray:
    """Return the largest absolute value of every column; NaN if there is one."""
    from mdfuzzy._kernels.walk import acceleration as kernels

    largest = np.empty((-(-len(values) // kernels.BLOCK), values.shape[1]), np.float32)
    share(kernels.block_largest, len(largest), values, largest)
    return largest.max(axis=0, initial=0.0)


def _dots(correction: np.ndarray, known: int, at: int, moves: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Complete the move and the change `at`; return the products of all changes with it and the correction.

    The result has shape (known, 2, columns).
    """
    from mdfuzzy._kernels.walk import acceleration as kernels

    n, columns = correction.shape
    sums = np.empty((-(-n // kernels.BLOCK), known, 2, columns))
    share(kernels.block_dots, len(sums), correction, known, at, moves, changes, sums)
    return sums.sum(axis=0)


def _least_squares(gram: np.ndarray, image: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the combination of changes, column by column, that cancels most of the correction.

    Changes that are not larger than `noise` are ignored.
    """
    shares = np.zeros(image.shape)
    for c in range(image.shape[1]):
        size = np.sqrt(np.diag(gram[:, :, c]))
        large = np.flatnonzero(size > noise[c])
        if len(large) == 0:
            continue
        size = size[large]
        matrix = gram[large][:, large, c] / np.outer(size, size)
        shares[large, c] = np.linalg.lstsq(matrix, image[large, c] / size, rcond=1e-12)[0] / size
    return shares


def _residuals(levels: list[Level], at: int, x: np.ndarray, absorb: np.ndarray) -> list[np.ndarray]:
    """Return the flow imbalance of every node at level `at` and at all higher levels."""
    from mdfuzzy._kernels.walk import sweeps as kernels

    level = levels[at]
    columns = x.shape[1]
    inner, own = level.inner, level.own if at == 0 else np.empty((0, columns), np.float32)
    edges = *level.walk, level.low, level.high
    nodes = level.exits, absorb, level.net, level.lift
    starts = level.first
    if at == 0:  # ungrouped points count too, each by itself
        starts = np.concatenate([starts, np.arange(starts[-1] + 1, len(level) + 1)])
    groups = starts, level.members
    _work(level, kernels.flows, len(starts) - 1, *edges, *nodes, *groups, x, own, inner)
    residuals = [own]
    if level.above:
        residuals.append(np.ascontiguousarray(inner[:, 0], np.float32))
    for above in levels[at + 1 : -1]:
        outer = np.empty((len(above.first) - 1, inner.shape[1] - 1, columns))
        _work(above, kernels.lift_flows, len(outer), above.lift, above.first, above.members, inner, outer)
        inner = outer
        residuals.append(np.ascontiguousarray(inner[:, 0], np.float32))
    return residuals


def _correct(levels: list[Level], at: int, residuals: list[np.ndarray]) -> np.ndarray:
    """Return corrections for level `at`: corrections of the coarser levels, then relaxed at this level."""
    from mdfuzzy._kernels.walk import sweeps as kernels

    level, rhs = levels[at], residuals[0]
    new = level.x[1]
    if level.above == 0:  # every node is pinned: each sweep at least halves the error
        new[:] = rhs
        for _ in range(TOP_SWEEPS):
            level.x[0] = new
            _relax(level, rhs)
        return new
    coarser = residuals[1:]
    for turn in range(level.repeats):
        if turn:
            change = _residuals(levels, at, new, np.zeros((0, new.shape[1])))[1:]
            coarser = [r + c for r, c in zip(residuals[1:], change, strict=True)]
        correction = _correct(levels, at + 1, coarser)
        _work(level, kernels.add_groups, len(level), level.group, correction, turn == 0, level.x)
        _relax(level, rhs)
    return new


def _relax(level: Level, rhs: np.ndarray) -> None:
    """Do one sweep over the rows of a level."""
    from mdfuzzy._kernels.walk import sweeps as kernels

    _work(level, kernels.relax, len(level.blocks) - 1, *level.walk, rhs, level.blocks, level.x)


def _work(level: Level, kernel: Callable[..., object], total: int, *arguments: object) -> None:
    """Call a kernel on all rows of a level; threads share the rows if there are many."""
    if level.serial:
        kernel(0, total, *arguments)
    else:
        share(kernel, total, *arguments)

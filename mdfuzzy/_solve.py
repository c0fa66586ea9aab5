"""The absorbing walk: from every point, the probability to be caught by each target first.

The walk moves from i to j with weight ``exp(pull[j] - falloff * length**2)`` and stops in the first
target that it meets. At low temperature it falls into traps (low peaks of the density) that it leaves
once in 1e10 steps or more; the linear system is then singular to working precision, and any method that
judges itself by the ordinary residual returns nonsense with a small residual. Two things prevent that:

* *Aggregation.* Points are grouped with the neighbours that they are most strongly tied to, groups again,
  and so on up to one group. The lumped walk between groups, conditional on leaving the group, is free of the
  traps inside them. Each iteration corrects all levels, coarsest first.
* *Flows.* The right-hand side of a level is the net flow across the borders of its groups, summed over
  crossing edges only. Nothing is formed by subtraction of large numbers that nearly cancel, as in the
  elimination of Grassmann, Taksar and Heyman.

The iteration is accelerated by Anderson's method, each column for itself, so that the sum over columns
is a check of its own. See the page on the solver in the theory section of the documentation.
"""

from dataclasses import dataclass, field

import numpy as np

#: Largest size of a group before further members must look elsewhere, and number of slices of a sweep.
GROUP_SIZE = 8
#: Levels with fewer edges than this are worked on by one thread.
SERIAL_EDGES = 50_000
#: Above so many edges the probabilities are stored in single precision, if their ratios allow it.
SINGLE_EDGES = 20_000_000
#: Smallest log ratio of weights within a neighbourhood for single precision (its range ends at -87).
SINGLE_LOG_RATIO = -60.0
#: Parts in which groups are lumped, each with a table of its own.
CHUNKS = 32
HISTORY = 8
MAX_ITERATIONS = 400
#: An iteration ends when the next correction of every membership is below this.
TOLERANCE = 1e-11
#: The same for the logarithms of the visits on a directed graph.
VISITS_TOLERANCE = 1e-12


class SolveError(RuntimeError):
    """The memberships could not be found to the promised accuracy."""


@dataclass
class Level:
    """One level of the hierarchy: a walk between nodes that ends with probability `exits`."""

    indptr: np.ndarray
    indices: np.ndarray
    probs: np.ndarray
    exits: np.ndarray
    log_mass: np.ndarray
    group: np.ndarray | None = None
    first: np.ndarray | None = None
    members: np.ndarray | None = None
    lift: np.ndarray | None = None
    apart: np.ndarray | None = None
    net: np.ndarray | None = None
    slices: list[tuple[int, int]] = field(default_factory=list)
    above: int = 0
    repeats: int = 1

    def __len__(self) -> int:
        return len(self.exits)

    @property
    def serial(self) -> bool:
        return len(self.indices) < SERIAL_EDGES


@dataclass(frozen=True)
class Solution:
    """Hitting probabilities (n, targets), the largest imbalance of flow left, and the iterations taken."""

    values: np.ndarray
    residual: float
    iterations: int


def reaches_target(indptr: np.ndarray, indices: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return which points can get to a point with ``targets >= 0`` along the edges, (n,) bool."""
    from mdfuzzy._kernels import walk as kernels

    reached = targets >= 0
    while kernels.reach_further(indptr, indices, reached).any():
        pass
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
    start: np.ndarray | None = None,
) -> Solution:
    """Return the probability that the walk from each point meets each target first.

    Parameters
    ----------
    indptr, indices, lengths : arrays
        The edges in compressed rows.
    pull : (n,) float64
        The edge i -> j has weight ``exp(pull[j] - falloff * length**2)``. Weights of less than 1e-300 of
        the largest of their neighbourhood count as 1e-300 of it.
    falloff : float
        0 for edges that count the same at any length.
    targets : (n,) int32
        The target that a point belongs to; -1 for the others, every one of which must have a way to
        some target.
    n_targets : int
        Number of targets.
    reversible : bool
        Whether every edge is there in both directions.
    start : (n, n_targets) array, optional
        A guess.

    Raises
    ------
    SolveError
        If the accuracy cannot be reached.
    """
    from mdfuzzy._kernels import walk as kernels

    values = np.zeros((len(targets), n_targets))
    caught = np.flatnonzero(targets >= 0)
    values[caught, targets[caught]] = 1.0
    free = np.flatnonzero(targets < 0)
    if len(free) == 0:
        return Solution(values, 0.0, 0)
    log_sums, log_ratios = np.empty(len(targets)), np.empty(len(targets))
    edges = (indptr, indices, pull, lengths, float(falloff))
    kernels.log_row_sums(*edges, log_sums, log_ratios)
    single = len(indices) > SINGLE_EDGES and log_ratios.min() > SINGLE_LOG_RATIO
    dtype = np.float32 if single else np.float64
    columns = n_targets + n_targets % 2  # kernels take two columns at a time

    def walk_in(order: np.ndarray) -> tuple[Level, np.ndarray]:
        position = np.full(len(targets), -1, np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        out_indptr = _starts(kernels.transition_counts(indptr, indices, position, order))
        out_indices = np.empty(out_indptr[-1], np.int32)
        probs = np.empty(out_indptr[-1], dtype)
        absorb = np.zeros((len(order), columns))
        kernels.transition_fill(
            *edges, log_sums, position, targets, order, out_indptr, out_indices, probs, absorb
        )
        level = Level(out_indptr, out_indices, probs, absorb.sum(axis=1), (pull + log_sums)[order])
        return level, absorb

    levels, order = _hierarchy(walk_in, free, reversible)
    level, absorb = walk_in(free[order])
    level.group, level.slices, level.log_mass = levels[0].group, levels[0].slices, levels[0].log_mass
    levels[0] = level
    _link(levels, reversible)
    guess = np.zeros((len(free), columns))
    if start is not None:
        guess[:, :n_targets] = start[free[order]]
    solved, residual, iterations = _iterate(levels, absorb, guess)
    values[free[order]] = solved[:, :n_targets]
    return Solution(values, residual, iterations)


def _starts(counts: np.ndarray) -> np.ndarray:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _hierarchy(walk_in, free: np.ndarray, reversible: bool) -> tuple[list[Level], np.ndarray]:
    """Aggregate level by level; return the levels, arranged, and the order of the finest one.

    The matrix of the finest level is let go (the caller makes it anew in the right order: that takes
    less memory than a second copy).
    """
    from mdfuzzy._kernels import walk as kernels

    levels, ranks = [walk_in(free)[0]], []
    while True:
        level = levels[-1]
        by_mass = np.argsort(-level.log_mass, kind="stable")
        level.group, rank, count = kernels.aggregate(
            level.indptr, level.indices, level.probs, by_mass, GROUP_SIZE
        )
        if count == len(level):
            break
        ranks.append(rank)
        level.members, level.first = _members(level.group, count)
        levels.append(_lump(level))
    if not reversible:
        levels[0].log_mass = _visits(levels)
        for l in range(len(levels) - 1):
            levels[l + 1] = _lump(levels[l], like=levels[l + 1])
    orders = [np.arange(len(levels[-1]))]
    for level, rank in zip(levels[-2::-1], ranks[::-1], strict=True):
        position = np.empty(len(orders[0]), np.int32)
        position[orders[0]] = np.arange(len(orders[0]), dtype=np.int32)
        parent = position[level.group]
        # Members of a group go to different slices of a sweep, the first one to a slice of its own.
        colour = np.where(rank == 0, 0, 1 + (rank - 1) % (GROUP_SIZE - 1))
        orders.insert(0, np.lexsort((parent, colour)))
        level.group = parent[orders[0]].astype(np.int32)
        bounds = np.searchsorted(colour[orders[0]], np.arange(GROUP_SIZE + 1))
        level.slices = [(a, b) for a, b in zip(bounds[:-1], bounds[1:], strict=True) if b > a]
    for level, order in zip(levels[1:], orders[1:], strict=True):
        _permute(level, order)
    levels[0].log_mass = levels[0].log_mass[orders[0]]
    return levels, orders[0]


def _visits(levels: list[Level]) -> np.ndarray:
    """Return the log of the expected visits to every point, if the walk starts anywhere, all alike.

    On a directed graph this is what a point counts for in its group. It is found by aggregation and
    disaggregation (Koury, McAllister and Stewart 1984): positive numbers are rescaled, group by group, so
    that what comes in balances what goes out.
    """
    from mdfuzzy._kernels import walk as kernels

    transposed = [kernels.transpose(level.indptr, level.indices) for level in levels]
    log_visits = levels[0].log_mass
    for _ in range(MAX_ITERATIONS):
        before = log_visits.copy()
        log_visits = _balance(levels, transposed, log_visits, np.zeros(len(levels[0])))
        if np.abs(log_visits - before).max() < VISITS_TOLERANCE:
            return log_visits
    raise SolveError("No convergence of the expected visits on the directed graph. Use the union graph.")


def _balance(
    levels: list[Level], transposed: list, log_visits: np.ndarray, log_source: np.ndarray
) -> np.ndarray:
    """Balance the visits on the first of `levels`, helped by those above it."""
    from mdfuzzy._kernels import walk as kernels

    level = levels[0]
    if len(levels) == 1:
        return log_source
    kernels.balance_visits(*transposed[0], level.probs, log_source, log_visits)
    level.log_mass = log_visits
    levels[1] = coarse = _lump(level, like=levels[1])
    by_group = log_source[level.members]
    tops = np.maximum.reduceat(by_group, level.first[:-1])
    inside = np.exp(by_group - np.repeat(tops, np.diff(level.first)))
    source = tops + np.log(np.add.reduceat(inside, level.first[:-1]))
    lumped = coarse.log_mass.copy()
    balanced = _balance(levels[1:], transposed[1:], coarse.log_mass, source)
    log_visits += (balanced - lumped)[level.group]
    kernels.balance_visits(*transposed[0], level.probs, log_source, log_visits)
    return log_visits


def _net_outflow(level: Level, levels: list[Level], ancestors: list[np.ndarray]) -> np.ndarray:
    """Return what a walk that is not reversible carries round inside each group, (n, levels above).

    In a balanced group it sums to nothing; it is made to do so to the last digit.
    """
    from mdfuzzy._kernels import walk as kernels

    net, outflow = np.zeros((len(level), level.above)), np.zeros((len(level), level.above))
    kernels.net_outflow(
        level.indptr, level.indices, level.probs, level.apart, level.exits, np.zeros(len(level)),
        level.log_mass, outflow, net,
    )  # fmt: skip
    for t, (group, above) in enumerate(zip(ancestors, levels[1:], strict=True)):
        share = np.exp(level.log_mass - above.log_mass[group])
        excess = np.bincount(group, share * net[:, t], len(above))
        excess /= np.bincount(group, share * outflow[:, t], len(above))
        net[:, t] -= outflow[:, t] * excess[group]
    return net


def _members(group: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    members = np.argsort(group, kind="stable")
    return members, _starts(np.bincount(group, minlength=count))


def _lump(level: Level, like: Level | None = None) -> Level:
    """Return the walk between the groups of a level, seen only when it goes from one to another."""
    from mdfuzzy._kernels import walk as kernels

    grouping = (level.group, level.first, level.members, CHUNKS)
    count = len(level.first) - 1
    indptr = (
        _starts(kernels.coarse_counts(level.indptr, level.indices, *grouping))
        if like is None
        else like.indptr
    )
    indices, probs = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    exits, log_mass = np.empty(count), np.empty(count)
    kernels.coarse_fill(
        level.indptr, level.indices, level.probs, level.exits, level.log_mass, *grouping,
        indptr, indices, probs, exits, log_mass,
    )  # fmt: skip
    if not np.isfinite(log_mass).all():
        raise SolveError(
            "The walk leaves some group of points with a probability below 1e-300, which double precision "
            "cannot hold. Take a larger `beta`."
        )
    coarse = Level(indptr, indices, probs, exits, log_mass)
    if like is not None:
        coarse.group, coarse.first, coarse.members = like.group, like.first, like.members
    return coarse


def _permute(level: Level, order: np.ndarray) -> None:
    from mdfuzzy._kernels import walk as kernels

    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    indptr = _starts(np.diff(level.indptr)[order])
    indices, probs = np.empty_like(level.indices), np.empty_like(level.probs)
    kernels.permute_rows(level.indptr, level.indices, level.probs, order, position, indptr, indices, probs)
    level.indptr, level.indices, level.probs = indptr, indices, probs
    level.exits, level.log_mass = level.exits[order], level.log_mass[order]


def _link(levels: list[Level], reversible: bool) -> None:
    """Work out, on every level, what the levels above need of it."""
    from mdfuzzy._kernels import walk as kernels

    budget, visits = len(levels[0].indices) / 2, 1
    for l, (level, coarse) in enumerate(zip(levels[:-1], levels[1:], strict=True)):
        level.members, level.first = _members(level.group, len(coarse))
        level.lift = np.exp(level.log_mass - coarse.log_mass[level.group])
        ancestors = [level.group]
        for above in levels[l + 1 : -1]:
            ancestors.append(above.group[ancestors[-1]])
        level.above = len(ancestors)
        level.apart = np.empty(len(level.indices), np.uint8)
        kernels.sort_by_levels_apart(
            level.indptr, np.array(ancestors), level.indices, level.probs, level.apart
        )
        level.net = np.zeros((0, level.above))
        if l == 0 and not reversible:
            level.net = _net_outflow(level, levels, ancestors)
        if l > 0 and reversible and 4 * visits * len(level.indices) <= budget:
            level.repeats = 2
            visits *= 2


def _iterate(levels: list[Level], absorb: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, float, int]:
    """Correct `x` on all levels, with Anderson acceleration, until the corrections vanish."""
    from mdfuzzy._kernels import walk as kernels

    steps: list[np.ndarray] = []
    changes: list[np.ndarray] = []
    gram = np.zeros((HISTORY, HISTORY, x.shape[1]))
    step = before = None
    for iteration in range(1, MAX_ITERATIONS + 1):
        residuals = _residuals(levels, 0, x, absorb)
        correction = _correct(levels, 0, residuals)
        largest = float(np.abs(correction).max())
        if not np.isfinite(largest):
            break
        if largest < TOLERANCE:
            return x + correction, max(float(np.abs(r).max()) for r in residuals), iteration
        if before is not None:
            if len(steps) == HISTORY:
                gram[:-1, :-1] = gram[1:, 1:]
            steps, changes = [*steps, step][-HISTORY:], [*changes, correction - before][-HISTORY:]
            last = len(steps) - 1
            for u, change in enumerate(changes):
                gram[u, last] = gram[last, u] = kernels.block_dots(change, changes[-1]).sum(axis=0)
        before = correction
        step = correction.copy()
        if changes:
            image = np.array([kernels.block_dots(u, correction).sum(axis=0) for u in changes])
            shares = _least_squares(gram[: len(changes), : len(changes)], image)
            for share, old, change in zip(shares, steps, changes, strict=True):
                step -= share * old + share * change
        x = x + step
    raise SolveError(
        f"No convergence after {iteration} iterations: the memberships still change by {largest:.1e} "
        f"(promised: {TOLERANCE:.0e}). Take a larger `beta`."
    )


def _least_squares(gram: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return the combination of changes, column by column, that cancels most of the correction."""
    shares = np.zeros(image.shape, np.float32)
    for c in range(image.shape[1]):
        scale = np.sqrt(np.diag(gram[:, :, c]))
        scale[scale == 0.0] = 1.0
        matrix = gram[:, :, c] / np.outer(scale, scale)
        shares[:, c] = np.linalg.lstsq(matrix, image[:, c] / scale, rcond=1e-12)[0] / scale
    return shares


def _residuals(levels: list[Level], at: int, x: np.ndarray, absorb: np.ndarray) -> list[np.ndarray]:
    """Return the imbalance of flow of every node of level `at` and of all the levels above it."""
    from mdfuzzy._kernels import walk as kernels

    level = levels[at]
    columns = x.shape[1]
    if level.above == 0:  # alone on its level: nothing is joined to anything
        return [(absorb - level.exits[:, None] * x).astype(np.float32)]
    own = np.empty(x.shape if at == 0 else (0, columns), np.float32)
    inner = np.empty((len(level.first) - 1, level.above, columns))
    run = kernels.flows_serial if level.serial else kernels.flows
    run(
        level.indptr, level.indices, level.probs, level.apart, level.exits, absorb, level.net, level.lift,
        level.first, level.members, x, own, inner,
    )  # fmt: skip
    residuals = [own, np.ascontiguousarray(inner[:, 0], np.float32)]
    for above in levels[at + 1 : -1]:
        outer = np.empty((len(above.first) - 1, inner.shape[1] - 1, columns))
        kernels.lift_flows(above.lift, above.first, above.members, inner, outer)
        inner = outer
        residuals.append(np.ascontiguousarray(inner[:, 0], np.float32))
    return residuals


def _correct(levels: list[Level], at: int, residuals: list[np.ndarray]) -> np.ndarray:
    """Return corrections for level `at`: what the coarser levels find, then relaxed on this one."""
    from mdfuzzy._kernels import walk as kernels

    level, rhs = levels[at], residuals[0]
    if level.above == 0:
        return rhs / level.exits[:, None].astype(np.float32)
    x = np.zeros_like(rhs)
    coarser = residuals[1:]
    for turn in range(level.repeats):
        if turn:
            nothing = np.zeros((0, x.shape[1]))
            change = _residuals(levels, at, x, nothing)[1:]
            coarser = [r + c for r, c in zip(residuals[1:], change, strict=True)]
        kernels.add_groups(x, level.group, _correct(levels, at + 1, coarser))
        if level.serial:
            kernels.relax_rows(level.indptr, level.indices, level.probs, rhs, x)
        else:
            scratch = np.empty_like(x)
            for a, b in level.slices:
                kernels.relax_slice(level.indptr, level.indices, level.probs, rhs, a, b, x, scratch)
    return x

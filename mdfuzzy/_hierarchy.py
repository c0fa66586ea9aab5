"""The hierarchy on which the absorbing walk is solved: groups of points, groups of groups, and so on."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._threads import share

#: Rows that are relaxed one after the other, about.
BLOCK_ROWS = 1024
#: Largest size of a group before further members must look elsewhere.
GROUP_SIZE = 8
#: Levels with fewer edges than this are worked on by one thread.
SERIAL_EDGES = 50_000
#: The visits on a directed graph are done when none of their logarithms changes by more.
VISITS_TOLERANCE = 1e-12
#: Cycles that the visits may take; or as many as look at so many edges in all, if that is more.
MAX_CYCLES, MAX_EDGES = 400, 20_000_000


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
    blocks: np.ndarray | None = None
    x: np.ndarray | None = None
    own: np.ndarray | None = None
    inner: np.ndarray | None = None
    above: int = 0
    repeats: int = 1

    def __len__(self) -> int:
        return len(self.exits)

    @property
    def serial(self) -> bool:
        """Whether one thread does the work."""
        return len(self.indices) < SERIAL_EDGES


def row_starts(counts: np.ndarray) -> np.ndarray:
    """Return where each row begins, and the total, from the number of entries per row."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def build_hierarchy(finest: Level, reversible: bool) -> tuple[list[Level], np.ndarray]:
    """Aggregate level by level; return the levels, arranged, and the order of the finest one."""
    from mdfuzzy._kernels import groups as kernels

    levels, ranks = [finest], []
    while True:
        level = levels[-1]
        walk = level.indptr, level.indices, level.probs, level.exits
        strongest = np.empty(len(level), np.int64)
        share(kernels.strongest_ties, len(level), *walk, strongest)
        by_mass = np.argsort(-level.log_mass, kind="stable")
        level.group, rank, count = kernels.aggregate(*walk, strongest, by_mass, GROUP_SIZE)
        if count == 0:
            break
        ranks.append(rank)
        level.members, level.first = _members(level.group, rank, count)
        levels.append(lump(level))
    if not reversible:
        levels[0].log_mass = _visits(levels)
        for l in range(len(levels) - 1):
            levels[l + 1] = lump(levels[l], like=levels[l + 1])
    orders = [np.arange(len(levels[-1]))]
    for level, rank in zip(levels[-2::-1], ranks[::-1], strict=True):
        position = np.empty(len(orders[0]), np.int32)
        position[orders[0]] = np.arange(len(orders[0]), dtype=np.int32)
        parent = np.where(level.group < 0, np.int32(-1), position[level.group])
        orders.insert(0, _members(parent, rank, len(position))[0])
        level.group = parent[orders[0]]
    for level, order in zip(levels, orders, strict=True):
        _permute(level, order)
    return levels, orders[0]


def _visits(levels: list[Level]) -> np.ndarray:
    """Return the log of the expected visits to every point, if the walk starts anywhere, all alike.

    On a directed graph this is what a point counts for in its group. It is found by aggregation and
    disaggregation (Koury, McAllister and Stewart 1984): positive numbers are rescaled, group by group, so
    that what comes in balances what goes out.
    """
    from mdfuzzy._kernels import groups as kernels

    transposed = [kernels.transpose(level.indptr, level.indices) for level in levels]
    log_visits = levels[0].log_mass
    for _ in range(max(MAX_CYCLES, MAX_EDGES // max(1, len(levels[0].indices)))):
        before = log_visits.copy()
        log_visits = _balance(levels, transposed, log_visits, np.zeros(len(levels[0])))
        if np.abs(log_visits - before).max() < VISITS_TOLERANCE:
            return log_visits
    raise SolveError("No convergence of the expected visits on the directed graph. Use the union graph.")


def _balance(
    levels: list[Level], transposed: list, log_visits: np.ndarray, log_source: np.ndarray
) -> np.ndarray:
    """Balance the visits on the first of `levels`, helped by those above it."""
    from mdfuzzy._kernels import groups as kernels

    level = levels[0]
    kernels.balance_visits(*transposed[0], level.probs, log_source, log_visits)
    if len(levels) == 1:
        return log_visits
    level.log_mass = log_visits
    levels[1] = coarse = lump(level, like=levels[1])
    source = np.empty(len(coarse))
    kernels.group_sources(
        *transposed[0], level.probs, level.group, level.first, level.members, log_source, log_visits, source
    )
    lumped = coarse.log_mass.copy()
    balanced = _balance(levels[1:], transposed[1:], coarse.log_mass, source)
    log_visits += np.where(level.group < 0, 0.0, (balanced - lumped)[level.group])
    kernels.balance_visits(*transposed[0], level.probs, log_source, log_visits)
    return log_visits


def _net_outflow(level: Level, levels: list[Level], ancestors: list[np.ndarray]) -> np.ndarray:
    """Return what a walk that is not reversible carries round inside each group, (n, levels above).

    In a balanced group it sums to nothing; it is made to do so to the last digit.
    """
    from mdfuzzy._kernels import groups as kernels

    net, outflow = np.zeros((len(level), level.above)), np.zeros((len(level), level.above))
    kernels.net_outflow(
        level.indptr, level.indices, level.probs, level.apart, level.exits, np.zeros(len(level)),
        level.log_mass, outflow, net,
    )  # fmt: skip
    for t, (group, above) in enumerate(zip(ancestors, levels[1:], strict=True)):
        inside = np.flatnonzero(group >= 0)
        own = group[inside]
        share = np.exp(level.log_mass[inside] - above.log_mass[own])
        excess = np.bincount(own, share * net[inside, t], len(above))
        excess /= np.bincount(own, share * outflow[inside, t], len(above))
        net[inside, t] -= outflow[inside, t] * excess[own]
    return net


def _members(group: np.ndarray, rank: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes by group and rank in it, those of no group last, and where each group begins."""
    grouped, alone = np.flatnonzero(group >= 0), np.flatnonzero(group < 0)
    first = row_starts(np.bincount(group[grouped], minlength=count))
    members = np.empty(len(group), np.int64)
    members[first[group[grouped]] + rank[grouped]] = grouped
    members[first[-1] :] = alone
    return members, first


def lump(level: Level, like: Level | None = None) -> Level:
    """Return the walk between the groups of a level, seen only when it goes from one to another."""
    from mdfuzzy._kernels import groups as kernels

    grouping = (level.group, level.first, level.members)
    count = len(level.first) - 1
    if like is None:
        counts = np.zeros(count, np.int64)
        share(kernels.coarse_counts, count, level.indptr, level.indices, *grouping, counts)
        indptr, dtype = row_starts(counts), level.probs.dtype
    else:  # visits have to balance to the last digit
        indptr, dtype = like.indptr, np.float64
    indices, probs = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
    exits, log_mass = np.empty(count), np.empty(count)
    share(
        kernels.coarse_fill, count,
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
    from mdfuzzy._kernels import groups as kernels

    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    indptr = row_starts(np.diff(level.indptr)[order])
    indices, probs = np.empty_like(level.indices), np.empty_like(level.probs)
    walk = level.indptr, level.indices, level.probs
    share(kernels.permute_rows, len(order), *walk, order, position, indptr, indices, probs)
    level.indptr, level.indices, level.probs = indptr, indices, probs
    level.exits, level.log_mass = level.exits[order], level.log_mass[order]


def link_levels(levels: list[Level], reversible: bool) -> None:
    """Work out, on every level, what the levels above need of it."""
    from mdfuzzy._kernels import groups as kernels

    budget, visits = len(levels[0].indices) / 2, 1
    for l, level in enumerate(levels):
        count = len(levels[l + 1]) if l + 1 < len(levels) else 0
        # in order by now, those of no group last
        level.members = np.arange(len(level))
        level.first = np.searchsorted(level.group[: np.count_nonzero(level.group >= 0)], np.arange(count + 1))
        level.blocks = _blocks(level)
    for l, level in enumerate(levels):
        grouped = np.flatnonzero(level.group >= 0)
        level.lift = np.zeros(len(level))
        ancestors = []
        starts = [level.first]
        if l + 1 < len(levels):
            to_group = level.log_mass[grouped] - levels[l + 1].log_mass[level.group[grouped]]
            level.lift[grouped] = np.exp(to_group)
            ancestors.append(level.group)
        for above in levels[l + 1 : -1]:
            below = ancestors[-1]
            ancestors.append(np.where(below < 0, -1, above.group[below]))
            starts.append(starts[-1][above.first])
        level.above = len(ancestors)
        level.apart = np.empty(len(level.indices), np.uint8)
        stacked = np.array(ancestors, np.int32).reshape(level.above, len(level))
        offsets = row_starts([len(part) for part in starts])
        edges = level.indices, level.probs, level.apart
        share(
            kernels.sort_by_levels_apart, len(level),
            level.indptr, stacked, np.concatenate(starts), offsets, *edges,
        )  # fmt: skip
        level.net = np.zeros((0, level.above))
        if l == 0 and not reversible:
            level.net = _net_outflow(level, levels, ancestors)
        if l > 0 and reversible and 4 * visits * len(level.indices) <= budget:
            level.repeats = 2
            visits *= 2


def _blocks(level: Level) -> np.ndarray:
    """Return where blocks of rows begin; each holds whole groups, so that strong ties are inside.

    What one thread does is one block.
    """
    if level.serial:
        return np.array([0, len(level)])
    cuts = np.arange(0, level.first[-1], BLOCK_ROWS)
    cuts = level.first[np.searchsorted(level.first, cuts)]
    rest = np.minimum(np.arange(level.first[-1], len(level) + BLOCK_ROWS, BLOCK_ROWS), len(level))
    return np.unique(np.concatenate([cuts, rest]))

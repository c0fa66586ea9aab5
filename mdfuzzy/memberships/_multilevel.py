"""The hierarchy on which the absorbing walk is solved: groups of points, groups of groups, and so on."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._threads import share
from mdfuzzy.frames.mapping import release, share_in_turn, trim
from mdfuzzy.memberships.errors import SolveError

#: Approximate number of rows that are relaxed one after another.
BLOCK_ROWS = 1024
#: Largest size of a group; further members must join other groups.
GROUP_SIZE = 8
#: A node that ends the walk with this probability or more is pinned: it is in no group.
PINNED = 0.5
#: One thread processes levels with fewer edges than this.
SERIAL_EDGES = 50_000
#: Groups that are lumped together, so that their edges are held twice for a moment only; and rows that are
#: read together, so that few edges in files are in memory.
STRETCH = 65_536
#: The visits on a directed graph have converged when none of their logarithms changes by more than this.
VISITS_TOLERANCE = 1e-12
#: Largest number of cycles for the visits; or the cycles that process this many edges in total, if more.
MAX_CYCLES, MAX_EDGES = 400, 20_000_000


@dataclass(kw_only=True)
class Level:
    """Hold one level of the hierarchy: a walk between nodes that ends with probability `exits`.

    `degrees` are the numbers of edges of each node that do not end the walk. The fields after it are set once
    the groups exist. The fields from `low` are set once the nodes are in the order of their groups.
    """

    indptr: np.ndarray
    indices: np.ndarray
    probs: np.ndarray
    exits: np.ndarray
    log_mass: np.ndarray
    degrees: np.ndarray
    group: np.ndarray = field(init=False)
    first: np.ndarray = field(init=False)
    members: np.ndarray = field(init=False)
    low: np.ndarray = field(init=False)
    high: np.ndarray = field(init=False)
    lift: np.ndarray = field(init=False)
    net: np.ndarray = field(init=False)
    blocks: np.ndarray = field(init=False)
    x: np.ndarray = field(init=False)
    own: np.ndarray = field(init=False)
    inner: np.ndarray = field(init=False)
    above: int = 0
    repeats: int = 1

    def __len__(self) -> int:
        return len(self.exits)

    @property
    def walk(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges and their probabilities, in compressed rows."""
        return self.indptr, self.indices, self.probs

    @property
    def grouping(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The group of every node, the start of each group among the members, and the members."""
        return self.group, self.first, self.members

    @property
    def serial(self) -> bool:
        """Whether a single thread processes the level."""
        return len(self.indices) < SERIAL_EDGES


def row_starts(counts: np.ndarray | list[int]) -> np.ndarray:
    """Return the start of each row, and the total, from the number of entries per row."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def build_hierarchy(
    finest: Level, lengths: np.ndarray, targets: np.ndarray, reversible: bool
) -> tuple[list[Level], np.ndarray]:
    """Group the points level by level; return the levels, in order, and the points of the finest one.

    `finest` is the walk on the edges of the graph, and `lengths` are their lengths. Points that are targets,
    and the edges to them, are not part of the result.
    """
    levels, ranks = _grouped(finest, lengths, targets)
    release()  # the ends of the edges, which may be in a file
    order = _arrange(levels, ranks)
    if not reversible:
        _balance_masses(levels)
    _link(levels)
    if reversible:
        _repeat(levels)
    else:
        levels[0].net = _net_outflow(levels)
    trim()  # the hierarchy is built of many arrays that are gone now
    return levels, order


def _grouped(finest: Level, lengths: np.ndarray, targets: np.ndarray) -> tuple[list[Level], list[np.ndarray]]:
    """Group and lump up to a level that needs no groups; return the levels and the ranks in the groups."""
    from mdfuzzy._kernels.walk import groups as kernels

    levels = [finest]
    ranks: list[np.ndarray] = []
    while True:
        level = levels[-1]
        groupable = level.exits < PINNED
        ties = *level.walk, lengths, groupable, np.empty(len(level)), np.empty(len(level), np.int32)
        share_in_turn(kernels.strong_ties, len(level), STRETCH, *ties)
        order = np.flatnonzero(groupable)
        order = order[np.argsort(-level.log_mass[order], kind="stable")]
        level.group, rank, count = kernels.aggregate(*ties, order, GROUP_SIZE)
        if level is finest:
            level.group[targets >= 0] = kernels.TARGET
        level.members, level.first = _members(level.group, rank, count)
        if count == 0:
            return levels, ranks
        ranks.append(rank)
        release()  # the lengths of the edges, which may be in a file
        levels.append(lump(level, level.probs.dtype))
        lengths = lengths[:0]  # groups have none


def _members(group: np.ndarray, rank: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes sorted by group and rank, ungrouped nodes last, and the start of each group."""
    from mdfuzzy._kernels.walk.groups import ALONE

    grouped, alone = np.flatnonzero(group >= 0), np.flatnonzero(group == ALONE)
    first = row_starts(np.bincount(group[grouped], minlength=count))
    members = np.empty(len(grouped) + len(alone), np.int64)
    members[first[group[grouped]] + rank[grouped]] = grouped
    members[len(grouped) :] = alone
    return members, first


def lump(level: Level, dtype: npt.DTypeLike) -> Level:
    """Return the walk between the groups of a level, observed only when it moves between groups."""
    from mdfuzzy._kernels.walk import groups as kernels

    count = len(level.first) - 1
    counts, exits, log_mass = np.empty(count, np.int64), np.empty(count), np.empty(count)
    of_level = *level.walk, level.exits, level.log_mass, *level.grouping, np.empty(0, dtype)
    indices, probs = np.empty(0, np.int32), np.empty(0, dtype)
    for start in range(0, count, STRETCH):
        parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}

        def lump_part(first: int, last: int, into: dict[int, Any] = parts, start: int = start) -> None:
            ends = start + first, start + last
            into[first] = kernels.lump_rows(*ends, *of_level, counts, exits, log_mass)

        share(lump_part, min(STRETCH, count - start))
        for first in sorted(parts):
            indices, probs = map(_extended, (indices, probs), parts.pop(first))
    if not np.isfinite(log_mass).all():
        raise SolveError(
            "The walk leaves some group of points with a probability below 1e-300, which double precision "
            "cannot hold. Take a `beta` nearer to 2."
        )
    return Level(
        indptr=row_starts(counts),
        indices=indices,
        probs=probs,
        exits=exits,
        log_mass=log_mass,
        degrees=counts,
    )


def _extended(array: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return an array with more elements at its end, in the same memory where it can grow in place."""
    size = len(array)
    array.resize(size + len(more), refcheck=False)
    array[size:] = more
    return array


def _arrange(levels: list[Level], ranks: list[np.ndarray]) -> np.ndarray:
    """Put the nodes of every level in the order of their groups; return the order of the finest level."""
    orders = [levels[-1].members]
    for level, rank in zip(levels[-2::-1], ranks[::-1], strict=True):
        grouped = level.group >= 0
        level.group[grouped] = positions(orders[0], len(orders[0]))[level.group[grouped]]
        order, level.first = _members(level.group, rank, len(orders[0]))
        level.group = level.group[order]
        orders.insert(0, order)
    levels[-1].group = levels[-1].group[orders[-1]]
    for l, order in enumerate(orders):
        levels[l].members = np.arange(len(order))
        levels[l].above = len(levels) - 1 - l
        _arrange_rows(levels, l, order)
    return orders[0]


def positions(order: np.ndarray, n: int) -> np.ndarray:
    """Return the position of each of n nodes in an order; -1 for absent nodes."""
    places = np.full(n, -1, np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _arrange_rows(levels: list[Level], l: int, order: np.ndarray) -> None:
    """Copy the walk of a level in another order; the groups of all levels are already in order."""
    from mdfuzzy._kernels.walk import groups as kernels

    level = levels[l]
    ancestors, firsts = _ancestors(levels, l)
    new = row_starts(level.degrees[order])
    groups = (
        positions(order, len(level)), ancestors, np.concatenate(firsts),
        row_starts([len(first) for first in firsts]), new,
    )  # fmt: skip

    def arranged(values: np.ndarray, dtype: npt.DTypeLike) -> np.ndarray:
        out = np.empty(new[-1], dtype)
        walk = level.indptr, level.indices, values
        share_in_turn(kernels.arrange_rows, len(level), STRETCH, *walk, *groups, out)
        return out

    # One after the other: the old probabilities are gone before there is memory for the new ends.
    level.probs = arranged(level.probs, level.probs.dtype)
    level.indices = arranged(level.probs[:0], np.int32)
    level.indptr = new
    level.low, level.high = _bounds(level.first, ancestors, firsts)
    level.exits, level.log_mass = level.exits[order], level.log_mass[order]
    level.degrees = level.degrees[order]


def _bounds(
    first: np.ndarray, ancestors: np.ndarray, firsts: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first node of each group on every level above, and the one after its last, (groups, levels).

    A group that is in no group itself holds the same nodes on all levels above.
    """
    low, high = np.zeros((2, len(first) - 1, len(ancestors)), np.int32)
    for t, (group, starts) in enumerate(zip(ancestors, firsts, strict=False)):
        own = group[first[:-1]]
        for bound, place in ((low, own), (high, own + 1)):
            bound[:, t] = np.where(own < 0, bound[:, max(t - 1, 0)], starts[place])
    return low, high


def _ancestors(levels: list[Level], l: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the group of every node at each higher level, and the start of the nodes of these groups."""
    groups, firsts = [levels[l].group], [levels[l].first]
    for above in levels[l + 1 : -1]:
        groups.append(np.where(groups[-1] < 0, np.int32(-1), above.group[groups[-1]]))
        firsts.append(firsts[-1][above.first])
    count = levels[l].above
    return np.array(groups[:count], np.int32).reshape(count, len(groups[0])), firsts


def _link(levels: list[Level]) -> None:
    """Compute the weight of every node in its group, and the blocks that are relaxed independently."""
    for l, level in enumerate(levels):
        level.blocks = _blocks(level)
        level.net = np.zeros((0, level.above))
        level.lift = np.zeros(len(level))
        if level.above:
            grouped = np.flatnonzero(level.group >= 0)
            to_group = level.log_mass[grouped] - levels[l + 1].log_mass[level.group[grouped]]
            level.lift[grouped] = np.exp(to_group)


def _blocks(level: Level) -> np.ndarray:
    """Return the starts of blocks of rows; blocks hold whole groups, so strong ties are inside blocks.

    The work of a single thread is one block.
    """
    if level.serial:
        return np.array([0, len(level)])
    cuts = np.arange(0, level.first[-1], BLOCK_ROWS)
    cuts = level.first[np.searchsorted(level.first, cuts)]
    rest = np.minimum(np.arange(level.first[-1], len(level) + BLOCK_ROWS, BLOCK_ROWS), len(level))
    return np.unique(np.concatenate([cuts, rest]))


def _repeat(levels: list[Level]) -> None:
    """Correct coarse levels twice for each correction of the level below, if this is cheap."""
    budget, visits = len(levels[0].indices) / 2, 1
    for level in levels[1:]:
        if 4 * visits * len(level.indices) <= budget:
            level.repeats = 2
            visits *= 2


def _balance_masses(levels: list[Level]) -> None:
    """Weight every node of a walk that is not reversible by its number of visits.

    This is the expected number of visits of a walk that starts at all points with equal probability. It is
    computed by aggregation and disaggregation (Koury, McAllister and Stewart 1984): positive numbers are
    rescaled, group by group, until inflow and outflow balance.
    """
    from mdfuzzy._kernels.walk import balance as kernels

    # The starting values have an arbitrary scale; numbers far from 1 would overflow or underflow.
    levels[0].log_mass = np.maximum(levels[0].log_mass - levels[0].log_mass.max(), -600.0)
    _lump_again(levels)
    transposed = [kernels.transpose(level.indptr, level.indices) for level in levels]
    log_visits = levels[0].log_mass
    for _ in range(max(MAX_CYCLES, MAX_EDGES // max(1, len(levels[0].indices)))):
        before = log_visits.copy()
        log_visits = _balance(levels, transposed, log_visits, np.zeros(len(levels[0])))
        if np.abs(log_visits - before).max() < VISITS_TOLERANCE:
            break
    else:
        raise SolveError("No convergence of the expected visits on the directed graph. Use the union graph.")
    levels[0].log_mass = log_visits
    _lump_again(levels)
    for l in range(1, len(levels)):
        _arrange_rows(levels, l, np.arange(len(levels[l])))


def _lump_again(levels: list[Level]) -> None:
    """Recompute the walk of each level except the finest from the level below.

    This uses double precision, because visits have to balance to the last digit.
    """
    for level, coarse in pairwise(levels):
        again = lump(level, np.float64)
        coarse.indptr, coarse.indices, coarse.probs = again.walk
        coarse.exits, coarse.log_mass = again.exits, again.log_mass


def _balance(
    levels: list[Level],
    transposed: list[tuple[np.ndarray, ...]],
    log_visits: np.ndarray,
    log_source: np.ndarray,
) -> np.ndarray:
    """Balance the visits on the first of `levels`, with corrections from the higher levels."""
    from mdfuzzy._kernels.walk import balance as kernels

    level = levels[0]
    kernels.balance_visits(*transposed[0], level.probs, log_source, log_visits)
    if len(levels) == 1:
        return log_visits
    level.log_mass = log_visits
    _lump_again(levels[:2])
    lumped = levels[1].log_mass.copy()
    source = np.empty(len(lumped))
    kernels.group_sources(*transposed[0], level.probs, *level.grouping, log_source, log_visits, source)
    balanced = _balance(levels[1:], transposed[1:], levels[1].log_mass, source)
    log_visits += np.where(level.group < 0, 0.0, (balanced - lumped)[level.group])
    kernels.balance_visits(*transposed[0], level.probs, log_source, log_visits)
    return log_visits


def _net_outflow(levels: list[Level]) -> np.ndarray:
    """Return the circular flow of a walk that is not reversible inside each group, (n, levels above).

    In a balanced group it sums to zero; the sum is corrected to be zero to the last digit.
    """
    from mdfuzzy._kernels.walk import balance as kernels

    level = levels[0]
    net, outflow = np.zeros((len(level), level.above)), np.zeros((len(level), level.above))
    kernels.net_outflow(
        *level.walk,
        level.group,
        level.low,
        level.high,
        level.exits,
        np.zeros(len(level)),
        level.log_mass,
        outflow,
        net,
    )
    for t, (group, above) in enumerate(zip(_ancestors(levels, 0)[0], levels[1:], strict=True)):
        inside = np.flatnonzero(group >= 0)
        own = group[inside]
        share = np.exp(level.log_mass[inside] - above.log_mass[own])
        excess = np.bincount(own, share * net[inside, t], len(above)) / np.bincount(
            own, share * outflow[inside, t], len(above)
        )
        net[inside, t] -= outflow[inside, t] * excess[own]
    return net

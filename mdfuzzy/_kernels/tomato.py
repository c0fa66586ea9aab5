"""Find the peaks of a function on a graph, their merging, and the connected cores around them."""

from heapq import heappop, heappush

import numpy as np

from mdfuzzy._kernels.jit import compiled


@compiled()
def _root(joined: np.ndarray, i: int) -> int:
    """Return the representative of `i`, halving the path to it."""
    while joined[i] != i:
        joined[i] = joined[joined[i]]
        i = joined[i]
    return i


@compiled(nogil=True)
def highest_neighbors(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    rank: np.ndarray,
    up: np.ndarray,  # OUT
) -> None:
    """Set, for each point, the rank of its highest neighbour; its own if it has no higher one."""
    for x in range(first, last):
        best = rank[x]
        for e in range(indptr[x], indptr[x + 1]):
            best = min(best, rank[indices[e]])
        up[x] = best


@compiled()
def ascend(order: np.ndarray, up: np.ndarray):
    """Follow highest neighbours up; return the peak number of each point, and the peaks from high to low."""
    n = len(order)
    leaf = np.empty(n, np.int32)
    peaks = np.empty(n, np.int32)
    count = 0
    for r in range(n):
        x = order[r]
        if up[x] == r:
            peaks[count] = x
            leaf[x] = count
            count += 1
        else:
            leaf[x] = leaf[order[up[x]]]
    return leaf, peaks[:count].copy()


@compiled(nogil=True)
def find_borders(
    first: int,
    last: int,
    indptr: np.ndarray,
    indices: np.ndarray,
    rank: np.ndarray,
    leaf: np.ndarray,
    joined: np.ndarray,
    points: np.ndarray,
    border: np.ndarray,  # OUT, False before
) -> None:
    """Mark which of `points` have a higher neighbour in another component: no other can join components.

    Components only grow, so the mark may be made with those of an earlier, higher level: `joined` has the
    representative of each peak (directly, not by a path).
    """
    for i in range(first, last):
        x = points[i]
        home = joined[leaf[x]]
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if joined[leaf[y]] != home and rank[y] < rank[x]:
                border[i] = True
                break


@compiled()
def merge_peaks(
    indptr: np.ndarray,
    indices: np.ndarray,
    rank: np.ndarray,
    leaf: np.ndarray,
    borders: np.ndarray,
    joined: np.ndarray,  # IN, OUT
    saddle: np.ndarray,  # OUT
    parent: np.ndarray,  # OUT
) -> None:
    """Sweep border points from high to low and join the components that each one touches.

    Where a point touches several components, all of them but the one with the highest peak end.

    Parameters
    ----------
    indptr, indices : compressed rows of a symmetric graph
    rank : (n,) int32
        The place of each point from high to low.
    leaf : (n,) int32
        The number of the peak to which each point ascends; peaks are numbered from high to low.
    borders : (m,) int32
        The points that `find_borders` marks, from high to low.
    joined : (P,) int32
        Union-find over peaks; the highest, so the smallest number, represents. On return every peak leads to
        its representative directly.
    saddle : (P,) int32
        The point at which each peak's component meets one with a higher peak.
    parent : (P,) int32
        The peak to which the other side of that saddle ascends.
    """
    n_peaks = len(joined)
    touched = np.empty(n_peaks, np.int32)  # the other components around one point, each once,
    gateway = np.empty(n_peaks, np.int32)  # and the highest neighbour in each
    for x in borders:
        home = leaf[x]
        root = _root(joined, home)
        count = 0
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if leaf[y] == home or rank[y] > rank[x]:
                continue
            top = _root(joined, leaf[y])
            if top == root:
                continue
            at = 0
            while at < count and touched[at] != top:
                at += 1
            if at == count:
                touched[at] = top
                gateway[at] = y
                count += 1
            elif rank[y] < rank[gateway[at]]:
                gateway[at] = y
        if count == 0:
            continue
        highest = 0
        for t in range(1, count):
            if touched[t] < touched[highest]:
                highest = t
        if touched[highest] < root:  # the component that x ascends in ends, too
            saddle[root] = x
            parent[root] = leaf[gateway[highest]]
            joined[root] = touched[highest]
        else:
            highest = -1
        for t in range(count):
            if t != highest:
                saddle[touched[t]] = x
                parent[touched[t]] = home
                joined[touched[t]] = _root(joined, root)
    for p in range(n_peaks):  # a representative has a smaller number, so it is done before
        joined[p] = joined[joined[p]]


@compiled()
def grow_cores(
    indptr: np.ndarray,
    indices: np.ndarray,
    order: np.ndarray,
    rank: np.ndarray,
    basins: np.ndarray,
    peaks: np.ndarray,
    lowest: np.ndarray,
    least: np.ndarray,
    labels: np.ndarray,  # OUT
) -> None:
    """Flood each basin from its peak, always to the highest point on the shore.

    The flood of state c takes every point of rank at most ``lowest[c]`` that it can reach through such
    points of its basin, and then goes on below until it holds ``least[c]`` points and everything
    that can be reached no lower than the lowest of them.

    Parameters
    ----------
    basins : (n,) int32
        The state of each point.
    peaks : (K,) int32
        The highest point of each state.
    lowest : (K,) int64
        Points of this rank or a higher place (a smaller number) belong if they are connected.
    least : (K,) int64
        The smallest number of points.
    labels : (n,) int32
        Filled with -1 before; receives the state of each point of a core.
    """
    seen = np.zeros(len(rank), np.bool_)
    for c in range(len(peaks)):
        shore = [rank[peaks[c]]]
        seen[peaks[c]] = True
        level = lowest[c]
        size = 0
        while len(shore) > 0 and (shore[0] <= level or size < least[c]):
            r = heappop(shore)
            level = max(level, r)
            x = order[r]
            labels[x] = c
            size += 1
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if not seen[y] and basins[y] == c:
                    seen[y] = True
                    heappush(shore, rank[y])


@compiled()
def flood(
    indptr: np.ndarray,
    indices: np.ndarray,
    order: np.ndarray,
    rank: np.ndarray,
    basins: np.ndarray,
    peak: int,
) -> np.ndarray:
    """Return the points of the basin of a peak in the order of a flood, always to the highest on the shore.

    The first points of it, up to any number, are the core of that size; `grow_cores` does the same for
    cores whose size is known.
    """
    state = basins[peak]
    seen = np.zeros(len(rank), np.bool_)
    taken = np.empty(len(rank), np.int32)
    count = 0
    shore = [rank[peak]]
    seen[peak] = True
    while len(shore) > 0:
        x = order[heappop(shore)]
        taken[count] = x
        count += 1
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if not seen[y] and basins[y] == state:
                seen[y] = True
                heappush(shore, rank[y])
    return taken[:count].copy()

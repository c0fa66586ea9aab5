"""Superlevel sets of a function on a graph: its peaks, how they merge, and the connected tops around them."""

from heapq import heappop, heappush

import numpy as np

from mdfuzzy._kernels.jit import kernel


@kernel()
def _root(joined: np.ndarray, i: int) -> int:
    """Return the representative of `i`, halving the path to it."""
    while joined[i] != i:
        joined[i] = joined[joined[i]]
        i = joined[i]
    return i


@kernel()
def merge_peaks(indptr: np.ndarray, indices: np.ndarray, order: np.ndarray, rank: np.ndarray):
    """Sweep the points from high to low and join the components that each one touches.

    A point without a higher neighbour is a peak; any other ascends to the peak of its highest neighbour.
    Where a point touches several components, all of them but the one with the highest peak end.

    Parameters
    ----------
    indptr, indices : compressed rows of a symmetric graph
    order : (n,) int32
        The points from high to low.
    rank : (n,) int32
        The inverse of `order`.

    Returns
    -------
    leaf : (n,) int32
        The number of the peak to which each point ascends; peaks are numbered from high to low.
    peaks : (P,) int32
        Their points.
    saddle : (P,) int32
        The point at which each peak's component meets one with a higher peak; -1 if it never does.
    parent : (P,) int32
        The peak to which the other side of that saddle ascends; the peak itself if it never ends.
    """
    n = len(order)
    leaf = np.empty(n, np.int32)
    peaks = np.empty(n, np.int32)
    saddle = np.full(n, -1, np.int32)
    parent = np.empty(n, np.int32)
    joined = np.empty(n, np.int32)  # union-find over peaks; the highest, so the smallest number, represents
    touched = np.empty(n, np.int32)  # the components around one point, each once,
    gateway = np.empty(n, np.int32)  # and the rank of the highest neighbour in each
    count = 0
    for r in range(n):
        x = order[r]
        n_touched = 0
        last, at = -1, 0  # the peak seen last (most neighbours share it) and its component's place
        for e in range(indptr[x], indptr[x + 1]):
            s = rank[indices[e]]
            if s >= r:
                continue
            ascent = leaf[order[s]]
            if ascent != last:
                last = ascent
                top = _root(joined, ascent)
                at = 0
                while at < n_touched and touched[at] != top:
                    at += 1
                if at == n_touched:
                    touched[at] = top
                    gateway[at] = s
                    n_touched += 1
            gateway[at] = min(gateway[at], s)
        if n_touched == 0:
            peaks[count] = x
            parent[count] = count
            joined[count] = count
            leaf[x] = count
            count += 1
            continue
        home, highest = 0, 0  # the component of the highest neighbour; the one with the highest peak
        for t in range(1, n_touched):
            if gateway[t] < gateway[home]:
                home = t
            if touched[t] < touched[highest]:
                highest = t
        leaf[x] = leaf[order[gateway[home]]]
        for t in range(n_touched):
            if t != highest:
                saddle[touched[t]] = x
                side = highest if t == home else home
                parent[touched[t]] = leaf[order[gateway[side]]]
                joined[touched[t]] = touched[highest]
    return leaf, peaks[:count].copy(), saddle[:count].copy(), parent[:count].copy()


@kernel()
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

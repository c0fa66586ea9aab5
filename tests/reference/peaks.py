"""Slow, obvious twins of the peaks, merge tree, cores and densities."""

import numpy as np


def adjacency(graph):
    """The graph as a list of sets of neighbours."""
    return [{int(j) for j in graph.edges(i)[0]} for i in range(len(graph))]


def component(neighbors, start, allowed):
    """The points that can be reached from `start` through points in the set `allowed`."""
    found, front = {start}, [start]
    while front:
        for j in neighbors[front.pop()] & allowed:
            if j not in found:
                found.add(j)
                front.append(j)
    return found


def heights(log_density):
    """Sort keys that break ties by index: the smaller index is higher."""
    return [(value, -i) for i, value in enumerate(log_density)]


def persistence(graph, log_density):
    """{peak: (saddle or None)} by the definition: recompute the component of every peak at every level."""
    neighbors, height = adjacency(graph), heights(log_density)
    order = sorted(range(len(graph)), key=height.__getitem__, reverse=True)
    saddles = {}
    for x in order:
        if all(height[j] < height[x] for j in neighbors[x]):
            saddles[x] = None
            allowed = set(order[: order.index(x)])
            for level in order[order.index(x) :]:
                allowed.add(level)
                if max(component(neighbors, x, allowed), key=height.__getitem__) != x:
                    saddles[x] = level
                    break
    return saddles


def tomato(graph, log_density, min_prominence):
    """The peak of each point's cluster by ToMATo as first written: one sweep, merging as it goes."""
    neighbors, height = adjacency(graph), heights(log_density)
    cluster, component = {}, {}  # merged if not prominent; merged always

    def find(root, i):
        while root[i] != i:
            i = root[i]
        return i

    for x in sorted(range(len(graph)), key=height.__getitem__, reverse=True):
        higher = sorted(
            (j for j in neighbors[x] if height[j] > height[x]), key=height.__getitem__, reverse=True
        )
        if not higher:
            cluster[x] = component[x] = x
            continue
        cluster[x] = find(cluster, higher[0])
        gates = {}  # the highest neighbour in each component, the component with the highest peak first
        for j in higher:
            gates.setdefault(find(component, j), j)
        component[x] = find(component, higher[0])
        for top in sorted(gates, key=height.__getitem__, reverse=True):
            for root, prominent in ((cluster, min_prominence), (component, np.inf)):
                low, high = sorted((find(root, x), find(root, gates[top])), key=height.__getitem__)
                if low != high and log_density[low] - log_density[x] < prominent:
                    root[low] = high
    return np.array([find(cluster, i) for i in range(len(graph))])


def top(graph, log_density, peak, level, basin):
    """The component of `peak` among the points of `basin` above `level`."""
    allowed = {i for i in basin if log_density[i] > level} | {peak}
    return component(adjacency(graph), peak, allowed)


def share_top(graph, log_density, peak, share, basin):
    """The component of `peak` at the highest level at which it holds the share of its basin."""
    neighbors, height = adjacency(graph), heights(log_density)
    allowed = set()
    for i in sorted(basin, key=height.__getitem__, reverse=True):
        allowed.add(i)
        found = component(neighbors, peak, allowed)
        if len(found) >= share * len(basin):
            return found
    raise AssertionError("a basin is connected")


def saddle_level(graph, log_density, peak, others):
    """The highest level at which `peak` is in one component with any of `others`; -inf if at none."""
    neighbors = adjacency(graph)
    for level in sorted(log_density, reverse=True):
        allowed = {i for i in range(len(graph)) if log_density[i] >= level}
        if peak in allowed and component(neighbors, peak, allowed) & set(others):
            return level
    return -np.inf


def dtm(points, m):
    """Distance to measure from coordinates."""
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return np.array([np.sqrt(np.mean(np.sort(row)[1 : m + 1] ** 2)) for row in distances])

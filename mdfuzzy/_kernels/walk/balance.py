"""Kernels for walks that are not reversible: visits of nodes, and circular flows of groups."""

import numpy as np

from mdfuzzy._kernels.jit import compiled


@compiled()
def transpose(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each node the edges that lead to it: (starts, source nodes, places of the edges)."""
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    for e in range(len(indices)):
        starts[indices[e] + 1] += 1
    for j in range(n):
        starts[j + 1] += starts[j]
    fill = starts[:-1].copy()
    rows = np.empty(len(indices), np.int32)
    edges = np.empty(len(indices), np.int64)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            at = fill[indices[e]]
            fill[indices[e]] += 1
            rows[at] = i
            edges[at] = e
    return starts, rows, edges


@compiled()
def balance_visits(
    starts: np.ndarray,
    rows: np.ndarray,
    edges: np.ndarray,
    probs: np.ndarray,
    log_source: np.ndarray,
    log_visits: np.ndarray,  # IN, OUT
) -> None:
    """Set the visits of one node after the other to its inflow: v_j = source_j + sum_i v_i P_ij."""
    for j in range(len(log_visits)):
        here = log_visits[j]
        total = np.exp(log_source[j] - here)
        for s in range(starts[j], starts[j + 1]):
            total += probs[edges[s]] * np.exp(log_visits[rows[s]] - here)
        log_visits[j] = here + np.log(total)


@compiled()
def group_sources(
    starts: np.ndarray,
    rows: np.ndarray,
    edges: np.ndarray,
    probs: np.ndarray,
    group: np.ndarray,
    first: np.ndarray,
    members: np.ndarray,
    log_source: np.ndarray,
    log_visits: np.ndarray,
    out: np.ndarray,  # OUT
) -> None:
    """Set the logarithm of the inflow of each group from its sources and from nodes without a group."""
    for g in range(len(first) - 1):
        top = -np.inf
        for s in range(first[g], first[g + 1]):
            top = max(top, log_visits[members[s]])
        total = 0.0
        for s in range(first[g], first[g + 1]):
            j = members[s]
            total += np.exp(log_source[j] - top)
            for a in range(starts[j], starts[j + 1]):
                if group[rows[a]] < 0:
                    total += probs[edges[a]] * np.exp(log_visits[rows[a]] - top)
        out[g] = top + np.log(total)


@compiled()
def net_outflow(
    indptr: np.ndarray,
    indices: np.ndarray,
    probs: np.ndarray,
    group: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    exits: np.ndarray,
    log_source: np.ndarray,
    log_visits: np.ndarray,
    outflow: np.ndarray,  # OUT
    net: np.ndarray,  # OUT
) -> None:
    """Set the outflow of each node from its groups, per visit, and this outflow minus the inflow.

    The nodes of group g on level t are those from ``low[g, t]`` to ``high[g, t]``.
    """
    n, levels = net.shape
    for i in range(n):
        g = group[i]
        source = np.exp(log_source[i] - log_visits[i])
        for t in range(levels):
            outflow[i, t] = exits[i]
            net[i, t] -= source
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            into = probs[e] * np.exp(log_visits[i] - log_visits[j])
            for t in range(levels):
                if g >= 0 and low[g, t] <= j < high[g, t]:
                    break
                outflow[i, t] += probs[e]
                net[j, t] -= into
    for i in range(n):
        for t in range(levels):
            net[i, t] += outflow[i, t]

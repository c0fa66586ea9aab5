"""Small graphs, and densities on them."""

import numpy as np
from hypothesis import strategies as st

import mdfuzzy as mf


def path_graph(n, extra=()):
    """Points 0..n-1 in a row, each joined to the next, and the extra edges."""
    return graph_of(n, [(i, i + 1) for i in range(n - 1)] + list(extra))


def graph_of(n, edges):
    rows = [set() for _ in range(n)]
    for i, j in edges:
        if i != j:
            rows[i].add(j)
            rows[j].add(i)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = [j for row in rows for j in sorted(row)]
    return mf.Graph(indptr, indices, np.ones(len(indices)), kind="radius", n_targets=n, radius=1.0)


@st.composite
def random_graphs(draw):
    """Small graphs of any shape, with many ties among the values."""
    n = draw(st.integers(1, 14))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph = graph_of(n, draw(st.lists(pairs, max_size=3 * n)))
    values = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    return graph, np.array(values, dtype=float)


def sample(seed, n=400, d=2, k=6):
    rng = np.random.default_rng(seed)
    neighbors = mf.euclidean_neighbors(rng.normal(size=(n, d)), n_neighbors=2 * k)
    return neighbors.graph(k=k), mf.dtm_log_density(neighbors, dimension=d)


def two_wells(n=600, k=8, *, kind="union", seed=0):
    """Two lumps in the plane: points, neighbours, graph, log density, cores of two states."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)) + np.where(np.arange(n) % 2, 2.0, -2.0)[:, None] * [1.0, 0.0]
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k)
    log_density = mf.dtm_log_density(neighbors, dimension=2)
    return points, neighbors, neighbors.graph(k, kind=kind), log_density, cores_of(points, log_density)


def cores_of(points, log_density):
    side = (points[:, 0] > 0).astype(int)
    labels = np.full(len(points), -1)
    for c in range(2):
        inside = np.flatnonzero(side == c)
        labels[inside[np.argsort(-log_density[inside])[:5]]] = c
    peaks = [np.flatnonzero(labels == c)[0] for c in range(2)]
    return mf.Cores(side, labels, np.array(peaks), np.ones(2))


def path(n=5):
    rows = [[j for j in (i - 1, i + 1) if 0 <= j < n] for i in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    graph = mf.Graph(indptr, np.concatenate(rows), np.ones(2 * n - 2), kind="radius", n_targets=n, radius=1.0)
    labels = np.full(n, -1)
    labels[[0, -1]] = 0, 1
    return graph, mf.Cores(np.zeros(n), labels, np.array([0, n - 1]), np.ones(2))

"""
Test of the drift of the random walk
====================================

The random walk on the data should follow :math:`dY = \\frac1\\beta \\nabla \\log f \\, dt + dB`. Here its
drift is measured: points are drawn from a density that grows as :math:`e^{x}` along one axis and is periodic
along all others (so that there are no other edges), and one step of the walk from every point away from the
two ends gives the ratio of its mean to its mean square along the axis. The diffusion says that it is
:math:`1/\\beta`.

Run ``python walk_drift.py 20000`` for more points.
"""

import sys

import numpy as np

import mdfuzzy as mf
from mdfuzzy.memberships.weights import walk_exponent

POINTS = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
LENGTH = 4.0  # of the axis with the gradient; the others have length 1
BETAS = (2.0, 1.0, 0.5, 0.25)


def sample(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """Draw points with density exp(x) on [0, LENGTH] times the unit torus."""
    points = rng.random((n, dimension))
    points[:, 0] = np.log1p(points[:, 0] * np.expm1(LENGTH))
    return points


def torus_neighbors(points: np.ndarray, k: int) -> mf.Neighbors:
    """Find the k nearest neighbours, by brute force."""
    n = len(points)
    indices, distances = np.empty((n, k), np.int32), np.empty((n, k))
    for rows in np.array_split(np.arange(n), max(1, n // 200)):
        squares = np.zeros((len(rows), n))
        for axis in range(points.shape[1]):
            apart = np.abs(points[rows, None, axis] - points[None, :, axis])
            squares += (np.minimum(apart, 1 - apart) if axis else apart) ** 2
        squares[np.arange(len(rows)), rows] = np.inf
        near = np.argpartition(squares, k, axis=1)[:, :k]
        near = np.take_along_axis(near, np.take_along_axis(squares, near, axis=1).argsort(axis=1), axis=1)
        indices[rows], distances[rows] = near, np.sqrt(np.take_along_axis(squares, near, axis=1))
    return mf.Neighbors(indices, distances)


def drift(points: np.ndarray, graph: mf.Graph, log_density: np.ndarray, beta: float) -> float:
    """Measure the drift along the first axis, in units of the gradient of the log density."""
    weights = np.exp(
        walk_exponent(graph, beta, dimension=points.shape[1]) * (log_density - log_density.max())
    )
    rows = np.repeat(np.arange(len(graph)), graph.degrees)
    step = points[graph.indices, 0] - points[rows, 0]
    chance = weights[graph.indices]
    chance = chance / np.bincount(rows, chance)[rows]
    reach = float(graph.distances.max())
    inside = np.flatnonzero((points[:, 0] > min(reach, 1.2)) & (points[:, 0] < LENGTH - min(reach, 1.2)))
    mean = np.bincount(rows, chance * step)[inside].mean()
    return mean / np.bincount(rows, chance * step**2)[inside].mean()


# %%
# The table gives the drift measured on both graphs, where :math:`1/\beta` is 0.5, 1, 2 and 4. In many
# dimensions neighbours are far away. If the weights change much over the length of one step, the step no
# longer follows the local gradient, and at low temperature the drift is weaker than expected.

rng = np.random.default_rng(0)
results = {}
for dimension, k in ((2, 20), (3, 20), (5, 10), (10, 10)):
    points = sample(POINTS, dimension, rng)
    neighbors = torus_neighbors(points, 2 * k)
    log_density = mf.dtm_log_density(neighbors, dimension=dimension)
    for kind in ("union", "directed"):
        graph = neighbors.graph(k, kind=kind)
        results[dimension, kind] = [drift(points, graph, log_density, beta) for beta in BETAS]

sys.stdout.write("d   graph     " + "".join(f"1/beta={1 / beta:<5g}" for beta in BETAS) + "\n")
for (dimension, kind), row in results.items():
    sys.stdout.write(f"{dimension:<4}{kind:<10}" + "".join(f"{value:<12.2f}" for value in row) + "\n")

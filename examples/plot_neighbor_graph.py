"""
Directed and union neighbour graphs
===================================

Both graphs join every point to its nearest neighbours. In the directed graph an isolated point has edges to
its neighbours, but its neighbours have no edges to it. The union graph adds the reverse edges, so it is
symmetric.
"""

# %%
# Thirty points in two groups, and a single point between them (number 30).

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

rng = np.random.default_rng(3)
points = np.vstack([rng.normal(-1.5, 0.5, (15, 2)), rng.normal(1.5, 0.5, (15, 2)), [[0.0, 0.0]]])
neighbors = mf.euclidean_neighbors(points, n_neighbors=6)

# %%
# By default a graph uses half of the neighbours that were found, here three.

directed = neighbors.graph(kind="directed")
union = neighbors.graph(kind="union")
print(directed, directed.degrees)
print(union, union.degrees)

# %%
# The point in the middle is not among the three nearest neighbours of any other point. On the directed graph
# a walk that leaves it never returns; on the union graph it can.

leads_to_30 = [int(np.sum(graph.indices == 30)) for graph in (directed, union)]
print("edges that lead to the point in the middle:", leads_to_30)

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, sharey=True, layout="constrained")
for ax, graph in zip(axes, (directed, union), strict=True):
    for i in range(len(graph)):
        for j in graph.edges(i)[0]:
            arrow = {"arrowstyle": "-|>" if graph is directed else "-", "color": "0.6", "shrinkB": 3}
            ax.annotate("", points[j], points[i], arrowprops=arrow)
    ax.plot(*points[:30].T, "o", color="tab:blue")
    ax.plot(*points[30], "o", color="tab:red")
    ax.set(title=graph.kind, aspect="equal", xticks=[], yticks=[])

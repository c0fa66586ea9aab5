"""
Beta: how hot the walk is
=========================

Memberships are where a random walk that is drawn to high density arrives first. Beta is its temperature:
large is hot, 2 is the ensemble's own diffusion, and towards 0 every point falls into its own basin.
"""

# %%
# Two clusters of points that overlap, one of them smaller.

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

rng = np.random.default_rng(1)
points = np.concatenate([rng.normal([0, 0], 1.0, (1600, 2)), rng.normal([3.4, 0], 0.8, (800, 2))])
result = mf.cluster(points, mf.Settings(dimension=2))
print(result)

# %%
# The entropy of the memberships falls with beta: they grow fuzzy. Without trajectories the beta is taken at
# which it falls most steeply, which is what ``mf.Settings(beta="entropy")`` does, on a finer grid; with them
# ``beta="kinetic"`` asks which beta predicts best where the molecule goes next.

walk = result.graph, result.log_density, result.cores
scan = mf.scan_beta(*walk, betas=np.geomspace(0.3, 10, 7), dimension=2)
print(scan)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
mf.plots.beta_scan(scan, ax=ax)

# %%
# The second-highest membership at three temperatures. Cold, only the border of the two basins is shared; hot,
# hardly any point belongs to one cluster alone.

fig, axes = plt.subplots(1, 3, figsize=(12, 3.3), sharey=True, layout="compressed")
for ax, beta in zip(axes, (0.3, 1.0, 4.0), strict=True):
    memberships = mf.solve_memberships(*walk, beta=beta, dimension=2)
    what = {"kind": "second", "cores": result.cores, "labels": ("x", "y"), "guide": beta == 4.0}
    mf.plots.plane(points, memberships, ax=ax, **what)
    ax.set_title(f"beta = {beta:g}")
plt.show()

"""
Beta: the walk temperature
==========================

A membership is the probability that a random walk with a drift towards high density reaches the core of a
state first. Beta is the temperature of the walk: large is hot, and 2 is the temperature of the simulation.
Towards 0 every point belongs to its own basin. In statistical mechanics beta is 1/kT, the opposite.
"""

# %%
# Two overlapping clusters of points; one is smaller.

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

rng = np.random.default_rng(1)
points = np.concatenate([rng.normal([0, 0], 1.0, (1600, 2)), rng.normal([3.4, 0], 0.8, (800, 2))])
result = mf.cluster(points, mf.Settings(dimension=2))
print(result)

# %%
# The memberships become fuzzier as beta grows. ``mf.Settings(beta="entropy")`` takes the beta at which their
# entropy changes most steeply (on a finer grid than here). With trajectories, ``beta="kinetic"`` takes the
# beta that best predicts which state the molecule visits next.

walk = result.graph, result.log_density, result.cores
scan = mf.scan_beta(*walk, betas=np.geomspace(0.3, 10, 7), dimension=2)
print(scan)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
mf.plots.beta_scan(scan, ax=ax)

# %%
# The second-highest membership at three walk temperatures. At low temperature only points at the border of
# the two basins have mixed memberships; at high temperature almost all points do.

fig, axes = plt.subplots(1, 3, figsize=(12, 3.3), sharey=True, layout="compressed")
for ax, beta in zip(axes, (0.3, 1.0, 4.0), strict=True):
    memberships = mf.solve_memberships(*walk, beta=beta, dimension=2)
    what = {"kind": "second", "cores": result.cores, "labels": ("x", "y"), "guide": beta == 4.0}
    mf.plots.plane(points, memberships, ax=ax, **what)
    ax.set_title(f"beta = {beta:g}")
plt.show()

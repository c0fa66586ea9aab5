"""
Which peaks are states: persistence and prominence
==================================================

Noise makes many peaks of the density that hardly stand out, states make few that do.
"""

# %%
# The density of the frames and its peaks.

import matplotlib.pyplot as plt

import mdfuzzy as mf

frames = mf.datasets.alanine_dipeptide(stride=3)
neighbors = mf.rmsd_neighbors(frames, n_neighbors=2 * mf.suggest_k(len(frames)))
graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
peaks = mf.compute_persistence(graph, log_density)
print(peaks)
print(peaks.prominence_gap())

# %%
# In the persistence diagram a peak stands at the log density of its top and at that of the saddle which
# leads to a higher peak; the highest of all has no such saddle. Its distance from the diagonal is its
# prominence. Grey: below the threshold that noise does not reach.

fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
mf.plots.persistence_diagram(peaks, ax=axes[0])
mf.plots.prominences(peaks, ax=axes[1])

# %%
# Another threshold gives other states, without computing anything again. Here it merges the two most alike.

fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
mf.plots.persistence_diagram(peaks, prominence=2.0, ax=axes[0])
mf.plots.prominences(peaks, prominence=2.0, ax=axes[1])
plt.show()

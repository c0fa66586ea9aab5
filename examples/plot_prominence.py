"""
Which peaks are states: persistence and prominence
==================================================

Noise produces many peaks of the density with a small prominence; states produce a few peaks with a large
prominence.
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
# In the persistence diagram the coordinates of a peak are the log density at the peak and at the saddle to a
# higher peak; the highest peak has no such saddle. The distance from the diagonal is the
# prominence. Peaks in the grey area are below the threshold and could be noise.

fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
mf.plots.persistence_diagram(peaks, ax=axes[0])
mf.plots.prominences(peaks, ax=axes[1])

# %%
# Another threshold gives other states without recomputation. Here it merges the two least separated states.

fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
mf.plots.persistence_diagram(peaks, prominence=2.0, ax=axes[0])
mf.plots.prominences(peaks, prominence=2.0, ax=axes[1])
plt.show()

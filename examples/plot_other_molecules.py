"""
Molecules without phi and psi
=============================

The Ramachandran plot needs a protein backbone. The same pictures can be drawn over any two features, and
over the principal components of the superposed coordinates, which every molecule has.
"""

# %%
# Alanine dipeptide again, here without using its backbone torsions.

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

frames = mf.datasets.alanine_dipeptide(stride=3)
result = mf.cluster(frames)

# %%
# The frames are superposed on their mean structure; the axes are the two directions of largest
# variance. A distance in the plane is never larger than the RMSD of the two superposed frames.

fig, axes = plt.subplots(1, 3, figsize=(11.4, 3.1), layout="compressed")
for ax, kind in zip(axes, ("free_energy", "states", "second"), strict=True):
    mf.plots.plane(frames, result, kind=kind, ax=ax)

# %%
# Your own features, such as distances between atoms, are an array with one row per frame. Here they are the
# distances from the first carbon to the last, and from the first oxygen to the last nitrogen.

names = [atom.name for atom in frames.topology.atoms]
print(names)
ends = [(0, len(names) - 1), (names.index("O"), len(names) - 2)]
distances = np.stack([np.linalg.norm(frames.xyz[:, a] - frames.xyz[:, b], axis=1) for a, b in ends], axis=1)
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, kind in zip(axes, ("states", "second"), strict=True):
    mf.plots.plane(distances, result, kind=kind, labels=("C-C distance (nm)", "O-N distance (nm)"), ax=ax)
plt.show()

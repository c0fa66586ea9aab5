"""
The bundled trajectories on the Ramachandran plot
=================================================

Alanine dipeptide has two backbone torsions, phi and psi. Everything that mdfuzzy computes is computed
without them, from RMSD; they are for looking.
"""

# %%
# The torsions come with the frames, in degrees, one column per residue that has them.

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

frames = mf.datasets.alanine_dipeptide()
print(frames)

# %%
# How many frames there are in each place, and the same as a free energy in units of kT, smoothed, with a
# line every kT. It would be that of the molecule if the sample were at equilibrium. It is not: the pieces
# were chosen so that every state is in them, and phi > 0 is much rarer in long simulations. White was never
# visited.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="compressed")
mf.plots.ramachandran(frames, ax=axes[0])
mf.plots.ramachandran(frames, kind="free_energy", ax=axes[1])

# %%
# Against time: psi changes within picoseconds, phi hardly ever crosses 0. The trajectories are separate, so
# `split` cuts every per-frame array at their boundaries.

parts = list(zip(frames.split(frames.times), frames.split(frames.phi[:, 0]), strict=True))
fig, axes = plt.subplots(
    len(parts), 1, figsize=(7, 1.6 * len(parts) + 0.6), sharey=True, layout="constrained"
)
for ax, (time, angle) in zip(np.atleast_1d(axes), parts, strict=True):
    ax.plot(time / 1000, angle, ",", color="tab:blue")
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(ylabel="φ (degrees)", ylim=(-180, 180), yticks=(-180, 0, 180))
ax.set_xlabel("time (ns)")
plt.show()

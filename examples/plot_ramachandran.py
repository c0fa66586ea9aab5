"""
The bundled trajectories on the Ramachandran plot
=================================================

Alanine dipeptide has two backbone torsions, phi and psi. mdfuzzy does not use them to find
states, which are computed from RMSD; they are only used in pictures.
"""

# %%
# The torsions come with the frames, in degrees, one column per residue that has them.

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

frames = mf.datasets.alanine_dipeptide()
print(frames)

# %%
# The number of frames in each bin, and a smoothed free energy in units of kT with a contour line every kT. It
# would be the free energy of the molecule if the sample were at equilibrium. It is not: the trajectories
# were chosen to contain every state, and phi > 0 is much rarer in long simulations. White regions were never
# visited.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="compressed")
mf.plots.ramachandran(frames, ax=axes[0])
mf.plots.ramachandran(frames, kind="free_energy", ax=axes[1])

# %%
# The torsions over time: psi changes within picoseconds, phi rarely crosses 0. The trajectories are separate,
# so `split` divides every array with one entry per frame at their boundaries.

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

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
phi, psi = frames.phi[:, 0], frames.psi[:, 0]

# %%
# How often each place is visited, on a logarithmic scale: a free energy in units of kT, if the sample were at
# equilibrium. It is not: the pieces were chosen so that every state is in them, and phi > 0 is much rarer in
# long simulations. White was never visited.

edges = np.arange(-180, 181, 5)
visits, _, _ = np.histogram2d(phi, psi, bins=[edges, edges])
with np.errstate(divide="ignore"):
    surface = -np.log(visits / visits.max())
surface[visits == 0] = np.nan

fig, ax = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
image = ax.pcolormesh(edges, edges, surface.T, cmap="viridis")
fig.colorbar(image, label="-log(visits)")
ax.set(
    xlabel="phi (degrees)", ylabel="psi (degrees)", xticks=range(-180, 181, 90), yticks=range(-180, 181, 90)
)

# %%
# Against time: psi changes within picoseconds, phi hardly ever crosses 0. The trajectories are separate, so
# `split` cuts every per-frame array at their boundaries.

parts = list(zip(frames.split(frames.times), frames.split(phi), strict=True))
fig, axes = plt.subplots(
    len(parts), 1, figsize=(7, 1.6 * len(parts) + 0.6), sharey=True, layout="constrained"
)
for ax, (time, angle) in zip(np.atleast_1d(axes), parts, strict=True):
    ax.plot(time / 1000, angle, ",", color="tab:blue")
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(ylabel="phi", ylim=(-180, 180), yticks=(-180, 0, 180))
ax.set_xlabel("time (ns)")
plt.show()

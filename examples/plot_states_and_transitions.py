"""
States and transitions of alanine dipeptide
===========================================

Where the frames are, which state each belongs to, and which lie between two states: the picture of the
paper.
"""

# %%
# Every third of the bundled frames is enough for the five states, and quick.

import matplotlib.pyplot as plt

import mdfuzzy as mf

frames = mf.datasets.alanine_dipeptide(stride=3)
result = mf.cluster(frames)
print(result.summary())

# %%
# The three pictures side by side. The states are numbered by the density at their peaks. On the right the
# second-highest membership, which is 0 for a frame inside a state and 0.5 for one half-way between two: the
# transition regions light up.

fig, axes = plt.subplots(1, 3, figsize=(11.4, 3.1), layout="compressed")
for ax, kind in zip(axes, ("density", "states", "second"), strict=True):
    mf.plots.ramachandran(frames, result, kind=kind, ax=ax)

# %%
# ``mf.plots.overview(result)`` draws the same in one call. Every other function draws on the axes that it is
# given; without any it makes a figure of its own, which pyplot does not know and which is written by
# ``ax.figure.savefig("states.png")``.
#
# The membership of a single state, and the free energy with the same numbers:

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="compressed")
mf.plots.ramachandran(frames, result, kind="membership", state=3, ax=axes[0])
mf.plots.ramachandran(frames, result, kind="free_energy", ax=axes[1])

# %%
# The states as a network. The number on a line says how often the trajectories went from one to the other; a
# dotted line has transitions, but too few frames on the way for a transition region.

fig, ax = plt.subplots(figsize=(6, 4), layout="compressed")
mf.plots.state_network(result.transition_regions, result.memberships, ax=ax)

# %%
# The memberships along the second trajectory: a visit of 0.8 ns to phi > 0, state 0.

fig, ax = plt.subplots(figsize=(9, 2.4), layout="constrained")
mf.plots.membership_timeline(frames, result.memberships, trajectory=1, ax=ax)
plt.show()

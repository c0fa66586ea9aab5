"""
States and transitions of alanine dipeptide
===========================================

The density of frames, the state of each frame, and the frames between two states, as in the figure of the
paper.
"""

# %%
# Every third bundled frame is enough to find the five states quickly.

import matplotlib.pyplot as plt

import mdfuzzy as mf

frames = mf.datasets.alanine_dipeptide(stride=3)
result = mf.cluster(frames)
print(result.summary())

# %%
# The three pictures side by side. The states are numbered by the number of frames in their basins. The right
# picture shows the second-highest membership. It is 0 for a frame inside a state and 0.5 half-way between two
# states, so it highlights the transition regions.

fig, axes = plt.subplots(1, 3, figsize=(11.4, 3.1), layout="compressed")
for ax, kind in zip(axes, ("density", "states", "second"), strict=True):
    mf.plots.ramachandran(frames, result, kind=kind, ax=ax)

# %%
# ``mf.plots.overview(result)`` draws the three pictures in one call. All other functions draw on given axes.
# Without axes they create a figure that is not registered with pyplot; save it with
# ``ax.figure.savefig("states.png")``.  The membership of a single state, and the free energy with the numbers
# of the states:

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="compressed")
mf.plots.ramachandran(frames, result, kind="membership", state=3, ax=axes[0])
mf.plots.ramachandran(frames, result, kind="free_energy", ax=axes[1])

# %%
# The states as a network. The labels give the number of observed transitions. A dotted line joins
# states with transitions, but with too few transition frames for a transition region.

fig, ax = plt.subplots(figsize=(6, 4), layout="compressed")
mf.plots.state_network(result.transition_regions, result.memberships, ax=ax)

# %%
# The memberships along the second trajectory show a visit of 0.8 ns to phi > 0, state 0.

fig, ax = plt.subplots(figsize=(9, 2.4), layout="constrained")
mf.plots.membership_timeline(frames, result.memberships, trajectory=1, ax=ax)
plt.show()

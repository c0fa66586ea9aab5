"""
Biased samples with known populations
=====================================

A bias flattens the landscape. Here every part of a plane is sampled equally often, although two wells hold
nearly all of the probability. The weights of the frames recover the wells, the barrier between them, and
their populations, which are known exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

# %%
# Two wells on a plane, the right one 1 kT higher. The points are spread evenly, as with an ideal bias.
# The weight of a point is its Boltzmann factor.


def energy(x, y):
    """Return the energy in kT."""
    return 5 * (x**2 - 1) ** 2 + 0.5 * x + 4 * y**2


rng = np.random.default_rng(1)
points = rng.uniform([-1.8, -1.2], [1.8, 1.2], size=(12_000, 2))
data = mf.Features(np.split(points, 16), names=("x", "y"), log_weights=-energy(*points.T))
print(data)

# %%
# Without weights the density is flat and has no states.

flat = mf.cluster(data.weighted(), mf.Settings(n_states=1))
print(flat.tree.words)

# %%
# With weights there are two states. Their populations, with intervals, and the exact ones:

result = mf.cluster(data)
print(result.states)

x, y = np.meshgrid(np.linspace(-1.8, 1.8, 721), np.linspace(-1.2, 1.2, 481))
boltzmann = np.exp(-energy(x, y))
print("exact:", (boltzmann[x < 0].sum() / boltzmann.sum()).round(3))
print(result.chosen["fractions"])

# %%
# The free-energy surface shows the wells and not the bias. Because of the bias there are many frames on the
# barrier, which show the transition region.

fig, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
mf.plots.plane(data, kind="density", ax=axes[0])
mf.plots.plane(data, result, kind="free_energy", ax=axes[1])
mf.plots.plane(data, result, kind="second", ax=axes[2])
plt.show()

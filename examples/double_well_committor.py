"""
Memberships of a double well, and its committor
===============================================

For many points and a growing number of neighbours the memberships tend to the probability that the diffusion
:math:`dY = \\frac1\\beta (\\log f)' dt + dB` reaches one core before the other: its committor. On a line that
has a closed form,

.. math:: q(x) = \\int_a^x f^{-2/\\beta} \\Big/ \\int_a^b f^{-2/\\beta},

with a and b the inner edges of the two cores. The cores are found from the points, too.

Run ``python double_well_committor.py 100000`` for up to 100,000 points.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import mdfuzzy as mf

LARGEST = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
BETA, PROMINENCE = 1.0, 1.0
CENTRES, WIDTHS, SHARES = np.array([-1.5, 1.5]), np.array([0.6, 0.8]), np.array([0.5, 0.5])


def density(x: np.ndarray) -> np.ndarray:
    """Return the density of the two wells."""
    z = (x[:, None] - CENTRES) / WIDTHS
    return (SHARES / WIDTHS * np.exp(-(z**2) / 2)).sum(axis=1) / np.sqrt(2 * np.pi)


def committor(x: np.ndarray) -> np.ndarray:
    """Return the probability to reach the right core first, from the true density."""
    grid = np.linspace(-4, 4, 80_001)
    f = density(grid)
    left, right = (np.where(side, f, 0).argmax() for side in (grid < 0, grid > 0))
    a = grid[left:][np.flatnonzero(f[left:] <= f[left] * np.exp(-PROMINENCE / 2))[0]]
    b = grid[:right][np.flatnonzero(f[:right] <= f[right] * np.exp(-PROMINENCE / 2))[-1]]
    inside = (grid >= a) & (grid <= b)
    resistance = np.cumsum(np.where(inside, f ** (-2 / BETA), 0.0))
    return np.interp(x, grid, resistance / resistance[-1])


def memberships(x: np.ndarray, k: int) -> np.ndarray:
    """Return the memberships in the right-hand state, from the points alone."""
    neighbors = mf.euclidean_neighbors(x[:, None], n_neighbors=2 * k)
    log_density = mf.dtm_log_density(neighbors, dimension=1)
    graph = neighbors.graph(k)
    peaks = mf.compute_persistence(graph, log_density)
    cores = mf.find_cores(graph, log_density, peaks, min_prominence=PROMINENCE)
    mu = mf.solve_memberships(graph, log_density, cores, beta=BETA, dimension=1)
    return mu.values[:, np.argmax(x[cores.peaks])]


# %%
# The error falls as the number of points grows, with :math:`k = 0.4\, n^{0.6}`.

rng = np.random.default_rng(1)
fig, ax = plt.subplots()
line = np.linspace(-3, 3, 500)
ax.plot(line, committor(line), color="black", label="committor")
sys.stdout.write("points    k     mean error  largest error\n")
for n in (1000, 3000, 10_000, 30_000, 100_000):
    if n > LARGEST:
        break
    side = (rng.random(n) < SHARES[1]).astype(int)
    x = rng.normal(CENTRES[side], WIDTHS[side])
    k = round(0.4 * n**0.6)
    mu = memberships(x, k)
    error = np.abs(mu - committor(x))
    sys.stdout.write(f"{n:<10}{k:<6}{error.mean():<12.4f}{error.max():.4f}\n")
    order = np.argsort(x)
    ax.plot(x[order], mu[order], label=f"memberships, n = {n}", linewidth=1)
ax.set(xlabel="x", ylabel=f"membership of the right-hand state, beta = {BETA:g} (large is hot)")
ax.legend()

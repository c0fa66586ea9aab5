"""
A protein that folds
====================

A bundle of three helices, 36 residues, folds and unfolds in a Go model: beads at the alpha carbons, and
attraction only between residues that touch in the native structure. The simulation takes seconds. All steps
after it are the same as for any protein: distances, slow components, states, a test of the Markov model.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import mdtraj as md
import numba
import numpy as np

import mdfuzzy as mf

# %%
# The native structure
# --------------------
#
# Three ideal helices stand on the corners of a triangle, the second one upside down, with two links of three
# residues. Lengths are in nm, energies in units of a contact, masses in units of a bead. The unit of time is
# written as ps.

HELIX, LINK, SIDE = 10, 3, 0.85
turn = np.arange(HELIX)
helix = np.column_stack([0.23 * np.cos(1.745 * turn), 0.23 * np.sin(1.745 * turn), 0.15 * turn])
corners = SIDE * np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.87, 0]])
parts = [helix + corners[0], helix[::-1] + corners[1], helix + corners[2]]
part = np.linspace(0, 1, LINK + 2)[1:-1, None]
for at, up in ((0, 0.3), (2, -0.3)):  # behind the first helix, and behind the second one and the first link
    start, end = parts[at][-1], parts[at + 1][0]
    parts.insert(at + 1, start + (end - start) * part + np.sin(np.pi * part) * [0, 0, up])
native = np.concatenate(parts)
N = len(native)

lengths = np.linalg.norm(native[:, None] - native[None], axis=-1)
apart = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
contacts = (lengths < 0.9) & (apart >= 4)
print(f"{N} residues, {contacts.sum() // 2} native contacts")

# %%
# The simulation
# --------------
#
# Langevin dynamics (BAOAB). Springs fix the distances of first, second and third neighbours along the chain,
# native contacts have a 12-10 potential, and all other residues repel each other. All forces act between
# pairs, so a structure and its mirror image are the same to the model, as they are to distances.

SPRINGS = np.array([4000.0, 100.0, 1.0])
REPULSION, STEP, FRICTION, TEMPERATURE = 0.4, 0.006, 1.0, 1.31
TRAJECTORIES, FRAMES, EVERY = 6, 1500, 200  # steps between frames


@numba.njit(nogil=True, fastmath=True)
def set_forces(x, lengths, contacts, springs, force):
    """Set the forces on all beads."""
    force[:] = 0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            rr = dx * dx + dy * dy + dz * dz
            if j - i <= len(springs):
                push = 2 * springs[j - i - 1] * (lengths[i, j] / np.sqrt(rr) - 1)
            elif contacts[i, j]:
                s = lengths[i, j] ** 2 / rr
                push = 60 * (s**6 - s**5) / rr
            elif rr < REPULSION**2:
                push = 12 * (REPULSION**2 / rr) ** 6 / rr
            else:
                continue
            force[j, 0] += push * dx
            force[j, 1] += push * dy
            force[j, 2] += push * dz
            force[i, 0] -= push * dx
            force[i, 1] -= push * dy
            force[i, 2] -= push * dz


@numba.njit(nogil=True)
def simulate(start, lengths, contacts, springs, temperature, n_frames, every, rng):
    """Return a trajectory of `n_frames` frames, one in `every` steps, (n_frames, N, 3)."""
    x, v, force = start.copy(), np.zeros_like(start), np.zeros_like(start)
    kept = np.empty((n_frames, *x.shape), np.float32)
    keep = np.exp(-FRICTION * STEP)
    noise = np.sqrt(temperature * (1 - keep**2))
    set_forces(x, lengths, contacts, springs, force)
    for frame in range(n_frames):
        for _ in range(every):
            for i in range(len(x)):
                for k in range(3):
                    v[i, k] += STEP / 2 * force[i, k]
                    x[i, k] += STEP / 2 * v[i, k]
                    v[i, k] = keep * v[i, k] + noise * rng.normal()
                    x[i, k] += STEP / 2 * v[i, k]
            set_forces(x, lengths, contacts, springs, force)
            v += STEP / 2 * force
        kept[frame] = x
    return kept


def run(seed: int) -> np.ndarray:
    """Return the trajectory that starts at the native structure with a seed of its own."""
    return simulate(
        native, lengths, contacts, SPRINGS, TEMPERATURE, FRAMES, EVERY, np.random.default_rng(seed)
    )


with ThreadPoolExecutor() as pool:
    trajectories = list(pool.map(run, range(TRAJECTORIES)))

# %%
# The files: a topology with one alpha carbon for each residue, and an XTC file for each trajectory.

topology = md.Topology()
chain = topology.add_chain()
for number in range(1, N + 1):
    topology.add_atom("CA", md.element.carbon, topology.add_residue("ALA", chain, resSeq=number))
for atom in range(N - 1):
    topology.add_bond(topology.atom(atom), topology.atom(atom + 1))
folder = Path(tempfile.mkdtemp())
md.Trajectory(native, topology).save(str(folder / "protein.pdb"))
times = EVERY * STEP * np.arange(FRAMES)
for number, xyz in enumerate(trajectories):
    md.Trajectory(xyz, topology, time=times).save(str(folder / f"traj{number}.xtc"))

# %%
# From files to states
# --------------------
#
# On the command line, all of this is::
#
#     mdfuzzy run traj*.xtc --top protein.pdb --features distances --tica 12ps -o out

features = mf.featurize(folder / "traj*.xtc", "distances", top=folder / "protein.pdb", progress=False)
slow = mf.tica(features, lag=12.0)
print(slow.components.reason)
print(slow.components.table(n_inputs=3))
result = mf.cluster(slow)
print(result.summary())

# %%
# The fraction of native contacts, which the clustering has not used, shows which state is folded. The
# free energy over this fraction and the slowest component has two minima; each of them is a state.

pairs = np.argwhere(np.triu(contacts))
near = [
    np.linalg.norm(xyz[:, pairs[:, 0]] - xyz[:, pairs[:, 1]], axis=-1) < 1.2 * lengths[*pairs.T]
    for xyz in trajectories
]
fraction = np.concatenate([each.mean(axis=1) for each in near])
labels = result.memberships.values.argmax(axis=1)
for state in range(labels.max() + 1):
    inside = fraction[labels == state]
    print(f"state {state}: {len(inside):,} frames, {inside.mean():.0%} of the native contacts")

plane = np.column_stack([slow.values[:, 0], fraction])
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="compressed")
for ax, kind in zip(axes, ("free_energy", "states"), strict=True):
    mf.plots.plane(plane, result, kind=kind, labels=("TIC 1", "native contacts"), ax=ax)

# %%
# The first trajectory over time: every point has the colour of its state.

colors = np.array(mf.plots.state_colors(labels.max() + 1))
fig, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
ax.scatter(times, fraction[:FRAMES], s=2, c=colors[labels[:FRAMES]])
ax.set(xlabel="time (ps)", ylabel="native contacts", ylim=(0, 1))

# %%
# What distinguishes two states
# -----------------------------

print(mf.compare_states(result, 0, 1, features=features).table())

# %%
# Is a Markov model valid?
# ------------------------
#
# The implied timescales of a valid model do not depend on its lag time, and the model predicts the
# probabilities at longer times.

validation = mf.validate_model(result)
print(validation.words)
fig, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
mf.plots.implied_timescales(validation.timescales, ax=ax)
plt.show()

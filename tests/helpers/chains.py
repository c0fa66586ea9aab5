"""Markov chains whose kinetics are known, and data made of them."""

import numpy as np

import mdfuzzy as mf

#: Leaves state 0 with probability 0.02 and state 1 with 0.05: second eigenvalue 0.93, populations 5/7, 2/7.
TWO_STATES = np.array([[0.98, 0.02], [0.05, 0.95]])


def sample_chain(matrix: np.ndarray, lengths: list[int], seed: int = 0) -> list[np.ndarray]:
    """Return trajectories of a chain, begun in state 0, 1, 2, ... in turn."""
    rng = np.random.default_rng(seed)
    sums = np.cumsum(matrix, axis=1)
    dtrajs = []
    for number, length in enumerate(lengths):
        dtraj = np.empty(length, np.int64)
        dtraj[0] = number % len(matrix)
        for frame, dice in enumerate(rng.random(length - 1)):
            dtraj[frame + 1] = min(np.searchsorted(sums[dtraj[frame]], dice, side="right"), len(matrix) - 1)
        dtrajs.append(dtraj)
    return dtrajs


def double_well() -> tuple[np.ndarray, np.ndarray]:
    """Return the transition matrix of a walk on 40 points across a double well, and its equilibrium."""
    x = np.linspace(-1.6, 1.6, 40)
    energy = 3.0 * (x**2 - 1) ** 2
    matrix = np.zeros((40, 40))
    for i in range(40):
        for j in (i - 1, i + 1):
            if 0 <= j < 40:
                matrix[i, j] = 0.5 * min(1.0, np.exp(energy[i] - energy[j]))
        matrix[i, i] = 1 - matrix[i].sum()
    return matrix, np.exp(-energy) / np.exp(-energy).sum()


def relaxation(matrix: np.ndarray) -> float:
    """Return the slowest timescale of a chain."""
    return -1 / np.log(np.sort(np.linalg.eigvals(matrix).real)[-2])


def as_data(parts: list[np.ndarray]) -> mf.Features:
    """Return features with the boundaries of the trajectories."""
    return mf.Features([np.asarray(part, float)[:, None] for part in parts])


def as_cores(labels: list[np.ndarray], basins: list[np.ndarray] | None = None) -> mf.Cores:
    """Return cores with these labels, -1 outside; by default basins are cores, and 0 elsewhere."""
    labels = np.concatenate(labels)
    basins = np.maximum(labels, 0) if basins is None else np.concatenate(basins)
    peaks = [np.flatnonzero(labels == state)[0] for state in range(labels.max() + 1)]
    return mf.Cores(basins, labels, peaks, np.append(np.inf, np.ones(len(peaks) - 1)))


def as_memberships(values: np.ndarray) -> mf.Memberships:
    """Return memberships with these values."""
    n = len(values)
    return mf.Memberships(
        values=values, lost=1 - np.sum(values, axis=1), beta=2.0, log_weights=np.zeros(n), exponent=1.0
    )

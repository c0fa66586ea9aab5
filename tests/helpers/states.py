"""A chain of states with cores, made here so that all is known of it."""

import numpy as np

import mdfuzzy as mf


def chain_of_states(
    lengths: list[int], n_states: int = 4, *, in_core: float = 0.3, stay: float = 0.95, seed: int = 0
) -> tuple[mf.Features, mf.Cores, mf.Memberships]:
    """Return trajectories of a chain on a ring of states; a frame is in the core of its state now and then.

    The membership of a frame outside the cores is random, the highest in its own state.
    """
    rng = np.random.default_rng(seed)
    steps = rng.choice([0, 1, -1], size=sum(lengths), p=[stay, (1 - stay) * 0.6, (1 - stay) * 0.4])
    starts = np.cumsum([0, *lengths[:-1]])
    steps[starts] = rng.integers(n_states, size=len(lengths))
    walked = np.cumsum(steps)
    before = np.repeat(walked[starts] - steps[starts], lengths)
    basins = (walked - before) % n_states
    labels = np.where(rng.random(len(basins)) < in_core, basins, -1)
    values = rng.dirichlet(np.ones(n_states), size=len(basins))
    values[np.arange(len(basins)), basins] += 1.0
    values /= values.sum(axis=1, keepdims=True)
    values[labels >= 0] = np.eye(n_states)[labels[labels >= 0]]
    peaks = [np.flatnonzero(labels == state)[0] for state in range(n_states)]
    cores = mf.Cores(basins, labels, peaks, [np.inf, *np.ones(n_states - 1)])
    data = mf.Features(np.split(np.arange(len(basins), dtype=float)[:, None], starts[1:]))
    return data, cores, memberships_of(values)


def memberships_of(values: np.ndarray) -> mf.Memberships:
    """Return memberships with given values, of which nothing is lost."""
    return mf.Memberships(
        values=values,
        lost=1.0 - values.sum(axis=1),
        beta=2.0,
        log_weights=np.zeros(len(values)),
        exponent=1.0,
    )

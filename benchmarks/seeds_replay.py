"""Seeds replayed on recorded data: which choice of starting frames finds the states, and their populations.

    python benchmarks/seeds_replay.py

Alanine dipeptide at 450 K, twenty trajectories. Every repeat starts with four random pieces of 60 ps that
begin in the helix. Each round chooses eight seeds among the frames seen so far. Each seed is answered by a
piece of 60 ps that overlaps no piece used before: the one whose first frame is nearest to the seed in RMSD.
Seeds are ranked (`suggest_seeds`), random frames, or frames of the least counted of 50 k-means clusters of
the cosines and sines of phi and psi. The tables show how many of the five regions of phi and psi were seen,
and the total variation between their populations, by a reversible Markov model at a lag of 5 ps, and those
of the same model of all data.
"""

import argparse
import warnings
from pathlib import Path

import mdtraj as md
import numpy as np
from deeptime.markov import TransitionCountEstimator
from deeptime.markov.msm import MaximumLikelihoodMSM
from shared_data import DATA
from sklearn.cluster import KMeans

import mdfuzzy as mf

PIECE, FIRST, EACH, ROUNDS, LAG = 60, 4, 8, 5, 5


def load(folder: Path) -> mf.Frames:
    topology = md.load(folder / "ala2.pdb").topology
    found = []
    for file in sorted(folder.glob("*.npz")):
        xyz = np.load(file)["picometres"].T.reshape(-1, 10, 3).astype(np.float32) / 1000
        found.append(md.Trajectory(xyz, topology, time=np.arange(len(xyz)) * 1.0))
    return mf.load(found, progress=False)


def regions(frames: mf.Frames) -> np.ndarray:
    """Return the region of each frame: helix, beta, PII; left-handed helix, and phi > 0 with psi near 180."""
    phi, psi = frames.phi[:, 0], frames.psi[:, 0]
    left = np.where((psi > -100) & (psi < 60), 0, np.where(phi < -105, 1, 2))
    return np.where(phi < 0, left, np.where((psi > -100) & (psi < 100), 3, 4))


def populations(pieces: list[np.ndarray]) -> np.ndarray:
    """Return the populations of the five regions by a reversible Markov model, 0 if without return."""
    counts = TransitionCountEstimator(LAG, "sliding", n_states=5).fit_fetch(pieces).submodel_largest()
    found = np.zeros(5)
    found[counts.state_symbols] = MaximumLikelihoodMSM().fit_fetch(counts).stationary_distribution
    return found


def choose(way: str, frames: mf.Frames, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the seeds among the frames `rows`."""
    if way == "random":
        return rng.choice(rows, EACH, replace=False)
    if way == "least counts":
        angles = frames.vectors[rows]
        labels = KMeans(50, n_init=1, random_state=int(rng.integers(2**31))).fit_predict(angles)
        few = np.argsort(np.bincount(labels, minlength=50), kind="stable")[:EACH]
        return np.array([rng.choice(rows[labels == cluster]) for cluster in few])
    data = mf.Frames(frames.xyz[rows], [PIECE] * (len(rows) // PIECE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rows[mf.suggest_seeds(mf.cluster(data, progress=False), EACH).frames]


def free_starts(frames: mf.Frames, used: list[int]) -> np.ndarray:
    """Return the frames where an unused piece can begin: within a trajectory, overlapping no used piece."""
    free = np.concatenate([np.arange(n) <= n - PIECE for n in frames.lengths])
    for start in used:
        free[max(start - PIECE + 1, 0) : start + PIECE] = False
    return np.flatnonzero(free)


def replay(way: str, frames: mf.Frames, states: np.ndarray, seed: int) -> list[tuple[int, np.ndarray]]:
    """Return how many regions were seen after each round, and their populations."""
    rng = np.random.default_rng(seed)
    used: list[int] = []
    while len(used) < FIRST:
        starts = free_starts(frames, used)
        used.append(int(rng.choice(starts[states[starts] == 0])))
    found = []
    for step in range(ROUNDS + 1):
        pieces = [states[start : start + PIECE] for start in used]
        found.append((len(set(np.concatenate(pieces).tolist())), populations(pieces)))
        if step == ROUNDS:
            return found
        rows = np.concatenate([start + np.arange(PIECE) for start in sorted(used)])
        for frame in choose(way, frames, rows, rng):
            starts = free_starts(frames, used)
            query = mf.Frames(frames.xyz[[frame]], [1])
            targets = mf.Frames(frames.xyz[starts], [len(starts)])
            nearest = mf.rmsd_neighbors(targets, n_neighbors=1, queries=query, progress=False)
            used.append(int(starts[nearest.indices[0, 0]]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA / "ala2_kinetics")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    frames = load(options.data)
    states = regions(frames)
    truth = populations(frames.split(states))
    print(f"populations of all data: {truth.round(4)}", flush=True)
    ways = ("ranked", "least counts", "random")
    seen = {way: [] for way in ways}
    errors = {way: [] for way in ways}
    for seed in range(options.repeats):
        for way in ways:
            found = replay(way, frames, states, seed)
            seen[way].append([count for count, _ in found])
            errors[way].append([np.abs(each - truth).sum() / 2 for _, each in found])
        print(
            f"\n{seed + 1} repeats; mean and its standard error after pieces "
            f"{[FIRST + EACH * step for step in range(ROUNDS + 1)]}"
        )
        for way in ways:
            for name, table in (("regions", seen[way]), ("error", errors[way])):
                mean, spread = np.mean(table, axis=0), np.std(table, axis=0) / np.sqrt(max(seed, 1))
                cells = "  ".join(f"{a:.3f} ± {b:.3f}" for a, b in zip(mean, spread, strict=True))
                print(f"{way:13} {name:8} {cells}", flush=True)


if __name__ == "__main__":
    main()

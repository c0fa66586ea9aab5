"""How fast `mdfuzzy.load` is beside a bare `md.iterload` loop over the same XTC file.

    python benchmarks/loading.py

100,000 frames of alanine dipeptide with all 22 atoms, a box and bonds, of which 10 atoms are selected: so
`load` puts the molecule together and computes phi and psi as well. Both are timed in turn, and the best time
of each counts. The ratio must be at least 0.8.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mdtraj as md
import numpy as np

import mdfuzzy as mf

N_FRAMES = 100_000
REPEATS = 5


def make_system(folder: Path) -> tuple[Path, md.Topology]:
    """Write a trajectory of the bundled molecule with twelve more atoms, which stand for its hydrogens."""
    source = mf.datasets.alanine_dipeptide()
    heavy = source.trajectory(np.resize(np.arange(len(source)), N_FRAMES))
    topology = heavy.topology.copy()
    carriers = np.resize(np.arange(heavy.n_atoms), 12)
    for carrier in carriers:
        atom = topology.atom(int(carrier))
        topology.add_bond(atom, topology.add_atom("H", md.element.hydrogen, topology.residue(2)))
    rng = np.random.default_rng(0)
    hydrogens = heavy.xyz[:, carriers] + rng.normal(0, 0.05, (N_FRAMES, 12, 3)).astype(np.float32)
    xyz = np.concatenate([heavy.xyz, hydrogens], axis=1) + np.float32(1.5)
    cell = np.full((N_FRAMES, 3), 3.0, np.float32), np.full((N_FRAMES, 3), 90.0, np.float32)
    trajectory = md.Trajectory(xyz, topology, 0.2 * np.arange(N_FRAMES), *cell)
    path = folder / "a.xtc"
    trajectory.save(str(path))
    return path, topology


def timed(function: Callable[[], object]) -> tuple[float, object]:
    """Return the wall time of a call in s, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main() -> None:
    """Print the ratio of the speeds."""
    with tempfile.TemporaryDirectory() as folder:
        path, top = make_system(Path(folder))
        chosen = top.select("not element H")

        def bare() -> list[np.ndarray]:
            pieces = []
            for chunk in md.iterload(str(path), top=top, atom_indices=chosen):
                pieces.append(chunk.xyz)
            return pieces

        times = {"bare": [], "load": []}
        for _ in range(REPEATS):
            seconds, pieces = timed(bare)
            times["bare"].append(seconds)
            seconds, frames = timed(lambda: mf.load(path, top=top))
            times["load"].append(seconds)
        reference = np.concatenate(pieces).astype(np.float64)
        reference -= reference.mean(axis=1, keepdims=True)
        difference = np.abs(frames.xyz - reference).max()
    bare_time, load_time = min(times["bare"]), min(times["load"])
    print(f"{frames!r}, made whole: {frames.whole}; greatest difference {difference:.1e} nm")
    print(f"bare md.iterload {bare_time:.3f} s, mdfuzzy.load {load_time:.3f} s (best of {REPEATS} in turn)")
    print(f"ratio of the speeds {bare_time / load_time:.2f} (at least 0.8 is required)")


if __name__ == "__main__":
    main()

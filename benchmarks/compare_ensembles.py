"""Comparing ensembles: false positives, differences whose signs are known, molecules of different size.

    python benchmarks/compare_ensembles.py --stride 20

1. Blocks of alanine dipeptide at 300 K are divided at random into two ensembles, 40 times, with the states
   found once. About 2 of the 40 may have a significant difference; 6 or more have a probability of 1 %.
2. The same where each half is a few long trajectories, which are cut into blocks, and where the states are
   found again with the weights of the two ensembles.
3. 300 K against 450 K.
4. Alanine dipeptide against the first residue of alanine tripeptide.
"""

import argparse
from pathlib import Path

import mdtraj as md
import numpy as np
from shared_data import DATA

import mdfuzzy as mf
from mdfuzzy._messages import counted

SPLITS = 40


def trajectories(folder: Path, pattern: str, top: str, step: float, stride: int) -> list[md.Trajectory]:
    topology = md.load(folder / top).topology
    found = []
    for file in sorted(folder.glob(pattern)):
        xyz = np.load(file)["picometres"].T.reshape(-1, topology.n_atoms, 3)[::stride]
        times = step * stride * np.arange(len(xyz))
        found.append(md.Trajectory(xyz.astype(np.float32) / 1000, topology, time=times))
    return found


def in_blocks(frames: mf.Frames, blocks: int) -> mf.Frames:
    """Return the frames with each trajectory cut into so many."""
    lengths = np.concatenate([np.diff(np.linspace(0, n, blocks + 1).astype(int)) for n in frames.lengths])
    return mf.Frames(frames.xyz, lengths)


def false_positives(frames: mf.Frames, blocks: int) -> int:
    cut = in_blocks(frames, blocks)
    result = mf.cluster(cut, mf.Settings(n_states=5), progress=False)
    rng, count = np.random.default_rng(0), 0
    for split in range(SPLITS):
        names = np.array(["a", "b"])[rng.permutation(len(cut.lengths)) % 2]
        found = mf.compare_ensembles(result, names.tolist(), seed=split, n_bootstrap=0)
        count += bool(found.significant.any())
    return count


def few_trajectories(frames: mf.Frames, each: int) -> int:
    """Halves of `each` whole trajectories, states found in these alone; every random pair of halves."""
    rng, count = np.random.default_rng(1), 0
    for split in range(SPLITS):
        chosen = rng.permutation(frames.n_trajectories)[: 2 * each]
        parts = [frames.split(frames.xyz)[t] for t in chosen]
        data = mf.Frames(np.concatenate(parts), [len(part) for part in parts])
        result = mf.cluster(data, mf.Settings(n_states=4), progress=False)
        names = ["a"] * each + ["b"] * each
        found = mf.compare_ensembles(result, names, seed=split, n_bootstrap=0)
        count += bool(found.significant.any())
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--stride", type=int, default=20, help="of the 300 K set; others in proportion")
    options = parser.parse_args()
    s = options.stride
    cold = trajectories(options.data / "ala2", "ala2_*.npz", "ala2.pdb", 0.2, s)
    hot = trajectories(options.data / "ala2_kinetics", "*.npz", "ala2.pdb", 1.0, max(1, s // 10))
    three = trajectories(options.data / "ala3", "*.npz", "ala3.pdb", 1.0, max(1, s // 4))
    frames = mf.load(cold)
    for blocks in (2, 5, 20):
        found = false_positives(frames, blocks)
        words = f"{counted(blocks, 'block')} of each of 10 trajectories, random halves"
        print(f"{words}: {found} of {SPLITS} splits significant", flush=True)
    few = mf.load([each[::4] for each in cold])
    for each in (1, 2, 3):
        found = few_trajectories(few, each)
        words = f"{each} against {each} whole trajectories, in blocks, states found again"
        print(f"{words}: {found} of {SPLITS} splits significant", flush=True)
    for pair in ({"300K": cold, "450K": hot}, {"ala2": cold, "ala3": three}):
        joint = mf.load(pair)
        result = mf.cluster(joint, mf.Settings(n_states=5), progress=False)
        print(
            f"\n{joint!r}\n{joint.ensembles.match}\n{result.states}\n{mf.compare_ensembles(result)}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Featurising 100,000 frames of proteins of 36 and 250 residues, against a bare loop over `md.iterload`.

    python benchmarks/featurizing.py [--frames 100000]

The trajectories are random chains of backbone atoms, written as XTC. Every way runs in a process of its own,
in turn, after a call on ten frames; the peak memory is that of the process.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mdtraj as md
import numpy as np
from mdtraj.core import element

#: Residues, and the selection of alpha carbons whose distances are taken.
PROTEINS = {36: "name CA", 250: "name CA and (resid 0 to 39 or resid 120 to 159)"}


def write(folder: Path, residues: int, n_frames: int) -> None:
    """Write a trajectory of a random backbone that moves a little, and its topology."""
    topology = md.Topology()
    chain = topology.add_chain()
    before = None
    for _ in range(residues):
        residue = topology.add_residue("ALA", chain)
        atoms = [
            topology.add_atom(name, element.get_by_symbol(name[0]), residue) for name in ("N", "CA", "C", "O")
        ]
        for a, b in ((0, 1), (1, 2), (2, 3)):
            topology.add_bond(atoms[a], atoms[b])
        if before is not None:
            topology.add_bond(before, atoms[0])
        before = atoms[2]
    rng = np.random.default_rng(0)
    start = np.cumsum(rng.normal(scale=0.09, size=(topology.n_atoms, 3)), axis=0)
    md.Trajectory(start.astype(np.float32), topology).save_pdb(str(folder / f"{residues}.pdb"))
    md.Trajectory(np.repeat(start[None], 10, axis=0), topology).save_xtc(str(folder / f"{residues}-few.xtc"))
    with md.formats.XTCTrajectoryFile(str(folder / f"{residues}.xtc"), "w") as file:
        for first in range(0, n_frames, 2000):
            xyz = start + rng.normal(scale=0.05, size=(min(2000, n_frames - first), *start.shape))
            file.write(xyz.astype(np.float32), time=np.arange(first, first + len(xyz), dtype=np.float32))


def featurize(path: str, top: str, features: list[str]) -> int:
    """Run `mdfuzzy.featurize`; return the number of columns."""
    import mdfuzzy as mf

    return mf.featurize(path, features, top=top, progress=False).values.shape[1]


def loop(path: str, top: str, features: list[str]) -> int:
    """Compute the same with mdtraj alone, chunk by chunk."""
    topology = md.load_topology(top)
    parts = []
    for kind in features:
        if kind != "torsions":
            ca = topology.select(kind.partition(":")[2])
            residues = [topology.atom(at).residue.index for at in ca]
            pairs = [
                (a, b)
                for i, a in enumerate(ca)
                for j, b in enumerate(ca[:i])
                if abs(residues[i] - residues[j]) >= 2
            ]
    for chunk in md.iterload(path, top=topology, chunk=1000):
        columns = []
        for kind in features:
            if kind == "torsions":
                columns += [
                    np.degrees(each(chunk, periodic=False)[1]) for each in (md.compute_phi, md.compute_psi)
                ]
            else:
                columns.append(md.compute_distances(chunk, pairs, periodic=False))
        parts.append(np.concatenate(columns, axis=1))
    return np.concatenate(parts).shape[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--run", nargs=4, help="WAY FILE TOP FEATURES: one measurement, in this process")
    options = parser.parse_args()
    if options.run:
        way, path, top, features = options.run
        compute = {"featurize": featurize, "loop": loop}[way]
        compute(path.replace(".xtc", "-few.xtc"), top, [features])
        begin = time.perf_counter()
        columns = compute(path, top, [features])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{time.perf_counter() - begin:.2f} {peak:.0f} {columns}")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("residues  features   columns  result/MB  mdfuzzy/s  loop/s  ratio  mdfuzzy/MB loop/MB")
        for residues, selection in PROTEINS.items():
            write(folder, residues, options.frames)
            for features in ("torsions", f"distances:{selection}"):
                found = {}
                for way in (
                    "loop",
                    "featurize",
                    "loop",
                    "featurize",
                ):  # the first reads the file into the cache
                    command = [sys.executable, __file__, "--run", way]
                    command += [str(folder / f"{residues}.xtc"), str(folder / f"{residues}.pdb"), features]
                    done = subprocess.run(command, check=True, capture_output=True, text=True)
                    found[way] = [float(each) for each in done.stdout.split()[-3:]]
                (ours, our_peak, columns), (bare, bare_peak, _) = found["featurize"], found["loop"]
                kind, size = features.partition(":")[0], 4 * columns * options.frames / 2**20
                print(
                    f"{residues:>8}  {kind:<10} {columns:>7.0f} {size:>10.0f} "
                    f"{ours:>10.2f} {bare:>7.2f} {ours / bare:>6.2f} {our_peak:>11.0f} {bare_peak:>8.0f}",
                    flush=True,
                )
            (folder / f"{residues}.xtc").unlink()


if __name__ == "__main__":
    main()

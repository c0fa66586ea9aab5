"""Symmetry-equivalent atoms: the poses of a ligand with and without them, and distances against cpptraj.

    python benchmarks/symmetric.py --write docs/performance

Poses: 10,000 frames of benzamidine and trypsin, aligned on the protein; 460 of them have labels of five
published states. Agreement is the adjusted mutual information of states and labels. Distances: all pairs of
150 frames of Ala-Phe-Val, compared with the symmetry-corrected RMSD of cpptraj.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from measuring import machine
from shared_data import DATA

import mdfuzzy as mf

#: The exchanges of benzamidine: the ring is turned, and so is the amidine.
EXCHANGES = "C2 C6, C3 C5; N1 N2"
#: The label of the crystal pose.
CRYSTAL = 3


def read_poses(folder: Path, symmetry: str | bool) -> tuple[mf.Frames, np.ndarray]:
    """Return the ligand's atoms, beside three atoms that stand for the aligned protein, and the labels."""
    import mdtraj as md

    known = np.load(folder / "trypsin_benzamidine.npz")
    top = md.Topology()
    chain = top.add_chain()
    for _ in range(3):
        top.add_atom("CA", md.element.carbon, top.add_residue("ALA", chain))
    ligand = top.add_residue("BEN", top.add_chain())
    for name in known["names"]:
        top.add_atom(str(name), md.element.get_by_symbol(str(name)[0]), ligand)
    poses = known["ligand"].astype(np.float32) / 1000
    protein = poses.mean(axis=(0, 1)) + np.eye(3, dtype=np.float32)
    xyz = np.concatenate([np.repeat(protein[None], len(poses), axis=0), poses], axis=1)
    parts = [md.Trajectory(part, top) for part in np.split(xyz, np.cumsum(known["lengths"])[:-1])]
    return mf.load(parts, align="name CA", atoms="resname BEN", symmetry=symmetry), known["labels"]


def measure_poses(folder: Path, symmetry: str | bool) -> dict[str, object]:
    """Cluster the poses, and compare the states with the labels."""
    from sklearn.metrics import adjusted_mutual_info_score

    frames, labels = read_poses(folder, symmetry)
    result = mf.cluster(frames)
    labelled = labels >= 0
    states, counts = np.unique(result.labels[labels == CRYSTAL], return_counts=True)
    return {
        "equivalent atoms": str(frames.symmetry) if frames.symmetry is not None else "none",
        "states": len(np.unique(result.labels)),
        "agreement": float(adjusted_mutual_info_score(labels[labelled], result.labels[labelled])),
        "states of the crystal pose": len(states),
        "share of the largest": float(counts.max() / counts.sum()),
    }


def measure_distances(folder: Path) -> dict[str, float]:
    """Return how much our symmetric RMSDs differ from cpptraj's, in nm."""
    import mdtraj as md
    import scipy.io

    xyz = np.array(scipy.io.netcdf_file(folder / "AFV.nc", mmap=False).variables["coordinates"][:]) / 10
    frames = mf.load(md.Trajectory(xyz, md.load_prmtop(str(folder / "AFV.parm7"))), symmetry=True)
    known = np.load(folder / "AFV_srmsd_angstrom.npz")["srmsd"] / 10
    found = mf.rmsd_neighbors(frames, n_neighbors=len(known) - 1)
    theirs = np.take_along_axis(known, found.indices.astype(int), 1)
    off = np.abs(theirs - found.distances)
    return {
        "pairs": off.size // 2,
        "median": float(np.median(off)),
        "largest": float(off.max()),
        "ours is larger by at most": float((found.distances - theirs).max()),
    }


def table(poses: list[dict[str, object]]) -> list[str]:
    """Return the rows of the poses."""
    names = [name for name in poses[0] if name != "equivalent atoms"]
    heads = " | ".join(str(pose["equivalent atoms"]) for pose in poses)
    lines = [f"| equivalent atoms | {heads} |", "|---|" + "--:|" * len(poses)]
    for name in names:
        values = [pose[name] for pose in poses]
        cells = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in values]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=DATA / "real")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about equivalent atoms that are not exchanged, on purpose
        poses = [measure_poses(options.folder, symmetry) for symmetry in (False, EXCHANGES)]
    distances = measure_distances(options.folder)
    print(*table(poses), distances, sep="\n")
    if options.write is not None:
        from performance import write_result

        found = {"poses": poses, "distances": distances, "machine": machine("mdtraj", "scikit-learn")}
        write_result(options.write, "symmetric", found)


if __name__ == "__main__":
    main()

"""The full-size alanine dipeptide set: where it is, its frames, and its trajectories as XTC files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mdfuzzy as mf

DATA = Path(os.environ.get("MDFUZZY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
#: ps between frames.
TIMESTEP = 0.2
#: nm by which frames are perturbed, as an RMSD.
PERTURBATION = 0.02


def packed_files(folder: Path) -> list[Path]:
    """Return the packed trajectories in `folder`, or end with a word about what is missing."""
    files = sorted(folder.glob("ala2_*.npz"))
    if not files:
        sys.exit(f"no full-size data in {folder}: pass --data FOLDER, or set MDFUZZY_SHARED_DATA")
    return files


def trajectories(folder: Path, frames: int | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, coordinates (n, 10, 3) in nm and times in ps of each trajectory.

    Parameters
    ----------
    folder : Path
        With the packed files.
    frames : int or None
        How many to take in all, evenly spaced in every trajectory; None for every one.
    """
    files = packed_files(folder)
    for place, file in enumerate(files):
        xyz = np.load(file)["picometres"].T.reshape(-1, 10, 3)
        rows = np.arange(len(xyz))
        if frames is not None:
            share = frames * (place + 1) // len(files) - frames * place // len(files)
            rows = np.linspace(0, len(xyz) - 1, min(share, len(xyz))).astype(np.int64)
        yield file.stem, xyz[rows].astype(np.float32) / 1000, TIMESTEP * (rows + 1)


def write_xtc(folder: Path, target: Path, frames: int | None, *, copies: int | None = None) -> list[Path]:
    """Write the trajectories as XTC files with their topology, ala2.pdb, and return them.

    With `copies`, each is written so many times, every frame perturbed by an RMSD of about 0.02 nm.
    """
    import mdtraj as md

    top = md.load(folder / "ala2.pdb").topology
    target.mkdir(parents=True, exist_ok=True)
    (target / "ala2.pdb").write_bytes((folder / "ala2.pdb").read_bytes())
    written: list[Path] = []
    random = np.random.default_rng(0)
    for name, xyz, times in trajectories(folder, frames):
        for copy in range(copies or 1):
            written.append(target / (f"{name}_{copy}.xtc" if copies else f"{name}.xtc"))
            noise = PERTURBATION / np.sqrt(3) * random.standard_normal(xyz.shape, np.float32) if copies else 0
            md.Trajectory(xyz + noise, top, time=times).save(str(written[-1]))
    return written


def load_frames(folder: Path, frames: int | None) -> mf.Frames:
    """Return the frames with their times and torsions."""
    import mdtraj as md

    top = md.load(folder / "ala2.pdb").topology
    return mf.load([md.Trajectory(xyz, top, time=times) for _, xyz, times in trajectories(folder, frames)])

"""What `kinetics.py` studies: trajectories, their states, and the memberships over beta by core rule."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from deeptime.clustering import KMeans

import mdfuzzy as mf
from mdfuzzy.pipeline.run import cluster_neighbors

BETAS = (0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, np.inf)
RULES = {
    "reach": {"rule": "reach"},
    "prominence": {"rule": "prominence"},
    "saddle": {"rule": "saddle"},
    "share, 10 %": {"rule": "share", "share": 0.1},
    "share, 20 %": {"rule": "share", "share": 0.2},
    "share, 40 %": {"rule": "share", "share": 0.4},
}
#: The core rule of the pipeline, for which states and transition regions are shown.
DEFAULT = "reach"
CENTERS, SEED = 100, 0


def load(folder: Path, frames: int | None, stride: int, timestep: float) -> mf.Frames:
    """Unpack the trajectories of a folder."""
    import mdtraj as md

    top = md.load(str(folder / "ala2.pdb")).topology
    parts = []
    for packed in sorted(folder.glob("*.npz")):
        xyz = (
            np.load(packed)["picometres"].T.reshape(-1, top.n_atoms, 3)[:frames:stride].astype(np.float32)
            / 1000
        )
        parts.append(md.Trajectory(xyz, top, time=timestep * stride * np.arange(1, len(xyz) + 1)))
    return mf.load(parts)


def kept(
    folder: Path | None, name: str, compute: Callable[[], dict[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """Return named arrays, computed or kept from an earlier run."""
    path = None if folder is None else folder / f"{name}.npz"
    if path is not None and path.exists():
        with np.load(path) as arrays:
            return dict(arrays)
    arrays = compute()
    if path is not None:
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(path, **arrays)
    return arrays


class Study:
    """One data set, its states, and for each core rule the cores and the memberships over beta."""

    def __init__(self, frames: mf.Frames, cache: Path | None) -> None:
        settings = mf.Settings()
        n_neighbors = settings.n_neighbors(len(frames))

        def search() -> dict[str, np.ndarray]:
            found = mf.rmsd_neighbors(frames, n_neighbors=n_neighbors)
            return {"indices": found.indices, "distances": found.distances}

        self.frames = frames
        self.neighbors = mf.Neighbors(**kept(cache, "neighbors", search))
        self.result = cluster_neighbors(self.neighbors, settings, data=frames)
        self.cores, self.scans = {}, {}
        for name, rule in RULES.items():
            cores = self._find_cores(dict(rule))
            scan = kept(
                cache, f"scan-{name.split(',')[0]}-{rule.get('share', '')}", lambda c=cores: self.scan(c)
            )
            self.cores[name], self.scans[name] = cores, mf.BetaScan(**_read_scan(scan))
        angles = np.deg2rad(np.column_stack([frames.phi[:, 0], frames.psi[:, 0]]))
        self.torsions = np.column_stack([np.cos(angles), np.sin(angles)])
        self.cells = KMeans(CENTERS, fixed_seed=SEED, max_iter=200, tolerance=1e-3).fit_fetch(
            self.torsions[::5]
        )
        self.step = mf.kinetics.timestep(frames)

    def _find_cores(self, rule: dict[str, object]) -> mf.Cores:
        """Find the cores of the states of the result by a rule."""
        result = self.result
        number = {int(point): peak for peak, point in enumerate(result.peaks.peaks)}
        states = [number[int(point)] for point in result.cores.peaks]
        parts = result.graph, result.log_density, result.peaks
        if rule["rule"] == "reach":
            return mf.find_reached_cores(
                *parts,
                states=states,
                min_prominence=result.prominence,
                sampled=result.sampled_density,
                dimension=result.dimension,
            )
        return mf.find_cores(*parts, states=states, min_prominence=result.prominence, **rule)

    def scan(self, cores: mf.Cores) -> dict[str, np.ndarray]:
        """Solve over beta."""
        result = self.result
        options = {"betas": BETAS, "dimension": result.dimension, "max_kept": len(result)}
        scan = mf.scan_beta(result.graph, result.log_density, cores, **options)
        names = (
            "betas",
            "entropy",
            "scores",
            "beta",
            "n_plateaus",
            "residuals",
            "row_sum_errors",
            "memberships",
        )
        return {name: np.asarray(getattr(scan, name)) for name in names}

    def memberships(self, rule: str, beta: float) -> np.ndarray:
        """Return the memberships with the cores of a rule at one beta."""
        scan = self.scans[rule]
        return scan.memberships[scan.betas.tolist().index(beta)]

    def lags(self, times: Sequence[float]) -> list[int]:
        """Return lags in frames, without repetition."""
        return sorted({max(1, round(time / self.step)) for time in times})


def _read_scan(arrays: dict[str, np.ndarray]) -> dict[str, object]:
    whole = {"beta": float(arrays["beta"]), "n_plateaus": int(arrays["n_plateaus"])}
    return {**arrays, **whole, "notes": (), "frames": None}

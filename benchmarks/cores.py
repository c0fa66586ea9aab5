"""How large the cores of the rule "reach" are, and what labels, memberships and predictions they give.

    python benchmarks/cores.py --write docs/theory

Two tables: one over the required agreement of labels and basins, and one over the least share of a basin. The
data are alanine peptides, at 300 and 450 K, and BPTI.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from kinetics import RADIUS, table
from kinetics_study import SEED, load
from pages import tell
from scipy.optimize import linear_sum_assignment
from shared_data import DATA, load_frames

import mdfuzzy as mf

#: None is the rule of Bonis and Oudot.
AGREEMENTS = (None, 0.8, 0.9, 0.95, 0.97)
LEASTS = (0.0, 0.0001, 0.0002, 0.0005, 0.001)
SAMPLE = 142_074


class Found:
    """Cores of the states of one result, and their memberships at beta = 2."""

    def __init__(
        self, result: mf.Clustering, agreement: float | None = 0.9, least: float | None = None
    ) -> None:
        number = {int(point): peak for peak, point in enumerate(result.peaks.peaks)}
        parts = result.graph, result.log_density, result.peaks
        options = {
            "states": [number[int(point)] for point in result.cores.peaks],
            "min_prominence": result.prominence,
        }
        if least is not None:
            options["least"] = least
        if agreement is None:
            self.cores = mf.find_cores(*parts, **options | {"least": 0.0})
        else:
            self.cores = mf.find_reached_cores(
                *parts, **options, agreement=agreement, dimension=result.dimension
            )
        self.memberships = mf.solve_memberships(*parts[:2], self.cores, beta=2.0, dimension=result.dimension)
        self.result = result

    def sizes(self) -> str:
        """Return the sizes of the cores."""
        return " ".join(f"{size:,}" for size in self.cores.sizes)

    def labels(self) -> tuple[str, str]:
        """Return the share of frames with the label of their basin, and the largest relative deviation."""
        hard, cores = self.memberships.hard, self.cores
        counts = np.bincount(hard[hard >= 0], minlength=len(cores))
        deviation = np.abs(counts / cores.basin_sizes - 1).max()
        return f"{np.mean(hard == cores.basins):.1%}", f"{deviation:.0%}"

    def transition_frames(self) -> str:
        """Return the share of frames whose second membership is at least half of the first."""
        ordered = np.sort(self.memberships.values, axis=1)
        return f"{np.mean(ordered[:, -2] >= 0.5 * ordered[:, -1]):.1%}"

    def skill(self) -> str:
        """Return the skill and the power for the next disc around a peak, on frames outside the discs."""
        frames, peaks = self.result.data, self.cores.peaks
        angles = np.stack([frames.phi[:, 0], frames.psi[:, 0]], axis=1)
        apart = np.abs(angles[:, None] - angles[peaks][None])
        apart = np.linalg.norm(np.minimum(apart, 360 - apart), axis=2)
        discs = np.where(apart.min(axis=1) < RADIUS, apart.argmin(axis=1), -1)
        found = mf.kinetics.calibration(frames, self.memberships, discs, seed=SEED, frames=discs < 0)
        at, best = found.row("memberships"), found.row("k-means Markov model")
        interval = f"{found.lower[at]:.3f} to {found.upper[at]:.3f}"
        return (
            f"{found.skills[at]:.3f} ({interval}); power {found.powers[at]:.2f}; "
            f"Markov model {found.skills[best]:.3f}"
        )


def difference(full: Found, rows: np.ndarray, part: Found) -> str:
    """Return the mean difference of the memberships of `part` from those of the same frames in `full`."""
    ours, theirs = full.memberships.values[rows], part.memberships.values
    states, others = linear_sum_assignment(-(ours.T @ theirs))
    matched = np.zeros_like(ours)
    matched[:, states] = theirs[:, others]
    apart = np.abs(matched - ours).sum(axis=1) + theirs.sum(axis=1) - matched.sum(axis=1)
    return f"{0.5 * apart.mean():.3f}"


def analyse(frames: mf.Frames) -> mf.Clustering:
    """Cluster with default settings."""
    return mf.cluster(frames, progress=False)


def molecules(folder: Path) -> Iterator[tuple[str, mf.Clustering]]:
    """Yield the results of the first table."""
    yield "alanine tripeptide", analyse(tripeptide(folder))
    bpti = mf.load(str(folder / "real/bpti_ca.xtc"), top=str(folder / "real/bpti_ca.pdb"), timestep=250_000)
    yield "BPTI", analyse(bpti)
    hot = analyse(load(folder / "ala2_kinetics", None, 1, 1.0))
    yield "alanine dipeptide, 450 K", hot
    yield "alanine dipeptide, 450 K, four states", hot.at(n_states=4)
    yield "alanine dipeptide, 300 K", analyse(load_frames(folder / "ala2", 300_000))
    yield "alanine dipeptide, 300 K, bundled", analyse(mf.datasets.alanine_dipeptide())


def tripeptide(folder: Path) -> mf.Frames:
    """Return the frames of alanine tripeptide."""
    import mdtraj as md

    top = md.load(str(folder / "ala3/ala3.pdb")).topology
    parts = [np.load(file)["picometres"] for file in sorted((folder / "ala3").glob("*.npz"))]
    shaped = [part.T.reshape(-1, top.n_atoms, 3).astype(np.float32) / 1000 for part in parts]
    return mf.load([md.Trajectory(xyz, top, time=np.arange(1.0, len(xyz) + 1)) for xyz in shaped])


def agreement_table(folder: Path) -> Iterator[str]:
    """Yield the table over the required agreement."""

    def rows() -> Iterator[Sequence[object]]:
        for name, result in molecules(folder):
            whole = f"{name}: {len(result):,} frames, {result.n_states} states"
            for agreement in AGREEMENTS:
                found = Found(result, agreement)
                skill = found.skill() if "450 K" in name else ""
                yield whole, agreement or "none", found.sizes(), *found.labels(), skill
                whole = ""

    head = ["data", "`core_agreement`", "core sizes", "labels in their basin", "largest deviation", "skill"]
    yield from table(head, rows())


def least_table(folder: Path) -> Iterator[str]:
    """Yield the table over the least share."""
    hot = analyse(load(folder / "ala2_kinetics", None, 1, 1.0))
    few = hot.at(n_states=4)
    full = analyse(load_frames(folder / "ala2", None))
    sample = analyse(load_frames(folder / "ala2", SAMPLE))
    rows_of_sample = sampled_rows(full.data.lengths, SAMPLE)

    def rows() -> Iterator[Sequence[object]]:
        for least in LEASTS:
            whole, part = Found(full, least=least), Found(sample, least=least)
            yield (
                "0" if least == 0 else f"1/{round(1 / least):,}",
                whole.sizes(),
                whole.labels()[0],
                whole.transition_frames(),
                difference(whole, rows_of_sample, part),
                Found(hot, least=least).skill(),
                Found(few, least=least).skill(),
            )

    yield from table(
        [
            *("`least`", "core sizes", "labels in their basin", "transition frames"),
            f"difference, {SAMPLE:,} frames",
            *("skill, 450 K, 5 states", "skill, 450 K, 4 states"),
        ],
        rows(),
    )


def sampled_rows(lengths: Sequence[int], n: int) -> np.ndarray:
    """Return the frames that `load_frames` takes if it takes n, evenly spaced in every trajectory."""
    found, start = [], 0
    for place, length in enumerate(lengths):
        share = n * (place + 1) // len(lengths) - n * place // len(lengths)
        found.append(start + np.linspace(0, length - 1, min(share, length)).astype(np.int64))
        start += length
    return np.concatenate(found)


def main() -> None:
    """Write the tables that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--only", choices=["agreement", "least"], help="compute this table alone")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the tables there")
    options = parser.parse_args()
    tables = {"agreement": agreement_table, "least": least_table}
    for name, lines in tables.items():
        if options.only in (None, name):
            text = "\n".join(lines(options.data))
            tell(text, options.write and options.write / f"cores-{name}-table.md")


if __name__ == "__main__":
    main()

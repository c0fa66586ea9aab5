"""Why memberships are more certain than the molecule: frame spacing, dimensions and core size, one at a time.

    python benchmarks/over_confidence.py --write docs/theory/over-confidence-table.md

First a diffusion in two wells, whose committor is known, in 2 dimensions and with stiff ones added, looked at
more and more rarely. Then the bundled alanine dipeptide with the same cores and memberships throughout,
looked at every 0.2, 1 and 5 ps.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from pages import tell

import mdfuzzy as mf

SPACINGS = (0.005, 0.05, 0.5)
BARRIER, STIFF, EDGE = 3.0, 0.1, 0.8
BETAS = (1.0, 2.0, 4.0, np.inf)
STRIDES = (1, 5, 25)
SHARES = (0.1, 0.4)


def diffusion(d: int, spacing: float, *, n_trajectories: int = 20, length: int = 400) -> list[np.ndarray]:
    """Follow dY = 1/2 grad log f dt + dB with log f = -3 (x^2 - 1)^2 - 2 y^2 and d - 2 stiff directions."""
    rng = np.random.default_rng(d)
    step = 0.0025
    x = np.zeros((n_trajectories, d))
    x[:, 0] = rng.choice([-1.0, 1.0], n_trajectories)
    springs = np.r_[0.0, 4.0, np.full(d - 2, 1 / STIFF**2)]
    frames = np.empty((length, n_trajectories, d))
    for at in range(-100, length):
        for _ in range(round(spacing / step)):
            pull = -springs * x
            pull[:, 0] = -4 * BARRIER * x[:, 0] * (x[:, 0] ** 2 - 1)
            x = x + 0.5 * step * pull + np.sqrt(step) * rng.normal(size=x.shape)
        if at >= 0:
            frames[at] = x
    return list(frames.transpose(1, 0, 2))


def exact_committor(x: np.ndarray) -> np.ndarray:
    """Return the probabilities to reach x = -0.8 and x = 0.8 first, (n, 2)."""
    grid = np.linspace(-EDGE, EDGE, 4001)
    rising = np.cumsum(np.exp(BARRIER * (grid**2 - 1) ** 2))
    right = np.interp(x, grid, (rising - rising[0]) / (rising[-1] - rising[0]))
    return np.stack([1 - right, right], axis=1)


def wells(d: int, spacing: float, rule: str) -> Sequence[object]:
    """Return a row: how the exact committor and the memberships do in d dimensions."""
    data = mf.Features(diffusion(d, spacing))
    x = data.values[:, 0]
    result = mf.cluster(data, mf.Settings(prominence=1.0, core_rule="share", core_share=0.1))
    cores = result.cores
    if rule == "slabs":
        labels = np.where(x < -EDGE, 0, np.where(x > EDGE, 1, -1))
        tops = [np.argmax(np.where(labels == c, result.log_density, -np.inf)) for c in (0, 1)]
        cores = mf.Cores((x > 0).astype(int), labels, tops, np.ones(2))
    options = {"betas": BETAS, "dimension": result.dimension}
    scan = mf.scan_beta(result.graph, result.log_density, cores, **options)
    found = mf.kinetics.calibration(data, scan, cores, coordinates=data.values[:, :2])
    cells = ["", ""]
    if rule == "slabs":
        exact = mf.kinetics.calibration(data, exact_committor(x), cores, coordinates=data.values[:, :2])
        cells = [number(exact, "memberships", "skills"), number(exact, "memberships", "powers")]
    share = np.mean(cores.core_of >= 0)
    return (
        *(d, "slabs" if rule == "slabs" else "share, 10 %", f"{share:.0%}", f"{spacing:g}", *cells),
        *outcome_cells(found),
    )


def number(found: mf.kinetics.Calibration, name: str, what: str) -> str:
    """Return a skill, or a power with its standard error."""
    at = found.row(name)
    if what == "skills":
        return f"{found.skills[at]:.2f}"
    return f"{found.powers[at]:.2f} ± {found.power_errors[at]:.2f}"


def outcome_cells(found: mf.kinetics.Calibration) -> list[str]:
    """Return the power at beta = 2, the skills there, at beta = 4 and infinity, and of the Markov model."""
    names = [f"memberships, beta = {beta}" for beta in ("2", "4", "inf")]
    skills = [number(found, name, "skills") for name in (*names, "k-means Markov model")]
    return [number(found, names[0], "powers"), *skills]


def alanine_rows(result: mf.Clustering) -> Iterator[Sequence[object]]:
    """Yield rows for the bundled frames, cut into 1 ns, looked at every 0.2, 1 and 5 ps."""
    frames = result.data
    angles = np.deg2rad(np.concatenate([frames.phi, frames.psi], axis=1))
    torsions = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    # Two trajectories are too few to leave some out; 1 ns is far longer than any transition.
    pieces = np.arange(len(frames)).reshape(-1, 5000)
    for share in SHARES:
        cores = mf.find_cores(
            *(result.graph, result.log_density, result.peaks),
            min_prominence=result.prominence,
            rule="share",
            share=share,
        )
        options = {"betas": BETAS, "dimension": result.dimension}
        scan = mf.scan_beta(result.graph, result.log_density, cores, **options)
        for stride in STRIDES:
            order = pieces[:, ::stride].ravel()
            data = mf.Features(list(torsions[pieces[:, ::stride]]))
            thinned = replace(scan, notes=(), frames=None, memberships=scan.memberships[:, order])
            found = mf.kinetics.calibration(data, thinned, cores.core_of[order])
            moved = rmsd_step(frames, stride)
            yield f"share, {share:.0%}", f"{0.2 * stride:g}", f"{moved:.4f}", *outcome_cells(found)


def rmsd_step(frames: mf.Frames, stride: int) -> float:
    """Return the median RMSD between frames that far apart, in nm."""
    import mdtraj as md

    xyz = frames.xyz[:5000].copy()
    trajectory = md.Trajectory(xyz, None)
    at = range(0, len(xyz) - stride, 50)
    return float(np.median([md.rmsd(trajectory[[i, i + stride]], trajectory, i)[1] for i in at]))


def table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> Iterator[str]:
    """Yield a table in Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "--:|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"
    yield ""


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    tail = ["power at beta = 2", *(f"skill at beta = {beta}" for beta in (2, 4, "infinity"))]
    tail.append("skill of the k-means Markov model")
    head = [
        "dimensions",
        "cores",
        "frames in cores",
        "frame spacing",
        "skill of the exact committor",
        "power of the exact committor",
        *tail,
    ]
    cases = [(2, "slabs"), (11, "slabs"), (11, "share")]
    lines = [*table(head, (wells(d, spacing, rule) for d, rule in cases for spacing in SPACINGS))]
    head = ["cores", "frame spacing (ps)", "RMSD to the next frame (nm)", *tail]
    result = mf.cluster(mf.datasets.alanine_dipeptide())
    lines += table(head, alanine_rows(result))
    lines.append(f"Median length of an edge of the graph: {np.median(result.graph.distances):.4f} nm.")
    text = "\n".join(lines) + "\n"
    tell(text, options.write)


if __name__ == "__main__":
    main()

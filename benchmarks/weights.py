"""Populations and memberships from biased draws of alanine dipeptide, whose unbiased ones are known.

    python benchmarks/weights.py --write docs/theory/weights-table.md

Frames of the full set are drawn with a probability that falls with their density in phi and psi, which is
what a bias does to a simulation; their weights are one over that probability. The truth for the states of a
draw is the fraction of the frames of the full set that `assign` gives to each of them (of all with phi > 0,
and of every tenth of the others). Draws without bias show by how much memberships differ anyway. A second
table counts
how often the test against noise finds states in densities that have one, for several kinds of weights.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from pages import save_text
from shared_data import DATA, load_frames

import mdfuzzy as mf
from mdfuzzy.pipeline.run import cluster_neighbors

SEEDS = (0, 1, 2)
#: Power of the density in phi and psi with which the acceptance falls.
BIASES = {"without bias": 0.0, "density^-1/2": 0.5, "uniform in phi, psi": 1.0}
FRAMES = 30_000
THINNED = 10  # of the frames with phi < 0, one in so many tells the truth
BINS = 72  # along phi and psi: 5 degrees


def say(text: str) -> None:
    """Print what was found so far."""
    print(text, file=sys.stderr, flush=True)


def local_density(phi: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """Return the density of each frame in phi and psi: smoothed counts in bins of 5 degrees."""
    bins = mf.plots.bin_points(np.column_stack([phi, psi]), number=BINS, periods=(360.0, 360.0))
    return bins.smooth_counts(1.0).reshape(-1)[bins.index]


def probabilities(density: np.ndarray, power: float, number: int) -> np.ndarray:
    """Return the probability with which each frame is drawn: min(1, c / density**power), of this sum."""
    shape = (density / density.max()) ** -power
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * shape).sum() < number else (low, middle)
    return np.minimum(1, high * shape)


def truth_of(result: mf.Clustering, full: mf.Frames) -> np.ndarray:
    """Return the fraction of all frames in each state of a clustering."""
    rare = full.phi[:, 0] > 0
    total = np.zeros(result.n_states)
    for stratum, every in ((np.flatnonzero(rare), 1), (np.flatnonzero(~rare), THINNED)):
        chosen = full[stratum[::every]].weighted()
        labels = mf.assign(result, chosen, progress=False, n_jobs=result.settings.n_jobs).labels
        counts = np.bincount(labels[labels >= 0], minlength=result.n_states)
        total += counts / len(chosen) * len(stratum)
    return total / len(full)


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the mean absolute difference of memberships, each state joined to the one it overlaps most."""
    joined = np.zeros_like(expected)
    for column in found.T:
        joined[:, int((expected.T @ column).argmax())] += column
    return float(np.abs(joined - expected).mean())


def draws(full: mf.Frames, reference: mf.Clustering, settings: mf.Settings, biases: list[str]) -> list[str]:
    """Return a line of the table for each draw."""
    density = local_density(full.phi[:, 0], full.psi[:, 0])
    lines, inside, strict, cases = [], 0, 0, 0
    for name in biases:
        power = BIASES[name]
        chances = probabilities(density, power, FRAMES)
        for seed in SEEDS:
            drawn = np.flatnonzero(np.random.default_rng([seed, int(2 * power)]).random(len(full)) < chances)
            frames = full[drawn].weighted(1 / chances[drawn])
            result = mf.cluster(frames, settings, progress=False)
            plain = cluster_neighbors(result.neighbors, result.settings, data=frames.weighted())
            truth, found = truth_of(result, full), result.fractions
            # The draws share the trajectories with the truth: intervals from frames alone are stricter.
            alone = mf.state_fractions(
                result.labels, [len(frames)], n_states=result.n_states, weights=frames.weights
            )
            ok = (found.low <= truth) & (truth <= found.high)
            ok_alone = (alone.low <= truth) & (truth <= alone.high)
            if power > 0:
                inside, strict, cases = inside + ok.sum(), strict + ok_alone.sum(), cases + len(ok)
            known = mf.assign(reference, frames.weighted(), progress=False, n_jobs=settings.n_jobs)
            expected = known.memberships.values
            populations = " / ".join(
                f"{100 * value:.3g} ({100 * low:.3g} to {100 * high:.3g}; {100 * true:.3g})"
                for value, low, high, true in zip(found.values, found.low, found.high, truth, strict=True)
            )
            raw = " / ".join(f"{100 * row.fraction:.3g}" for row in plain.states)
            lines.append(
                f"| {name} | {seed} | {len(frames):,} | {found.n_effective:,.0f} | {result.n_states} | "
                f"{populations} | {ok.sum()} ({ok_alone.sum()}) of {len(ok)} | {plain.n_states}: {raw} | "
                f"{difference(result.memberships.values, expected):.4f} | "
                f"{difference(plain.memberships.values, expected):.4f} |"
            )
            say(lines[-1])
            say(str(result.tree.table()))
    lines.append(
        f"\nInside their intervals: {inside} of {cases} populations ({strict} of {cases} inside those "
        "of a bootstrap of frames alone)."
    )
    return lines


def false_states(trials: int = 40, n: int = 4000) -> list[str]:
    """Return a line for each kind of weights: how often one mode is taken for several states."""
    kinds = {
        "smooth: exp(x), x the first coordinate": lambda points, rng: np.exp(points[:, 0]),
        "smooth: Gaussian sampled 1.5 times too wide": lambda points, rng: np.exp(
            -0.5 * (points**2).sum(axis=1) * 1.25
        ),
        "independent, lognormal of width 0.5": lambda points, rng: rng.lognormal(sigma=0.5, size=len(points)),
        "independent, lognormal of width 1": lambda points, rng: rng.lognormal(sigma=1.0, size=len(points)),
        "independent, lognormal of width 2": lambda points, rng: rng.lognormal(sigma=2.0, size=len(points)),
        "half of the frames without weight": lambda points, rng: (rng.random(len(points)) < 0.5).astype(
            float
        ),
    }
    lines = []
    for name, weigh in kinds.items():
        row = []
        for d in (2, 5):
            several, effective = 0, []
            for seed in range(trials):
                rng = np.random.default_rng([seed, d])
                points = rng.normal(size=(n, d))
                data = mf.Features(points, weights=weigh(points, rng))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    several += mf.cluster(data, progress=False).n_states > 1
                effective.append(data.n_effective)
            row.append(f"{several} of {trials} ({np.mean(effective):,.0f})")
        lines.append(f"| {name} | {' | '.join(row)} |")
        say(lines[-1])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA / "ala2")
    parser.add_argument("--reference", type=int, default=142_074, help="frames of the unbiased clustering")
    parser.add_argument("--jobs", type=int, help="threads; every core by default")
    parser.add_argument("--biases", nargs="+", choices=list(BIASES), default=list(BIASES))
    parser.add_argument("--only", choices=("draws", "noise"))
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    parts = []
    if options.only != "noise":
        full = load_frames(options.data, None)
        rows = np.linspace(0, len(full) - 1, options.reference).astype(np.int64)
        settings = mf.Settings(n_jobs=options.jobs)
        reference = mf.cluster(full[rows], settings, progress=False)
        say(str(reference.states))
        parts += [
            "| sample | seed | frames | effective frames | states | population (95 % interval; true "
            "population), % "
            "| inside | unweighted: number of states: fractions, % | difference of memberships, weighted "
            "| difference of memberships, unweighted |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *draws(full, reference, settings, options.biases),
        ]
    if options.only != "draws":
        parts += [
            "",
            "| weights of 4,000 points of one Gaussian | several states, d = 2 (effective points) | d = 5 |",
            "|---|---|---|",
            *false_states(),
        ]
    text = "\n".join(parts) + "\n"
    if options.write is None:
        print(text)
    else:
        save_text(options.write, text)


if __name__ == "__main__":
    main()

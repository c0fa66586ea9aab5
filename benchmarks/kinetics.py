"""States, transition regions, timescales and calibration of alanine dipeptide, beside k-means.

    python benchmarks/kinetics.py --data ../shared/data/ala2_kinetics --write docs/theory/kinetics-450K.md
    python benchmarks/kinetics.py --data ../shared/data/ala2 --frames 13000 --stride 4 \\
        --write docs/theory/kinetics-300K.md

A folder holds packed trajectories (`*.npz`) and `ala2.pdb`. `--frames` takes the first frames of every
trajectory, `--stride` uses every Nth frame: `--frames 1000` is a quick run. `--cache` keeps neighbours and
scans over beta for the next run. `--write` also draws the reliability diagrams beside the tables, as a PNG.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from kinetics_study import BETAS, CENTERS, DEFAULT, SEED, Study, load
from pages import tell

import mdfuzzy as mf

#: The measure of all rules: discs of this radius in (phi, psi) around the peaks, in degrees, and a share.
RADIUS, YARDSTICK = 25.0, "share, 40 %"
LAGS = (1.0, 2.0, 5.0, 10.0, 20.0)  # ps
VAMP_LAGS = (2.0, 10.0)  # ps


def table(head: Sequence[str], rows: Iterator[Sequence[object]]) -> Iterator[str]:
    """Yield a table in Markdown; all columns but the first to the right."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"
    yield ""


def states_table(study: Study, rule: str) -> Iterator[str]:
    """Yield the states and their transition regions at beta = 2; milestones count the visits."""
    frames, cores, milestones = study.frames, study.cores[rule], study.result.milestones
    seen = mf.kinetics.visits(frames, milestones)

    def rows() -> Iterator[Sequence[object]]:
        for state, peak in enumerate(cores.peaks):
            yield (
                state,
                f"({frames.phi[peak, 0]:.0f}, {frames.psi[peak, 0]:.0f})",
                f"{cores.basin_sizes[state]:,}",
                f"{cores.sizes[state]:,}",
                f"{milestones.sizes[state]:,}",
                f"{seen.visits[state]:,}",
                f"{seen.mean_dwell[state]:.3g}",
                "yes" if seen.metastable[state] else f"not shown: {seen.reasons[state]}",
            )

    head = ["state", "peak (phi, psi)", "basin", "core", "milestone", "visits"]
    yield from table([*head, f"mean dwell ({seen.unit})", "metastable"], rows())
    values = study.memberships(rule, 2.0).astype(np.float64)
    memberships = mf.Memberships(
        values=values, lost=np.zeros(len(values)), beta=2.0, log_weights=np.zeros(len(values)), exponent=0.0
    )
    found = mf.find_transition_regions(frames, memberships, milestones)
    each = zip(found.pairs, found.sizes, found.fractions, found.mixing, found.transitions, strict=True)
    yield from table(
        ["states", "transition frames", "fraction of frames", "mean mixing", "transitions"],
        ((f"{a} and {b}", f"{n:,}", f"{p:.2%}", f"{w:.2f}", f"{m:,}") for (a, b), n, p, w, m in each),
    )


def routes(study: Study) -> dict[str, list[np.ndarray]]:
    """Return discrete trajectories by route: core sets of each rule, hard assignment, k-means."""
    found = {}
    for rule, cores in study.cores.items():
        found[f"core set, {rule}"] = mf.kinetics.milestoned_dtrajs(study.frames, cores).dtrajs
    hard = study.memberships(DEFAULT, 2.0).argmax(axis=1).astype(np.int32)
    found["hard assignment"] = study.frames.split(hard)
    found[f"k-means, {CENTERS} centres"] = study.frames.split(study.cells.transform(study.torsions))
    return found


def timescales_table(study: Study, number: int = 3) -> Iterator[str]:
    """Yield implied timescales longer than twice the lag, with intervals."""
    lags = study.lags(LAGS)
    head = ["model", "timescale", *(f"lag {lag * study.step:g} ps" for lag in lags)]
    rows = []
    for name, dtrajs in routes(study).items():
        options = {
            "lags": lags,
            "timestep": study.step,
            "n_timescales": number,
            "n_bootstrap": 40,
            "seed": SEED,
        }
        found = mf.kinetics.implied_timescales(dtrajs, **options)
        for place in range(found.values.shape[1]):
            cells = []
            for at, lag in enumerate(found.lag_times):
                value, low, high = found.values[at, place], found.lower[at, place], found.upper[at, place]
                shown = f"{value:.3g} ({low:.3g} to {high:.3g})".replace("nan", "?")
                cells.append(shown if value > 2 * lag else "")
            if any(cells):
                rows.append([name, place + 1, *cells])
    yield from table(head, iter(rows))


def vamp_table(study: Study) -> Iterator[str]:
    """Yield cross-validated VAMP-2 scores, and the difference from k-means split by split."""
    lags = study.lags(VAMP_LAGS)
    dim = study.result.n_states - 1
    series = {
        f"core set, {rule}": mf.kinetics.core_dtrajs(study.frames, c) for rule, c in study.cores.items()
    }
    everything = routes(study)
    series["hard assignment"] = everything["hard assignment"]
    for rule in study.cores:
        series[f"memberships, {rule}, beta = 2"] = study.frames.split(study.memberships(rule, 2.0))
    last = f"k-means, {CENTERS} centres"
    series[last] = everything[last]
    scores = {
        name: [mf.kinetics.vamp2_score(each, lag=lag, dim=dim, seed=SEED).scores for lag in lags]
        for name, each in series.items()
    }
    head = ["functions of the frames", *(f"lag {lag * study.step:g} ps" for lag in lags)]
    head += [f"difference from k-means, lag {lag * study.step:g} ps" for lag in lags]

    def rows() -> Iterator[Sequence[object]]:
        for name, each in scores.items():
            own = [f"{s.mean():.3f} ± {s.std():.3f}" for s in each]
            against = [s - t for s, t in zip(each, scores[last], strict=True)]
            yield name, *own, *(f"{s.mean():+.3f} ± {s.std():.3f}" for s in against)

    yield from table(head, rows())


def skill(found: mf.kinetics.Calibration, name: str) -> str:
    """Return a skill with its interval."""
    at = found.row(name)
    return f"{found.skills[at]:.3f} ({found.lower[at]:.3f} to {found.upper[at]:.3f})"


def judge(study: Study, rule: str, labels: object, **options: object) -> mf.kinetics.Calibration:
    """Judge the memberships of a rule at every beta against the cores of `labels`."""
    return mf.kinetics.calibration(study.frames, study.scans[rule], labels, seed=SEED, **options)


def calibration_table(study: Study, direction: str) -> tuple[list[str], dict[str, mf.kinetics.Calibration]]:
    """Return the table of skills, every rule on its own cores, and what it was made of."""
    found = {rule: judge(study, rule, cores, direction=direction) for rule, cores in study.cores.items()}

    def rows() -> Iterator[Sequence[object]]:
        for rule, each in found.items():
            by_entropy = study.scans[rule].beta
            at = each.row("memberships, beta = 2")
            yield (
                rule,
                f"{each.n_transitions:,}",
                f"{each.scores[0]:.3f}",
                skill(each, "hard assignment"),
                skill(each, "hard assignment, fitted"),
                skill(each, "memberships, beta = 1"),
                skill(each, "memberships, beta = 2"),
                f"{skill(each, f'memberships, beta = {by_entropy:.3g}')}, beta = {by_entropy:.3g}",
                f"{skill(each, 'memberships, beta by calibration')}, beta = {best_beta(each):.3g}",
                skill(each, "memberships, beta = inf"),
                skill(each, "k-means Markov model"),
                f"{each.powers[at]:.2f} ± {each.power_errors[at]:.2f}",
            )

    head = ["core rule", "transitions", "score of the constant guess", "hard assignment"]
    head += ["hard assignment, fitted"]
    head += ["beta = 1", "beta = 2", "beta by entropy", "beta by calibration", "beta = infinity"]
    head += ["k-means Markov model", "power at beta = 2"]
    return list(table(head, rows())), found


def best_beta(found: mf.kinetics.Calibration) -> float:
    """Return the beta of the largest skill on all trajectories."""
    scanned = [f"memberships, beta = {beta:.3g}" for beta in BETAS]
    return BETAS[int(np.argmax([found.skills[found.row(name)] for name in scanned]))]


def yardsticks(study: Study) -> dict[str, np.ndarray]:
    """Return two sets of cores that all rules are measured against."""
    peaks = study.result.cores.peaks
    angles = np.stack([study.frames.phi[:, 0], study.frames.psi[:, 0]], axis=1)
    apart = np.abs(angles[:, None] - angles[peaks][None])
    apart = np.linalg.norm(np.minimum(apart, 360 - apart), axis=2)
    near = apart.argmin(axis=1)
    discs = np.where(apart.min(axis=1) < RADIUS, near, -1)
    return {f"discs of {RADIUS:g} degrees": discs, f"cores of {YARDSTICK}": study.cores[YARDSTICK].core_of}


def rules_table(study: Study) -> Iterator[str]:
    """Yield the skills of all rules on the same labels and frames: those outside every core of every rule."""
    outside = np.all([cores.core_of < 0 for cores in study.cores.values()], axis=0)
    found = {
        (rule, name): judge(study, rule, labels, frames=outside & (labels < 0))
        for name, labels in yardsticks(study).items()
        for rule in study.cores
    }
    head = ["core rule", "core sizes"]
    for name in yardsticks(study):
        head += [f"{name}: beta = 2", f"{name}: beta by calibration", f"{name}: power at beta = 2"]

    def rows() -> Iterator[Sequence[object]]:
        for rule, cores in study.cores.items():
            cells = []
            for name in yardsticks(study):
                each = found[rule, name]
                at = each.row("memberships, beta = 2")
                cells += [
                    skill(each, "memberships, beta = 2"),
                    f"{skill(each, 'memberships, beta by calibration')}, beta = {best_beta(each):.3g}",
                    f"{each.powers[at]:.2f} ± {each.power_errors[at]:.2f}",
                ]
            yield rule, " ".join(f"{size:,}" for size in cores.sizes), *cells
        for forecast in ("hard assignment", "hard assignment, fitted", "k-means Markov model"):
            bars = [skill(found[DEFAULT, name], forecast) for name in yardsticks(study)]
            yield forecast, "", *(cell for bar in bars for cell in (bar, "", ""))

    yield from table(head, rows())
    for name in yardsticks(study):
        each = found[DEFAULT, name]
        yield (
            f"{name[0].upper()}{name[1:]}: {each.n_frames:,} frames outside every core of every rule, in "
            f"{each.n_transitions:,} transitions; the constant guess scores {each.scores[0]:.3f}."
        )
        yield ""


def draw(path: Path, found: dict[str, mf.kinetics.Calibration]) -> None:
    """Draw the reliability diagrams of every rule."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(found), figsize=(3.3 * len(found), 3.6), sharey=True, layout="constrained"
    )
    series = {
        "memberships, beta = 1": ("#CC79A7", "s"),
        "memberships, beta = 2": ("#0072B2", "o"),
        "memberships, beta by calibration": ("#E69F00", "D"),
        "k-means Markov model": ("#009E73", "^"),
    }
    for ax, (rule, each) in zip(axes, found.items(), strict=True):
        ax.plot([0, 1], [0, 1], color="0.6", lw=1, zorder=0)
        for name, (color, marker) in series.items():
            diagram = each.diagrams[each.row(name)]
            full = diagram.transitions > 0
            error = [diagram.observed - diagram.lower, diagram.upper - diagram.observed]
            ax.errorbar(
                diagram.predicted[full], diagram.observed[full], np.array(error)[:, full],
                color=color, marker=marker, ms=4, lw=1, capsize=2, label=name,
            )  # fmt: skip
        ax.set(
            title=f"cores: {rule}\n{each.n_transitions:,} transitions",
            xlabel="predicted probability",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        ax.set_aspect("equal")
    axes[0].set_ylabel("observed frequency of the next core")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def report(study: Study, command: str) -> tuple[str, dict[str, mf.kinetics.Calibration]]:
    """Return all tables as a page, and the calibrations for the picture."""
    frames = study.frames
    lines = [f"Printed by `{command}`.", "", f"{frames.summary().splitlines()[0]}", ""]
    lines += [
        f"**States and transition regions** (cores: {DEFAULT}; beta = 2; visits and transitions between "
        "milestones).",
        "",
        *states_table(study, DEFAULT),
    ]
    lines += [
        "**Implied timescales** in ps, longer than twice the lag, with 90 % intervals from 40 "
        "bootstrap samples of whole trajectories. A limit marked ? is not determined by the data.",
        "",
        *timescales_table(study),
    ]
    lines += [
        f"**VAMP-2 scores** of the {study.result.n_states - 1} slowest processes (the constant function adds "
        f"1), "
        "on left-out trajectories: mean and standard deviation over 20 random divisions into halves.",
        "",
        *vamp_table(study),
    ]
    for direction in ("next", "last"):
        calibrated, found = calibration_table(study, direction)
        if direction == "next":
            forward = found
        lines += [
            f"**Calibration, the {direction} core**: skill on left-out trajectories, with 95 % intervals "
            "from a bootstrap of whole trajectories. The outcomes of each rule are counted on its own cores.",
            "",
            *calibrated,
        ]
    lines += [
        "**Core rules compared on the same outcomes and frames**: skills as above.",
        "",
        *rules_table(study),
    ]
    return "\n".join(lines), forward


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--frames", type=int, help="the first so many frames of every trajectory")
    parser.add_argument("--stride", type=int, default=1, help="use every Nth frame")
    parser.add_argument("--timestep", type=float, help="ps between frames (default: 0.2 for ala2, else 1)")
    parser.add_argument("--cache", type=Path, metavar="DIR")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    timestep = options.timestep or (0.2 if options.data.name == "ala2" else 1.0)
    frames = load(options.data, options.frames, options.stride, timestep)
    part = f" --frames {options.frames}" * (options.frames is not None)
    part += f" --stride {options.stride}" * (options.stride != 1)
    study = Study(frames, options.cache)
    text, found = report(study, f"python benchmarks/kinetics.py --data {options.data.name}{part}")
    if options.write is not None:
        draw(options.write.with_suffix(".png"), found)
        text += f"\n![Reliability diagrams]({options.write.with_suffix('.png').name})\n"
    tell(text, options.write)


if __name__ == "__main__":
    main()

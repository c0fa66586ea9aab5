"""States found on some of the frames: how far the memberships of all are from those of a fit of all.

    python benchmarks/sampling.py                        # of all 1,420,738 frames
    python benchmarks/sampling.py --frames 142074 --write docs/performance
    python benchmarks/sampling.py --run FOLDER --shares 0.1 --write docs/performance  # of headline.py --keep

*True* is the difference from the fit of all frames; the other numbers come from `Clustering.sample`.
"""

import argparse
import json
import logging
import warnings
from pathlib import Path

import numpy as np
from measuring import Clock, describe_machine, machine
from pages import save_text
from scipy.optimize import linear_sum_assignment
from shared_data import DATA, load_frames

import mdfuzzy as mf

SHARES = (0.1, 0.25, 0.5)


def compare(full: mf.Clustering, found: mf.Clustering) -> dict:
    """Return how far the memberships of a sampled clustering are from those of a fit of all frames."""
    ours, theirs = full.memberships.values, found.memberships.values
    states, others = linear_sum_assignment(-(ours.T @ theirs))
    matched = np.zeros_like(ours)
    matched[:, states] = theirs[:, others]
    apart = theirs.sum(axis=1) - matched.sum(axis=1)
    differences = 0.5 * (np.abs(matched - ours).sum(axis=1) + apart)
    names = np.full(found.n_states, -2)
    names[others] = states
    return {
        "states": found.n_states,
        "mean": float(differences.mean()),
        "most": float(np.quantile(differences, 0.99)),
        "agreement": float(np.mean(names[found.labels] == full.labels)),
        "fractions": [float(value) for value in matched.mean(axis=0)],
    }


def run(full: mf.Clustering, clock: Clock, shares: tuple[float, ...]) -> dict:
    """Fit some of the frames, and compare with the fit of all."""
    frames, found = full.data, []
    for share in shares:
        settings = mf.Settings(fit_frames=round(share * len(frames)))
        sampled = mf.cluster(frames, settings, progress=False)
        clock.lap(f"{share:g}")
        assert sampled.sample is not None
        error = sampled.sample.error
        assert error is not None
        row = {"share": share, "fit frames": len(sampled.sample), "true": compare(full, sampled)}
        found.append(row | {"expected": vars(error) | {"all frames": error.all_frames}})
        print(json.dumps(found[-1], indent=1), flush=True)
    return {
        "frames": len(frames),
        "states": full.n_states,
        "fractions": full.memberships.values.mean(axis=0).tolist(),
        "samples": found,
        "steps": clock.rows(),
        "machine": machine("scikit-learn", "mdtraj"),
    }


def table(found: dict) -> list[str]:
    """Return the comparison as lines of Markdown."""
    lines = [
        "| fitted frames | states | mean difference: true | mean difference: expected "
        "| mean difference: with twice the frames | mean difference: with half "
        "| 99th percentile: true | 99th percentile: with twice the frames "
        "| same state: true | same state: with twice the frames |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in found["samples"]:
        true, expected = row["true"], row["expected"]
        lines.append(
            f"| {row['fit frames']:,} ({row['share']:.0%}) | {true['states']} | {true['mean']:.3f} "
            f"| {expected['all frames']:.3f} | {expected['mean']:.3f} | {expected['half']:.3f} "
            f"| {true['most']:.3f} | {expected['most']:.3f} "
            f"| {true['agreement']:.2%} | {expected['agreement']:.2%} |"
        )
    return lines


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA / "ala2", metavar="FOLDER")
    parser.add_argument("--frames", type=int, help="how many, evenly spaced; all by default")
    parser.add_argument(
        "--run", type=Path, metavar="FOLDER", help="take the frames and their fit from this run directory"
    )
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of all frames, to be fitted")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="update the page about performance there"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    clock = Clock()
    if options.run is None:
        full = mf.cluster(load_frames(options.data, options.frames), progress=False)
        clock.lap("all")
    else:
        full = mf.RunDir(options.run).load()
        clock.lap("reading the run")
    found = run(full, clock, tuple(options.shares))
    print(f"{found['frames']:,} frames, {found['states']} states; {describe_machine(found['machine'])}")
    print("\n".join(table(found)))
    if options.json is not None:
        save_text(options.json, json.dumps(found, indent=1) + "\n")
    if options.write is not None:
        from performance import write_result

        write_result(options.write, "sampling" if options.run is None else "sampling_of_run", found)


if __name__ == "__main__":
    main()

"""Alanine dipeptide: the density, the states and the second-highest membership over phi and psi."""

from pathlib import Path

import numpy as np

import mdfuzzy as mf
from bonis_oudot.drawing import panels, save

#: What the paper reports.
PAPER = {"frames": 1_420_738, "states": "5", "transition_regions": "6 to 7", "beta": 0.2}
#: Temperatures at which transition regions are counted: as simulated, the plain walk, and the paper's.
BETAS = (2.0, 1.0, 0.2)
#: The one that is drawn.
DRAWN = 2.0


def run(folder: Path, frames: mf.Frames, *, more: mf.Frames | None = None, jobs: int | None) -> dict:
    """Cluster by default, draw the three panels of the paper, count states and transition regions.

    With `more` frames these are counted there as well.
    """
    result = cluster(frames, jobs)
    figure, axes = panels(1, 3, height=3.4, width=3.9)
    for ax, kind, title in zip(
        axes[0],
        ("density", "states", "second"),
        ("frames", "states", "second-highest membership"),
        strict=True,
    ):
        mf.plots.ramachandran(frames, result, kind=kind, ax=ax)
        ax.set_title(title)
    found = count(frames, result, jobs) | {"figure": save(figure, folder / "alanine.png")}
    return found if more is None else found | {"more": count(more, cluster(more, jobs), jobs)}


def cluster(frames: mf.Frames, jobs: int | None) -> mf.Clustering:
    """Find states and memberships by default, at the temperature that is drawn."""
    return mf.cluster(frames, mf.Settings(beta=DRAWN, n_jobs=jobs), progress=False)


def count(frames: mf.Frames, result: mf.Clustering, jobs: int | None) -> dict:
    """Return the states with their peaks and sizes, and the transition regions at every temperature."""
    angles = np.column_stack([frames.phi[:, 0], frames.psi[:, 0]])[result.cores.peaks]
    return {
        "frames": len(frames),
        "k": result.k,
        "K": result.n_states,
        "verdict": result.tree.words,
        "peaks": angles.round().astype(int).tolist(),
        "basins": result.cores.basin_sizes.tolist(),
        "cores": result.cores.sizes.tolist(),
        "transition_regions": [count_transition_regions(frames, result, beta, jobs) for beta in BETAS],
    }


def count_transition_regions(frames: mf.Frames, result: mf.Clustering, beta: float, jobs: int | None) -> dict:
    """Return the pairs of states that touch at a temperature, with their frames and transitions."""
    memberships = result.memberships
    if beta != memberships.beta:
        memberships = mf.solve_memberships(
            result.graph, result.log_density, result.cores,
            beta=beta, dimension=result.dimension, n_jobs=jobs,
        )  # fmt: skip
    found = mf.find_transition_regions(frames, memberships, result.milestones)
    columns = found.pairs.tolist(), found.sizes.tolist(), found.transitions.tolist()
    return {"beta": beta, "pairs": list(zip(*columns, strict=True)), "others": found.others.tolist()}


_TEXT = """## Alanine dipeptide

The data are {frames:,} frames, compared by the RMSD of ten heavy atoms, with k = {k} and default settings.
(The paper uses {paper_frames:,} frames of another simulation.)

{counts}

![frames, states and second-highest membership]({figure})

*Left*: the frames over phi and psi. *Middle*: the states. *Right*: the second-highest membership at
beta = {drawn:g}, which is high in the transition regions. The clustering does not use phi and psi.

| state | peak at (phi, psi) | basin | core |
|--:|---|--:|--:|
{states}

{gaps}

Two states have a transition region if they have at least three transition frames, with a second-highest
membership of at least half of the highest. The table gives the number of transition frames and, in
brackets, the number of observed transitions between the milestones.

| beta | transition regions | transitions between states without a transition region |
|--:|---|---|
{pairs}

The paper counts transition regions by eye, in a picture at beta = 0.2 with another density estimate. With
our density, beta = 0.2 is ten times colder than the simulation (see
[memberships](../theory/memberships.md)). A cold walk leaves fewer transition frames, and small transition
regions are lost.
"""


def text(found: dict) -> str:
    """Return the section as Markdown."""
    states = [
        f"| {state} | ({peak[0]}, {peak[1]}) | {basin:,} | {core:,} |"
        for state, (peak, basin, core) in enumerate(
            zip(found["peaks"], found["basins"], found["cores"], strict=True)
        )
    ]
    pairs = []
    for each in found["transition_regions"]:
        cells = [f"{a}–{b}: {size:,} ({moves:,})" for (a, b), size, moves in each["pairs"]]
        others = [f"{a}–{b} ({moves:,})" for a, b, moves in each["others"]]
        pairs.append(f"| {each['beta']:g} | {'; '.join(cells)} | {'; '.join(others)} |")
    counts = "\n".join(_counts([found, found["more"]] if "more" in found else [found]))
    gaps = f"{found['verdict']}."
    if "more" in found:
        sizes = ", ".join(f"{size:,}" for size in found["more"]["basins"])
        more = found["more"]
        gaps += f"\n\nWith {more['frames']:,} frames: {more['verdict']}. The basins hold {sizes} frames."
    shown = {
        "gaps": gaps,
        "states": "\n".join(states),
        "pairs": "\n".join(pairs),
        "counts": counts,
        "drawn": DRAWN,
    }
    paper = {f"paper_{name}": value for name, value in PAPER.items()}
    return _TEXT.format(**found | shown | paper)


def _counts(runs: list[dict]) -> list[str]:
    """Return the table of states and transition regions, the paper beside every run."""
    heads = [f"ours, {run['frames']:,} frames" for run in runs]
    lines = [f"| | paper | {' | '.join(heads)} |", "|---|" + "--:|" * (len(runs) + 1)]
    lines.append(f"| states | {PAPER['states']} | {' | '.join(str(run['K']) for run in runs)} |")
    for at, beta in enumerate(BETAS):
        theirs = PAPER["transition_regions"] if beta == PAPER["beta"] else ""
        cells = [str(len(run["transition_regions"][at]["pairs"])) for run in runs]
        lines.append(f"| transition regions at beta = {beta:g} | {theirs} | {' | '.join(cells)} |")
    return lines

"""The paper's first figure: a walk that must hit a single point gets lost; one to a core does not."""

from pathlib import Path

import numpy as np

import mdfuzzy as mf
from bonis_oudot.drawing import BLUE, RED, panels, plane, save

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
DIMENSIONS = (2, 5)
BETA = 2.0
#: The size whose memberships are drawn.
DRAWN = 10_000
RULES = {"prominence": "cores", "point": "single points"}


def run(folder: Path, *, sizes: tuple[int, ...] = SIZES, jobs: int | None) -> dict:
    """Solve for every size, dimension and kind of core; draw memberships and how they depend on the size."""
    figure, axes = panels(2, 3)
    rows = []
    for line, dimensions in enumerate(DIMENSIONS):
        kept = {rule: [] for rule in RULES}
        for n in sizes:
            points, labels = mf.datasets.unbalanced_gaussians(n, dimensions=dimensions)
            for column, (rule, words) in enumerate(RULES.items()):
                settings = mf.Settings(beta=BETA, core_rule=rule, n_jobs=jobs)
                result = mf.cluster(points, settings, progress=False)
                right = membership_in_right(result, labels)
                rows.append(
                    {"n": n, "dimensions": dimensions, "rule": rule, **describe(result, right, labels)}
                )
                kept[rule].append(rows[-1]["contrast"])
                if n == min(DRAWN, max(sizes)):
                    title = f"{dimensions} dimensions, {words}"
                    drawn = plane(axes[line, column], points[:, :2], right, title)
        for rule, colour in zip(RULES, (BLUE, RED), strict=True):
            axes[line, 2].semilogx(sizes, kept[rule], "o-", color=colour, label=RULES[rule])
        axes[line, 2].set(
            xlabel="points", ylabel="contrast", ylim=(0, 1.02), title=f"{dimensions} dimensions"
        )
        axes[line, 2].legend(frameon=False)
    figure.colorbar(drawn, ax=axes[:, :2], label="membership in the right cluster", shrink=0.6)
    return {
        "beta": BETA,
        "drawn": min(DRAWN, max(sizes)),
        "rows": rows,
        "figure": save(figure, folder / "gaussians.png"),
    }


def membership_in_right(result: mf.Clustering, labels: np.ndarray) -> np.ndarray:
    """Return the membership of every point in the state whose peak is in the right Gaussian."""
    of_peaks = labels[result.cores.peaks]
    return result.memberships.values[:, of_peaks == 1].sum(axis=1)


def describe(result: mf.Clustering, right: np.ndarray, labels: np.ndarray) -> dict:
    """Return the mean memberships in the right cluster of either Gaussian's points, and their difference."""
    means = [float(right[labels == label].mean()) for label in (0, 1)]
    return {
        "K": result.n_states,
        "left": means[0],
        "right": means[1],
        "contrast": means[1] - means[0],
        "accuracy": float(np.mean((right > 0.5) == (labels == 1))),
    }


_TEXT = """## An unbalanced mixture of two Gaussians

A wide Gaussian with 85 % of the points and a narrow one with 15 % (`mf.datasets.unbalanced_gaussians`),
beta = {beta:g}. Red is the right cluster, blue the left one; golden points are half-way. *Contrast* is
the mean membership in the right cluster of the right Gaussian's points, less that of the left one's: 1 if
the walk knows where it began, 0 if it does not.

![memberships and contrast]({figure})

A walk that must hit one point out of n wanders so long that it forgets where it began, the more so the
more points there are, and the more dimensions (molecules have ten or more). A core holds many points
however many there are, and keeps its contrast. The panels on the left and in the middle show {drawn:,}
points.

| dimensions | points | K | contrast: cores | contrast: points | own side: cores | own side: points |
|--:|--:|--:|--:|--:|--:|--:|
{rows}

*Own side*: the share of points with more than half of their membership in the cluster of their own
Gaussian.
"""


def text(found: dict) -> str:
    """Tell what came out."""
    rows = {(row["dimensions"], row["n"], row["rule"]): row for row in found["rows"]}
    lines = []
    for (dimensions, n, rule), core in rows.items():
        if rule == "prominence":
            point = rows[dimensions, n, "point"]
            lines.append(
                f"| {dimensions} | {n:,} | {core['K']} | {core['contrast']:.3f} | {point['contrast']:.3f} "
                f"| {core['accuracy']:.1%} | {point['accuracy']:.1%} |"
            )
    return _TEXT.format(**found | {"rows": "\n".join(lines)})

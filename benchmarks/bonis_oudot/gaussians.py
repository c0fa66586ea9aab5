"""The paper's first figure: a walk that must hit a single point gets lost; one to a core does not."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mdfuzzy as mf
from bonis_oudot.drawing import BLUE, GREY, RED, panels, plane, save

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
DIMENSIONS = (2, 5)
BETA = 2.0
#: The size whose memberships are drawn.
DRAWN = 10_000
#: The prominence of the cores that do not depend on the number of points.
PROMINENCE = 1.0
#: Kinds of cores, what they are called and their colours.
KINDS = {
    "fixed": ("cores, prominence 1", GREY),
    "automatic": ("cores, prominence by default", BLUE),
    "point": ("single points", RED),
}


def run(folder: Path, *, sizes: tuple[int, ...] = SIZES, jobs: int | None) -> dict:
    """Solve for every size, dimension and kind of core; draw memberships and how they depend on the size."""
    figure, axes = panels(2, 3)
    rows = []
    for line, dimensions in enumerate(DIMENSIONS):
        for n in sizes:
            points, labels = mf.datasets.unbalanced_gaussians(n, dimensions=dimensions)
            for kind, cores, memberships in solve(points, jobs):
                right = memberships.values[:, labels[cores.peaks] == 1].sum(axis=1)
                rows.append(
                    {"n": n, "dimensions": dimensions, "kind": kind, **describe(cores, right, labels)}
                )
                if n == min(DRAWN, max(sizes)) and kind != "fixed":
                    ax = axes[line, int(kind == "point")]
                    drawn = plane(ax, points[:, :2], right, f"{dimensions} dimensions\n{KINDS[kind][0]}")
        _draw_contrast(axes[line, 2], [row for row in rows if row["dimensions"] == dimensions])
    figure.colorbar(drawn, ax=axes[:, :2], label="membership in the right cluster", shrink=0.6)
    shown = {"beta": BETA, "drawn": min(DRAWN, max(sizes)), "prominence": PROMINENCE}
    return {**shown, "rows": rows, "figure": save(figure, folder / "gaussians.png")}


def solve(points: np.ndarray, jobs: int | None) -> Iterator[tuple[str, mf.Cores, mf.Memberships]]:
    """Yield the cores of every kind and the memberships that they give."""
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * mf.suggest_k(len(points)), n_jobs=jobs)
    dimension = mf.intrinsic_dimension(neighbors)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors, dimension=dimension)
    peaks = mf.compute_persistence(graph, log_density, n_jobs=jobs)
    for kind in KINDS:
        cores = mf.find_cores(
            graph,
            log_density,
            peaks,
            min_prominence=PROMINENCE if kind == "fixed" else peaks.prominence_gap().threshold,
            rule="point" if kind == "point" else "prominence",
        )
        yield (
            kind,
            cores,
            mf.solve_memberships(graph, log_density, cores, beta=BETA, dimension=dimension, n_jobs=jobs),
        )


def _draw_contrast(ax: object, rows: list[dict]) -> None:
    for kind, (words, colour) in KINDS.items():
        mine = [row for row in rows if row["kind"] == kind]
        ax.semilogx(
            [row["n"] for row in mine], [row["contrast"] for row in mine], "o-", color=colour, label=words
        )
    ax.set(xlabel="points", ylabel="contrast", ylim=(0, 1.02), title=f"{rows[0]['dimensions']} dimensions")
    ax.legend(frameon=False, fontsize=7)


def describe(cores: mf.Cores, right: np.ndarray, labels: np.ndarray) -> dict:
    """Return the mean memberships in the right cluster of either Gaussian's points, and their difference."""
    means = [float(right[labels == label].mean()) for label in (0, 1)]
    return {
        "K": len(cores),
        "cores": cores.sizes.tolist(),
        "left": means[0],
        "right": means[1],
        "contrast": means[1] - means[0],
        "accuracy": float(np.mean((right > 0.5) == (labels == 1))),
    }


_TEXT = """## An unbalanced mixture of two Gaussians

A wide Gaussian with 85 % of the points and a narrow one with 15 % (`mf.datasets.unbalanced_gaussians`),
beta = {beta:g}. Red is the right cluster, blue the left one; golden points are half-way. For the
*contrast*, consider the memberships in the right cluster. The contrast is their mean over the points of the
right Gaussian minus their mean over the points of the left Gaussian. It is 1 if the memberships separate the
Gaussians perfectly, and 0 if they do not depend on the starting point of the walk.

![memberships and contrast]({figure})

A walk that must hit a single point wanders so long that its end does not depend on its start. The effect
grows with the number of points and with the dimension (molecules have ten or more dimensions). The left and
middle panels show {drawn:,} points. A core extends down from its peak by half of the prominence threshold.
With a fixed prominence ({prominence:g}), as in the theorem of the paper, a core is always the same part of
the density. The default prominence falls as n grows, because the noise falls. The cores then shrink to the
smallest allowed share of their basin, and contrast is lost, but more slowly than with single points.

| {heads} |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|
{rows}

*Own side*: the share of points with a membership above ½ in the cluster of their own
Gaussian. K is the number of clusters with the default prominence.
"""


def text(found: dict) -> str:
    """Return the section as Markdown."""
    by_case: dict[tuple[int, int], dict[str, dict]] = {}
    for row in found["rows"]:
        by_case.setdefault((row["dimensions"], row["n"]), {})[row["kind"]] = row
    lines = []
    for (dimensions, n), kinds in by_case.items():
        cells = [f"{kinds[kind]['contrast']:.3f}" for kind in KINDS]
        cells += [f"{kinds[kind]['accuracy']:.1%}" for kind in KINDS]
        lines.append(f"| {dimensions} | {n:,} | {kinds['automatic']['K']} | " + " | ".join(cells) + " |")
    ways = ("fixed prominence", "default prominence", "single points")
    columns = [f"{what}: {way}" for what in ("contrast", "own side") for way in ways]
    heads = " | ".join(["dimensions", "points", "K", *columns])
    return _TEXT.format(**found | {"rows": "\n".join(lines), "heads": heads})

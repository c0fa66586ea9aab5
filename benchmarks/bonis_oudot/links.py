"""Two clusters joined by two links: what the temperature does, and the entropy against it."""

from pathlib import Path

import numpy as np

import mdfuzzy as mf
from bonis_oudot.drawing import BLUE, GREY, RED, panels, plane, save

BETAS = np.geomspace(0.03, 30.0, 19)
SHOWN = (0.05, 0.2, 1.0, 2.0)
PARTS = ("left cluster", "right cluster", "uniform link", "link with a gap")


def run(folder: Path, *, n: int = 5_000, seed: int = 0, jobs: int | None) -> dict:
    """Cluster at every beta; draw ToMATo's clusters, three temperatures, and the entropy of either link."""
    points, parts = mf.datasets.two_links(n, seed=seed)
    result = mf.cluster(points, mf.Settings(beta=1.0, n_jobs=jobs), progress=False)
    walk = {"dimension": result.dimension, "n_jobs": jobs}
    given = result.graph, result.log_density, result.cores
    scan = mf.scan_beta(*given, betas=BETAS, **walk)
    by_part = np.array(
        [[mf.clustering_entropy(mu[parts == part]) for part in range(4)] for mu in scan.memberships]
    )
    right = int(np.argmax(points[result.cores.peaks, 0]))
    figure, axes = panels(2, 3, height=1.9)
    plane(axes[0, 0], points, result.cores.basins == right, "ToMATo")
    shown = []
    for ax, beta in zip((*axes[0, 1:], *axes[1, :2]), SHOWN, strict=True):
        mu = mf.solve_memberships(*given, beta=beta, **walk)
        plane(ax, points, mu.values[:, right], f"beta = {beta:g}")
        shown.append({"beta": beta, **middle(points, parts, mu.values[:, right])})
    _draw_entropy(axes[1, 2], scan, by_part)
    hard = (result.cores.basins == right).astype(float)
    return {
        "n": n,
        "k": result.k,
        "K": result.n_states,
        "betas": scan.betas.tolist(),
        "entropy": scan.entropy.tolist(),
        "by_part": by_part.tolist(),
        "automatic_beta": scan.beta,
        "n_plateaus": scan.n_plateaus,
        **steps(scan),
        "shown": [{"beta": 0.0, **middle(points, parts, hard)}, *shown],
        "figure": save(figure, folder / "links.png"),
    }


def middle(points: np.ndarray, parts: np.ndarray, right: np.ndarray) -> dict:
    """Return how fuzzy either link is, and how many of its points are on the wrong side."""
    found = {}
    for name, part in (("uniform", 2), ("gap", 3)):
        link = parts == part
        found[name] = {
            "fuzzy": float(np.mean((right[link] > 0.1) & (right[link] < 0.9))),
            "wrong": float(np.mean((right[link] > 0.5) != (points[link, 0] > 0))),
        }
    return found


def steps(scan: mf.BetaScan) -> dict:
    """Return the betas at which the entropy falls more steeply than on either side, and how it falls between.

    The flattest slope between the first and the last of them is a share of the steepest slope.
    """
    falls = -np.gradient(scan.entropy, np.log(scan.betas))
    inner = np.flatnonzero((falls[1:-1] > falls[:-2]) & (falls[1:-1] >= falls[2:])) + 1
    flattest = falls[inner[0] : inner[-1] + 1].min() / falls.max() if len(inner) else 1.0
    return {"steps": scan.betas[inner].tolist(), "flattest": float(flattest)}


def _draw_entropy(ax: object, scan: mf.BetaScan, by_part: np.ndarray) -> None:
    ax.semilogx(scan.betas, scan.entropy, "o-", color=GREY, ms=3, label="all points")
    ax.semilogx(scan.betas, by_part[:, 2], color=BLUE, label=PARTS[2])
    ax.semilogx(scan.betas, by_part[:, 3], color=RED, label=PARTS[3])
    ax.axvline(scan.beta, color=GREY, ls=":", lw=0.8)
    ax.set(xlabel="beta (large is hot)", ylabel="entropy H, per point")
    ax.legend(frameon=False, fontsize=7)


_TEXT = """## Two clusters joined by two links

The data are {n:,} points (`mf.datasets.two_links`), with k = {k} and the default prominence, which gives K =
{K} clusters. The lower link between them has a uniform density; the upper link has a gap.

![ToMATo, four temperatures, entropy]({figure})

Cold walks follow the noise of the density on the uniform link, like ToMATo. Hot walks ignore the gap in
the other link. At intermediate temperatures the uniform link has mixed memberships, and the other link is
divided at its gap.

| | uniform: between | uniform: wrong side | gap: between | gap: wrong side |
|---|--:|--:|--:|--:|
{rows}

*Between*: no membership above 0.9. *Wrong side*: the larger membership is in the farther cluster.

The entropy H falls in steps, because the links become fuzzy one after the other. It falls fastest around
beta = {places}. Between these values the slope is {flattest:.0%} of the steepest slope. These are the
three plateaus of the paper, but the middle one is not flat. mdfuzzy defines a plateau as a range in which
the slope against log beta is below a fifth of the steepest slope, and finds {n_plateaus}. The automatic
beta, at the steepest slope, is {automatic_beta:.2g}. The memberships at beta = 0.2 in the paper, which are
nearly hard, resemble the memberships at 0.05 here, because values of beta depend on the density estimate.
"""


def text(found: dict) -> str:
    """Return the section as Markdown."""
    lines = []
    for row in found["shown"]:
        name = f"beta = {row['beta']:g}" if row["beta"] else "ToMATo"
        cells = [row[link][what] for link in ("uniform", "gap") for what in ("fuzzy", "wrong")]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.0%}" for cell in cells) + " |")
    places = " and ".join(f"{beta:.2g}" for beta in found["steps"])
    return _TEXT.format(**found | {"rows": "\n".join(lines), "places": places})

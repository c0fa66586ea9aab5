"""Two interleaved spirals: a cold walk tells them apart, a plain one and spectral clustering do not."""

from pathlib import Path

import numpy as np

import mdfuzzy as mf
from bonis_oudot.drawing import panels, plane, save
from bonis_oudot.fuzzy_c_means import fuzzy_c_means

BETAS = (1.0, 0.3)
#: Spectral clustering is run on so many of the points, as in the paper.
SUBSAMPLE = 2_000


def run(folder: Path, *, n: int = 6_000, seeds: int = 5, jobs: int | None) -> dict:
    """Cluster at both temperatures and by spectral fuzzy c-means; draw the first seed."""
    figure, axes = panels(1, 4, height=3.1)
    rows = []
    for seed in range(seeds):
        points, labels = mf.datasets.spirals(n, seed=seed)
        arms = labels < 2
        row = {"seed": seed}
        for ax, beta in zip(axes[0, 1:], BETAS, strict=False):
            settings = mf.Settings(beta=beta, core_rule="prominence", n_jobs=jobs)
            result = mf.cluster(points, settings, progress=False)
            row["K"] = result.n_states
            row[f"beta {beta:g}"] = mf.purity(result.memberships.hard[arms], labels[arms])
            if seed == 0:
                plane(ax, points, result.memberships.values[:, 0], f"beta = {beta:g}")
        default = mf.cluster(points, mf.Settings(beta=1.0, n_jobs=jobs), progress=False)
        row["beta 1, default cores"] = mf.purity(default.memberships.hard[arms], labels[arms])
        row["ToMATo"] = mf.purity(result.cores.basins[arms], labels[arms])
        some = np.sort(np.random.default_rng(seed).permutation(n)[:SUBSAMPLE])
        spectral = spectral_c_means(points[some])
        row["spectral"] = mf.purity(spectral.argmax(axis=1)[arms[some]], labels[some][arms[some]])
        if seed == 0:
            plane(axes[0, 0], points, labels, "the data", cmap="viridis", vmax=2)
            plane(axes[0, 3], points[some], spectral[:, 0], "spectral fuzzy c-means")
        rows.append(row)
    return {"n": n, "subsample": SUBSAMPLE, "rows": rows, "figure": save(figure, folder / "spirals.png")}


def spectral_c_means(points: np.ndarray, *, k: int = 15, fuzzifier: float = 2.0) -> np.ndarray:
    """Return memberships (n, 2) by fuzzy c-means on the first eigenvectors of the walk on the graph."""
    from scipy.sparse import csr_array
    from sklearn.manifold import spectral_embedding

    graph = mf.euclidean_neighbors(points, n_neighbors=k, n_jobs=1).graph(k=k)
    edges = np.ones(len(graph.indices)), graph.indices, graph.indptr.astype(np.int32)
    adjacency = csr_array(edges, shape=(len(points), len(points)))
    vectors = spectral_embedding(adjacency, n_components=2, drop_first=False, random_state=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return fuzzy_c_means(vectors, 2, fuzzifier=fuzzifier)


_TEXT = """## Two interleaved spirals

The data are {n:,} points, a tenth of them clutter (`mf.datasets.spirals`). The head of each spiral is close
to the tail of the other. Spectral fuzzy c-means uses {subsample:,} of the points.

![two temperatures and spectral fuzzy c-means]({figure})

With the cores of the paper, the walk at beta = 1 crosses the gap between the spirals, because the path
across it is short. The result resembles spectral clustering, which uses the same walk. At beta = 0.3 the
walk follows the density and stays in its spiral. The default cores of mdfuzzy are as large as necessary for
the labels to follow the basins, so they separate the spirals at beta = 1, too. The table gives the share of
points whose largest membership is in the cluster of their own spiral.

| seed | K | {names} |
|--:|--:|{rule}
{rows}
"""


def text(found: dict) -> str:
    """Return the section as Markdown."""
    names = [name for name in found["rows"][0] if name not in ("seed", "K")]
    lines = [
        f"| {row['seed']} | {row['K']} | " + " | ".join(f"{row[name]:.1%}" for name in names) + " |"
        for row in found["rows"]
    ]
    heads = " | ".join(name.replace("beta ", "beta = ") for name in names)
    return _TEXT.format(**found | {"rows": "\n".join(lines), "names": heads, "rule": "--:|" * len(names)})

"""Table 1: entropic purity on three UCI data sets, by the package's own choices and by other readings."""

import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import mdfuzzy as mf
from bonis_oudot import uci
from bonis_oudot.drawing import BLUE, GREY, RED, panels, save
from bonis_oudot.fuzzy_c_means import fuzzy_c_means
from mdfuzzy._threads import thread_count
from mdfuzzy.states.prominence import expected_noise

#: What the paper prints: rows of Waveform, Pendigits, Statlog.
PAPER = {
    "best beta": (-1.1, -0.61, -0.51),
    "automatic beta": (-1.1, -0.64, -0.55),
    "fuzzy c-means": (-1.1, -1.35, -0.57),
    "single-point cores": (-3.2, -0.76, -0.58),
}
SETS = ("waveform", "pendigits", "statlog")
BETAS = np.geomspace(0.3, 5.0, 13)
FUZZIFIERS = (1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0)


@dataclass(frozen=True)
class Reading:
    """One way to read the paper: the graph of the walk, its weights, the power of 1/DTM for a density."""

    words: str
    graph: str = "union"
    walk: dict = field(default_factory=dict)
    dimension: float | None = None  # None: estimated
    bandwidth: bool = False  # a Gaussian kernel of the likeliest width
    core_rule: str = "prominence"


GAUSSIAN = "union graph, Gaussian kernel of the likeliest width, power weights, f = DTM^-d"
OURS = Reading("ours: union graph, power weights, f = DTM^-d")
POINT = Reading("single-point cores, otherwise ours", core_rule="point")
OTHERS = (
    Reading("union graph, power weights, f = 1/DTM", dimension=1.0),
    Reading("directed graph, power weights, f = DTM^-d", graph="directed"),
    Reading(GAUSSIAN, bandwidth=True),
    Reading("union graph, Gaussian kernel, power weights, f = 1/DTM", bandwidth=True, dimension=1.0),
    Reading(
        "directed graph, weights as printed, f = 1/DTM",
        graph="directed",
        walk={"walk_weights": "linear"},
        dimension=1.0,
    ),
    Reading(
        "directed graph, weights as printed, f = 1/DTM scaled to 1",
        graph="directed",
        walk={"walk_weights": "linear", "unit_density": True},
        dimension=1.0,
    ),
    Reading("ours, cores down to half the depth of the saddle", core_rule="saddle"),
)


def run(folder: Path, *, uci_data: Path | None, jobs: int | None) -> dict:
    """Score every set by every reading, draw purity against beta, return the numbers.

    Each set has a process of its own, with one thread: most of the time goes into the scores.
    """
    workers = min(thread_count(jobs), len(SETS))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(partial(examine, uci_data=uci_data), SETS))
    found = dict(zip(SETS, results, strict=True))
    figure, axes = panels(1, len(SETS), width=3.6)
    for name, ax, paper in zip(SETS, axes[0], PAPER["best beta"], strict=True):
        _draw(ax, name, found[name], paper)
    found["figure"] = save(figure, folder / "table.png")
    return found


def examine(name: str, uci_data: Path | None) -> dict:
    """Choose k and the prominence of a set without its labels, and score every reading with them."""
    points, labels = uci.load(name, uci_data)
    k = mf.suggest_k(len(points))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k, n_jobs=1)
    scored = [score(neighbors, labels, reading) for reading in (OURS, POINT, *OTHERS)]
    n_labels = len(np.unique(labels))
    return {
        "points": len(points),
        "coordinates": points.shape[1],
        "labels": n_labels,
        "k": k,
        "ours": scored[0],
        "point": scored[1],
        "others": scored[2:],
        "k_scan": [scan_k(points, labels, other) for other in (k // 2, 2 * k)],
        "c_means": [score_c_means(points, labels, c) for c in sorted({n_labels, scored[0]["K"]})],
        "uniform": float(np.log(1e-3 + 1 / scored[0]["K"])),
    }


def scan_k(points: np.ndarray, labels: np.ndarray, k: int) -> dict:
    """Score our reading with another k."""
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k, n_jobs=1)
    return {"k": k} | score(neighbors, labels, OURS)


def score(neighbors: mf.Neighbors, labels: np.ndarray, reading: Reading) -> dict:
    """Return the entropic purity over the range of beta, at its best beta and at the automatic one."""
    dimension = reading.dimension or mf.intrinsic_dimension(neighbors)
    union = neighbors.graph()
    log_density = mf.dtm_log_density(neighbors, dimension=dimension)
    peaks = mf.compute_persistence(union, log_density, n_jobs=1)
    gap, threshold = choose_prominence(union, log_density, peaks)
    cores = mf.find_cores(union, log_density, peaks, min_prominence=threshold, rule=reading.core_rule)
    graph = union if reading.graph == "union" else neighbors.graph(kind="directed")
    options = {"dimension": dimension, "n_jobs": 1, "betas": BETAS} | reading.walk
    if reading.bandwidth:
        bandwidth = mf.kde_bandwidth(neighbors, dimension=mf.intrinsic_dimension(neighbors))
        options |= {"kernel": "gaussian", "bandwidth": bandwidth}
    result = {
        "words": reading.words,
        "K": len(cores),
        "tested": gap.n_states,
        "clear": gap.well_determined,
        "dimension": dimension,
        "prominence": threshold,
        "spectrum": np.sort(peaks.prominences[np.isfinite(peaks.prominences)])[::-1][:24].tolist(),
        "core_sizes": cores.sizes.tolist(),
        "astray": steps_astray(graph, labels, options.get("bandwidth", np.inf)),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # points without a way to a core: they score log(epsilon)
            scan = mf.scan_beta(graph, log_density, cores, **options)
    except ValueError as error:  # linear weights that are not positive
        return result | {"failed": str(error).split(";")[0]}
    scores = np.array([mf.entropic_purity(mu, labels).value for mu in scan.memberships])
    return result | {
        "betas": scan.betas.tolist(),
        "purity": scores.tolist(),
        "entropy": scan.entropy.tolist(),
        "best": float(scores.max()),
        "best_beta": float(scan.betas[scores.argmax()]),
        "automatic": float(scores[scan.betas == scan.beta][0]),
        "automatic_beta": scan.beta,
    }


def steps_astray(graph: mf.Graph, labels: np.ndarray, scale: float) -> float:
    """Return the share of steps to a point of another label, of a walk that the density does not pull."""
    rows = np.repeat(np.arange(len(graph)), graph.degrees)
    weights = np.exp(-0.5 * (graph.distances / scale) ** 2)
    astray = np.bincount(rows, weights * (labels[rows] != labels[graph.indices]), minlength=len(graph))
    return float(np.mean(astray / np.bincount(rows, weights, minlength=len(graph))))


def choose_prominence(
    graph: mf.Graph, log_density: np.ndarray, peaks: mf.Persistence
) -> tuple[mf.ProminenceGap, float]:
    """Return the package's division into noise and states, and the prominence to take.

    It is the package's threshold if the number of states is well determined and there are several: with one
    cluster there is nothing to score. Otherwise it is in the widest gap (the largest ratio of successive
    prominences) whose upper edge is at least the prominence that noise is expected to make.
    """
    gap = peaks.prominence_gap()
    if gap.n_states > 1 and gap.well_determined:
        return gap, gap.threshold
    noise, _ = expected_noise(graph, log_density)
    spectrum = np.sort(peaks.prominences[np.isfinite(peaks.prominences)])[::-1]
    spectrum = spectrum[spectrum > 0]
    upper = spectrum[:-1][spectrum[:-1] >= noise]
    if not len(upper):
        return gap, gap.threshold
    widest = int(np.argmax(upper / spectrum[1 : len(upper) + 1]))
    return gap, float(np.sqrt(spectrum[widest] * spectrum[widest + 1]))


def score_c_means(points: np.ndarray, labels: np.ndarray, c: int) -> dict:
    """Return the best entropic purity of fuzzy c-means over the fuzzifiers."""
    values = [
        mf.entropic_purity(fuzzy_c_means(points, c, fuzzifier=m), labels, restarts=3).value
        for m in FUZZIFIERS
    ]
    best = int(np.argmax(values))
    return {"c": c, "best": values[best], "fuzzifier": FUZZIFIERS[best]}


def _draw(ax: object, name: str, found: dict, paper: float) -> None:
    ours, point = found["ours"], found["point"]
    ax.axhline(paper, color=GREY, ls="--", label="paper, best beta")
    ax.semilogx(ours["betas"], ours["purity"], "o-", color=BLUE, ms=3, label=f"ours, K = {ours['K']}")
    ax.semilogx(point["betas"], point["purity"], "s:", color=RED, ms=3, label="single-point cores")
    ax.axvline(ours["automatic_beta"], color=BLUE, lw=0.8, ls=":")
    ax.set(title=name.capitalize(), xlabel="beta (large is hot)", ylabel="entropic purity")
    ax.minorticks_off()
    ax.set_xticks([0.3, 1, 3], ["0.3", "1", "3"])
    ax.legend(frameon=False, fontsize=7)

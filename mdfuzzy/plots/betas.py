"""Plots of memberships over a range of beta: their fuzziness, and the chosen beta."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.memberships.beta_scan import BetaScan
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENTROPY, _SCORE = "#0072b2", "#d55e00"


def beta_scan(scan: BetaScan | Clustering, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the entropy of the memberships and the score by which beta is chosen, over beta.

    Large beta is hot: 2 is the temperature of the simulation. An infinite beta is drawn at the right end.

    Parameters
    ----------
    scan : BetaScan or Clustering
        The scan from `scan_beta`. The score is minus the slope of the entropy, or the score of a criterion;
        with ``beta="kinetic"`` it measures how well the memberships predict the core that is reached next. A
        `Clustering` also has the beta that was used, which may differ from the choice of the scan.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot. The scores get a second axis on its right.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the clustering was made without a scan over beta.

    See Also
    --------
    scan_beta : The scan that is drawn.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    >>> graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    >>> peaks = mf.compute_persistence(graph, log_density)
    >>> cores = mf.find_cores(graph, log_density, peaks, min_prominence=1.0)
    >>> scan = mf.scan_beta(graph, log_density, cores, betas=[0.5, 1.0, 2.0, 4.0])
    >>> mf.plots.beta_scan(scan).get_xscale()
    'log'
    """
    check_type("scan", scan, BetaScan, Clustering)
    result, found = (scan, scan.beta_scan) if isinstance(scan, Clustering) else (None, scan)
    if found is None:
        raise InputValueError(
            "`scan` must hold a scan over beta; got a Clustering without. Cluster with scan_beta=True or "
            "beta='entropy'."
        )
    ax = axes_of(ax, width=5.8, height=3.8)
    finite = np.isfinite(found.betas)
    infinity = 2.5 * found.betas[finite].max()  # where an infinite beta is drawn
    places = np.where(finite, found.betas, infinity)
    right = ax.twinx()
    curves = ((ax, -found.entropy, _ENTROPY, "o"), (right, found.scores, _SCORE, "s"))
    for axes, values, color, marker in curves:
        axes.plot(places[finite], values[finite], color=color, marker=marker, markersize=4.5, linewidth=1.5)
        axes.plot(places[~finite], values[~finite], color=color, marker=marker, markersize=4.5)
        axes.tick_params(axis="y", colors=color)
        axes.spines["top"].set_visible(False)
        axes.margins(y=0.12)
    _mark_choice(ax, found, None if result is None else result.memberships.beta, infinity)
    _number_betas(ax, places, infinity)
    ax.set_xlabel("walk temperature, beta (2: temperature of the simulation)")
    ax.set_ylabel("entropy, mean of −Σ μ ln μ (nats)", color=_ENTROPY)
    right.set_ylabel(_score_name(found, result), color=_SCORE)
    return ax


def _mark_choice(ax: "Axes", scan: BetaScan, used: float | None, infinity: float) -> None:
    """Draw a line at the chosen beta, and another line at the used beta if it is different."""
    marks = [(scan.beta, "chosen", "--")]
    if used is not None and not np.isclose(used, scan.beta, rtol=1e-9):
        marks = sorted([(scan.beta, "largest score", ":"), (used, "used", "--")])
    sides = ("center",) if len(marks) == 1 else ("right", "left")
    for (beta, word, style), side in zip(marks, sides, strict=True):
        ax.axvline(min(beta, infinity), color="black", linestyle=style, linewidth=1.0)
        text = f"{word}: {beta:.3g}".replace("inf", "∞")
        ax.annotate(
            text, (min(beta, infinity), 1.0), (0, 3), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha=side, va="bottom", fontsize=9,
        )  # fmt: skip


def _number_betas(ax: "Axes", places: np.ndarray, infinity: float) -> None:
    """Make the axis logarithmic, with round numbers and a tick for infinity."""
    from matplotlib.ticker import FixedLocator, NullLocator

    round_numbers = np.array([0.01, 0.03, 0.1, 0.3, 1, 2, 5, 10, 20, 50, 100, 300, 1000])
    finite = places[places < infinity]
    ticks = round_numbers[(round_numbers >= 0.99 * finite.min()) & (round_numbers <= 1.01 * finite.max())]
    names = [f"{beta:g}" for beta in ticks]
    if len(finite) < len(places):
        ticks, names = np.append(ticks, infinity), [*names, "∞"]
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_ticklabels(names)


def _score_name(scan: BetaScan, result: Clustering | None) -> str:
    """Return the name of the scores; without a criterion they are the slope of the entropy."""
    if result is not None and result.settings.beta == "kinetic":
        return "mean log probability of the next state (nats)"
    finite = np.isfinite(scan.betas)
    slope = -np.gradient(scan.entropy[finite], np.log(scan.betas[finite]))
    by_entropy = np.allclose(scan.scores[finite], slope, rtol=1e-6, atol=1e-9)
    return "steepness, d entropy / d ln beta" if by_entropy else "score of the criterion"

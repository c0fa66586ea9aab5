"""Memberships over a range of beta: how fuzzy they are, and which beta was chosen."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy.beta_scan import BetaScan
from mdfuzzy.plots._axes import axes_of, check_type

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENTROPY, _SCORE = "#0072b2", "#d55e00"


def beta_scan(scan: BetaScan, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the entropy of the memberships and the score by which beta was chosen, over beta.

    Large beta is hot; a beta without limit is drawn at the right end.

    Parameters
    ----------
    scan : BetaScan
        What `scan_beta` found. Its score is minus the slope of the entropy, or that of its criterion: for
        ``beta="kinetic"`` how well the memberships foretell the core that is reached next.
    ax : Axes, optional
        Where to draw; by default on a new figure, ``ax.figure``, which pyplot does not know. The scores get a
        second axis on its right.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(900, 2)) + 5 * np.repeat([0, 1, 2], 300)[:, None]
    >>> result = mf.cluster(points, mf.Settings(beta="entropy"))  # doctest: +SKIP
    >>> mf.plots.beta_scan(result.beta_scan)  # doctest: +SKIP
    """
    from matplotlib.ticker import FuncFormatter, NullLocator

    check_type("scan", scan, BetaScan, remedy="`scan_beta` makes one, and `cluster` with beta='entropy'.")
    ax = axes_of(ax, width=5.8, height=3.8)
    finite = np.isfinite(scan.betas)
    infinity = scan.betas[finite].max() * 2.5
    places = np.where(finite, scan.betas, infinity)
    right = ax.twinx()
    for axes, values, color, marker in (
        (ax, scan.entropy, _ENTROPY, "o"),
        (right, scan.scores, _SCORE, "s"),
    ):
        axes.plot(places[finite], values[finite], color=color, marker=marker, markersize=4.5, linewidth=1.5)
        axes.plot(places[~finite], values[~finite], color=color, marker=marker, markersize=4.5)
        axes.tick_params(axis="y", colors=color)
        axes.spines["top"].set_visible(False)
        axes.margins(y=0.12)
    chosen = scan.beta if np.isfinite(scan.beta) else infinity
    ax.axvline(chosen, color="black", linestyle="--", linewidth=1.0)
    ax.annotate(
        f"chosen: {scan.beta:.3g}" if np.isfinite(scan.beta) else "chosen: no pull",
        (chosen, 1.0), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
        ha="center", va="bottom", fontsize=9,
    )  # fmt: skip
    ticks = [beta for beta in (0.1, 0.3, 1, 2, 5, 10, 20, 50, 100) if places.min() <= beta < infinity]
    if not finite.all():
        ticks.append(infinity)
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ticks)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: "∞" if x >= infinity * 0.999 else f"{x:g}"))
    ax.set_xlabel("beta (colder ← 2: as simulated → hotter)")
    ax.set_ylabel("H, mean of Σ μ log μ (nats)", color=_ENTROPY)
    right.set_ylabel(_score_name(scan), color=_SCORE)
    return ax


def _score_name(scan: BetaScan) -> str:
    """Say what the scores are: without a criterion they are the slope of the entropy."""
    finite = np.isfinite(scan.betas)
    slope = -np.gradient(scan.entropy[finite], np.log(scan.betas[finite]))
    by_entropy = np.allclose(scan.scores[finite], slope, rtol=1e-9, atol=1e-12)
    return "steepness, −dH / d log beta" if by_entropy else "score of the criterion"

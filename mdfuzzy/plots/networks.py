"""Plots of the states as a network, with their sizes, transition regions and transitions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.plots._axes import axes_of, percent
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.places import push_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: How links are drawn, and what that means.
_STYLES: dict[str, dict[str, Any]] = {
    "crossed": {"color": "0.62", "linewidth": 5.0, "linestyle": "-"},
    "never": {"color": "0.62", "linewidth": 2.0, "linestyle": (0, (3, 2))},
    "passed": {"color": "0.4", "linewidth": 1.0, "linestyle": ":"},
}
_NAMES = {
    "crossed": "transition region, with the number of transitions",
    "never": "transition region that no trajectory crossed",
    "passed": "transitions without a transition region",
}
#: The least distance of two states, in units of the mean length of a link.
_CLOSEST = 0.75
#: Radius of the largest state, and the least of any; the two nearest states are 1 apart.
_LARGEST, _SMALLEST = 0.36, 0.13


def state_network(
    transition_regions: TransitionRegions,
    fractions: npt.ArrayLike | Memberships,
    *,
    positions: npt.ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the states as circles and their transition regions as lines between them.

    The area of a circle is proportional to the fraction of frames in the state (small ones are drawn larger).
    The width of a line grows with the logarithm of the number of transition frames. Labels give the number of
    observed transitions. A thin dotted line joins states with transitions but too few frames for a transition
    region. A dashed line is a transition region without observed transitions.

    Parameters
    ----------
    transition_regions : TransitionRegions
        The transition regions from `find_transition_regions`.
    fractions : (K,) array or Memberships
        The fraction of all frames in each state; for memberships, their means.
    positions : (K, 2) array, optional
        The positions of the states; by default states that touch are near each other.
    ax : Axes, optional
        The axes to draw on; by default those of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the fractions or positions are not one per state.

    See Also
    --------
    find_transition_regions : The regions and transitions that are drawn.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> transition_regions = mf.TransitionRegions(
    ...     pairs=[[0, 1], [1, 2]], sizes=[50, 10], fractions=[0.05, 0.01], mixing=[0.7, 0.6],
    ...     transitions=[12, 0], frames=(np.arange(50), np.arange(10)), threshold=0.5,
    ... )
    >>> ax = mf.plots.state_network(transition_regions, [0.6, 0.3, 0.1])
    >>> [text.get_text() for text in ax.texts][-1]
    '2'
    """
    check_type(
        "transition_regions",
        transition_regions,
        TransitionRegions,
        remedy="`find_transition_regions` makes them.",
    )
    shares = fractions.values.mean(axis=0) if isinstance(fractions, Memberships) else fractions
    shares = np.asarray(shares, dtype=np.float64)
    n_states = _check_shares(shares, transition_regions)
    links = list_links(transition_regions)
    pairs = np.array([link.pair for link in links], dtype=np.int64).reshape(-1, 2)
    places = layout_states(n_states, pairs) if positions is None else _check_positions(positions, n_states)
    radii = np.maximum(_LARGEST * np.sqrt(shares / max(shares.max(), 1e-9)), _SMALLEST)
    reach = radii.max() + 0.3
    (left, bottom), (right, top) = places.min(axis=0) - reach, places.max(axis=0) + reach
    width = 5.6 * float(np.clip(np.sqrt(n_states / 6), 1.0, 2.5))  # more states need more paper
    ax = axes_of(
        ax, width=width, height=width * float(np.clip((top - bottom) / (right - left), 0.35, 1)) + 0.5
    )
    _draw_links(ax, links, places)
    _draw_states(ax, places, radii, shares, pairs)
    ax.set(aspect="equal", xlim=(left, right), ylim=(bottom, top))
    ax.set_axis_off()
    return ax


@dataclass(frozen=True)
class Link:
    """Two states, the number of frames between them, and how often trajectories went across, if known."""

    pair: tuple[int, int]
    size: int
    transitions: int | None


def list_links(transition_regions: TransitionRegions) -> list[Link]:
    """List the transition regions, and then the pairs that have none but were passed between."""
    pairs, moves = transition_regions.pairs.tolist(), transition_regions.transitions
    counts = [None] * len(pairs) if moves is None else moves.tolist()
    rows = zip(pairs, transition_regions.sizes.tolist(), counts, strict=True)
    links = [Link((a, b), size, times) for (a, b), size, times in rows]
    return links + [Link((a, b), 0, times) for a, b, times in transition_regions.others.tolist()]


def _check_shares(shares: np.ndarray, transition_regions: TransitionRegions) -> int:
    """Return the number of states, or raise if the shares are not theirs."""
    least = (
        max(
            int(each.max(initial=-1)) for each in (transition_regions.pairs, transition_regions.others[:, :2])
        )
        + 1
    )
    if shares.ndim != 1 or len(shares) < max(least, 1):
        raise InputValueError(
            f"`fractions` must have one share per state, at least {max(least, 1)}; got shape {shares.shape}."
        )
    if not (np.all(shares >= 0) and shares.sum() <= 1 + 1e-6):
        raise InputValueError(
            f"`fractions` must be shares of all frames, not negative, with a sum of at most 1; got "
            f"{shares.tolist()}. Divide counts by the number of frames."
        )
    return len(shares)


def _check_positions(positions: npt.ArrayLike, n_states: int) -> np.ndarray:
    places = np.asarray(positions, dtype=np.float64)
    if places.shape != (n_states, 2) or not np.isfinite(places).all():
        raise InputValueError(
            f"`positions` must be {n_states} finite points, one per state; got {positions!r}."
        )
    return _spread(places)


def layout_states(n_states: int, pairs: np.ndarray) -> np.ndarray:
    """Put the states so that distances on paper follow the number of links between them.

    The squared relative errors of all distances are made small, from states on a circle (Kamada and Kawai).
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    angles = 2 * np.pi * np.arange(n_states) / n_states
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if n_states < 3:
        return _spread(circle[:, [0, 1]])
    ends = tuple(np.asarray(pairs, np.int32).T)  # the paths of SciPy 1.14 know no other type
    graph = csr_array((np.ones(len(pairs)), ends), shape=(n_states, n_states))
    steps = shortest_path(graph, directed=False, unweighted=True)
    apart = np.isinf(steps)
    steps[apart] = steps[~apart].max() + 1
    i, j = np.triu_indices(n_states, 1)

    def stress(flat: np.ndarray) -> tuple[float, np.ndarray]:
        places = flat.reshape(-1, 2)
        difference = places[i] - places[j]
        length = np.maximum(np.linalg.norm(difference, axis=1), 1e-9)
        error = length / steps[i, j] - 1
        slope = (2 * error / (steps[i, j] * length))[:, None] * difference
        gradient = np.zeros_like(places)
        np.add.at(gradient, i, slope)
        np.add.at(gradient, j, -slope)
        return float(np.sum(error**2)), gradient.ravel()

    # A bend of a straight chain changes the stress in fourth order only: on until nothing is gained.
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 1000}
    start = steps.max() / 2 * circle.ravel()
    found = minimize(stress, start, jac=True, method="L-BFGS-B", options=options)
    places = found.x.reshape(-1, 2)
    places -= places.mean(axis=0)
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    axes *= np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    places = places @ axes.T  # the longer side of the network lies flat
    links = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    return _spread(push_apart(places, _CLOSEST * (links.mean() if len(links) else 1.0)))


def _spread(places: np.ndarray) -> np.ndarray:
    """Scale places so that the two nearest are 1 apart: circles do not overlap."""
    if len(places) < 2:
        return places - places.mean(axis=0)
    i, j = np.triu_indices(len(places), 1)
    nearest = np.linalg.norm(places[i] - places[j], axis=1).min()
    if nearest == 0:
        raise InputValueError("`positions` must be different for every state; got two that are the same.")
    return places / nearest


def _draw_links(ax: "Axes", links: list["Link"], places: np.ndarray) -> None:
    from matplotlib.lines import Line2D

    most = max((link.size for link in links), default=0)
    seen = {}
    for link in links:
        kind = "passed" if not link.size else "never" if link.transitions == 0 else "crossed"
        style = dict(_STYLES[kind])
        if kind == "crossed":
            style["linewidth"] *= (0.2 + 0.8 * np.log1p(link.size) / np.log1p(most)) * 1.4
        ends = places[list(link.pair)]
        ax.plot(*ends.T, zorder=1, **style)
        x, y = ends.mean(axis=0)
        if link.transitions is not None:
            ax.text(
                x, y, f"{link.transitions:,}", ha="center", va="center", fontsize=8.5, zorder=2,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            )  # fmt: skip
        seen[kind] = Line2D([], [], label=_NAMES[kind], **_STYLES[kind])
    handles = [seen[kind] for kind in _STYLES if kind in seen]
    if handles:
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False, fontsize=8.5)


def _draw_states(
    ax: "Axes", places: np.ndarray, radii: np.ndarray, shares: np.ndarray, pairs: np.ndarray
) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Circle

    for state, (place, radius, share, color) in enumerate(
        zip(places, radii, shares, state_colors(len(shares)), strict=True)
    ):
        ax.add_patch(Circle(place, radius, facecolor=color, edgecolor="black", linewidth=0.8, zorder=3))
        dark = np.dot(to_rgb(color), (0.299, 0.587, 0.114)) < 0.55
        x, y = _free_side(state, places, pairs)
        ax.annotate(
            percent(share), place + radius * np.array([x, y]), (4 * x, 4 * y), textcoords="offset points",
            ha=_aligned(x, "right", "center", "left"), va=_aligned(y, "top", "center", "bottom"),
            fontsize=8.5, zorder=4,
        )  # fmt: skip
        ax.text(
            place[0], place[1], str(state), color="white" if dark else "black", ha="center", va="center",
            fontweight="bold", zorder=4,
        )  # fmt: skip


def _free_side(state: int, places: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the direction in which the widest gap between the lines of a state lies: room for a text."""
    others = pairs[(pairs == state).any(axis=1)].sum(axis=1) - state
    if len(others) == 0:
        return np.array([0.0, -1.0])
    lines = places[others] - places[state]
    angles = np.sort(np.arctan2(lines[:, 1], lines[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    middle = angles[gaps.argmax()] + gaps.max() / 2
    return np.array([np.cos(middle), np.sin(middle)])


def _aligned(direction: float, back: str, middle: str, ahead: str) -> str:
    return middle if abs(direction) < 0.4 else ahead if direction > 0 else back

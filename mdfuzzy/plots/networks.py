"""Plots of the states as a network, with their sizes, transition regions and transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.plots._axes import axes_of, percent
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.layout import Link, ends_of, label_places, layout_states, list_links, spread

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
#: The size of the numbers in points; a digit of the standard font is 0.64 of it wide.
_FONT = 8.5
#: Radius of the largest state, and the least of any; the two nearest states are 1 apart.
_LARGEST, _SMALLEST = 0.3, 0.13


def state_network(
    transition_regions: TransitionRegions,
    fractions: npt.ArrayLike | Memberships,
    *,
    positions: npt.ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the states as circles and their transition regions as lines between them.

    The area of a circle is proportional to the fraction of frames in the state (small ones are drawn larger).
    The width of a line grows with the logarithm of the number of transition frames. Labels give the number of
    observed transitions; labels without room are left out, those of the fewest transitions first. A thin
    dotted line joins states with transitions but too few frames for a transition region. A dashed line is a
    transition region without observed transitions.

    Parameters
    ----------
    transition_regions : TransitionRegions
        The transition regions from `find_transition_regions`.
    fractions : (K,) array or Memberships
        The fraction of all frames in each state; for memberships, their means.
    positions : (K, 2) array, optional
        The positions of the states; by default states with many transitions are near each other.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
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
    pairs = ends_of(links)
    places = layout_states(n_states, links) if positions is None else _check_positions(positions, n_states)
    radii = np.maximum(_LARGEST * np.sqrt(shares / max(shares.max(), 1e-9)), _SMALLEST)
    reach = radii.max() + 0.3
    (left, bottom), (right, top) = places.min(axis=0) - reach, places.max(axis=0) + reach
    width = 5.6 * float(np.clip(np.sqrt(n_states / 6), 1.0, 2.5))  # more states need a larger figure
    ax = axes_of(
        ax, width=width, height=width * float(np.clip((top - bottom) / (right - left), 0.35, 1)) + 0.5
    )
    ax.set(aspect="equal", xlim=(left, right), ylim=(bottom, top))
    box = ax.get_window_extent()
    per_point = max((right - left) / box.width, (top - bottom) / box.height) * ax.figure.dpi / 72
    sides = np.array([_free_side(state, places, pairs) for state in range(n_states)])
    words = places + (radii + per_point * 1.5 * _FONT)[:, None] * sides  # room for the fractions
    taken = np.concatenate([places, words]), np.append(radii, np.full(n_states, per_point * 1.2 * _FONT))
    _draw_links(ax, links, places, taken, per_point)
    _draw_states(ax, places, radii, shares, sides)
    ax.set_axis_off()
    return ax


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
    return spread(places)


def _draw_links(
    ax: Axes, links: list[Link], places: np.ndarray, taken: tuple[np.ndarray, np.ndarray], per_point: float
) -> None:
    from matplotlib.lines import Line2D

    most = max((link.size for link in links), default=0)
    seen = {}
    for link in links:
        kind = "passed" if not link.size else "never" if link.transitions == 0 else "crossed"
        style = dict(_STYLES[kind])
        if kind == "crossed":
            style["linewidth"] *= (0.2 + 0.8 * np.log1p(link.size) / np.log1p(most)) * 1.4
        ax.plot(*places[list(link.pair)].T, zorder=1, **style)
        seen[kind] = Line2D([], [], label=_NAMES[kind], **_STYLES[kind])
    counted = sorted(
        (link for link in links if link.transitions is not None), key=lambda link: -(link.transitions or 0)
    )
    texts = [f"{link.transitions:,}" for link in counted]
    widths = per_point * _FONT * (0.64 * np.array([len(text) for text in texts]) + 0.6)
    middles = label_places(places[ends_of(counted)], widths, 1.5 * per_point * _FONT, *taken)
    for text, (x, y) in zip(texts, middles, strict=True):
        if np.isfinite(x):
            ax.text(
                x, y, text, ha="center", va="center", fontsize=_FONT, zorder=2,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            )  # fmt: skip
    handles = [seen[kind] for kind in _STYLES if kind in seen]
    if handles:
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False, fontsize=8.5)


def _draw_states(
    ax: Axes, places: np.ndarray, radii: np.ndarray, shares: np.ndarray, sides: np.ndarray
) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Circle

    for state, (place, radius, share, color) in enumerate(
        zip(places, radii, shares, state_colors(len(shares)), strict=True)
    ):
        ax.add_patch(Circle(place, radius, facecolor=color, edgecolor="black", linewidth=0.8, zorder=3))
        dark = np.dot(to_rgb(color), (0.299, 0.587, 0.114)) < 0.55
        x, y = sides[state]
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

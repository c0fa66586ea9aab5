"""A plot of the way from one state to another: net fluxes, pathways and passage times."""

from collections.abc import Iterator
from itertools import islice, permutations
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy._messages import duration, time_span, time_unit
from mdfuzzy.kinetics import Equilibrium, Pathways
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import new_figure, open_frame, percent, plain_ticks
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.layout import label_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The least share of the flux that is drawn as an arrow.
_LEAST = 0.01
#: Width of the figure, and of one row of states above or below the middle, in inches.
_WIDTH, _ROW = 8.4, 0.8
#: Diameter of a state with all of the population, and the least of any, in points.
_LARGEST, _SMALLEST = 38.0, 17.0
_FONT = 8.5
#: The height of the arc of an arrow that bends, in lengths of the arrow, is half of this.
_BEND = 0.5
_GREY = "#8b96a5"


def state_pathways(result: Clustering, *, n_pathways: int = 8) -> "Figure":
    """Draw how the molecule gets from one state to another: fluxes, pathways and passage times.

    Above, the states lie at their committors, the probability of reaching the final state before the initial
    one. The area of a circle is the population; the width of an arrow is the net flux, labelled with its
    share of the total flux (arrows of less than 1 % are left out). Below are the pathways, with the share of
    the flux that each carries, and the mean first-passage times. Black lines are intervals; an arrow-head
    means that an interval has no limit.

    Parameters
    ----------
    result : Clustering
        With `Clustering.pathways`, from `estimate_model`.
    n_pathways : int
        The number of pathways to list, at most.

    Returns
    -------
    Figure
        With three axes. It is not registered with pyplot.

    Raises
    ------
    ValueError
        If the clustering has no pathways.

    See Also
    --------
    estimate_model : Find the pathways between any two states.
    plots.state_network : All states and transitions.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> steps = rng.integers(-1, 2, (6, 3000)) * (rng.random((6, 3000)) < 0.1)
    >>> hops = np.abs(np.cumsum(steps, axis=1) % 4 - 2)
    >>> result = mf.cluster([8 * hop[:, None] + rng.normal(size=(3000, 2)) for hop in hops])
    >>> figure = mf.plots.state_pathways(mf.estimate_model(result, source=1, target=2, lag_time=1))
    >>> len(figure.axes)
    3
    """
    check_type("result", result, Clustering, remedy="`estimate_model` makes it.")
    n_pathways = check_int("n_pathways", n_pathways, 1)
    model, paths = result.equilibrium, result.pathways
    if model is None or paths is None:
        raise InputValueError(
            "`result` must have pathways; got a clustering without a Markov model. `estimate_model` adds "
            "them."
        )
    colors = state_colors(result.n_states)
    shares = paths.net_flux / paths.flux
    on_way = np.flatnonzero(np.maximum(shares.max(axis=0), shares.max(axis=1)) >= _LEAST)
    shown = min(len(paths), n_pathways)
    rows = max(shown, min(len(on_way), n_pathways), 2)
    above = _ROW * max(len(on_way), 3) + 0.6
    figure = new_figure(_WIDTH, above + 0.26 * rows + 1.0)
    figure.set_layout_engine("constrained")
    axes: dict[str, Axes] = figure.subplot_mosaic(
        [["fluxes", "fluxes"], ["shares", "times"]], height_ratios=[above, 0.26 * rows + 1.0]
    )
    _draw_fluxes(axes["fluxes"], model, paths, shares, on_way, colors, above)
    _draw_shares(axes["shares"], paths, shown)
    _draw_times(axes["times"], model, paths, on_way[np.argsort(paths.committor[on_way])][:n_pathways])
    return figure


def _draw_fluxes(
    ax: "Axes", model: Equilibrium, paths: Pathways, shares: np.ndarray, on_way: np.ndarray,
    colors: list[str], height: float,
) -> None:  # fmt: skip
    from matplotlib.colors import to_rgb

    committor = paths.committor
    starts, ends = (each.tolist() for each in np.nonzero(shares >= _LEAST))
    levels = _levels(committor, on_way, list(zip(starts, ends, strict=True)))
    places = np.stack([committor, levels], axis=1)
    sizes = np.maximum(_LARGEST * np.sqrt(model.populations / model.populations.max()), _SMALLEST)
    bottom, top = levels.min() - 0.75, levels.max() + 0.75
    ax.set(xlim=(-0.08, 1.08), ylim=(bottom, top), yticks=[])
    scale = np.array([72 * 0.95 * _WIDTH / 1.16, 72 * (height - 0.8) / (top - bottom)])  # points per unit
    paper, radii = places * scale, sizes / 2
    bends = [_bend(paper, radii, on_way, start, end) for start, end in zip(starts, ends, strict=True)]
    for start, end, bend in zip(starts, ends, bends, strict=True):
        ax.annotate(
            "", places[end], places[start], zorder=1,
            arrowprops={
                "arrowstyle": "-|>", "connectionstyle": f"arc3,rad={bend}",
                "color": _GREY, "linewidth": 0.8 + 6 * shares[start, end],
                "mutation_scale": 9 + 8 * shares[start, end],
                "shrinkA": sizes[start] / 2, "shrinkB": sizes[end] / 2 + 1,
            },
        )  # fmt: skip
    texts = [percent(shares[pair]) for pair in zip(starts, ends, strict=True)]
    way = paper[ends] - paper[starts]
    aside = 0.5 * np.array(bends)[:, None] * np.stack([way[:, 1], -way[:, 0]], axis=1)  # the middle of a bow
    lines = np.stack([paper[ends] + aside, paper[starts] + aside], axis=1)
    widths = _FONT * (0.6 * np.array([len(text) for text in texts]) + 0.6)
    middles = label_places(lines, widths, 1.4 * _FONT, paper[on_way], radii[on_way])
    for text, (x, y) in zip(texts, middles, strict=True):
        if np.isfinite(x):
            ax.text(
                x / scale[0], y / scale[1], text, ha="center", va="center", fontsize=_FONT, zorder=2,
                bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
            )  # fmt: skip
    for at in on_way.tolist():
        state = int(paths.states[at])
        x, y, color = float(committor[at]), float(levels[at]), colors[state]
        ax.scatter(x, y, sizes[at] ** 2, color, edgecolors="black", linewidths=0.8, clip_on=False, zorder=3)
        ink = "white" if np.dot(to_rgb(color), (0.299, 0.587, 0.114)) < 0.55 else "black"
        ax.text(x, y, str(state), color=ink, ha="center", va="center", fontweight="bold", zorder=4)
    ax.set_xlabel(f"committor: probability of reaching state {paths.target} before state {paths.source}")
    words = (
        f"from state {paths.source} to state {paths.target} in {duration(paths.time, paths.unit)} on average"
    )
    if np.isfinite([paths.time_low, paths.time_high]).any():
        words += f" ({time_span(paths.time_low, paths.time_high, paths.unit)})"
    ax.set_title(words, fontsize=10)
    ax.spines[["top", "left", "right"]].set_visible(False)


def _bend(paper: np.ndarray, radii: np.ndarray, on_way: np.ndarray, start: int, end: int) -> float:
    """Return how much an arrow bends to avoid a state in its way: to the right if positive, 0 if straight.

    Examples
    --------
    >>> places = np.array([[0.0, 0.0], [0.0, 100.0], [-5.0, 50.0]])
    >>> [_bend(places, np.full(3, radius), np.arange(3), 0, 1) for radius in (10.0, 1.0)]
    [0.5, 0.0]
    """
    way = paper[end] - paper[start]
    for state in on_way.tolist():
        apart = paper[state] - paper[start]
        along = np.clip(apart @ way / (way @ way), 0, 1)
        if state not in (start, end) and np.linalg.norm(apart - along * way) < radii[state]:
            return _BEND if way[0] * apart[1] - way[1] * apart[0] >= 0 else -_BEND
    return 0.0


def _levels(committor: np.ndarray, on_way: np.ndarray, arrows: list[tuple[int, int]]) -> np.ndarray:
    """Return the height of each state: the ends at 0, the others above and below, away from other arrows.

    Examples
    --------
    >>> _levels(np.array([0.0, 0.5, 1.0]), np.arange(3), [(0, 1), (1, 2), (0, 2)]).tolist()
    [0.0, 1.0, 0.0]
    """
    inside = [int(at) for at in on_way if 0 < committor[at] < 1]
    rows = [(1 + at // 2) * (1 if at % 2 == 0 else -1) for at in range(len(inside))]
    found, least = np.zeros(len(committor)), np.inf
    for order in _orders(rows):
        levels = np.zeros(len(committor))
        levels[inside] = order
        cost = _covered(np.stack([4 * committor, levels], axis=1), inside, arrows)
        if cost < least:
            found, least = levels, cost
    return found


def _orders(rows: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield orders of the rows: all of up to six, a thousand random ones of more."""
    yield from islice(permutations(rows), 720)
    if len(rows) > 6:
        random = np.random.default_rng(0)
        for _ in range(1000):
            yield tuple(random.permutation(rows).tolist())


def _covered(places: np.ndarray, inside: list[int], arrows: list[tuple[int, int]]) -> float:
    """Return the total overlap of arrows with states that they do not connect."""
    cost = 0.0
    for start, end in arrows:
        way = places[end] - places[start]
        for state in inside:
            if state not in (start, end):
                along = np.clip((places[state] - places[start]) @ way / (way @ way), 0, 1)
                distance = np.linalg.norm(places[start] + along * way - places[state])
                cost += max(0.0, 0.6 - float(distance))
    return cost


def _draw_shares(ax: "Axes", paths: Pathways, shown: int) -> None:
    places = np.arange(shown)
    ax.barh(places, paths.shares[:shown], height=0.66, color=_GREY)
    low, high = paths.shares_low[:shown], paths.shares_high[:shown]
    known = np.isfinite(low) & np.isfinite(high)
    ax.hlines(places[known], low[known], high[known], color="black", linewidth=1.4)
    ax.set_yticks(places, [" → ".join(map(str, path.tolist())) for path in paths.paths[:shown]])
    _list_rows(ax, shown)
    ax.set_xlabel("share of the flux")
    ax.set_xlim(0, None)
    ax.xaxis.set_major_formatter(lambda value, place: f"{100 * value:.0f} %")
    carried = percent(float(paths.shares[:shown].sum()))
    ax.set_title(f"{shown} of {len(paths)} pathways, {carried} of the flux", fontsize=9)


def _draw_times(ax: "Axes", model: Equilibrium, paths: Pathways, on_way: np.ndarray) -> None:
    """Draw the times from the states on the way to the target, and the time back."""
    place = {int(state): at for at, state in enumerate(model.states)}
    target = place[paths.target]
    pairs = [(place[int(paths.states[at])], target) for at in on_way if paths.states[at] != paths.target]
    pairs.append((target, place[paths.source]))
    rows, columns = np.array(pairs).T
    times, low, high = (each[rows, columns] for each in (model.mfpt, model.mfpt_low, model.mfpt_high))
    factor, unit = time_unit(float(times.max()), model.unit)
    every = factor * np.concatenate([times, low[np.isfinite(low)], high[np.isfinite(high)]])
    left, right = every.min() / 1.5, every.max() * 1.5
    numbers = np.arange(len(pairs))
    starts = np.where(np.isfinite(low), factor * low, left)
    ends = np.where(np.isfinite(high), factor * high, right)
    known = np.isfinite(low) | np.isfinite(high)
    ax.hlines(numbers[known], starts[known], ends[known], color="black", linewidth=1.4)
    for end, marker, ends_there in ((left, "<", low), (right, ">", high)):
        for number in numbers[known & ~np.isfinite(ends_there)]:
            ax.plot(end, number, marker, color="black", markersize=5, clip_on=False)
    ax.plot(factor * times, numbers, "o", color="#0072b2", markersize=5)
    ax.set(xscale="log", xlim=(left, right), xlabel=f"mean first-passage time ({unit})")
    plain_ticks(ax.xaxis)
    names = [f"{model.states[start]} to {model.states[end]}" for start, end in pairs]
    ax.set_yticks(numbers, names)
    _list_rows(ax, len(pairs))
    ax.set_title(f"passage times to state {paths.target}, and back", fontsize=9)


def _list_rows(ax: "Axes", count: int) -> None:
    """List rows from top to bottom, and leave out the ticks beside their names."""
    ax.set_ylim(count - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    open_frame(ax)

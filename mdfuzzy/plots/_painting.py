"""Bins of two coordinates as images, with the marks of the states on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.plots._axes import color_bar, percent
from mdfuzzy.plots.bins import Bins
from mdfuzzy.plots.colors import DENSITY_MAP, ENERGY_MAP, NO_STATE, state_colors
from mdfuzzy.plots.places import push_apart
from mdfuzzy.plots.projections import Projection

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

#: The size of the mark of a peak, relative to the picture.
_MARK = 0.065
#: The number of entries in a column of the legend.
LEGEND_ROWS = 16


def paint_density(ax: "Axes", grid: Bins, guide: bool) -> None:
    """Draw the number of frames in each bin, on a logarithmic scale."""
    from matplotlib.colors import LogNorm

    counts = np.where(grid.counts > 0, grid.counts, np.nan)
    norm = LogNorm(1, max(int(grid.counts.max()), 2))
    image = _show(ax, grid, counts, cmap=DENSITY_MAP, norm=norm)
    if guide:
        color_bar(ax, image, "frames per bin")


def paint_energy(ax: "Axes", grid: Bins, guide: bool) -> None:
    """Draw the free energy of each bin in kT, with a contour line every kT."""
    energy = grid.free_energy()
    top = max(1.0, np.ceil(np.nanmax(energy)))
    image = _show(ax, grid, energy, cmap=ENERGY_MAP, vmin=0.0, vmax=top)
    # One more bin on each periodic side, so that contour lines reach the edge and continue on the other side.
    around = [(1, 1) if periodic else (0, 0) for periodic in grid.periodic]
    padded = np.pad(energy, around, mode="wrap")
    x, y = (
        np.concatenate([[2 * c[0] - c[1]], c, [2 * c[-1] - c[-2]]]) if periodic else c
        for c, periodic in zip(grid.centers, grid.periodic, strict=True)
    )
    if top > 1:
        lines = {"colors": "black", "linewidths": 0.6, "alpha": 0.7}
        ax.contour(x, y, np.ma.masked_invalid(padded.T), levels=np.arange(1, top), **lines)
    if guide:
        color_bar(ax, image, "free energy (kT)")


def paint_states(ax: "Axes", grid: Bins, memberships: Memberships, guide: bool) -> None:
    """Draw the state to which most frames of each bin belong, paler where there are few."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    hard, n_states = memberships.hard, memberships.values.shape[1]
    colors = np.array([to_rgb(color) for color in (*state_colors(n_states), NO_STATE)])
    colored = colors[grid.most_common(hard)]  # -1 is the last entry, the colour of no state
    strength = 0.6 + 0.4 * np.log1p(grid.counts) / np.log1p(grid.counts.max())
    strength = np.where(grid.counts > 0, strength, 0.0)
    _show(ax, grid, 1.0 - strength[..., None] * (1.0 - colored))
    if guide:
        weights = np.ones(len(hard)) if grid.weights is None else grid.weights
        shares = np.bincount(hard[hard >= 0], weights[hard >= 0], minlength=n_states) / weights.sum()
        handles = [
            Patch(facecolor=colors[at], edgecolor="0.3", linewidth=0.4, label=f"{at}: {percent(share)}")
            for at, share in enumerate(shares)
        ]
        if (hard < 0).any():
            none = percent(float(weights[hard < 0].sum() / weights.sum()))
            handles.append(Patch(facecolor=NO_STATE, label=f"none: {none}"))
        ax.legend(
            handles=handles,
            title="state: frames" if grid.weights is None else "state: population",
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            ncols=1 + len(handles) // LEGEND_ROWS,
            handlelength=1.2,
            handleheight=1.2,
        )


def paint_mean(
    ax: "Axes", grid: Bins, values: np.ndarray, top: float, cmap: str, label: str, guide: bool
) -> None:
    """Draw the mean of one value per frame in each bin, from 0 to `top`."""
    image = _show(ax, grid, grid.mean(values), cmap=cmap, vmin=0.0, vmax=top)
    if guide:
        color_bar(ax, image, label)


def _show(ax: "Axes", grid: Bins, picture: np.ndarray, **how: Any) -> "AxesImage":
    """Draw one value or colour per bin as an image: one object, however many bins and frames there are."""
    return ax.imshow(
        np.swapaxes(picture, 0, 1), origin="lower", extent=grid.extent, interpolation="nearest", **how
    )


def mark_peaks(ax: "Axes", places: np.ndarray, grid: Bins, states: Sequence[int]) -> None:
    """Mark points with the numbers of their states, moved apart where they would overlap."""
    left, right, bottom, top = grid.extent
    origin, size = np.array([left, bottom]), np.array([right - left, top - bottom])
    circle = {"boxstyle": "circle,pad=0.22", "facecolor": "white", "edgecolor": "black", "linewidth": 0.8}
    apart = origin + size * push_apart((places - origin) / size, _MARK)
    for state, place, moved in zip(states, places, apart, strict=True):
        ax.annotate(
            str(state), place, moved, ha="center", va="center", fontsize=8, fontweight="bold", color="black",
            bbox=circle, annotation_clip=False, zorder=5,
        )  # fmt: skip


def frame_axes(ax: "Axes", projection: Projection, grid: Bins) -> None:
    """Set the limits, labels and ticks of the axes."""
    from matplotlib.ticker import MaxNLocator

    left, right, bottom, top = grid.extent
    ax.set(
        xlim=(left, right),
        ylim=(bottom, top),
        xlabel=projection.labels[0],
        ylabel=projection.labels[1],
        aspect="equal" if projection.equal else "auto",
    )
    for axis, period in zip((ax.xaxis, ax.yaxis), projection.periods, strict=True):
        if period is None:
            axis.set_major_locator(MaxNLocator(5))
        else:
            axis.set_ticks(np.linspace(-period / 2, period / 2, 5))

"""Ramachandran plots of every residue of a peptide, one for each state."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.pipeline.assignment import Assignment, Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import new_figure, percent
from mdfuzzy.plots.bins import Bins
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.projections import torsions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: More residues or states than this do not fit into a readable picture.
MOST_RESIDUES, MOST_STATES = 12, 20
#: Panels side by side, at most; their size in inches; and the bins along each axis.
_ACROSS, _SIDE, _BINS = 12, 1.25, 60


def residue_panels(result: Result) -> "Figure":
    """Draw phi and psi of every residue of a peptide: of all frames, and of the frames of each state.

    A state of a peptide is a combination of conformations of its residues. These panels show the combination,
    while one Ramachandran plot shows states that differ in other residues on top of each other. Grey marks
    where any frame is; the colour is darker where a state has more frames. Up to 12 residues and 20 states
    are shown.

    Parameters
    ----------
    result : Clustering or Assignment
        Of frames or features of a molecule with phi and psi.

    Returns
    -------
    Figure
        With a panel for each residue and state, not registered with pyplot.

    Raises
    ------
    ValueError
        If the molecule has no phi and psi.

    See Also
    --------
    plots.ramachandran : One residue, with all states.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=10), mf.Settings(n_states=3))
    >>> len(mf.plots.residue_panels(result).axes)
    4
    """
    check_type("result", result, Clustering, Assignment)
    data = result.data
    if data is None or not data.residues:
        raise InputValueError(
            f"`result` must be of a molecule with phi and psi; got {result!r}. `plots.plane` draws other "
            "coordinates."
        )
    residues = data.residues[:MOST_RESIDUES]
    states = list(range(min(result.n_states, MOST_STATES)))
    colors, hard = ["#000000", *state_colors(result.n_states)], result.memberships.hard
    share = [1.0, *(state.fraction for state in result.states)]
    wide = 1 + len(states) <= _ACROSS  # then residues are below each other
    shape = (len(residues), 1 + len(states)) if wide else (1 + len(states), len(residues))
    figure = new_figure(0.6 + _SIDE * shape[1], 0.6 + _SIDE * shape[0])
    axes = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
    panels = axes if wide else axes.T
    for row, residue in zip(panels, residues, strict=True):
        grid = torsions(data, residue).bin(_BINS)
        for ax, state in zip(row, [-1, *states], strict=True):
            counts = _masses(grid, None if state < 0 else hard == state, result.weights)
            _paint(ax, grid, counts, colors[1 + state])
    names = ["all frames", *(f"state {state}, {percent(share[1 + state])}" for state in states)]
    heads, sides = (names, residues) if wide else (residues, names)
    for ax, name in zip(axes[0], heads, strict=True):
        ax.set_title(name, fontsize=8.5)
    for ax, name in zip(axes[:, 0], sides, strict=True):
        ax.set_ylabel(name, fontsize=8.5)
    figure.supxlabel("φ (degrees)", fontsize=9)
    figure.supylabel("ψ (degrees)", fontsize=9)
    return figure


def _masses(grid: Bins, chosen: np.ndarray | None, weights: np.ndarray | None) -> np.ndarray:
    """Return the number or weight of the chosen frames in each bin."""
    index = grid.index if chosen is None else grid.index[chosen]
    heavy = weights if weights is None or chosen is None else weights[chosen]
    return np.bincount(index, heavy, minlength=grid.counts.size).reshape(grid.counts.shape)


def _paint(ax: "Axes", grid: Bins, counts: np.ndarray, color: str) -> None:
    """Draw counts in a colour, darker for more, over the grey of all frames."""
    from matplotlib.colors import to_rgb

    strength = np.sqrt(counts / max(counts.max(), 1e-300))[..., None]
    strength = np.where(counts[..., None] > 0, 0.15 + 0.85 * strength, 0.0)
    paper = np.where(grid.counts[..., None] > 0, 0.9, 1.0)
    picture = (1 - strength) * paper + strength * np.array(to_rgb(color))
    ax.imshow(np.swapaxes(picture, 0, 1), origin="lower", extent=grid.extent, interpolation="nearest")
    ax.set(xticks=(-180, 0, 180), yticks=(-180, 0, 180))
    ax.tick_params(labelsize=7)

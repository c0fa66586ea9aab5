"""The overview: data, states and transitions side by side. Also the choice of the two coordinates."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.pipeline.assignment import Assignment, Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import new_figure
from mdfuzzy.plots.planes import Kind, draw, figure_size
from mdfuzzy.plots.projections import Projection, project, torsions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The height of a picture, in widths, below which pictures are not side by side.
_LOW = 0.6


def overview(
    result: Result, *, residue: int | str | None = None, projection: Projection | None = None
) -> "Figure":
    """Draw data, states and transitions side by side, as in the paper.

    Over phi and psi if the molecule has one pair of them, or if a residue is given; otherwise over the first
    two principal components of the superposed frames, or the first two features.

    Parameters
    ----------
    result : Clustering or Assignment
        Of frames or features.
    residue : int or str, optional
        The residue whose torsions to use, by its place among ``frames.residues`` or its name.
    projection : Projection, optional
        Any other two coordinates of the frames.

    Returns
    -------
    Figure
        The figure, which is not registered with pyplot; ``figure.savefig("overview.png")`` writes it.

    Raises
    ------
    ValueError
        If the clustering began with neighbours, and no `projection` is given.

    See Also
    --------
    plots.write_plots : Every picture of a clustering as a file.
    plots.ramachandran : One of the pictures, over phi and psi.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> [ax.get_title() for ax in mf.plots.overview(result).axes]
    ['frames', 'states', 'transitions']
    """
    projection = projection_of(result, residue) if projection is None else projection
    if projection.weights is None:
        projection = replace(projection, weights=result.weights)
    grid = projection.bin()
    width, height = figure_size(projection, grid)
    low = height < _LOW * width  # then below each other
    figure = new_figure(width, 3 * height) if low else new_figure(11.4, 3.1)
    titles: dict[Kind, str] = {"density": "frames", "states": "states", "second": "transitions"}
    for ax, (kind, title) in zip(figure.subplots(*((3, 1) if low else (1, 3))), titles.items(), strict=True):
        draw(projection, result, kind=kind, bins=grid, ax=ax)
        ax.set_title(title)
    return figure


def projection_of(result: Result, residue: int | str | None) -> Projection:
    """Choose two coordinates: the only torsions, those of a residue, principal components, or features."""
    check_type("result", result, Clustering, Assignment)
    if result.data is None:
        raise InputValueError(
            "`result` must be of frames or features; got one that began with neighbours and has no "
            "coordinates. Give a `projection` to `overview`."
        )
    if residue is not None:
        return torsions(result.data, residue)
    if result.data.metric.superpose:
        return torsions(result.data) if len(result.data.residues) == 1 else project(result.data)
    if result.data.columns.shape[1] == 1:  # over the density, because there is no second feature
        values = np.column_stack([result.data.columns, result.log_density])
        labels, periods = (result.data.labels[0], "log density"), (result.data.periods[0], None)
        return Projection(values, labels, periods, weights=result.weights)
    return project(result.data)

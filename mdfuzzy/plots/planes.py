"""States and transitions on two coordinates: the Ramachandran plot, and the same for any other two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_choice, check_int, check_type
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.pipeline.assignment import Assignment, Result
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots._axes import axes_of
from mdfuzzy.plots._painting import (
    LEGEND_ROWS,
    frame_axes,
    mark_peaks,
    paint_density,
    paint_energy,
    paint_mean,
    paint_states,
)
from mdfuzzy.plots.bins import Bins
from mdfuzzy.plots.colors import MEMBERSHIP_MAP, SECOND_MAP
from mdfuzzy.plots.projections import Projection, project, torsions
from mdfuzzy.states.cores import Cores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What a picture shows.
Kind = Literal["density", "free_energy", "states", "membership", "second"]
_NEED_MEMBERSHIPS = ("states", "membership", "second")


def ramachandran(
    frames: Frames,
    values: Memberships | Result | None = None,
    *,
    kind: Kind | None = None,
    state: int | None = None,
    residue: int | str = 0,
    cores: Cores | None = None,
    bins: int | None = None,
    guide: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the frames over phi and psi of a residue: how many, how favourable, which state, or between which.

    Parameters
    ----------
    frames : Frames
        With torsions. For a molecule without them, see `plane`.
    values : Memberships, Clustering or Assignment, optional
        The states of these frames.
    kind : {"density", "free_energy", "states", "membership", "second"}, optional
        What to show of the frames in each bin:

        - `density`: their number, on a logarithmic scale;
        - `free_energy`: minus its logarithm in kT (of the weight of the frames, if they have weights),
          smoothed, with a contour line every kT;
        - `states`: the state to which most of them belong, paler where there are few;
        - `membership`: their mean membership of one `state`;
        - `second`: the mean of their second-highest membership, which shows the transition regions:
          0 inside a state, 0.5 half-way between two.

        By default the states if `values` are given, otherwise the density. Bins without frames stay white.
    state : int, optional
        The state for ``kind="membership"``.
    residue : int or str
        Its place among ``frames.residues``, or its name there.
    cores : Cores, optional
        The cores whose peaks are marked with the numbers of the states; by default the cores of a
        `Clustering`.
    bins : int, optional
        Bins along each axis; by default 24 to 180, more for more frames.
    guide : bool
        Whether to draw the colour bar, or the legend of the states.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the frames have no phi and psi, or the values belong to other frames.

    See Also
    --------
    plots.plane : The same over any two coordinates.
    plots.overview : Frames, states and transitions side by side.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> ax = mf.plots.ramachandran(mf.datasets.alanine_dipeptide(), kind="free_energy")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('φ (degrees)', 'ψ (degrees)')
    >>> ax.figure.savefig("ramachandran.png")  # doctest: +SKIP
    """
    return draw(
        torsions(frames, residue), values, kind=kind, state=state, cores=cores, bins=bins, guide=guide, ax=ax
    )


def plane(
    data: Trajectories | npt.ArrayLike,
    values: Memberships | Result | None = None,
    *,
    kind: Kind | None = None,
    state: int | None = None,
    columns: tuple[int, int] = (0, 1),
    labels: tuple[str, str] | None = None,
    cores: Cores | None = None,
    bins: int | None = None,
    guide: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the same as `ramachandran` over any two features, or two principal components of frames.

    Parameters
    ----------
    data : Frames, Features or (n, d) array
        Frames are superposed on their mean structure, and the principal components of their coordinates
        taken; of features the values.
    values : Memberships, Clustering or Assignment, optional
        The states of these frames.
    kind : {"density", "free_energy", "states", "membership", "second"}, optional
        What to show, as for `ramachandran`.
    state : int, optional
        The state for ``kind="membership"``.
    columns : (int, int)
        Which features, or which principal components.
    labels : (str, str), optional
        Names of the two axes with their units.
    cores : Cores, optional
        The cores whose peaks are marked with the numbers of the states; by default the cores of a
        `Clustering`.
    bins : int, optional
        Bins along each axis; by default 24 to 180, more for more frames.
    guide : bool
        Whether to draw the colour bar, or the legend of the states.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the values belong to other frames, or `kind` needs memberships and gets none.

    See Also
    --------
    plots.project : Two coordinates of frames or features.
    plots.ramachandran : The same over phi and psi.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> distances = np.random.default_rng(0).normal(size=(1000, 3))
    >>> ax = mf.plots.plane(distances, columns=(0, 2), labels=("N-C distance (nm)", "H-O distance (nm)"))
    >>> ax.get_ylabel()
    'H-O distance (nm)'
    """
    return draw(
        project(data, columns=columns, labels=labels),
        values,
        kind=kind,
        state=state,
        cores=cores,
        bins=bins,
        guide=guide,
        ax=ax,
    )


def draw(
    projection: Projection,
    values: Memberships | Result | None = None,
    *,
    kind: Kind | None = None,
    state: int | None = None,
    cores: Cores | None = None,
    bins: int | Bins | None = None,
    guide: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw what `ramachandran` draws, over any `Projection`; `bins` may be its bins, already counted."""
    default = "density" if values is None else "states"
    chosen: Kind = check_choice("kind", default if kind is None else kind, get_args(Kind))
    memberships = values.memberships if isinstance(values, Clustering | Assignment) else values
    cores = values.cores if cores is None and isinstance(values, Clustering | Assignment) else cores
    _check_values(projection, memberships, chosen, cores)
    memberships = cast("Memberships", memberships)  # not of "density" and "free_energy", which use none
    if chosen == "membership":
        last = memberships.values.shape[1] - 1
        state = check_int("state", state, 0, last, remedy="It is the state whose membership is drawn.")
    elif state is not None:
        raise InputValueError(
            f"`state` must be given with kind='membership' only; got {state!r} with {chosen!r}."
        )
    if projection.weights is None and isinstance(values, Clustering | Assignment):
        projection = replace(projection, weights=values.weights)
    grid = bins if isinstance(bins, Bins) else projection.bin(bins)
    listed = memberships.values.shape[1] if chosen == "states" else 0
    width, height = figure_size(projection, grid)
    ax = axes_of(ax, width=width + 1.1 * (listed // LEGEND_ROWS), height=height)
    if chosen == "density":
        paint_density(ax, grid, guide)
    elif chosen == "free_energy":
        paint_energy(ax, grid, guide)
    elif chosen == "states":
        paint_states(ax, grid, memberships, guide)
    elif chosen == "membership":
        label = f"membership of state {state}"
        paint_mean(ax, grid, memberships.values[:, state], 1.0, MEMBERSHIP_MAP, label, guide)
    else:
        label = "second-highest membership"
        paint_mean(ax, grid, second_highest(memberships.values), 0.5, SECOND_MAP, label, guide)
    if cores is not None:
        marked = values.occupied if isinstance(values, Assignment) else list(range(len(cores)))
        mark_peaks(ax, projection.values[cores.peaks[marked]], grid, marked)
    frame_axes(ax, projection, grid)
    return ax


def figure_size(projection: Projection, grid: Bins) -> tuple[float, float]:
    """Return the size of a figure in inches; less high for a plane of one scale that is wide and low."""
    left, right, bottom, top = grid.extent
    ratio = (top - bottom) / (right - left)
    if not projection.equal or ratio > 0.8:
        return 5.2, 4.2
    width = float(np.clip(2.3 / ratio, 3.9, 7.0))  # of the axes, high enough for the labels if possible
    return width + 1.3, max(width * ratio, 1.5) + 0.9


def second_highest(values: np.ndarray) -> np.ndarray:
    """Return the second-highest of each row of memberships (n, K), (n,): 0 where there is but one state.

    Examples
    --------
    >>> second_highest(np.array([[0.7, 0.1, 0.2], [0.4, 0.4, 0.2]]))
    array([0.2, 0.4])
    """
    return np.partition(values, -2, axis=1)[:, -2] if values.shape[1] > 1 else np.zeros(len(values))


def _check_values(
    projection: Projection, memberships: Memberships | None, kind: str, cores: Cores | None
) -> None:
    check_type("values", memberships, Memberships, Clustering, Assignment, None)
    if memberships is None:
        if kind in _NEED_MEMBERSHIPS:
            raise InputValueError(
                f"`values` must be Memberships or a Clustering for kind={kind!r}; got None. Without them "
                "there are 'density' and 'free_energy'."
            )
    elif len(memberships) != len(projection):
        raise InputValueError(
            f"`values` must belong to the same frames, {len(projection)}; got {len(memberships)} rows."
        )
    check_type("cores", cores, Cores, None)
    if cores is not None and len(cores.basins) != len(projection):
        raise InputValueError(f"`cores` must belong to the same frames, {len(projection)}; got {cores!r}.")

"""Features over time, coloured by state."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy._messages import time_unit
from mdfuzzy.kinetics.dtrajs import check_data
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.plots._axes import new_figure
from mdfuzzy.plots.colors import NO_STATE, state_colors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mdfuzzy.frames.trajectories import Trajectories

#: The largest number of frames that are drawn: more points do not fit into the picture.
_MOST = 4000


def feature_series(
    data: "Trajectories",
    memberships: Memberships,
    *,
    trajectory: int = 0,
    columns: Sequence[int] | None = None,
) -> "Figure":
    """Draw features, such as the components of TICA, along one trajectory; the colour is the state.

    Parameters
    ----------
    data : Features
        The clustered features, or other features of the same frames.
    memberships : Memberships
        Of the same frames. Of long trajectories every nth frame is drawn.
    trajectory : int
        Which one, counted from 0.
    columns : sequence of int, optional
        Which features; the first four by default.

    Returns
    -------
    Figure
        A panel for each feature, not registered with pyplot.

    Raises
    ------
    ValueError
        If the memberships are of other frames.

    See Also
    --------
    plots.membership_timeline : The memberships over time.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> data = mf.Features([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6], names=["x", "y"])
    >>> figure = mf.plots.feature_series(data, mf.cluster(data).memberships, trajectory=1)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['x', 'y']
    """
    from matplotlib.lines import Line2D

    check_data(data)
    check_type("memberships", memberships, Memberships)
    if len(memberships) != len(data):
        raise InputValueError(f"`memberships` must be of the same frames, {len(data)}; got {memberships!r}.")
    trajectory = check_int("trajectory", trajectory, 0, data.n_trajectories - 1)
    width = data.columns.shape[1]
    chosen = range(min(4, width)) if columns is None else columns
    chosen = [check_int("columns", at, 0, width - 1, remedy="So many features there are.") for at in chosen]
    start = int(np.concatenate([[0], np.cumsum(data.lengths)])[trajectory])
    length = int(data.lengths[trajectory])
    rows = start + np.arange(0, length, max(1, length // _MOST))
    if data.times is None:
        times, name = (rows - start).astype(np.float64), "frame"
    else:
        factor, unit = time_unit(float(data.times[rows[-1]]), "ps")
        times, name = factor * data.times[rows], f"time ({unit})"
    palette = np.array([*state_colors(memberships.values.shape[1]), NO_STATE])
    labels = memberships.hard[rows]
    figure = new_figure(8.0, 0.8 + 1.5 * len(chosen))
    panels = np.atleast_1d(figure.subplots(len(chosen), 1, sharex=True))
    for ax, at in zip(panels, chosen, strict=True):
        ax.scatter(times, data.columns[rows, at], s=3, c=palette[labels], linewidths=0, rasterized=True)
        ax.set_ylabel(data.labels[at])
        ax.margins(x=0.01)
    panels[-1].set_xlabel(name)
    handles = [
        Line2D([], [], linestyle="", marker="o", color=palette[state], label=str(state))
        for state in range(len(palette) - 1)
    ]
    panels[0].legend(
        handles=handles, title="state", loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False,
        ncols=1 + len(handles) // 9, handletextpad=0.2,
    )  # fmt: skip
    return figure

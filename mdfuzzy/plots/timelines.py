"""Memberships along a trajectory."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy._messages import time_unit
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_data
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.plots._axes import axes_of
from mdfuzzy.plots.colors import NO_STATE, state_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS, _ROWS = 1200, 400  # that a picture can show


def membership_timeline(
    data: Trajectories, memberships: Memberships, *, trajectory: int = 0, ax: "Axes | None" = None
) -> "Axes":
    """Draw the memberships of the frames of one trajectory over time, one on top of the other.

    Parameters
    ----------
    data : Frames or Features
        The clustered data; its times make the axis, in ps, ns or µs, or the numbers of the frames.
    memberships : Memberships
        Of the same frames. Of long trajectories the mean over successive stretches is drawn.
    trajectory : int
        Which one, counted from 0.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the memberships are of other frames.

    See Also
    --------
    solve_memberships : The memberships that are drawn.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> data = mf.Features([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> result = mf.cluster(data)
    >>> mf.plots.membership_timeline(data, result.memberships, trajectory=1).get_xlabel()
    'frame'
    """
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    check_data(data)
    check_type("memberships", memberships, Memberships)
    if len(memberships) != len(data):
        raise InputValueError(f"`memberships` must be of the same frames, {len(data)}; got {memberships!r}.")
    trajectory = check_int("trajectory", trajectory, 0, data.n_trajectories - 1)
    values = data.split(np.column_stack([memberships.values, memberships.lost]))[trajectory]
    if data.times is None:
        times, name = np.arange(len(values), dtype=np.float64), "frame"
    else:
        times = data.split(data.times)[trajectory]
        factor, unit = time_unit(float(times[-1]), "ps")
        times, name = factor * times, f"time ({unit})"
    means, start, end = _stretches(times, values)

    ax = axes_of(ax, width=8.0, height=2.4)
    n_states = memberships.values.shape[1]
    colors = state_colors(n_states)
    # One image, each column a stretch of time and each row a height: quick however long the trajectory is.
    heights = (np.arange(_ROWS) + 0.5) / _ROWS
    which = np.sum(heights[:, None, None] > np.cumsum(means, axis=1)[:, :-1], axis=2)
    palette = np.array([to_rgb(color) for color in (*colors, NO_STATE)])
    picture = np.where(np.isnan(means[:, 0])[:, None], 1.0, palette[which])
    ax.imshow(picture, origin="lower", extent=(start, end, 0, 1), aspect="auto", interpolation="nearest")
    ax.set(xlim=(start, end), ylim=(0, 1), xlabel=name, ylabel="membership")
    handles = [Patch(facecolor=color, label=str(state)) for state, color in enumerate(colors)]
    if memberships.lost.any():
        handles.append(Patch(facecolor=NO_STATE, label="none"))
    ax.legend(
        handles=handles, title="state", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False,
        ncols=1 + len(handles) // 9, handlelength=1.2, handleheight=1.0, labelspacing=0.3,
    )  # fmt: skip
    return ax


def _stretches(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return the mean of the rows of `values` in equal stretches of time, NaN in gaps, and start and end.

    There is one stretch per frame, unless there are more frames than a picture can show.
    """
    number = min(len(times), _COLUMNS)
    half = (times[-1] - times[0]) / (2 * max(len(times) - 1, 1)) or 0.5  # of a frame's share of the time
    start, end = float(times[0] - half), float(times[-1] + half)
    place = np.clip((times - start) * (number / (end - start)), 0, number - 1).astype(np.int64)
    frames = np.bincount(place, minlength=number)
    sums = np.stack([np.bincount(place, column, minlength=number) for column in values.T], axis=1)
    return sums / np.where(frames > 0, frames, np.nan)[:, None], start, end

"""Axes, ticks and units, for all pictures."""

from typing import TYPE_CHECKING

from mdfuzzy._check import InputTypeError
from mdfuzzy.plots.showing import is_shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage


def new_figure(width: float = 5.2, height: float = 4.2) -> "Figure":
    """Make a figure of a size in inches.

    It is not registered with pyplot, so it need not be closed; except in a notebook, which then shows it.
    """
    from matplotlib.figure import Figure

    if is_shown():
        from matplotlib import pyplot

        return pyplot.figure(figsize=(width, height), layout="compressed")
    return Figure(figsize=(width, height), layout="compressed")


def axes_of(ax: "Axes | None", *, width: float = 5.2, height: float = 4.2) -> "Axes":
    """Return `ax`, or the axes of a new figure of that size in inches if there is none."""
    if ax is None:
        return new_figure(width, height).subplots()
    if not hasattr(ax, "imshow"):
        raise InputTypeError(f"`ax` must be matplotlib Axes; got {ax!r}. For several, pass one of them.")
    return ax


def figure_of(figure: "Figure | SubFigure | None", *, width: float, height: float) -> "Figure | SubFigure":
    """Return `figure`, or a new one of that size in inches if there is none."""
    if figure is None:
        return new_figure(width, height)
    if not hasattr(figure, "subplots"):
        raise InputTypeError(f"`figure` must be a matplotlib Figure; got {figure!r}.")
    return figure


def color_bar(ax: "Axes", image: "AxesImage", label: str) -> None:
    """Draw the colour bar of an image to the right of its axes, with the same height in any layout."""
    ax.figure.colorbar(image, cax=ax.inset_axes((1.03, 0.0, 0.05, 1.0)), label=label)


def open_frame(ax: "Axes") -> None:
    """Leave out the upper and the right line of the frame, which have no meaning in a diagram of curves."""
    ax.spines[["top", "right"]].set_visible(False)


def plain_ticks(axis: "Axis") -> None:
    """Label the ticks of a logarithmic axis with plain numbers: 0.5 and 20, not powers of ten.

    Over less than three decades there are ticks between the powers.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1e3 * low else (1,)))
    axis.set_major_formatter(lambda value, place: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def percent(share: float) -> str:
    """Write a share for people: ``12 %``, ``0.3 %``, ``< 0.1 %``.

    Examples
    --------
    >>> percent(0.1234), percent(0.0031), percent(0.00001), percent(0.0)
    ('12 %', '0.3 %', '< 0.1 %', '0 %')
    """
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.01 else f"{100 * share:.0f} %"

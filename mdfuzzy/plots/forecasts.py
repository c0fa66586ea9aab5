"""Plots of the calibration of memberships: predicted against observed frequencies."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._check import InputValueError, check_choice, check_type
from mdfuzzy.kinetics import Calibration, Reliability
from mdfuzzy.memberships.weights import BETA_MEANS
from mdfuzzy.plots._axes import axes_of, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOR = "#0072b2"


def reliability(
    calibration: Calibration | Reliability, *, forecast: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw a reliability diagram: observed frequencies against predicted probabilities.

    Parameters
    ----------
    calibration : Calibration or Reliability
        From `kinetics.calibration`, or one of its diagrams.
    forecast : str, optional
        Which of the forecasts of a `Calibration`, by its name there; the memberships by default.
    ax : Axes, optional
        The axes to draw on; by default the axes of a new figure, ``ax.figure``, which is not registered with
        pyplot.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If `forecast` is not a forecast of the calibration.

    See Also
    --------
    kinetics.calibration : Compare memberships with observed outcomes.
    kinetics.reliability : The diagram of any predictions.

    References
    ----------
    * J. Bröcker and L. A. Smith, *Increasing the Reliability of Reliability Diagrams*, Weather and
      Forecasting 22 (2007) 651-661.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> diagram = mf.kinetics.reliability([[0.75, 0.25]] * 4, [0, 0, 0, 1], [0, 1, 2, 3], n_bins=2)
    >>> mf.plots.reliability(diagram).get_xlabel()
    'predicted probability of the next core'
    """
    check_type("calibration", calibration, Calibration, Reliability)
    name = "what came true"
    if isinstance(calibration, Calibration):
        if forecast is None:
            forecast = next(name for name in calibration.names if name.startswith("memberships"))
        row = calibration.names.index(check_choice("forecast", forecast, calibration.names))
        diagram, name = calibration.diagrams[row], f"{forecast}: skill {calibration.skills[row]:.2f}"
        if "beta = " in forecast:
            name += f"\n(beta: {BETA_MEANS})"
    else:
        if forecast is not None:
            raise InputValueError(f"`forecast` must be None for a single diagram; got {forecast!r}.")
        diagram = calibration
    ax = axes_of(ax, width=4.4, height=4.4)
    known = np.isfinite(diagram.predicted)
    x, y = diagram.predicted[known], diagram.observed[known]
    errors = np.maximum([y - diagram.lower[known], diagram.upper[known] - y], 0.0)
    ax.plot([0, 1], [0, 1], color="0.5", linewidth=0.9, zorder=1, label="calibrated")
    ax.errorbar(
        x,
        y,
        errors,
        fmt="o-",
        color=_COLOR,
        markersize=5,
        linewidth=1.3,
        capsize=2.5,
        label=name,
        clip_on=False,
    )
    ax.set(
        xlim=(0.0, 1.0),
        ylim=(0.0, 1.0),
        aspect="equal",
        xlabel="predicted probability of the next core",
        ylabel="fraction that reached it",
    )
    ax.legend(loc="upper left", frameon=False, fontsize=9)
    open_frame(ax)
    return ax

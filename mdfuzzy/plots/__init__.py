"""Pictures: each function draws on the axes that it is given, or on a new figure, and returns the axes."""

from mdfuzzy.plots.bins import Bins, bin_points
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.planes import plane, ramachandran
from mdfuzzy.plots.projections import Projection, project, torsions

__all__ = [
    "Bins",
    "Projection",
    "bin_points",
    "plane",
    "project",
    "ramachandran",
    "state_colors",
    "torsions",
]

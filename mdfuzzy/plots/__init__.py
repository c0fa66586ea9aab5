"""Plots: each function draws on the given axes, or on a new figure, and returns the axes."""

from mdfuzzy.plots.betas import beta_scan
from mdfuzzy.plots.bins import Bins, bin_points
from mdfuzzy.plots.colors import state_colors
from mdfuzzy.plots.differences import state_differences
from mdfuzzy.plots.ensembles import assigned_fractions, ensemble_fractions, ensemble_maps
from mdfuzzy.plots.figures import overview
from mdfuzzy.plots.forecasts import reliability
from mdfuzzy.plots.models import chapman_kolmogorov, implied_timescales
from mdfuzzy.plots.networks import state_network
from mdfuzzy.plots.passages import state_pathways
from mdfuzzy.plots.peaks import persistence_diagram, prominences
from mdfuzzy.plots.pictures import write_plots
from mdfuzzy.plots.planes import plane, ramachandran
from mdfuzzy.plots.projections import Projection, project, torsions
from mdfuzzy.plots.residues import residue_panels
from mdfuzzy.plots.series import feature_series
from mdfuzzy.plots.timelines import membership_timeline
from mdfuzzy.plots.trees import state_tree

__all__ = [
    "Bins",
    "Projection",
    "assigned_fractions",
    "beta_scan",
    "bin_points",
    "chapman_kolmogorov",
    "ensemble_fractions",
    "ensemble_maps",
    "feature_series",
    "implied_timescales",
    "membership_timeline",
    "overview",
    "persistence_diagram",
    "plane",
    "project",
    "prominences",
    "ramachandran",
    "reliability",
    "residue_panels",
    "state_colors",
    "state_differences",
    "state_network",
    "state_pathways",
    "state_tree",
    "torsions",
    "write_plots",
]

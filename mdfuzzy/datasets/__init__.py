"""Example data: simulated alanine dipeptide, bundled with the package, and synthetic points."""

from mdfuzzy.datasets.alanine import alanine_dipeptide, folder, provenance
from mdfuzzy.datasets.points import spirals, two_links, unbalanced_gaussians

__all__ = ["alanine_dipeptide", "folder", "provenance", "spirals", "two_links", "unbalanced_gaussians"]

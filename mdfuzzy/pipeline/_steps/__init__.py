"""The steps of a clustering, each declared once: its inputs, its settings and the type of its result.

A positional parameter is the result of the step of that name. A keyword-only parameter is the setting of that
name: see `Step`. A new step is a function in one of these modules; a field of `Clustering` of the same name
holds its result.
"""

from mdfuzzy.pipeline._steps import data, density, kinetics, memberships, neighbors, robustness, states

__all__ = ["data", "density", "kinetics", "memberships", "neighbors", "robustness", "states"]

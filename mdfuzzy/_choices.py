"""Choices that are made by name, each defined once: for types, checks, help texts and documentation."""

from typing import Literal

#: How the density is estimated: `dtm_log_density` or `kde_log_density`.
Density = Literal["dtm", "kde"]
#: How far down from its peak a core reaches; see `find_cores`.
DepthRule = Literal["prominence", "point", "saddle", "share"]
#: The same, or as far as the walk needs; see `find_reached_cores`.
CoreRule = Literal["reach", "prominence", "point", "saddle", "share"]
#: `union`: an edge if either point has the other among its k nearest. `directed`: i to each of its k nearest.
#: `radius`: an edge if the two points are within `radius` of each other.
GraphKind = Literal["union", "directed", "radius"]
#: The edges of the walk.
WalkGraph = Literal["union", "directed"]
#: How the weight of a step of the walk depends on its length.
Kernel = Literal["uniform", "gaussian"]
#: How the weight of a step of the walk depends on the density; see `solve_memberships`.
WalkWeights = Literal["power", "linear"]
#: What can choose the temperature of the walk.
BetaCriterion = Literal["entropy", "kinetic"]

"""Define each choice by name once, for types, checks, help texts and documentation."""

from typing import Literal

#: The density estimator: `dtm_log_density` or `kde_log_density`.
Density = Literal["dtm", "kde"]
#: The rule for how far a core extends below its peak; see `find_cores`.
DepthRule = Literal["prominence", "point", "saddle", "share"]
#: The same rules, or as far as the walk needs; see `find_reached_cores`.
CoreRule = Literal["reach", "prominence", "point", "saddle", "share"]
#: `union`: an edge if either point has the other among its k nearest. `directed`: i to each of its k nearest.
#: `radius`: an edge if the two points are within `radius` of each other.
GraphKind = Literal["union", "directed", "radius"]
#: The edges of the walk.
WalkGraph = Literal["union", "directed"]
#: The dependence of the weight of a step of the walk on its length.
Kernel = Literal["uniform", "gaussian"]
#: The dependence of the weight of a step of the walk on the density; see `solve_memberships`.
WalkWeights = Literal["power", "linear"]
#: The criterion that selects the temperature of the walk.
BetaCriterion = Literal["entropy", "kinetic"]

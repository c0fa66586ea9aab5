"""Checks: what is exported must be a clustering or an assignment whose parts fit together."""

from typing import TYPE_CHECKING, cast

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.kinetics.dtrajs import check_cores, check_memberships
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.pipeline.assignment import Assignment, Result
from mdfuzzy.pipeline.clustering import Clustering

if TYPE_CHECKING:
    from mdfuzzy.frames.trajectories import Trajectories


def check_result(result: Result) -> "Trajectories":
    """Return the trajectories of a result, or raise unless its parts are of the same frames and states."""
    check_type("result", result, Clustering, Assignment, remedy="`cluster` and `assign` make them.")
    if result.data is None:
        raise InputValueError(
            "`result` must be of frames or features; got a clustering that began with neighbours, which has "
            "no trajectories. Cluster the frames themselves."
        )
    data, states = result.data, result.memberships.values.shape[1]
    check_memberships(data, result.memberships)
    for cores in (result.cores, result.milestones):
        check_cores(data, cores)
        if states != len(cores):
            raise InputValueError(
                f"`memberships` must be in the states of `cores`, {len(cores)}; got {states} states. Take "
                "both from one clustering."
            )
    return data


def check_structures(result: Result) -> "tuple[Trajectories, TransitionRegions]":
    """Return the frames of a result and the transition regions between its states, or raise."""
    data = check_result(result)
    if not data.has_structures:
        raise InputValueError(
            "These frames have no topology, because they come from arrays. Give `top` to `load`, or `frames` "
            "to `Features`."
        )
    regions = result.transition_regions
    check_type("transition_regions", regions, TransitionRegions, remedy="`cluster` and `assign` find them.")
    regions = cast("TransitionRegions", regions)
    last_state = int(regions.pairs.max(initial=-1))
    last_frame = max((int(frames.max(initial=-1)) for frames in regions.frames), default=-1)
    if last_state >= len(result.cores) or last_frame >= len(data):
        raise InputValueError(
            f"`transition_regions` must be between the {len(result.cores)} states and among the {len(data)} "
            f"frames of the other parts; got state {last_state} and frame {last_frame}. Take all from one "
            "clustering."
        )
    return data, regions

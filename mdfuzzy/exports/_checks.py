"""Checks: what goes into one export must be about the same frames and the same states."""

from mdfuzzy._check import InputValueError, check_type
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_cores, check_memberships
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores


def check_states(data: Trajectories, cores: Cores, memberships: Memberships) -> None:
    """Raise unless `cores` and `memberships` are of the frames of `data`, and of the same states."""
    check_cores(data, cores)
    check_memberships(data, memberships)
    states = memberships.values.shape[1]
    if states != len(cores):
        raise InputValueError(
            f"`memberships` must be in the states of `cores`, {len(cores)}; got {states} states. Take "
            "both from one clustering."
        )


def check_transition_regions(data: Trajectories, cores: Cores, transition_regions: TransitionRegions) -> None:
    """Raise unless `transition_regions` are between the states of `cores`, with frames of `data`."""
    check_type(
        "transition_regions",
        transition_regions,
        TransitionRegions,
        remedy="`find_transition_regions` makes them.",
    )
    last_state = int(transition_regions.pairs.max(initial=-1))
    last_frame = max((int(frames.max(initial=-1)) for frames in transition_regions.frames), default=-1)
    if last_state >= len(cores) or last_frame >= len(data):
        raise InputValueError(
            f"`transition_regions` must be between the {len(cores)} states and among the {len(data)} frames "
            f"of the other arguments; got state {last_state} and frame {last_frame}. Take all from one "
            "clustering."
        )

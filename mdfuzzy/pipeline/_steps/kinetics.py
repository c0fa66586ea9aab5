"""Steps that use the order of the frames: transition regions, visits, fractions and Markov models."""

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics import Equilibrium, Pathways, Visits, estimate_equilibrium, find_pathways
from mdfuzzy.kinetics import visits as count_visits
from mdfuzzy.kinetics.dtrajs import LEFT_OUT, core_dtrajs, milestone
from mdfuzzy.kinetics.transition_regions import TransitionRegions, find_transition_regions
from mdfuzzy.kinetics.validation import Validation, validate_cores
from mdfuzzy.memberships.fractions import StateFractions, state_fractions, warn_of_few_effective
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.pipeline._cache import step
from mdfuzzy.states.cores import Cores


@step()
def transition_regions(
    data: Trajectories | None, memberships: Memberships, milestones: Cores, weights: np.ndarray | None
) -> TransitionRegions | None:
    """Find the frames between two states; None without trajectories."""
    return None if data is None else find_transition_regions(data, memberships, milestones)


@step()
def visits(
    data: Trajectories | None, milestones: Cores, timestep: float | None, weights: np.ndarray | None
) -> Visits | None:
    """Count the visits to the states; None without trajectories, or if the frames have weights."""
    return None if data is None or weights is not None else count_visits(data, milestones)


@step(message="testing Markov models of the states", when=lambda settings: settings.validate)
def validation(data: Trajectories | None, milestones: Cores, timestep: float | None) -> Validation:
    """Test Markov models of the states and choose a lag time."""
    return validate_cores(data, milestones)


@step()
def fractions(
    data: Trajectories | None, memberships: Memberships, weights: np.ndarray | None
) -> StateFractions | None:
    """Return the (weighted) fraction of each state with its bootstrap interval; None without trajectories."""
    if data is None and weights is None:
        return None
    lengths = [len(memberships)] if data is None else data.lengths
    found = state_fractions(memberships.hard, lengths, n_states=len(memberships.values.T), weights=weights)
    warn_of_few_effective(found)
    return found


@fractions.explained
def _(
    result: StateFractions | None,
    data: Trajectories | None,
    memberships: Memberships,
    weights: np.ndarray | None,
) -> str | None:
    return None if result is None or not result.weighted else f"{result.words} {LEFT_OUT}"


@step(when=lambda settings: settings.validate)
def equilibrium(
    data: Trajectories | None, milestones: Cores, validation: Validation | None, timestep: float | None
) -> Equilibrium | None:
    """Estimate populations and passage times at the lag time of the tests; None without a Markov model."""
    if data is None or data.weights is not None or validation is None or validation.lag is None:
        return None
    dtrajs = milestone(core_dtrajs(data, milestones))
    return estimate_equilibrium(dtrajs, lag=validation.lag, timestep=timestep)


@step(when=lambda settings: settings.validate)
def pathways(
    data: Trajectories | None,
    milestones: Cores,
    equilibrium: Equilibrium | None,
    validation: Validation | None,
    timestep: float | None,
) -> Pathways | None:
    """Find the pathways of the slowest process; None without a Markov model."""
    if data is None or equilibrium is None or validation is None or validation.lag is None:
        return None
    dtrajs = milestone(core_dtrajs(data, milestones))
    return find_pathways(dtrajs, lag=validation.lag, timestep=timestep)

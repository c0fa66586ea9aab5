"""Kinetics: discrete trajectories, visits to the states, Markov models and their tests."""

from mdfuzzy.kinetics._chapman_kolmogorov import ChapmanKolmogorov, chapman_kolmogorov
from mdfuzzy.kinetics._visits import Visits, visits
from mdfuzzy.kinetics.calibration import Calibration, calibration
from mdfuzzy.kinetics.criterion import kinetic_criterion
from mdfuzzy.kinetics.dtrajs import (
    Milestoned,
    core_dtrajs,
    hard_dtrajs,
    milestoned_dtrajs,
    timestep,
    transition_counts,
)
from mdfuzzy.kinetics.equilibrium import Equilibrium, estimate_equilibrium
from mdfuzzy.kinetics.markov import MarkovModel, markov_model
from mdfuzzy.kinetics.outcomes import Outcomes, find_outcomes
from mdfuzzy.kinetics.pathways import Pathways, find_pathways
from mdfuzzy.kinetics.reliability import Reliability, reliability
from mdfuzzy.kinetics.soft import SoftModel, soft_model
from mdfuzzy.kinetics.splits import Splits, audit_splits
from mdfuzzy.kinetics.timescales import ImpliedTimescales, implied_timescales
from mdfuzzy.kinetics.vamp import Vamp2Score, vamp2_score

__all__ = [
    "Calibration",
    "ChapmanKolmogorov",
    "Equilibrium",
    "ImpliedTimescales",
    "MarkovModel",
    "Milestoned",
    "Outcomes",
    "Pathways",
    "Reliability",
    "SoftModel",
    "Splits",
    "Vamp2Score",
    "Visits",
    "audit_splits",
    "calibration",
    "chapman_kolmogorov",
    "core_dtrajs",
    "estimate_equilibrium",
    "find_outcomes",
    "find_pathways",
    "hard_dtrajs",
    "implied_timescales",
    "kinetic_criterion",
    "markov_model",
    "milestoned_dtrajs",
    "reliability",
    "soft_model",
    "timestep",
    "transition_counts",
    "vamp2_score",
    "visits",
]

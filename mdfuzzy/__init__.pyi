"""The public names for type checkers; at run time they are imported on first use."""

from mdfuzzy import datasets as datasets
from mdfuzzy import exports as exports
from mdfuzzy import features as features
from mdfuzzy import kinetics as kinetics
from mdfuzzy import mdanalysis as mdanalysis
from mdfuzzy import plots as plots
from mdfuzzy import report as report
from mdfuzzy._check import InputError as InputError
from mdfuzzy.features.decomposition import pca as pca
from mdfuzzy.features.decomposition import tica as tica
from mdfuzzy.features.decomposition import vamp as vamp
from mdfuzzy.features.featurizing import featurize as featurize
from mdfuzzy.frames.aligned import AlignedFrames as AlignedFrames
from mdfuzzy.frames.features import Features as Features
from mdfuzzy.frames.frames import Frames as Frames
from mdfuzzy.frames.loading import load as load
from mdfuzzy.frames.regions import ramachandran_regions as ramachandran_regions
from mdfuzzy.kinetics.transition_regions import TransitionRegions as TransitionRegions
from mdfuzzy.kinetics.transition_regions import find_transition_regions as find_transition_regions
from mdfuzzy.kinetics.validation import Validation as Validation
from mdfuzzy.memberships.beta_scan import BetaScan as BetaScan
from mdfuzzy.memberships.beta_scan import scan_beta as scan_beta
from mdfuzzy.memberships.errors import SolveError as SolveError
from mdfuzzy.memberships.extension import extend_memberships as extend_memberships
from mdfuzzy.memberships.fractions import StateFractions as StateFractions
from mdfuzzy.memberships.fractions import state_fractions as state_fractions
from mdfuzzy.memberships.memberships import Memberships as Memberships
from mdfuzzy.memberships.memberships import solve_memberships as solve_memberships
from mdfuzzy.memberships.reached_cores import find_reached_cores as find_reached_cores
from mdfuzzy.memberships.scores import EntropicPurity as EntropicPurity
from mdfuzzy.memberships.scores import clustering_entropy as clustering_entropy
from mdfuzzy.memberships.scores import entropic_purity as entropic_purity
from mdfuzzy.memberships.scores import purity as purity
from mdfuzzy.memberships.weights import strong_edges as strong_edges
from mdfuzzy.neighbors.graph import Graph as Graph
from mdfuzzy.neighbors.neighbors import Neighbors as Neighbors
from mdfuzzy.neighbors.neighbors import euclidean_neighbors as euclidean_neighbors
from mdfuzzy.neighbors.neighbors import neighbors_from as neighbors_from
from mdfuzzy.neighbors.rmsd import rmsd_neighbors as rmsd_neighbors
from mdfuzzy.neighbors.rmsd import rmsd_neighbors_within as rmsd_neighbors_within
from mdfuzzy.neighbors.rmsd_mdtraj import rmsd_neighbors_mdtraj as rmsd_neighbors_mdtraj
from mdfuzzy.pipeline.assignment import Assignment as Assignment
from mdfuzzy.pipeline.assignment import assign as assign
from mdfuzzy.pipeline.clustering import Clustering as Clustering
from mdfuzzy.pipeline.comparison import StateComparison as StateComparison
from mdfuzzy.pipeline.comparison import compare_states as compare_states
from mdfuzzy.pipeline.estimator import FuzzyModeSeeking as FuzzyModeSeeking
from mdfuzzy.pipeline.model_numbers import estimate_model as estimate_model
from mdfuzzy.pipeline.model_tests import validate_model as validate_model
from mdfuzzy.pipeline.run import cluster as cluster
from mdfuzzy.pipeline.sample import ExtensionError as ExtensionError
from mdfuzzy.pipeline.sample import FitSample as FitSample
from mdfuzzy.pipeline.settings import Settings as Settings
from mdfuzzy.pipeline.settings import suggest_k as suggest_k
from mdfuzzy.pipeline.state_table import State as State
from mdfuzzy.pipeline.state_table import StateTable as StateTable
from mdfuzzy.states.cores import Cores as Cores
from mdfuzzy.states.cores import find_cores as find_cores
from mdfuzzy.states.cores import find_milestones as find_milestones
from mdfuzzy.states.density import dtm_log_density as dtm_log_density
from mdfuzzy.states.density import kde_bandwidth as kde_bandwidth
from mdfuzzy.states.density import kde_log_density as kde_log_density
from mdfuzzy.states.dimension import intrinsic_dimension as intrinsic_dimension
from mdfuzzy.states.persistence import Persistence as Persistence
from mdfuzzy.states.persistence import compute_persistence as compute_persistence
from mdfuzzy.states.prominence import ProminenceGap as ProminenceGap
from mdfuzzy.states.reweighting import reweighted_log_density as reweighted_log_density
from mdfuzzy.states.stability import KScan as KScan
from mdfuzzy.states.stability import StateBootstrap as StateBootstrap
from mdfuzzy.states.stability import bootstrap_states as bootstrap_states
from mdfuzzy.states.stability import states_by_k as states_by_k
from mdfuzzy.states.tree import StateTree as StateTree
from mdfuzzy.states.tree import build_state_tree as build_state_tree
from mdfuzzy.store.rundir import RunDir as RunDir
from mdfuzzy.store.state_names import StateNames as StateNames

__version__: str

_STAGES: dict[str, dict[str, tuple[str, ...]]]
_HOME: dict[str, str]
_MODULES: tuple[str, ...]

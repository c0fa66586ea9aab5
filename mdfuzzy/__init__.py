"""mdfuzzy: the metastable states of a molecule and the transitions between them.

The data flows one way, and every step is a function::

    load -> rmsd_neighbors -> dtm_log_density -> compute_persistence -> find_cores -> solve_memberships

Names are imported on first use (PEP 562), so that ``import mdfuzzy`` answers at once.
"""

from importlib import import_module

__version__ = "0.1.0"

#: Where each public name lives.
_HOME = {
    "Features": "features",
    "Frames": "frames",
    "load": "loading",
    "ramachandran_regions": "regions",
    "Graph": "graph",
    "Neighbors": "neighbors",
    "euclidean_neighbors": "neighbors",
    "neighbors_from": "neighbors",
    "rmsd_neighbors": "rmsd",
    "rmsd_neighbors_mdtraj": "rmsd_mdtraj",
    "rmsd_neighbors_within": "rmsd",
    "dtm_log_density": "density",
    "intrinsic_dimension": "dimension",
    "kde_log_density": "density",
    "kde_window": "density",
    "Persistence": "persistence",
    "compute_persistence": "persistence",
    "ProminenceGap": "prominence",
    "KScan": "stability",
    "Resampling": "stability",
    "resample_states": "stability",
    "states_by_k": "stability",
    "Cores": "cores",
    "find_cores": "cores",
    "find_milestones": "cores",
    "Memberships": "memberships",
    "extend_memberships": "extension",
    "solve_memberships": "memberships",
    "strong_edges": "weights",
    "BetaScan": "beta_scan",
    "scan_beta": "beta_scan",
    "EntropicPurity": "scores",
    "clustering_entropy": "scores",
    "entropic_purity": "scores",
    "purity": "scores",
    "Interfaces": "interfaces",
    "find_interfaces": "interfaces",
    "Settings": "settings",
    "suggest_k": "settings",
    "State": "state_table",
    "StateTable": "state_table",
    "Clustering": "clustering",
    "cluster": "pipeline",
    "Assignment": "assignment",
    "assign": "assignment",
    "Validation": "validation",
    "validate_model": "validation",
    "RunDir": "rundir",
    "FuzzyModeSeeking": "estimator",
}

_MODULES = ("datasets", "exports", "kinetics", "mdanalysis", "plots", "report")

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = getattr(import_module(f"mdfuzzy.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"mdfuzzy.{name}")
    else:
        raise AttributeError(f"module 'mdfuzzy' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

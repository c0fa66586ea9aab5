"""mdfuzzy: the metastable states of a molecule and the transitions between them.

The data flow in one direction, and every step is a function::

    load or featurize -> nearest neighbours -> dtm_log_density -> compute_persistence ->
    find_reached_cores -> solve_memberships

Names are imported on first use (PEP 562), so that ``import mdfuzzy`` is fast.
"""

from importlib import import_module

__version__ = "0.2.0"

#: The folders in the order of the data flow, each with its public names by module. A folder imports only
#: folders that precede it here. A folder with an empty entry is a public module, or has no public names.
_STAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "_kernels": {},
    "workers": {},
    "frames": {
        "aligned": ("AlignedFrames",),
        "ensembles": ("Ensembles",),
        "features": ("Features",),
        "frames": ("Frames",),
        "joining": ("join_ensembles",),
        "loading": ("load",),
        "matching": ("AtomMatch",),
        "regions": ("ramachandran_regions",),
    },
    "datasets": {},
    "features": {
        "featurizing": ("featurize",),
        "decomposition": ("pca", "tica", "vamp"),
    },
    "neighbors": {
        "graph": ("Graph",),
        "neighbors": ("Neighbors", "euclidean_neighbors", "neighbors_from"),
        "rmsd": ("rmsd_neighbors", "rmsd_neighbors_within"),
        "rmsd_mdtraj": ("rmsd_neighbors_mdtraj",),
    },
    "states": {
        "density": ("dtm_log_density", "kde_log_density", "kde_bandwidth"),
        "dimension": ("intrinsic_dimension",),
        "persistence": ("Persistence", "compute_persistence"),
        "prominence": ("ProminenceGap",),
        "reweighting": ("reweighted_log_density",),
        "peak_tests": ("build_state_tree",),
        "tree": ("StateTree",),
        "stability": ("KScan", "StateBootstrap", "bootstrap_states", "states_by_k"),
        "cores": ("Cores", "find_cores", "find_milestones"),
    },
    "memberships": {
        "memberships": ("Memberships", "solve_memberships"),
        "errors": ("SolveError",),
        "extension": ("extend_memberships",),
        "fractions": ("StateFractions", "state_fractions"),
        "weights": ("strong_edges",),
        "reached_cores": ("find_reached_cores",),
        "beta_scan": ("BetaScan", "scan_beta"),
        "scores": ("EntropicPurity", "clustering_entropy", "entropic_purity", "purity"),
    },
    "kinetics": {
        "transition_regions": ("TransitionRegions", "find_transition_regions"),
        "validation": ("Validation",),
    },
    "pipeline": {
        "settings": ("Settings", "suggest_k"),
        "state_table": ("State", "StateTable"),
        "sample": ("ExtensionError", "FitSample"),
        "clustering": ("Clustering",),
        "comparison": ("StateComparison", "compare_states"),
        "run": ("cluster",),
        "seeds": ("Seeds", "suggest_seeds"),
        "assignment": ("Assignment", "assign"),
        "model_tests": ("validate_model",),
        "model_numbers": ("estimate_model",),
        "estimator": ("FuzzyModeSeeking",),
    },
    "ensembles": {
        "comparison": ("EnsembleComparison", "compare_ensembles"),
        "difference": ("EnsembleDifference",),
    },
    "store": {"rundir": ("RunDir",), "state_names": ("StateNames",)},
    "plots": {},
    "exports": {},
    "report": {},
    "mdanalysis": {},
    "cli": {},
}

#: The module of each public name.
_HOME = {
    name: f"{folder}.{module}"
    for folder, modules in _STAGES.items()
    for module, names in modules.items()
    for name in names
} | dict.fromkeys(("InputError", "InputIndexError", "InputTypeError", "InputValueError"), "_check")

_MODULES = ("datasets", "exports", "features", "kinetics", "mdanalysis", "plots", "report")

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

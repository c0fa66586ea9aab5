"""The kinds of exports."""

#: The kinds of exports, with their descriptions.
KINDS = {
    "tables": "Tables for a paper: fractions, populations, passage times, pathways (CSV, LaTeX)",
    "pyemma": "Discrete trajectories and memberships, for PyEMMA, deeptime and NumPy",
    "structures": "PDB files of density peaks, medoids, cores and transitions, with scripts for viewers",
    "trajectories": "Trajectories of the frames of each state and of each transition region",
    "table": "A table (CSV) with a row for every frame",
    "splits": "A table (CSV) of the evidence for every state and for the strongest rejected peaks",
}


def kinds_of(result: object) -> list[str]:
    """Return the kinds of exports that a result has.

    Only a clustering has splits, unless states were merged by hand. Weighted frames give no discrete
    trajectories: a bias changes the kinetics.

    Examples
    --------
    >>> kinds_of(None)[-1]
    'table'
    """
    missing = {"splits"} if getattr(result, "splits", None) is None else set()
    if getattr(getattr(result, "data", None), "weights", None) is not None:
        missing.add("pyemma")
    return [kind for kind in KINDS if kind not in missing]

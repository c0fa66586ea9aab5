"""The kinds of exports."""

#: What can be exported, and what each is.
KINDS = {
    "tables": "Tables for a paper: fractions, populations, passage times, pathways (CSV, LaTeX)",
    "pyemma": "Discrete trajectories and memberships, for PyEMMA, deeptime and NumPy",
    "structures": "PDB files of density peaks, medoids, cores and transitions, with scripts for viewers",
    "trajectories": "Trajectories of the frames of each state and of each transition",
    "table": "A table (CSV) with a row for every frame",
}

"""The kinds of exports."""

#: What can be exported, and what each is.
KINDS = {
    "pyemma": "Discrete trajectories and memberships, for PyEMMA, deeptime and NumPy",
    "structures": "PDB files of frames in the cores and of frames between states",
    "table": "A table (CSV) with a row for every frame",
}

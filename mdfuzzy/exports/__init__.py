"""Exports: files for other programs: Markov models, structures, trajectories of states, and tables.

Every export takes the result of `cluster` or `assign`.
"""

from importlib import import_module

#: Where each name lives. Imported on first use: the command line asks for `KINDS` alone.
_HOME = {
    "ReferenceRmsd": "reference",
    "find_medoids": "medoids",
    "reference_rmsd": "reference",
    "write_exports": "every_kind",
    "write_pyemma": "pyemma_files",
    "write_structures": "structure_files",
    "write_table": "table",
    "write_trajectories": "trajectory_files",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'mdfuzzy.exports' has no attribute {name!r}")
    return getattr(import_module(f"mdfuzzy.exports.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

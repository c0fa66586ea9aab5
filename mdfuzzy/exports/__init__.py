"""Exports: files for other programs (Markov models, structures, trajectories of states, and tables).

Every export takes the result of `cluster` or `assign`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdfuzzy.exports.comparison import write_comparison
    from mdfuzzy.exports.every_kind import write_exports
    from mdfuzzy.exports.medoids import find_medoids
    from mdfuzzy.exports.pyemma_files import write_pyemma
    from mdfuzzy.exports.reference import ReferenceRmsd, reference_rmsd
    from mdfuzzy.exports.seeds import write_seeds
    from mdfuzzy.exports.split_table import write_splits
    from mdfuzzy.exports.state_tables import write_state_tables
    from mdfuzzy.exports.structure_files import write_structures
    from mdfuzzy.exports.table import write_table
    from mdfuzzy.exports.trajectory_files import write_trajectories

#: Where each name lives. Imported on first use: the command line asks for `KINDS` alone.
_HOME = {
    "ReferenceRmsd": "reference",
    "find_medoids": "medoids",
    "reference_rmsd": "reference",
    "write_comparison": "comparison",
    "write_exports": "every_kind",
    "write_pyemma": "pyemma_files",
    "write_state_tables": "state_tables",
    "write_splits": "split_table",
    "write_seeds": "seeds",
    "write_structures": "structure_files",
    "write_table": "table",
    "write_trajectories": "trajectory_files",
}

__all__ = [
    "ReferenceRmsd",
    "find_medoids",
    "reference_rmsd",
    "write_comparison",
    "write_exports",
    "write_pyemma",
    "write_seeds",
    "write_splits",
    "write_state_tables",
    "write_structures",
    "write_table",
    "write_trajectories",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'mdfuzzy.exports' has no attribute {name!r}")
    return getattr(import_module(f"mdfuzzy.exports.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

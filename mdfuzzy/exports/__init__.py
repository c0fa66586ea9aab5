"""Exports: files for other programs: for PyEMMA, structures to look at, and the table of all frames."""

from mdfuzzy.exports.every_kind import write_exports
from mdfuzzy.exports.pyemma_files import write_pyemma
from mdfuzzy.exports.structure_files import structures
from mdfuzzy.exports.table import frame_table

__all__ = ["frame_table", "structures", "write_exports", "write_pyemma"]

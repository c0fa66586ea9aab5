"""Exports: files for other programs: for PyEMMA, structures to look at, and the table of all frames."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdfuzzy.exports.every_kind import write_exports
    from mdfuzzy.exports.pyemma_files import write_pyemma
    from mdfuzzy.exports.structure_files import structures
    from mdfuzzy.exports.table import frame_table

#: Where each name lives. Imported on first use: the command line asks for `KINDS` alone.
_HOME = {
    "frame_table": "table",
    "structures": "structure_files",
    "write_exports": "every_kind",
    "write_pyemma": "pyemma_files",
}

__all__ = ["frame_table", "structures", "write_exports", "write_pyemma"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'mdfuzzy.exports' has no attribute {name!r}")
    return getattr(import_module(f"mdfuzzy.exports.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

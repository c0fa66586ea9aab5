"""Blocks of unfinished steps, each step in a folder of its own beside the saved steps."""

from dataclasses import dataclass
from pathlib import Path

from mdfuzzy._atomic import is_folder
from mdfuzzy.store._array_folder import ArrayFolder

#: Folders of the blocks of unfinished steps end like this.
_PARTS = ".parts"


@dataclass(frozen=True, eq=False)
class UnfinishedSteps:
    """The blocks of steps that are being computed.

    Attributes
    ----------
    saved : ArrayFolder
        The folder of the saved steps.
    """

    saved: ArrayFolder

    def open(self, name: str, *, key: str) -> ArrayFolder:
        """Return the store of the blocks of a step; blocks that were made with another `key` are removed."""
        self.saved._record(name)
        self.remove(name, but=key)
        return ArrayFolder(self._place(name) / key)

    def remove(self, name: str, *, but: str | None = None) -> None:
        """Remove the blocks of a step, except those with the key `but`."""
        folder = self._place(name)
        for each in list(folder.iterdir()) if is_folder(folder) else ():
            if each.name != but:
                ArrayFolder(each).remove()
        if is_folder(folder) and not any(folder.iterdir()):
            folder.rmdir()

    def remove_finished(self) -> None:
        """Remove the blocks of steps that are saved, if a run was killed before it did so."""
        for folder in list(self.saved.path.glob(f"*{_PARTS}")):
            name = folder.name.removesuffix(_PARTS)
            if any(self.saved.has(name, key=part.name) for part in folder.iterdir()):
                self.remove(name)

    def _place(self, name: str) -> Path:
        return self.saved.path / f"{name}{_PARTS}"

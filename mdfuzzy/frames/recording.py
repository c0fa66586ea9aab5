"""Record frames of an MDAnalysis universe while other code moves through its trajectory."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.frames._accumulator import Store
from mdfuzzy.frames._extraction import make_plan
from mdfuzzy.frames._mdanalysis import Chunk, check_item, is_of_mdanalysis, kept_places, open_universes
from mdfuzzy.frames._provenance import Source, chosen_sources
from mdfuzzy.frames.frames import Frames

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup, Universe


def check_group(group: object) -> None:
    """Raise unless frames of the group can be recorded."""
    if isinstance(group, list | tuple):
        raise InputTypeError(
            f"`atomgroup` must be one AtomGroup or Universe; got {len(group)} of them in a list. Use "
            "mf.cluster(mf.load([...])) for several."
        )
    if not is_of_mdanalysis(group):
        raise InputTypeError(
            f"`atomgroup` must be an AtomGroup or a Universe of MDAnalysis; got {type(group).__name__}. For "
            "files use mf.cluster(mf.load(...))."
        )
    check_item(group)


def kept_place(group: "AtomGroup | Universe") -> AbstractContextManager[None]:
    """Restore the current frame of the universe of a group at the end of the block, also after an error."""
    return kept_places([group.universe])


class Recording:
    """Record frames one by one, with the same result as `load`.

    Parameters
    ----------
    group : AtomGroup or Universe
        The selected atoms; for a universe, the heavy atoms of the solute.
    whole : bool, optional
        Whether to make molecules whole across the periodic boundary, as in `load`.
    **compare
        Further options that define how frames are compared, such as `align`, as in `load`.
    """

    def __init__(
        self,
        group: "AtomGroup | Universe",
        *,
        whole: bool | None = None,
        align: object = None,
        **compare: Any,
    ) -> None:
        universes = open_universes(group)
        self._pieces = [piece for (piece,) in universes.trajectories]
        self._topology = universes.topology
        compare["align"] = universes.places(align)
        plan = make_plan(universes.topology, universes.atoms, whole, words=universes.words, **compare)
        self._store = Store(plan, universes.topology)
        self._chunk = Chunk(self._pieces[0])
        self._numbers: list[int] = []
        self._added = 0

    def take(self) -> None:
        """Record the current frame of the universe; frame numbers must increase."""
        number = int(self._pieces[0].universe.trajectory.frame)
        if self._numbers and number <= self._numbers[-1]:
            raise InputValueError(
                f"Frames must be taken in ascending order, each once, or their trajectory has no direction; "
                f"got frame {number} after frame {self._numbers[-1]}."
            )
        self._chunk.add()
        self._numbers.append(number)
        if self._chunk.full:
            self._flush()

    def _flush(self) -> None:
        chunk, numbers = self._chunk.finish(self._topology), np.array(self._numbers[self._added :])
        timed = not np.issubdtype(chunk.time.dtype, np.integer)
        self._store.add(chunk, slice(None), numbers, chunk.time if timed else None, self._pieces[0])
        self._added = len(self._numbers)

    def frames(self) -> Frames:
        """Return all recorded frames, with the boundaries between trajectories."""
        if len(self._chunk):
            self._flush()
        numbers = np.array(self._numbers, np.int64)
        starts = np.array([piece.first for piece in self._pieces])
        kept, lengths = np.unique(np.searchsorted(starts, numbers, side="right") - 1, return_counts=True)
        parts = [
            Source(path=None, trajectory=i, first=piece.first, stride=1, count=piece.count, data=piece.data)
            for i, piece in enumerate(self._pieces)
        ]
        self._store.lengths = lengths.tolist()
        self._store.sources = list(chosen_sources(parts, numbers, kept))
        return self._store.frames(self._topology, reading=None)

"""Features computed by a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.features.feature import Columns, Feature
from mdfuzzy.frames.streaming import atoms_of

if TYPE_CHECKING:
    import mdtraj as md


@dataclass(frozen=True, kw_only=True)
class Function(Feature):
    """A feature computed by a function of an `md.Trajectory`.

    Attributes
    ----------
    function : callable
        A function that takes an `md.Trajectory` with all atoms and returns (frames,) or (frames, columns)
        numbers. It is called with some frames at a time, and must treat each frame independently.
    names : sequence of str, optional
        The names of the columns.
    unit : str
        The unit of the columns.
    period : float, optional
        The period of the columns, if they are periodic.
    selection : str or (m,) int array, optional
        The atoms that the function uses; by default all heavy atoms of the solute. Their molecules are made
        whole.
    weight : float
        The factor that multiplies the columns in the distance between two frames.

    Examples
    --------
    >>> import mdtraj as md, mdfuzzy as mf
    >>> frame = mf.datasets.alanine_dipeptide().trajectory([0])
    >>> mf.features.Function(function=md.compute_rg, unit="nm").bind(frame).names
    ('compute_rg',)
    """

    kind: ClassVar[str] = "function"

    function: Callable[[md.Trajectory], npt.ArrayLike] | None = None
    names: Sequence[str] | None = None
    unit: str = ""
    period: float | None = None
    selection: str | npt.ArrayLike | None = None

    def bind(self, first: md.Trajectory) -> Columns:
        """Return the columns for the molecule in `first`; the function is called once on it."""
        if not callable(self.function):
            raise InputTypeError(
                f"`features` must have the function again that made them ({', '.join(self.names or [])}): a "
                "file cannot hold it. Pass it in `features`."
            )
        function = self.function

        def compute(frames: md.Trajectory) -> np.ndarray:
            found = np.asarray(function(frames), np.float32)
            return found[:, None] if found.ndim == 1 else found

        one = compute(first)
        called = getattr(function, "__name__", "function")
        if one.ndim != 2 or len(one) != 1 or one.shape[1] == 0:
            raise InputValueError(
                f"A function in `features` must return one row of numbers per frame; {called} returned shape "
                f"{one.shape} for 1 frame."
            )
        d = one.shape[1]
        default = [called] if d == 1 else [f"{called} {at + 1}" for at in range(d)]
        names = tuple(default if self.names is None else self.names)
        if len(names) != d:
            raise InputValueError(
                f"`names` must name the {d} columns that {called} returns; got {len(names)} of them."
            )
        atoms = atoms_of(first.topology, self.selection, name="features")
        return Columns(names=names, unit=self.unit, periods=(self.period,) * d, atoms=atoms, compute=compute)

    def spec(self) -> dict[str, Any]:
        """Return a description of the function without its code."""
        return super().spec() | {"function": None}

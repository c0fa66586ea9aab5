"""The structures of frames: loaded atoms, or all atoms read again from the sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, ReadOnly, check_choice
from mdfuzzy.frames._frame_numbers import ascending_frames, check_frames
from mdfuzzy.frames._provenance import Source, source_frames
from mdfuzzy.frames._reading_back import read_back, source_topology, stream_back

if TYPE_CHECKING:
    import mdtraj as md


class Structures(ReadOnly, ABC):
    """The base class of data whose frames may have structures.

    Attributes
    ----------
    times : (n,) float64 or None
        Times in ps.
    topology : md.Topology or None
        The atoms of the frames.
    sources : tuple of Source
        The sources that the frames were read from.
    top : str, md.Topology or None
        The topology of the sources, or the file that holds it.
    atoms : (atoms,) int64 or None
        The indices of the atoms of `topology` in the sources.
    whole : bool
        Whether molecules were put together across the periodic boundary.
    """

    times: np.ndarray | None = None
    topology: md.Topology | None = None
    sources: tuple[Source, ...] = ()
    top: str | md.Topology | None = None
    atoms: np.ndarray | None = None
    whole: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """The number of frames."""

    @property
    def coordinates(self) -> np.ndarray | None:
        """Coordinates of the atoms in nm, (n, atoms, 3) float32; None if they are not known."""
        return None

    @property
    def fit_atoms(self) -> np.ndarray | None:
        """The atoms of the sources used to superpose structures for viewing; by default `atoms`."""
        return self.atoms

    @property
    def has_structures(self) -> bool:
        """Whether `trajectory` can return structures of the frames."""
        return self.topology is not None and (self.coordinates is not None or bool(self.sources))

    def trajectory(
        self, indices: npt.ArrayLike | None = None, *, atoms: Literal["loaded", "all"] = "loaded"
    ) -> md.Trajectory:
        """Return chosen frames as an `md.Trajectory`.

        Parameters
        ----------
        indices : (m,) array of int, optional
            Frames, in any order; all by default.
        atoms : {"loaded", "all"}
            ``"loaded"`` returns the atoms of `topology`, centred. ``"all"`` reads the source files again and
            returns all atoms with their box.

        Returns
        -------
        md.Trajectory
            The frames, with times in ps if they are known; otherwise mdtraj numbers the frames.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> frames = mf.datasets.alanine_dipeptide()
        >>> frames.trajectory([0, 100])
        <mdtraj.Trajectory with 2 frames, 10 atoms, 3 residues, without unitcells at 0x...>
        """
        check_choice("atoms", atoms, ("loaded", "all"))
        chosen = check_frames(np.arange(len(self)) if indices is None else indices, len(self))
        if chosen.ndim != 1 or chosen.size == 0:
            raise InputValueError(
                f"`indices` must be a list of at least one frame; got shape {chosen.shape}."
            )
        if self.topology is None:
            raise InputValueError(
                "These frames have no topology, because they come from arrays. Give `top` to `load`, or "
                "`frames` to `Features`."
            )
        return self._loaded(chosen, self.topology.copy()) if atoms == "loaded" else self._read_back(chosen)

    def stream(self, indices: npt.ArrayLike) -> Iterator[tuple[np.ndarray, md.Trajectory]]:
        """Yield chosen frames with all their atoms in parts of a few megabytes, each source read once.

        Parameters
        ----------
        indices : (m,) array of int
            Frames, in ascending order.

        Yields
        ------
        (p,) int64, md.Trajectory
            The numbers of some of the frames, and these frames as they are in the source files.

        Examples
        --------
        >>> import numpy as np, mdfuzzy as mf
        >>> frames = mf.datasets.alanine_dipeptide()
        >>> parts = list(frames.stream(np.arange(0, 30000, 2)))
        >>> len(parts) > 1, sum(len(part) for _, part in parts)
        (True, 15000)
        """
        chosen = ascending_frames(indices, len(self))
        self.sources_of(chosen)
        topology = self.source_topology
        restore = self._restorer(topology)
        for numbers, part in stream_back(self.sources, topology, chosen):
            restore(part)
            self._check_same(part.xyz, numbers)
            if self.times is not None:
                part.time = self.times[numbers]
            yield numbers, part

    @property
    def source_topology(self) -> md.Topology:
        """A copy of the topology of all atoms of the sources, or of `topology` if there are no sources."""
        top = self.topology if self.top is None else self.top
        if top is None:
            raise InputValueError("These frames have no topology, because they come from arrays.")
        return source_topology(top)

    def _read_back(self, chosen: np.ndarray) -> md.Trajectory:
        self.sources_of(chosen)
        times = None if self.times is None else self.times[chosen]
        assert self.top is not None, "what has sources and a topology has this"
        found = read_back(self.sources, self.top, chosen, times=times)
        self._restorer(found.topology)(found)
        self._check_same(found.xyz, chosen)
        return found

    def _restorer(self, topology: md.Topology) -> Callable[[md.Trajectory], None]:
        """Return a function that makes molecules whole across the periodic boundary, as during loading."""
        from mdfuzzy.frames._periodic import has_box, make_whole
        from mdfuzzy.frames._selection import Bonds

        if not self.whole or self.atoms is None:
            return lambda part: None
        trees = Bonds.of(topology).trees(self.atoms)

        def restore(part: md.Trajectory) -> None:
            if has_box(part):
                make_whole(part.xyz, part.unitcell_lengths, part.unitcell_angles, trees)

        return restore

    def _check_same(self, xyz: np.ndarray, chosen: np.ndarray) -> None:
        """Raise if coordinates that were read again differ from known loaded coordinates."""

    def _loaded(self, chosen: np.ndarray, topology: md.Topology) -> md.Trajectory:
        """Return the centred atoms of `topology`, from memory if they are there, otherwise read again."""
        import mdtraj as md

        if self.coordinates is None:
            xyz = self._read_back(chosen).xyz[:, self.atoms]
            xyz = xyz - xyz.mean(axis=1, keepdims=True)
        else:
            xyz = self.coordinates[chosen]
        return md.Trajectory(xyz, topology, None if self.times is None else self.times[chosen])

    def sources_of(self, indices: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the source of each of the frames `indices`, and the number of the frame in the source.

        Examples
        --------
        >>> import mdfuzzy as mf
        >>> frames = mf.datasets.alanine_dipeptide(stride=10)
        >>> places, numbers = frames.sources_of([7, 2500])
        >>> [(frames.sources[place].path[-11:], int(n)) for place, n in zip(places, numbers)]
        [('ala2_00.xtc', 70), ('ala2_03.xtc', 5000)]
        """
        if not self.sources:
            raise InputValueError(
                "These frames have no sources to read them from again. Use the loaded atoms."
            )
        return source_frames(self.sources, check_frames(indices, len(self)))

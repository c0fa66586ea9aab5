"""Load trajectory files, objects or arrays as `Frames`, one chunk at a time."""

from __future__ import annotations

import filecmp
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_optional_bool, check_type
from mdfuzzy._messages import warn_user
from mdfuzzy.frames._accumulator import Store
from mdfuzzy.frames._clock import Clock
from mdfuzzy.frames._elsewhere import are_readable, read_elsewhere
from mdfuzzy.frames._extraction import make_plan, make_plan_for_arrays
from mdfuzzy.frames._mdanalysis import (
    UniversePiece,
    Universes,
    is_of_mdanalysis,
    kept_places,
    open_universes,
)
from mdfuzzy.frames._readers import Piece, expand
from mdfuzzy.frames._topologies import find_topology
from mdfuzzy.frames._window import Window
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.joining import load_ensembles
from mdfuzzy.frames.symmetry import Symmetry
from mdfuzzy.frames.weights import Weights

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames._equivalent import Wanted
    from mdfuzzy.frames._readers import Items as Items
    from mdfuzzy.frames._topologies import Top as Top
    from mdfuzzy.frames.aligned import AlignedFrames
    from mdfuzzy.workers.cluster import Client

logger = logging.getLogger("mdfuzzy")


def load(
    paths: Items,
    *,
    top: Top = None,
    atoms: str | npt.ArrayLike | Mapping[str, str | npt.ArrayLike] | None = None,
    align: str | npt.ArrayLike | None = None,
    reference: str | os.PathLike[str] | md.Trajectory | AlignedFrames | None = None,
    mass_weighted: bool = False,
    symmetry: Wanted = None,
    stride: int = 1,
    begin: float | None = None,
    end: float | None = None,
    whole: bool | None = None,
    timestep: float | None = None,
    lengths: Sequence[int] | None = None,
    weights: Weights | None = None,
    log_weights: Weights | None = None,
    temperature: float | None = None,
    scratch: str | os.PathLike[str] | None = None,
    tops: Mapping[str, Top] | None = None,
    shares: Mapping[str, float] | None = None,
    progress: bool | None = None,
    client: Client | None = None,
) -> Frames:
    """Load trajectories, keeping the selected atoms only.

    Files are read in chunks, so the memory holds only the result and one chunk, however much solvent there
    is. PDB and mmCIF files are an exception: mdtraj reads them whole.

    Parameters
    ----------
    paths : path, glob, md.Trajectory, (n, atoms, 3) array in nm, Universe, AtomGroup, or a list of these
        Each item is a separate trajectory. A list inside the list holds the pieces of one trajectory, such as
        the files of a run and its restarts; a frame that two pieces share is loaded once. An AtomGroup of
        MDAnalysis is also the selection; its universe stays at its current frame. A dict of such items holds
        several ensembles by name, which are joined as by `join_ensembles`; `atoms` may then be a dict, too,
        with atoms that are matched by their order.
    top : path, md.Topology or md.Trajectory, optional
        The topology, for formats that do not include one.
    atoms : str or (m,) array of int, optional
        A selection in the language of mdtraj, or atom indices; not with an AtomGroup. By default the heavy
        atoms of the solute, without hydrogens, water and ions of a single atom.
    align : str, (m,) array of int or AtomGroup, optional
        Superpose every frame by these atoms on one structure, and compare `atoms` without another
        superposition, for example the poses of a ligand relative to its protein. Molecules are moved to the
        periodic image nearest to these atoms. By default each pair of frames is superposed by `atoms`.
    reference : path, md.Trajectory or AlignedFrames, optional
        The structure on which frames are aligned; by default the first frame of the first file. Pass
        `AlignedFrames` to use their reference, so that new frames can be compared with them (`assign`).
    mass_weighted : bool
        Whether atoms are weighted by their masses, in the RMSD and in the alignment.
    symmetry : True, "graph", str, list or Symmetry, optional
        Compare frames by the least RMSD over exchanges of symmetry-equivalent atoms, such as the two sides of
        a phenyl ring. True finds the permutations that keep chirality, from the bonds within each residue
        or ligand (from distances if the topology lacks bonds). "graph" finds all automorphisms of the bonded
        graph, which also exchange the methyl groups of Val and Leu. Permutations can also be given, as atom
        names within a residue, ``"C2 C6, C3 C5; N1 N2"``, where commas join simultaneous exchanges; or as
        lists of cycles of atom indices, ``[[(2, 6), (3, 5)], [(8, 9)]]``. The `symmetry` of other frames is
        used unchanged. By default there is a warning if heavy atoms are equivalent; False suppresses it.
    stride : int
        Load every Nth frame.
    begin, end : float, optional
        Load only frames between these times in ps, inclusive, for example to omit the equilibration. Files
        without times also need `timestep`. The stride counts from the first of these frames.
    whole : bool, optional
        Whether to make molecules whole that are broken across the periodic boundary. By default they are
        made whole if there are both a box and bonds.
    timestep : float, optional
        Time between the frames of the files in ps, for formats without times (DCD, LAMMPS, PDB, ...), for
        arrays, and for files with wrong times, which are replaced with a warning.
    lengths : sequence of int, optional
        The number of frames of each trajectory, if `paths` is one array that holds several.
    weights, log_weights : array, path, or sequence of them, optional
        Weights of the frames of a biased simulation, or their logarithms, one for each loaded frame; or
        COLVAR files of PLUMED, one for each trajectory: see `Frames.weighted`.
    temperature : float, optional
        The temperature in K, if the COLVAR files hold a bias in kJ/mol.
    scratch : path, optional
        A folder on a disk with room for all frames, for frames that do not fit into memory. It is created if
        needed. Large arrays are then kept in temporary files there, which have no name and are deleted with
        the frames. Only the parts in use are in memory.
    tops : mapping of str to path, md.Topology or md.Trajectory, optional
        The topology of each ensemble that does not have the topology `top`.
    shares : mapping of str to float, optional
        The total weight of each ensemble, up to a constant; by default the same for all.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    client : distributed.Client, optional
        Read the trajectories on the workers of this Dask cluster, each as one task, if the workers see the
        files under the same paths. The result has the same bits.

    Returns
    -------
    Frames
        Centred coordinates with the trajectory boundaries, times, topology and backbone torsions. With
        `align`, the result is `AlignedFrames`, whose coordinates are superposed on the reference.

    Warns
    -----
    UserWarning
        If the selection spans several molecules or contains symmetry-equivalent atoms; if `symmetry` omits
        some of them, because there would be too many permutations; if some of the files hold no times, so
        that all times are dropped, or hold times that contradict `timestep`; if the topology is also among
        the trajectories, or a file is given twice; if a trajectory has no frames between `begin` and `end`,
        so that it is omitted; if the distances between the atoms of two files differ by the factor between nm
        and Angstrom; if the header of a DCD file states a wrong number of frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> folder = mf.datasets.folder()
    >>> mf.load(folder / "ala2_*.xtc", top=folder / "ala2.pdb", atoms="name N CA C", stride=10)
    Frames(... frames of 6 atoms in ... trajectories; ...; phi and psi of ALA2)
    """
    if isinstance(paths, Mapping):
        return load_ensembles(
            load,
            paths,
            top=top,
            tops=tops,
            atoms=atoms,
            shares=shares,
            align=align,
            reference=reference,
            mass_weighted=mass_weighted,
            stride=stride,
            begin=begin,
            end=end,
            whole=whole,
            timestep=timestep,
            lengths=lengths,
            weights=weights,
            log_weights=log_weights,
            temperature=temperature,
            progress=progress,
            client=client,
        )
    for name, value in (("tops", tops), ("shares", shares)):
        if value is not None:
            raise InputValueError(
                f"`{name}` must be left out unless `paths` is a dict of ensembles; got {value!r}."
            )
    if isinstance(atoms, Mapping):
        raise InputTypeError(
            f"`atoms` must be a selection or indices unless `paths` is a dict of ensembles; got {atoms!r}."
        )
    window = Window(stride=stride, begin=begin, end=end, timestep=timestep)
    check_optional_bool("whole", whole)
    check_type("mass_weighted", mass_weighted, bool)
    if reference is not None and align is None:
        raise InputValueError(
            "`reference` must be left out without `align`: each pair of frames is superposed then. Say which "
            "atoms to align, for example `align='name CA'`."
        )
    compare: dict[str, Any] = {"align": align, "reference": reference, "mass_weighted": mass_weighted}
    compare["symmetry"] = symmetry
    trajectories, handle, store = _open(paths, lengths, top, atoms, whole, compare, check_scratch(scratch))
    logger.info("loading %s", store.plan.selection)
    fill(store, trajectories, window, top=top, handle=handle, progress=progress, client=client)
    options = {"mass_weighted": mass_weighted, "whole": whole, **vars(window)}
    given = symmetry.cycles(store.plan.atoms) if isinstance(symmetry, Symmetry) else symmetry
    reading = reading_arguments(trajectories, top, atoms, align, reference, symmetry=given, **options)
    frames = store.frames(handle, reading=reading)
    if store.moved:
        logger.info(f"molecules moved to their nearest image in {store.moved:,} of {len(frames):,} frames")
    return frames.weighted(weights, log_weights=log_weights, temperature=temperature)


def fill(
    store: Store,
    trajectories: list[list[Piece]],
    window: Window,
    *,
    top: Top,
    handle: str | md.Topology | None,
    progress: bool | None,
    client: Client | None = None,
) -> None:
    """Read trajectories into a store, here or on the workers of a cluster."""
    from tqdm import tqdm

    check_optional_bool("progress", progress)
    pieces = [piece for trajectory in trajectories for piece in trajectory]
    _warn_of_topology(pieces, handle, top)
    _warn_of_repeats(pieces)
    universes = [piece.universe for piece in pieces if isinstance(piece, UniversePiece)]
    clock = Clock(window.timestep)
    # With disable=None tqdm checks whether it writes to a terminal.
    with (
        kept_places(universes),
        tqdm(unit=" frames", disable=None if progress is None else not progress) as bar,
    ):
        if not bar.disable:
            counts = [piece.frame_count() for piece in pieces]
            bar.total = None if None in counts else sum(counts)
        if client is not None and are_readable(client, trajectories):
            read_elsewhere(store, trajectories, window, clock=clock, bar=bar, client=client)
        else:
            for trajectory in trajectories:
                store.add_trajectory(trajectory, window, clock=clock, bar=bar)
    clock.warn_of_replaced()
    if not store.lengths:
        raise InputValueError(f"`begin` and `end` must leave some frames; no trajectory has frames {window}.")


def _open(
    paths: Items,
    lengths: Sequence[int] | None,
    top: Top,
    atoms: str | npt.ArrayLike | None,
    whole: bool | None,
    compare: dict[str, Any],
    scratch: Path | None,
) -> tuple[list[list[Piece]], str | md.Topology | None, Store]:
    """Return the pieces of every trajectory, the source of their topology, and the store for them."""
    trajectories, topology, handle, universes = open_trajectories(paths, lengths, top)
    if universes is not None:
        chosen = universes.chosen(atoms)
        compare = compare | {"align": universes.places(compare["align"])}
        plan = make_plan(universes.topology, chosen, whole, words=universes.words, **compare)
    elif topology is None:
        n_atoms = trajectories[0][0].n_atoms
        assert n_atoms is not None, "these are arrays"
        plan = make_plan_for_arrays(n_atoms, atoms, whole, **compare)
    else:
        plan = make_plan(topology, atoms, whole, **compare)
    return trajectories, handle, Store(plan, topology, scratch)


def check_scratch(scratch: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder for frames that do not fit into memory, or raise if the path is a file."""
    if scratch is None:
        return None
    folder = Path(scratch).expanduser()
    if folder.exists() and not folder.is_dir():
        raise InputValueError(f"`scratch` must be a folder; got the file {str(scratch)!r}. Give another one.")
    return folder


def open_trajectories(
    paths: Items, lengths: Sequence[int] | None, top: Top
) -> tuple[list[list[Piece]], md.Topology | None, str | md.Topology | None, Universes | None]:
    """Return the pieces of every trajectory, their topology, its source, and universes."""
    if not is_of_mdanalysis(paths):
        trajectories = expand(paths, lengths)
        pieces = [piece for trajectory in trajectories for piece in trajectory]
        return trajectories, *find_topology(pieces, top), None
    for name, value in (("top", top), ("lengths", lengths)):
        if value is not None:
            raise InputTypeError(
                f"`{name}` must not be given with universes of MDAnalysis, which have their own; got "
                f"{type(value).__name__}. Leave it out."
            )
    universes = open_universes(paths)
    trajectories = [list(pieces) for pieces in universes.trajectories]
    return trajectories, universes.topology, universes.topology, universes


def _warn_of_topology(pieces: list[Piece], handle: str | md.Topology | None, top: Top) -> None:
    """Warn if a pattern such as ``*`` matches the topology."""
    if top is not None and len(pieces) > 1 and handle in [piece.path for piece in pieces if piece.path]:
        warn_user(
            f"{handle!r} is the topology and also one of the trajectories: its frames are loaded too. Leave "
            f"it out of `paths` if that is not what you want."
        )


def _warn_of_repeats(pieces: list[Piece]) -> None:
    """Warn if a file is given twice, also under another name or as a copy."""
    places: dict[tuple[int, int], Piece] = {}
    contents: dict[tuple[int, bytes], str] = {}  # files by size and first bytes
    for piece in pieces:
        if piece.path is None:
            continue
        status = os.stat(piece.path)
        first = places.setdefault((status.st_dev, status.st_ino), piece)
        words = None
        if first is not piece:
            words = "is given twice" if first.path == piece.path else f"is given twice, also as {first.name}"
        elif os.path.isfile(piece.path):
            with open(piece.path, "rb") as file:
                other = contents.setdefault((status.st_size, file.read(4096)), piece.path)
            if other != piece.path and filecmp.cmp(other, piece.path, shallow=False):
                words = f"is a copy of {other!r}"
        if words is not None:
            warn_user(f"{piece.name} {words}: its frames are loaded twice and count double. Leave one out.")


def reading_arguments(
    trajectories: list[list[Piece]],
    top: Top,
    atoms: str | npt.ArrayLike | None,
    align: str | npt.ArrayLike | None,
    reference: str | os.PathLike[str] | md.Trajectory | AlignedFrames | None,
    **options: object,
) -> dict[str, object] | None:
    """Return the arguments that read the same frames again, as JSON can hold them; None without files."""
    paths = [[piece.path for piece in pieces] for pieces in trajectories]
    files: dict[str, str | None] = {}
    for name, file in (("top", top), ("reference", reference)):
        if file is not None and not isinstance(file, str | os.PathLike):
            return None
        files[name] = None if file is None else os.path.abspath(os.path.expanduser(os.fspath(file)))
    if not all(map(all, paths)):
        return None
    selections = {
        name: each if each is None or isinstance(each, str) else np.asarray(each).tolist()
        for name, each in (("atoms", atoms), ("align", align))
    }
    return {"paths": paths, **files, **selections, **options}

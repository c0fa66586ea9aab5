"""From trajectory files, objects or arrays to `Frames`, one chunk at a time."""

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputTypeError, InputValueError, check_optional_bool, check_type
from mdfuzzy._messages import warn_user
from mdfuzzy.frames import _formats
from mdfuzzy.frames._accumulator import Store
from mdfuzzy.frames._extraction import make_plan, make_plan_for_arrays
from mdfuzzy.frames._mdanalysis import UniversePiece, is_of_mdanalysis, kept_places, open_universes
from mdfuzzy.frames._readers import FilePiece, Piece, expand
from mdfuzzy.frames._window import Window
from mdfuzzy.frames.frames import Frames
from mdfuzzy.frames.weights import Weights

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.frames._readers import Items
    from mdfuzzy.frames.aligned import AlignedFrames

    Top: TypeAlias = str | os.PathLike[str] | md.Topology | md.Trajectory | None

logger = logging.getLogger("mdfuzzy")


def load(
    paths: "Items",
    *,
    top: "Top" = None,
    atoms: str | npt.ArrayLike | None = None,
    align: str | npt.ArrayLike | None = None,
    reference: "str | os.PathLike[str] | md.Trajectory | AlignedFrames | None" = None,
    mass_weighted: bool = False,
    stride: int = 1,
    begin: float | None = None,
    end: float | None = None,
    whole: bool | None = None,
    timestep: float | None = None,
    lengths: Sequence[int] | None = None,
    weights: Weights | None = None,
    log_weights: Weights | None = None,
    temperature: float | None = None,
    progress: bool | None = None,
) -> Frames:
    """Load trajectories, keeping the selected atoms only.

    Files are read in chunks, so the memory needed is that of the result plus one chunk, however much
    solvent there is (except for PDB and mmCIF files, which mdtraj reads whole).

    Parameters
    ----------
    paths : path, glob, md.Trajectory, (n, atoms, 3) array in nm, Universe, AtomGroup, or a list of these
        Each is a trajectory of its own. A list inside the list holds the pieces of one trajectory, such as
        the files of a run and its restarts; a frame that two pieces share is loaded once. An AtomGroup of
        MDAnalysis is also the selection; its universe is left at the frame where it is.
    top : path, md.Topology or md.Trajectory, optional
        The topology, for formats that have none.
    atoms : str or (m,) array of int, optional
        A selection in the language of mdtraj, or atom indices; not with an AtomGroup. By default the heavy
        atoms of the solute: no hydrogens, no water, no ions of a single atom.
    align : str, (m,) array of int or AtomGroup, optional
        Superpose every frame by these atoms on one structure, and compare `atoms` without another
        superposition: the poses of a ligand in the frame of its protein, for example. Molecules are moved
        to the periodic image nearest to these atoms. By default each pair of frames is superposed by `atoms`.
    reference : path, md.Trajectory or AlignedFrames, optional
        The structure on which frames are aligned; by default the first frame of the first file. Frames that
        were aligned before lend theirs, so that new frames can be compared with them (`assign`).
    mass_weighted : bool
        Whether atoms are weighted by their masses, in the RMSD and in the alignment.
    stride : int
        Load every stride-th frame.
    begin, end : float, optional
        Load only frames of these times in ps, both included, for example to leave out the equilibration.
        Files without times need `timestep` as well. The stride counts from the first of these frames.
    whole : bool, optional
        Whether to put molecules together that the periodic boundary divides. By default where there are
        both a box and bonds.
    timestep : float, optional
        Time between the frames of the file in ps, for formats without times (DCD, LAMMPS, PDB, ...) and for
        arrays. Times that a file holds are kept; if they are further or less apart there is a warning.
    lengths : sequence of int, optional
        The frames of each trajectory, if `paths` is one array that holds several.
    weights, log_weights : array, path, or sequence of them, optional
        Weights of the frames of a biased simulation, or their logarithms, one for each frame that is
        loaded; or PLUMED's COLVAR files, one for each trajectory: see `Frames.weighted`.
    temperature : float, optional
        The temperature in K, if these files hold a bias in kJ/mol.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.

    Returns
    -------
    Frames
        Centred coordinates with the trajectory boundaries, times, topology and backbone torsions. With
        `align` `AlignedFrames`, whose coordinates are superposed on the reference.

    Warns
    -----
    UserWarning
        If the selection spans several molecules, or contains atoms that a rotation exchanges; if some of the
        files hold no times, so that all times are dropped, or hold others than `timestep` says; if the
        topology is also among the trajectories, or a file is given twice; if a trajectory has no frames
        between `begin` and `end`, so that it is left out; if the distances between the atoms
        of two files differ as nm and Angstrom do; if the header of a DCD file counts other frames than it
        holds.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> folder = mf.datasets.folder()
    >>> mf.load(folder / "ala2_*.xtc", top=folder / "ala2.pdb", atoms="name N CA C", stride=10)
    Frames(... frames of 6 atoms in ... trajectories; ...; phi and psi of ALA2)
    """
    from tqdm import tqdm

    window = Window(stride=stride, begin=begin, end=end, timestep=timestep)
    check_optional_bool("whole", whole)
    check_optional_bool("progress", progress)
    check_type("mass_weighted", mass_weighted, bool)
    if reference is not None and align is None:
        raise InputValueError(
            "`reference` must be left out without `align`: each pair of frames is superposed then. Say which "
            "atoms to align, for example align='name CA'."
        )
    compare = {"align": align, "reference": reference, "mass_weighted": mass_weighted}
    trajectories, handle, store = _open(paths, lengths, top, atoms, whole, compare)
    pieces = [piece for trajectory in trajectories for piece in trajectory]
    logger.info("loading %s", store.plan.selection)
    _warn_of_topology(pieces, handle, top)
    _warn_of_repeats(pieces)
    universes = [piece.universe for piece in pieces if isinstance(piece, UniversePiece)]
    # With disable=None tqdm looks whether it writes to a terminal.
    with (
        kept_places(universes),
        tqdm(unit=" frames", disable=None if progress is None else not progress) as bar,
    ):
        if not bar.disable:
            counts = [piece.frame_count() for piece in pieces]
            bar.total = None if None in counts else sum(counts)
        for trajectory in trajectories:
            store.add_trajectory(trajectory, window, bar=bar)
    if not store.lengths:
        raise InputValueError(f"`begin` and `end` must leave some frames; no trajectory has frames {window}.")
    options = {"mass_weighted": mass_weighted, "whole": whole, **vars(window)}
    reading = _reading(trajectories, top, atoms, align, reference, **options)
    frames = store.frames(handle, reading=reading)
    if store.moved:
        logger.info(f"molecules moved to their nearest image in {store.moved:,} of {len(frames):,} frames")
    return frames.weighted(weights, log_weights=log_weights, temperature=temperature)


def _open(
    paths: "Items",
    lengths: Sequence[int] | None,
    top: "Top",
    atoms: str | npt.ArrayLike | None,
    whole: bool | None,
    compare: dict[str, Any],
) -> "tuple[list[list[Piece]], str | md.Topology | None, Store]":
    """Return the pieces of every trajectory, what their topology can be found from, and where they go."""
    if is_of_mdanalysis(paths):
        for name, value in (("top", top), ("lengths", lengths)):
            if value is not None:
                raise InputTypeError(
                    f"`{name}` must not be given with universes of MDAnalysis, which have their own; got "
                    f"{type(value).__name__}. Leave it out."
                )
        universes = open_universes(paths)
        if atoms is not None and universes.atoms is not None:
            raise InputTypeError(
                f"`atoms` must not be given with an AtomGroup, which is the selection; got {atoms!r}. Leave "
                f"it out, or pass the universe."
            )
        topology = universes.topology
        chosen = atoms if universes.atoms is None else universes.atoms
        compare = compare | {"align": universes.places(compare["align"])}
        plan = make_plan(topology, chosen, whole, words=universes.words, **compare)
        return [list(pieces) for pieces in universes.trajectories], topology, Store(plan, topology)
    trajectories = expand(paths, lengths)
    pieces = [piece for trajectory in trajectories for piece in trajectory]
    topology, handle = _find_topology(pieces, top)
    if topology is None:
        assert pieces[0].n_atoms is not None, "these are arrays"
        plan = make_plan_for_arrays(pieces[0].n_atoms, atoms, whole, **compare)
    else:
        plan = make_plan(topology, atoms, whole, **compare)
    return trajectories, handle, Store(plan, topology)


def _warn_of_topology(pieces: list[Piece], handle: "str | md.Topology | None", top: "Top") -> None:
    """Warn if a pattern such as ``*`` has caught the topology."""
    if top is not None and len(pieces) > 1 and handle in [piece.path for piece in pieces if piece.path]:
        warn_user(
            f"{handle!r} is the topology and also one of the trajectories: its frames are loaded too. Leave "
            f"it out of `paths` if that is not what you want."
        )


def _warn_of_repeats(pieces: list[Piece]) -> None:
    """Warn if a file is given twice, under whatever name."""
    seen: dict[tuple[int, int], Piece] = {}
    for piece in pieces:
        if piece.path is not None:
            status = os.stat(piece.path)
            first = seen.setdefault((status.st_dev, status.st_ino), piece)
            if first is not piece:
                other = "" if first.path == piece.path else f", also as {first.name}"
                warn_user(
                    f"{piece.name} is given twice{other}: its frames are loaded twice and count double. "
                    f"Leave one out."
                )


def _reading(
    trajectories: list[list[Piece]],
    top: "Top",
    atoms: str | npt.ArrayLike | None,
    align: str | npt.ArrayLike | None,
    reference: "str | os.PathLike[str] | md.Trajectory | AlignedFrames | None",
    **options: float | bool | None,
) -> dict[str, object] | None:
    """Return the arguments that read the same frames again, in terms that JSON has; None without files."""
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


def _find_topology(pieces: list[Piece], top: "Top") -> "tuple[md.Topology | None, str | md.Topology | None]":
    """Return the topology of the sources, and what it can be found from again: its file or itself."""
    import mdtraj as md

    handle: str | md.Topology | None
    if isinstance(top, str | os.PathLike):
        handle = os.path.abspath(os.path.expanduser(os.fspath(top)))
        topology = _formats.read_topology(handle)
    elif isinstance(top, md.Topology | md.Trajectory):
        topology = handle = top.topology if isinstance(top, md.Trajectory) else top
    elif top is not None:
        raise InputTypeError(
            f"`top` must be a path, an md.Topology or an md.Trajectory; got {type(top).__name__}."
        )
    else:
        topology, handle = _own_topology(pieces)
    expected = pieces[0].n_atoms if topology is None else topology.n_atoms
    for piece in pieces:
        if piece.n_atoms not in (None, expected):  # files are checked while they are read
            raise InputValueError(
                f"All trajectories must have the same atoms, those of `top` if it is given; got {piece.name} "
                f"with {piece.n_atoms} atoms instead of {expected}."
            )
    return topology, handle


def _own_topology(pieces: list[Piece]) -> "tuple[md.Topology | None, str | md.Topology | None]":
    """Return the topology that the pieces hold; None if they are arrays."""
    found = None
    for piece in pieces:
        topology = piece.topology()
        if topology is None:
            if isinstance(piece, FilePiece) and found is None:
                raise InputValueError(
                    f"`top` must be given for the format of {piece.name}, which does not name its atoms. "
                    f"Pass a PDB file or an md.Topology of the same atoms."
                )
        elif found is None:
            found = topology, piece
        else:
            _check_same_atoms(*found, topology, piece)
    if found is None:
        return None, None
    topology, piece = found
    return topology, topology if piece.path is None else piece.path


def _check_same_atoms(
    topology: "md.Topology", piece: Piece, other_topology: "md.Topology", other_piece: Piece
) -> None:
    ours, theirs = (
        [f"{atom.residue.name}-{atom.name}" for atom in each.atoms] for each in (topology, other_topology)
    )
    if len(ours) != len(theirs):
        difference = f"{len(ours)} and {len(theirs)} atoms"
    elif ours != theirs:
        at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        difference = f"{ours[at]} and {theirs[at]} as atom {at}"
    else:
        return
    raise InputValueError(
        f"All trajectories must have the same atoms; got {piece.name} and {other_piece.name} "
        f"with {difference}. Load them apart, or give `top` if only the names differ."
    )

"""Structures: representative frames of each state and each transition, with all their atoms."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mdfuzzy._atomic import new_files
from mdfuzzy._check import InputValueError, check_int
from mdfuzzy.exports._checks import check_structures
from mdfuzzy.exports._columns import frame_columns, write_csv
from mdfuzzy.exports._viewers import STRUCTURES, TRAJECTORIES, Shown, molecule_style, viewer_scripts
from mdfuzzy.exports.medoids import find_medoids, spread_by_weight
from mdfuzzy.exports.trajectory_files import Superposition, path_groups
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.states.cores import Cores

if TYPE_CHECKING:
    import mdtraj as md

#: Formats in which mdtraj writes the names of atoms.
_WITH_ATOMS = (".pdb", ".pdb.gz", ".cif", ".cif.gz", ".pdbx", ".pdbx.gz", ".gro", ".h5", ".gsd")
#: Formats in which it writes coordinates alone: a topology goes with them. (Not .lh5, which it has given up,
#: nor .dtr, in which times must ascend: ours are ranked.)
_COORDINATES = (
    *(".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".netcdf", ".ncrst", ".rst7"),
    *(".mdcrd", ".crd", ".lammpstrj", ".xyz", ".xyz.gz"),
)
#: Formats that hold one frame.
_ONE_FRAME = (".ncrst", ".rst7")
#: Formats that need a periodic box.
_WITH_BOX = (".lammpstrj", ".ncrst", ".rst7")
#: The number of bytes of coordinates in memory at a time, unless a single file has more.
_BATCH_BYTES = 256 * 2**20
#: Formats that need another package.
_PACKAGES = {".h5": "tables", ".gsd": "gsd"}

_README = """\
Structures of {states} states and {transition_regions} transition regions between them, chosen by mdfuzzy,
with {atoms}.

state_S_peak     the frame of the highest density of state S
state_S_medoid   the frame with the smallest mean RMSD to the frames of state S
state_S_core     frames of the core of state S, evenly spread over all its visits
transition_A_B   the frames most evenly divided between states A and B, ordered along the path from A to B
structures.csv   for every frame: the structure file, its place there (from 0), trajectory, frame and time,
                 torsions, state, core, memberships, and where it was read from (source, source_frame)
view.pml, view.vmd, view.cxc   open all of it in PyMOL, VMD and ChimeraX, coloured as in the report
{topology}
{coordinates}
"""
_SUPERPOSED = """\
All structures are superposed on the peak of state 0 by the clustered atoms, so that they can be viewed
together. The periodic box is left out, because rotated coordinates do not fit into it."""
_AS_READ = "Coordinates and periodic box are taken from the source files unchanged."


def write_structures(
    folder: str | os.PathLike[str],
    result: Result,
    *,
    n: int = 5,
    format: str = "pdb",
    superpose: bool = True,
    overwrite: bool = False,
) -> Path:
    """Write the structures that show each state and each transition, with all atoms of the original files.

    Parameters
    ----------
    folder : path
        A new or empty folder.
    result : Clustering or Assignment
        Of frames. The chosen ones are read again from their files with all their atoms; if there are no files
        or objects to read from, the loaded atoms are written.
    n : int
        The largest number of frames of each core and of each transition region.
    format : str
        An extension that mdtraj writes, such as ``"pdb"``, ``"cif"``, ``"gro"``, ``"xtc"`` or ``"h5"``. With
        a format that has no names of atoms there is a file ``topology.pdb``, too.
    superpose : bool
        Superpose all structures on the peak of state 0, by the atoms that were clustered or, if frames were
        aligned on others, by those, to look at them together; the periodic box is then left out, for turned
        coordinates do not fit into it. False leaves coordinates and box as they are in the files, for
        instance to start simulations.
    overwrite : bool
        Write to a folder that holds files. Files of an earlier export are replaced or removed; all others are
        left unchanged.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the files already exist, and `overwrite` is False.
    ValueError
        If mdtraj does not write the format, or it needs a periodic box that the frames do not have.

    See Also
    --------
    exports.write_table : One line for every frame.
    exports.write_trajectories : All frames of each state.
    find_transition_regions : The transition frames that are written.

    Notes
    -----
    The folder holds

    - ``state_S_peak``: the frame of the highest density of state S;
    - ``state_S_medoid``: the frame with the smallest mean RMSD to the frames of state S (`find_medoids`);
    - ``state_S_core``: `n` other frames of its core. All core frames, in the order of the trajectories, are
      divided into `n` parts, and the middle frame of each part is taken. So they come from different visits,
      and are as typical of the core as randomly drawn frames, but reproducible. There is no file if the core
      holds only the peak;
    - ``transition_A_B``: the `n` most mixed transition frames, ordered along the path from A to B, by the
      share of B in the two memberships;
    - ``structures.csv``: for every structure its file and place in it, time, torsions, state, core,
      memberships, and where it was read from;
    - ``view.pml``, ``view.vmd``, ``view.cxc``: scripts that open all structures in PyMOL, VMD and ChimeraX,
      with the colours of the report (for the formats PDB, mmCIF, XTC, TRR and DCD);
    - ``README.txt``.

    Examples
    --------
    >>> import mdfuzzy as mf, tempfile
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=50), mf.Settings(prominence=1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new = mf.exports.write_structures(folder, result, n=3)
    ...     print(*sorted(path.name for path in new.glob("state_0*")))
    state_0_core.pdb state_0_medoid.pdb state_0_peak.pdb
    """
    frames, regions = check_structures(result)
    cores = result.cores
    n = check_int("n", n, 1)
    suffix = _check_format(format)
    groups = _choose(result, regions, n)
    atoms: Literal["all", "loaded"] = "all" if frames.sources else "loaded"
    reference = frames.trajectory(cores.peaks[:1], atoms=atoms)
    if suffix in _WITH_BOX and (superpose or reference.unitcell_vectors is None):
        which = "superposed structures" if superpose else "these frames"
        raise InputValueError(
            f"`format` must be one without a periodic box, because {which} have none; got {format!r}. Give "
            + ("superpose=False or another format." if superpose else "another format.")
        )
    turn = Superposition(frames, reference, atoms) if superpose else None
    with new_files(folder, "structures", overwrite=overwrite) as stage:
        places = []
        for name, part in _read(frames, groups, atoms, reference.n_atoms):
            part.time = part.time.astype(np.float64)  # without times mdtraj uses integers, and warns of them
            places += _save(turn(part) if turn else part, stage / name, suffix)
        if suffix not in _WITH_ATOMS:
            reference.save(stage / "topology.pdb")
        index = _index(places, groups, frames, cores, result.memberships)
        with open(stage / "structures.csv", "w", encoding="utf-8", newline="") as file:
            write_csv(file, index)
        text = _README.format(
            states=len(cores),
            transition_regions=len(regions),
            atoms="all atoms of the source files" if atoms == "all" else "the clustered atoms",
            topology="" if suffix in _WITH_ATOMS else "topology.pdb     the atoms of all these files\n",
            coordinates=_SUPERPOSED if superpose else _AS_READ,
        )
        (stage / "README.txt").write_text(text, encoding="utf-8")
        if suffix in (*STRUCTURES, *TRAJECTORIES):
            topology = None if suffix in STRUCTURES else "topology.pdb"
            shown = [_shown(name, suffix) for name in groups]
            style = molecule_style(reference.topology)
            for name, script in viewer_scripts(shown, len(cores), topology=topology, style=style).items():
                (stage / name).write_text(script, encoding="utf-8")
    return Path(folder).expanduser()


def core_frames(cores: Cores, state: int, n: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return at most `n` frames of a core other than its peak, evenly spread in the order of frames.

    If frames have weights, they are evenly spread over the weight.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> cores = mf.Cores(np.zeros(10), np.zeros(10), [4], [np.inf])
    >>> core_frames(cores, 0, 3)
    array([1, 5, 8])
    """
    others = np.flatnonzero(cores.core_of == state)
    others = others[others != cores.peaks[state]]
    return spread_by_weight(others, n, None if weights is None else weights[others])[0]


def _choose(result: Result, regions: TransitionRegions, n: int) -> dict[str, np.ndarray]:
    """Return the frames of each structure file by its name."""
    cores, groups = result.cores, {}
    weights = None if result.data is None else result.data.weights
    for state, (peak, medoid) in enumerate(zip(cores.peaks, find_medoids(result), strict=True)):
        groups[f"state_{state}_peak"] = np.array([peak], np.int64)
        groups[f"state_{state}_medoid"] = np.array([medoid] if medoid >= 0 else [], np.int64)
        groups[f"state_{state}_core"] = core_frames(cores, state, n, weights)
    groups |= path_groups(result, regions, n)
    return {name: chosen for name, chosen in groups.items() if len(chosen)}


def _shown(name: str, suffix: str) -> Shown:
    """Return the files that viewers open; only the medoids are visible at first."""
    kind, *rest = name.split("_")
    states = (int(rest[0]),) if kind == "state" else tuple(map(int, rest))
    return Shown(f"{name}{suffix}", states, name.endswith("_medoid"))


def _read(
    frames: Trajectories, groups: dict[str, np.ndarray], atoms: Literal["all", "loaded"], n_atoms: int
) -> Iterator[tuple[str, "md.Trajectory"]]:
    """Yield the structures of each group; many are read at once, as some formats allow no random access."""
    ends = np.cumsum([len(chosen) for chosen in groups.values()])
    batches = ends * 12 * n_atoms // _BATCH_BYTES
    for _, batch in groupby(zip(groups, batches, strict=True), key=lambda each: each[1]):
        names = [name for name, _ in batch]
        whole = frames.trajectory(np.concatenate([groups[name] for name in names]), atoms=atoms)
        start = 0
        for name in names:
            yield name, whole[start : start + len(groups[name])]
            start += len(groups[name])


def _save(part: "md.Trajectory", stem: Path, suffix: str) -> list[tuple[str, int]]:
    """Save a trajectory and return the file of each of its frames and the place there."""
    if suffix not in _ONE_FRAME:
        part.save(f"{stem}{suffix}")
        return [(f"{stem.name}{suffix}", place) for place in range(part.n_frames)]
    names = [f"{stem.name}_{place}{suffix}" for place in range(part.n_frames)]
    for frame, name in zip(part, names, strict=True):
        frame.save(stem.parent / name)
    return [(name, 0) for name in names]


def _index(
    places: list[tuple[str, int]],
    groups: dict[str, np.ndarray],
    frames: Trajectories,
    cores: Cores,
    memberships: Memberships,
) -> dict[str, list[Any] | np.ndarray]:
    """Return the columns of the table of all structures."""
    chosen = np.concatenate(list(groups.values()))
    columns: dict[str, list[Any] | np.ndarray] = {
        "structure": [name for name, _ in places],
        "place": [place for _, place in places],
    }
    columns |= frame_columns(frames, cores, memberships, chosen)
    if frames.sources:
        sources, numbers = frames.sources_of(chosen)
        columns["source"] = [frames.sources[source].path or "" for source in sources]
        columns["source_frame"] = numbers
    return columns


def _check_format(format: str) -> str:
    """Return the extension of a format that can be written here, or raise."""
    suffix = f".{str(format).lower().removeprefix('.')}"
    if suffix not in (*_WITH_ATOMS, *_COORDINATES):
        names = ", ".join(each.removeprefix(".") for each in (*_WITH_ATOMS, *_COORDINATES))
        raise InputValueError(f"`format` must be one that mdtraj writes: {names}; got {format!r}.")
    package = _PACKAGES.get(suffix)
    if package is not None and find_spec(package) is None:
        raise ImportError(
            f"`format` {format!r} needs the package `{package}`, which is missing: pip install {package}."
        )
    return suffix

"""Structures: the frames that show each state and each transition, with all their atoms, to look at."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mdfuzzy._atomic import new_files
from mdfuzzy._check import InputValueError, check_int, check_type
from mdfuzzy.exports._checks import check_states, check_transition_regions
from mdfuzzy.exports._columns import frame_columns, write_csv
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.memberships.memberships import Memberships
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
#: Formats that cannot do without a periodic box.
_WITH_BOX = (".lammpstrj", ".ncrst", ".rst7")
#: Bytes of coordinates that are in memory at a time, unless a single file has more.
_BATCH_BYTES = 256 * 2**20
#: Formats that need another package.
_PACKAGES = {".h5": "tables", ".gsd": "gsd"}

_README = """\
Structures of {states} states and {transition_regions} transition regions between them, chosen by mdfuzzy,
with {atoms}.

state_S_peak     the frame of the highest density of state S
state_S_core     frames of the core of state S, evenly spread over all its visits
transition_A_B    the frames most evenly divided between states A and B, the most mixed first
structures.csv   for every frame: the structure file, its place there (from 0), trajectory, frame and time,
                 torsions, state, core, memberships, and where it was read from (source, source_frame)
{topology}
{coordinates}
"""
_SUPERPOSED = """\
All structures are superposed on the peak of state 0 by the clustered atoms, so that they can be looked at
together. The periodic box is left out, because turned coordinates do not fit into it."""
_AS_READ = "Coordinates and periodic box are those of the source files."


def structures(
    folder: str | os.PathLike[str],
    frames: Trajectories,
    cores: Cores,
    memberships: Memberships,
    transition_regions: TransitionRegions,
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
    frames : Frames or Features
        What was clustered; features need a topology and sources. The chosen frames are read again from
        their files with all their atoms; if there are no files or objects to read from, the loaded atoms
        are written.
    cores : Cores
        Of these frames.
    memberships : Memberships
        Of these frames.
    transition_regions : TransitionRegions
        Between these states (`find_transition_regions`).
    n : int
        How many frames of each core and of each transition region, if it has as many.
    format : str
        An extension that mdtraj writes, such as ``"pdb"``, ``"cif"``, ``"gro"``, ``"xtc"`` or ``"h5"``. With
        a format that has no names of atoms there is a file ``topology.pdb``, too.
    superpose : bool
        Superpose all structures on the peak of state 0, by the atoms that were clustered or, if frames were
        aligned on others, by those, to look at them together; the periodic box is then left out, for turned
        coordinates do not fit into it. False leaves coordinates and box as they are in the files, for
        instance to start simulations.
    overwrite : bool
        Write to a folder that holds files: those of an earlier export are replaced or removed, all others are
        left as they are.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the files are there already, and `overwrite` is False.
    ValueError
        If mdtraj does not write the format, or it needs a periodic box that the frames do not have.

    See Also
    --------
    exports.frame_table : One line for every frame.
    find_transition_regions : The transition frames that are written.

    Notes
    -----
    The folder holds

    - ``state_S_peak``: the frame of the highest density of state S;
    - ``state_S_core``: `n` other frames of its core. All core frames, in the order of the trajectories, are
      divided into `n` parts, and the middle of each is taken: so they come from different visits, and are as
      typical of the core as frames drawn at random, but the same every time. No file if the peak is all there
      is;
    - ``transition_A_B``: the `n` most mixed transition frames, the most mixed first;
    - ``structures.csv``: for every structure its file and place in it, time, torsions, state, core,
      memberships, and where it was read from;
    - ``README.txt``.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf, tempfile
    >>> frames = mf.datasets.alanine_dipeptide(stride=10)
    >>> right = frames.phi[:, 0] > 0  # two states by hand, to be quick
    >>> values = np.column_stack([~right, right]).astype(float)
    >>> memberships = mf.Memberships(
    ...     values=values, lost=np.zeros(len(frames)), beta=2.0, log_weights=np.zeros(len(frames)),
    ...     exponent=1.0
    ... )
    >>> cores = mf.Cores(right, right, [np.argmin(right), np.argmax(right)], [np.inf, 3.0])
    >>> transition_regions = mf.find_transition_regions(frames, memberships, cores)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new = mf.exports.structures(folder, frames, cores, memberships, transition_regions, n=3)
    ...     print(*sorted(path.name for path in new.glob("[!.]*")))
    README.txt state_0_core.pdb state_0_peak.pdb state_1_core.pdb state_1_peak.pdb structures.csv
    """
    check_type("frames", frames, Trajectories, remedy="`load` and `featurize` make them.")
    check_states(frames, cores, memberships)
    check_transition_regions(frames, cores, transition_regions)
    n = check_int("n", n, 1)
    suffix = _check_format(format)
    groups = _choose(cores, transition_regions, n)
    atoms: Literal["all", "loaded"] = "all" if frames.sources else "loaded"
    reference = frames.trajectory(cores.peaks[:1], atoms=atoms)
    if suffix in _WITH_BOX and (superpose or reference.unitcell_vectors is None):
        which = "superposed structures" if superpose else "these frames"
        raise InputValueError(
            f"`format` must be one without a periodic box, because {which} have none; got {format!r}. Give "
            + ("superpose=False or another format." if superpose else "another format.")
        )
    with new_files(folder, "structures", overwrite=overwrite) as stage:
        places = []
        for name, part in _read(frames, groups, atoms, reference.n_atoms):
            part.time = part.time.astype(np.float64)  # for no times mdtraj has integers, and warns of them
            if superpose:
                part.unitcell_vectors = None
                if atoms == "all" or frames.fit_atoms is frames.atoms:  # otherwise they are aligned already
                    part.superpose(reference, atom_indices=frames.fit_atoms if atoms == "all" else None)
            places += _save(part, stage / name, suffix)
        if suffix not in _WITH_ATOMS:
            reference.save(stage / "topology.pdb")
        index = _index(places, groups, frames, cores, memberships)
        with open(stage / "structures.csv", "w", encoding="utf-8", newline="") as file:
            write_csv(file, index)
        text = _README.format(
            states=len(cores),
            transition_regions=len(transition_regions),
            atoms="all atoms of the source files" if atoms == "all" else "the clustered atoms",
            topology="" if suffix in _WITH_ATOMS else "topology.pdb     the atoms of all these files\n",
            coordinates=_SUPERPOSED if superpose else _AS_READ,
        )
        (stage / "README.txt").write_text(text, encoding="utf-8")
    return Path(folder).expanduser()


def core_frames(cores: Cores, state: int, n: int) -> np.ndarray:
    """Return at most `n` frames of a core beside its peak, evenly spread over all of them in their order.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> cores = mf.Cores(np.zeros(10), np.zeros(10), [4], [np.inf])
    >>> core_frames(cores, 0, 3)
    array([1, 5, 8])
    """
    others = np.flatnonzero(cores.core_of == state)
    others = others[others != cores.peaks[state]]
    n = min(n, len(others))
    return others[(2 * np.arange(n) + 1) * len(others) // max(1, 2 * n)]


def _choose(cores: Cores, transition_regions: TransitionRegions, n: int) -> dict[str, np.ndarray]:
    """Return the frames of each structure file by its name."""
    groups = {}
    for state, peak in enumerate(cores.peaks):
        groups[f"state_{state}_peak"] = np.array([peak], np.int64)
        groups[f"state_{state}_core"] = core_frames(cores, state, n)
    for (a, b), ranked in zip(transition_regions.pairs, transition_regions.frames, strict=True):
        groups[f"transition_{a}_{b}"] = ranked[:n]
    return {name: chosen for name, chosen in groups.items() if len(chosen)}


def _read(
    frames: Trajectories, groups: dict[str, np.ndarray], atoms: Literal["all", "loaded"], n_atoms: int
) -> Iterator[tuple[str, "md.Trajectory"]]:
    """Yield the structures of each group, many read at once: some formats are read from their beginning."""
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

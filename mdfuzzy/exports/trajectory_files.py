"""Trajectories of the frames of each state, and of each transition along its path."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mdfuzzy._atomic import new_files
from mdfuzzy._check import InputValueError, check_choice, check_int
from mdfuzzy.exports._checks import check_structures
from mdfuzzy.exports._columns import decimal_times, write_csv
from mdfuzzy.exports._elsewhere import can_read, write_elsewhere
from mdfuzzy.exports._splitting import split_by_group
from mdfuzzy.exports._viewers import Shown, molecule_style, viewer_scripts
from mdfuzzy.exports._writers import Format, TrajectoryWriter
from mdfuzzy.frames.superposition import Alignment
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.pipeline.assignment import Result

if TYPE_CHECKING:
    import mdtraj as md

    from mdfuzzy.workers.cluster import Client

Atoms = Literal["all", "loaded"]

#: The largest number of files that are open at a time; systems allow a few hundred.
_OPEN = 100
#: The number of bytes of coordinates in memory at a time if frames are not in the order of the files.
_BATCH_BYTES = 64 * 2**20
#: The number of rows of the table that are in memory at a time.
_ROWS = 50_000

_README = """\
Trajectories of {states} states and {regions} transition regions between them, found by mdfuzzy, with {atoms}.

state_S.{format}          {chosen}
transition_A_B.{format}   transition frames between states A and B, ordered along the path from A to B
trajectories.csv     for every frame: the file, its place there (from 0), state, trajectory, frame, time,
                     membership in its state, and where it was read from (source, source_frame)
view.pml, view.vmd, view.cxc   open all of it in PyMOL, VMD and ChimeraX, coloured as in the report
{topology}
{coordinates}
"""
_TOPOLOGY = "topology.pdb         the atoms of all these files, at the density peak of state 0\n"
_SUPERPOSED = """\
All frames are superposed on the density peak of state 0 by the clustered atoms. The periodic box is left out,
because rotated coordinates do not fit into it."""
_AS_READ = "Coordinates and periodic box are taken from the source files unchanged."


def write_trajectories(
    folder: str | os.PathLike[str],
    result: Result,
    *,
    n: int | None = None,
    every: int = 1,
    format: Format = "xtc",
    atoms: Atoms = "all",
    superpose: bool = True,
    overwrite: bool = False,
    client: "Client | None" = None,
) -> Path:
    """Write the frames of each state, and of each transition along its path, as trajectories.

    The files are read once and written as they are read: memory does not depend on the number of frames.

    Parameters
    ----------
    folder : path
        A new or empty folder.
    result : Clustering or Assignment
        Of frames.
    n : int, optional
        Write only the n frames of highest membership of each state, the highest first (among equal
        memberships, the highest density first), and the n most mixed frames of each transition. By default
        all frames whose highest membership is in the state, in the order of the trajectories.
    every : int
        Write every Nth frame of each state.
    format : {"xtc", "dcd", "pdb"}
        Format of the trajectories.
    atoms : {"all", "loaded"}
        All atoms of the source files, which are read again, or those that were clustered.
    superpose : bool
        Superpose all frames on the density peak of state 0 by the atoms that were clustered (or that the
        frames were aligned on), without the periodic box. False leaves coordinates and box as they are.
    overwrite : bool
        Write to a folder that holds files. Files of an earlier export are replaced or removed; all others are
        left unchanged.
    client : distributed.Client, optional
        Write the frames of the states in XTC format on the workers of this Dask cluster, if these see the
        source files under the same paths. A task reads one file. The result has the same bytes. It needs
        ``atoms="all"``; everything else is written here.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the files already exist, and `overwrite` is False.
    ValueError
        If `n` and `every` are both given, or the source files have changed.

    See Also
    --------
    exports.write_structures : A few structures of each state.

    Notes
    -----
    The folder holds

    - ``state_S``: the frames of state S. No file for a state without frames;
    - ``transition_A_B``: the transition frames of states A and B, ordered by the share of B in the
      two memberships, :math:`u_B / (u_A + u_B)`, so that they lead from A to B;
    - ``topology.pdb``: the atoms, for formats that do not name them;
    - ``trajectories.csv``: file, place, state, trajectory, frame, time, membership and source of every frame;
    - ``view.pml``, ``view.vmd``, ``view.cxc``: scripts for PyMOL, VMD and ChimeraX;
    - ``README.txt``.

    Examples
    --------
    >>> import mdfuzzy as mf, mdtraj as md, tempfile
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=50), mf.Settings(prominence=1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new = mf.exports.write_trajectories(folder, result)
    ...     first = md.load(new / "state_0.xtc", top=new / "topology.pdb")
    >>> first.n_frames == result.states[0].frames
    True
    """
    frames, regions = check_structures(result)
    if n is not None and every != 1:
        raise InputValueError(f"`n` and `every` must not be given both; got n={n!r} and every={every!r}.")
    n, every = None if n is None else check_int("n", n, 1), check_int("every", every, 1)
    suffix = check_choice("format", format, get_args(Format))
    check_choice("atoms", atoms, get_args(Atoms))
    atoms = atoms if frames.sources else "loaded"
    groups = state_groups(result, n, every) | path_groups(result, regions, n, every)
    reference = frames.trajectory(result.cores.peaks[:1], atoms=atoms)
    turn = Superposition(frames, reference, atoms) if superpose else None
    names = [*(f"{name}.{suffix}" for name in groups), "trajectories.csv", "README.txt"]
    with new_files(folder, "trajectories", overwrite=overwrite, names=names) as stage:
        there = client is not None and suffix == "xtc" and atoms == "all" and can_read(client, frames)
        left = groups
        if client is not None and there:
            in_order, left = _divided(groups)
            files = [stage / f"{name}.{suffix}" for name in in_order]
            write_elsewhere(client, frames, *_merged(in_order), files, turn)
        for file, part in _parts(frames, left, atoms, reference.n_atoms, stage, suffix):
            file.append(turn(part) if turn else part)
        if suffix != "pdb":
            reference.save(stage / "topology.pdb")
        _write_index(stage / "trajectories.csv", result, frames, groups, suffix)
        shown = [
            Shown(f"{name}.{suffix}", tuple(map(int, name.split("_")[1:])), name.startswith("state_"))
            for name in groups
        ]
        options = {"topology": None if suffix == "pdb" else "topology.pdb"}
        style = molecule_style(reference.topology)
        for name, script in viewer_scripts(shown, result.n_states, style=style, **options).items():
            (stage / name).write_text(script, encoding="utf-8")
        chosen = f"the frames of state S{'' if every == 1 else f', every {every}th'}, in their order in time"
        text = _README.format(
            states=result.n_states,
            regions=len(regions),
            atoms="all atoms of the source files" if atoms == "all" else "the clustered atoms",
            format=suffix,
            chosen=chosen if n is None else f"the {n} best frames of state S, the best first",
            topology="" if suffix == "pdb" else _TOPOLOGY,
            coordinates=_SUPERPOSED if superpose else _AS_READ,
        )
        (stage / "README.txt").write_text(text, encoding="utf-8")
    return Path(folder).expanduser()


def state_groups(result: Result, n: int | None, every: int) -> dict[str, np.ndarray]:
    """Return the frames of each state with frames: every Nth frame, or the n best, the best first."""
    labels, groups = result.labels, {}
    for state in range(result.n_states):
        members = np.flatnonzero(labels == state)
        if n is not None:
            order = np.lexsort((-result.log_density[members], -result.memberships.values[members, state]))
            members = members[order[:n]]
        if len(members):
            groups[f"state_{state}"] = members[::every]
    return groups


def path_groups(
    result: Result, regions: TransitionRegions, n: int | None, every: int = 1
) -> dict[str, np.ndarray]:
    """Return the (n most mixed) transition frames of each pair of states, ordered along the path."""
    groups, values = {}, result.memberships.values
    for (a, b), ranked in zip(regions.pairs, regions.frames, strict=True):
        chosen = ranked[:n]
        share = values[chosen, b] / (values[chosen, a] + values[chosen, b])
        groups[f"transition_{a}_{b}"] = chosen[np.argsort(share, kind="stable")][::every]
    return groups


class Superposition:
    """Superpose frames on a reference by the clustered atoms, and remove their box.

    mdtraj's own `superpose` does not rotate a frame if its iteration does not converge.
    """

    def __init__(self, frames: Trajectories, reference: "md.Trajectory", atoms: str) -> None:
        self.done = atoms == "loaded" and frames.fit_atoms is not frames.atoms  # aligned already
        chosen = frames.fit_atoms if atoms == "all" else None
        if chosen is None:
            chosen = np.arange(reference.n_atoms)
        target = reference.xyz[0, chosen].astype(np.float64)
        self.centre = target.mean(axis=0)
        weights = np.full(len(chosen), 1 / len(chosen))
        self.alignment = Alignment(chosen, "the clustered atoms", target - self.centre, weights)

    def __call__(self, part: "md.Trajectory") -> "md.Trajectory":
        """Return the frames, rotated in place."""
        part.unitcell_vectors = None
        if not self.done:
            turned = self.alignment.apply(part.xyz[:, self.alignment.atoms], part.xyz)
            part.xyz = (turned + self.centre).astype(np.float32)
        return part


def _parts(
    frames: Trajectories, groups: dict[str, np.ndarray], atoms: Atoms, n_atoms: int, stage: Path, suffix: str
) -> Iterator[tuple[TrajectoryWriter, "md.Trajectory"]]:
    """Yield the frames of all groups in order, in parts, with the file to which each part is written."""
    in_order, others = _divided(groups)
    listed = list(in_order)
    for names in (listed[first : first + _OPEN] for first in range(0, len(listed), _OPEN)):
        with ExitStack() as stack:
            files = [stack.enter_context(TrajectoryWriter(stage / f"{name}.{suffix}")) for name in names]
            every, group = _merged({name: in_order[name] for name in names})
            parts = _stream(frames, np.unique(every), atoms, n_atoms)
            for place, part in split_by_group(parts, every, group):
                yield files[place], part
    for name in others:
        with TrajectoryWriter(stage / f"{name}.{suffix}") as file:
            for start in range(0, len(groups[name]), _batch(n_atoms)):
                some = groups[name][start : start + _batch(n_atoms)]
                yield file, frames.trajectory(some, atoms=atoms)


def _divided(groups: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the groups whose frames ascend, and the others."""
    in_order = {name: chosen for name, chosen in groups.items() if np.all(np.diff(chosen) > 0)}
    return in_order, {name: chosen for name, chosen in groups.items() if name not in in_order}


def _merged(groups: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames of all groups, ascending, and the group of each; a frame may be in two groups."""
    every = np.concatenate([*groups.values(), np.empty(0, np.int64)])
    group = np.repeat(np.arange(len(groups)), [len(chosen) for chosen in groups.values()])
    order = np.argsort(every, kind="stable")
    return every[order], group[order]


def _stream(
    frames: Trajectories, chosen: np.ndarray, atoms: Atoms, n_atoms: int
) -> Iterator[tuple[np.ndarray, "md.Trajectory"]]:
    """Yield chosen frames, ascending, in parts of bounded size."""
    if atoms == "all":
        yield from frames.stream(chosen)
        return
    for start in range(0, len(chosen), _batch(n_atoms)):
        numbers = chosen[start : start + _batch(n_atoms)]
        yield numbers, frames.trajectory(numbers)


def _batch(n_atoms: int) -> int:
    return max(1, _BATCH_BYTES // (12 * n_atoms))


def _write_index(
    path: Path, result: Result, frames: Trajectories, groups: dict[str, np.ndarray], suffix: str
) -> None:
    """Write the table of the origin and state of every frame in every file."""
    labels, values = result.labels, result.memberships.values
    with open(path, "w", encoding="utf-8", newline="") as file:
        header = True
        for name, chosen in groups.items():
            for start in range(0, len(chosen), _ROWS):
                some = chosen[start : start + _ROWS]
                trajectory, frame = frames.locate(some)
                columns = {
                    "file": [f"{name}.{suffix}"] * len(some),
                    "place": np.arange(start, start + len(some)),
                    "state": labels[some],
                    "trajectory": trajectory,
                    "frame": frame,
                }
                if frames.times is not None:
                    columns["time_ps"] = decimal_times(frames.times[some])
                columns["membership"] = values[some, labels[some]]
                if frames.sources:
                    sources, numbers = frames.sources_of(some)
                    columns["source"] = [frames.sources[source].path or "" for source in sources]
                    columns["source_frame"] = numbers
                write_csv(file, columns, header=header)
                header = False

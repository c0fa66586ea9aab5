"""Structures to look at: the peak of each state and the most mixed frame of each transition region."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np

from mdfuzzy._check import InputError
from mdfuzzy._messages import duration
from mdfuzzy.frames.secondary_structure import secondary_structure
from mdfuzzy.frames.superposition import rotations_onto
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.assignment import Result
from mdfuzzy.plots.projections import superpose
from mdfuzzy.report.packing import pack, rounded

#: A protein of more residues than this is shown as a cartoon, a smaller molecule as sticks.
_STICKS = 12
#: The largest number of structures: the states come first, then the largest transition regions.
_MAX_STRUCTURES = 60
#: The largest number of positions in the page; with more, side chains are left out.
_MAX_POSITIONS = 120_000
#: Without a topology, atoms nearer than this (nm) are bonded; a C-C bond has 0.154.
_BOND_LENGTH = 0.17
#: The atom that stands for a residue of a protein or a nucleic acid, and how far two neighbours of a chain
#: can be apart, in nm: 0.38 between trans alphas, up to 0.7 between phosphates.
_TRACED = {"CA": 0.45, "P": 0.85}
_BACKBONE = ("N", "CA", "C", "O", "P")

View = Literal["sticks", "cartoon", "trace"]


@dataclass(frozen=True)
class Molecule:
    """The parts of a molecule that are drawn.

    Attributes
    ----------
    atoms : (a,) int array
        Which of the loaded atoms are drawn.
    elements, names : tuple of str
        The symbol of the element and the name of each, such as "C" and "CB".
    residues : tuple of (str, int, int)
        The residue of each atom: its name, its number in the files, and its place in the topology.
    pieces : (a,) int array
        The unbroken piece of a chain that each atom belongs to, from 0.
    bonds : (b, 2) int array
        Pairs of places among `atoms`.
    view : {"sticks", "cartoon", "trace"}
        How it is drawn at first.
    """

    atoms: np.ndarray
    elements: tuple[str, ...]
    names: tuple[str, ...]
    residues: tuple[tuple[str, int, int], ...]
    pieces: np.ndarray
    bonds: np.ndarray
    view: View


def describe_structures(result: Result) -> dict[str, object] | None:
    """Return all that the 3D view needs, ready for JSON; None if the data are no structures.

    All structures are superposed on that of state 0, unless they are aligned on other atoms. State 0 is
    turned so that its longest axes lie in the plane of the screen.
    """
    data = result.data
    if data is None or not (data.has_structures or data.coordinates is not None):
        return None
    chosen = [(f"State {row.state}", [row.state], row.peak) for row in result.states if row.frames]
    if result.transition_regions is not None:
        chosen += [
            (f"Between {a} and {b}", [a, b], int(frames[0]))
            for (a, b), frames in zip(
                result.transition_regions.pairs.tolist(), result.transition_regions.frames, strict=True
            )
        ]
    chosen = chosen[:_MAX_STRUCTURES]
    frames = [frame for *_, frame in chosen]
    trajectory: Any = data.trajectory(frames) if data.has_structures else None
    given = trajectory.xyz if data.coordinates is None else data.coordinates[frames]
    xyz = given.astype(np.float64)
    if data.symmetry is not None:  # so that equivalent atoms do not seem to move
        centred = xyz - xyz.mean(axis=1, keepdims=True) if data.metric.superpose else xyz
        xyz = data.symmetry.nearest_images(centred, centred[0], superpose=data.metric.superpose)
    molecule = find_molecule(data, xyz)
    axes = np.linalg.svd(xyz[0] - xyz[0].mean(axis=0), full_matrices=False)[2]
    axes[2] = np.cross(axes[0], axes[1])  # a rotation, not a mirror image
    whole = _whole_residues(data, frames) if molecule.view == "trace" else None
    if whole is not None:
        trajectory, loaded = whole
        centred = trajectory.xyz - trajectory.xyz[:, loaded].mean(axis=1, keepdims=True, dtype=np.float64)
        xyz = centred @ rotations_onto(centred[:, loaded], xyz[0] @ axes.T)
        molecule = find_molecule(data, xyz, trajectory.topology)
    elif data.fit_atoms is data.atoms:
        xyz = superpose(xyz, xyz[0] @ axes.T)
    else:  # aligned on other atoms: only turned, all together
        xyz = (xyz - xyz.mean(axis=(0, 1))) @ axes.T
    folds = None if trajectory is None or molecule.view == "trace" else secondary_structure(trajectory)
    return {
        "view": molecule.view,
        "sides": molecule.view == "cartoon" and not {*molecule.names} <= {*_BACKBONE},
        "elements": molecule.elements,
        "names": molecule.names,
        "residues": [f"{name}{number}" for name, number, _ in molecule.residues],
        "places": [place for *_, place in molecule.residues],
        "pieces": molecule.pieces.tolist(),
        "bonds": pack(molecule.bonds.astype(np.int32)),
        "positions": pack(np.rint(1000 * xyz[:, molecule.atoms]).astype(np.int32)),  # in pm
        "structures": [
            {
                "name": name,
                "states": states,
                "where": "frame " + place_of(data, frame) + _time(data, frame),
                "torsions": torsion_text(data, frame),
                "memberships": rounded(result.memberships.values[frame], 3),
                "folds": "" if folds is None else "".join(folds[place]),
            }
            for place, (name, states, frame) in enumerate(chosen)
        ],
    }


def _whole_residues(data: Trajectories, frames: list[int]) -> tuple[Any, np.ndarray] | None:
    """Return frames with all heavy atoms of the loaded residues, and the places of the loaded atoms there.

    A cartoon needs the whole backbone, but often only alpha carbons are compared. None if there are no other
    atoms, or if the files are not there any more.
    """
    if (
        not data.sources
        or data.atoms is None
        or data.symmetry is not None
        or data.fit_atoms is not data.atoms
    ):
        return None
    try:
        every = data.trajectory(frames, atoms="all")
    except (OSError, InputError):  # the files have been moved or changed
        return None
    residues = {every.topology.atom(at).residue.index for at in data.atoms}
    chosen = [
        atom.index
        for atom in every.topology.atoms
        if atom.residue.index in residues and (atom.element is None or atom.element.symbol != "H")
    ]
    return every.atom_slice(chosen), np.searchsorted(chosen, data.atoms)


def find_molecule(frames: Trajectories, xyz: np.ndarray | None = None, topology: Any = None) -> Molecule:
    """Return which atoms and bonds of the frames to draw; `xyz` (s, atoms, 3) are the structures.

    The atoms are those of `topology`, by default the loaded ones.
    """
    topology = frames.topology if topology is None else topology
    if topology is None:
        return _bare_molecule(cast("np.ndarray", frames.coordinates)[0])
    shown = list(topology.atoms)
    traced = [atom for atom in shown if atom.name in _TRACED]
    alone = len(traced) == len(shown) > 1
    if xyz is not None and len(shown) * len(xyz) > _MAX_POSITIONS and len(traced) > 1:
        shown = [atom for atom in shown if atom.name in _BACKBONE]
        if len(shown) * len(xyz) > _MAX_POSITIONS:
            shown, alone = traced, True
    view: View = "trace" if alone else "cartoon" if _is_cartoon(shown, traced) else "sticks"
    place = {atom.index: at for at, atom in enumerate(shown)}
    piece_of = _pieces(traced, xyz)
    pieces = np.array([piece_of.get(atom.residue.index, 0) for atom in shown], dtype=np.int64)
    if alone:
        bonds = [(at, at + 1) for at in range(len(shown) - 1) if pieces[at] == pieces[at + 1]]
    else:
        ends = ((place.get(a.index, -1), place.get(b.index, -1)) for a, b in topology.bonds)
        bonds = [pair for pair in ends if min(pair) >= 0]
    return Molecule(
        np.array(list(place)),
        tuple("" if atom.element is None else atom.element.symbol for atom in shown),
        tuple(atom.name for atom in shown),
        tuple((atom.residue.name, atom.residue.resSeq, atom.residue.index) for atom in shown),
        pieces,
        np.array(sorted(bonds), dtype=np.int64).reshape(-1, 2),
        view,
    )


def _bare_molecule(xyz: np.ndarray) -> Molecule:
    """Return a molecule without a topology: atoms that are near each other are bonded."""
    atoms = np.arange(len(xyz))
    distances = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
    near = np.argwhere(np.triu(distances < _BOND_LENGTH, k=1))
    names = tuple(f"atom {atom}" for atom in atoms)
    nowhere = (("", 0, 0),) * len(atoms)
    return Molecule(atoms, ("",) * len(atoms), names, nowhere, np.zeros(len(atoms), int), near, "sticks")


def _is_cartoon(shown: list, traced: list) -> bool:  # type: ignore[type-arg]
    """Whether enough residues have the atoms that a cartoon needs: the alpha carbon and the oxygen."""
    names = {(atom.residue.index, atom.name) for atom in shown}
    complete = [atom for atom in traced if atom.name == "P" or (atom.residue.index, "O") in names]
    return len(complete) > max(_STICKS, 0.5 * len(traced))


def _pieces(traced: list, xyz: np.ndarray | None) -> dict[int, int]:  # type: ignore[type-arg]
    """Return the unbroken piece of a chain that each traced residue belongs to.

    A chain is broken where two neighbours are too far apart to be bonded, in every one of the structures.
    """
    found = {traced[0].residue.index: 0} if traced else {}
    piece = 0
    for a, b in pairwise(traced):
        same = a.residue.chain.index == b.residue.chain.index and a.name == b.name
        if same and xyz is not None:
            apart = np.linalg.norm(xyz[:, a.index] - xyz[:, b.index], axis=-1).min()
            same = bool(apart <= _TRACED[a.name])
        piece += not same
        found[b.residue.index] = piece
    return found


def place_of(data: Trajectories | None, frame: int) -> str:
    """Return the trajectory of a frame and its place in it, as text."""
    if data is None:
        return f"{frame:,}"
    trajectory, within = data.locate(frame)
    return f"{within:,}" + (f" of trajectory {trajectory}" if data.n_trajectories > 1 else "")


def _time(data: Trajectories, frame: int) -> str:
    return "" if data.times is None else f", at {duration(float(data.times[frame]), 'ps')}"


def torsion_text(data: Trajectories | None, frame: int, most: int = 4) -> str:
    """Return phi and psi of the first residues of a frame in words; nothing if it has none."""
    if data is None or data.phi is None or data.psi is None or len(data.residues) > _STICKS:
        return ""  # a few of the torsions of a protein are not informative
    pairs = [
        f"{name + ' ' if len(data.residues) > 1 else ''}{_degrees(phi)}, {_degrees(psi)}"
        for name, phi, psi in zip(data.residues, data.phi[frame], data.psi[frame], strict=True)
    ]
    rest = f"; {len(pairs) - most} more" if len(pairs) > most else ""
    return "; ".join(pairs[:most]) + rest


def _degrees(angle: float) -> str:
    return f"{angle:.0f}°".replace("-", "\u2212")

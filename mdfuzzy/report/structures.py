"""Structures to look at: the peak of each state and the most mixed frame of each transition region."""

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.plots.projections import superpose
from mdfuzzy.report.packing import pack, rounded

#: More loaded atoms than this are drawn as a backbone trace.
_MAX_ATOMS = 400
#: More structures than this are not offered; the states come first, then the largest transition regions.
_MAX_STRUCTURES = 60
#: Atoms nearer than this are bonded, where no topology says so, in nm: a C-C bond has 0.154.
_BOND_LENGTH = 0.17
#: The atom that stands for a residue of a protein or a nucleic acid in a backbone trace.
_TRACED = ("CA", "P")


@dataclass(frozen=True)
class Molecule:
    """What is drawn of a molecule.

    Attributes
    ----------
    atoms : (a,) int array
        Which of the loaded atoms are drawn.
    elements, names : tuple of str
        The symbol of the element and the name of each, such as "C" and "ALA2-CB".
    bonds : (b, 2) int array
        Pairs of places among `atoms`.
    trace : bool
        Whether it is a backbone trace.
    """

    atoms: np.ndarray
    elements: tuple[str, ...]
    names: tuple[str, ...]
    bonds: np.ndarray
    trace: bool


def describe_structures(result: Clustering) -> dict[str, object] | None:
    """Return all that the 3D view needs, ready for JSON; None if the data are no structures.

    All structures are superposed on that of state 0, unless they are aligned on other atoms. State 0 is
    turned so that its longest axes lie in the plane of the screen.
    """
    data = result.data
    if data is None or not (data.has_structures or data.coordinates is not None):
        return None
    chosen = [(f"State {state}", [state], frame) for state, frame in enumerate(result.cores.peaks.tolist())]
    if result.transition_regions is not None:
        chosen += [
            (f"Between {a} and {b}", [a, b], int(frames[0]))
            for (a, b), frames in zip(
                result.transition_regions.pairs.tolist(), result.transition_regions.frames, strict=True
            )
        ]
    chosen = chosen[:_MAX_STRUCTURES]
    frames = [frame for *_, frame in chosen]
    xyz = data.coordinates[frames] if data.coordinates is not None else data.trajectory(frames).xyz
    xyz = xyz.astype(np.float64)
    if data.symmetry is not None:  # so that equivalent atoms do not seem to move
        centred = xyz - xyz.mean(axis=1, keepdims=True) if data.metric.superpose else xyz
        xyz = data.symmetry.nearest_images(centred, centred[0], superpose=data.metric.superpose)
    molecule = find_molecule(data)
    axes = np.linalg.svd(xyz[0] - xyz[0].mean(axis=0), full_matrices=False)[2]
    axes[2] = np.cross(axes[0], axes[1])  # a rotation, not a mirror image
    if data.fit_atoms is data.atoms:
        xyz = superpose(xyz, xyz[0] @ axes.T)
    else:  # aligned on other atoms: only turned, all together
        xyz = (xyz - xyz.mean(axis=(0, 1))) @ axes.T
    xyz = xyz[:, molecule.atoms]
    return {
        "trace": molecule.trace,
        "elements": molecule.elements,
        "names": molecule.names,
        "bonds": pack(molecule.bonds.astype(np.int32)),
        "positions": pack(xyz.astype(np.float32)),
        "structures": [
            {
                "name": name,
                "states": states,
                "where": "frame " + place_of(data, frame) + _time(data, frame),
                "torsions": torsion_text(data, frame),
                "memberships": rounded(result.memberships.values[frame], 3),
            }
            for name, states, frame in chosen
        ],
    }


def find_molecule(frames: Trajectories) -> Molecule:
    """Return which atoms and bonds of the frames to draw."""
    topology = frames.topology
    if topology is None:
        xyz = cast("np.ndarray", frames.coordinates)[0]
        atoms = np.arange(len(xyz))
        distances = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
        near = np.argwhere(np.triu(distances < _BOND_LENGTH, k=1))
        names = tuple(f"atom {atom}" for atom in atoms)
        return Molecule(atoms, ("",) * len(atoms), names, near, trace=False)
    everything = list(topology.atoms)
    traced = [atom for atom in everything if atom.name in _TRACED]
    # Loaded alphas alone have no bonds: they are a trace, however few they are.
    trace = len(traced) > 1 and (len(everything) > _MAX_ATOMS or len(traced) == len(everything))
    shown = traced if trace else everything
    place = {atom.index: at for at, atom in enumerate(shown)}
    if trace:
        bonds = [
            (at, at + 1)
            for at, (a, b) in enumerate(pairwise(shown))
            if a.residue.chain.index == b.residue.chain.index
        ]
    else:
        bonds = [(place[a.index], place[b.index]) for a, b in topology.bonds]
    return Molecule(
        np.array(list(place)),
        tuple("" if atom.element is None else atom.element.symbol for atom in shown),
        tuple(str(atom) for atom in shown),
        np.array(sorted(bonds), dtype=np.int64).reshape(-1, 2),
        trace,
    )


def place_of(data: Trajectories | None, frame: int) -> str:
    """Say where a frame is: in which trajectory, and at which place in it."""
    if data is None:
        return f"{frame:,}"
    trajectory, within = data.locate(frame)
    return f"{within:,}" + (f" of trajectory {trajectory}" if data.n_trajectories > 1 else "")


def _time(data: Trajectories, frame: int) -> str:
    return "" if data.times is None else f", at {data.times[frame]:.6g} ps"


def torsion_text(data: Trajectories | None, frame: int, most: int = 4) -> str:
    """Return phi and psi of the first residues of a frame in words; nothing if it has none."""
    if data is None or data.phi is None or data.psi is None:
        return ""
    pairs = [
        f"{name + ' ' if len(data.residues) > 1 else ''}{_degrees(phi)}, {_degrees(psi)}"
        for name, phi, psi in zip(data.residues, data.phi[frame], data.psi[frame], strict=True)
    ]
    rest = f"; {len(pairs) - most} more" if len(pairs) > most else ""
    return "; ".join(pairs[:most]) + rest


def _degrees(angle: float) -> str:
    return f"{angle:.0f}°".replace("-", "\u2212")

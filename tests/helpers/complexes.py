"""A peptide with a ligand in a periodic box, made here so that the pose in every frame is known."""

import mdtraj as md
import numpy as np
from mdtraj.core import element

from helpers.molecules import N_ATOMS, peptide_topology, peptide_xyz

#: The ligand: a six-membered ring with an amidine, as benzamidine has, in nm.
_RING = [(np.cos(a), np.sin(a), 0.0) for a in np.radians(60 * np.arange(6))]
LIGAND = np.array([*(0.139 * np.array(_RING)), (-0.287, 0, 0), (-0.355, 0.116, 0), (-0.355, -0.116, 0)])
LIGAND_NAMES = ["C4", "C3", "C2", "C1", "C6", "C5", "C7", "N1", "N2"]
LIGAND_BONDS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (3, 6), (6, 7), (6, 8)]
PEPTIDE = np.arange(N_ATOMS)
ATOMS = N_ATOMS + np.arange(len(LIGAND))


def complex_topology(*, bonds: bool = True, ligand_bonds: bool = True) -> md.Topology:
    """Return the peptide and the ligand, with or without bonds."""
    peptide = peptide_topology()
    topology = md.Topology()
    chain = topology.add_chain()
    atoms = []
    for residue in peptide.residues:
        new = topology.add_residue(residue.name, chain)
        atoms += [topology.add_atom(atom.name, atom.element, new) for atom in residue.atoms]
    ligand = topology.add_residue("BEN", chain)
    atoms += [topology.add_atom(name, element.get_by_symbol(name[0]), ligand) for name in LIGAND_NAMES]
    pairs = [(a.index, b.index) for a, b in peptide.bonds] if bonds else []
    pairs += [(N_ATOMS + a, N_ATOMS + b) for a, b in LIGAND_BONDS] if ligand_bonds and bonds else []
    for a, b in pairs:
        topology.add_bond(atoms[a], atoms[b])
    return topology


def rotations(n: int, rng: np.random.Generator, spread: float = np.inf) -> np.ndarray:
    """Return random rotations, (n, 3, 3): any, or those of about `spread` radians."""
    noise = rng.standard_normal((n, 3, 3))
    left, _, right = np.linalg.svd(noise if spread == np.inf else np.eye(3) + spread * noise)
    found = left @ right
    return found * np.linalg.det(found)[:, None, None]


def complex_trajectory(
    n: int, *, angle: float = 90.0, seed: int = 0, topology: md.Topology | None = None
) -> tuple[md.Trajectory, np.ndarray]:
    """Return frames of the complex, rotated at random and wrapped into the box atom by atom, and its poses.

    The ligand is at one site in the first and third quarter of the frames, at another in the others. The
    poses (n, 9, 3) are the coordinates of the ligand relative to the centroid of the peptide, in the
    orientation of the peptide in the first frame: what an alignment on the peptide has to find.
    """
    rng = np.random.default_rng(seed)
    peptide = peptide_xyz(1, seed=seed)[0].astype(np.float64)
    peptide -= peptide.mean(axis=0)
    sites = np.array([[0.55, 0.2, 0.1], [-0.1, 0.6, -0.4]])[4 * np.arange(n) // n % 2][:, None]
    poses = LIGAND @ rotations(n, rng, 0.1) + sites + 0.02 * rng.standard_normal((n, 1, 3))
    whole = np.concatenate([np.broadcast_to(peptide, (n, *peptide.shape)), poses], axis=1)
    turns = rotations(n, rng)
    turns[0] = np.eye(3)
    whole = whole @ turns + 3 * rng.random((n, 1, 3))
    lengths, angles = np.full((n, 3), 3.0), np.full((n, 3), angle)
    trajectory = md.Trajectory(whole, topology or complex_topology(), np.arange(n) * 2.5, lengths, angles)
    box = trajectory.unitcell_vectors.astype(np.float64)
    fractions = whole @ np.linalg.inv(box)
    trajectory.xyz = ((fractions % 1.0) @ box).astype(np.float32)
    return trajectory, poses

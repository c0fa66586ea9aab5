"""Small molecules and systems for the tests of loading, made here so that every answer is known."""

import mdtraj as md
import numpy as np
from mdtraj.core import element

#: (name, element, residue, place in nm) of ACE-ALA-NME: the heavy atoms and two hydrogens.
_PEPTIDE = [
    ("CH3", "C", "ACE", (0.191, 0.039, 0.260)),
    ("C", "C", "ACE", (0.078, 0.010, 0.160)),
    ("O", "O", "ACE", (-0.027, 0.072, 0.173)),
    ("N", "N", "ALA", (0.112, -0.076, 0.064)),
    ("H", "H", "ALA", (0.205, -0.110, 0.062)),
    ("CA", "C", "ALA", (0.023, -0.122, -0.044)),
    ("HA", "H", "ALA", (-0.045, -0.190, 0.002)),
    ("CB", "C", "ALA", (0.103, -0.200, -0.150)),
    ("C", "C", "ALA", (-0.048, -0.008, -0.131)),
    ("O", "O", "ALA", (-0.111, -0.043, -0.230)),
    ("N", "N", "NME", (-0.037, 0.120, -0.096)),
    ("C", "C", "NME", (-0.102, 0.236, -0.164)),
]
_BONDS = [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5), (5, 6), (5, 7), (5, 8), (8, 9), (8, 10), (10, 11)]

#: The heavy atoms among them.
HEAVY = np.array([0, 1, 2, 3, 5, 7, 8, 9, 10, 11])
N_ATOMS = len(_PEPTIDE)


def peptide_topology(waters: int = 0, ions: int = 0, copies: int = 1) -> md.Topology:
    """Return `copies` of the peptide, then waters, then sodium ions."""
    topology = md.Topology()
    for _ in range(copies):
        chain, residue, atoms = topology.add_chain(), None, []
        for name, symbol, residue_name, _place in _PEPTIDE:
            if residue is None or residue.name != residue_name:
                residue = topology.add_residue(residue_name, chain)
            atoms.append(topology.add_atom(name, element.get_by_symbol(symbol), residue))
        for a, b in _BONDS:
            topology.add_bond(atoms[a], atoms[b])
    chain = topology.add_chain() if waters or ions else None
    for _ in range(waters):
        residue = topology.add_residue("HOH", chain)
        oxygen, *hydrogens = (
            topology.add_atom(name, element.get_by_symbol(name[0]), residue) for name in ("O", "H1", "H2")
        )
        for hydrogen in hydrogens:
            topology.add_bond(oxygen, hydrogen)
    for _ in range(ions):
        topology.add_atom("NA", element.sodium, topology.add_residue("NA", chain))
    return topology


def peptide_xyz(n_frames: int, *, seed: int = 0, turn: float = 0.02) -> np.ndarray:
    """Return frames of the peptide (n, 12, 3) in nm, rounded to 0.001, with noise and rotated at random."""
    rng = np.random.default_rng(seed)
    xyz = np.array([place for *_, place in _PEPTIDE])
    frames = xyz + turn * rng.standard_normal((n_frames, *xyz.shape))
    rotations = np.linalg.qr(rng.standard_normal((n_frames, 3, 3)))[0]
    rotations *= np.linalg.det(rotations)[:, None, None]
    return np.round(frames @ rotations + 1.0, 3).astype(np.float32)


def peptide_trajectory(
    n_frames: int, *, box: bool = True, seed: int = 0, first: float = 10.0
) -> md.Trajectory:
    """Return a trajectory of the peptide with times 10, 12.5, 15, ... ps, and a cubic box of 3 nm."""
    time = first + 2.5 * np.arange(n_frames)
    cell = (np.full((n_frames, 3), 3.0), np.full((n_frames, 3), 90.0)) if box else (None, None)
    return md.Trajectory(peptide_xyz(n_frames, seed=seed), peptide_topology(), time, *cell)


def residue_topology(names: list[str]) -> md.Topology:
    """Return a chain of residues with the heavy atoms of phenylalanine and the like, bonded in a row."""
    side_chains = {
        "PHE": "CB CG CD1 CD2 CE1 CE2 CZ",
        "TYR": "CB CG CD1 CD2 CE1 CE2 CZ OH",
        "LEU": "CB CG CD1 CD2",
        "VAL": "CB CG1 CG2",
        "ASP": "CB CG OD1 OD2",
        "GLU": "CB CG CD OE1 OE2",
        "ARG": "CB CG CD NE CZ NH1 NH2",
        "ALA": "CB",
        "SER": "CB OG",
    }
    topology, last = md.Topology(), None
    chain = topology.add_chain()
    for name in names:
        residue = topology.add_residue(name, chain)
        for atom_name in ["N", "CA", "C", "O", *side_chains[name].split()]:
            atom = topology.add_atom(atom_name, element.get_by_symbol(atom_name[0]), residue)
            if last is not None:
                topology.add_bond(last, atom)
            last = atom
    return topology


def centred(xyz: np.ndarray) -> np.ndarray:
    """Return frames centred on their centroids, in float64."""
    xyz = np.asarray(xyz, np.float64)
    return xyz - xyz.mean(axis=1, keepdims=True)


def torsion(p: np.ndarray) -> np.ndarray:
    """Return the torsion (degrees, IUPAC sign) of four points (..., 4, 3): the textbook formula."""
    b0, b1, b2 = (
        np.asarray(p, np.float64)[..., i + 1, :] - np.asarray(p, np.float64)[..., i, :] for i in range(3)
    )
    n1, n2 = np.cross(b0, b1), np.cross(b1, b2)
    m = np.cross(n1, b1 / np.linalg.norm(b1, axis=-1, keepdims=True))
    return -np.degrees(np.arctan2((m * n2).sum(-1), (n1 * n2).sum(-1)))

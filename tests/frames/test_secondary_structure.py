"""Secondary structure: an ideal helix and a strand, and residues without a backbone."""

import mdtraj as md
import numpy as np
from helpers.molecules import residue_topology

from mdfuzzy.frames.secondary_structure import secondary_structure


def backbone(phi: float, psi: float, residues: int) -> md.Trajectory:
    """A peptide of glycines with ideal bonds and angles, each atom placed by the three before it."""
    topology = md.Topology()
    chain = topology.add_chain()
    for _ in range(residues):
        residue = topology.add_residue("GLY", chain)
        for name, element in (("N", "N"), ("CA", "C"), ("C", "C"), ("O", "O")):
            topology.add_atom(name, md.element.get_by_symbol(element), residue)
    atoms = [np.array([0.0, 0.1, 0.0]), np.zeros(3), np.array([0.1458, 0.0, 0.0])]
    # The bond, the angle and the torsion of N, CA and C in turn.
    shapes = [(0.1329, 116.6, psi), (0.1458, 121.7, 180.0), (0.1525, 111.0, phi)]
    xyz = []
    atoms = [*atoms[1:], placed(*atoms, *shapes[2])]
    for _ in range(residues):
        n, ca, c = atoms[-3:]
        following = placed(n, ca, c, *shapes[0])
        xyz += [n, ca, c, placed(n, ca, c, 0.1231, 120.4, psi + 180.0)]
        atoms.append(following)
        atoms.append(placed(ca, c, following, *shapes[1]))
        atoms.append(placed(c, *atoms[-2:], *shapes[2]))
    return md.Trajectory(np.array(xyz)[None], topology)


def placed(a, b, c, bond: float, angle: float, torsion: float) -> np.ndarray:
    """The place of an atom at a distance from c, an angle at c, and a torsion around b and c."""
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal /= np.linalg.norm(normal)
    angle, torsion = np.radians([angle, torsion])
    x, y, z = -np.cos(angle), np.sin(angle) * np.cos(torsion), np.sin(angle) * np.sin(torsion)
    return c + bond * (x * along + y * np.cross(normal, along) + z * normal)


def test_a_helix_and_an_extended_chain():
    helix = "".join(secondary_structure(backbone(-62, -43, 16))[0])
    assert helix[3:-3] == "h" * 10
    assert set(secondary_structure(backbone(-120, 130, 16))[0]) == {"c"}  # a strand needs a partner


def test_residues_without_a_backbone():
    topology = residue_topology(["SER"] * 3)
    alphas = md.Trajectory(np.zeros((2, topology.n_atoms, 3)), topology)
    alphas = alphas.atom_slice(topology.select("name CA"))
    assert secondary_structure(alphas) is None

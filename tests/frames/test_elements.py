"""Topologies whose elements were guessed from the names of atoms."""

import warnings

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import peptide_trajectory

import mdfuzzy as mf


@pytest.fixture
def guessed(tmp_path):
    """A PDB file as CHARMM wrote it: without elements, and with names that begin in column 13."""
    trajectory = peptide_trajectory(30)
    path = tmp_path / "charmm.pdb"
    trajectory[0].save_pdb(path)
    lines = [
        f"{line[:12]}{line[12:16].strip():<4}{line[16:66]}\n" if line.startswith("ATOM") else line + "\n"
        for line in path.read_text().splitlines()
        if not line.startswith(("CONECT", "CRYST1"))
    ]
    path.write_text("".join(lines))
    return trajectory, path


def test_elements_follow_the_names_and_bonds_stay(guessed):
    trajectory, path = guessed
    assert {atom.element.symbol for atom in md.load_topology(path).atoms} - {"C", "H", "N", "O", "S"}
    with pytest.warns(UserWarning, match=r"charmm\.pdb' has impossible elements for .* calcium for CA of"):
        frames = mf.load(trajectory.xyz, top=path, progress=False)
    expected = mf.load(trajectory, progress=False)
    symbols = [[atom.element.symbol for atom in each.topology.atoms] for each in (frames, expected)]
    assert symbols[0] == symbols[1]
    assert frames.topology.n_bonds == md.load_topology(path).subset(frames.atoms).n_bonds > 5
    np.testing.assert_allclose(frames.xyz, expected.xyz, atol=1e-6)


def test_the_warning_comes_once_also_if_frames_are_read_again(guessed, tmp_path):
    trajectory, path = guessed
    trajectory.save_xtc(tmp_path / "a.xtc")
    with pytest.warns(UserWarning, match="impossible elements"):
        frames = mf.load(tmp_path / "a.xtc", top=path, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = frames.trajectory([0], atoms="all")
    assert again.topology.select("element Ca").size == 0


def test_a_topology_in_memory_is_corrected_in_a_copy(guessed):
    trajectory, path = guessed
    top = md.load_topology(path)
    before = [atom.element.symbol for atom in top.atoms]
    with pytest.warns(UserWarning, match="`top` has impossible elements"):
        frames = mf.load(trajectory.xyz, top=top, progress=False)
    assert [atom.element.symbol for atom in top.atoms] == before
    assert frames.topology.select("element Ca").size == 0


def test_ions_keep_their_elements():
    top = md.Topology()
    chain = top.add_chain()
    for name, residue, element in (("CA", "CA", "Ca"), ("HG", "HG", "Hg"), ("SE", "MSE", "Se")):
        top.add_atom(name, md.element.Element.getBySymbol(element), top.add_residue(residue, chain))
    frames = mf.load(np.random.default_rng(0).normal(size=(5, 3, 3)), top=top, atoms="all", progress=False)
    assert [atom.element.symbol for atom in frames.topology.atoms] == ["Ca", "Hg", "Se"]

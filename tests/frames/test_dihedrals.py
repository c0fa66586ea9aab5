"""Dihedral angles agree with mdtraj's, with and without a periodic box."""

import mdtraj as md
import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.frames.dihedrals import dihedral_angles


@pytest.fixture
def frames() -> md.Trajectory:
    return mf.datasets.alanine_dipeptide(stride=300).trajectory()


def test_angles_are_those_of_mdtraj(frames):
    quartets = np.array([[1, 3, 4, 6], [3, 4, 6, 8], [0, 1, 3, 4]])
    expected = np.degrees(md.compute_dihedrals(frames, quartets, periodic=False))
    found = dihedral_angles(frames, quartets, periodic=False)
    assert found.dtype == np.float32
    apart = np.abs(found - expected)
    assert np.minimum(apart, 360 - apart).max() < 0.01


def test_the_sign_is_that_of_the_convention():
    xyz = np.array([[[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]]], np.float32)
    found = dihedral_angles(md.Trajectory(xyz, None), np.array([[0, 1, 2, 3]]), periodic=False)
    np.testing.assert_allclose(found, [[-90]], atol=1e-5)  # counter-clockwise, seen along the middle bond


def test_bonds_lead_to_nearest_images(frames):
    quartets = np.array([[1, 3, 4, 6]])
    straight = dihedral_angles(frames, quartets, periodic=False)
    divided = frames[:]
    divided.unitcell_lengths = np.full((len(frames), 3), 3.0)
    divided.unitcell_angles = np.full((len(frames), 3), 90.0)
    divided.xyz[:, 4] += [3, 0, -3]
    np.testing.assert_allclose(dihedral_angles(divided, quartets, periodic=True), straight, atol=0.02)
    assert np.abs(dihedral_angles(divided, quartets, periodic=False) - straight).max() > 10


def test_no_angles(frames):
    assert dihedral_angles(frames, np.empty((0, 4), int), periodic=False).shape == (len(frames), 0)

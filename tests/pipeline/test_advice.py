"""Advice to use features instead of RMSD."""

import warnings

import numpy as np

import mdfuzzy as mf
from mdfuzzy.pipeline.advice import feature_advice


def rigid_body_with_noise(n_atoms: int, noise: float, period: int = 0) -> mf.Clustering:
    """Frames of a chain whose atoms move independently: one state in many dimensions.

    With a period, a part of the chain is somewhere else in every second stretch of so many frames.
    """
    rng = np.random.default_rng(0)
    chain = np.zeros((n_atoms, 3))
    chain[:, 0] = 0.38 * np.arange(n_atoms)
    xyz = chain + rng.normal(scale=noise, size=(600, n_atoms, 3))
    if period:
        xyz[np.arange(600) // period % 2 == 1, : n_atoms // 2, 1] += 2.0
    import mdtraj as md

    top = md.Topology()
    residues = top.add_chain()
    for number in range(n_atoms):
        top.add_atom("CA", md.element.carbon, top.add_residue("ALA", residues, resSeq=number + 1))
    frames = mf.load(md.Trajectory(xyz.astype(np.float32), top, time=np.arange(600.0)), atoms="name CA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mf.cluster(frames)


def test_one_state_in_many_dimensions_gets_advice():
    result = rigid_body_with_noise(12, 0.1)
    assert result.n_states == 1
    assert result.dimension >= 8
    advice = feature_advice(result)
    assert advice is not None
    assert "--features distances --tica" in advice


def test_large_proteins_are_not_sent_to_more_distances_than_are_allowed():
    advice = feature_advice(rigid_body_with_noise(102, 0.1))
    assert advice is not None
    assert "--features coordinates --tica" in advice


def test_states_that_do_not_last_get_advice():
    fast, slow = rigid_body_with_noise(12, 0.1, period=1), rigid_body_with_noise(12, 0.1, period=25)
    for result in (fast, slow):
        assert result.n_states == 2
        assert result.tree.well_determined
        assert result.dimension >= 8
    advice = feature_advice(fast)
    assert advice is not None
    assert "RMSD shows 2 states, but the frames fill about" in advice
    assert feature_advice(slow) is None


def test_states_that_are_well_determined_get_none(peptide_result):
    assert peptide_result.tree.well_determined
    assert feature_advice(peptide_result) is None


def test_features_get_none():
    points = np.random.default_rng(0).normal(size=(300, 12)) + np.repeat([0, 9], 150)[:, None]
    assert feature_advice(mf.cluster(mf.Features(points))) is None

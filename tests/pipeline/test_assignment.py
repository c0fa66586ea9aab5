"""New frames get the memberships of the states that others have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf


@pytest.fixture(scope="module")
def frames() -> mf.Frames:
    return mf.datasets.alanine_dipeptide(stride=15)


@pytest.fixture(scope="module")
def result(frames) -> mf.Clustering:
    return mf.cluster(frames[::2], mf.Settings(prominence=1.0))


def test_fitted_frames_get_their_own(result):
    same = mf.assign(result, result.data)
    assert_array_equal(same.memberships.values, result.memberships.values)
    assert_array_equal(same.nearest, np.arange(len(result)))
    assert_array_equal(same.cores.core_of, result.cores.core_of)
    assert_array_equal(same.milestones.core_of, result.milestones.core_of)
    assert_array_equal(same.labels, result.labels)
    assert same.far_share == 0


def test_is_one_step_of_the_walk(frames, result):
    new = frames[1::2]
    found = mf.assign(result, new, n_jobs=1)
    near = mf.rmsd_neighbors(result.data, n_neighbors=result.k, queries=new)
    assert_array_equal(found.memberships.values, mf.extend_memberships(result.memberships, near).values)
    assert_array_equal(found.distances, near.distances[:, 0])
    assert_array_equal(found.cores.core_of, result.cores.core_of[near.indices[:, 0]])
    assert_array_equal(found.milestones.core_of, result.milestones.core_of[near.indices[:, 0]])
    assert_allclose(found.memberships.values.sum(axis=1), 1, rtol=0, atol=1e-8)
    # Every second frame of the same trajectories: nearly all are in the state of the frame before.
    assert np.mean(found.labels == result.labels[: len(found)]) > 0.9
    assert found.far_share < 0.01
    assert found.memberships.values[found.cores.peaks, range(result.n_states)] == pytest.approx(
        found.memberships.values.max(axis=0)
    )
    assert repr(found).startswith(f"Assignment({len(new):,} frames to {result.n_states} states, ")


def test_turning_a_new_frame_changes_nothing(frames, result):
    new = frames[[1, 301, 701]]
    turned = mf.load(new.xyz[:, :, [1, 2, 0]])  # a rotation about the diagonal
    for name in ("labels", "nearest"):
        assert_array_equal(getattr(mf.assign(result, turned), name), getattr(mf.assign(result, new), name))


def test_features_keep_their_period():
    rng = np.random.default_rng(3)
    angles = np.concatenate([rng.normal(180, 20, 300), rng.normal(0, 20, 300)])[:, None]
    result = mf.cluster(mf.Features((angles + 180) % 360 - 180, periodic=[0]))
    labels = mf.assign(result, [[179.0], [-179.0], [1.0], [359.0]]).labels
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert_array_equal(mf.assign(result, mf.Features(np.array([[-181.0]]), periodic=[0])).labels, labels[:1])


def test_frames_far_from_all_others_are_reported():
    rng = np.random.default_rng(0)
    result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 6])
    new = np.concatenate([rng.normal(size=(90, 2)), rng.normal(30, size=(10, 2))])
    with pytest.warns(
        UserWarning, match=r"1\d\.\d% of the new frames are more than .* away from every fitted"
    ):
        found = mf.assign(result, new)
    assert found.far_share == pytest.approx(0.1, abs=0.05)


def test_other_atoms_are_refused(frames, result):
    folder = mf.datasets.folder()
    path, top = folder / "ala2_00.xtc", folder / "ala2.pdb"
    with pytest.raises(
        ValueError, match=r"`data` must have the atoms of `result`; got 3 atoms instead of 10"
    ):
        mf.assign(result, mf.load(path, top=top, atoms=[0, 1, 2], stride=1000))
    renamed = frames.topology.copy()
    renamed.atom(4).name = "CX"
    with pytest.raises(ValueError, match=r"got ALA-CX instead of ALA-\w+ as atom 4. Load it with the same"):
        mf.assign(result, mf.load(frames.xyz[:5].copy(), top=renamed))


def test_other_kinds_of_data_are_refused(frames, result):
    points = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(
        TypeError, match=r"`data` must be Frames, as `result` was made of; got ndarray. Use mf.load"
    ):
        mf.assign(result, points)
    with pytest.warns(UserWarning, match="one state"):
        of_points = mf.cluster(points)
    with pytest.raises(TypeError, match=r"`data` must be features, as `result` was made of; got Frames"):
        mf.assign(of_points, frames)
    from mdfuzzy.pipeline.run import cluster_neighbors

    with pytest.warns(UserWarning, match="one state"):
        bare = cluster_neighbors(of_points.neighbors, mf.Settings())
    with pytest.raises(ValueError, match=r"`result` must be a clustering of frames or features; this one"):
        mf.assign(bare, points)

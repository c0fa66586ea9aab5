"""Points with very many copies: the neighbours of a comparison of all pairs, without comparing all pairs."""

import time

import numpy as np
import pytest
from helpers.molecules import peptide_xyz

import mdfuzzy as mf
from mdfuzzy.neighbors import copies as module
from mdfuzzy.neighbors.copies import find_copies


def test_nothing_is_left_out_without_need():
    points = np.repeat(np.arange(5.0)[:, None], 3, axis=0)
    assert find_copies(points, 3) is None
    assert find_copies(points, 100) is None
    assert find_copies(points, 2).kept.tolist() == [0, 1, 3, 4, 6, 7, 9, 10, 12, 13]


def test_equal_checksums_of_other_rows_are_no_copies(monkeypatch):
    monkeypatch.setattr(module, "_checksums", lambda rows: np.zeros(len(rows), np.uint64))
    assert find_copies(np.arange(9.0)[:, None], 2) is None


@pytest.mark.parametrize("kind", ["features", "frames"])
def test_the_neighbours_are_those_of_all_points(kind):
    rng = np.random.default_rng(0)
    if kind == "features":
        points = rng.integers(0, 4, (200, 2)).astype(float)  # about 12 copies of each
        points[rng.random(200) < 0.5] += rng.normal(size=2)
        find, compare = mf.euclidean_neighbors, lambda a, b: np.linalg.norm(a[:, None] - b, axis=2)
    else:
        points = peptide_xyz(20)[rng.integers(0, 20, 200)]
        find, compare = mf.rmsd_neighbors, None
    found = find(points, n_neighbors=5)
    for copies in (5, 1000):
        assert (find_copies(points, copies) is None) == (copies == 1000)
    if compare is None:
        whole = mf.rmsd_neighbors_mdtraj(points, n_neighbors=5)
        np.testing.assert_allclose(found.distances, whole.distances, atol=1e-3)
    else:
        every = compare(points, points)
        np.fill_diagonal(every, np.inf)
        np.testing.assert_allclose(found.distances, np.sort(every, axis=1)[:, :5], rtol=1e-6)
        own = np.take_along_axis(every, found.indices.astype(int), axis=1)
        np.testing.assert_allclose(own, found.distances, rtol=1e-6)
    assert (found.indices != np.arange(200)[:, None]).all()
    assert all(len(set(row)) == 5 for row in found.indices.tolist())
    assert found.n_targets == 200
    others = find(points, n_neighbors=5, queries=points[:7])
    np.testing.assert_allclose(others.distances[:, 0], 0, atol=1e-6)
    assert others.indices.shape == (7, 5)


def test_identical_frames_take_no_quadratic_time():
    """Of 60,000 frames all but 200 are one: all pairs of these took minutes."""
    xyz = peptide_xyz(200)
    frames = mf.load(np.concatenate([xyz, np.repeat(xyz[:1], 60_000, axis=0)]))
    mf.rmsd_neighbors(frames[:500], n_neighbors=50)  # compiled
    start = time.perf_counter()
    found = mf.rmsd_neighbors(frames, n_neighbors=50)
    assert time.perf_counter() - start < 15
    assert (found.distances[200:] == 0).all()


def test_features_beyond_single_precision():
    with pytest.raises(ValueError, match=r"`points` must not be larger than 1e\+30.*; got 1e\+160\. Rescale"):
        mf.euclidean_neighbors(1e160 * np.eye(3), n_neighbors=1)

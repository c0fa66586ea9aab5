"""Copies of points: repeated frames, rounded features, and many frames at one point."""

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.neighbors.copies import count_different
from mdfuzzy.states.noise import mean_copies
from mdfuzzy.states.tree import needed_k


def three(n, d, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    points[:, 0] += 6 * rng.integers(3, size=n)
    return points


def tree_of(points, k=None):
    k = mf.suggest_k(len(points), n_different=count_different(points)) if k is None else k
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k)
    graph, log_density = neighbors.graph(k=k), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    return mf.build_state_tree(neighbors, graph, log_density, peaks)


def test_different_points_are_counted():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 5, size=(3000, 3)).astype(float)
    assert count_different(points) == len(np.unique(points, axis=0)) == 125
    assert count_different(rng.normal(size=(50, 2, 3)).astype(np.float32)) == 50
    neighbors = mf.euclidean_neighbors(points, n_neighbors=100)
    assert mean_copies(neighbors) == pytest.approx(3000 / 125)
    assert mean_copies(neighbors, n_neighbors=3) == 4, "more copies than neighbours are not noticed"
    assert mean_copies(mf.euclidean_neighbors(rng.normal(size=(500, 2)), n_neighbors=4)) == 1.0


def test_one_point_with_very_many_copies_hardly_changes_the_mean():
    points = np.random.default_rng(0).normal(size=(2000, 2))
    points[:600] = 0.5
    neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    assert 1.4 < 2000 / count_different(points) < mean_copies(neighbors) + 0.01 < 1.45


def test_k_holds_as_many_different_points():
    assert mf.suggest_k(5000, n_different=5000) == mf.suggest_k(5000)
    assert mf.suggest_k(30_000, n_different=29_990) == mf.suggest_k(30_000), "a few copies change nothing"
    for copies in (2, 5, 10, 20):
        assert mf.suggest_k(5000, n_different=5000 // copies) == copies * mf.suggest_k(5000 // copies)
    assert mf.suggest_k(1_000_000, n_different=1000) == 1000, "copies raise k to 1,000 at most"
    assert mf.suggest_k(100, n_different=2) == 49, "the density needs 2k other points"
    with pytest.raises(ValueError, match=r"`n_different` must be an int in \[1, 100\]; got 101"):
        mf.suggest_k(100, n_different=101)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("copies", [2, 5, 10, 20, 50])
def test_repeated_points_have_the_states_of_the_points(copies, d):
    tree = tree_of(np.repeat(three(5000 // copies, d), copies, axis=0))
    assert len(tree.states) == 3
    assert tree.noise.copies == copies
    # 250 points fill fewer than ten neighbourhoods.
    assert tree.well_determined == (copies <= 10), tree.doubts


@pytest.mark.parametrize(("step", "d"), [(0.1, 1), (0.1, 2), (0.5, 2), (0.5, 5), (1.0, 5)])
def test_rounded_points_have_the_states_of_the_points(step, d):
    normal = np.random.default_rng(0).normal(size=(5000, d))
    assert len(tree_of(step * np.round(normal / step)).states) == 1
    assert len(tree_of(step * np.round(three(5000, d) / step)).states) == 3


def test_points_without_copies_have_the_noise_that_they_had():
    tree = tree_of(three(3000, 3))
    assert tree.k == mf.suggest_k(3000)
    assert tree.noise.copies == 1.0
    assert tree.noise.inflation.tolist() == [1.0, 1.0, 1.0]
    assert tree.smallest_state == 2 * tree.k


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_many_frames_at_one_point_do_not_hide_other_states(share):
    # A third or more of equal log densities made the unit of the noise too large.
    for seed in range(3):
        points = three(5000, 2, seed)
        points[np.random.default_rng(seed).random(5000) < share] = 0
        with pytest.warns(UserWarning, match="distance to measure of"):
            tree = tree_of(points)
        assert len(tree.states) == 3
        assert any("exact duplicates or more" in doubt for doubt in tree.doubts)


def test_a_k_without_different_neighbours_is_doubted():
    points = np.repeat(three(250, 2), 20, axis=0)
    tree = tree_of(points, k=30)
    assert tree.n_components > 3
    assert tree.connected_k == 20 * needed_k(250, tree.noise.dimension)
    assert any(
        f"(k = 30 is small, with 20 frames for each different one; use at least {tree.connected_k}, or find "
        "the states on fewer frames)" in doubt
        for doubt in tree.doubts
    )


@pytest.mark.filterwarnings("ignore:There is one state only", "ignore:The number of states is poorly")
def test_a_sample_has_fewer_copies():
    points = np.random.default_rng(0).normal(size=(20_000, 1)).round(1)
    result = mf.cluster(points, mf.Settings(fit_frames=2000))
    assert result.n_states == 1
    assert result.sample.fit.tree.noise.copies < 40 < len(points) / count_different(points)


def test_copies_are_no_correlation_in_time():
    tree = tree_of(np.repeat(three(500, 2), 10, axis=0))
    assert tree.n_independent == pytest.approx(500)
    assert not tree.dependent
    assert tree.smallest_state == 2 * tree.k


def test_the_clustering_counts_copies():
    points = np.repeat(three(500, 2), 10, axis=0)[np.random.default_rng(0).permutation(5000)]
    result = mf.cluster(points)
    assert (result.k, result.n_states) == (220, 3)
    assert "set by the number of frames (5,000, 500 of them different)" in result.chosen["k"]
    assert result.tree.well_determined
    estimator = mf.FuzzyModeSeeking().fit(points)
    assert (estimator.clustering_.k, estimator.n_clusters_) == (220, 3)
    assert mf.cluster(points, mf.Settings(k=30)).k == 30


def test_the_plan_of_the_memory_counts_copies(caplog):
    points = np.repeat(three(2500, 2), 40, axis=0)
    frames = mf.Features(points)
    from mdfuzzy.pipeline.plan import plan_memory

    with caplog.at_level("INFO", logger="mdfuzzy"):
        settings, _ = plan_memory(frames, mf.Settings(), saved=False, memory="2GB")
    assert settings.fit_frames is not None, "1,000 neighbours of 100,000 frames need more"
    assert plan_memory(mf.Features(three(100_000, 2)), mf.Settings(), saved=False, memory="2GB")[0] == (
        mf.Settings()
    )

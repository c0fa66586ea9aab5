"""States for other k and for other trajectories."""

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.states.reweighting import reweighted_log_density
from mdfuzzy.states.stability import _subgraph


def two_states(sizes=(600, 600), seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(sum(sizes), 2))
    points[: sizes[0]] += 8
    return points


@pytest.fixture(scope="module")
def neighbors():
    return mf.euclidean_neighbors(two_states(), n_neighbors=60)


def test_the_number_of_states_for_several_k(neighbors):
    scan = mf.states_by_k(neighbors, ks=[30, 12, 20])
    assert scan.k.tolist() == [12, 20, 30]
    assert scan.n_states.tolist() == [2, 2, 2]
    assert scan.well_determined.shape == (3,)
    assert "k = 12: 2 states, well determined" in str(scan)


def test_a_scan_gives_what_the_steps_give(neighbors):
    scan = mf.states_by_k(neighbors, ks=[20], dimension=2.0)
    logf = mf.dtm_log_density(neighbors, n_neighbors=40, dimension=2.0)
    graph = neighbors.graph(k=20)
    peaks = mf.compute_persistence(graph, logf)
    tree = mf.build_state_tree(neighbors, graph, logf, peaks, dimension=2.0)
    assert scan.words == (tree.words,)


def test_the_default_ks_end_at_half_the_neighbours(neighbors):
    scan = mf.states_by_k(neighbors)
    assert scan.k[0] == 5
    assert scan.k[-1] == 30
    assert len(scan.k) == 7


def test_equal_weights_are_the_ordinary_density_to_the_bit(neighbors):
    expected = mf.dtm_log_density(neighbors, dimension=2.0)
    for weight in (1, 0.3):
        found = reweighted_log_density(neighbors, expected, np.full(len(neighbors), weight))
        np.testing.assert_array_equal(found, expected)


def test_weights_are_averaged_over_the_neighbours_and_the_point():
    neighbors = mf.Neighbors([[1, 2], [0, 2], [1, 0]], [[1.0, 3.0], [1.0, 2.0], [2.0, 3.0]])
    found = reweighted_log_density(neighbors, np.zeros(3), [2.0, 1.0, 0.0], n_neighbors=1)
    np.testing.assert_allclose(np.exp(found), [0.75, 0.75, 0.25])


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0, 2.0], "one value per point"), ([0.0] * 3, "not all 0"), ([-1, 1, 1], "at least 0")],
)
def test_weights_that_are_none(weights, message):
    neighbors = mf.Neighbors([[1], [0], [1]], [[1.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match=f"`weights` .*{message}"):
        reweighted_log_density(neighbors, np.zeros(3), weights)


def test_density_and_prominence_are_used(neighbors):
    for density, estimate in (("dtm", mf.dtm_log_density), ("kde", mf.kde_log_density)):
        width = {"bandwidth": 0.5} if density == "kde" else {}
        logf = estimate(neighbors, dimension=2.0, **width)
        expected = mf.compute_persistence(neighbors.graph(k=30), logf).prominences
        options = {"density": density, "dimension": 2.0, "min_prominence": 0.05, **width}
        scan = mf.states_by_k(neighbors, ks=[30], **options)
        assert scan.n_states.tolist() == [np.count_nonzero(expected >= 0.05)]
        found = mf.bootstrap_states(neighbors, [240] * 5, k=30, n_bootstrap=2, **options)
        assert len(found.support) == scan.n_states[0]


def test_the_number_of_threads_is_passed_on(neighbors, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "mdfuzzy.states.stability.compute_persistence",
        lambda *data, n_jobs, **more: (
            asked.append(n_jobs) or mf.compute_persistence(*data, n_jobs=n_jobs, **more)
        ),
    )
    mf.states_by_k(neighbors, ks=[20], n_jobs=1)
    mf.bootstrap_states(neighbors, [240] * 5, n_bootstrap=1, n_jobs=1)
    assert asked == [1] * 5  # once for each k, once for all the data, and three levels of one sample


def test_blocks_of_a_single_trajectory_are_drawn():
    rng = np.random.default_rng(3)
    points = two_states()[rng.permutation(1200)]
    result = mf.bootstrap_states(mf.euclidean_neighbors(points, n_neighbors=60), [1200], n_bootstrap=5)
    assert result.support.tolist() == [1.0, 1.0]


def test_a_subgraph_keeps_the_edges_between_the_points_kept():
    graph = mf.euclidean_neighbors(np.random.default_rng(1).normal(size=(40, 2)), n_neighbors=6).graph(k=3)
    kept = np.random.default_rng(2).random(40) < 0.6
    part = _subgraph(graph, kept)
    old = np.flatnonzero(kept)
    for new, i in enumerate(old):
        expected = [(int(j), float(d)) for j, d in zip(*graph.edges(i), strict=True) if kept[j]]
        found = [(int(old[j]), float(d)) for j, d in zip(*part.edges(new), strict=True)]
        assert found == expected


def test_a_subgraph_of_a_graph_with_isolated_points():
    graph = mf.Graph([0, 0, 1, 2, 2], [2, 1], [1.0, 1.0], kind="radius", n_targets=4, radius=1.0)
    part = _subgraph(graph, np.array([True, False, True, True]))
    assert part.degrees.tolist() == [0, 0, 0]


def test_states_seen_by_every_trajectory_are_always_found():
    rng = np.random.default_rng(3)
    points = two_states()[rng.permutation(1200)]  # each of six trajectories visits both states
    result = mf.bootstrap_states(mf.euclidean_neighbors(points, n_neighbors=60), [200] * 6, n_bootstrap=12)
    assert result.n_states.tolist() == [2] * 12
    assert result.support.tolist() == [1.0, 1.0]
    assert "2 states in all the data; of 12 bootstrap samples of whole trajectories" in str(result)


def test_a_state_of_one_trajectory_is_found_as_often_as_that_one_is_drawn():
    points = two_states(sizes=(300, 1200))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    result = mf.bootstrap_states(neighbors, [300] * 5, n_bootstrap=40, seed=4)
    drawn = np.random.default_rng(4).integers(5, size=(40, 5))
    expected = np.mean((drawn == 0).any(axis=1))
    assert sorted(result.support.tolist()) == sorted([expected, 1.0])
    assert result.n_states.tolist() == (1 + (drawn == 0).any(axis=1)).tolist()


def test_the_same_seed_gives_the_same_result(neighbors):
    first, second = (mf.bootstrap_states(neighbors, [300] * 4, n_bootstrap=6, seed=5) for _ in range(2))
    assert first.n_states.tolist() == second.n_states.tolist()
    assert first.support.tolist() == second.support.tolist()


def test_bad_input_is_refused(neighbors):
    with pytest.raises(ValueError, match=r"`ks` must be an int in \[1, 30\]; got 31.*n_neighbors=60"):
        mf.states_by_k(neighbors, ks=[31])
    few = mf.Neighbors(neighbors.indices[:, :1], neighbors.distances[:, :1])
    with pytest.raises(ValueError, match=r"`neighbors.k` must be an int of at least 2; got 1. Search more"):
        mf.states_by_k(few)
    with pytest.raises(ValueError, match=r"`dimension` must be a finite number > 0; got 0"):
        mf.states_by_k(neighbors, dimension=0)
    with pytest.raises(
        ValueError, match=r"`lengths` must be positive integers that add up to 1200.*sum of 1100"
    ):
        mf.bootstrap_states(neighbors, [600, 500])
    with pytest.raises(ValueError, match=r"`n_bootstrap` must be an int of at least 1; got 0"):
        mf.bootstrap_states(neighbors, [600, 600], n_bootstrap=0)
    with pytest.raises(ValueError, match=r"`level` must be a finite number > 0 and <= 0.5; got 2"):
        mf.bootstrap_states(neighbors, [600, 600], level=2)


def test_frames_that_lose_their_neighbours_are_no_states():
    # The second trajectory has frames scattered over the dense first one, and a state of its own.
    rng = np.random.default_rng(7)
    points = np.concatenate(
        [rng.normal(size=(1000, 2)), rng.normal(size=(60, 2)), rng.normal(size=(300, 2)) + 9]
    )
    result = mf.bootstrap_states(mf.euclidean_neighbors(points, n_neighbors=40), [1000, 360], n_bootstrap=30)
    assert set(result.n_states.tolist()) <= {1, 2}


def test_the_noise_of_a_resample_comes_on_top_of_that_of_the_sample():
    # One state. At a level of 0.3 other numbers are to be rare; without the doubled variance they are not.
    others = []
    for seed in range(4):
        points = np.random.default_rng(seed).normal(size=(2000, 2))
        neighbors = mf.euclidean_neighbors(points, n_neighbors=30)
        found = mf.bootstrap_states(neighbors, [100] * 20, seed=1, dimension=2.0, level=0.3)
        others += (found.n_states > 1).tolist()
    assert np.mean(others) < 0.2

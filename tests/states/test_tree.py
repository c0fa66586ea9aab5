"""The tree of states: answers on data with a known number of states, the levels, other cuts, bad input."""

import numpy as np
import pytest
from helpers.graphs import path_graph
from scipy.signal import lfilter

import mdfuzzy as mf
from mdfuzzy.states.correlation import neighbors_in_time
from mdfuzzy.states.hills import match_peaks
from mdfuzzy.states.merging import merged_numbers
from mdfuzzy.states.noise import measure_noise, smooth_log_density
from mdfuzzy.states.tree import needed_k


def steps(points, k=None, **options):
    k = mf.suggest_k(len(points)) if k is None else k
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k)
    graph, log_density = neighbors.graph(k=k), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    return neighbors, peaks, mf.build_state_tree(neighbors, graph, log_density, peaks, **options)


def residues(count, n, rng):
    """Products of Ramachandran-like mixtures: three wells for each residue, and two stiff coordinates."""
    centres = np.radians([[-70, -20], [-75, 155], [-150, 155]])
    columns, labels = [], np.zeros(n, int)
    for _ in range(count):
        well = rng.choice(3, size=n, p=[0.45, 0.3, 0.25])
        labels = 3 * labels + well
        angles = centres[well] + np.radians(16) * rng.normal(size=(n, 2))
        columns += [np.cos(angles), np.sin(angles), 0.15 * rng.normal(size=(n, 2))]
    return np.hstack(columns), labels


@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.parametrize("shape", ["Gaussian", "cube"])
def test_one_mode_is_one_state(shape, d):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(1500, d)) if shape == "Gaussian" else rng.random((1500, d))
    tree = steps(points)[2]
    assert len(tree.states) == 1
    assert "1 state, " in tree.words


def test_the_nine_states_of_two_residues():
    points, labels = residues(2, 12_000, np.random.default_rng(0))
    _, peaks, tree = steps(points)
    assert len(tree.states) == 9
    assert tree.well_determined, tree.doubts
    assert len(set(labels[peaks.peaks[tree.states]])) == 9
    basins = peaks.basins(states=tree.states)
    assert np.mean(labels[peaks.peaks[tree.states]][basins] == labels) > 0.95


def test_a_ladder_of_prominences_is_not_swallowed():
    # Each peak is but a little higher than the one before: a noise fitted to all would climb over them.
    ladder = np.arange(0.5, 6.0, 0.25)
    gap = mf.states.prominence.divide_prominences(
        [np.inf, *ladder], noise=0.2, n_neighbors=80, n_points=20_000, dimension=5.0
    )
    assert gap.n_states >= 18
    assert gap.capped
    assert not gap.well_determined


def test_a_broad_shallow_state_shows_on_a_smoothed_level_only():
    # Two broad wells in many dimensions: a dip of 0.6 in the log density, below the noise of one estimate.
    rng = np.random.default_rng(3)
    points = rng.normal(size=(40_000, 6))
    points[:, 0] += np.where(rng.random(40_000) < 0.5, 1.55, -1.55)
    tree = steps(points, k=20)[2]
    assert len(tree.states) == 2
    assert tree.gaps[0].n_states == 1
    assert max(gap.n_states for gap in tree.gaps[1:]) == 2


def test_a_small_state_shows_without_smoothing_only():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(8000, 8))
    points[:120] = 5 * np.eye(8)[0] + 0.5 * rng.normal(size=(120, 8))
    tree = steps(points, k=30)[2]
    assert len(tree.states) == 2
    assert tree.gaps[0].n_states == 2
    assert tree.gaps[2].n_states == 1


def ornstein_uhlenbeck(n, d, time, rng):
    decay = np.exp(-1 / time)
    noise = rng.normal(size=(n, d)) * np.sqrt(1 - decay**2)
    return lfilter([1], [1, -decay], noise, axis=0)


def test_correlated_frames_of_one_state_are_one_state():
    for seed in range(4):
        points = ornstein_uhlenbeck(4000, 2, 30.0, np.random.default_rng(seed))
        assert len(steps(points, lengths=[4000])[2].states) == 1


def test_frames_close_in_time_make_the_noise_larger():
    points = ornstein_uhlenbeck(4000, 6, 100.0, np.random.default_rng(0))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    options = {"dimension": 6.0}
    plain = measure_noise(neighbors, graph, log_density, **options)
    known = measure_noise(neighbors, graph, log_density, lengths=[2000, 2000], **options)
    assert plain.in_time is None
    assert known.in_time.large
    assert np.all(known.scales > 1.2 * plain.scales)
    assert np.all(known.n_neighbors < 0.7 * plain.n_neighbors)
    tree = mf.build_state_tree(
        neighbors, graph, log_density, mf.compute_persistence(graph, log_density), lengths=[4000]
    )
    assert any("frames are not independent" in doubt for doubt in tree.doubts)
    assert tree.enough_frames > 400


def test_the_noise_of_smoothed_levels_is_that_of_repeated_samples():
    # Flat density: the spread of the estimate over the points is its error.
    rng = np.random.default_rng(0)
    points = rng.random((20_000, 3))
    neighbors = mf.euclidean_neighbors(mf.Features(points, periodic=[0, 1, 2], period=1.0), n_neighbors=40)
    log_density = mf.dtm_log_density(neighbors, dimension=3.0)
    noise = measure_noise(neighbors, neighbors.graph(), log_density, dimension=3.0)
    for reduction in noise.reduction:
        assert np.std(log_density) == pytest.approx(reduction * np.sqrt(10 / 7 / 40), rel=0.1)
        log_density = smooth_log_density(neighbors, log_density, k=20)


def test_the_number_of_threads_changes_nothing():
    points = np.random.default_rng(1).normal(size=(3000, 3))
    one, two = (steps(points, n_jobs=jobs, lengths=[3000])[2] for jobs in (1, 2))
    np.testing.assert_array_equal(one.prominences, two.prominences)
    np.testing.assert_array_equal(one.noise.scales, two.noise.scales)


def test_few_frames_are_said_to_be_few():
    for n in (12, 30, 200):
        tree = steps(np.random.default_rng(n).normal(size=(n, 2)), k=max(2, min(mf.suggest_k(n), n // 3)))[2]
        assert not tree.well_determined
        assert any(f"{n:,} frames are too few (at least" in doubt for doubt in tree.doubts)


def test_a_graph_that_falls_apart_by_chance_is_doubted():
    tree = steps(np.random.default_rng(0).random((3000, 2)), k=3)[2]
    assert tree.n_components > 1
    assert any(
        "may have fallen apart by chance (k = 3 is small; use at least 12)" in each for each in tree.doubts
    )
    assert needed_k(3000, 2.0) == 12


def test_rounded_features_are_doubted():
    points = np.random.default_rng(0).normal(size=(3000, 1)).round(1)
    neighbors = mf.Neighbors(*exact(points, 40))
    graph = neighbors.graph(k=20)
    with pytest.warns(UserWarning, match="distance to measure of .* points is zero"):
        log_density = mf.dtm_log_density(neighbors, dimension=1.0)
    peaks = mf.compute_persistence(graph, log_density)
    tree = mf.build_state_tree(neighbors, graph, log_density, peaks, dimension=1.0)
    assert any(
        "exact duplicates or more, as rounded or clipped features have" in each for each in tree.doubts
    )


def exact(points, m):
    distances = np.abs(points - points.T)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :m]
    return order, np.take_along_axis(distances, order, axis=1)


def test_other_numbers_of_states_are_nested():
    points, _ = residues(2, 8000, np.random.default_rng(1))
    _, peaks, tree = steps(points)
    before = tree.at(n_states=tree.n_components)
    for n_states in range(tree.n_components + 1, 13):
        states = tree.at(n_states=n_states)
        assert len(states) == n_states
        assert set(before) < set(states)
        assert len(np.unique(peaks.basins(states=states))) == n_states
        before = states
    assert tree.at().tolist() == tree.states.tolist()
    assert len(tree.at(prominence=0.5)) == len(peaks.states(0.5))
    with pytest.raises(ValueError, match=r"`n_states` must be None if `prominence` is given; got both"):
        tree.at(n_states=3, prominence=1.0)
    with pytest.raises(ValueError, match=r"`n_states` must be an int in \[.*\]; got 9999. The graph has"):
        tree.at(n_states=9999)


def test_more_components_than_states_are_refused():
    points = np.concatenate([np.random.default_rng(i).normal(size=(300, 2)) + 50 * i for i in range(3)])
    tree = steps(points)[2]
    assert tree.n_components == 3
    with pytest.raises(ValueError, match=r"`n_states` must be an int in \[3, .*got 2. The graph has 3 comp"):
        tree.at(n_states=2)


def test_the_table_has_a_line_for_every_split():
    tree = steps(residues(2, 8000, np.random.default_rng(1))[0])[2]
    lines = tree.table(n_splits=12).splitlines()
    assert len(lines) == 13
    assert lines[0].split() == [
        "peak",
        "joins",
        "prominence",
        "smoothed",
        "once",
        "smoothed",
        "twice",
        "p",
        "(noise)",
    ]
    assert sum(line.endswith("noise") for line in lines[1:]) == 12 - len(tree.states)


def test_a_hill_belongs_to_the_most_prominent_peak_in_its_basin():
    graph = path_graph(9)
    rough = mf.compute_persistence(graph, [0.0, 5, 4, 4.5, 1, 3, 7, 6, 0])
    assert rough.peaks.tolist() == [6, 1, 3]
    # One hill around 2, one around 6: peak 1 is the most prominent in the first, peak 3 has none of its own.
    smooth = mf.compute_persistence(graph, [1.0, 3, 4.2, 3.5, 2, 4, 6, 5, 2])
    assert match_peaks(rough, smooth).tolist()[:2] == [np.inf, pytest.approx(2.2)]
    assert np.isnan(match_peaks(rough, smooth)[2])
    # A hill at the right end, without a peak in it, leaves no trace.
    extra = mf.compute_persistence(graph, [1.0, 3, 4.2, 3.5, 2, 4, 6, 5, 5.5])
    np.testing.assert_array_equal(match_peaks(rough, extra), match_peaks(rough, smooth))


def test_merging_by_hand():
    assert merged_numbers(6, [[2, 5]]).tolist() == [0, 1, 2, 3, 4, 2]
    assert merged_numbers(5, [[4, 1], [0, 3]]).tolist() == [0, 1, 2, 0, 1]
    for bad in ([[1]], [[1, 1]], [[0, 1], [1, 2]]):
        with pytest.raises(ValueError, match="`groups` must hold at least 2 different states each"):
            merged_numbers(4, bad)
    with pytest.raises(ValueError, match=r"`groups` must be an int in \[0, 3\]; got 4"):
        merged_numbers(4, [[0, 4]])


def test_sets_of_peaks_that_are_no_states():
    peaks = mf.compute_persistence(path_graph(9), [0.0, 5, 4, 4.5, 1, 3, 7, 6, 0])
    assert peaks.basins(states=[1, 0]).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    for bad, message in (
        ([1, 2], r"highest peak of every component of the graph, .*none for 1 of 1 \(peak 0\)"),
        ([0, 0], "different numbers in"),
        ([0, 3], r"in \[0, 2\]"),
        ([], "a list of integers, not empty"),
        ([0.5], "a list of integers"),
    ):
        with pytest.raises(ValueError, match=rf"`states` must .*{message}"):
            peaks.basins(states=bad)
    with pytest.raises(ValueError, match="`min_prominence` must be None if `states` is given; got both"):
        peaks.basins(1.0, states=[0])


def test_neighbors_in_time_of_a_line():
    neighbors = mf.euclidean_neighbors(np.arange(1000.0)[:, None], n_neighbors=4)
    found = neighbors_in_time(neighbors, [600, 400])
    assert found.share == pytest.approx(1 - 6 / 4000)  # six neighbours across the border
    assert found.large
    assert 2 < found.inefficiency < 5.1
    assert "99.9 % of the neighbours of a frame lie within 100 frames of it in the same" in str(found)


@pytest.mark.parametrize("lengths", [[], [1.5], [[3]], [10, -1], [5]])
def test_lengths_that_do_not_fit(lengths):
    neighbors = mf.euclidean_neighbors(np.arange(9.0)[:, None], n_neighbors=4)
    with pytest.raises(ValueError, match="`lengths` must be"):
        neighbors_in_time(neighbors, lengths)

"""Cores: analytic cases, the slow twin, and what must hold for every rule on every graph."""

import numpy as np
import pytest
from helpers.graphs import graph_of, path_graph, random_graphs, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import peaks as reference

import mdfuzzy as mf

RULES = ("prominence", "point", "saddle", "share")

#                 0    1    2    3    4    5    6    7    8
HILLS = np.array([3.0, 5.0, 4.0, 1.0, 3.0, 4.0, 3.6, 2.0, 0.0])


def cores_of(graph, values, **options):
    return mf.find_cores(graph, values, mf.compute_persistence(graph, values), **options)


def members(cores):
    """The points of each core, from the left."""
    return sorted(np.flatnonzero(cores.core_of == c).tolist() for c in range(len(cores)))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("prominence", [[1], [5, 6]]),  # tau / 2 = 1 below the peaks, strictly: above 4 and above 3
        ("point", [[1], [5]]),
        ("saddle", [[1, 2], [4, 5, 6]]),  # half way down to the saddle at 1: above 3 and above 2.5
        ("share", [[1, 2], [5, 6, 4]]),  # half of 4 points; half of 5, rounded up
    ],
)
def test_two_hills(rule, expected):
    cores = cores_of(path_graph(9), HILLS, min_prominence=2.0, rule=rule, share=0.5)
    assert cores.peaks.tolist() == [5, 1], "the larger basin first"
    assert cores.prominence.tolist() == [3.0, np.inf]
    assert cores.basin_sizes.tolist() == [5, 4]
    assert members(cores) == [sorted(core) for core in expected]
    assert cores.sizes.tolist() == [len(core) for core in expected[::-1]]


def test_the_paper_rule_is_the_default():
    assert members(cores_of(path_graph(9), HILLS, min_prominence=2.0)) == [[1], [5, 6]]


@pytest.mark.parametrize(
    ("rule", "least", "expected"),
    [
        ("prominence", 0.0, [[1], [5, 6]]),
        ("prominence", 0.5, [[1, 2], [4, 5, 6]]),  # half of 4 points, and half of 5
        ("prominence", 0.4, [[1, 2], [5, 6]]),  # two of 5 it has already
        ("saddle", 1.0, [[0, 1, 2, 3], [4, 5, 6, 7, 8]]),
        ("point", 1.0, [[1], [5]]),
        ("share", 1.0, [[1], [5]]),  # its own share counts
    ],
)
def test_cores_hold_at_least_a_share_of_their_basin(rule, least, expected):
    cores = cores_of(path_graph(9), HILLS, min_prominence=2.0, rule=rule, share=0.01, least=least)
    assert members(cores) == expected


def test_the_least_share_lowers_the_level_of_small_cores_only():
    frames = mf.datasets.alanine_dipeptide(stride=5)
    neighbors = mf.rmsd_neighbors(frames, n_neighbors=40)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    plain, larger = (cores_of(graph, log_density, min_prominence=1.0, least=least) for least in (0.0, 0.02))
    assert np.all(larger.core_of[plain.core_of >= 0] == plain.core_of[plain.core_of >= 0])
    assert np.all(larger.sizes >= np.ceil(0.02 * larger.basin_sizes))
    kept = plain.sizes >= np.ceil(0.02 * plain.basin_sizes)
    assert np.array_equal(larger.sizes[kept], plain.sizes[kept])
    assert not kept.all()


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_a_least_share_outside_its_range_is_refused(bad):
    with pytest.raises(ValueError, match=r"`least` must be .* >= 0 and <= 1; got .* share of each basin"):
        cores_of(path_graph(9), HILLS, min_prominence=2.0, least=bad)


def test_milestones_are_a_share_of_the_same_states():
    graph = path_graph(9)
    peaks = mf.compute_persistence(graph, np.array(HILLS))
    milestones = mf.find_milestones(graph, HILLS, peaks, min_prominence=2.0)
    assert members(milestones) == members(cores_of(graph, HILLS, min_prominence=2.0, rule="share", share=0.4))
    assert milestones.peaks.tolist() == [5, 1]
    with pytest.raises(ValueError, match=r"`share` must be a finite number > 0 and <= 1; got 0"):
        mf.find_milestones(graph, HILLS, peaks, min_prominence=2.0, share=0.0)


def test_a_core_is_connected_even_if_a_second_top_of_its_basin_is_as_high():
    values = [5.0, 4.2, 4.8, 0.0]  # the dip at 4.2 parts 0 from 2 above 4.5
    assert members(cores_of(path_graph(4), values, min_prominence=1.0)) == [[0]]
    # The share of 2 of 4 points is first held, in one piece, when the dip joins both tops.
    assert members(cores_of(path_graph(4), values, min_prominence=1.0, rule="share", share=0.5)) == [
        [0, 1, 2]
    ]


def test_the_saddle_rule_looks_at_the_highest_saddle_to_any_state():
    # The highest state meets a lower one at 3, though a saddle to itself does not exist.
    values = [5.0, 4.5, 3.5, 3.0, 4.4, 0.0, 1.0]
    cores = cores_of(path_graph(7), values, min_prominence=1.0, rule="saddle")
    assert members(cores) == [[0, 1], [4], [6]]


def test_the_saddle_rule_falls_back_for_a_state_alone_in_its_component():
    values = [5.0, 4.6, 4.0, 3.0]
    assert members(cores_of(path_graph(4), values, min_prominence=1.0, rule="saddle")) == [[0, 1]]


def test_a_share_of_one_is_the_whole_basin():
    cores = cores_of(path_graph(9), HILLS, min_prominence=2.0, rule="share", share=1.0)
    assert cores.core_of.tolist() == cores.basins.tolist()


def test_a_small_share_is_the_peak():
    assert members(cores_of(path_graph(9), HILLS, min_prominence=2.0, rule="share", share=1e-9)) == [[1], [5]]


@settings(max_examples=150, deadline=None)
@given(
    random_graphs(),
    st.sampled_from(RULES),
    st.sampled_from([0.5, 1.0, 2.5, 4.0, np.inf]),
    st.sampled_from([0.01, 0.3, 0.5, 1.0]),
)
def test_cores_are_disjoint_connected_around_their_peak_and_as_defined(case, rule, tau, share):
    graph, values = case
    if tau == np.inf and rule == "prominence":
        tau = 20.0
    peaks = mf.compute_persistence(graph, values)
    cores = mf.find_cores(graph, values, peaks, min_prominence=tau, rule=rule, share=share, min_size=1)
    by_height = peaks.basins(tau)
    assert len(set(zip(cores.basins.tolist(), by_height.tolist(), strict=True))) == len(cores), "renumbered"
    assert np.all(np.diff(cores.basin_sizes) <= 0), "largest first"
    neighbors = reference.adjacency(graph)
    for c, peak in enumerate(cores.peaks.tolist()):
        core = set(np.flatnonzero(cores.core_of == c).tolist())  # one label per point: disjoint
        basin = set(np.flatnonzero(cores.basins == c).tolist())
        assert peak in core <= basin
        assert reference.component(neighbors, peak, core) == core
        if rule == "share":
            assert core == reference.share_top(graph, values, peak, share, basin)
            continue
        level = values[peak] if rule == "point" else values[peak] - tau / 2
        if rule == "saddle":
            saddle = reference.saddle_level(graph, values, peak, set(cores.peaks.tolist()) - {peak})
            level = level if np.isinf(saddle) else (values[peak] + saddle) / 2
        assert core == reference.top(graph, values, peak, level, range(len(graph)))


def test_permuting_the_points_permutes_the_cores():
    graph, logf = sample(3)
    order = np.random.default_rng(0).permutation(len(graph))
    place = np.argsort(order)
    edges = [(int(place[i]), int(place[j])) for i in range(len(graph)) for j in graph.edges(i)[0]]
    for rule in RULES:
        before = cores_of(graph, logf, min_prominence=0.3, rule=rule)
        after = cores_of(graph_of(len(graph), edges), logf[order], min_prominence=0.3, rule=rule)
        assert after.core_of.tolist() == before.core_of[order].tolist()


def test_isolated_points_are_no_states():
    graph = graph_of(7, [(0, 1), (1, 2), (4, 5)])
    values = [1.0, 2.0, 1.5, 9.0, 0.0, 3.0, -1.0]
    with pytest.warns(UserWarning, match=r"2 points are in components .* fewer than 2 points .*min_size=1"):
        cores = cores_of(graph, values, min_prominence=1.0)
    assert cores.basins.tolist() == [0, 0, 0, -1, 1, 1, -1]
    assert cores.core_of[[3, 6]].tolist() == [-1, -1]
    assert cores.basin_sizes.tolist() == [3, 2]
    assert len(cores_of(graph, values, min_prominence=1.0, min_size=1)) == 4
    with pytest.warns(UserWarning, match="4 points"):
        assert cores_of(graph, values, min_prominence=1.0, min_size=3, rule="saddle").peaks.tolist() == [1]
    with pytest.raises(
        ValueError, match=r"`min_size` must be at most the size of the largest component.*got 4"
    ):
        cores_of(graph, values, min_prominence=1.0, min_size=4)


def test_one_state_only():
    cores = cores_of(path_graph(4), [1.0, 3.0, 2.0, 0.0], min_prominence=9.0)
    assert len(cores) == 1
    assert cores.basins.tolist() == [0] * 4


@pytest.mark.parametrize("bad", [0, -1.0, np.nan])
def test_a_prominence_that_is_not_positive_is_refused(bad):
    with pytest.raises(ValueError, match=r"`min_prominence` must be a number > 0; got .*suggest_prominence"):
        cores_of(path_graph(9), HILLS, min_prominence=bad)


@pytest.mark.parametrize("bad", [0, 1.1, np.nan])
def test_a_share_outside_its_range_is_refused(bad):
    with pytest.raises(ValueError, match="`share` must be a finite number > 0 and <= 1; got"):
        cores_of(path_graph(9), HILLS, min_prominence=1.0, rule="share", share=bad)


def test_other_bad_input_is_refused():
    peaks = mf.compute_persistence(path_graph(9), HILLS)
    with pytest.raises(
        ValueError, match="`rule` must be one of 'prominence', 'point', 'saddle', 'share'; got 'x'"
    ):
        mf.find_cores(path_graph(9), HILLS, peaks, min_prominence=1.0, rule="x")
    with pytest.raises(ValueError, match="`peaks` must belong to `graph`; got peaks of 9 points for 8"):
        mf.find_cores(path_graph(8), HILLS[:8], peaks, min_prominence=1.0)
    with pytest.raises(ValueError, match="`min_size` must be an int of at least 1; got 0"):
        mf.find_cores(path_graph(9), HILLS, peaks, min_prominence=1.0, min_size=0)
    with pytest.raises(ValueError, match="`log_density` must be finite; got nan at index 1"):
        mf.find_cores(path_graph(9), np.where(HILLS == 5, np.nan, HILLS), peaks, min_prominence=1.0)
    with pytest.raises(ValueError, match=r"`log_density` must be the one that `peaks` was computed from"):
        mf.find_cores(path_graph(9), HILLS + 1, peaks, min_prominence=1.0)


def test_repr_says_how_many():
    cores = cores_of(path_graph(9), HILLS, min_prominence=2.0)
    assert repr(cores) == "Cores(2 states of 9 points, core sizes [2, 1])"


def test_something_else_in_place_of_peaks():
    graph = mf.euclidean_neighbors(np.arange(8.0)[:, None], n_neighbors=2).graph(k=2)
    with pytest.raises(TypeError, match="`peaks` must be `Persistence`; got list"):
        mf.find_cores(graph, np.zeros(8), [], min_prominence=1.0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0, 0], [0], [0], [1.0]), r"got shapes \(2,\), \(1,\), \(1,\) and \(1,\)"),
        (([0, 0], [0, -1], [0], [1.0, 2.0]), r"`prominence` one per state; got shapes .* and \(2,\)"),
        (([0, 1], [0, -1], [0], [1.0]), r"`basins` must be in \[-1, 0\]; got 0 to 1"),
        (([0, 0], [0, -2], [0], [1.0]), r"`core_of` must be in \[-1, 0\]; got -2 to 0"),
        (([0, 0], [0, -1], [2], [1.0]), r"`peaks` must be in \[0, 1\]; got 2 to 2"),
    ],
)
def test_arrays_that_do_not_belong_together(arrays, message):
    with pytest.raises(ValueError, match=message):
        mf.Cores(*arrays)

"""Peaks, prominences and merge tree: analytic cases, the slow twin, GUDHI, invariances, bad input."""

import numpy as np
import pytest
from helpers.graphs import graph_of, path_graph, random_graphs, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import peaks as reference

import mdfuzzy as mf


def same_partition(a, b):
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len(set(np.asarray(a).tolist())) == len(set(np.asarray(b).tolist()))


def test_three_hills_in_a_row():
    # Heights     peak 5   saddle 1   peak 4   saddle 3   peak 4.5
    values = [0.0, 5.0, 2.0, 1.0, 4.0, 3.0, 4.5, 0.5]
    peaks = mf.compute_persistence(path_graph(8), values)
    assert peaks.peaks.tolist() == [1, 6, 4]
    assert peaks.births.tolist() == [5.0, 4.5, 4.0]
    assert peaks.deaths.tolist() == [-np.inf, 1.0, 3.0]
    assert peaks.saddles.tolist() == [-1, 3, 5]
    assert peaks.parents.tolist() == [0, 0, 1]
    assert peaks.ascents.tolist() == [0, 0, 0, 2, 2, 1, 1, 1]
    assert peaks.prominences.tolist() == [np.inf, 3.5, 1.0]
    assert peaks.basins(0.5).tolist() == [0, 0, 0, 2, 2, 1, 1, 1]
    assert peaks.basins(1.5).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert peaks.basins(1.0).tolist() == peaks.basins(0.5).tolist(), "at least this prominence is a state"
    assert peaks.basins(4.0).tolist() == [0] * 8
    assert peaks.saddle_levels(0.5).tolist() == [1.0, 3.0, 3.0]
    assert peaks.saddle_levels(1.5).tolist() == [1.0, 1.0]
    assert peaks.saddle_levels(9.0).tolist() == [-np.inf]


def test_a_small_peak_joins_the_state_next_to_it_not_the_highest_of_its_component():
    # 0 (10) and 2 (9) meet at 1 (2); later 3 (4) meets the slope of 2 at 4 (1.5).
    graph = graph_of(5, [(0, 1), (1, 2), (3, 4), (4, 2)])
    assert mf.compute_persistence(graph, [10, 2, 9, 4, 1.5]).basins(3.0).tolist() == [0, 0, 1, 1, 1]


def test_a_small_peak_between_two_states_of_one_component_joins_the_one_its_saddle_is_nearer_to():
    # 0 (10) and 2 (9) meet at 1 (2). Peak 3 (4) meets the slopes of both at 4 (1.5): the higher slope wins.
    graph = graph_of(7, [(0, 1), (1, 2), (0, 5), (2, 6), (3, 4), (5, 4), (6, 4)])
    assert mf.compute_persistence(graph, [10, 2, 9, 4, 1.5, 3.0, 3.1]).basins(3.0)[3] == 1
    assert mf.compute_persistence(graph, [10, 2, 9, 4, 1.5, 3.1, 3.0]).basins(3.0)[3] == 0


def test_ties_are_broken_by_index():
    peaks = mf.compute_persistence(path_graph(4), np.zeros(4))
    assert peaks.peaks.tolist() == [0]
    peaks = mf.compute_persistence(path_graph(5), [1.0, 1.0, 0.0, 1.0, 1.0])
    assert peaks.peaks.tolist() == [0, 3]
    assert peaks.prominences.tolist() == [np.inf, 1.0]


def test_every_component_keeps_a_peak_that_never_dies():
    graph = graph_of(6, [(0, 1), (2, 3), (3, 4)])
    peaks = mf.compute_persistence(graph, [1.0, 2.0, 5.0, 4.0, 4.5, 0.0])
    assert peaks.n_components == 3
    assert peaks.peaks.tolist() == [2, 4, 1, 5]
    assert np.isinf(peaks.prominences).tolist() == [True, False, True, True]
    assert peaks.basins(np.inf).tolist() == [1, 1, 0, 0, 0, 2]
    assert "4 peaks of 6 points in 3 components" in repr(peaks)


@settings(max_examples=150, deadline=None)
@given(random_graphs(), st.sampled_from([0.5, 1.0, 2.5, 4.0, np.inf]))
def test_agrees_with_the_definition_and_with_tomato_as_first_written(case, tau):
    graph, values = case
    peaks = mf.compute_persistence(graph, values)
    expected = reference.persistence(graph, values)
    found = dict(zip(peaks.peaks.tolist(), peaks.saddles.tolist(), strict=True))
    assert found == {peak: -1 if saddle is None else saddle for peak, saddle in expected.items()}
    roots = reference.tomato(graph, values, tau)
    states = peaks.states(tau)
    assert peaks.peaks[states][peaks.basins(tau)].tolist() == roots.tolist()
    for state, level in zip(states, peaks.saddle_levels(tau), strict=True):
        others = set(peaks.peaks[states].tolist()) - {int(peaks.peaks[state])}
        assert level == reference.saddle_level(graph, values, int(peaks.peaks[state]), others)


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_gudhi(seed):
    tomato = pytest.importorskip("gudhi.clustering.tomato", reason="GUDHI is the peer")
    rng = np.random.default_rng(seed)
    graph, logf = sample(
        seed, n=int(rng.integers(50, 1500)), d=int(rng.integers(1, 4)), k=int(rng.integers(2, 9))
    )
    if seed % 2:
        logf = rng.normal(size=len(graph))
    peaks = mf.compute_persistence(graph, logf)
    # Where a point joins components, GUDHI lets the first one in its list win; ours lets the highest.
    rows = [graph.edges(i)[0] for i in range(len(graph))]
    peer = tomato.Tomato(graph_type="manual", density_type="manual")
    peer.fit([row[np.argsort(-logf[row])] for row in rows], weights=logf)
    diagram = peer.diagram_.reshape(-1, 2)
    mortal = np.isfinite(peaks.deaths)
    ours = np.column_stack([peaks.births, peaks.deaths])[mortal]
    assert sorted(map(tuple, ours)) == sorted(map(tuple, diagram))
    assert sorted(peaks.births[~mortal]) == sorted(peer.max_weight_per_cc_)
    assert same_partition(peaks.ascents, peer.leaf_labels_)
    saddles = peaks.saddles[mortal]
    if len(np.unique(saddles)) < len(saddles):
        return  # three components at one point: GUDHI's choice follows the order of its union-find
    for tau in np.quantile(peaks.prominences[mortal], [0.2, 0.5, 0.8, 0.95]) if len(saddles) else ():
        peer.merge_threshold_ = tau
        assert same_partition(peaks.basins(np.nextafter(tau, np.inf)), peer.labels_)


def test_gudhi_is_compared_at_thresholds_in_most_cases():
    """The early return above must not empty the test."""
    compared = 0
    for seed in range(0, 12, 2):
        rng = np.random.default_rng(seed)
        graph, logf = sample(
            seed, n=int(rng.integers(50, 1500)), d=int(rng.integers(1, 4)), k=int(rng.integers(2, 9))
        )
        saddles = mf.compute_persistence(graph, logf).saddles
        compared += len(np.unique(saddles[saddles >= 0])) == np.count_nonzero(saddles >= 0)
    assert compared >= 3


def test_permuting_the_points_permutes_the_result():
    graph, logf = sample(3)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(graph))  # new point i is old point order[i]
    place = np.argsort(order)
    edges = [(int(place[i]), int(place[j])) for i in range(len(graph)) for j in graph.edges(i)[0]]
    before, after = (
        mf.compute_persistence(graph, logf),
        mf.compute_persistence(graph_of(len(graph), edges), logf[order]),
    )
    assert order[after.peaks].tolist() == before.peaks.tolist()
    assert after.prominences.tolist() == before.prominences.tolist()
    assert after.basins(0.1).tolist() == before.basins(0.1)[order].tolist()


def test_a_constant_and_a_factor_change_nothing_but_the_scale():
    graph, logf = sample(4)
    before = mf.compute_persistence(graph, logf)
    shifted = mf.compute_persistence(graph, logf + 32.0)
    scaled = mf.compute_persistence(graph, 4.0 * logf)  # a power of 2: exact
    np.testing.assert_allclose(shifted.prominences, before.prominences, rtol=0, atol=1e-13)
    assert shifted.noise == pytest.approx(before.noise, rel=1e-12)
    assert scaled.prominences.tolist() == (4.0 * before.prominences).tolist()
    assert scaled.noise == pytest.approx(4.0 * before.noise, rel=1e-12)
    assert scaled.basins(0.4).tolist() == before.basins(0.1).tolist()


def test_the_result_does_not_depend_on_the_number_of_threads():
    graph, logf = sample(5, n=3000)
    one, two = (mf.compute_persistence(graph, logf, n_jobs=jobs) for jobs in (1, 2))
    for name in ("peaks", "births", "deaths", "saddles", "parents", "ascents"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_the_result_does_not_depend_on_the_batches(monkeypatch):
    for seed in range(4):
        graph, logf = sample(seed, n=300, k=3)
        values = logf if seed % 2 else np.random.default_rng(seed).normal(size=300)
        whole = mf.compute_persistence(graph, values)
        monkeypatch.setattr("mdfuzzy.states.persistence._FIRST_BATCH", 2)
        parts = mf.compute_persistence(graph, values)
        monkeypatch.undo()
        for name in ("peaks", "saddles", "parents"):
            assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


def test_arrays_cannot_be_written_and_the_callers_is_not_changed():
    graph, logf = sample(6)
    kept = logf.copy()
    peaks = mf.compute_persistence(graph, logf)
    assert logf.tobytes() == kept.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        peaks.births[0] = 0


def test_one_point():
    graph = mf.Graph([0, 0], [], [], kind="radius", n_targets=1, radius=1.0)
    peaks = mf.compute_persistence(graph, [0.3])
    assert peaks.basins(1.0).tolist() == [0]
    assert peaks.prominence_gap().n_states == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_log_density_that_is_not_finite_is_refused(bad):
    graph, logf = sample(7, n=50)
    logf[17] = bad
    with pytest.raises(ValueError, match=r"`log_density` must be finite; got .* at index 17 .*no logarithm"):
        mf.compute_persistence(graph, logf)


@pytest.mark.parametrize("shape", [(49,), (51,), (50, 1), ()])
def test_a_log_density_of_another_shape_is_refused(shape):
    graph, _ = sample(7, n=50)
    with pytest.raises(
        ValueError, match=r"`log_density` must have one value per point .* \(50,\); got shape"
    ):
        mf.compute_persistence(graph, np.zeros(shape))


def test_a_directed_graph_is_refused():
    neighbors = mf.euclidean_neighbors(np.arange(10.0)[:, None], n_neighbors=4)
    with pytest.raises(ValueError, match=r"`graph` must be symmetric; got Graph\(directed.*kind='union'"):
        mf.compute_persistence(neighbors.graph(k=2, kind="directed"), np.zeros(10))


@pytest.mark.parametrize("bad", [0, -0.1, np.nan])
def test_a_prominence_that_is_not_positive_is_refused(bad):
    peaks = mf.compute_persistence(path_graph(3), [1.0, 0.0, 2.0])
    for method in (peaks.basins, peaks.states, peaks.saddle_levels):
        with pytest.raises(
            ValueError, match=r"`min_prominence` must be a number > 0; got .*suggest_prominence"
        ):
            method(bad)

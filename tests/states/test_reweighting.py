"""The log density of weighted points, its variance, and the test against noise with weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree

import mdfuzzy as mf
from mdfuzzy.pipeline._arrays import pack
from mdfuzzy.states.reweighting import standardise, variance_factors


def nearest(points: np.ndarray, m: int) -> mf.Neighbors:
    distances, indices = cKDTree(points).query(points, m + 1)
    return mf.Neighbors(indices[:, 1:], distances[:, 1:])


def test_equal_weights_do_not_change_the_variance_at_all():
    neighbors = nearest(np.random.default_rng(0).random((300, 2)), 20)
    for weight in (1.0, 0.37, 1e-9):
        assert_array_equal(variance_factors(neighbors, np.full(300, weight), dimension=2.0), np.ones(300))


def test_neighbours_without_weight_have_an_infinite_variance_and_a_finite_density():
    points = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [52.0]])
    neighbors, weights = nearest(points, 2), np.repeat([0.0, 1.0], 3)
    assert_array_equal(
        np.isinf(variance_factors(neighbors, weights, dimension=1.0)), np.repeat([True, False], 3)
    )
    found = mf.reweighted_log_density(neighbors, np.zeros(6), weights)
    assert_allclose(found[:3], np.log(1e-3))  # a thousandth of the smallest mean weight, 1
    assert_array_equal(found[3:], np.zeros(3))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_variance_of_the_log_density_is_that_of_the_formula(d):
    # Points spread evenly in a periodic cube have the same density everywhere: what varies is error. The
    # formula is for small errors; 40 draws of 4,000 points determine the variance to a few per cent.
    m, n, rng = 60, 4000, np.random.default_rng(d)
    found, expected = [], []
    for _ in range(10):
        points = rng.random((n, d))
        distances, indices = cKDTree(points, boxsize=1.0).query(points, m + 1)
        neighbors = mf.Neighbors(indices[:, 1:], distances[:, 1:])
        weights = rng.lognormal(sigma=0.8, size=n)
        sampled = mf.dtm_log_density(neighbors, dimension=float(d))
        found.append(np.var(mf.reweighted_log_density(neighbors, sampled, weights)))
        variance = (2 * d + 4) / (d + 4) / m
        expected.append(variance * variance_factors(neighbors, weights, dimension=float(d)).mean())
    assert_allclose(np.mean(found), np.mean(expected), rtol=0.12)


def test_standardised_prominences_are_in_units_of_the_noise_at_peak_and_saddle():
    points = np.arange(7.0)[:, None]
    graph = nearest(points, 2).graph(k=2)
    peaks = mf.compute_persistence(graph, [0.0, 5.0, 1.0, 0.5, 1.0, 3.0, 0.0])
    variances = np.full(7, 4.0)
    assert_array_equal(standardise(peaks, None), peaks.prominences)
    assert_allclose(standardise(peaks, variances)[1], peaks.prominences[1] / 2)
    assert standardise(peaks, variances)[0] == np.inf
    variances[peaks.peaks[1]] = np.inf
    assert standardise(peaks, variances)[1] == 0


def test_a_tree_with_equal_weights_is_the_tree_without():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(900, 2)) + 4 * np.repeat([0, 1, 2], 300)[:, None]
    neighbors = nearest(points, 40)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors, dimension=2.0)
    peaks = mf.compute_persistence(graph, log_density)
    options = {"dimension": 2.0, "lengths": [300] * 3}
    plain = mf.build_state_tree(neighbors, graph, log_density, peaks, **options)
    weighted = mf.build_state_tree(
        neighbors, graph, log_density, peaks, sampled=log_density, weights=np.full(900, 0.2), **options
    )
    one, two = pack(plain), pack(weighted)
    assert two.keys() - one.keys() == {"standardised", "n_effective"}
    for name in one:
        assert_array_equal(one[name], two[name], err_msg=name)
    assert weighted.n_effective == pytest.approx(900)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_independent_weights_make_no_states_of_one_mode(sigma):
    # If the variances of the weights are left out, 4 of these 10 have several states at a width of 2.
    several = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        points, weights = rng.normal(size=(2000, 2)), rng.lognormal(sigma=sigma, size=2000)
        several += mf.cluster(mf.Features(points, weights=weights), mf.Settings(n_jobs=1)).n_states > 1
    assert several == 0


def test_a_state_that_the_bias_emptied_is_found_by_its_weight():
    # The barrier between two wells is sampled as often as the wells: without weights there is one state.
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, 6000)
    data = mf.Features(np.column_stack([x, rng.normal(scale=0.3, size=6000)]))
    energy = 4 * (x**2 - 1) ** 2
    weighted = data.weighted(log_weights=-energy)
    assert mf.cluster(weighted).n_states == 2
    with pytest.warns(UserWarning, match="one state only"):
        assert mf.cluster(data).n_states == 1


def test_the_scan_over_k_and_the_bootstrap_use_the_weights():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, 3000)
    weights = np.exp(-4 * (x**2 - 1) ** 2)
    neighbors = nearest(np.column_stack([x, rng.normal(scale=0.3, size=3000)]), 60)
    scan = mf.states_by_k(neighbors, ks=[20, 30], weights=weights)
    assert scan.n_states.tolist() == [2, 2]
    found = mf.bootstrap_states(neighbors, [600] * 5, n_bootstrap=5, weights=weights)
    assert found.n_states.tolist() == [2] * 5
    assert_array_equal(found.support, [1.0, 1.0])
    for call in (
        lambda **more: mf.states_by_k(neighbors, ks=[20], **more).words,
        lambda **more: mf.bootstrap_states(neighbors, [600] * 5, n_bootstrap=1, **more).support.tolist(),
    ):
        assert call(weights=np.full(3000, 0.5)) == call()


def test_cores_hold_a_share_of_the_weight_of_their_basin():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(800, 2)) + 6 * np.repeat([0, 1], 400)[:, None]
    neighbors, weights = nearest(points, 40), rng.lognormal(size=800)
    sampled = mf.dtm_log_density(neighbors, dimension=2.0)
    log_density, graph = mf.reweighted_log_density(neighbors, sampled, weights), neighbors.graph()
    peaks = mf.compute_persistence(graph, log_density, sampled=sampled)
    cores = mf.find_cores(
        graph, log_density, peaks, min_prominence=2.0, rule="share", share=0.3, weights=weights
    )
    for state in range(len(cores)):
        basin, core = cores.basins == state, cores.core_of == state
        assert 0.3 <= weights[core].sum() / weights[basin].sum() < 0.33
    held = np.bincount(cores.basins, weights)
    assert held[0] == held.max()  # the heaviest first
    with pytest.raises(ValueError, match="`weights` must have one value per point"):
        mf.find_cores(graph, log_density, peaks, min_prominence=2.0, weights=weights[1:])
    equal = [
        mf.find_milestones(graph, sampled, mf.compute_persistence(graph, sampled), min_prominence=2.0, **more)
        for more in ({}, {"weights": np.full(800, 0.5)})
    ]
    assert_array_equal(equal[0].core_of, equal[1].core_of)

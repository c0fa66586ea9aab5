"""Cores that the walk reaches: a case in closed form, what must hold, and labels that follow the basins."""

import numpy as np
import pytest
from helpers.graphs import path_graph

import mdfuzzy as mf


def hills(*lengths):
    """Flat hills of these numbers of points in a row, with a peak at the middle of each and dips between."""
    values = []
    for place, length in enumerate(lengths):
        hill = 1 - 1e-9 * np.abs(np.arange(length) - length // 2)
        hill[length // 2] += 1e-6 / (1 + place)
        values += [hill, [1 - 1e-6]]
    return np.concatenate(values[:-1])


def kept(cores, memberships):
    """The share of each basin whose largest membership is in its state."""
    same = memberships.hard == cores.basins
    return np.array([same[cores.basins == state].mean() for state in range(len(cores))])


@pytest.mark.parametrize("lengths", [(41, 21), (81, 21), (21, 101, 21), (41, 41)])
@pytest.mark.parametrize("agreement", [0.7, 0.9, 0.98])
def test_the_smallest_core_for_a_gambler(lengths, agreement):
    # On a path every border is one edge, so the prediction is exact. Without pull the labels change half-way
    # between two cores.
    values = hills(*lengths)
    graph, states = path_graph(len(values)), range(len(lengths))
    peaks = mf.compute_persistence(graph, values)
    # At beta = 2 the exponent of a radius graph is -1/2: the flat hills have no pull up to 1e-6.
    cores = mf.find_reached_cores(
        graph, values, peaks, states=states, agreement=agreement, min_prominence=1e-8
    )
    memberships = mf.solve_memberships(graph, values, cores, beta=2.0)
    points = 2 / cores.basin_sizes  # ties at the border, and the dip
    assert np.all(kept(cores, memberships) >= agreement - points)
    grown = np.flatnonzero(cores.sizes > 4)
    assert len(grown) or agreement < 0.98 or lengths[0] == lengths[1]
    for state in grown:
        size = cores.sizes[state] / 1.05 - 3
        options = {"states": states, "rule": "share", "share": size / cores.basin_sizes[state]}
        smaller = np.where(
            cores.basins == state, mf.find_cores(graph, values, peaks, **options).core_of, cores.core_of
        )
        less = mf.Cores(cores.basins, smaller, cores.peaks, cores.prominence)
        found = mf.solve_memberships(graph, values, less, beta=2.0)
        assert kept(less, found)[state] < agreement + points[state]


def mixture(seed=0, n=3000):
    """Four wells of unequal size and width in three dimensions, in a row that bends."""
    rng = np.random.default_rng(seed)
    places = np.array([[0.0, 0.0, 0.0], [3.2, 0.0, 0.0], [4.4, 3.0, 0.0], [4.4, 4.0, 2.6]])
    state = rng.choice(4, n, p=[0.55, 0.2, 0.15, 0.1])
    points = places[state] + np.array([1.2, 0.8, 0.8, 0.7])[state][:, None] * rng.normal(size=(n, 3))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors, dimension=3.0)
    peaks = mf.compute_persistence(graph, log_density)
    tree = mf.build_state_tree(neighbors, graph, log_density, peaks, dimension=3.0)
    return (graph, log_density, peaks), tree.at(n_states=4)


@pytest.mark.parametrize("seed", range(4))
def test_labels_follow_the_basins(seed):
    data, states = mixture(seed)
    shares = []
    for agreement in (0.5, 0.9):
        cores = mf.find_reached_cores(*data, states=states, dimension=3.0, agreement=agreement)
        memberships = mf.solve_memberships(*data[:2], cores, beta=2.0, dimension=3.0)
        shares.append(kept(cores, memberships))
    assert np.all(shares[1] > 0.87)
    assert np.all(shares[0] > 0.45)
    assert np.mean(memberships.hard == cores.basins) > 0.93


def test_cores_hold_the_smaller_ones_and_lie_in_their_basins():
    data, states = mixture()
    before = mf.find_cores(*data, states=states)
    for agreement in (0.5, 0.9, 0.97):
        cores = mf.find_reached_cores(*data, states=states, agreement=agreement, dimension=3.0)
        assert np.all(cores.core_of[before.core_of >= 0] == before.core_of[before.core_of >= 0])
        assert np.all((cores.core_of < 0) | (cores.core_of == cores.basins))
        before = cores
    assert before.sizes.sum() > 50


def test_cores_that_suffice_stay_as_they_are():
    points = np.random.default_rng(0).normal(size=(600, 2)) + 4 * np.repeat([0, 1], 300)[:, None]
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    cores = mf.find_reached_cores(graph, log_density, peaks, min_prominence=1.0)
    plain = mf.find_cores(graph, log_density, peaks, min_prominence=1.0)
    np.testing.assert_array_equal(cores.core_of, plain.core_of)


def test_the_number_of_threads_changes_nothing():
    data, states = mixture(2, 1500)
    one, two = (
        mf.find_reached_cores(*data, states=states, agreement=0.97, dimension=3.0, n_jobs=jobs)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.core_of, two.core_of)


def test_weights_count_in_the_share():
    # All weight lies far from the border, where the labels are right in any case: no core has to grow.
    values = hills(41, 21)
    graph = path_graph(len(values))
    peaks = mf.compute_persistence(graph, values)
    options = {"states": [0, 1], "min_prominence": 1e-8, "agreement": 0.98}
    plain = mf.find_reached_cores(graph, values, peaks, **options)
    weights = np.zeros(len(values))
    weights[plain.peaks] = 1.0
    some = mf.find_reached_cores(graph, values, peaks, **options, weights=weights)
    assert plain.sizes.sum() > some.sizes.sum()


def test_a_basin_without_a_way_out_keeps_its_core():
    points = np.concatenate([np.random.default_rng(i).normal(size=(200, 2)) + 50 * i for i in range(2)])
    neighbors = mf.euclidean_neighbors(points, n_neighbors=30)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    cores = mf.find_reached_cores(graph, log_density, peaks, min_prominence=2.0, agreement=0.99)
    plain = mf.find_cores(graph, log_density, peaks, min_prominence=2.0, least=0.0)
    np.testing.assert_array_equal(cores.core_of, plain.core_of)


@pytest.mark.parametrize("bad", [0.0, 1.0, -1.0])
def test_an_agreement_outside_its_range_is_refused(bad):
    graph, values = path_graph(5), [0.0, 2.0, 1.0, 3.0, 0.0]
    with pytest.raises(ValueError, match=r"`agreement` must be a finite number > 0 and <= 0.999; got"):
        mf.find_reached_cores(
            graph, values, mf.compute_persistence(graph, values), min_prominence=0.5, agreement=bad
        )


def test_a_core_holds_at_least_its_share():
    data, states = mixture()
    options = {"states": states, "dimension": 3.0, "agreement": 0.01}
    none = mf.find_reached_cores(*data, **options, least=0.0)
    some = mf.find_reached_cores(*data, **options, least=0.1)
    assert np.any(none.sizes < 0.1 * none.basin_sizes)
    assert np.all(some.sizes >= 0.1 * some.basin_sizes)
    with pytest.raises(ValueError, match=r"`least` must be .* <= 1; got 2"):
        mf.find_reached_cores(*data, **options, least=2)

"""Cores that the walk reaches: a case in closed form, what must hold, and labels that follow the basins."""

import numpy as np
import pytest
from helpers.graphs import path_graph

import mdfuzzy as mf


def two_hills(n):
    """Two flat hills of n points in a row, a peak at the middle of each, joined by a dip of one point."""
    hill = np.zeros(n)
    hill[n // 2] = 1e-6
    return np.concatenate([hill + 1.0, [0.0], hill * 0.5 + 1.0])


@pytest.mark.parametrize("reach", [0.3, 0.1, 0.05])
def test_the_gambler_in_a_flat_basin(reach):
    # Without pull a walk that has just entered reaches a core s points away with probability 1 / (s + 1).
    values = two_hills(41)
    graph = path_graph(len(values))
    peaks = mf.compute_persistence(graph, values)
    # The exponent of a radius graph at beta = 2 is -1/2: the flat parts are free of pull up to 1e-6.
    cores = mf.find_reached_cores(graph, values, peaks, states=[0, 1], reach=reach)
    for state in range(2):
        core = np.flatnonzero(cores.core_of == state)
        inside = np.flatnonzero(cores.basins == state)
        border = inside.max() if inside.min() == 0 else inside.min()
        steps = np.abs(core - border).min()
        assert cores.peaks[state] in core
        assert steps <= np.ceil(1 / reach)


def hexagon(seed=0, n=4000):
    """Two broad wells of unequal size."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points[:, 0] += np.where(rng.random(n) < 0.7, 1.9, -1.9)
    neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors, dimension=3.0)
    peaks = mf.compute_persistence(graph, log_density)
    tree = mf.build_state_tree(neighbors, graph, log_density, peaks, dimension=3.0)
    return graph, log_density, peaks, tree.at(n_states=2)


def test_cores_grow_with_the_reach_and_hold_the_smaller_ones():
    graph, log_density, peaks, states = hexagon()
    before = mf.find_cores(graph, log_density, peaks, states=states, least=0.0)
    for reach in (0.05, 0.2, 0.5, 0.8):
        cores = mf.find_reached_cores(graph, log_density, peaks, states=states, reach=reach, dimension=3.0)
        assert np.all(cores.sizes >= before.sizes)
        assert np.all(cores.core_of[before.core_of >= 0] == before.core_of[before.core_of >= 0])
        assert np.all((cores.core_of < 0) | (cores.core_of == cores.basins))
        before = cores
    assert np.all(before.sizes > 20)


def test_labels_follow_the_basins():
    graph, log_density, peaks, states = hexagon(1)
    cores = mf.find_reached_cores(graph, log_density, peaks, states=states, dimension=3.0)
    memberships = mf.solve_memberships(graph, log_density, cores, beta=2.0, dimension=3.0)
    assert np.mean(memberships.hard == cores.basins) > 0.95
    ratio = np.bincount(memberships.hard, minlength=2) / cores.basin_sizes
    assert np.all(np.abs(ratio - 1) < 0.15)


def test_the_number_of_threads_changes_nothing():
    graph, log_density, peaks, states = hexagon(2, 1500)
    one, two = (
        mf.find_reached_cores(graph, log_density, peaks, states=states, reach=0.3, dimension=3.0, n_jobs=jobs)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.core_of, two.core_of)


def test_a_basin_without_a_way_out_keeps_its_core():
    points = np.concatenate([np.random.default_rng(i).normal(size=(200, 2)) + 50 * i for i in range(2)])
    neighbors = mf.euclidean_neighbors(points, n_neighbors=30)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    cores = mf.find_reached_cores(graph, log_density, peaks, min_prominence=2.0, reach=0.9)
    plain = mf.find_cores(graph, log_density, peaks, min_prominence=2.0, least=0.0)
    np.testing.assert_array_equal(cores.core_of, plain.core_of)


@pytest.mark.parametrize("bad", [0.0, 1.0, -1.0])
def test_a_reach_outside_its_range_is_refused(bad):
    graph, values = path_graph(5), [0.0, 2.0, 1.0, 3.0, 0.0]
    with pytest.raises(ValueError, match=r"`reach` must be a finite number > 0 and <= 0.99; got"):
        mf.find_reached_cores(
            graph, values, mf.compute_persistence(graph, values), min_prominence=0.5, reach=bad
        )

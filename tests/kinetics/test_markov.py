"""Markov models: closed forms, deeptime as a peer, and what cannot be estimated."""

import numpy as np
import pytest
from helpers.chains import TWO_STATES, double_well, sample_chain
from numpy.testing import assert_allclose, assert_array_equal

from mdfuzzy import kinetics
from mdfuzzy.kinetics.markov import pair_counts, relaxation_times


def dtraj_of(matrix: np.ndarray) -> np.ndarray:
    """Return a trajectory in which each pair of states follows each other exactly as often as `matrix` says.

    That is a closed walk over all edges of a directed multigraph, an Euler tour.
    """
    left = matrix.copy()
    tour, path = [], [0]
    while path:
        here = path[-1]
        there = np.flatnonzero(left[here])
        if len(there):
            left[here, there[0]] -= 1
            path.append(there[0])
        else:
            tour.append(path.pop())
    return np.array(tour[::-1])


SYMMETRIC = np.array([[90, 8, 2], [8, 40, 6], [2, 6, 60]])


def test_an_exact_chain():
    # Symmetric counts are their own reversible estimate, so everything has a closed form.
    dtraj = dtraj_of(SYMMETRIC)
    assert_array_equal(pair_counts([dtraj], 1)[0], SYMMETRIC)
    model = kinetics.markov_model([dtraj], lag=1, timestep=0.5)
    matrix = SYMMETRIC / SYMMETRIC.sum(axis=1, keepdims=True)
    assert_allclose(model.transition_matrix, matrix, atol=1e-9)
    assert_allclose(model.stationary, SYMMETRIC.sum(axis=1) / SYMMETRIC.sum(), atol=1e-9)
    assert_array_equal(model.count_matrix, SYMMETRIC)
    eigenvalues = np.sort(np.linalg.eigvals(matrix).real)[::-1][1:]
    assert_allclose(model.timescales, -0.5 / np.log(eigenvalues), rtol=1e-7)
    for target in range(3):
        others = np.delete(np.arange(3), target)
        passage = np.linalg.solve(np.eye(2) - matrix[np.ix_(others, others)], np.ones(2))
        assert_allclose(model.mfpt[others, target], 0.5 * passage, rtol=1e-7)
    assert_array_equal(np.diag(model.mfpt), 0.0)
    assert model.unit == "ps"
    assert model.states.tolist() == [0, 1, 2]


def test_two_states_in_closed_form():
    # Leaving with probabilities a and b: timescale -1 / log(1 - a - b), transitions after 1/a and 1/b frames.
    a, b = 0.02, 0.05
    counts = np.array([[980, 20], [20, 380]])
    model = kinetics.markov_model([dtraj_of(counts)], lag=1)
    assert_allclose(model.timescales, -1 / np.log(1 - a - b), rtol=1e-9)
    assert_allclose(model.mfpt, [[0, 1 / a], [1 / b, 0]], rtol=1e-9)
    assert_allclose(model.stationary, [5 / 7, 2 / 7], rtol=1e-9)
    assert repr(model) == "MarkovModel(2 states, lag 1 frames, slowest timescale 13.8 frames)"


def test_the_lag_does_not_change_the_timescales_of_a_chain():
    dtrajs = sample_chain(TWO_STATES, [30_000] * 3)
    for lag in (1, 3, 9):
        model = kinetics.markov_model(dtrajs, lag=lag)
        assert_allclose(model.timescales, -1 / np.log(0.93), rtol=0.1)


def test_deeptime_gives_the_same():
    from deeptime.markov import TransitionCountEstimator
    from deeptime.markov.msm import MaximumLikelihoodMSM

    dtrajs = [dtraj // 4 for dtraj in sample_chain(double_well()[0], [3000] * 4)]
    ours = kinetics.markov_model(dtrajs, lag=5)
    counts = TransitionCountEstimator(lagtime=5, count_mode="sliding").fit_fetch(dtrajs).submodel_largest()
    peer = MaximumLikelihoodMSM(reversible=True).fit_fetch(counts)
    assert_array_equal(ours.states, counts.state_symbols)
    assert_allclose(ours.transition_matrix, peer.transition_matrix, atol=1e-9)
    assert_allclose(ours.timescales, peer.timescales(), rtol=1e-6)
    for target in (0, 4):
        expected = [peer.mfpt(origin, target) if origin != target else 0 for origin in range(len(ours))]
        assert_allclose(ours.mfpt[:, target], expected, rtol=1e-6)
    assert_allclose(ours.deeptime.stationary_distribution, ours.stationary, atol=1e-12)


def test_counts_stop_at_boundaries():
    whole = np.array([0, 0, 1, 1, 0, 1])
    parts = [whole[:3], whole[3:]]
    assert pair_counts([whole], 2).sum() == 4
    assert_array_equal(pair_counts(parts, 2).sum(axis=0), [[0, 1], [0, 1]])
    assert_array_equal(pair_counts(parts, 3).sum(axis=0), np.zeros((2, 2)))


def test_milestoned_trajectories_are_taken_as_they_are():
    dtrajs = sample_chain(TWO_STATES, [2000] * 2)
    wrapped = kinetics.Milestoned(dtrajs, [0, 0], [0, 1])
    ours, same = kinetics.markov_model(wrapped, lag=1), kinetics.markov_model(dtrajs, lag=1)
    assert_array_equal(ours.transition_matrix, same.transition_matrix)


def test_numbers_of_states_do_not_matter():
    dtrajs = sample_chain(np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]), [3000] * 2)
    order = np.array([2, 0, 1])
    one = kinetics.markov_model(dtrajs, lag=2)
    other = kinetics.markov_model([order[dtraj] for dtraj in dtrajs], lag=2)
    assert_allclose(other.timescales, one.timescales, rtol=1e-6)
    assert_allclose(other.stationary[order], one.stationary, rtol=1e-6)
    assert_allclose(other.mfpt[np.ix_(order, order)], one.mfpt, rtol=1e-5)


def test_states_that_are_not_connected_are_left_out():
    dtrajs = [*sample_chain(TWO_STATES, [1000]), np.array([0, 0, 3, 3, 3])]
    with pytest.warns(
        UserWarning, match="not connect all states in both directions at lag 1: .* leaves out 3"
    ):
        model = kinetics.markov_model(dtrajs, lag=1)
    assert model.states.tolist() == [0, 1]


def test_the_connected_set_is_that_with_the_most_frames():
    small = sample_chain(np.full((3, 3), 1 / 3), [60])[0] + 5
    with pytest.warns(UserWarning, match="leaves out 5, 6, 7"):
        model = kinetics.markov_model([*sample_chain(TWO_STATES, [1000]), small], lag=1)
    assert model.states.tolist() == [0, 1]


def test_eigenvalues_that_are_no_decay():
    times = relaxation_times(np.array([1.5, 1.0, 0.5, 0.0, -0.5, -1.0]), 2.0)
    assert_array_equal(times, [np.inf, np.inf, 2 / np.log(2), np.nan, np.nan, np.nan])


# --- bad input


@pytest.mark.parametrize(
    ("dtrajs", "message"),
    [
        ([np.zeros(9, int)], "at least two states, in both directions, at lag 1; got 1 state of which"),
        (
            [np.array([0, 0, 1, 1])],
            "in both directions, at lag 1; got 2 states of which no two are connected",
        ),
        ([np.array([0, -1, 1])], "`dtrajs` must hold states from 0 on; got -1 in number 0. With -1 outside"),
    ],
    ids=["one state", "disconnected", "outside"],
)
def test_what_cannot_be_estimated(dtrajs, message):
    with pytest.raises(ValueError, match=message):
        kinetics.markov_model(dtrajs, lag=1)


def test_a_lag_longer_than_every_trajectory():
    with pytest.raises(ValueError, match=r"`lag` must be an int in \[1, 9\]; got 10. The longest of 2 traj"):
        kinetics.markov_model([np.zeros(10, int), np.ones(5, int)], lag=10)


@pytest.mark.parametrize(
    ("dtrajs", "message"),
    [
        (
            np.zeros((2, 5), int),
            "`dtrajs` must be a list with one array of states per trajectory; got ndarray",
        ),
        ([], "`dtrajs` must be a list with one array"),
        ([np.zeros(5)], r"must hold 1-D arrays of int, none empty; got shape \(5,\) of float64 as number 0"),
        ([np.zeros((5, 1), int)], r"got shape \(5, 1\) of int64 as number 0"),
    ],
)
def test_wrong_types(dtrajs, message):
    with pytest.raises(TypeError, match=message):
        kinetics.markov_model(dtrajs, lag=1)


def test_bad_options():
    dtrajs = sample_chain(TWO_STATES, [100])
    with pytest.raises(TypeError, match="`lag` must be an int in"):
        kinetics.markov_model(dtrajs, lag=1.5)
    with pytest.raises(ValueError, match="`timestep` must be a finite number > 0; got 0"):
        kinetics.markov_model(dtrajs, lag=1, timestep=0.0)

"""Discrete trajectories and the transitions in them."""

import re
from itertools import pairwise

import numpy as np
import pytest
from helpers.chains import as_cores, as_data, as_memberships
from helpers.molecules import peptide_topology, peptide_trajectory, peptide_xyz
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from reference.milestones import milestoned, stays

import mdfuzzy as mf
from mdfuzzy import kinetics
from mdfuzzy.kinetics.dtrajs import milestone

LABELS = [np.array([-1, 0, -1, 1, -1]), np.array([1, -1, 2]), np.array([-1, -1])]


def test_core_and_hard_trajectories_keep_the_boundaries():
    data = as_data(LABELS)
    found = kinetics.core_dtrajs(data, as_cores(LABELS))
    assert isinstance(found, list)
    for dtraj, expected in zip(found, LABELS, strict=True):
        assert_array_equal(dtraj, expected)
        assert dtraj.dtype == np.int32
        assert dtraj.flags.writeable  # the caller's own
    values = np.full((10, 3), 0.1)
    values[np.arange(10), np.arange(10) % 3] = 0.8
    hard = kinetics.hard_dtrajs(data, as_memberships(values))
    assert [part.tolist() for part in hard] == [[0, 1, 2, 0, 1], [2, 0, 1], [2, 0]]


def test_frames_that_reach_no_core_have_no_hard_state():
    values = np.array([[0.0, 0.0], [0.3, 0.7], [1.0, 0.0]])
    assert kinetics.hard_dtrajs(as_data([values[:, 0]]), as_memberships(values))[0].tolist() == [-1, 1, 0]


def test_milestoned_by_hand():
    with pytest.warns(UserWarning, match="1 of 3 trajectories touch no core and are left out: 2"):
        found = kinetics.milestoned_dtrajs(as_data(LABELS), as_cores(LABELS))
    assert [part.tolist() for part in found.dtrajs] == [[0, 0, 1, 1], [1, 1, 2]]
    assert found.offsets.tolist() == [1, 0]
    assert found.trajectories.tolist() == [0, 1]
    assert found.untouched == (2,)
    assert repr(found) == "Milestoned(2 trajectories, 7 of 8 frames; 1 trajectories touch no core)"


labels = st.lists(st.lists(st.integers(-1, 3), min_size=1, max_size=30), min_size=1, max_size=5)


@given(labels)
def test_milestoned_is_its_slow_twin(parts):
    if all(label == -1 for part in parts for label in part):
        return
    found = milestone([np.array(part) for part in parts])
    expected = [(number, milestoned(part)) for number, part in enumerate(parts)]
    touched = [(number, *each) for number, each in expected if each is not None]
    assert found.untouched == tuple(number for number, each in expected if each is None)
    assert found.trajectories.tolist() == [number for number, *_ in touched]
    assert [part.tolist() for part in found.dtrajs] == [states for _, states, _ in touched]
    assert found.offsets.tolist() == [first for *_, first in touched]


@given(labels)
def test_transitions_are_those_of_the_slow_twin(parts):
    parts = [[0, 1, 2, 3], *parts]  # every core has a frame
    expected = np.zeros((4, 4), int)
    for part in parts:
        carried = milestoned(part)
        states = [state for state, *_ in stays(carried[0])] if carried else []
        for a, b in pairwise(states):
            expected[a, b] += 1
    arrays = [np.array(part) for part in parts]
    assert_array_equal(kinetics.transition_counts(as_data(arrays), as_cores(arrays)), expected)


def test_a_boundary_is_no_transition():
    one = [np.array([0, 0, 1, 1])]
    two = [np.array([0, 0]), np.array([1, 1])]
    assert kinetics.transition_counts(as_data(one), as_cores(one)).tolist() == [[0, 1], [0, 0]]
    assert kinetics.transition_counts(as_data(two), as_cores(two)).tolist() == [[0, 0], [0, 0]]


def test_time_reversal_transposes_the_transitions():
    parts = [np.random.default_rng(seed).integers(-1, 3, size=50) for seed in range(3)]
    back = [part[::-1] for part in parts]
    forward = kinetics.transition_counts(as_data(parts), as_cores(parts))
    assert_array_equal(kinetics.transition_counts(as_data(back), as_cores(back)), forward.T)


# --- the time between frames


def test_the_time_step_of_frames():
    assert kinetics.timestep(mf.load([peptide_trajectory(4), peptide_trajectory(3)])) == 2.5
    assert kinetics.timestep(as_data(LABELS)) is None


def test_no_time_step():
    uneven = peptide_trajectory(4)
    uneven.time[-1] += 1.0
    back = peptide_trajectory(4)
    back.time = back.time[::-1].copy()
    other = peptide_trajectory(4)
    other.time = 3.0 * np.arange(4)
    for parts in ([uneven], [back], [peptide_trajectory(4), other], [peptide_trajectory(1)]):
        assert mf.load(parts).timestep is None
    assert mf.load([peptide_xyz(5)], top=peptide_topology()).timestep is None


def test_single_precision_does_not_make_times_uneven():
    late = peptide_trajectory(2000)
    late.time = (28_000 + 0.2 * np.arange(2000)).astype(np.float32)
    assert mf.load([late]).timestep == 0.2


# --- bad input


def test_no_core_touched():
    labels = np.full(5, -1)
    nothing = mf.Cores(np.zeros(5), labels, [0], [np.inf])
    for function in (kinetics.milestoned_dtrajs, kinetics.transition_counts, kinetics.visits):
        with pytest.raises(
            ValueError, match="`cores` must be touched by at least one trajectory; got 1 traj"
        ):
            function(as_data([labels]), nothing)


def test_wrong_types():
    data, cores, memberships = as_data(LABELS), as_cores(LABELS), as_memberships(np.full((10, 3), 1 / 3))
    with pytest.raises(TypeError, match="`data` must be `Frames` or `Features`; got ndarray"):
        kinetics.core_dtrajs(np.zeros(10), cores)
    with pytest.raises(TypeError, match="`data` must be `Frames` or `Features`; got list"):
        kinetics.timestep([1, 2])
    with pytest.raises(TypeError, match="`cores` must be `Cores`; got Memberships"):
        kinetics.milestoned_dtrajs(data, memberships)
    with pytest.raises(TypeError, match="`memberships` must be `Memberships`; got Cores"):
        kinetics.hard_dtrajs(data, cores)


def test_other_frames():
    data = as_data(LABELS[:2])
    with pytest.raises(
        ValueError, match=re.escape("`cores` must be of the frames of `data`, 8; got 10 frames")
    ):
        kinetics.core_dtrajs(data, as_cores(LABELS))
    with pytest.raises(ValueError, match="`memberships` must be of the frames of `data`, 8; got 10"):
        kinetics.hard_dtrajs(data, as_memberships(np.full((10, 3), 1 / 3)))

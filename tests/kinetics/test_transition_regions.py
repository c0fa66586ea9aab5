"""Transition regions: which states touch, and the transition frames."""

import numpy as np
import pytest
from helpers.chains import as_cores, as_data, as_memberships
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy import kinetics
from mdfuzzy.kinetics.transition_regions import two_highest
from mdfuzzy.pipeline._arrays import pack, unpack

#: A path over three states in a row: 0, between 0 and 1, 1, between 1 and 2, 2, and back.
VALUES = np.array(
    [
        [1.00, 0.00, 0.00],
        [0.60, 0.40, 0.00],
        [0.50, 0.45, 0.05],
        [0.70, 0.30, 0.00],
        [0.00, 1.00, 0.00],
        [0.00, 0.50, 0.50],
        [0.00, 0.00, 1.00],
        [0.00, 1.00, 0.00],
        [1.00, 0.00, 0.00],
    ]
)
LABELS = np.where(VALUES.max(axis=1) == 1, VALUES.argmax(axis=1), -1)


def test_by_hand():
    found = mf.find_transition_regions(
        as_data([LABELS]), as_memberships(VALUES), as_cores([LABELS]), min_frames=1
    )
    assert found.pairs.tolist() == [[0, 1], [1, 2]]
    assert found.sizes.tolist() == [2, 1]
    assert found.fractions.tolist() == [2 / 9, 1 / 9]
    assert [part.tolist() for part in found.frames] == [[2, 1], [5]]  # the most mixed first
    np.testing.assert_allclose(found.mixing, [(0.9 + 2 / 3) / 2, 1.0], rtol=1e-12)
    assert found.transitions.tolist() == [2, 2]
    assert len(found.others) == 0
    assert found.threshold == 0.5
    assert repr(found) == "TransitionRegions(2 of 3 transition frames: 0-1, 1-2)"


def test_the_threshold_and_the_number_of_frames():
    arguments = as_data([LABELS]), as_memberships(VALUES), as_cores([LABELS])
    low = mf.find_transition_regions(*arguments, threshold=0.4, min_frames=3)
    assert low.pairs.tolist() == [[0, 1]]
    assert low.frames[0].tolist() == [2, 1, 3]
    assert low.others.tolist() == [[1, 2, 2]]  # really made, but without a transition region
    assert (
        low.table().splitlines()[-1]
        == "transitions between states without a transition region: 2 between 1 and 2"
    )
    assert len(mf.find_transition_regions(*arguments, threshold=1.0, min_frames=2)) == 0


def test_transitions_stop_at_boundaries():
    values = np.tile(VALUES, (2, 1))
    labels = [LABELS, LABELS]
    found = mf.find_transition_regions(
        as_data(labels), as_memberships(values), as_cores(labels), min_frames=1
    )
    assert found.transitions.tolist() == [4, 4]
    joined = [np.concatenate(labels)]
    cut = [LABELS[:4], LABELS[4:]]
    assert mf.find_transition_regions(
        as_data(joined), as_memberships(values), as_cores(joined)
    ).transitions.tolist() == [4]
    found = mf.find_transition_regions(as_data(cut), as_memberships(VALUES), as_cores(cut), min_frames=1)
    assert found.transitions.tolist() == [1, 2]  # the first transition began in another trajectory


def test_other_numbers_of_states_and_frames_permute_the_result():
    rng = np.random.default_rng(0)
    values = rng.dirichlet([0.3] * 4, size=400)
    labels = np.where(values.max(axis=1) > 0.9, values.argmax(axis=1), -1)
    one = mf.find_transition_regions(as_data([labels]), as_memberships(values), as_cores([labels]))
    order = np.array([2, 0, 3, 1])
    renamed = np.where(labels >= 0, order[labels], -1)
    other_values = np.empty_like(values)
    other_values[:, order] = values
    other = mf.find_transition_regions(as_data([renamed]), as_memberships(other_values), as_cores([renamed]))
    before = {
        tuple(sorted(order[pair])): frames.tolist()
        for pair, frames in zip(one.pairs, one.frames, strict=True)
    }
    after = {
        tuple(pair): frames.tolist() for pair, frames in zip(other.pairs.tolist(), other.frames, strict=True)
    }
    assert before == after
    assert one.transitions.sum() == other.transitions.sum()
    assert np.all(one.pairs[:, 0] < one.pairs[:, 1])


def test_each_frame_belongs_to_one_transition_region():
    rng = np.random.default_rng(1)
    values = rng.dirichlet([1.0] * 5, size=1000)
    labels = np.where(np.arange(1000) < 5, np.arange(1000), -1)
    found = mf.find_transition_regions(
        as_data([labels]), as_memberships(values), as_cores([labels]), threshold=0.01
    )
    every = np.concatenate(found.frames)
    assert len(every) == len(set(every.tolist())) == found.sizes.sum()
    for pair, frames in zip(found.pairs, found.frames, strict=True):
        top = np.sort(np.argsort(values[frames], axis=1)[:, -2:], axis=1)
        assert_array_equal(top, np.tile(pair, (len(frames), 1)))
        mixing = two_highest(values[frames])[2]
        assert np.all(np.diff(mixing) <= 0)
    assert np.all(np.diff(found.sizes) <= 0)


def test_lost_mass_does_not_change_the_balance():
    values = np.array([[0.2, 0.1, 0.0], [0.0, 0.0, 0.0]])
    first, second, mixing = two_highest(values)
    assert (first[0], second[0], mixing[0]) == (0, 1, 0.5)
    assert mixing[1] == 0.0  # reaches no core: no transition frame


def test_one_state_has_no_transition_region():
    found = mf.find_transition_regions(
        as_data([np.zeros(9)]), as_memberships(np.ones((9, 1))), as_cores([np.zeros(9, int)])
    )
    assert len(found) == 0
    assert found.pairs.shape == (0, 2)
    assert found.frames == ()
    assert repr(found) == "TransitionRegions(0 of 0 transition frames: none)"
    again = unpack(mf.TransitionRegions, pack(found))
    assert (again.frames, again.pairs.shape, again.others.shape) == ((), (0, 2), (0, 3))


def test_packed_and_back():
    found = mf.find_transition_regions(
        as_data([LABELS]), as_memberships(VALUES), as_cores([LABELS]), min_frames=1
    )
    again = unpack(mf.TransitionRegions, pack(found))
    assert [part.tolist() for part in again.frames] == [[2, 1], [5]]
    assert_array_equal(again.pairs, found.pairs)


def test_a_clustering_holds_both(tmp_path):
    rng = np.random.default_rng(0)
    points = np.where(np.repeat(rng.random(90) < 0.5, 10), 0, 3)[:, None] + rng.normal(size=(900, 2))
    result = mf.cluster([points[:500], points[500:]], store=mf.RunDir(tmp_path / "run"))
    assert result.transition_regions.pairs.tolist() == [[0, 1]]
    assert result.visits.mean_dwell.tolist() == kinetics.visits(result.data, result.cores).mean_dwell.tolist()
    again = mf.cluster([points[:500], points[500:]], store=mf.RunDir(tmp_path / "run"))
    assert_array_equal(again.transition_regions.frames[0], result.transition_regions.frames[0])
    assert again.visits.reasons == result.visits.reasons


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "`threshold` must be a finite number > 0 and <= 1; got 0"),
        ({"threshold": 1.5}, "`threshold` must be a finite number > 0 and <= 1; got 1.5"),
        ({"min_frames": 0}, "`min_frames` must be an int of at least 1; got 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        mf.find_transition_regions(as_data([LABELS]), as_memberships(VALUES), as_cores([LABELS]), **options)


def test_cores_of_other_states():
    with pytest.raises(ValueError, match="`cores` must have the states of `memberships`, 3; got 1"):
        mf.find_transition_regions(as_data([LABELS]), as_memberships(VALUES), as_cores([np.zeros(9, int)]))
    with pytest.raises(TypeError, match="`memberships` must be `Memberships`; got ndarray"):
        mf.find_transition_regions(as_data([LABELS]), VALUES, as_cores([LABELS]))

"""Visits to the states, and whether these are metastable."""

import re

import numpy as np
import pytest
from helpers.chains import TWO_STATES, as_cores, as_data, sample_chain
from helpers.molecules import peptide_trajectory
from reference.milestones import milestoned, stays

import mdfuzzy as mf
from mdfuzzy import kinetics


def test_dwell_times_of_a_chain():
    # Leaving with probability q per frame means 1/q frames.
    dtrajs = sample_chain(TWO_STATES, [20_000] * 4)
    found = kinetics.visits(as_data(dtrajs), as_cores(dtrajs))
    np.testing.assert_allclose(found.mean_dwell, [50, 20], rtol=0.06)
    np.testing.assert_allclose(found.shuffled_dwell, [7 / 2, 7 / 5], rtol=0.05)
    assert found.unit == "frames"
    assert found.metastable.all()
    assert found.reasons == ("", "")
    assert repr(found) == "Visits(2 states, 2 shown to be metastable)"


def test_cut_visits_do_not_bias_the_dwell_time():
    # Trajectories as long as the dwell time: most visits are cut.
    dtrajs = sample_chain(TWO_STATES, [50] * 2000)
    found = kinetics.visits(as_data(dtrajs), as_cores(dtrajs))
    np.testing.assert_allclose(found.mean_dwell, [50, 20], rtol=0.08)


def test_frames_in_random_order_are_not_metastable():
    rng = np.random.default_rng(0)
    labels = [rng.choice(3, p=[0.9, 0.07, 0.03], size=30_000)]
    found = kinetics.visits(as_data(labels), as_cores(labels))
    np.testing.assert_allclose(found.mean_dwell, found.shuffled_dwell, rtol=0.05)
    assert found.mean_dwell[0] > 9  # long, but only because there is hardly another state to go to
    assert not found.metastable.any()
    reason = (
        r"0.99 times as long as with the frames in random order \(lower bound 0.9\d\); at least 5 times is"
    )
    assert re.search(reason, found.reasons[0])


def test_to_and_fro_across_a_border_is_one_visit():
    basin = np.array([0, 0, 1, 0, 1, 0, 1, 1, 1, 0])
    core = np.array([0, -1, -1, -1, -1, -1, -1, 1, -1, -1])
    found = kinetics.visits(as_data([core]), as_cores([core], [basin]))
    assert found.visits.tolist() == [1, 1]
    assert found.exits.tolist() == [1, 0]
    assert found.mean_dwell.tolist() == [5 / 3, 5 / 3]
    assert found.core_dwell.tolist() == [7.0, np.inf]


def test_visits_are_those_of_the_slow_twin():
    rng = np.random.default_rng(3)
    parts = [np.append(rng.integers(-1, 3, size=size), [0, 1, 2]) for size in (40, 1, 300)]
    basins = [rng.integers(0, 3, size=len(part)) for part in parts]
    found = kinetics.visits(as_data(parts), as_cores(parts, basins))
    core_stays = [each for part in parts for each in stays(milestoned(part.tolist())[0])]
    basin_stays = [each for part in basins for each in stays(part.tolist())]
    for state in range(3):
        mine = [ended for label, _, ended in core_stays if label == state]
        assert (found.visits[state], found.exits[state]) == (len(mine), sum(mine))
        lengths = [length for label, length, _ in basin_stays if label == state]
        ends = sum(ended for label, _, ended in basin_stays if label == state)
        assert found.mean_dwell[state] == pytest.approx(sum(lengths) / ends, rel=1e-12)


def test_too_few_exits_and_never_left():
    labels = [np.repeat([0, 1], 500), np.repeat([0, 2, 0], 300)]
    found = kinetics.visits(as_data(labels), as_cores(labels))
    assert found.visits.tolist() == [3, 1, 1]
    assert found.reasons == (
        "it was left for another state only 2 times, too few to decide",
        "it was never left for another state",
        "it was left for another state only 1 time, too few to decide",
    )
    assert found.mean_dwell[1] == np.inf
    assert "not shown: it was never left" in str(found)


def test_one_state_only():
    found = kinetics.visits(as_data([np.zeros(5)]), as_cores([np.zeros(5, int)]))
    assert found.visits.tolist() == [1]
    assert found.reasons == ("it was never left for another state",)


def test_few_exits_bound_the_dwell_time_less_closely():
    # Stays of 12 frames, where frames in random order would stay 252 / 132: 6.3 times as long. By 10 exits it
    # is at least 6.3 * 10 / 15.7 = 4.0 times (the 95 % quantile of a gamma variable of shape 10 is 15.7).
    short, long = (np.tile(np.repeat([0, 1], 12), times)[:-12] for times in (11, 401))
    few, many = (kinetics.visits(as_data([labels]), as_cores([labels])) for labels in (short, long))
    assert few.exits.tolist() == [10, 10]
    assert not few.metastable.any()
    assert (
        "6.3 times as long as with the frames in random order (lower bound 4); at least 5 times is required"
        in few.reasons[1]
    )
    assert many.metastable.all()


def test_frames_without_a_state():
    labels = np.array([0, 0, -1, 0, 0])
    found = kinetics.visits(as_data([labels]), as_cores([labels], [labels]))
    assert found.mean_dwell.tolist() == [4.0]


def test_times_in_ps():
    frames = mf.load([peptide_trajectory(200)])  # a frame every 2.5 ps
    labels = [np.tile([0] * 10 + [1] * 10, 10)]
    found = kinetics.visits(frames, as_cores(labels))
    assert found.unit == "ps"
    assert found.mean_dwell[0] == 25.0
    assert found.shuffled_dwell.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_exits": 0}, "`min_exits` must be an int of at least 1; got 0"),
        ({"min_ratio": 0.5}, "`min_ratio` must be a finite number >= 1; got 0.5"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        kinetics.visits(as_data([[0, 1]]), as_cores([np.array([0, 1])]), **options)

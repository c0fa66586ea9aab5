"""Fractions of states: their values, and the coverage of their intervals where the truth is known."""

import numpy as np
import pytest

from mdfuzzy.memberships.fractions import state_fractions


def chain(rng, n, stay=0.9, p=0.3):
    """A two-state chain that keeps its state with probability `stay`, else draws 1 with probability p."""
    fresh = rng.random(n) > stay
    fresh[0] = True
    drawn = (rng.random(n) < p).astype(int)
    return drawn[np.maximum.accumulate(np.where(fresh, np.arange(n), 0))]


@pytest.mark.parametrize("lengths", [[3000], [300] * 10])
def test_intervals_cover_the_truth_as_often_as_they_say(lengths):
    rng = np.random.default_rng(1)
    inside = 0
    for seed in range(100):
        labels = np.concatenate([chain(rng, length) for length in lengths])
        found = state_fractions(labels, lengths, n_states=2, n_bootstrap=400, seed=seed)
        inside += found.low[1] <= 0.3 <= found.high[1]
    assert 84 <= inside <= 100  # 95 % of 100, of percentile intervals from ten parts a little less


def test_weighted_intervals_cover_the_truth():
    rng = np.random.default_rng(2)
    inside = 0
    for seed in range(100):
        labels = chain(rng, 3000, p=0.7)  # sampled at 0.7, while the truth is 0.3
        weights = np.where(labels == 1, 0.3 / 0.7, 0.7 / 0.3)
        found = state_fractions(labels, [3000], weights=weights, n_bootstrap=400, seed=seed)
        inside += found.low[1] <= 0.3 <= found.high[1]
        assert abs(found.values[1] - 0.3) < 0.12
    assert 86 <= inside <= 100


def test_values_and_effective_frames():
    found = state_fractions([0, 1, 1, -1], [2, 2], weights=[2.0, 1.0, 1.0, 4.0], n_states=3, n_bootstrap=50)
    assert found.values.tolist() == [0.25, 0.25, 0]
    assert found.effective.tolist() == [1, 2, 0]
    assert found.n_effective == pytest.approx(64 / 22)
    assert found.weighted
    plain = state_fractions([0, 1, 1, -1], [2, 2])
    assert plain.values.tolist() == [0.25, 0.5]
    assert plain.effective.tolist() == [1, 2]
    assert not plain.weighted
    memberships = state_fractions([[0.5, 0.5], [1.0, 0.0]], [2], weights=[1, 3])
    assert memberships.values.tolist() == [0.875, 0.125]


def test_equal_weights_change_no_bit():
    labels = np.random.default_rng(0).integers(3, size=500)
    one, two = (
        state_fractions(labels, [200, 300]),
        state_fractions(labels, [200, 300], weights=np.full(500, 7.0)),
    )
    for name in ("low", "high"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12)
    one, two = state_fractions(labels, [200, 300]), state_fractions(labels, [200, 300], weights=np.ones(500))
    for name in ("values", "low", "high", "effective"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_what_cannot_be_drawn_has_no_interval():
    found = state_fractions([0, 1], [2], n_bootstrap=0)
    assert np.isnan(found.low).all()
    assert found.drawn == ""


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.5, 1.0], [2]), {}, "`states` must be the number of the state"),
        (([0, 1], [3]), {}, "add up to 2"),
        (([0, 1], [2]), {"weights": [1.0]}, r"one value per frame, shape \(2,\)"),
        (([0, 1], [2]), {"weights": [0.0, 0.0]}, "not all 0"),
        (([0, 1], [2]), {"weights": [-1.0, 2.0]}, "at least 0"),
        (([0, 1], [2]), {"weights": [np.nan, 2.0]}, "`weights` must be finite"),
        (([0, 1], [2]), {"n_states": 1}, "`n_states` must be an int of at least 2"),
        (([0, 1], [2]), {"confidence": 2.0}, "`confidence` must be"),
    ],
)
def test_bad_input_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        state_fractions(*arguments, **options)

"""Implied timescales and the Chapman-Kolmogorov test, with intervals."""

import re

import numpy as np
import pytest
from helpers.chains import TWO_STATES, sample_chain
from numpy.testing import assert_allclose, assert_array_equal

from mdfuzzy import kinetics
from mdfuzzy.kinetics._bootstrap_counts import CountSampler, interval, units_of

EXACT = -1 / np.log(0.93)


@pytest.fixture(scope="module")
def dtrajs():
    return sample_chain(TWO_STATES, [3000] * 10, seed=1)


def test_the_interval_holds_the_exact_timescale(dtrajs):
    found = kinetics.implied_timescales(dtrajs, lags=[5, 1, 2], timestep=2.0)
    assert found.lags.tolist() == [1, 2, 5]
    assert found.lag_times.tolist() == [2.0, 4.0, 10.0]
    assert found.values.shape == found.lower.shape == found.upper.shape == (3, 1)
    assert np.all(found.lower < 2 * EXACT)
    assert np.all(found.upper > 2 * EXACT)
    assert np.all((found.lower < found.values) & (found.values < found.upper))
    assert found.unit == "ps"
    assert found.complete.tolist() == [50, 50, 50]


def test_intervals_cover_the_truth_as_often_as_they_say():
    covered = 0
    for seed in range(30):
        dtrajs = sample_chain(TWO_STATES, [400] * 20, seed=seed)
        found = kinetics.implied_timescales(dtrajs, lags=[1], seed=seed)
        covered += found.lower[0, 0] <= EXACT <= found.upper[0, 0]
    assert covered >= 22  # 27 expected; resampling 20 trajectories is a little narrow


def test_values_are_those_of_the_models(dtrajs):
    found = kinetics.implied_timescales(dtrajs, lags=[1, 4], n_bootstrap=0)
    for row, lag in enumerate((1, 4)):
        assert_allclose(found.values[row], kinetics.markov_model(dtrajs, lag=lag).timescales, rtol=1e-9)
    assert np.isnan(found.lower).all()
    assert "no intervals" in str(found)


def test_the_automatic_lags_end_where_nothing_is_left(dtrajs):
    found = kinetics.implied_timescales(dtrajs, n_bootstrap=5)
    assert found.lags[0] == 1
    assert found.lags[-1] < 300
    assert np.isfinite(found.values[-1]).any()


def test_a_timescale_shorter_than_the_lag_is_unknown(dtrajs):
    found = kinetics.implied_timescales(dtrajs, lags=[1, 60], n_bootstrap=5)
    assert np.isfinite(found.values[0]).all()
    assert np.isnan([found.values[1], found.lower[1], found.upper[1]]).all()
    assert "lag 60: none longer than the lag" in str(found)


def test_one_trajectory_is_cut_into_blocks():
    dtrajs = sample_chain(TWO_STATES, [3000])
    found = kinetics.implied_timescales(dtrajs, lags=[1])
    assert re.match(r"bootstrap samples of \d+ blocks of ", found.drawn)
    assert found.lower[0, 0] < found.values[0, 0] < found.upper[0, 0]
    assert len(units_of(dtrajs)) > 20


def test_blocks_of_one_trajectory_cover_the_truth_as_often_as_they_say():
    covered = 0
    for seed in range(40):
        found = kinetics.implied_timescales(sample_chain(TWO_STATES, [4000], seed=seed), lags=[1], seed=seed)
        covered += found.lower[0, 0] <= EXACT <= found.upper[0, 0]
    assert covered >= 29  # 36 expected; 32 seen, for blocks are few


def test_pairs_across_the_borders_of_blocks_count_once():
    dtraj = sample_chain(TWO_STATES, [3000])[0]
    sampler = CountSampler([dtraj], 3, 0)
    counts, samples = sampler.counts(5, np.arange(2))
    assert counts.sum() == 2995
    assert len(list(samples)) == 3


def test_too_few_blocks_give_the_posterior():
    dtraj = np.repeat([0, 1, 0, 1], [400, 300, 500, 400])
    found = kinetics.implied_timescales([dtraj], lags=[1], n_bootstrap=400)
    assert "posterior" in found.drawn
    # Two exits of 0 in 900 frames and one of 1 in 699: the rates are Gamma(2) / 900 + Gamma(1) / 699.
    rates = np.random.default_rng(0).gamma([2, 1], size=(100_000, 2)) @ [1 / 900, 1 / 699]
    expected = 1 / np.quantile(rates, [0.95, 0.05])
    assert_allclose([found.lower[0, 0], found.upper[0, 0]], expected, rtol=0.25)


def test_an_end_that_lost_states_leave_open_is_that_of_the_posterior():
    # State 2 is visited in one of five trajectories, which many bootstrap samples do not draw.
    visit = np.concatenate([np.repeat([0, 2, 0], 200), sample_chain(TWO_STATES, [400])[0]])
    dtrajs = [*sample_chain(TWO_STATES, [1000] * 4), visit]
    found = kinetics.implied_timescales(dtrajs, lags=[1], n_bootstrap=200)
    assert found.drawn == "bootstrap samples of whole trajectories"
    assert 0.58 < found.complete[0] / 200 < 0.77  # 1 - 0.8**5 = 0.67
    assert np.isfinite(found.values).all()
    assert np.isfinite(found.lower).all()
    # State 2 was left once, after 200 frames: the rate is Gamma(1) / 200, with 5 % below 0.0513 / 200.
    assert_allclose(found.upper[0, 0], 200 / 0.0513, rtol=0.4)
    assert found.lower[0, 0] < found.values[0, 0] < found.upper[0, 0]
    assert np.isfinite(found.upper[0, 1])
    assert f"; {200 - found.complete[0]} bootstrap samples do not connect all states" in str(found)


def test_fewer_timescales():
    dtrajs = sample_chain(np.full((4, 4), 0.05) + 0.8 * np.eye(4), [2000] * 2)
    assert kinetics.implied_timescales(dtrajs, lags=[1], n_bootstrap=2).values.shape == (1, 3)
    assert kinetics.implied_timescales(dtrajs, lags=[1], n_bootstrap=2, n_timescales=2).values.shape == (1, 2)


def test_the_same_seed_gives_the_same_interval(dtrajs):
    options = {"lags": [2], "n_bootstrap": 10}
    one, two, other = (kinetics.implied_timescales(dtrajs, seed=seed, **options) for seed in (3, 3, 4))
    assert_array_equal(one.lower, two.lower)
    assert one.lower[0, 0] != other.lower[0, 0]


def test_the_ends_of_an_interval():
    low, high = interval(np.append(np.arange(99.0), np.inf)[:, None], 0.9)
    assert (low[0], high[0]) == (4.0, 95.0)
    low, high = interval(np.append(np.arange(9.0), np.inf)[:, None], 0.9)
    assert low[0] == 0.0
    assert np.isnan(high[0])


# --- Chapman-Kolmogorov


def test_a_chain_passes(dtrajs):
    test = kinetics.chapman_kolmogorov(dtrajs, lag=2, n_steps=4, timestep=0.5)
    assert test.lag_times.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert_allclose(test.predicted[0], test.estimated[0], rtol=0, atol=1e-12)
    exact = [np.linalg.matrix_power(TWO_STATES, 2 * steps) for steps in (1, 2, 3, 4)]
    assert_allclose(test.predicted, exact, atol=0.02)
    assert np.all((test.lower <= test.predicted) & (test.predicted <= test.upper))
    assert repr(test).endswith(
        "4 steps of 1 ps; passed, with 12 of 12 predictions inside the 90 % intervals)"
    )


def judged(lower: np.ndarray, upper: np.ndarray, n_bootstrap: int = 50) -> kinetics.ChapmanKolmogorov:
    half = np.full(lower.shape, 0.5)
    return kinetics.ChapmanKolmogorov(
        lag_times=np.arange(1.0, len(half) + 1),
        predicted=half,
        estimated=half,
        lower=lower,
        upper=upper,
        states=[0, 1],
        unit="ps",
        complete=np.full(len(half), 40),
        n_bootstrap=n_bootstrap,
    )


def test_an_interval_that_nothing_could_miss_does_not_count():
    lower, upper = np.full((3, 2, 2), 0.4), np.full((3, 2, 2), 0.6)
    lower[1], upper[1] = 0.0, 1.0
    test = judged(lower, upper)
    assert test.passed
    assert (
        test.verdict
        == "passed, with 4 of 4 predictions inside the 90 % intervals; the other 4 have no closed interval"
    )
    lower[2, 0] = 0.55
    test = judged(lower, upper)
    assert test.passed is False
    assert test.verdict.startswith("FAILED, with 2 of 4 predictions inside the 90 % intervals")


def test_a_test_without_intervals_is_undecided():
    lower, upper = np.full((3, 2, 2), np.nan), np.full((3, 2, 2), np.nan)
    test = judged(lower, upper, n_bootstrap=0)
    assert (test.passed, test.verdict) == (None, "not tested: there are no intervals (`n_bootstrap` is 0)")
    lower, upper = np.zeros((3, 2, 2)), np.ones((3, 2, 2))
    test = judged(lower, upper)
    assert test.passed is None
    assert test.verdict.startswith("undecided, with 0 of 0 predictions ")
    assert "(40 of 50 bootstrap samples connect all)" in test.verdict
    test = judged(lower[:1], upper[:1])
    assert test.verdict == "not tested: the trajectories are too short for two steps of this lag"


def test_what_is_no_chain_fails():
    # Two fast states that look alike, one of them behind a barrier: the pair has a memory.
    matrix = np.array([[0.9, 0.1, 0.0], [0.1, 0.89, 0.01], [0.0, 0.01, 0.99]])
    lumped = [np.minimum(dtraj, 1) for dtraj in sample_chain(matrix, [5000] * 10)]
    test = kinetics.chapman_kolmogorov(lumped, lag=1, n_steps=10)
    assert test.predicted[-1, 1, 1] < test.lower[-1, 1, 1]


def test_deeptime_predicts_the_same(dtrajs):
    test = kinetics.chapman_kolmogorov(dtrajs, lag=3, n_steps=3, n_bootstrap=0)
    peer = kinetics.markov_model(dtrajs, lag=3).deeptime
    for steps in (1, 2, 3):
        start = np.array([1.0, 0.0])
        assert_allclose(test.predicted[steps - 1, 0], peer.propagate(start, steps), atol=1e-9)
        direct = kinetics.markov_model(dtrajs, lag=3 * steps)
        assert_allclose(test.estimated[steps - 1], direct.transition_matrix, atol=1e-9)
    assert np.isnan(test.lower).all()


def test_resamples_without_a_state_widen_the_interval():
    visit = np.concatenate([np.repeat([0, 2, 0], 200), sample_chain(TWO_STATES, [400])[0]])
    dtrajs = [*sample_chain(TWO_STATES, [1000] * 4), visit]
    test = kinetics.chapman_kolmogorov(dtrajs, lag=1, n_steps=2)
    assert (test.complete < 50).all()
    assert (test.lower[:, 2, 2] == 0).all()
    assert (test.upper[:, 2, 2] == 1).all()
    assert (test.upper - test.lower)[:, 0, 0].max() < 0.1


# --- bad input


def test_lags_longer_than_every_trajectory():
    dtrajs = sample_chain(TWO_STATES, [50, 40])
    with pytest.raises(ValueError, match=r"`lags` must be an int in \[1, 49\]; got 50. The longest of 2"):
        kinetics.implied_timescales(dtrajs, lags=[1, 50])
    with pytest.raises(ValueError, match=r"`lag \* n_steps` must be an int in \[1, 49\]; got 50"):
        kinetics.chapman_kolmogorov(dtrajs, lag=10, n_steps=5)


@pytest.mark.parametrize("dtrajs", [[np.zeros(50, int)], [np.repeat([0, 1], 25)]], ids=["one", "one way"])
def test_nothing_connected(dtrajs):
    with pytest.raises(ValueError, match="must connect at least two states, in both directions"):
        kinetics.implied_timescales(dtrajs)
    with pytest.raises(ValueError, match="must connect at least two states, in both directions"):
        kinetics.chapman_kolmogorov(dtrajs, lag=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lags": []}, ValueError, "`lags` must hold at least one lag; got none"),
        ({"lags": [1.5]}, TypeError, "`lags` must be an int in"),
        ({"n_timescales": 0}, ValueError, "`n_timescales` must be an int of at least 1; got 0"),
        ({"n_bootstrap": -1}, ValueError, "`n_bootstrap` must be an int of at least 0; got -1"),
        ({"confidence": 90}, ValueError, "`confidence` must be a finite number > 0 and <= 1; got 90"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        kinetics.implied_timescales(sample_chain(TWO_STATES, [500]), **options)

"""The shared bootstrap: what is drawn, how long blocks are, intervals that cover the truth."""

import numpy as np
import pytest
from scipy.signal import fftconvolve

from mdfuzzy.frames.bootstrap import (
    bootstrap_sums,
    bootstrap_units,
    inefficiency_of,
    interval,
    statistical_inefficiency,
)


def hops(n, rate, seed=0):
    """A state that changes with probability `rate` per frame: the inefficiency is 1 / rate - 1."""
    return np.cumsum(np.random.default_rng(seed).random(n) < rate) % 2


def test_five_trajectories_are_drawn_whole():
    units = bootstrap_units([10, 20, 30, 40, 50], inefficiency=7.0)
    assert units.block is None
    assert units.words == "whole trajectories"
    assert units.lengths.tolist() == [10, 20, 30, 40, 50]
    draws = units.draw(200, seed=1)
    assert draws.shape == (200, 5)
    assert np.all(draws.sum(axis=1) == 5)
    frames = units.per_frame(draws[0])
    assert len(frames) == 150
    assert [frames[at] for at in (0, 10, 30, 60, 100)] == draws[0].tolist()


def test_few_trajectories_are_cut_into_blocks_that_hold_every_frame_once():
    units = bootstrap_units([100, 7, 65], inefficiency=3.0)
    assert units.block == 12  # 3 (172 / 3)^(1/3), rounded up
    assert units.words == f"{len(units)} blocks of 12 frames"
    assert units.trajectories.tolist() == [0] * 8 + [1] + [2] * 5
    for trajectory, length in enumerate([100, 7, 65]):
        own = units.trajectories == trajectory
        starts, lengths = units.starts[own], units.lengths[own]
        assert starts[0] == 0
        assert np.array_equal(starts[1:], np.cumsum(lengths)[:-1])
        assert lengths.sum() == length


def test_a_single_part_cannot_be_drawn():
    units = bootstrap_units([5], inefficiency=100.0)
    assert len(units) == 1
    assert units.draw(10, seed=0).shape == (0, 1)


def test_an_inefficiency_below_one_is_refused():
    with pytest.raises(ValueError, match=r"`inefficiency` must be a finite number >= 1; got 0.5"):
        bootstrap_units([5, 5], inefficiency=0.5)


def test_a_negative_number_of_samples_is_refused():
    with pytest.raises(ValueError, match=r"`n_bootstrap` must be an int of at least 0; got -1"):
        bootstrap_units([5, 5], inefficiency=1.0).draw(-1, seed=0)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.02])
def test_the_inefficiency_of_a_two_state_chain(rate):
    series = [hops(100_000, rate, seed) for seed in range(3)]
    assert statistical_inefficiency(series) == pytest.approx(1 / rate - 1, rel=0.1)


def test_the_slowest_of_several_columns_counts():
    fast, slow = hops(50_000, 0.5), hops(50_000, 0.05, 1)
    assert statistical_inefficiency([np.column_stack([fast, slow])]) == statistical_inefficiency([slow])


@pytest.mark.parametrize("lengths", [[3], [700], [1024, 1025], [30_000, 2000]])
@pytest.mark.parametrize("rate", [0.3, 0.0005])
def test_the_inefficiency_is_that_of_the_whole_autocorrelation_function(lengths, rate):
    """Correlations longer and shorter than the first lags that are tried."""
    series = [hops(n, rate, seed).astype(float) for seed, n in enumerate(lengths)]
    mean = np.concatenate(series).mean()
    longest = max(lengths)
    products = np.zeros(longest)
    for each in series:
        products[: len(each)] += fftconvolve(each - mean, (each - mean)[::-1])[len(each) - 1 :]
    pairs = sum(np.maximum(n - np.arange(longest), 0) for n in lengths)
    rho = products / pairs / (products[0] / pairs[0]) if products[0] > 0 else np.ones(1)
    assert statistical_inefficiency(series) == pytest.approx(inefficiency_of(rho), rel=1e-9)


def test_a_column_that_does_not_vary_has_no_correlation():
    assert statistical_inefficiency([np.ones(50)]) == 1.0
    assert inefficiency_of(np.ones(1)) == 1.0


def test_intervals_of_blocks_cover_the_mean_of_one_trajectory():
    # Frames drawn one by one would give intervals a third as wide, which hold the truth in 4 of 10 cases.
    inside = 0
    for seed in range(100):
        series = hops(4000, 0.05, seed)
        units = bootstrap_units([4000], inefficiency=statistical_inefficiency([series]))
        sums = np.add.reduceat(series, units.starts)
        draws = units.draw(200, seed=seed)
        means = np.array(list(bootstrap_sums(sums, draws))) / (draws @ units.lengths)
        low, high = interval(means[:, None], 0.9)
        inside += int(low[0] <= 0.5 <= high[0])
    assert 78 <= inside <= 98


def test_the_ends_of_an_interval():
    low, high = interval(np.append(np.arange(99.0), np.inf)[:, None], 0.9)
    assert (low[0], high[0]) == (4.0, 95.0)
    low, high = interval(np.append(np.arange(9.0), np.inf)[:, None], 0.9)
    assert low[0] == 0.0
    assert np.isnan(high[0])
    assert np.isnan(interval(np.empty((0, 2)), 0.9)).all()

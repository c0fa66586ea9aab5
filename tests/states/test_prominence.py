"""The automatic prominence: its statistics, its answers on known data, its warning, bad input."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import graph_of, path_graph
from scipy import stats

import mdfuzzy as mf
from mdfuzzy.states.prominence import divide_prominences, expected_noise


def peaks_of(points, k, dimension=None):
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k)
    logf = mf.dtm_log_density(neighbors, dimension=dimension)
    return mf.compute_persistence(neighbors.graph(k=k), logf)


def mixture(rng, centres, n):
    return np.repeat(centres, n // len(centres), axis=0) + rng.normal(size=(n, np.shape(centres)[1]))


def half_normal(n, scale, seed=0):
    return scale * np.abs(np.random.default_rng(seed).normal(size=n))


def divide(spectrum, **options):
    return divide_prominences(spectrum, **{"noise": 1.0, "n_neighbors": 100, "n_points": 10_000} | options)


def test_the_threshold_without_noise_peaks_is_the_quantile_of_the_largest_of_n_over_m():
    gap = divide([np.inf], level=0.02, dimension=1.0)
    # P(log(m / Gamma_m) sqrt(m) > t), on either side, in 100 neighbourhoods.
    expected = -np.log(stats.gamma(100).ppf(0.02 / 200) / 100) * 10
    assert gap.threshold == pytest.approx(1.3 * expected, rel=1e-9), "hills of a line"
    assert gap.threshold == pytest.approx(1.3 * stats.norm.isf(0.02 / 200), rel=0.12), (
        "nearly normal for m = 100"
    )
    assert (gap.n_states, gap.n_noise, gap.largest_noise, gap.smallest_state) == (1, 0, 0.0, np.inf)


def test_the_probability_at_the_threshold_is_the_level():
    gap = divide([np.inf], level=0.03)
    at_threshold = divide([np.inf, np.nextafter(gap.threshold, 99)], level=0.03)
    assert at_threshold.n_states == 2
    assert at_threshold.p_state == pytest.approx(0.03, rel=1e-6)
    assert not at_threshold.well_determined


def test_noise_of_another_scale_than_expected_is_learnt_from_the_peaks():
    for scale in (0.3, 1.1):
        noise = half_normal(400, scale)
        gap = divide([np.inf, 9.0 * scale, 12.0 * scale, *noise])
        assert gap.n_states == 3
        assert gap.noise == pytest.approx(scale, rel=0.15)  # ten peaks' worth of the expected 1.0
        assert gap.well_determined


def test_a_few_true_peaks_among_few_noise_peaks_do_not_hide_each_other():
    gap = divide([np.inf, 14.0, 12.0, 11.0, 10.0, 9.0, 8.5, 8.0, 0.5, 0.1])
    assert gap.n_states == 8
    assert gap.largest_noise == 0.5
    assert gap.smallest_state == 8.0


def test_noise_alone_is_rarely_a_state():
    wrong = sum(divide([np.inf, *half_normal(100, 1.0, seed)]).n_states > 1 for seed in range(400))
    assert wrong <= 8  # 4 expected at most, at the level of 1 %


def test_the_division_scales_with_the_unit():
    spectrum = np.array([np.inf, 9.0, 8.0, *half_normal(50, 1.0)])
    one, eight = divide(spectrum), divide(8 * spectrum, noise=8.0)
    for name in ("threshold", "noise", "largest_noise", "smallest_state"):
        assert getattr(eight, name) == pytest.approx(8 * getattr(one, name), rel=1e-12)
    assert (eight.n_states, eight.p_noise, eight.well_determined) == (
        one.n_states,
        pytest.approx(one.p_noise),
        one.well_determined,
    )


def test_the_threshold_always_divides():
    rng = np.random.default_rng(1)
    for _ in range(200):
        spectrum = np.append(np.exp(rng.normal(scale=2, size=rng.integers(0, 30))), np.inf)
        gap = divide(spectrum, n_neighbors=int(rng.integers(1, 60)), n_points=int(rng.integers(3, 10_000)))
        assert gap.largest_noise < gap.threshold <= gap.smallest_state
        assert gap.n_states == np.count_nonzero(spectrum >= gap.threshold)
        assert gap.p_state <= gap.level


@pytest.mark.parametrize(("name", "frames"), [("bundled", 30_000), ("half", 142_074), ("full", 1_420_738)])
def test_the_measured_spectra_of_alanine_dipeptide_give_five_states(name, frames):
    # k = 50, distance to measure over 100 neighbours; the bundled frames, every second of 00 and 05, all.
    saved = np.load(Path(__file__).parent / "data" / "ala2_prominences.npz")
    assert saved[f"{name}_points"] == frames
    options = {"noise": float(saved[f"{name}_noise"]), "n_neighbors": 100, "n_points": frames}
    assert divide_prominences(saved[name], **options).n_states == 5


@pytest.mark.parametrize(
    ("d", "n", "k"), [(1, 500, 15), (2, 2000, 15), (2, 2000, 50), (5, 2000, 15), (20, 500, 15)]
)
def test_one_gaussian_is_one_state(d, n, k):
    seeds = range(8)
    found = [
        peaks_of(np.random.default_rng(s).normal(size=(n, d)), k).prominence_gap().n_states for s in seeds
    ]
    assert found.count(1) >= 7


@pytest.mark.parametrize(("d", "k"), [(2, 15), (2, 50), (5, 15), (10, 50)])
def test_separate_modes_are_found(d, k):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        centres = 7.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) @ np.eye(2, d)
        assert peaks_of(mixture(rng, centres, 2000), k).prominence_gap().n_states == 4


def test_the_expected_noise_is_in_the_unit_of_the_log_density():
    points = np.random.default_rng(2).normal(size=(3000, 3))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    graph = neighbors.graph(k=20)
    theory = np.sqrt(2 * 10 / (7 * 40))  # sqrt 2 sigma, sigma^2 = (2 d + 4) / ((d + 4) m), d = 3, m = 40
    for dimension in (1.0, 3.0):
        noise, m = expected_noise(graph, mf.dtm_log_density(neighbors, dimension=dimension))
        assert m == 40
        assert noise == pytest.approx(theory * dimension / 3, rel=0.12)


def test_the_expected_noise_of_graphs_that_say_nothing_about_the_density():
    # A chain of equal steps shows the same density everywhere: the unit is taken as that of a log density.
    noise, m = expected_noise(path_graph(50), np.random.default_rng(3).normal(size=50))
    assert m == 2
    assert 0.5 < noise < 2
    flat, _ = expected_noise(path_graph(50), np.zeros(50))
    assert flat > 0


def test_identical_values_are_one_state():
    peaks = mf.compute_persistence(path_graph(50), np.zeros(50))
    assert len(peaks.states(peaks.suggest_prominence())) == 1


def test_every_component_is_a_state():
    graph = graph_of(6, [(0, 1), (2, 3), (4, 5)])
    assert mf.compute_persistence(graph, np.arange(6.0)).prominence_gap().n_states == 3


def test_the_kernel_density_finds_the_same_states():
    points = mixture(np.random.default_rng(4), 7.0 * np.eye(3), 1500)
    neighbors = mf.euclidean_neighbors(points, n_neighbors=100)
    for kernel in ("gaussian", "uniform"):
        logf = mf.kde_log_density(neighbors, kernel=kernel, bandwidth=0.6, dimension=3)
        assert mf.compute_persistence(neighbors.graph(k=30), logf).prominence_gap().n_states == 3


def test_a_gap_that_is_not_clear_is_reported():
    rng = np.random.default_rng(5)
    peaks = peaks_of(mixture(rng, [[0.0, 0.0], [7.0, 0.0]], 1000), 25)
    gap = peaks.prominence_gap()
    assert gap.well_determined
    assert peaks.suggest_prominence() == gap.threshold
    assert "2 states above a prominence" in str(gap)
    # A level at which the second mode is just a state.
    dull = replace(
        peaks, deaths=np.where(np.arange(len(peaks)) == 1, peaks.births - gap.threshold * 1.01, peaks.deaths)
    )
    assert not dull.prominence_gap().well_determined
    with pytest.warns(
        UserWarning,
        match=r"Found 2 states .*, POORLY determined: one peak taken .*`states_by_k`.*`min_prominence`",
    ):
        dull.suggest_prominence()


def test_the_scale_of_the_noise_can_be_given():
    peaks = peaks_of(np.random.default_rng(6).normal(size=(400, 2)), 10)
    assert peaks.prominence_gap(noise=1e-6).n_states > peaks.prominence_gap().n_states


def test_the_text_names_the_condition_that_fails():
    capped = divide([np.inf, *np.arange(0.5, 6.0, 0.25)], noise=0.2, n_neighbors=80, dimension=5.0)
    assert capped.capped
    assert "POORLY determined: " in str(capped)
    assert "peaks taken for noise are more prominent than noise should produce (their scale exceeds" in str(
        capped
    )
    well = divide([np.inf, 9.0, 0.5])
    assert well.doubts == ()
    assert str(well).startswith(
        f"2 states above a prominence of {well.threshold:.3g}, well determined. Smallest"
    )


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, 0.6])
def test_a_level_outside_its_range_is_refused(bad):
    peaks = mf.compute_persistence(path_graph(5), np.arange(5.0))
    with pytest.raises(ValueError, match=r"`level` must be a finite number > 0 and <= 0.5; got"):
        peaks.suggest_prominence(level=bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf])
def test_noise_that_is_not_positive_is_refused(bad):
    peaks = mf.compute_persistence(path_graph(5), np.arange(5.0))
    with pytest.raises(ValueError, match=r"`noise` must be a finite number > 0; got"):
        peaks.prominence_gap(noise=bad)
    with pytest.raises(ValueError, match=r"`noise` must be a finite number > 0; got"):
        divide([np.inf], noise=bad)

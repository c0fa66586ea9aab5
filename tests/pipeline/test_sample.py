"""States found on some of the frames, memberships of all."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.pipeline import extension
from mdfuzzy.pipeline._check_fits import measure_error
from mdfuzzy.pipeline.advice import neighbors_in_time
from mdfuzzy.pipeline.sample import evenly_spaced


def three_states(n=3000, seed=0):
    """Return two trajectories that visit three well separated Gaussian states in runs of 50 frames."""
    random = np.random.default_rng(seed)
    states = np.repeat(random.integers(0, 3, n // 50), 50)
    points = random.normal(size=(n, 2)) + 6 * np.column_stack([states == 1, states == 2])
    return mf.Features([points[: n // 3], points[n // 3 :]]), states


@pytest.fixture(scope="module")
def data():
    return three_states()[0]


@pytest.fixture(scope="module")
def sampled(data):
    return mf.cluster(data, mf.Settings(fit_frames=900))


def test_results_are_of_all_frames(data, sampled):
    states = three_states()[1]
    assert sampled.n_states == 3
    assert len(sampled) == len(sampled.log_density) == len(sampled.cores.basins) == 3000
    table = np.zeros((3, 3), int)
    np.add.at(table, (sampled.labels, states), 1)
    assert table.max(axis=1).sum() >= 0.995 * len(data)
    assert sum(row.frames for row in sampled.states) == 3000
    assert_array_equal(sampled.cores.core_of[sampled.cores.peaks], range(3))
    assert sampled.visits.visits.sum() > 20  # of all frames, in runs of 50


def test_fitted_frames_keep_their_results(sampled):
    frames, fit = sampled.sample.frames, sampled.sample.fit
    assert_array_equal(frames, evenly_spaced(3000, 900))
    assert_array_equal(sampled.memberships.values[frames], fit.memberships.values)
    assert_array_equal(sampled.cores.core_of[frames], fit.cores.core_of)
    assert_array_equal(sampled.log_density[frames], fit.log_density)
    assert_array_equal(sampled.cores.peaks, frames[fit.cores.peaks])
    assert fit.transition_regions is None
    assert fit.data.lengths.tolist() == [300, 600]


def test_other_frames_are_those_of_assign(data, sampled):
    others = np.setdiff1d(np.arange(3000), sampled.sample.frames)
    found = mf.assign(sampled.sample.fit, data.subset(others))
    assert_array_equal(sampled.memberships.values[others], found.memberships.values)
    assert_array_equal(sampled.milestones.core_of[others], found.milestones.core_of)
    again = mf.assign(sampled, data.subset(others))
    assert_array_equal(again.memberships.values, found.memberships.values)


def test_chunks_threads_and_blocks_change_no_bit(data, sampled, monkeypatch, tmp_path):
    monkeypatch.setattr(extension, "CHUNK", 500)
    store = mf.RunDir(tmp_path)
    found = mf.cluster(data, mf.Settings(fit_frames=900, n_jobs=1), store=store)
    for name in ("values", "lost", "log_weights"):
        assert_array_equal(getattr(found.memberships, name), getattr(sampled.memberships, name))
    read = store.load(data)
    assert_array_equal(read.memberships.values, found.memberships.values)
    assert read.chosen == found.chosen
    assert str(read.sample.error) == str(found.sample.error)


def test_a_run_that_was_killed_resumes_after_the_last_chunk(data, sampled, monkeypatch, tmp_path):
    monkeypatch.setattr(extension, "CHUNK", 500)
    settings, extend, done = mf.Settings(fit_frames=900), extension.Fitted.extend, []

    def extend_twice(self, queries, *, n_jobs):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(len(queries))
        return extend(self, queries, n_jobs=n_jobs)

    monkeypatch.setattr(extension.Fitted, "extend", extend_twice)
    with pytest.raises(KeyboardInterrupt):
        mf.cluster(data, settings, store=mf.RunDir(tmp_path))

    def extend_on(self, queries, *, n_jobs):
        done.append(len(queries))
        return extend(self, queries, n_jobs=n_jobs)

    monkeypatch.setattr(extension.Fitted, "extend", extend_on)
    found = mf.cluster(data, settings, store=mf.RunDir(tmp_path))
    assert_array_equal(found.memberships.values, sampled.memberships.values)
    assert sum(done) == 3000 - 900  # none twice


@pytest.mark.filterwarnings("ignore:Labels and basins")
def test_other_states_and_merged_ones(sampled):
    two = sampled.at(n_states=2)
    assert two.n_states == 2
    assert_array_equal(two.memberships.values[two.sample.frames], two.sample.fit.memberships.values)
    merged = sampled.merge([0, 1])
    assert merged.sample.fit.n_states == merged.n_states == 2
    frames = merged.sample.frames
    assert_array_equal(merged.memberships.values[frames], merged.sample.fit.memberships.values)


def difference(full, some):
    """Return the mean difference between the memberships of two clusterings of the same frames."""
    order = some.memberships.values.T @ full.memberships.values
    theirs = some.memberships.values[:, order.argmax(axis=0)]
    return 0.5 * np.abs(theirs - full.memberships.values).sum(axis=1).mean()


def two_heaps(n):
    random = np.random.default_rng(1)
    return random.normal(size=(n, 2)) + np.outer(random.integers(0, 2, n), [3.2, 0])


def test_the_error_is_that_of_a_larger_fit():
    points, settings = two_heaps(12_000), mf.Settings(n_states=2)
    some = mf.cluster(points, replace(settings, fit_frames=1500))
    error = some.sample.error
    assert (error.frames, error.fitted, error.growth, error.doublings) == (1500, 3000, 1.0, 3.0)
    true = difference(mf.cluster(points, settings), some)
    assert 0.5 * true <= error.all_frames <= 4 * true
    assert error.mean < error.all_frames


def test_the_error_of_half_of_the_frames_is_the_true_one():
    points, settings = two_heaps(2001), mf.Settings(n_states=2)
    some = mf.cluster(points, replace(settings, fit_frames=1001))
    full = mf.cluster(points, settings)
    assert some.sample.error.fitted == 2001
    assert some.sample.error.all_frames == some.sample.error.mean
    assert some.sample.error.mean == pytest.approx(difference(full, some), rel=0.2)
    assert "all frames is expected" not in str(some.sample.error)


def test_the_check_of_as_many_frames_replaces_half_of_them():
    points = two_heaps(6000)
    some = mf.cluster(points, mf.Settings(n_states=2, fit_frames=1000))
    fit = some.sample.fit
    fitted = extension.Fitted(fit.data, fit.memberships, fit.k, fit.settings)
    found = extension.Extension(
        nearest=some.sample.nearest,
        distances=some.sample.distances,
        values=some.memberships.values,
        lost=some.memberships.lost,
    )
    error = measure_error(some.data, some.sample.frames, fitted, found, size=1000)
    assert (error.frames, error.fitted, error.growth) == (500, 1000, 0.0)
    assert error.all_frames == max(error.mean, error.half * error.doublings)


def test_the_error_counts_states_that_only_the_larger_fit_has():
    random = np.random.default_rng(2)
    points = random.normal(size=(1200, 2)) + 7 * np.tile([0, 1, 2], 400)[:, None]
    result = mf.cluster(points, mf.Settings(fit_frames=600))
    two = result.merge([0, 1])
    fit = two.sample.fit
    # the settings find three states again
    fitted = extension.Fitted(fit.data, fit.memberships, fit.k, fit.settings)
    found = extension.Extension(
        nearest=two.sample.nearest,
        distances=two.sample.distances,
        values=two.memberships.values,
        lost=two.memberships.lost,
    )
    error = measure_error(two.data, two.sample.frames, fitted, found, size=1200)
    assert (error.n_states, error.n_states_other) == (2, 3)
    assert error.mean == pytest.approx(1 / 3, abs=0.03)
    assert "(which has 3 states, not 2)" in str(error)


@pytest.mark.filterwarnings("ignore:Labels and basins")
def test_states_that_are_chosen_later_have_no_error(sampled):
    two = sampled.at(n_states=2)
    assert two.sample.error is None
    assert str(two.sample).endswith("memberships by extension.")


def test_a_sample_is_told(sampled):
    assert sampled.chosen["fit_frames"].startswith("States found on 900 of 3,000 frames, evenly spaced")
    assert "found on 900 of them" in repr(sampled)
    assert repr(sampled.sample) == "FitSample(900 of 3,000 frames)"


def test_a_sample_of_all_frames_is_none(data):
    assert mf.cluster(data, mf.Settings(fit_frames=3000)).sample is None


def test_too_small_a_sample(data):
    with pytest.raises(mf.InputError, match=r"`fit_frames` must be at least .* got 50\. .* smaller `k`"):
        mf.cluster(data, mf.Settings(fit_frames=50))


def test_the_sample_that_fits_into_memory(data, caplog):
    caplog.set_level(logging.INFO, logger="mdfuzzy")
    found = mf.cluster(data, memory=505_000_000)
    assert found.sample is not None
    assert found.settings.fit_frames == len(found.sample) < 3000
    assert "more than the 0.5 GB that may be used" in caplog.text
    assert f"states found on {len(found.sample):,} of them" in caplog.text


def test_too_little_memory(data):
    with pytest.raises(mf.InputError, match=r"`memory` must be at least 0.* GB for 3,000 frames"):
        mf.cluster(data, memory="100 MB")
    with pytest.raises(mf.InputError, match="`memory` must be enough for a fit of `fit_frames` frames"):
        mf.cluster(data, mf.Settings(fit_frames=900), memory=1e6)
    with pytest.raises(mf.InputError, match=r"`memory` must be a size .* got 'much'"):
        mf.cluster(data, memory="much")


def test_exports_and_pictures_take_all_frames(sampled, tmp_path):
    table = mf.exports.write_table(tmp_path / "frames.csv", sampled)
    assert len(table.read_text().splitlines()) == 3001
    report = mf.report.write_report(tmp_path / "report.html", sampled)
    assert "3,000" in report.read_text()


def test_what_needs_neighbours_takes_the_fitted_frames(sampled):
    seeds, of_fit = mf.suggest_seeds(sampled, n=5), mf.suggest_seeds(sampled.sample.fit, n=5)
    assert_array_equal(seeds.frames, sampled.sample.frames[of_fit.frames])
    assert_array_equal(seeds.states, sampled.labels[seeds.frames])
    assert 0 <= neighbors_in_time(sampled) == neighbors_in_time(sampled.sample.fit) <= 1
    named = ["first", "second"]  # both sample the same distribution
    found, fit = (mf.compare_ensembles(each, named) for each in (sampled, sampled.sample.fit))
    assert found.differences[0].mixing == pytest.approx(fit.differences[0].mixing, abs=0.05)
    assert found.differences[0].mixing == pytest.approx(1, abs=0.15)

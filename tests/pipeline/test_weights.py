"""Clusterings of frames with weights: known populations, equal weights, and what weights rule out."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf
from mdfuzzy.pipeline._arrays import pack
from mdfuzzy.plots.bins import bin_points
from mdfuzzy.store._array_folder import read_json, write_json

#: Energies in kT of two wells at x = -1 and 1; the second is higher by 1 kT.
TILT = 0.5


def energy(x: np.ndarray) -> np.ndarray:
    return 5 * (x**2 - 1) ** 2 + TILT * x


def population() -> float:
    """The exact population of the well at x < 0."""
    x = np.linspace(-2.5, 2.5, 20_001)
    weights = np.exp(-energy(x))
    return float(weights[x < 0].sum() / weights.sum())


def biased(seed: int = 0, n: int = 4000, trajectories: int = 8) -> mf.Features:
    """Points spread evenly over both wells and the barrier, with the weights of the wells."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, n)
    points = np.column_stack([x, rng.normal(scale=0.3, size=n)])
    return mf.Features(np.split(points, trajectories), log_weights=-energy(x))


@pytest.fixture(scope="module")
def result() -> mf.Clustering:
    return mf.cluster(biased())


def test_populations_are_those_of_the_ensemble_that_the_weights_stand_for(result):
    first = result.cores.peaks[0]
    assert result.n_states == 2
    assert result.data.values[first, 0] == pytest.approx(-1, abs=0.2)
    found = result.fractions
    assert found.low[0] < population() < found.high[0]
    assert found.values[0] == pytest.approx(population(), abs=0.03)
    # The bias spread the frames evenly: without weights both wells are equal.
    row = result.states[0]
    assert row.frames / len(result) == pytest.approx(0.5, abs=0.05)
    assert row.fraction == row.population == found.values[0]
    assert (row.population_low, row.population_high) == (found.low[0], found.high[0])
    assert row.effective == found.effective[0]
    energy = result.states[1].free_energy
    assert energy == pytest.approx(np.log(found.values[0] / found.values[1]))
    assert result.states[1].free_energy_low < energy < result.states[1].free_energy_high
    assert found.effective.sum() < len(result)
    assert found.n_effective == pytest.approx(result.data.n_effective)


def test_memberships_are_those_of_the_unbiased_ensemble():
    # The probability to reach one well before the other has a closed form on a line: the integral of
    # exp(energy) between the cores. The walk is that of the ensemble, not of the frames as they were sampled.
    result = mf.cluster(biased(n=8000))
    x = result.data.values[:, 0]
    cores = [x[result.cores.core_of == state] for state in range(2)]
    grid = np.linspace(cores[0].max(), cores[1].min(), 2001)
    integral = np.cumsum(np.exp(energy(grid)))
    exact = 1 - np.interp(x, grid, integral / integral[-1])
    between = (x > grid[0]) & (x < grid[-1])
    found = result.memberships.values[:, 0]
    assert np.abs(found - exact)[between].mean() < 0.04
    flat = mf.solve_memberships(result.graph, result.sampled_density, result.cores)
    assert np.abs(flat.values[:, 0] - exact)[between].mean() > 0.1


def test_equal_weights_give_the_bits_of_none():
    frames = mf.datasets.alanine_dipeptide(stride=20)
    settings = mf.Settings(scan_k=True, bootstrap=2)
    plain = mf.cluster(frames, settings)
    for weighted in (frames.weighted(np.full(len(frames), 0.3)), frames.weighted(log_weights=np.ones(1500))):
        found = mf.cluster(weighted, settings)
        for each in fields(mf.Clustering):
            if each.name in ("data", "settings", "chosen", "warnings"):
                continue
            one, two = (pack(getattr(result, each.name)) for result in (plain, found))
            assert one.keys() == two.keys()
            for name in one:
                assert_array_equal(one[name], two[name], err_msg=f"{each.name}.{name}")
        assert (plain.chosen, plain.warnings) == (found.chosen, found.warnings)
        assert found.visits is not None


def test_each_formula_with_equal_weights_gives_the_bits_of_none():
    plain = mf.cluster(mf.datasets.alanine_dipeptide(stride=20))
    equal, sampled = np.full(len(plain), 0.3), plain.sampled_density
    options = {"states": plain.tree.states, "dimension": plain.dimension}
    data = plain.graph, plain.log_density, plain.peaks
    cores = mf.find_reached_cores(*data, sampled=sampled, weights=equal, **options)
    for name in ("basins", "core_of", "peaks", "prominence"):
        assert_array_equal(getattr(cores, name), getattr(mf.find_reached_cores(*data, **options), name))
    for beta in (0.5, 2.0, np.inf):
        walks = [
            mf.solve_memberships(*data[:2], cores, beta=beta, dimension=plain.dimension, **more).values
            for more in ({}, {"sampled": sampled})
        ]
        assert_array_equal(*walks)


def test_kinetics_are_left_out_with_a_reason(result):
    assert result.visits is None
    assert result.transition_regions.transitions is None
    assert len(result.transition_regions.others) == 0
    assert "transitions" not in result.transition_regions.table()
    text = result.summary()
    assert "Kinetics are left out: weights correct populations" in text
    assert "effective frames of 4,000" in text
    assert "visits" not in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"validate": True}, "`validate` must be False if frames have weights.*unbiased runs.*TRAM"),
        ({"beta": "kinetic"}, r"`beta` must be a number or 'entropy' if frames have weights.*TRAM"),
        ({"walk_weights": "linear"}, "`walk_weights` must be 'power' if frames have weights"),
    ],
)
def test_settings_that_weights_rule_out_are_refused_before_anything_is_done(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        mf.cluster(biased(), mf.Settings(**settings), store=mf.RunDir(tmp_path / "out"))
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").rglob("*.npy"))


def test_every_way_to_kinetics_is_an_error_that_says_what_to_do(result, tmp_path):
    data, cores, memberships = result.data, result.milestones, result.memberships
    calls = [
        lambda: mf.kinetics.hard_dtrajs(data, memberships),
        lambda: mf.kinetics.core_dtrajs(data, cores),
        lambda: mf.kinetics.milestoned_dtrajs(data, cores),
        lambda: mf.kinetics.transition_counts(data, cores),
        lambda: mf.kinetics.visits(data, cores),
        lambda: mf.kinetics.find_outcomes(data, cores),
        lambda: mf.kinetics.kinetic_criterion(data, cores),
        lambda: mf.kinetics.calibration(data, memberships, cores),
        lambda: mf.kinetics.soft_model(data, memberships, lag=1),
        lambda: mf.validate_model(result),
        lambda: mf.exports.write_pyemma(tmp_path / "pyemma", result),
        lambda: mf.exports.write_exports(tmp_path, result, kinds=["pyemma"]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"must have no weights for kinetics.*unbiased runs.*TRAM"):
            call()
    with pytest.raises(ValueError, match="`walk_weights` must be 'power' if points have weights"):
        mf.solve_memberships(
            result.graph, result.log_density, result.cores, sampled=result.sampled_density,
            walk_weights="linear",
        )  # fmt: skip


def test_few_effective_frames_are_warned_of():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 8])
    weights = np.ones(600)
    weights[:300] = rng.lognormal(sigma=2.2, size=300) / 30
    with pytest.warns(UserWarning, match=r"fewer than 50 effective frames.*: state \d \(\d+\)"):
        result = mf.cluster(points, mf.Settings(n_states=2), weights=weights)
    assert result.fractions.effective.min() < 50 < result.fractions.n_effective
    with (
        pytest.warns(UserWarning, match=r"The weights leave \d+ effective frames of 600. With fewer than 50"),
        pytest.warns(UserWarning, match="number of states is poorly determined"),
    ):
        mf.cluster(points, weights=rng.lognormal(sigma=2.5, size=600))


def test_the_number_of_states_counts_effective_frames():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1200, 2)) + 8 * np.repeat([0, 1], 600)[:, None]
    assert mf.cluster(points).tree.well_determined
    with pytest.warns(UserWarning, match=r"1,200 frames \(effectively \d+\) are too few"):
        found = mf.cluster(points, weights=rng.lognormal(sigma=1.5, size=1200))
    assert found.tree.n_independent < found.tree.n_effective + 1 < 600


def test_weights_can_be_given_with_any_data():
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(400, 2)), rng.random(400)
    points[:200] += 8
    data = mf.Features(points, weights=weights)
    expected = mf.cluster(data)
    for found in (
        mf.cluster(points, weights=weights),
        mf.cluster(points, log_weights=np.log(weights)),
        mf.cluster(data.weighted(), weights=[weights]),
        mf.cluster(expected.neighbors, weights=weights),
    ):
        assert_allclose(found.memberships.values, expected.memberships.values, atol=1e-9)
        assert_allclose(found.fractions.values, expected.fractions.values)
    assert mf.cluster(data).weights is data.weights
    with pytest.raises(ValueError, match="`weights` must be at least 0"):
        mf.cluster(expected.neighbors, weights=-weights)


def test_other_states_and_merged_states_keep_the_weights():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(900, 2)) + 6 * np.repeat([0, 1, 2], 300)[:, None]
    weights = np.repeat([1.0, 2.0, 3.0], 300)
    result = mf.cluster(points, weights=weights)
    assert_allclose(result.fractions.values, [1 / 2, 1 / 3, 1 / 6], atol=0.02)
    assert result.at(n_states=2).fractions.values.max() > 0.6
    merged = result.merge([0, 2])
    assert_allclose(merged.fractions.values, [2 / 3, 1 / 3], atol=0.02)
    assert merged.weights is result.weights


def test_new_frames_use_their_own_weights(result):
    new = biased(seed=1)
    found = mf.assign(result, new)
    assert found.visits is None
    assert found.fractions.values[0] == pytest.approx(population(), abs=0.05)
    assert "Kinetics are left out" in found.summary()
    assert "effective frames" in found.summary()
    unbiased = mf.assign(result, new.weighted())
    assert not unbiased.fractions.weighted
    assert unbiased.visits is not None  # kinetics of unbiased runs in the states of biased ones


def test_a_scan_over_beta_averages_entropies_by_weight(result):
    data = result.graph, result.log_density, result.cores
    options = {"betas": [1, 2, 4], "sampled": result.sampled_density, "dimension": result.dimension}
    scan = mf.scan_beta(*data, weights=result.weights, **options)
    for at, values in enumerate(scan.memberships.astype(np.float64)):
        terms = np.where(values > 0, values * np.log(np.where(values > 0, values, 1)), 0).sum(axis=1)
        assert_allclose(scan.entropy[at], np.average(terms, weights=result.weights), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:Labels and basins")
def test_reweighting_searches_nothing_again(tmp_path, monkeypatch):
    from mdfuzzy.pipeline import _steps

    done = []
    for module, name in (
        (_steps.neighbors, "nearest_frames"),
        (_steps.density, "estimate_log_density"),
        (_steps.states, "compute_persistence"),
        (_steps.memberships, "solve_memberships"),
    ):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *args, real=real, name=name, **more: done.append(name) or real(*args, **more)
        )
    store, data = mf.RunDir(tmp_path), biased()
    plain = data.weighted()
    mf.cluster(plain, mf.Settings(n_states=2), store=store)
    done.clear()
    first = mf.cluster(data, mf.Settings(n_states=2), store=store)
    assert done == ["compute_persistence", "solve_memberships"]
    assert_array_equal(store.load(plain).fractions.values, first.fractions.values)  # kept in the folder
    done.clear()
    second = mf.cluster(plain.weighted(first.weights**0.5), mf.Settings(n_states=2), store=store)
    assert done == ["compute_persistence", "solve_memberships"]
    assert second.fractions.values[0] != first.fractions.values[0]
    done.clear()
    mf.cluster(plain.weighted(first.weights**0.5), mf.Settings(n_states=2), store=store)
    assert done == []
    assert "effective frames" in store.summary()
    assert "frame_weights" not in store.steps
    for file in (tmp_path / "data").glob("frame_weights*"):
        file.unlink()
    with pytest.raises(ValueError, match="must hold the weights of the 4,000 frames"):
        store.load(plain)


def test_a_run_directory_with_the_old_name_of_the_walk_weights_opens(tmp_path):
    points = np.random.default_rng(0).normal(size=(400, 2)) + 8 * np.repeat([0, 1], 200)[:, None]
    mf.cluster(points, store=mf.RunDir(tmp_path))
    file = tmp_path / "data" / "run.json"
    run = read_json(file)
    run["settings"]["weights"] = run["settings"].pop("walk_weights")
    write_json(file, run)
    assert mf.RunDir(tmp_path).settings.walk_weights == "power"
    assert mf.RunDir(tmp_path).load(points).n_states == 2


# --- the shells


def test_the_estimator_takes_sample_weight():
    data = biased()
    model = mf.FuzzyModeSeeking().fit(data.values, sample_weight=data.weights)
    assert model.n_clusters_ == 2
    expected = mf.cluster(data.values, weights=data.weights)
    assert_array_equal(model.labels_, expected.labels)
    assert_array_equal(model.fit_predict(data.values, sample_weight=data.weights), expected.labels)
    assert model.fit_transform(data.values, sample_weight=data.weights).shape == (4000, 2)
    distances = np.abs(data.values[:300, :1] - data.values[:300, 0])
    model = mf.FuzzyModeSeeking(metric="precomputed", n_states=1)
    with pytest.warns(UserWarning, match="one state only"):
        model.fit(distances, sample_weight=data.weights[:300])
    assert_allclose(model.clustering_.weights, data.weights[:300] / data.weights[:300].max())
    with pytest.raises(ValueError, match="`sample_weight` must be at least 0, and not all zero"):
        model.fit(distances, sample_weight=np.zeros(300))


def test_bins_are_weighted():
    points = np.array([[0.1, 0.1], [0.2, 0.2], [0.9, 0.9], [0.9, 0.9]])
    bins = bin_points(points, number=2, weights=[1.0, 3.0, 2.0, 0.0])
    assert_array_equal(bins.counts, [[2, 0], [0, 2]])
    assert_array_equal(bins.masses, [[4, 0], [0, 2]])
    assert_allclose(bins.mean([1.0, 2.0, 5.0, 9.0])[[0, 1], [0, 1]], [7 / 4, 5])
    assert bins.most_common([0, 1, 1, 0]).tolist() == [[1, -1], [-1, 1]]
    free = bins.free_energy(width=0)
    assert_allclose(free[[0, 1], [0, 1]], [0, np.log(2)])
    assert np.isnan(free[0, 1])
    with pytest.raises(ValueError, match="`weights` must have one value per point"):
        bin_points(points, weights=[1.0])


def test_pictures_and_report_are_of_the_weighted_ensemble(result, tmp_path):
    projection = mf.plots.project(result.data)
    assert projection.weights is result.weights
    energies = projection.bin(40).free_energy()
    depth = [np.nanmin(energies[part]) for part in (slice(0, 20), slice(20, 40))]
    assert depth[0] == 0
    assert depth[1] == pytest.approx(2 * TILT, abs=0.35)
    legend = mf.plots.plane(result.data, result, kind="states").get_legend()
    assert legend.get_title().get_text() == "state: population"
    mf.plots.state_network(result.transition_regions, [row.fraction for row in result.states])
    page = mf.report.write_report(tmp_path / "report.html", result).read_text(encoding="utf-8")
    assert "effective frames" in page
    assert "Kinetics are left out" in page
    assert '"energies":' in page
    assert "transitions observed" not in page
    assert '<th scope=col class="number">visits' not in page


def test_exports_have_the_weights(result, tmp_path):
    places = mf.exports.write_exports(tmp_path, result, kinds=["table"])
    lines = places["table"].read_text().splitlines()
    column = lines[0].split(",").index("weight")
    assert_allclose([float(line.split(",")[column]) for line in lines[1:]], result.weights, rtol=1e-8)
    with pytest.raises(ValueError, match="no topology"):
        mf.exports.write_exports(tmp_path / "all", result)  # all but pyemma by default
    assert not (tmp_path / "all" / "pyemma").exists()


@pytest.mark.filterwarnings("ignore:Many neighbours are close in time:UserWarning")
def test_representatives_are_weighted():
    from mdfuzzy.exports.medoids import find_medoids, spread_by_weight

    points = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [11.0], [12.0], [13.0]])
    heavy = mf.Features(np.repeat(points, 60, axis=0) + np.linspace(0, 1e-3, 480)[:, None])
    weights = np.repeat([1, 1, 1, 50, 50, 1, 1, 1], 60).astype(float)
    result = mf.cluster(heavy, mf.Settings(n_states=2, k=60), weights=weights)
    found = sorted(np.round(result.data.values[find_medoids(result), 0]).tolist())
    assert found == [3, 10]
    rng = np.random.default_rng(0)
    members, weights = np.arange(5000), rng.lognormal(sigma=2, size=5000)
    chosen, counts = spread_by_weight(members, 500, weights)
    assert counts.sum() == 500
    share = counts[chosen < 2500].sum() / 500
    assert share == pytest.approx(weights[:2500].sum() / weights.sum(), abs=0.003)

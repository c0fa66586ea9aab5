"""All steps in one call: the same as one by one, and it says what it chose."""

import warnings
from dataclasses import fields
from functools import partial
from inspect import Parameter, signature
from typing import get_type_hints
from weakref import ref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf
from mdfuzzy.memberships import beta_scan
from mdfuzzy.pipeline import _beta, _cache
from mdfuzzy.pipeline import run as pipeline
from mdfuzzy.pipeline._cache import STEPS, settings_of


def blobs(*sizes: int, apart: float = 7.0, d: int = 2, seed: int = 0) -> list[np.ndarray]:
    """One trajectory per Gaussian, in a row."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, d)) + apart * place * np.eye(d)[0] for place, n in enumerate(sizes)]


@pytest.mark.parametrize("graph", ["union", "directed"])
def test_is_the_steps_one_by_one(graph: str):
    trajectories = blobs(200, 250)
    settings = mf.Settings(k=12, walk_graph=graph, beta=1.5, core_rule="share", core_share=0.2)
    result = mf.cluster(trajectories, settings)
    neighbors = mf.euclidean_neighbors(np.concatenate(trajectories), n_neighbors=24)
    dimension = mf.intrinsic_dimension(neighbors)
    logf = mf.dtm_log_density(neighbors, dimension=dimension)
    union = neighbors.graph(k=12)
    peaks = mf.compute_persistence(union, logf)
    tree = mf.build_state_tree(neighbors, union, logf, peaks, dimension=dimension, lengths=[200, 250])
    tau = tree.gaps[0].threshold
    cores = mf.find_cores(union, logf, peaks, states=tree.states, rule="share", share=0.2)
    walk = neighbors.graph(k=12, kind=graph)
    mu = mf.solve_memberships(walk, logf, cores, beta=1.5, dimension=dimension)
    assert_array_equal(result.neighbors.indices, neighbors.indices)
    assert_array_equal(result.log_density, logf)
    assert_array_equal(result.peaks.peaks, peaks.peaks)
    assert_array_equal(result.cores.core_of, cores.core_of)
    assert_array_equal(result.memberships.values, mu.values)
    assert (result.k, result.dimension, result.bandwidth, result.prominence) == (12, dimension, None, tau)
    assert result.graph.kind == "union"
    assert not result.log_density.flags.writeable
    assert result.beta_scan is result.k_scan is result.bootstrap is None
    assert result.n_states == 2
    assert len(result) == 450


def test_carries_the_boundaries_of_the_trajectories():
    trajectories = blobs(200, 150, 100, apart=12.0)
    result = mf.cluster(trajectories)
    assert isinstance(result.data, mf.Features)
    assert [len(part) for part in result.data.split(result.memberships.hard)] == [200, 150, 100]
    for part in result.data.split(result.memberships.hard):
        assert len(np.unique(part)) == 1  # every blob is a state and a trajectory
    one = mf.cluster(np.concatenate(trajectories))
    assert one.data.lengths.tolist() == [450]
    assert_array_equal(one.memberships.values, result.memberships.values)


def test_periodic_features_have_no_end():
    rng = np.random.default_rng(3)
    angles = np.concatenate([rng.normal(180, 20, 300), rng.normal(0, 20, 300)])
    wrapped = ((angles + 180) % 360 - 180)[:, None]
    assert mf.cluster(mf.Features(wrapped, periodic=[0])).n_states == 2
    assert mf.cluster(wrapped).n_states == 3  # torn apart at 180


def test_says_what_it_chose_and_why():
    trajectories = blobs(300, 300)
    result = mf.cluster(trajectories)
    assert list(result.chosen) == ["k", "dimension", "prominence"]
    assert result.chosen["k"].startswith("k = 22 neighbours per frame, set by the number of frames (600)")
    assert "from the distances to 44 neighbours" in result.chosen["dimension"]
    assert ": 2 states, well determined. Noise alone would produce the least" in result.chosen["prominence"]
    text = result.summary()
    missed = f"states of less than {100 * result.tree.smallest_state / 600:.2g} % of the frames can be missed"
    assert text.startswith(
        "Clustering(2 states of 600 frames, k=22, beta=2 (walk temperature; 2 = simulation temperature); "
        f"{missed})"
    )
    for sentence in result.chosen.values():
        assert sentence in text
    assert str(result.states) in text
    fixed = mf.cluster(trajectories, mf.Settings(k=22, dimension=2.0, prominence=1.0))
    assert fixed.chosen == {}
    assert "missed" not in repr(fixed)
    assert fixed.prominence == 1.0
    assert fixed.dimension == 2.0


@pytest.mark.filterwarnings("ignore:The likelihood of the bandwidth is still rising")
@pytest.mark.parametrize("options", [{"density": "kde"}, {"kernel": "gaussian"}])
def test_one_window_for_density_and_walk(options: dict):
    trajectories = blobs(300, 300)
    given = mf.cluster(trajectories, mf.Settings(bandwidth=0.4, **options))
    assert given.bandwidth == 0.4
    assert "bandwidth" not in given.chosen
    assert given.n_states == 2
    if "kernel" in options:
        assert given.memberships.bandwidth == 0.4
    else:
        expected = mf.kde_log_density(given.neighbors, bandwidth=0.4, dimension=given.dimension)
        assert_array_equal(given.log_density, expected)
    automatic = mf.cluster(trajectories, mf.Settings(k=60, **options))
    assert automatic.bandwidth == mf.kde_bandwidth(automatic.neighbors, dimension=automatic.dimension)
    assert automatic.chosen["bandwidth"].startswith(
        f"bandwidth = {automatic.bandwidth:.3g}, chosen by leave-one-out maximum likelihood"
    )


def test_chooses_beta_by_the_entropy():
    trajectories = blobs(200, 200, apart=4.0)
    with pytest.warns(UserWarning, match=r"H has \d plateaus? against log beta, not three"):
        result = mf.cluster(trajectories, mf.Settings(beta="entropy", k=20))
    assert result.beta_scan.beta == result.memberships.beta
    assert result.beta_scan.frames is None
    assert result.chosen["beta"].startswith(f"beta = {result.beta_scan.beta:.3g} (walk temperature; 2 = ")
    assert result.warnings == result.beta_scan.notes


@pytest.mark.filterwarnings("ignore:H has")
def test_scans_the_states_of_all_frames_however_many(monkeypatch):
    trajectories, settings = blobs(600, 600, apart=4.0), mf.Settings(beta="entropy")
    whole = mf.cluster(trajectories, settings)
    monkeypatch.setattr(_beta, "scan_beta", partial(beta_scan.scan_beta, max_kept=400))
    some = mf.cluster(trajectories, settings)
    assert_array_equal(some.beta_scan.frames, beta_scan.kept_frames(1200, max_kept=400))
    assert_array_equal(some.beta_scan.entropy, whole.beta_scan.entropy)
    assert some.memberships.beta == whole.memberships.beta
    assert_array_equal(some.beta_scan.memberships, whole.beta_scan.memberships[:, some.beta_scan.frames])


def hopping(n_trajectories: int = 4, length: int = 600, seed: int = 0) -> list[np.ndarray]:
    """A diffusion between two wells, which it changes now and then."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], n_trajectories)
    y = np.zeros(n_trajectories)
    frames = np.empty((length, n_trajectories, 2))
    for at in range(length):
        for _ in range(20):
            noise = 0.1 * rng.normal(size=(2, n_trajectories))
            x = x - 0.5 * 0.01 * 8.0 * x * (x**2 - 1.0) + noise[0]
            y = y - 0.5 * 0.01 * 4.0 * y + noise[1]
        frames[at] = np.stack([x, y], axis=1)
    return list(frames.transpose(1, 0, 2))


#: Two states, whatever noise there is.
TWO = {"prominence": 1.0, "core_rule": "share", "core_share": 0.2}


def test_chooses_beta_by_the_next_core():
    trajectories = hopping()
    result = mf.cluster(trajectories, mf.Settings(beta="kinetic", **TWO))
    scan = result.beta_scan
    score = mf.kinetics.kinetic_criterion(result.data, result.milestones)
    assert scan.scores[scan.betas == scan.beta] == pytest.approx(score(result.memberships), abs=1e-6)
    assert scan.beta == scan.betas[np.argmax(scan.scores)] == result.memberships.beta
    assert {1.0, 2.0, np.inf} < set(scan.betas)
    assert 0.05 < scan.scores.max() < 0.9
    text = result.chosen["beta"]
    assert text.startswith(
        f"beta = {scan.beta:.3g} (walk temperature; 2 = simulation temperature). There the memberships"
    )
    assert f"loss is {scan.scores.max():.1%} below that of a constant prediction" in text
    assert text.endswith(f"({scan.scores[scan.betas == 2][0]:.1%} at beta = 2).")


def test_no_beta_by_the_next_core_without_passages_or_time():
    with pytest.raises(
        ValueError, match=r"`data` must hold transitions from one core to another; .* go 0 times"
    ):
        mf.cluster(blobs(200, 200, apart=12.0), mf.Settings(beta="kinetic"))
    neighbors = mf.euclidean_neighbors(np.concatenate(hopping(1)), n_neighbors=40)
    with pytest.raises(
        ValueError, match="`beta` must be a number or 'entropy' without trajectories; got 'kin"
    ):
        pipeline.cluster_neighbors(neighbors, mf.Settings(beta="kinetic", k=20))


@pytest.mark.filterwarnings("ignore:H has", "ignore:The choice")
@pytest.mark.parametrize(
    "settings", [{"beta": "entropy"}, {"beta": "kinetic"}, {"beta": 0.8, "scan_beta": True}]
)
@pytest.mark.parametrize("unit_density", [True, False])
def test_linear_weights_are_scanned_where_they_are_positive(settings, unit_density):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 2))
    points[::2] += 3.5
    asked = mf.Settings(prominence=0.8, walk_weights="linear", unit_density=unit_density, **settings)
    with pytest.warns(UserWarning, match=r"Left out of the scan: beta = .*inf \(walk temperature"):
        result = mf.cluster([points[:150], points[150:]], asked)
    assert any(note.startswith("Left out of the scan") for note in result.beta_scan.notes)
    assert "warning: Left out of the scan: beta = " in result.summary()
    assert np.isfinite(result.beta_scan.betas).all()
    assert result.memberships.beta in result.beta_scan.betas
    if not unit_density and settings["beta"] == "kinetic":  # 2 is left out, so nothing is said of it
        assert result.chosen["beta"].endswith("% below that of a constant prediction.")


def test_scans_beta_beside_a_number():
    trajectories = blobs(400, 400, apart=4.0)
    result = mf.cluster(trajectories, mf.Settings(beta=1.7, scan_beta=True))
    scan = result.beta_scan
    assert_array_equal(scan.betas, np.unique([*beta_scan.default_betas(), 1.7]))
    assert scan.memberships.dtype == np.float32
    at = scan.betas.tolist().index(1.7)
    assert_allclose(scan.memberships[at], result.memberships.values, atol=1e-6)
    assert result.memberships.beta == 1.7
    assert "beta" not in result.chosen
    assert result.warnings == ()


def test_periodic_features_and_frames_stay_what_they_are_when_some_are_picked():
    features = mf.Features(np.arange(10.0)[:, None], periodic=[0], period=12.0)
    some = features.subset(np.array([1, 3]))
    assert (some.values.ravel().tolist(), some.periodic.tolist(), some.periods) == ([1.0, 3.0], [0], (12.0,))
    frames = mf.datasets.alanine_dipeptide(stride=3000)
    some = frames.subset(np.array([2, 5]))
    assert_array_equal(some.xyz, frames.xyz[[2, 5]])
    assert some.lengths.tolist() == [2]


def test_examines_how_firmly_the_states_stand():
    trajectories = [
        part for pair in zip(blobs(150, 150), blobs(150, 150, seed=1), strict=True) for part in pair
    ]
    result = mf.cluster(trajectories, mf.Settings(k=16, scan_k=True, bootstrap=4, seed=3))
    assert result.k_scan.k[-1] == 16
    assert result.k_scan.n_states[-1] == result.n_states == 2
    again = mf.bootstrap_states(
        result.neighbors, [150] * 4, n_bootstrap=4, seed=3, dimension=result.dimension
    )
    assert_array_equal(result.bootstrap.n_states, again.n_states)
    assert str(result.bootstrap) in result.summary()
    one = mf.cluster(np.concatenate(trajectories), mf.Settings(k=16, bootstrap=4))  # blocks are drawn
    assert len(one.bootstrap.n_states) == 4


def test_warnings_are_kept_and_given():
    points = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(UserWarning, match="There is one state only") as caught:
        result = mf.cluster(points)
    assert "1 state, POORLY determined: 200 frames are too few (at least 380 are needed" in result.warnings[0]
    assert "States of fewer than 38 frames (19 %) can be missed. Look at" in result.warnings[0]
    assert repr(result).endswith("; number of states POORLY determined)")
    assert result.warnings[1:] == ("There is one state only: all memberships are 1.",)
    assert caught[0].filename == __file__
    assert "warning: There is one state only" in result.summary()
    assert_allclose(result.memberships.values, np.ones((200, 1)), atol=1e-8)


def test_an_unclear_gap_is_no_matter_if_the_prominence_is_given():
    trajectories = blobs(200, 200, apart=4.5)
    tree = mf.cluster(trajectories, mf.Settings(k=15, prominence=0.5)).tree
    # At this level the smaller state is just a state.
    settings = {"k": 15, "level": min(0.5, 2 * tree.p[tree.at(n_states=2)].max())}
    with pytest.warns(UserWarning, match="The number of states is poorly determined"):
        result = mf.cluster(trajectories, mf.Settings(**settings))
    assert result.n_states == 2
    given = mf.cluster(trajectories, mf.Settings(prominence=result.prominence, **settings))
    assert not given.tree.well_determined
    assert given.warnings == ()
    assert_array_equal(given.memberships.values, result.memberships.values)


@pytest.mark.filterwarnings("ignore:There is one state only", "ignore:The number of states is poorly")
@pytest.mark.parametrize("n", [3, 4, 5])
def test_tiny_inputs(n: int):
    points = np.array([[0.0], [1.0], [10.0], [11.5], [30.0]])[:n]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one state only
        result = mf.cluster(points)
    assert result.k == {3: 1, 4: 1, 5: 2}[n]
    assert result.n_states == {3: 1, 4: 2, 5: 1}[n]
    assert not result.tree.well_determined
    assert_allclose(result.memberships.values.sum(axis=1), np.ones(n), atol=1e-8)


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (
            "ala2.xtc",
            TypeError,
            r"`data` must be Frames, Features or arrays of features; got 'ala2.xtc'. Read",
        ),
        (
            ["a.xtc", "b.xtc"],
            TypeError,
            r"`data` must be Frames, Features or arrays of features; got 'a.xtc'",
        ),
        (np.zeros((2, 2)), ValueError, r"`data` must hold at least 3 frames; got 2"),
        (np.zeros((9, 2)), ValueError, r"each has \d+ copies or more: .* Remove copies"),
        (np.zeros(9), ValueError, r"`arrays` must be one or more arrays of shape \(frames, features\)"),
        ([np.zeros((5, 2)), np.zeros((5, 3))], ValueError, r"with the same number of features"),
        (np.full((5, 2), np.nan), ValueError, r"`arrays` must be finite; got nan at index \(0, 0\)"),
    ],
)
def test_bad_data(data: object, error: type[Exception], match: str):
    with pytest.raises(error, match=match):
        mf.cluster(data)


def test_bad_settings():
    points = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(TypeError, match=r"`settings` must be `Settings`; got dict. Use mf.Settings"):
        mf.cluster(points, {"k": 3})
    with pytest.raises(ValueError, match=r"`k` must be an int in \[1, 9\]; got 10. The density uses 2k"):
        mf.cluster(points, mf.Settings(k=10))


def test_does_not_depend_on_the_number_of_threads():
    trajectories = blobs(400, 300)
    one, two = (mf.cluster(trajectories, mf.Settings(n_jobs=jobs)) for jobs in (1, 2))
    assert_array_equal(one.memberships.values, two.memberships.values)


def test_five_states_of_alanine_dipeptide(tmp_path):
    frames = mf.datasets.alanine_dipeptide()
    store = mf.RunDir(tmp_path)
    result = mf.cluster(frames, store=store)
    assert result.k == 36
    assert result.n_states == 5
    assert result.gap.well_determined
    assert result.warnings == ()
    assert result.data is frames
    assert [len(part) for part in frames.split(result.memberships.hard)] == [20_000, 10_000]
    # The smallest state is the one with phi > 0, and memberships agree with the basins but for the borders.
    assert np.median(frames.phi[result.cores.basins == 4]) > 0
    assert np.mean(result.memberships.hard == result.cores.basins) > 0.97
    assert store.parts("neighbors", key="any").get("neighbors-72-1-00000") is None  # removed when it was done


def test_store_that_is_a_path():
    points = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(
        TypeError, match=r"`store` must be a `RunDir`; got 'run'. Use store=mf.RunDir\('run'\)"
    ):
        mf.cluster(points, store="run")


def test_a_warning_is_given_once():
    points = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.warns(UserWarning, match="There is one state only") as caught:
        result = mf.cluster(points, mf.Settings(scan_beta=True))  # every solve of the scan warns
    assert len(caught) == 1
    assert result.warnings == ("There is one state only: all memberships are 1.",)


def test_takes_neighbours_as_they_are():
    data = np.concatenate(blobs(300, 300))
    neighbors = mf.euclidean_neighbors(data, n_neighbors=40)
    found, known = mf.cluster(neighbors, mf.Settings(k=20)), mf.cluster(data, mf.Settings(k=20))
    assert_array_equal(found.memberships.values, known.memberships.values)
    assert found.data is found.transition_regions is found.visits is None
    with pytest.raises(ValueError, match=r"`store` must be None for neighbours; got RunDir"):
        mf.cluster(neighbors, store=mf.RunDir("nowhere"))
    with pytest.raises(ValueError, match=r"`client` must be None for neighbours; got 3"):
        mf.cluster(neighbors, client=3)


def test_every_step_depends_on_what_it_uses():
    """Its inputs are steps, the data or the sample, its options settings: nothing is written by hand."""
    names = {each.name for each in fields(mf.Settings)}
    for name, each in STEPS.items():
        assert set(each.inputs) <= {*STEPS, "data", "frames", "fitted"}, name
        assert set(each.settings) <= names, name
        assert each.kind is not None
    of_the_run = {"data", "settings", "chosen", "warnings", "sample"}
    assert {each.name for each in fields(mf.Clustering)} - of_the_run <= set(STEPS)
    assert settings_of("beta_scan") >= {"prominence", "core_rule", "k", "kernel", "walk_graph"}
    assert "n_jobs" not in settings_of(*STEPS)


def test_steps_take_what_others_return():
    """A parameter has the type of the result of its step, a setting its own, however far apart they stand."""
    settings = get_type_hints(mf.Settings)
    for name, each in STEPS.items():
        for function in filter(None, [each.function, each.explain]):
            parameters = signature(function).parameters
            for inner in set(each.inputs) & set(STEPS) & set(parameters):
                made = STEPS[inner]
                expected = made.kind if made.when(mf.Settings()) else made.kind | None
                if parameters[inner].kind is not Parameter.KEYWORD_ONLY:
                    assert parameters[inner].annotation == expected, (name, inner)
            for inner in each.settings:
                if inner in parameters and parameters[inner].kind is Parameter.KEYWORD_ONLY:
                    assert parameters[inner].annotation == settings[inner], (name, inner)
        if each.explain is not None:
            assert next(iter(signature(each.explain).parameters.values())).annotation == each.kind, name


def test_large_results_are_freed_before_their_files_are_read(tmp_path, monkeypatch):
    """Otherwise both are in memory at once: a gigabyte more for the neighbours of a million frames."""
    packed, freed = {}, []
    pack, unpack = _cache.pack, _cache.unpack

    def note(result):
        if isinstance(result, mf.Neighbors | mf.Memberships):
            packed[type(result)] = ref(result)
        return pack(result)

    def look(kind, saved):
        if kind in packed:
            freed.append(packed.pop(kind)() is None)
        return unpack(kind, saved)

    monkeypatch.setattr(_cache, "pack", note)
    monkeypatch.setattr(_cache, "unpack", look)
    monkeypatch.setattr(_cache, "LARGE", 1)
    points = np.random.default_rng(0).normal(size=(400, 2)) + 6 * np.repeat([0, 1], 200)[:, None]
    mf.cluster(points, mf.Settings(k=10), store=mf.RunDir(tmp_path))
    assert freed == [True, True]

"""TICA, VAMP and PCA: against deeptime, on processes with known timescales, and in chunks."""

import numpy as np
import pytest
from deeptime.decomposition import TICA
from helpers.molecules import peptide_trajectory

import mdfuzzy as mf
from mdfuzzy.features import Components, Reduction
from mdfuzzy.features._moments import MomentSums


def slow_and_fast(n: int, *, n_fast: int = 6, timescales=(200.0, 40.0), seed: int = 0) -> np.ndarray:
    """Mix autoregressive processes of known timescales with white noise of larger variance."""
    rng = np.random.default_rng(seed)
    parts = []
    for timescale in timescales:
        factor = np.exp(-1 / timescale)
        noise = rng.normal(size=n) * np.sqrt(1 - factor**2)
        part = np.empty(n)
        part[0] = rng.normal()
        for at in range(1, n):
            part[at] = factor * part[at - 1] + noise[at]
        parts.append(part)
    fast = 3 * rng.normal(size=(n, n_fast))
    mix = np.linalg.qr(np.random.default_rng(99).normal(size=(n_fast + len(parts),) * 2))[0]
    return np.column_stack([*parts, fast]) @ mix


@pytest.fixture(scope="module")
def data() -> mf.Features:
    arrays = [slow_and_fast(20_000, seed=0), slow_and_fast(15_000, seed=1)]
    return mf.Features(arrays, times=[2.0 * np.arange(len(each)) for each in arrays])


def test_timescales_and_their_number(data):
    found = mf.tica(data, lag=20.0)
    # The two slow processes and no more: exp(-10/200) and exp(-10/40) stay above exp(-1), noise does not.
    assert found.names == ("TIC 1", "TIC 2")
    np.testing.assert_allclose(found.components.timescales, [400, 80], rtol=0.2)
    assert found.components.lag_time == 20
    assert "below 0.37 a component relaxes within the lag time" in found.components.reason
    np.testing.assert_allclose(found.components.shares.sum(), 1, atol=0.01)
    np.testing.assert_array_equal(found.times, data.times)
    assert mf.tica(data, lag=20.0, dim=4).values.shape == (35_000, 4)


def test_is_that_of_deeptime(data):
    ours = mf.tica(data, lag=20.0, dim=2)
    model = TICA(lagtime=10, dim=2, scaling="kinetic_map").fit(data.split(data.values)).fetch_model()
    theirs = np.concatenate([model.transform(part) for part in data.split(data.values)])
    for at in range(2):
        correlation = np.corrcoef(ours.values[:, at], theirs[:, at])[0, 1]
        assert abs(correlation) == pytest.approx(1, abs=1e-4)
        assert ours.values[:, at].std() == pytest.approx(theirs[:, at].std(), rel=1e-3)


def test_scales_of_the_features_do_not_matter(data):
    scaled = mf.Features(data.split(data.values * 10.0 ** np.arange(-4, 4)), times=data.split(data.times))
    one, other = (mf.tica(each, lag=20.0, dim=2).values for each in (data, scaled))
    np.testing.assert_allclose(one, other, atol=2e-3)


def test_vamp_of_reversible_dynamics_is_tica(data):
    tica, vamp = mf.tica(data, lag=20.0, dim=2), mf.vamp(data, lag=20.0, dim=2)
    for at in range(2):
        assert np.corrcoef(tica.values[:, at], vamp.values[:, at])[0, 1] == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(tica.components.eigenvalues, vamp.components.eigenvalues, atol=0.01)


def test_pca_finds_the_largest_variance():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5000, 4)) * [1, 5, 1, 3]
    found = mf.pca(mf.Features(values, names=["a", "b", "c", "d"]))
    variances, vectors = np.linalg.eigh(np.cov(values.T))
    np.testing.assert_allclose(found.components.eigenvalues, variances[::-1][: len(found.names)], rtol=1e-3)
    assert np.abs(found.components.correlations[:, 0]).argmax() == 1
    assert found.components.reason.startswith("94 % of the variance")
    assert abs(vectors[1, -1]) > 0.99


def test_correlations_say_what_a_component_is():
    rng = np.random.default_rng(0)
    state = np.cumsum(rng.random(20_000) < 0.005) % 2
    angle = 170 + 20 * state + 3 * rng.normal(size=len(state))  # across the end of the period
    angle = (angle + 180) % 360 - 180
    values = np.column_stack([rng.normal(size=len(state)), angle])
    found = mf.tica(mf.Features(values, periodic=[1], names=["noise", "angle"]), lag=10)
    assert found.names == ("TIC 1",)
    assert found.components.lag == 10
    assert found.components.lag_time is None
    assert found.components.correlations[1, 0] > 0.95
    assert abs(found.components.correlations[0, 0]) < 0.05
    assert np.corrcoef(found.values[:, 0], state)[0, 1] ** 2 > 0.85
    assert found.components.table().startswith("TIC 1: timescale")


@pytest.mark.parametrize("chunk", [1, 7, 400])
def test_moments_do_not_depend_on_the_chunks(chunk):
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(300, 3)), rng.normal(size=(5, 3)), rng.normal(size=(90, 3))]
    sums = MomentSums(12, [len(part) for part in parts])
    for number, part in enumerate(parts):
        for first in range(0, len(part), chunk):
            sums.add(number, part[first : first + chunk])
    first, second = sums.halves()
    both = first + second
    now = np.concatenate([part[:-12] for part in parts if len(part) > 12])
    later = np.concatenate([part[12:] for part in parts if len(part) > 12])
    assert both.n == len(now)
    np.testing.assert_allclose(both.c_0t, now.T @ later / len(now), atol=1e-12)
    np.testing.assert_allclose(both.c_00, now.T @ now / len(now), atol=1e-12)
    np.testing.assert_allclose(both.mean_t, later.mean(axis=0), atol=1e-12)
    assert 0.3 < first.n / both.n < 0.7


def test_streaming_from_files_gives_the_same(tmp_path):
    trajectory = peptide_trajectory(400, box=False)
    trajectory.save_dcd(str(tmp_path / "a.dcd"))
    wanted = ["torsions", "distances:name C O"]
    data = mf.featurize(trajectory, wanted)
    reduction = Reduction(method="TICA", lag=5.0, dim=2)
    options = {"top": trajectory.topology, "timestep": 2.5, "reduction": reduction}
    streamed = mf.featurize(tmp_path / "a.dcd", wanted, **options)
    np.testing.assert_allclose(streamed.values, mf.tica(data, lag=5.0, dim=2).values, atol=1e-3)
    new = mf.featurize(trajectory[:50], streamed)
    np.testing.assert_allclose(new.values, streamed.values[:50], atol=1e-4)
    assert streamed.featurizer.spec()["components"][0]["method"] == "TICA"


def test_streaming_counts_frames_that_the_file_does_not(tmp_path):
    trajectory = peptide_trajectory(400, box=False)
    trajectory.save_pdb(str(tmp_path / "a.pdb"))  # without the number of frames
    trajectory.save_xtc(str(tmp_path / "a.xtc"))
    reduction = Reduction(method="TICA", lag=5.0)
    for name, window in (("a.pdb", {"timestep": 2.5}), ("a.xtc", {"begin": 100.0, "end": 200.0})):
        options = {"top": trajectory.topology, **window}
        streamed = mf.featurize(tmp_path / name, "distances:name C O", reduction=reduction, **options)
        direct = mf.tica(mf.featurize(tmp_path / name, "distances:name C O", **options), lag=5.0)
        assert streamed.components.reason == direct.components.reason
        np.testing.assert_allclose(streamed.values, direct.values, atol=1e-3)


def test_streaming_warns_of_weights_and_short_trajectories_once(tmp_path):
    trajectory = peptide_trajectory(60, box=False)
    for name, part in (("a.xtc", trajectory), ("b.xtc", trajectory[:3])):
        part.save_xtc(str(tmp_path / name))
    options = {"top": trajectory.topology, "reduction": Reduction(lag=10.0, dim=1)}
    with pytest.warns(UserWarning, match="TICA") as caught:
        mf.featurize(tmp_path / "*.xtc", weights=np.arange(1.0, 64), **options)
    said = [str(each.message) for each in caught]
    assert sum("1 of 2 trajectories are not longer than the lag time" in each for each in said) == 1
    assert sum("TICA does not use the weights of the frames" in each for each in said) == 1
    trajectory.time[:] = 0
    trajectory.save_xtc(str(tmp_path / "a.xtc"))
    with pytest.raises(mf.InputError, match=r"the time between frames, which is 0 or differs"):
        mf.featurize(tmp_path / "a.xtc", **options)


@pytest.mark.filterwarnings("ignore:Labels and basins")
def test_assign_projects_new_vectors(data, tmp_path):
    small = data[:6000]
    found = mf.tica(small, lag=20.0, dim=2)
    result = mf.cluster(found, mf.Settings(k=20, n_states=2), store=mf.RunDir(tmp_path / "out"))
    new = mf.assign(result, small.values[:100].copy())
    np.testing.assert_allclose(new.data.values, found.values[:100], atol=1e-5)
    loaded = mf.RunDir(tmp_path / "out").load()
    again = mf.assign(loaded, small.values[:100].copy())
    np.testing.assert_array_equal(again.labels, new.labels)
    assert isinstance(loaded.data.components, Components)
    assert loaded.data.components.table() == found.components.table()


def test_lag_and_dim_that_cannot_be(data):
    with pytest.raises(mf.InputError, match=r"`lag` must be at least the time between frames, 2 ps"):
        mf.tica(data, lag=1.0)
    with pytest.raises(mf.InputError, match=r"shorter than the longest trajectory, 40 ns; got 1 µs"):
        mf.tica(data, lag=1e6)
    with pytest.raises(mf.InputError, match=r"`lag` must be a finite number > 0"):
        mf.tica(data, lag=0)
    with pytest.raises(mf.InputError, match=r"`dim` must have at most 8 components"):
        mf.tica(data, lag=20.0, dim=9)
    with pytest.raises(mf.InputError, match=r"`dim` must be an int"):
        mf.pca(data, dim=0)
    uneven = mf.Features(np.random.default_rng(0).normal(size=(9, 2)), times=np.arange(9.0) ** 2)
    with pytest.raises(mf.InputError, match=r"`lag` must be a multiple of the time between frames"):
        mf.tica(uneven, lag=2.0)
    with pytest.raises(mf.InputError, match=r"`tica` needs the time between frames; got a lag time of 2 ns"):
        Reduction.parse("TICA", "2ns").frames(None, 100, known=False)
    with pytest.warns(UserWarning, match=r"1 of 2 trajectories are not longer than the lag time"):
        mf.tica([data.values[:1000], data.values[:5]], lag=10, dim=1)


def test_columns_that_say_nothing():
    values = np.random.default_rng(0).normal(size=(500, 3))
    with pytest.raises(mf.InputError, match=r"Features must vary; feature 0, feature 1 are constant"):
        mf.tica(np.ones((100, 2)), lag=2)
    with pytest.warns(UserWarning, match=r"1 of 4 features are constant and add nothing: feature 3"):
        mf.tica(np.column_stack([values, np.ones(500)]), lag=2, dim=1)
    with pytest.warns(UserWarning, match=r"Some features are equal, .*: feature 1 and feature 3"):
        mf.tica(np.column_stack([values, values[:, 1]]), lag=2, dim=1)
    weighted = mf.Features(values, weights=np.arange(1.0, 501))
    with pytest.warns(UserWarning, match=r"TICA does not use the weights of the frames"):
        mf.tica(weighted, lag=2, dim=1)


@pytest.mark.parametrize(
    ("text", "lag", "dim"),
    [("100ps", 100, None), ("10ns:3", 1e4, 3), ("1us:2", 1e6, 2), ("0.5 µs", 5e5, None), ("1ms", 1e9, None)],
)
def test_lags_as_text(text, lag, dim):
    assert Reduction.parse("TICA", text) == Reduction(lag=lag, dim=dim)


@pytest.mark.parametrize("text", ["10", "ns", "10 min", "1us:two", "1us:0", "", "1,5ns", "-1ns"])
def test_lags_that_cannot_be_read(text):
    with pytest.raises(mf.InputError, match=r"`tica` must be a lag time above 0 with a unit"):
        Reduction.parse("TICA", text)
    with pytest.raises(mf.InputError, match=r"`pca` must be the number of components, at least 1"):
        Reduction.parse("PCA", text.replace("10", "0"))

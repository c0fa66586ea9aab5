"""Densities from neighbour distances: closed forms, the slow twin, scikit-learn, invariances, bad input."""

import numpy as np
import pytest
from reference import peaks as reference

import mdfuzzy as mf
from mdfuzzy.states.density import estimate_log_density


def neighbors_of(points, m):
    return mf.euclidean_neighbors(points, n_neighbors=m)


def made_neighbors(distances):
    """Neighbours with the given distances; which points they are does not matter here."""
    distances = np.asarray(distances, dtype=float)
    n, m = distances.shape
    indices = (np.arange(n)[:, None] + 1 + np.arange(m)) % n
    return mf.Neighbors(indices, distances)


def test_dtm_of_known_distances():
    neighbors = made_neighbors([[1.0, 1.0], [3.0, 4.0], [0.5, 0.5]])
    found = mf.dtm_log_density(neighbors, dimension=2.0)
    np.testing.assert_allclose(found, [0.0, -np.log(12.5), 2 * np.log(2.0)], rtol=0, atol=1e-15)


@pytest.mark.parametrize("m", [1, 7, 20])
def test_dtm_agrees_with_the_slow_twin(m):
    points = np.random.default_rng(0).normal(size=(60, 3))
    found = mf.dtm_log_density(neighbors_of(points, 20), n_neighbors=m, dimension=3)
    np.testing.assert_allclose(found, -3 * np.log(reference.dtm(points, m)), rtol=0, atol=1e-6)


def test_dtm_over_several_chunks_is_the_same(monkeypatch):
    neighbors = neighbors_of(np.random.default_rng(0).normal(size=(60, 3)), 20)
    whole = mf.dtm_log_density(neighbors)
    monkeypatch.setattr("mdfuzzy.states.dimension._CHUNK", 7)
    np.testing.assert_allclose(mf.dtm_log_density(neighbors), whole, rtol=0, atol=1e-12)


def test_dtm_recovers_the_log_density_of_a_gaussian():
    points = np.random.default_rng(1).normal(size=(20_000, 2))
    logf = mf.dtm_log_density(neighbors_of(points, 100))
    inside = np.linalg.norm(points, axis=1) < 2
    true = -0.5 * (points**2).sum(axis=1)
    slope, _ = np.polyfit(true[inside], logf[inside], 1)
    error = logf[inside] - true[inside]
    assert slope == pytest.approx(1.0, abs=0.05)
    # sigma^2 = (2 d + 4) / ((d + 4) m): the noise that the prominence rule expects.
    assert np.std(error) == pytest.approx(np.sqrt(8 / 600), rel=0.25)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_dimension_of_a_uniform_sample(d):
    rng = np.random.default_rng(2)
    points = np.zeros((4000, 7))
    points[:, :d] = rng.random((4000, d))
    neighbors = neighbors_of(points, 20)
    assert mf.intrinsic_dimension(neighbors) == pytest.approx(d, rel=0.12)
    assert mf.intrinsic_dimension(neighbors, n_neighbors=2) == pytest.approx(d, rel=0.08)


def test_the_dimension_of_known_distances():
    # 1/d is the mean over the points of the mean of log(r_m / r_j): (log 4 + log 2) / 2 and (log 2 + 0) / 2.
    neighbors = made_neighbors([[1.0, 2.0, 4.0], [1.0, 2.0, 2.0], [1.0, 2.0, 2.0]])
    expected = 3 / (1.5 * np.log(2) + 2 * 0.5 * np.log(2))
    assert mf.intrinsic_dimension(neighbors) == pytest.approx(expected, rel=1e-7)


def test_the_unit_of_distance_adds_a_constant():
    neighbors = neighbors_of(np.random.default_rng(3).normal(size=(200, 2)), 150)
    other = mf.Neighbors(neighbors.indices, neighbors.distances * 8)
    assert mf.intrinsic_dimension(other) == pytest.approx(mf.intrinsic_dimension(neighbors), rel=1e-12)
    for density in (mf.dtm_log_density, mf.kde_log_density):
        difference = density(other, dimension=2) - density(neighbors, dimension=2)
        np.testing.assert_allclose(difference, difference[0], rtol=0, atol=1e-4)


def test_permuting_the_points_permutes_the_density():
    points = np.random.default_rng(4).normal(size=(200, 2))
    order = np.random.default_rng(5).permutation(200)
    before, after = (mf.dtm_log_density(neighbors_of(p, 10), dimension=2) for p in (points, points[order]))
    np.testing.assert_allclose(after, before[order], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kernel", "peer"), [("gaussian", "gaussian"), ("uniform", "tophat")])
@pytest.mark.parametrize("d", [1, 3])
def test_kde_with_all_neighbours_is_scikit_learns(kernel, peer, d):
    from sklearn.neighbors import KernelDensity

    points = np.random.default_rng(6).normal(size=(150, d))
    found = mf.kde_log_density(neighbors_of(points, 149), kernel=kernel, bandwidth=0.7, dimension=d)
    expected = KernelDensity(kernel=peer, bandwidth=0.7).fit(points).score_samples(points)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
def test_kde_counts_what_lies_beyond_the_last_neighbour(kernel):
    # The bandwidth reaches far beyond the 60 neighbours; without the correction the densest points would
    # lose most of their mass (about 2 in the logarithm).
    points = np.random.default_rng(7).normal(size=(4000, 2))
    whole = mf.kde_log_density(neighbors_of(points, 3999), kernel=kernel, bandwidth=0.4, dimension=2)
    part = mf.kde_log_density(neighbors_of(points, 60), kernel=kernel, bandwidth=0.4, dimension=2)
    inside = np.linalg.norm(points, axis=1) < 1
    assert np.abs(part - whole)[inside].mean() < 0.2
    assert np.corrcoef(part, whole)[0, 1] > 0.97


def test_the_window_maximises_the_likelihood_of_points_left_out():
    from sklearn.neighbors import KernelDensity

    points = np.random.default_rng(8).normal(size=(120, 2))
    bandwidth = mf.kde_bandwidth(neighbors_of(points, 119), dimension=2)

    def likelihood(h):
        total = 0.0
        for i in range(len(points)):
            rest = np.delete(points, i, axis=0)
            total += KernelDensity(bandwidth=h).fit(rest).score(points[i : i + 1])
        return total

    assert likelihood(bandwidth) > max(likelihood(0.97 * bandwidth), likelihood(1.03 * bandwidth))


def test_the_uniform_window_has_the_second_moment_of_the_gaussian_one():
    neighbors = neighbors_of(np.random.default_rng(8).normal(size=(120, 2)), 119)
    gaussian = mf.kde_bandwidth(neighbors, dimension=2)
    assert mf.kde_bandwidth(neighbors, kernel="uniform", dimension=2) == pytest.approx(
        2 * gaussian, rel=1e-12
    )


def test_a_window_at_the_end_of_the_range_is_reported():
    points = np.random.default_rng(9).normal(size=(3000, 1))
    with pytest.warns(
        UserWarning, match=r"still rising at .*last neighbours. Search more neighbours, or give"
    ):
        mf.kde_bandwidth(neighbors_of(points, 10), dimension=1)
    copies = np.repeat(points[:300], 10, axis=0)
    with pytest.warns(UserWarning, match=r"still rising at .*first neighbours. Remove duplicate points"):
        mf.kde_bandwidth(neighbors_of(copies, 50), dimension=1)


def test_copies_get_the_smallest_positive_dtm():
    points = np.concatenate([np.zeros((6, 1)), np.arange(1.0, 20.0)[:, None]])
    neighbors = neighbors_of(points, 4)
    with pytest.warns(UserWarning, match=r"distance to measure of 6 points is zero.*Remove copies"):
        logf = mf.dtm_log_density(neighbors, dimension=1)
    assert np.all(np.isfinite(logf))
    assert np.all(logf[:6] == logf[6:].max())


@pytest.mark.filterwarnings("ignore:The likelihood of the bandwidth")
def test_kde_of_copies_is_finite():
    points = np.concatenate([np.zeros((6, 1)), np.arange(1.0, 20.0)[:, None]])
    with pytest.warns(UserWarning, match=r"distance to the last neighbour of 6 points is zero"):
        assert np.all(np.isfinite(mf.kde_log_density(neighbors_of(points, 4), dimension=1)))


@pytest.mark.parametrize("n_different", [1, 3])
@pytest.mark.parametrize("options", [{}, {"dimension": 1}])
@pytest.mark.parametrize("estimate", [mf.dtm_log_density, mf.kde_log_density, mf.kde_bandwidth])
def test_copies_only_are_refused_whether_or_not_a_dimension_is_given(estimate, options, n_different):
    points = np.repeat(np.eye(n_different), 40, axis=0)
    with pytest.raises(
        ValueError,
        match=rf"must not all be zero; got {40 * n_different} points, and each has 20 copies or more: "
        r"all of the 20 nearest neighbours that are used\. Remove copies; fewer than 3 different points",
    ):
        estimate(neighbors_of(points, 20), **options)


def test_equal_distances_need_a_dimension_and_no_more():
    corners = neighbors_of(np.eye(4), 3)
    for estimate in (mf.intrinsic_dimension, mf.dtm_log_density):
        with pytest.raises(
            ValueError,
            match=r"must differ within at least one point's neighbours, copies of it left out; got only "
            r"equal distances.*give it as `dimension`",
        ):
            estimate(corners)
    np.testing.assert_allclose(mf.dtm_log_density(corners, dimension=3), -1.5 * np.log(2), rtol=1e-6)


def test_fewer_than_three_points_are_refused():
    neighbors = made_neighbors([[1.0], [1.0]])
    for function in (mf.intrinsic_dimension, mf.dtm_log_density, mf.kde_log_density, mf.kde_bandwidth):
        with pytest.raises(ValueError, match="`neighbors` must be of at least 3 points; got 2"):
            function(neighbors)


def test_more_neighbours_than_given_are_refused():
    neighbors = made_neighbors([[1.0, 2.0]] * 4)
    with pytest.raises(ValueError, match=r"`n_neighbors` must be an int in \[1, 2\]; got 3.*n_neighbors=2"):
        mf.dtm_log_density(neighbors, n_neighbors=3, dimension=1)
    with pytest.raises(ValueError, match=r"`n_neighbors` must be an int in \[2, 2\]; got 1"):
        mf.intrinsic_dimension(neighbors, n_neighbors=1)
    with pytest.raises(
        ValueError, match=r"`n_neighbors` must be an int of at least 2; got 1.*give `dimension`"
    ):
        mf.dtm_log_density(made_neighbors([[1.0]] * 4))


@pytest.mark.parametrize("function", [mf.dtm_log_density, mf.kde_log_density, mf.kde_bandwidth])
def test_a_dimension_that_is_not_positive_is_refused(function):
    with pytest.raises(ValueError, match="`dimension` must be a finite number > 0; got 0"):
        function(made_neighbors([[1.0, 2.0]] * 4), dimension=0)


def test_other_bad_input_is_refused():
    neighbors = made_neighbors([[1.0, 2.0]] * 4)
    with pytest.raises(ValueError, match="`kernel` must be one of 'gaussian', 'uniform'; got 'cosine'"):
        mf.kde_log_density(neighbors, kernel="cosine")
    with pytest.raises(ValueError, match="`kernel` must be one of"):
        mf.kde_bandwidth(neighbors, kernel="cosine")
    with pytest.raises(ValueError, match="`bandwidth` must be a finite number > 0; got -1"):
        mf.kde_log_density(neighbors, bandwidth=-1, dimension=1)


@pytest.mark.parametrize("kernel", ["gaussian", "uniform"])
@pytest.mark.parametrize(("bandwidth", "dimension"), [(0.5, 1e4), (1e100, 3.0), (1e-100, 3.0)])
def test_kernels_whose_volume_is_beyond_doubles(kernel, bandwidth, dimension):
    points = np.random.default_rng(0).normal(size=(60, 2))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=10)
    assert np.isfinite(
        mf.kde_log_density(neighbors, kernel=kernel, bandwidth=bandwidth, dimension=dimension)
    ).all()


def test_something_else_in_place_of_neighbours():
    with pytest.raises(TypeError, match=r"`neighbors` must be `Neighbors`; got ndarray\. `neighbors_from`"):
        mf.dtm_log_density(np.zeros((3, 2)))


@pytest.mark.parametrize("estimate", [mf.kde_log_density, mf.kde_bandwidth])
def test_kernels_want_the_points_themselves(estimate):
    points = np.random.default_rng(0).normal(size=(20, 2))
    new = mf.euclidean_neighbors(points, n_neighbors=5, queries=points[:4] + 0.1)
    with pytest.raises(ValueError, match=r"`neighbors` must be of points among themselves; got .*4 among"):
        estimate(new, dimension=2.0)


def test_densities_by_name():
    points = np.random.default_rng(0).normal(size=(60, 2))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=20)
    options = {"k": 6, "dimension": 2.0, "bandwidth": 0.3}
    expected = mf.dtm_log_density(neighbors, n_neighbors=12, dimension=2.0)
    np.testing.assert_array_equal(estimate_log_density(neighbors, density="dtm", **options), expected)
    expected = mf.kde_log_density(neighbors, bandwidth=0.3, dimension=2.0)
    np.testing.assert_array_equal(estimate_log_density(neighbors, density="kde", **options), expected)
    with pytest.raises(ValueError, match="`density` must be one of 'dtm', 'kde'; got 'histogram'"):
        estimate_log_density(neighbors, density="histogram", **options)

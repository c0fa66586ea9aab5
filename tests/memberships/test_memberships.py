"""Memberships: weights, exponents, lost mass, new frames, invariances and bad input."""

import warnings

import numpy as np
import pytest
from helpers.graphs import cores_of, path, two_wells
from numpy.testing import assert_allclose, assert_array_equal
from reference.walk import dense_walk, hitting_probabilities

import mdfuzzy as mf
from mdfuzzy.memberships import _solver, memberships
from mdfuzzy.memberships.weights import walk_exponent


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 2.0, 100.0, np.inf])
def test_path_has_the_closed_form_of_the_birth_death_chain(beta):
    graph, cores = path(12)
    log_density = np.random.default_rng(1).normal(size=12)
    pull = (1 / beta - 1) * log_density
    resistance = np.exp(-(pull[:-1] + pull[1:]))
    expected = np.concatenate([[0], np.cumsum(resistance)]) / resistance.sum()
    mu = mf.solve_memberships(graph, log_density, cores, beta=beta)
    assert_allclose(mu.values[:, 1], expected, rtol=0, atol=1e-10)
    assert mu.beta == beta
    assert mu.row_sum_error < 1e-8
    assert mu.residual < 1e-8


@pytest.mark.parametrize(
    ("kind", "expected"), [("union", 1 / 0.4 - 8 / 20), ("directed", 1 / 0.4 - 1), ("radius", 1 / 0.4 - 1)]
)
def test_exponent_of_each_graph(kind, expected):
    _, neighbors, graph, _, _ = two_wells(100)
    graph = path()[0] if kind == "radius" else neighbors.graph(5, kind=kind)
    assert walk_exponent(graph, 0.4, dimension=10) == pytest.approx(expected)


def test_exponent_without_pull_and_without_dimension():
    _, neighbors, graph, _, _ = two_wells(4000)
    d = mf.intrinsic_dimension(neighbors, n_neighbors=8)
    assert 1.7 < d < 2.4
    assert walk_exponent(graph, np.inf) == pytest.approx(-(d - 2) / (2 * d), abs=1e-12)
    assert walk_exponent(graph, np.inf, dimension=2) == 0.0


@pytest.mark.parametrize("kind", ["union", "directed"])
def test_linear_weights_are_those_printed(kind):
    _, _, graph, log_density, cores = two_wells(300, kind=kind)
    logf = log_density - 3.0
    beta = 0.5
    weights = 1 + (1 - beta) / beta * np.exp(logf)
    probs = dense_walk(graph.indptr, graph.indices, np.log(weights)[graph.indices])
    targets = np.where(_solver.reaches_target(graph.indptr, graph.indices, cores.core_of), cores.core_of, 2)
    expected = hitting_probabilities(probs, targets, 3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* points have no path to any core")
        mu = mf.solve_memberships(graph, logf, cores, beta=beta, walk_weights="linear")
    assert_allclose(np.column_stack([mu.values, mu.lost]), expected, rtol=0, atol=1e-9)
    assert np.isnan(mu.exponent)


def test_linear_weights_at_one_and_above():
    _, _, graph, log_density, cores = two_wells(300)
    plain = mf.solve_memberships(graph, log_density, cores, beta=1, walk_weights="linear")
    assert_array_equal(plain.log_weights, 0.0)
    hot = mf.solve_memberships(graph, log_density, cores, beta=3, walk_weights="linear", unit_density=True)
    expected = np.log(1 - 2 / 3 * np.exp(log_density - log_density.max()))
    assert_allclose(hot.log_weights, expected, rtol=1e-12)
    with pytest.raises(
        ValueError,
        match=r"`beta` must keep linear weights positive; got 3 \(walk temperature; 2 = simulation "
        r"temperature\)\. .* "
        r"the density is 1\.5 or more, at 300 of 300 points\. Use `walk_weights='power'`, a `beta` of at "
        r"most 1, or `unit_density=True` and a finite `beta`\.$",
    ):
        mf.solve_memberships(graph, log_density + 50, cores, beta=3, walk_weights="linear")


def test_unit_density_keeps_linear_weights_positive_at_every_finite_beta():
    _, _, graph, log_density, cores = two_wells(300)
    options = {"walk_weights": "linear", "unit_density": True}
    for beta in (2.0, 20.0, 1e17):
        mu = mf.solve_memberships(graph, log_density, cores, beta=beta, **options)
        assert mu.log_weights[log_density.argmax()] == pytest.approx(-np.log(beta))
    with pytest.raises(
        ValueError,
        match=r"positive; got inf .* is 1 or more, at 1 of 300 points\. Use `walk_weights='power'`, a "
        r"finite `beta`\.$",
    ):
        mf.solve_memberships(graph, log_density, cores, beta=np.inf, **options)


def test_gaussian_kernel_on_a_radius_graph():
    from sklearn.neighbors import radius_neighbors_graph

    points, _, _, log_density, cores = two_wells(300)
    sparse = radius_neighbors_graph(points, 1.5, mode="distance").sorted_indices()
    graph = mf.Graph(sparse.indptr, sparse.indices, sparse.data, kind="radius", n_targets=300, radius=1.5)
    cores = cores_of(points, log_density)
    logs = 0.5 * log_density[graph.indices] - graph.distances.astype(float) ** 2 / (2 * 0.5**2)
    targets = cores.core_of.copy()
    targets[~_solver.reaches_target(graph.indptr, graph.indices, targets)] = 2
    expected = hitting_probabilities(dense_walk_of_connected(graph, logs), targets, 3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* points have no path to any core")
        mu = mf.solve_memberships(graph, log_density, cores, beta=1 / 1.5, kernel="gaussian", bandwidth=0.5)
    assert mu.exponent == pytest.approx(0.5)
    assert_allclose(mu.values, expected[:, :2], rtol=0, atol=1e-9)


def dense_walk_of_connected(graph, logs):
    probs = np.zeros((len(graph), len(graph)))
    for i in range(len(graph)):
        row = slice(graph.indptr[i], graph.indptr[i + 1])
        if row.stop > row.start:
            weights = np.exp(logs[row] - logs[row].max())
            probs[i, graph.indices[row]] = weights / weights.sum()
    return probs


def test_strong_edges_are_those_of_at_least_half_the_kernel():
    _, _, graph, _, _ = two_wells(200)
    scale = float(np.median(graph.distances))
    strong = mf.strong_edges(graph, kernel="gaussian", bandwidth=scale)
    half = np.exp(-(graph.distances.astype(float) ** 2) / (2 * scale**2)) >= 0.5
    assert_array_equal(strong.indices, graph.indices[half])
    assert strong.symmetric
    assert len(strong) == len(graph)
    assert mf.strong_edges(graph) is graph


def test_invariant_to_the_order_of_points():
    points, _, graph, log_density, cores = two_wells(500)
    order = np.random.default_rng(5).permutation(500)
    neighbors = mf.euclidean_neighbors(points[order], n_neighbors=16)
    shuffled = mf.solve_memberships(
        neighbors.graph(8),
        log_density[order],
        cores_of(points[order], log_density[order]),
        beta=0.4,
        dimension=2,
    )
    plain = mf.solve_memberships(graph, log_density, cores, beta=0.4, dimension=2)
    assert_allclose(shuffled.values, plain.values[order], rtol=0, atol=1e-8)


def test_invariant_to_the_unit_of_distance_and_of_density():
    points, _, graph, log_density, cores = two_wells(500)
    plain = mf.solve_memberships(graph, log_density, cores, beta=0.4)
    metres = mf.euclidean_neighbors(1000 * points, n_neighbors=16).graph(8)
    assert_allclose(
        mf.solve_memberships(metres, log_density + 123.0, cores, beta=0.4).values,
        plain.values,
        rtol=0,
        atol=1e-6,
    )


@pytest.mark.parametrize("kind", ["union", "directed"])
@pytest.mark.parametrize("constant", [-900.0, 900.0])
def test_a_constant_of_the_log_density_has_no_effect(kind, constant):
    """Weights of e^1350 times another unit are in no one's way."""
    _, _, graph, log_density, cores = two_wells(300, kind=kind)
    plain, shifted = (
        mf.solve_memberships(graph, log_density + each, cores, beta=0.4, dimension=2)
        for each in (0.0, constant)
    )
    assert_allclose(shifted.values, plain.values, rtol=0, atol=1e-9)


def test_same_to_the_last_bit_on_any_number_of_threads():
    _, _, graph, log_density, cores = two_wells(5000, 8)
    one, two = (mf.solve_memberships(graph, log_density, cores, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.values, two.values)


def test_start_changes_the_time_alone():
    _, _, graph, log_density, cores = two_wells()
    cold = mf.solve_memberships(graph, log_density, cores, beta=0.5)
    warm = mf.solve_memberships(graph, log_density, cores, beta=0.5, start=cold.values)
    assert_allclose(warm.values, cold.values, rtol=0, atol=1e-9)


def test_hard_entropy_and_colder_is_harder():
    _, _, graph, log_density, cores = two_wells()
    cold, hot = (mf.solve_memberships(graph, log_density, cores, beta=b) for b in (0.2, 5.0))
    assert hot.entropy.mean() < cold.entropy.mean() <= 0
    assert_array_equal(cold.hard, cold.values.argmax(axis=1))
    inside = cores.core_of >= 0
    assert_array_equal(cold.values[inside], np.eye(2)[cores.core_of[inside]])
    assert_array_equal(cold.lost, 0.0)
    assert "walk temperature" in repr(cold)
    with pytest.raises(ValueError, match="read-only"):
        cold.values[0, 0] = 1


def test_a_cold_walk_on_a_sparse_directed_graph_agrees_with_elimination():
    """Here the expected visits need more than a thousand cycles."""
    random = np.random.default_rng(2)
    points = random.normal(size=(300, 5)) + 3.5 * random.normal(size=(4, 5))[np.arange(300) % 4] / 5**0.5
    neighbors = mf.euclidean_neighbors(points, n_neighbors=6)
    graph, log_density = neighbors.graph(3), mf.dtm_log_density(neighbors, dimension=5)
    peaks = mf.compute_persistence(graph, log_density)
    tau = 0.999 * np.sort(peaks.prominences[np.isfinite(peaks.prominences)])[-3]
    cores = mf.find_cores(graph, log_density, peaks, min_prominence=tau, rule="point")
    graph = neighbors.graph(3, kind="directed")
    mu = mf.solve_memberships(graph, log_density, cores, beta=0.1, dimension=5)
    n_states = len(cores)
    reached = _solver.reaches_target(graph.indptr, graph.indices, cores.core_of)
    targets = np.where(reached, cores.core_of, n_states)
    probs = dense_walk(graph.indptr, graph.indices, 9 * log_density[graph.indices])  # 1 / beta - 1
    expected = hitting_probabilities(probs, targets, n_states + 1)
    assert_allclose(mu.values[reached], expected[reached, :n_states], rtol=0, atol=1e-6)
    assert_allclose(mu.lost[reached], expected[reached, n_states], rtol=0, atol=1e-6)


def test_mass_lost_on_a_directed_graph_is_returned_per_point():
    # 1 -> 0 (a core), 1 -> 2; 2 and 3 go round for ever; 4 -> 1 and 4 -> 5 (a core).
    graph = mf.Graph(
        [0, 1, 3, 4, 5, 7, 8], [1, 0, 2, 3, 2, 1, 5, 4], np.ones(8), kind="directed", n_targets=6, k=2
    )
    cores = mf.Cores(np.zeros(6), [0, -1, -1, -1, -1, 1], [0, 5], np.ones(2))
    with pytest.warns(UserWarning, match="2 of 6 points have no path to any core"):
        mu = mf.solve_memberships(graph, np.zeros(6), cores, beta=1.0)
    assert_allclose(mu.values, [[1, 0], [0.5, 0], [0, 0], [0, 0], [0.25, 0.5], [0, 1]], rtol=0, atol=1e-10)
    assert_allclose(mu.lost, [0, 0.5, 1, 1, 0.25, 0], rtol=0, atol=1e-10)
    assert_array_equal(mu.unreachable, [False, False, True, True, False, False])
    assert_array_equal(mu.hard, [0, 0, -1, -1, 1, 1])


def test_components_without_a_core_and_isolated_points_are_flagged():
    graph = mf.Graph(
        [0, 1, 3, 4, 5, 6, 6], [1, 0, 2, 1, 4, 3], np.ones(6), kind="radius", n_targets=6, radius=1.0
    )
    cores = mf.Cores(np.zeros(6), [0, -1, 1, -1, -1, -1], [0, 2], np.ones(2))
    with pytest.warns(UserWarning, match="3 of 6 points have no path"):
        mu = mf.solve_memberships(graph, np.zeros(6), cores)
    assert_array_equal(mu.lost, [0, 0, 0, 1, 1, 1])
    assert_allclose(mu.values[1], [0.5, 0.5], rtol=0, atol=1e-12)
    assert_array_equal(mu.values[3:], 0.0)


def test_one_state_only_gives_ones_and_a_warning():
    graph, _ = path(6)
    cores = mf.Cores(np.zeros(6), [-1, -1, 0, -1, -1, -1], [2], [np.inf])
    with pytest.warns(UserWarning, match="one state only"):
        mu = mf.solve_memberships(graph, np.zeros(6), cores, beta=0.5)
    assert mu.values.shape == (6, 1)
    assert_allclose(mu.values, 1.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("beta", [0, -1.0, np.nan])
def test_beta_must_be_positive(beta):
    graph, cores = path()
    with pytest.raises(ValueError, match=r"`beta` must be a number > 0; got .*smaller is colder"):
        mf.solve_memberships(graph, np.zeros(5), cores, beta=beta)


def test_beta_must_be_a_number():
    graph, cores = path()
    with pytest.raises(TypeError, match="`beta` must be a number"):
        mf.solve_memberships(graph, np.zeros(5), cores, beta="2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"walk_weights": "square"}, "`walk_weights` must be one of 'power', 'linear'"),
        ({"kernel": "cubic"}, "`kernel` must be one of 'uniform', 'gaussian'"),
        ({"kernel": "gaussian"}, "`bandwidth` must be given with the Gaussian kernel"),
        ({"kernel": "gaussian", "bandwidth": 0.0}, "`bandwidth` must be a finite number >= 1e-100"),
        ({"bandwidth": 1.0}, "`bandwidth` must be None with the uniform kernel"),
        ({"dimension": 0.0}, "`dimension` must be a finite number > 0"),
        ({"start": np.zeros((5, 3))}, r"`start` must have shape \(5, 2\)"),
        ({"start": np.full((5, 2), np.nan)}, "`start` must be finite"),
    ],
)
def test_bad_options(options, message):
    graph, cores = path()
    with pytest.raises(ValueError, match=message):
        mf.solve_memberships(graph, np.zeros(5), cores, **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_log_density_must_be_finite_and_of_the_right_length(bad):
    graph, cores = path()
    with pytest.raises(ValueError, match="`log_density` must be finite"):
        mf.solve_memberships(graph, [0, bad, 0, 0, 0], cores)
    with pytest.raises(ValueError, match=r"`log_density` must have one value per point.*\(5,\).*\(4,\)"):
        mf.solve_memberships(graph, np.zeros(4), cores)


def test_cores_must_fit():
    graph, cores = path()
    with pytest.raises(ValueError, match="`cores` must be of the points of `graph`; got 6 labels for 5"):
        mf.solve_memberships(graph, np.zeros(5), path(6)[1])
    with pytest.raises(ValueError, match="`cores` must hold at least one state"):
        mf.solve_memberships(graph, np.zeros(5), mf.Cores(np.full(5, -1), np.full(5, -1), [], []))
    with pytest.raises(ValueError, match=r"must have a core; got core sizes \[1, 0\]"):
        mf.solve_memberships(
            graph, np.zeros(5), mf.Cores(np.zeros(5), [0, -1, -1, -1, -1], [0, 4], np.ones(2))
        )
    edges = mf.Neighbors([[0], [1]], [[1.0], [1.0]], n_targets=5).graph(1)
    with pytest.raises(ValueError, match="`graph` must join a point set with itself"):
        mf.solve_memberships(edges, np.zeros(2), cores)


def test_dimension_cannot_be_told_from_one_neighbour():
    graph = mf.euclidean_neighbors(np.arange(6.0)[:, None] ** 2, n_neighbors=1).graph(1)
    with pytest.raises(ValueError, match="`dimension` must be given"):
        walk_exponent(graph, 1.0)


def test_rows_that_do_not_sum_to_one_are_not_returned(monkeypatch):
    graph, cores = path()
    broken = _solver.Solution(np.full((5, 2), 0.4), 0.0, 1)
    monkeypatch.setattr(memberships._solver, "solve_walk", lambda *a, **b: broken)
    with pytest.raises(
        mf.SolveError,
        match=r"beta=2 \(walk temperature; 2 = simulation temperature\) sum to 1 within 2.0e-01 only "
        r"\(promised: 1e-08\)",
    ):
        mf.solve_memberships(graph, np.zeros(5), cores)


def test_new_frames_left_out_of_a_fit_get_nearly_what_a_fit_with_them_gives():
    points, _, graph, log_density, cores = two_wells(3000, 12)
    full = mf.solve_memberships(graph, log_density, cores, beta=1.0, dimension=2)
    kept = (np.arange(3000) % 10 != 0) | (cores.core_of >= 0)
    neighbors = mf.euclidean_neighbors(points[kept], n_neighbors=24)
    part_density = mf.dtm_log_density(neighbors, dimension=2)
    part_cores = mf.Cores(cores.basins[kept], cores.core_of[kept], [0, 1], np.ones(2))
    part = mf.solve_memberships(neighbors.graph(12), part_density, part_cores, beta=1.0, dimension=2)
    new = mf.extend_memberships(part, neighbors_among(points[~kept], points[kept], 12))
    error = np.abs(new.values - full.values[~kept])
    assert error.mean() < 0.02
    assert error.max() < 0.15
    assert_allclose(new.values.sum(axis=1), 1.0, rtol=0, atol=1e-8)
    assert new.beta == 1.0


def neighbors_among(new, fitted, k):
    distances = np.linalg.norm(new[:, None] - fitted[None], axis=2)
    order = np.argsort(distances, axis=1)[:, :k]
    return mf.Neighbors(order, np.take_along_axis(distances, order, axis=1), n_targets=len(fitted))


def test_a_frame_identical_to_a_fitted_one_gets_its_memberships():
    points, _, graph, log_density, cores = two_wells(400)
    mu = mf.solve_memberships(graph, log_density, cores)
    new = mf.extend_memberships(mu, neighbors_among(points[::7], points, 8))
    assert_array_equal(new.values, mu.values[::7])
    assert_array_equal(new.lost, mu.lost[::7])


def test_a_conformation_identical_to_a_fitted_one_gets_its_memberships():
    frames = mf.datasets.alanine_dipeptide(stride=20)
    neighbors = mf.rmsd_neighbors(frames, n_neighbors=20)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    cores = mf.find_cores(graph, log_density, mf.compute_persistence(graph, log_density), min_prominence=0.5)
    mu = mf.solve_memberships(graph, log_density, cores)
    new = mf.extend_memberships(mu, mf.rmsd_neighbors(frames, n_neighbors=10, queries=frames.xyz[::3]))
    assert_array_equal(new.values, mu.values[::3])


def test_one_step_of_the_walk_with_gaussian_kernel_radius_and_lost_mass():
    fitted = mf.Memberships(
        values=[[1.0, 0.0], [0.0, 0.5], [0.0, 1.0]],
        lost=[0.0, 0.5, 0.0],
        beta=1.0,
        log_weights=np.log([1.0, 2.0, 4.0]),
        exponent=1.0,
        kernel="gaussian",
        bandwidth=2.0,
        radius=2.5,
    )
    new = mf.extend_memberships(
        fitted, mf.Neighbors([[0, 1, 2], [2, 1, 0]], [[1.0, 2.0, 3.0], [2.6, 3.0, 4.0]], n_targets=3)
    )
    weights = np.array([np.exp(-1 / 8), 2 * np.exp(-4 / 8)])
    expected = weights / weights.sum()
    assert_allclose(new.values[0], [expected[0], 0.5 * expected[1]], rtol=1e-12)
    assert_allclose(new.lost, [0.5 * expected[1], 1.0], rtol=1e-12)
    assert_array_equal(new.hard, [0, -1])


def test_new_frames_with_more_neighbours_within_the_radius_than_were_searched():
    fitted = mf.Memberships(
        values=np.eye(3)[:, :2],
        lost=[0.0, 0.0, 1.0],
        beta=1.0,
        log_weights=np.zeros(3),
        exponent=1.0,
        radius=2.5,
    )
    near, far, same = ([0, 1], [1.0, 2.0]), ([1, 0], [2.0, 3.0]), ([1, 0], [0.0, 1.0])

    def extend(*rows, **options):
        indices, distances = zip(*rows, strict=True)
        return mf.extend_memberships(fitted, mf.Neighbors(indices, distances, n_targets=3), **options)

    with pytest.warns(
        UserWarning,
        match=r"All 2 neighbours found for 1 of 3 new points lie within the radius of the fit, "
        r"2\.5\. More points may lie within it; they are left out\. Search more neighbours: n_neighbors of "
        r"more than 2, up to 3\.",
    ):
        extend(near, far, same)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extend(far, same)
        extend(near, k=2)  # asked for
        extend(([0, 1, 2], [1.0, 2.0, 2.2]))  # there are no more


def test_bad_neighbours_of_new_frames():
    graph, cores = path()
    mu = mf.solve_memberships(graph, np.zeros(5), cores)
    with pytest.raises(ValueError, match="among the 5 fitted points; got neighbours among 7"):
        mf.extend_memberships(mu, mf.Neighbors([[0]], [[1.0]], n_targets=7))
    with pytest.raises(ValueError, match=r"`k` must be an int in \[1, 1\]; got 2.*n_neighbors=1"):
        mf.extend_memberships(mu, mf.Neighbors([[0]], [[1.0]], n_targets=5), k=2)


def test_other_things_in_place_of_results():
    graph, cores = path()
    with pytest.raises(TypeError, match=r"`cores` must be `Cores`; got NoneType\. `find_cores` gives them"):
        mf.solve_memberships(graph, np.zeros(5), None)
    fitted = mf.solve_memberships(graph, np.zeros(5), cores)
    with pytest.raises(TypeError, match="`neighbors` must be `Neighbors`; got list"):
        mf.extend_memberships(fitted, [])
    with pytest.raises(TypeError, match="`memberships` must be `Memberships`; got ndarray"):
        mf.extend_memberships(fitted.values, [])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_width_whose_square_is_no_number(scale):
    graph, cores = path()
    with pytest.raises(ValueError, match=r"`bandwidth` must be a finite number >= 1e-100 and <= 1e\+100"):
        mf.solve_memberships(graph, np.zeros(5), cores, kernel="gaussian", bandwidth=scale)


def test_one_state_has_memberships_of_exactly_1():
    graph, _ = path()
    one = mf.Cores(np.zeros(5), np.array([-1, -1, 0, -1, -1]), np.array([2]), np.array([np.inf]))
    with pytest.warns(UserWarning, match="one state only"):
        memberships = mf.solve_memberships(graph, np.arange(5.0), one, beta=0.1)
    assert np.all(memberships.values == 1.0)


@pytest.mark.parametrize("tolerance", [1e-13, 0.1, 0.0])
def test_a_tolerance_that_cannot_be_kept_or_says_nothing(tolerance):
    graph, cores = path()
    with pytest.raises(ValueError, match=r"`tolerance` must be a finite number >= 1e-12 and <= 0\.0001; got"):
        mf.solve_memberships(graph, np.zeros(5), cores, tolerance=tolerance)


@pytest.mark.parametrize(
    ("values", "lost", "log_weights"),
    [
        (np.ones(3), np.zeros(3), np.zeros(3)),
        (np.ones((3, 0)), np.zeros(3), np.zeros(3)),
        (np.ones((3, 1)), np.zeros(2), np.zeros(3)),
        (np.ones((3, 1)), np.zeros(3), np.zeros((3, 1))),
    ],
)
def test_arrays_that_do_not_belong_together(values, lost, log_weights):
    with pytest.raises(ValueError, match=r"`values` must have shape \(points, states\), `lost` and `log_w"):
        mf.Memberships(values=values, lost=lost, beta=2.0, log_weights=log_weights, exponent=1.0)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_memberships_are_shares(bad):
    with pytest.raises(ValueError, match=r"`values` must be in \[0, 1\]; got "):
        mf.Memberships(
            values=[[1.0, 0.0], [bad, 0.0]], lost=np.zeros(2), beta=2.0, log_weights=np.zeros(2), exponent=1.0
        )


def test_new_points_have_the_weight_of_the_nearest_fitted_one():
    # Without the factor of the kernel, which depends on where a step comes from.
    fitted = mf.Memberships(
        values=np.eye(2),
        lost=np.zeros(2),
        beta=1.0,
        log_weights=[3.0, 5.0],
        exponent=0.0,
        kernel="gaussian",
        bandwidth=0.1,
        k=2,
    )
    new = mf.Neighbors([[0, 1], [1, 0]], [[0.5, 0.6], [0.4, 1.0]], n_targets=2)
    np.testing.assert_array_equal(mf.extend_memberships(fitted, new).log_weights, [3.0, 5.0])

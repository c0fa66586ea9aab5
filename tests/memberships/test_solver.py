"""The absorbing walk's solver against closed forms, subtraction-free elimination and deeptime."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference.walk import dense_walk, hitting_probabilities, net_flows, relaxed

import mdfuzzy as mf
from mdfuzzy._kernels.walk import acceleration, groups, sweeps
from mdfuzzy._threads import using_threads
from mdfuzzy.memberships import _multilevel, _solver

BETAS = [0.1, 0.2, 0.3, 1.0, 2.0, 10.0, 100.0, np.inf]


def cloud(n, d, k, *, kind="union", seed=0, modes=3, spread=5.0):
    """Points in lumps: graph, log density with exponent d, targets at the two highest points of each."""
    rng = np.random.default_rng(seed)
    centres = spread * rng.normal(size=(modes, d)) / np.sqrt(d)
    which = np.arange(n) % modes
    points = rng.normal(size=(n, d)) + centres[which]
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * k)
    log_density = -d / 2 * np.log((neighbors.distances.astype(float) ** 2).mean(axis=1))
    targets = np.full(n, -1, np.int32)
    for c in range(modes):
        inside = np.flatnonzero(which == c)
        targets[inside[np.argsort(-log_density[inside])[:2]]] = c
    return neighbors.graph(k, kind=kind), log_density, targets


def exponent(graph, d, beta):
    return 1 / beta - ((d - 2) / (2 * d) if graph.kind == "union" else 1)


def solve(graph, pull, targets, n_targets, tolerance=1e-11, **options):
    return _solver.solve_walk(
        graph.indptr, graph.indices, graph.distances, pull, 0.0, targets, n_targets,
        reversible=graph.symmetric, tolerance=tolerance, **options,
    )  # fmt: skip


def chain(pull):
    """A path with a target at either end: graph and targets."""
    n = len(pull)
    rows = [[j for j in (i - 1, i + 1) if 0 <= j < n] for i in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    graph = mf.Graph(indptr, np.concatenate(rows), np.ones(2 * n - 2), kind="radius", n_targets=n, radius=1.0)
    targets = np.full(n, -1, np.int32)
    targets[[0, -1]] = 0, 1
    return graph, targets


def birth_death(pull):
    """Probability to reach the last state first: resistances 1 / (g_i g_{i+1}) in a row, in logarithms."""
    log_resistance = -(pull[:-1] + pull[1:])
    resistance = np.exp(log_resistance - log_resistance.max())
    return np.concatenate([[0.0], np.cumsum(resistance)]) / resistance.sum()


@pytest.mark.parametrize("span", [5, 20, 40, 60, 100, 150, 300])
def test_rough_chains_equal_their_closed_form(span):
    """Every point at random between 0 and `span`: traps next to traps, and to points that end the walk."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pull = span * rng.random(rng.integers(5, 40))
        pull[[0, -1]] = pull.max() / 2
        graph, targets = chain(pull)
        found = solve(graph, pull, targets, 2).values
        assert_allclose(found[:, 1], birth_death(pull), rtol=0, atol=1e-9)
        assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("strength", [0.0, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_birth_death_chain_has_its_closed_form(strength, seed):
    pull = strength * np.sin(np.linspace(0, 9, 40)) + strength / 3 * np.random.default_rng(seed).random(40)
    graph, targets = chain(pull)
    solution = solve(graph, pull, targets, 2)
    assert_allclose(solution.values[:, 1], birth_death(pull), rtol=0, atol=1e-10)
    assert_allclose(solution.values.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_a_trap_left_once_in_1e80_steps_still_shows_the_right_way_out():
    pull = np.array([0.0, -3.0, 90.0, 95.0, 90.0, -2.0, 0.0])
    graph, targets = chain(pull)
    solution = solve(graph, pull, targets, 2)
    assert_allclose(solution.values[:, 1], birth_death(pull), rtol=0, atol=1e-12)
    assert 0.1 < solution.values[3, 1] < 0.9


@pytest.mark.parametrize("kind", ["union", "directed"])
@pytest.mark.parametrize(("d", "k"), [(2, 6), (13, 6)])
def test_agrees_with_subtraction_free_elimination(kind, d, k):
    graph, log_density, targets = cloud(250, d, k, kind=kind)
    reached = _solver.reaches_target(graph.indptr, graph.indices, targets)
    targets = np.where(reached, targets, 3).astype(np.int32)
    for beta in BETAS:
        pull = exponent(graph, d, beta) * log_density
        expected = hitting_probabilities(
            dense_walk(graph.indptr, graph.indices, pull[graph.indices]), targets, 4
        )
        assert_allclose(expected.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        solution = solve(graph, pull, targets, 4)
        assert_allclose(solution.values, expected, rtol=0, atol=1e-8, err_msg=f"beta={beta}")
        assert_allclose(solution.values.sum(axis=1), 1.0, rtol=0, atol=1e-8)
        assert solution.residual < 1e-9


def test_deep_traps_of_many_points_agree_with_elimination():
    # One lump of four has no target: it is left with a probability below 1e-12 at this exponent.
    graph, log_density, targets = cloud(400, 5, 8, modes=4, spread=4.5)
    targets[targets >= 3] = -1
    pull = 20.0 * log_density
    probs = dense_walk(graph.indptr, graph.indices, pull[graph.indices])
    expected = hitting_probabilities(probs, targets, 3)
    free = np.flatnonzero(targets < 0)
    system = np.eye(len(free)) - probs[np.ix_(free, free)]
    assert np.linalg.cond(system) > 1e12
    assert_allclose(solve(graph, pull, targets, 3).values, expected, rtol=0, atol=1e-8)


def test_rounding_errors_inside_a_trap_do_not_reach_its_balance(monkeypatch):
    pull = np.array([0.0, -3.0, 90.3, 95.1, 93.7, 90.9, -2.0, 0.0])
    graph, targets = chain(pull)
    expected = np.column_stack([1 - birth_death(pull), birth_death(pull)])
    seen = {}
    iterate = _solver._iterate

    def spy(levels, absorb, x, tolerance):
        seen.update(levels=levels, absorb=absorb, guess=x.copy())
        return iterate(levels, absorb, x, tolerance)

    monkeypatch.setattr(_solver, "_iterate", spy)
    noise = np.random.default_rng(0).normal(scale=1e-15, size=expected.shape)
    solve(graph, pull, targets, 2, start=expected + noise)
    levels = seen["levels"]
    assert max(level.lift.max() for level in levels) > 1e20  # far more flows inside than across the border
    for residual in _solver._residuals(levels, 0, seen["guess"], seen["absorb"]):
        assert np.abs(residual).max() < 1e-14


def test_elimination_agrees_with_deeptime_on_small_chains():
    from deeptime.markov.tools.analysis import committor

    rng = np.random.default_rng(3)
    probs = rng.random((12, 12))
    probs /= probs.sum(axis=1, keepdims=True)
    targets = np.full(12, -1, np.int32)
    targets[[0, 1]], targets[[10, 11]] = 0, 1
    expected = committor(probs, [0, 1], [10, 11])
    assert_allclose(hitting_probabilities(probs, targets, 2)[:, 1], expected, rtol=0, atol=1e-12)
    indptr, indices = np.arange(0, 145, 12), np.tile(np.arange(12), 12)
    # Not a graph of ours (it has loops): the solver takes any weights that come from points and lengths.
    lengths = np.sqrt(-np.log(probs.ravel()))
    solution = _solver.solve_walk(
        indptr,
        indices.astype(np.int32),
        lengths,
        np.zeros(12),
        1.0,
        targets,
        2,
        reversible=False,
        tolerance=1e-11,
    )
    assert_allclose(solution.values[:, 1], expected, rtol=0, atol=1e-9)


def test_same_to_the_last_bit_on_any_number_of_threads():
    graph, log_density, targets = cloud(6000, 3, 12)
    assert len(graph.indices) > _multilevel.SERIAL_EDGES
    results = []
    for n_jobs in (1, 2):
        with using_threads(n_jobs):
            results.append(solve(graph, log_density, targets, 3))
    assert_array_equal(results[0].values, results[1].values)
    assert results[0].residual == results[1].residual


def test_single_precision_storage_changes_little(monkeypatch):
    graph, log_density, targets = cloud(3000, 5, 15)
    pull = 2.0 * log_density
    double = solve(graph, pull, targets, 3)
    monkeypatch.setattr(_solver, "SINGLE_EDGES", 0)
    single = solve(graph, pull, targets, 3)
    assert not np.array_equal(single.values, double.values)
    assert_allclose(single.values, double.values, rtol=0, atol=1e-6)
    assert_allclose(single.values.sum(axis=1), 1.0, rtol=0, atol=1e-8)
    monkeypatch.setattr(_solver, "SINGLE_LOG_RATIO", 0.0)  # ratios that do not allow it
    assert_array_equal(solve(graph, pull, targets, 3).values, double.values)


def test_a_good_guess_saves_iterations_and_changes_nothing():
    graph, log_density, targets = cloud(2000, 3, 10)
    cold = solve(graph, log_density, targets, 3)
    warm = solve(graph, log_density, targets, 3, start=cold.values)
    assert warm.iterations <= 2 < cold.iterations
    assert_allclose(warm.values, cold.values, rtol=0, atol=1e-9)


def test_many_columns_and_an_odd_number_of_them():
    graph, log_density, _ = cloud(600, 2, 8)
    targets = np.full(600, -1, np.int32)
    targets[:7] = np.arange(7)
    probs = dense_walk(graph.indptr, graph.indices, log_density[graph.indices])
    expected = hitting_probabilities(probs, targets, 7)
    assert_allclose(solve(graph, log_density, targets, 7).values, expected, rtol=0, atol=1e-9)


def test_targets_in_groups_are_those_together(monkeypatch):
    graph, log_density, targets = cloud(1500, 2, 10, modes=5)
    pull, start = exponent(graph, 2, 1.0) * log_density, np.full((1500, 5), 0.2)
    together = solve(graph, pull, targets, 5).values  # one group: at most eight
    monkeypatch.setattr(_solver, "COLUMNS", 2)
    assert_allclose(solve(graph, pull, targets, 5).values, together, rtol=0, atol=1e-9)
    assert_allclose(solve(graph, pull, targets, 5, start=start).values, together, rtol=0, atol=1e-9)
    monkeypatch.setattr(_solver, "COLUMNS", 5)
    assert_array_equal(solve(graph, pull, targets, 5).values, together)


def test_nothing_to_solve_when_every_point_is_a_target():
    graph, _, _ = cloud(30, 2, 4)
    targets = (np.arange(30) % 2).astype(np.int32)
    solution = solve(graph, np.zeros(30), targets, 2)
    assert_array_equal(solution.values, np.eye(2)[targets])
    assert solution.iterations == 0


def test_free_points_that_are_joined_to_targets_only():
    indptr, indices = [0, 1, 3, 4], [1, 0, 2, 1]
    star = mf.Graph(indptr, indices, np.ones(4), kind="radius", n_targets=3, radius=1.0)
    solution = solve(star, np.array([0.0, 0.0, np.log(3.0)]), np.array([0, -1, 1], np.int32), 2)
    assert_allclose(solution.values[1], [0.25, 0.75], rtol=0, atol=1e-12)


def test_raises_when_it_does_not_converge(monkeypatch):
    graph, log_density, targets = cloud(400, 2, 6)
    monkeypatch.setattr(_solver, "MAX_ITERATIONS", 3)
    with pytest.raises(mf.SolveError, match=r"No convergence after 3 iterations.*nearer to 2"):
        solve(graph, log_density, targets, 3)


def test_raises_when_the_visits_do_not_converge(monkeypatch):
    graph, log_density, targets = cloud(400, 2, 6, kind="directed")
    targets[~_solver.reaches_target(graph.indptr, graph.indices, targets)] = 0
    monkeypatch.setattr(_multilevel, "MAX_CYCLES", 1)
    monkeypatch.setattr(_multilevel, "MAX_EDGES", 0)
    with pytest.raises(mf.SolveError, match=r"expected visits.*union graph"):
        solve(graph, log_density, targets, 3)


def test_raises_when_a_trap_is_too_deep_for_double_precision():
    pull = np.array([0.0, -700.0, 650.0, 700.0, 650.0, -700.0, 0.0])
    graph, targets = chain(pull)
    with pytest.raises(mf.SolveError, match=r"below 1e-300.*nearer to 2"):
        solve(graph, pull, targets, 2)


def test_reachability_follows_the_direction_of_the_edges():
    graph = mf.Graph([0, 1, 2, 3, 4], [1, 2, 3, 2], np.ones(4), kind="directed", n_targets=4, k=1)
    reached = _solver.reaches_target(graph.indptr, graph.indices, np.array([-1, 0, -1, -1], np.int32))
    assert_array_equal(reached, [True, True, False, False])


@pytest.mark.parametrize("passes", [1, 10_000])
def test_reachability_along_a_chain_does_not_need_a_pass_for_each_step(passes, monkeypatch):
    """Points 0 to n - 1 lead to the next; the target is the last but 100, which lead on in a circle."""
    monkeypatch.setattr(_solver, "REACH_PASSES", passes)
    n = 5000
    targets = np.full(n, -1, np.int32)
    targets[n - 101] = 0
    onward = np.minimum(np.arange(1, n + 1), n - 1)
    onward[-1] = n - 100
    reached = _solver.reaches_target(np.arange(n + 1), onward.astype(np.int32), targets)
    assert_array_equal(reached, np.arange(n) <= n - 101)


def walk_of(graph, pull):
    """The walk as a matrix, and the probabilities of its edges."""
    probs = dense_walk(graph.indptr, graph.indices, pull[graph.indices])
    return probs, probs[np.repeat(np.arange(len(graph)), graph.degrees), graph.indices]


def found_ties(graph, values, groupable):
    """What `strong_ties` is given and sets, which is what `aggregate` begins with."""
    n = len(graph)
    ties = graph.indptr, graph.indices, values, graph.distances, groupable, np.empty(n), np.empty(n, np.int32)
    groups.strong_ties(0, n, *ties)
    return ties


@pytest.mark.parametrize("with_lengths", [False, True])
def test_ties_are_strong_and_the_nearest_of_these(with_lengths):
    graph, log_density, _ = cloud(300, 2, 5)
    probs, values = walk_of(graph, 3 * log_density)
    exits = np.where(np.arange(300) % 7 == 0, 0.5, 0.4)  # every seventh point is pinned
    lengths = graph.distances if with_lengths else graph.distances[:0]
    least, nearest = np.empty(300), np.empty(300, np.int32)
    groups.strong_ties(0, 300, graph.indptr, graph.indices, values, lengths, exits < 0.5, least, nearest)
    unlikely = False
    for i in np.flatnonzero(exits < 0.5):
        ends, far = graph.edges(i)
        top = probs[i, ends].max()
        assert least[i] == top / 4
        strong = (exits[ends] < 0.5) & (probs[i, ends] >= top / 4)
        key = far if with_lengths else -probs[i, ends]
        assert nearest[i] == (ends[strong][np.argmin(key[strong])] if strong.any() else i)
        unlikely |= probs[i, nearest[i]] < probs[i, ends[strong]].max(initial=0.0)
    assert unlikely == with_lengths


def test_of_equally_near_points_the_likeliest_is_the_nearest():
    pull = np.array([0.0, 1.0, 0.0, 1.3, 0.0])
    graph, _ = chain(pull)  # all edges are of length 1
    values = walk_of(graph, pull)[1]
    least, nearest = np.empty(5), np.empty(5, np.int32)
    ties = graph.indptr, graph.indices, values, graph.distances, np.ones(5, bool), least, nearest
    groups.strong_ties(0, 5, *ties)
    assert nearest[2] == 3


def test_a_point_that_is_tied_to_a_pinned_one_is_in_no_group_with_others():
    """Point 1 nearly always goes to 0, which ends the walk: what 2 and 3 do has no effect on it."""
    pull = np.array([9.0, 0.0, 0.0, 1.0])
    graph, _ = chain(pull)
    values = walk_of(graph, pull)[1]
    exits = np.array([0.9, 0.0, 0.0, 0.0])
    ties = found_ties(graph, values, exits < 0.5)
    assert ties[-1][1] == 1
    group, _, count = groups.aggregate(*ties, np.array([2, 3, 1]), 8)
    assert count == 2
    assert_array_equal(group == group[1], [False, True, False, False])


def test_ties_of_no_probability_join_nothing():
    graph, _ = chain(np.zeros(4))
    values = np.zeros(6)
    ties = found_ties(graph, values, np.ones(4, bool))
    assert_array_equal(ties[-1], np.arange(4))


def test_groups_follow_strong_ties_and_have_room():
    graph, log_density, _ = cloud(300, 2, 5)
    probs, values = walk_of(graph, 3 * log_density)
    exits = np.where(np.arange(300) % 7 == 0, 0.5, 0.0)
    order = np.flatnonzero(exits < 0.5)
    ties = found_ties(graph, values, exits < 0.5)
    group, rank, count = groups.aggregate(*ties, order, 4)
    assert_array_equal(group < 0, exits >= 0.5)
    assert_array_equal(np.unique(group[order]), np.arange(count))
    assert all(len(set(rank[group == g])) == np.count_nonzero(group == g) for g in range(count))
    assert np.bincount(group[order]).max() >= 4
    strong = probs >= ties[5][:, None]
    for i in order:
        mates = np.flatnonzero((group == group[i]) & (np.arange(300) != i))
        assert len(mates) == 0 or strong[i, mates].any() or strong[mates, i].any()


def test_groups_lump_to_a_walk_that_targets_and_lone_points_end():
    graph, log_density, targets = cloud(300, 2, 5)
    probs, values = walk_of(graph, 3 * log_density)
    group = (np.arange(300) // 6).astype(np.int32)
    group[::11], group[targets >= 0] = groups.ALONE, groups.TARGET
    _, group[group >= 0] = np.unique(group[group >= 0], return_inverse=True)
    count = group.max() + 1
    rank = np.array([np.count_nonzero(group[:i] == group[i]) for i in range(300)])
    exits = probs[:, targets >= 0].sum(axis=1)
    log_mass = 3 * log_density + np.log(
        [np.exp(3 * log_density[graph.edges(i)[0]]).sum() for i in range(300)]
    )
    level = _multilevel.Level(
        indptr=graph.indptr,
        indices=graph.indices,
        probs=values,
        exits=exits,
        log_mass=log_mass,
        degrees=graph.degrees,
    )
    level.group = group
    level.members, level.first = _multilevel._members(group, rank, count)
    assert_array_equal(level.members[level.first[-1] :], np.flatnonzero(group == groups.ALONE))
    chosen = (group[:, None] == np.arange(count)).astype(float)
    flows = chosen.T @ (np.exp(log_mass)[:, None] * probs)
    between, ending = flows @ chosen, flows[:, group < 0].sum(axis=1)
    np.fill_diagonal(between, 0.0)
    total = between.sum(axis=1) + ending
    for n_jobs in (1, 2):
        with using_threads(n_jobs):
            lumped = _multilevel.lump(level, np.float64)
        assert_array_equal(np.diff(lumped.indptr), lumped.degrees)
        dense = np.zeros((count, count))
        dense[np.repeat(np.arange(count), lumped.degrees), lumped.indices] = lumped.probs
        assert_allclose(dense, between / total[:, None], rtol=1e-10, atol=1e-300)
        assert_allclose(lumped.exits, ending / total, rtol=1e-10)
        assert_allclose(np.exp(lumped.log_mass), total, rtol=1e-10)
    assert _multilevel.lump(level, np.float32).probs.dtype == np.float32


@pytest.mark.parametrize("columns", [2, 4, 6, 8, 10, 16, 22])
def test_sums_steps_and_largest_values_equal_plain_ones(columns):
    rng = np.random.default_rng(0)
    n, known, at = 2 * acceleration.BLOCK + 5, 3, 1
    correction, before = rng.normal(size=(2, n, columns)).astype(np.float32)
    changes, moves = rng.normal(size=(2, 4, n, columns)).astype(np.float32)
    changes[at], step = before, moves[at].copy()
    sums = _solver._dots(correction, known, at, moves, changes)
    assert_array_equal(changes[at], correction - before)
    assert_array_equal(moves[at], step + changes[at])
    for u in range(known):
        for v, other in enumerate((changes[at], correction)):
            expected = (changes[u].astype(float) * other).sum(axis=0)
            assert_allclose(sums[u, v], expected, rtol=1e-9, atol=1e-9)
    shares, x = rng.normal(size=(known, columns)), rng.normal(size=(n, columns))
    step = correction.astype(float)
    for u in range(known):
        step -= shares[u] * moves[u].astype(float)
    moved, oldest = x.copy(), 3
    acceleration.take_step(0, n, correction, shares, oldest, moved, moves, changes)
    assert_array_equal(moves[oldest], step.astype(np.float32))
    assert_array_equal(changes[oldest], correction)
    assert_array_equal(moved, x + moves[oldest])
    assert_array_equal(_solver._largest(correction), np.abs(correction).max(axis=0))
    correction[3, -1] = np.nan
    assert_array_equal(np.isnan(_solver._largest(correction)), np.arange(columns) == columns - 1)


def test_what_is_only_rounding_has_no_share_in_a_step():
    rng = np.random.default_rng(0)
    changes, wanted = rng.normal(size=(3, 50)), np.array([0.5, -2.0, 0.0])
    changes[2] *= 1e-20
    gram = np.repeat((changes @ changes.T)[:, :, None], 3, axis=2)
    image = np.repeat((changes @ (wanted @ changes))[:, None], 3, axis=1)
    image[2] = 1e-15  # nothing that follows from the others
    shares = _solver._least_squares(gram, image, noise=np.array([1e-10, 1e3, 0.0]))
    assert_allclose(shares[:, 0], wanted, rtol=1e-12)
    assert_array_equal(shares[:, 1], 0.0)
    assert abs(shares[2, 2]) > 1e20  # what would happen without


@pytest.mark.parametrize("history", [4, 6, 8, 12])
def test_a_column_that_is_done_does_not_disturb_the_others(history, monkeypatch):
    """At this temperature two of the columns are done when the others have half of the way to go."""
    result = mf.cluster(mf.datasets.alanine_dipeptide(stride=3), mf.Settings(beta=0.1))
    monkeypatch.setattr(_solver, "HISTORY", history)
    pull = exponent(result.graph, result.dimension, 0.1) * result.log_density
    assert solve(result.graph, pull, result.cores.core_of, result.n_states).iterations < 30


def arranged(graph, values, position, ancestors, firsts, indptr):
    """The edges of two levels of groups, as `arrange_rows` writes them: indices and probabilities."""
    starts = np.concatenate(firsts)
    indices, probs = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], values.dtype)
    offsets = np.array([0, len(firsts[0]), len(starts)])
    for carried, out in ((values, probs), (values[:0], indices)):
        groups.arrange_rows(
            0, len(graph), graph.indptr, graph.indices, carried, position.astype(np.int32), ancestors,
            starts, offsets, indptr, out,
        )  # fmt: skip
    return indices, probs


@pytest.mark.parametrize("lone", [False, True])
def test_rows_in_another_order_are_sorted_by_the_levels_that_their_ends_are_apart(lone):
    """Also if the last group (`lone`) is in no group of the level above: its points stay together there."""
    graph, log_density, targets = cloud(300, 2, 5)
    probs, values = walk_of(graph, log_density)
    order = np.random.default_rng(3).permutation(np.flatnonzero(targets < 0))  # 294 points
    position = np.full(300, -1)
    position[order] = np.arange(294)
    group = np.repeat([0, 1, 2, -1], [90, 110, 84, 10])
    outer = np.array([0, 0, -1 if lone else 1, -1])[group]
    ancestors = np.array([group, outer], np.int32)
    starts = [np.array([0, 90, 200, 284]), np.array([0, 200] if lone else [0, 200, 284])]
    free = np.array([np.count_nonzero(position[graph.edges(i)[0]] >= 0) for i in order])
    indptr = np.concatenate([[0], np.cumsum(free)])
    indices, out = arranged(graph, values, position, ancestors, starts, indptr)
    low, high = _multilevel._bounds(starts[0], ancestors, starts)
    for a, i in enumerate(order):
        row = slice(indptr[a], indptr[a + 1])
        expected = {position[j]: probs[i, j] for j in graph.edges(i)[0] if position[j] >= 0}
        assert dict(zip(indices[row].tolist(), out[row].tolist(), strict=True)) == expected
        depths = []
        for end in indices[row]:
            same = (ancestors[:, a] == ancestors[:, end]) & (ancestors[:, a] >= 0)
            depths.append(int(np.argmax(same)) if same.any() else 2)
            if group[a] >= 0:
                inside = (low[group[a]] <= end) & (end < high[group[a]])
                assert inside.tolist() == [depths[-1] <= 0, depths[-1] <= 1]
        assert np.all(np.diff(depths) <= 0)


@pytest.mark.parametrize("columns", [2, 4, 6, 8, 10, 12, 14, 16])
@pytest.mark.parametrize("single", [False, True])
def test_flows_and_relaxation_equal_their_twins(columns, single):
    graph, log_density, _ = cloud(300, 2, 5)
    rng = np.random.default_rng(1)
    values = walk_of(graph, log_density)[1]
    values = values.astype(np.float32 if single else np.float64)
    starts = np.array([0, 90, 200, 290])  # three groups; the last ten points are in none
    group = np.repeat([0, 1, 2, -1], [90, 110, 90, 10])
    outer = np.array([0, 0, 1, -1])[group]
    ancestors, inner_and_outer = np.array([group, outer], np.int32), [starts, np.array([0, 200, 290])]
    indices, values = arranged(graph, values, np.arange(300), ancestors, inner_and_outer, graph.indptr)
    bounds = _multilevel._bounds(starts, ancestors, inner_and_outer)
    exits, lift, net = rng.random(300), rng.random(300), rng.normal(size=(300, 2))
    x, absorb = rng.random((2, 300, columns))
    walk_ = graph.indptr, indices, values
    own, out = np.zeros((300, columns), np.float32), np.full((3, 2, columns), np.nan)
    nodes = exits, absorb, net, lift
    with_alone = np.concatenate([starts, np.arange(291, 301)])
    sweeps.flows(0, 13, *walk_, *bounds, *nodes, with_alone, np.arange(300), x, own, out)
    expected = net_flows(*walk_, exits, absorb, x)
    assert_allclose(own, expected, rtol=1e-6, atol=1e-6)
    for t, parts in enumerate((group, outer)):
        crossing = net_flows(*walk_, exits, absorb, x, parts) + net[:, t, None] * x
        for g in range(3):
            inside = group == g
            assert_allclose(out[g, t], lift[inside] @ crossing[inside], rtol=1e-9, atol=1e-9)
    rhs, guess = rng.random((2, 300, columns)).astype(np.float32)
    both, blocks = np.stack([guess, guess]), np.array([0, 90, 200, 300])
    sweeps.relax(0, 3, *walk_, rhs, blocks, both)
    assert_array_equal(both[0], guess)
    assert_allclose(both[1], relaxed(*walk_, rhs, guess, blocks), rtol=1e-5)


def test_corrections_of_groups_and_their_flows():
    rng = np.random.default_rng(2)
    group = np.array([1, 0, 1, -1], np.int32)
    found = rng.random((2, 6)).astype(np.float32)
    both = rng.random((2, 4, 6)).astype(np.float32)
    new = both[1].copy()
    added = np.where(group[:, None] < 0, np.float32(0), found[group])
    sweeps.add_groups(0, 4, group, found, False, both)
    assert_array_equal(both, np.stack([new + added] * 2))
    sweeps.add_groups(0, 4, group, found, True, both)
    assert_array_equal(both, np.stack([added] * 2))
    lift, inner, out = rng.random(4), rng.random((4, 3, 6)), np.empty((2, 2, 6))
    sweeps.lift_flows(0, 2, lift, np.array([0, 1, 3]), np.array([1, 0, 2, 3]), inner, out)
    assert_allclose(out[0], lift[1] * inner[1, 1:])
    assert_allclose(out[1], lift[0] * inner[0, 1:] + lift[2] * inner[2, 1:])

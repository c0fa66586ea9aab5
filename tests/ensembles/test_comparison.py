import re
from itertools import combinations

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.ensembles._parts import independent_parts
from mdfuzzy.ensembles._permutation import permutation_test
from mdfuzzy.ensembles.mixing import neighbor_mixing


def trajectories(rng, shares, frames=100):
    """Return frames in two heaps, of which these shares are in the second."""
    return [rng.normal(size=(frames, 2)) + 6 * (rng.random(frames) < s)[:, None] for s in shares]


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(0)
    result = mf.cluster(trajectories(rng, [0.3] * 6 + [0.6] * 6), mf.Settings(n_states=2))
    return result, mf.compare_ensembles(result, ["a"] * 6 + ["b"] * 6)


def test_fractions_and_free_energies_are_those_counted(compared):
    result, found = compared
    labels = np.split(result.labels, 12)
    for e, part in enumerate((labels[:6], labels[6:])):
        np.testing.assert_allclose(found.fractions[e], np.bincount(np.concatenate(part)) / 600)
    (difference,) = found.differences
    np.testing.assert_allclose(difference.free_energy, -np.log(found.fractions[1] / found.fractions[0]))
    assert np.all(found.low < found.fractions)
    assert np.all(found.fractions < found.high)
    assert found.significant.all()
    assert difference.overlap == pytest.approx(np.minimum(*found.fractions).sum())
    assert difference.mixing == pytest.approx(1, abs=0.3)
    hot = mf.compare_ensembles(result, ["a"] * 6 + ["b"] * 6, temperature={"a": 300, "b": 450})
    kt = 0.0083144626 * np.array([[300], [450]])
    np.testing.assert_allclose(
        hot.differences[0].free_energy,
        -kt[1] * np.log(found.fractions[1]) + kt[0] * np.log(found.fractions[0]),
    )
    assert "kJ/mol" in str(hot)


def test_weights_count():
    rng = np.random.default_rng(3)
    parts = trajectories(rng, [0.5] * 10)
    weights = [np.where(part[:, 0] > 3, 3.0, 1.0) for part in parts]
    data = mf.Features(parts, weights=np.concatenate(weights))
    found = mf.compare_ensembles(mf.cluster(data, mf.Settings(n_states=2)), ["a"] * 5 + ["b"] * 5)
    np.testing.assert_allclose(np.sort(found.fractions, axis=1), [[0.25, 0.75]] * 2, atol=0.05)


def test_p_is_the_share_of_the_assignments_that_differ_as_much():
    rng = np.random.default_rng(1)
    sums, totals = rng.random((8, 3)) * 10, rng.uniform(20, 40, 8)
    found = permutation_test(sums, totals, 4, n_permutations=100, seed=0)

    def statistic(members):
        ends = []
        for chosen in (list(members), [u for u in range(8) if u not in members]):
            y, w = sums[chosen], totals[chosen]
            f = y.sum(axis=0) / w.sum()
            ends.append((f, ((y - f * w[:, None]) ** 2).sum(axis=0) / w.sum() ** 2 * 4 / 3))
        return np.abs(ends[0][0] - ends[1][0]) / np.sqrt(ends[0][1] + ends[1][1])

    every = np.array([statistic(members) for members in combinations(range(8), 4)])
    p = np.array([(every >= row - 1e-9).mean(axis=0) for row in every])
    np.testing.assert_allclose(found.p, p[0])
    smallest = p.min(axis=1)
    np.testing.assert_allclose(found.corrected, [(smallest <= each + 1e-9).mean() for each in p[0]])
    assert found.least == pytest.approx(2 / 70)


def test_false_positives_are_as_many_as_they_may_be():
    rng = np.random.default_rng(2)
    rejected = 0
    for seed in range(200):
        sums = 10 * rng.dirichlet([0.3, 1, 2, 5], size=16)  # of four states, the first in few trajectories
        found = permutation_test(sums, np.full(16, 10.0), 6, n_permutations=199, seed=seed)
        rejected += (found.corrected < 0.05).any()
    assert 1 <= rejected <= 20  # 10 expected; 20 or more by chance 3 times in 1000


def test_perfect_separation_is_the_smallest_p():
    states = np.repeat(np.eye(2), 5, axis=0)
    found = permutation_test(states, np.ones(10), 5, n_permutations=9999, seed=0)
    np.testing.assert_allclose(found.corrected, 2 / 252)
    np.testing.assert_allclose(found.least, 2 / 252)


def test_a_single_trajectory_is_cut_into_blocks(compared):
    result, _ = compared
    found = mf.compare_ensembles(result, ["one"] + ["others"] * 11)
    assert " blocks of " in found.drawn[0]
    assert found.drawn[1] == "whole trajectories"
    assert re.search(r"one has 1 trajectory, so \d+ blocks of", str(found))


def test_blocks_are_long_and_cover_everything():
    rng = np.random.default_rng(0)
    inside = np.repeat(rng.integers(2, size=(50, 1)), 10, axis=0).astype(float)
    lengths = np.array([300, 200])
    units = independent_parts(lengths, inside, np.ones(500))
    assert units.lengths.sum() == 500
    assert units.block >= 40  # five times an inefficiency of about ten
    for number, length in enumerate(lengths):
        own = units.trajectories == number
        np.testing.assert_array_equal(np.cumsum(units.lengths[own]), np.append(units.starts[own][1:], length))


def test_too_few_parts_for_a_test_are_said(compared):
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 6.0, 0.0, 6.0], 100)[:, None] + rng.normal(size=(400, 2))
    result = mf.cluster([x, x[::-1].copy()], mf.Settings(n_states=2))
    found = mf.compare_ensembles(result, ["a", "b"])
    assert not found.significant.any()
    assert "no difference can be significant" in str(found)


def test_separate_ensembles_are_said():
    rng = np.random.default_rng(0)
    near, far = ([rng.normal(size=(60, 2)) + shift for _ in range(5)] for shift in (0, 50))
    result = mf.cluster([*near, *far], mf.Settings(n_states=2))
    found = mf.compare_ensembles(result, ["near"] * 5 + ["far"] * 5)
    (difference,) = found.differences
    assert difference.mixing == 0
    assert difference.overlap == 0
    assert set(found.alone) == {"near", "far"}
    assert np.isinf(difference.free_energy).all()
    assert "near and far hardly overlap" in str(found)


def test_mixing_leaves_out_the_trajectory_of_the_frame_itself():
    rng = np.random.default_rng(0)
    centers = np.repeat(rng.normal(size=(20, 2)), 50, axis=0)  # each trajectory in a place of its own
    points = centers + 0.3 * rng.normal(size=(1000, 2))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=100)
    parts = np.repeat(np.arange(20), 50)
    found = neighbor_mixing(neighbors, parts % 2, parts, np.ones(1000), 2)
    assert found[0, 1] == pytest.approx(1, abs=0.25)
    assert np.isnan(found[0, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "`ensembles` must name the ensemble of each trajectory, as the data was not loaded as a dict"),
        ({"ensembles": ["a", "b"]}, "`ensembles` must hold one name for each trajectory; got 2 for 12"),
        ({"ensembles": ["a"] * 12}, "`ensembles` must name at least 2 ensembles; got only 'a'"),
        (
            {"ensembles": ["a", "b"] * 6, "temperature": {"a": 300}},
            "`temperature` must be a number, or name every ensemble, a, b; got a",
        ),
        ({"ensembles": ["a", "b"] * 6, "level": 0}, "`level` must be a finite number > 0"),
    ],
)
def test_bad_input(compared, options, message):
    with pytest.raises(mf.InputError, match=message):
        mf.compare_ensembles(compared[0], **options)


def test_neighbours_alone_have_no_ensembles():
    points = np.random.default_rng(0).normal(size=(300, 2)) + 6 * (np.arange(300) % 2)[:, None]
    result = mf.cluster(mf.euclidean_neighbors(points, n_neighbors=40), mf.Settings(n_states=2))
    with pytest.raises(mf.InputError, match="`result` must be of trajectories; got one of neighbours alone"):
        mf.compare_ensembles(result, ["a", "b"])


def test_tables_for_other_programs(compared, tmp_path):
    import csv

    fractions, differences = mf.exports.write_comparison(tmp_path, compared[1])
    rows = list(csv.DictReader(fractions.read_text().splitlines()))
    assert len(rows) == 4
    assert float(rows[0]["fraction"]) == compared[1].fractions[0, 0]
    assert [float(row["p"]) for row in csv.DictReader(differences.read_text().splitlines())] == list(
        compared[1].differences[0].p
    )

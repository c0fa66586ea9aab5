"""Scores against their definitions."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf
from mdfuzzy.memberships import scores


def fuzzy(n, clusters, labels, seed):
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.full(clusters, 0.4), size=n)
    return values, rng.integers(labels, size=n)


def by_trying_all(values, labels, epsilon):
    n = len(labels)
    best = -np.inf
    for mapping in product(np.unique(labels), repeat=values.shape[1]):
        right = np.array([values[i, np.array(mapping) == labels[i]].sum() for i in range(n)])
        best = max(best, np.log(epsilon + right).mean())
    return best


def test_rows_sum_to_1_up_to_rounding():
    assert mf.clustering_entropy([[1.0, 0.9e-6], [0.5, 0.5]]) < 0.0
    for score in (mf.clustering_entropy, lambda values: mf.entropic_purity(values, [0, 1])):
        with pytest.raises(ValueError, match=r"rows that sum to at most 1; .* largest sum of 1\.00005\."):
            score([[1.0, 5e-5], [0.5, 0.5]])
        with pytest.raises(ValueError, match=r"largest sum of 1\.000002\."):
            score([[1.0, 2e-6], [0.5, 0.5]])


def test_entropy_of_certain_uniform_and_lost_points():
    assert mf.clustering_entropy(np.eye(3)) == 0.0
    assert mf.clustering_entropy(np.full((5, 4), 0.25)) == pytest.approx(-np.log(4))
    assert mf.clustering_entropy([[0.0, 0.0], [0.5, 0.0]]) == pytest.approx(0.25 * np.log(0.5))


def test_purity_counts_the_commonest_label_of_each_cluster():
    assert mf.purity([0, 0, 0, 1, 1, 2], [7, 7, 8, 8, 8, 7]) == pytest.approx(5 / 6)
    assert mf.purity([0, 0, -1, -1], [1, 1, 1, 1]) == 0.5
    assert mf.purity([-1, -1], ["a", "b"]) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_entropic_purity_is_the_best_of_all_maps(seed):
    values, labels = fuzzy(60, 5, 3, seed)
    score = mf.entropic_purity(values, labels)
    assert score.exact
    assert score.value == pytest.approx(by_trying_all(values, labels, 1e-3), abs=1e-12)
    right = (values * (score.mapping[None] == labels[:, None])).sum(axis=1)
    assert score.value == pytest.approx(np.log(1e-3 + right).mean(), abs=1e-12)


def test_local_search_stays_below_and_mostly_finds_the_best(monkeypatch):
    cases = [fuzzy(80, 6, 3, seed) for seed in range(10)]
    exact = [mf.entropic_purity(*case).value for case in cases]
    monkeypatch.setattr(scores, "EXACT_CLUSTERS", 0)
    found = [mf.entropic_purity(*case) for case in cases]
    assert not any(score.exact for score in found)
    gaps = np.array(exact) - [score.value for score in found]
    assert gaps.min() > -1e-12
    assert np.count_nonzero(gaps < 1e-12) >= 7


def test_many_clusters_are_searched_and_say_so():
    values, labels = fuzzy(200, 15, 4, 0)
    score = mf.entropic_purity(values, labels, restarts=2)
    assert not score.exact
    right = (values * (score.mapping[None] == labels[:, None])).sum(axis=1)
    assert score.value == pytest.approx(np.log(1e-3 + right).mean(), abs=1e-9)


def test_fourteen_clusters_are_exact_and_hard_ones_give_the_purity():
    labels = np.arange(140) % 7
    score = mf.entropic_purity(np.eye(14)[np.arange(140) % 14], labels)
    assert score.exact
    assert score.value == pytest.approx(np.log(1.001))
    assert_array_equal(score.mapping, np.arange(14) % 7)


def test_order_of_clusters_does_not_matter():
    values, labels = fuzzy(60, 5, 3, 1)
    assert_allclose(
        mf.entropic_purity(values[:, ::-1], labels).value,
        mf.entropic_purity(values, labels).value,
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(3), r"`memberships` must be an \(n, K\) array.*got shape \(3,\)"),
        (np.zeros((0, 2)), r"`memberships` must be an \(n, K\) array"),
        ([[np.nan, 1.0]], "`memberships` must be finite"),
        ([[-0.1, 1.0]], "`memberships` must be at least 0.*smallest value of -0.1"),
        ([[0.9, 0.9]], "largest sum of 1.8"),
    ],
)
def test_bad_memberships(values, message):
    with pytest.raises(ValueError, match=message):
        mf.clustering_entropy(values)


def test_bad_labels_clusters_and_epsilon():
    with pytest.raises(
        ValueError, match=r"`labels` must have one entry per point, shape \(2,\); got shape \(3,\)"
    ):
        mf.entropic_purity(np.eye(2), [0, 1, 1])
    with pytest.raises(ValueError, match="`clusters` must be a 1-D array of ints"):
        mf.purity([0.5, 1.0], [0, 1])
    with pytest.raises(ValueError, match="`clusters` must be a 1-D array of ints of at least -1"):
        mf.purity([-2, 1], [0, 1])
    with pytest.raises(ValueError, match="`epsilon` must be a finite number > 0; got 0"):
        mf.entropic_purity(np.eye(2), [0, 1], epsilon=0)
    with pytest.raises(ValueError, match="`restarts` must be an int of at least 0"):
        mf.entropic_purity(np.eye(2), [0, 1], restarts=-1)

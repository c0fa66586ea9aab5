"""States at the limits of clipped features: never well determined, and the features are named."""

import warnings

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.states.clipping import doubt_clipped, limit_share


def clipped(share, d, seed, n=5000):
    points = np.random.default_rng(seed).normal(size=(n, d))
    return np.clip(points, *np.quantile(points, [share, 1 - share], axis=0))


def judged(points, **options):
    neighbors = mf.euclidean_neighbors(points, n_neighbors=2 * mf.suggest_k(len(points)))
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    tree = mf.build_state_tree(neighbors, graph, log_density, peaks)
    return tree, doubt_clipped(tree, neighbors, peaks, points, **options)


@pytest.mark.filterwarnings("ignore:The distance to measure")
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.2])
def test_states_that_clipping_makes_are_never_well_determined(share, d):
    wrong = 0
    for seed in range(3):
        _, tree = judged(clipped(share, d, seed))
        assert len(tree.states) == 1 or not tree.well_determined
        wrong += len(tree.states) > 1
    if (share, d) == (0.1, 2):
        assert wrong == 3, "the case exists"


def test_the_features_are_named():
    points = np.random.default_rng(0).normal(size=(4000, 2))
    points[:, 0] = np.minimum(points[:, 0], 1)
    plain, tree = judged(points, names=["distance", "angle"])
    assert plain.well_determined
    assert tree.clipped == ("distance (16 % of the frames have its largest value, 1)",)
    assert tree.doubts == (
        f"{tree.n_clipped} states may be due to clipping, at the limits of distance (16 % of the frames have "
        "its largest value, 1) (do not clip these features, or leave them out)",
    )
    assert judged(points, periods=[360.0, None])[1].clipped == (), "an angle has no limits"


def test_the_clustering_warns_of_clipping():
    points = np.random.default_rng(0).normal(size=(4000, 2)).clip(-9, [1, 9])
    data = mf.Features(points, names=["distance", "angle"])
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        result = mf.cluster(data)
    assert not result.tree.well_determined
    assert any(
        "poorly determined" in each and "at the limits of distance (16 % of the frames" in each
        for each in result.warnings
    )


def test_many_features_are_counted_not_listed():
    from dataclasses import replace

    tree = replace(judged(clipped(0.1, 2, 0))[0], clipped=tuple("abcdef"), n_clipped=1)
    (doubt,) = (each for each in tree.doubts if "clipping" in each)
    assert "1 state may be due to clipping, at the limits of a, b, c, d, ... (do" in doubt


def test_states_beside_limits_are_not_doubted():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3000, 2)) + 7 * np.repeat([0, 1, 2], 1000)[:, None]
    points = np.clip(points, -2, 16)  # the tails of the first and of the last state
    plain, tree = judged(points)
    assert len(tree.states) == 3
    assert tree.well_determined
    assert tree.clipped == plain.clipped == ()


def test_limits_are_told_from_the_ends_of_rounded_and_counted_values():
    rng = np.random.default_rng(0)
    options = {"largest": False, "least": 30}
    assert limit_share(rng.normal(size=5000), **options) is None
    assert limit_share(rng.exponential(size=5000).round(1), **options) is None
    assert limit_share(rng.integers(0, 5, size=5000).astype(float), **options) is None
    assert limit_share(np.ones(100), **options) is None, "a constant feature has no limits"
    assert limit_share(np.maximum(rng.normal(size=5000), 0), **options) == pytest.approx(0.5, abs=0.02)
    assert limit_share(np.maximum(rng.normal(size=50), 0), **options) is None, "fewer frames than neighbours"


def test_columns_of_other_frames_are_refused():
    points = clipped(0.01, 2, 0, n=500)
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    tree = mf.build_state_tree(neighbors, graph, log_density, peaks)
    for bad in (points[:-1], points[:, 0]):
        with pytest.raises(
            ValueError, match=r"`columns` must have one row per frame, shape \(500, features\); got shape"
        ):
            doubt_clipped(tree, neighbors, peaks, bad)

"""The scikit-learn estimator: scikit-learn's own checks, precomputed distances, new points."""

import pickle
import warnings
from dataclasses import fields
from inspect import signature
from typing import get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import mdfuzzy as mf


def blobs(n: int = 300, apart: float = 6.0, d: int = 2, seed: int = 0) -> np.ndarray:
    """Three Gaussians in a row, in random order."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + apart * rng.integers(3, size=(n, 1)) * np.eye(d)[0]


def failures(model: mf.FuzzyModeSeeking) -> dict[str, str]:
    """Return the checks of scikit-learn that the estimator fails, with the reasons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one state only, in many checks
        results = check_estimator(model, on_skip=None, on_fail=None)
    assert len(results) > 40
    return {each["check_name"]: str(each["exception"]) for each in results if each["status"] == "failed"}


def test_passes_the_checks_of_scikit_learn():
    assert failures(mf.FuzzyModeSeeking()) == {}


def test_passes_the_checks_for_distances():
    # These give features even to estimators that want distances.
    unfit = {"check_clustering", "check_estimator_sparse_array", "check_estimator_sparse_matrix"}
    assert set(failures(mf.FuzzyModeSeeking(metric="precomputed"))) <= unfit


def test_is_the_pipeline():
    points = blobs()
    model = mf.FuzzyModeSeeking(beta=1.0).fit(points)
    result = mf.cluster(points, mf.Settings(beta=1.0))
    assert_array_equal(model.memberships_, result.memberships.values)
    assert_array_equal(model.labels_, result.memberships.hard)
    assert_array_equal(model.cores_, result.cores.core_of)
    assert model.n_clusters_ == result.n_states == 3
    assert model.clustering_.chosen == result.chosen
    assert_array_equal(model.fit_predict(points), model.labels_)
    assert_array_equal(model.fit_transform(points), model.memberships_)


@pytest.mark.parametrize("d", [2, 20])
def test_fitted_points_get_their_own_memberships(d: int):
    points = blobs(d=d, apart=5.0)
    model = mf.FuzzyModeSeeking(prominence=0.5, beta=10.0).fit(points)
    assert model.n_clusters_ > 1
    assert_array_equal(model.predict_proba(points), model.memberships_)
    assert_array_equal(model.transform(points), model.memberships_)
    assert_array_equal(model.predict(points), model.labels_)


def test_new_points_get_the_memberships_of_their_neighbours():
    points = blobs(600)
    model = mf.FuzzyModeSeeking(beta=1.0).fit(points[:500])
    new = model.predict_proba(points[500:])
    assert new.shape == (100, 3)
    assert_allclose(new.sum(axis=1), 1.0, atol=1e-8)
    neighbors = mf.euclidean_neighbors(points[:500], n_neighbors=model.clustering_.k, queries=points[500:])
    expected = mf.extend_memberships(model.clustering_.memberships, neighbors)
    assert_array_equal(new, expected.values)
    assert_array_equal(model.predict(points[500:]), new.argmax(axis=1))


def test_distances_and_neighbour_graphs_give_the_same_as_points():
    points, new = blobs(300), blobs(40, seed=1)
    model = mf.FuzzyModeSeeking(k=10).fit(points)
    given = mf.FuzzyModeSeeking(k=10, metric="precomputed")
    full = clone(given).fit(pairwise_distances(points))
    assert_array_equal(full.clustering_.neighbors.indices, model.clustering_.neighbors.indices)
    assert_allclose(full.memberships_, model.memberships_, rtol=0, atol=1e-9)
    far = pairwise_distances(new, points)
    assert_allclose(full.predict_proba(far), model.predict_proba(new), rtol=0, atol=1e-9)

    graph = kneighbors_graph(points, 25, mode="distance", include_self=False)
    sparse = clone(given).fit(graph)
    assert_allclose(sparse.memberships_, model.memberships_, rtol=0, atol=1e-9)
    with_self = kneighbors_graph(points, 25, mode="distance", include_self=True)
    assert_array_equal(clone(given).fit(with_self).memberships_, sparse.memberships_)
    nearest = np.argsort(far, axis=1)[:, :12]
    rows = np.repeat(np.arange(len(new)), 12)
    near = csr_matrix((far[rows, nearest.ravel()], (rows, nearest.ravel())), shape=far.shape)
    assert_array_equal(sparse.predict_proba(near), full.predict_proba(far))


def test_ties_go_to_the_first():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    distances = pairwise_distances(grid)
    with pytest.warns(UserWarning, match="one state only"):
        model = mf.FuzzyModeSeeking(k=2, metric="precomputed", prominence=5.0).fit(distances)
    rows = [np.lexsort((np.arange(36), row)) for row in distances + np.diag(np.full(36, np.inf))]
    assert_array_equal(model.clustering_.neighbors.indices, np.array(rows)[:, :4])
    with pytest.warns(UserWarning, match="one state only"):
        again = clone(model).fit(csr_matrix(distances))
    assert_array_equal(again.clustering_.neighbors.indices, np.array(rows)[:, :4])


def test_k_adapts_to_the_neighbours_that_are_given():
    points = blobs(400)
    graph = kneighbors_graph(points, 12, mode="distance")
    model = mf.FuzzyModeSeeking(metric="precomputed").fit(graph)
    assert model.clustering_.k == 6
    with pytest.raises(ValueError, match=r"`k` must be an int in \[1, 6\]; got 7. .* there are 12"):
        mf.FuzzyModeSeeking(metric="precomputed", k=7).fit(graph)


def test_works_in_a_pipeline_with_clone_pickle_and_pandas():
    pandas = pytest.importorskip("pandas")
    points = blobs() * [1.0, 2.0]
    table = pandas.DataFrame(points, columns=["phi", "psi"])
    model = mf.FuzzyModeSeeking(k=15, prominence=0.3)
    chain = make_pipeline(StandardScaler(), clone(model)).set_output(transform="pandas")
    memberships = chain.fit_transform(table)
    assert list(memberships.columns) == [f"fuzzymodeseeking{state}" for state in range(chain[-1].n_clusters_)]
    assert_array_equal(chain.predict(table), chain[-1].labels_)
    model.fit(table)
    assert_array_equal(model.feature_names_in_, ["phi", "psi"])
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))


@pytest.mark.filterwarnings("ignore:There is one state only", "ignore:The number of states is poorly")
@pytest.mark.parametrize("n", [3, 4, 9])
def test_tiny_inputs(n: int):
    points = np.array([[0.0], [1.0], [10.0], [11.5], [30.0], [31.0], [33.0], [35.0], [36.0]])[:n]
    model = mf.FuzzyModeSeeking().fit(points)
    assert model.clustering_.k == {3: 1, 4: 1, 9: 4}[n]
    assert model.n_clusters_ == {3: 1, 4: 2, 9: 1}[n]  # pairs of mutual neighbours
    assert not model.clustering_.tree.well_determined
    assert_allclose(model.predict_proba([[5.0]]).sum(axis=1), [1.0], atol=1e-8)


@pytest.mark.parametrize(
    ("options", "X", "match"),
    [
        ({"k": 5}, blobs(10), r"`k` must be an int in \[1, 4\]; got 5"),
        ({"beta": -1.0}, blobs(10), r"`beta` must be a number > 0; got -1"),
        (
            {"metric": "cosine"},
            blobs(10),
            r"`metric` must be one of 'euclidean', 'precomputed'; got 'cosine'",
        ),
        ({}, blobs(2), r"Found array with 2 sample\(s\) .* while a minimum of 3 is required"),
        ({}, np.zeros((9, 2)), r"each has \d+ copies or more"),
        ({"metric": "precomputed"}, abs(blobs(10)), r"must form a square matrix, .*; got shape \(10, 2\)"),
        ({"metric": "precomputed"}, -np.ones((5, 5)), r"Negative values in data passed to"),
        (
            {"metric": "precomputed"},
            csr_matrix(np.eye(5)),
            r"`n_neighbors` must be an int of at least 2; got 0",
        ),
    ],
)
def test_bad_input(options: dict, X: object, match: str):
    with pytest.raises(ValueError, match=match):
        mf.FuzzyModeSeeking(**options).fit(X)


def test_bad_new_points():
    points = blobs(100)
    model = mf.FuzzyModeSeeking(metric="precomputed", k=8).fit(pairwise_distances(points))
    few = csr_matrix(([1.0], ([0], [3])), shape=(1, 100))
    with pytest.raises(ValueError, match=r"`neighbours in X` must be an int of at least 8; got 1. Give the"):
        model.predict(few)


def test_rows_have_no_order_in_time():
    with pytest.raises(
        ValueError, match=r"`beta` must be a number or 'entropy'; got 'kinetic'. That needs traj"
    ):
        mf.FuzzyModeSeeking(beta="kinetic").fit(blobs(100))


def test_parameters_are_those_of_the_settings():
    known = {each.name: each for each in fields(mf.Settings)}
    found = signature(mf.FuzzyModeSeeking).parameters
    hints, types = get_type_hints(mf.FuzzyModeSeeking.__init__), get_type_hints(mf.Settings)
    # Points in memory need no sample, and scans and trajectories are of no use to points without an order.
    unused = {"recall", "fit_frames", "scan_beta", "scan_k", "validate", "bootstrap", "seed"}
    assert set(known) - set(found) == unused
    assert set(found) - set(known) == {"metric"}
    text = " ".join(mf.FuzzyModeSeeking.__doc__.split())
    for name in set(known) & set(found):
        assert found[name].default == known[name].default
        assert hints[name] == types[name]
        assert f" {name} : " in text
        if name != "beta":  # not all that chooses it is of use without trajectories
            assert known[name].metadata["help"].replace("frame", "point") in text

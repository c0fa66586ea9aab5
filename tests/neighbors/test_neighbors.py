"""Neighbours of feature vectors, and neighbours found by other programs."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import mdfuzzy as mf
from mdfuzzy.neighbors import _euclidean


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(300, 4))


class TestEuclidean:
    def test_equals_all_pairs(self, points):
        found = mf.euclidean_neighbors(points, n_neighbors=20)
        matrix = cdist(points, points)
        np.fill_diagonal(matrix, np.inf)
        assert np.array_equal(found.indices, np.argsort(matrix, axis=1)[:, :20])
        np.testing.assert_allclose(found.distances, np.sort(matrix, axis=1)[:, :20], rtol=1e-6)

    def test_duplicates_are_neighbours_but_not_itself(self):
        found = mf.euclidean_neighbors(np.zeros((6, 2)), n_neighbors=5)
        assert np.array_equal(np.sort(found.indices, axis=1), [np.delete(np.arange(6), i) for i in range(6)])

    def test_equal_points_in_many_dimensions(self):
        points = np.random.default_rng(2).normal(size=(200, 30)) + 100
        found = mf.euclidean_neighbors(points, n_neighbors=3, queries=points[:50])
        assert np.array_equal(found.indices[:, 0], np.arange(50))
        assert found.distances[:, 0].max() == 0
        np.testing.assert_allclose(
            found.distances, np.sort(cdist(points[:50], points), axis=1)[:, :3], rtol=1e-6
        )

    def test_new_points(self, points):
        found = mf.euclidean_neighbors(points[:200], n_neighbors=7, queries=points[200:])
        assert found.n_targets == 200
        assert np.array_equal(found.indices, np.argsort(cdist(points[200:], points[:200]), axis=1)[:, :7])

    def test_periodic_angles(self):
        angles = np.random.default_rng(1).uniform(-180, 180, size=(200, 2))
        found = mf.euclidean_neighbors(mf.Features(angles, periodic=[0, 1]), n_neighbors=5)
        turn = angles[:, None] - angles[None]
        chord = 360 / np.pi * np.sin(np.radians(np.abs(turn)) / 2)
        matrix = np.sqrt(np.sum(chord**2, axis=2))
        np.fill_diagonal(matrix, np.inf)
        assert np.array_equal(found.indices, np.argsort(matrix, axis=1)[:, :5])
        shifted = mf.Features(angles + 360 * np.sign(angles), periodic=[0, 1])
        again = mf.euclidean_neighbors(shifted, n_neighbors=5)
        np.testing.assert_allclose(again.distances, found.distances, rtol=0, atol=1e-5)

    @pytest.mark.parametrize("shape", [(5,), (0, 2), (3, 0), (4, 3, 3)])
    def test_shape(self, shape):
        with pytest.raises(ValueError, match=r"`points` must be an array of shape \(points, dimensions\)"):
            mf.euclidean_neighbors(np.zeros(shape), n_neighbors=1)

    def test_number_of_neighbours(self, points):
        with pytest.raises(
            ValueError, match=r"`n_neighbors` must be an int in \[1, 299\]; got 300. There are 300"
        ):
            mf.euclidean_neighbors(points, n_neighbors=300)
        assert mf.euclidean_neighbors(points, n_neighbors=300, queries=points[:2]).k == 300

    def test_one_point(self):
        with pytest.raises(
            ValueError, match=r"`points` must hold at least 2 points to have neighbours; got 1"
        ):
            mf.euclidean_neighbors(np.zeros((1, 2)), n_neighbors=1)

    def test_not_finite(self, points):
        points[7, 1] = np.inf
        with pytest.raises(ValueError, match=r"`points` must be finite; got inf at index \(7, 1\)"):
            mf.euclidean_neighbors(points, n_neighbors=3)

    def test_other_features(self, points):
        with pytest.raises(
            ValueError, match=r"`queries` must have the features of `points`; got 2, expected 4"
        ):
            mf.euclidean_neighbors(points, n_neighbors=3, queries=points[:, :2])


def test_repr(points):
    neighbors = mf.euclidean_neighbors(points, n_neighbors=5)
    assert repr(neighbors) == "Neighbors(300 points, 5 neighbours each, exact)"
    assert repr(mf.neighbors_from((neighbors.indices, neighbors.distances))).endswith("recall unknown)")


@pytest.mark.parametrize(
    ("indices", "distances", "message"),
    [
        ([1, 0], [1.0, 1.0], r"must have the same shape \(points, neighbours\)"),
        ([[1], [0]], [[1.0, 2.0], [1.0, 2.0]], r"must have the same shape"),
        ([[1.0], [0.0]], [[1.0], [1.0]], r"`indices` must be integers; got float64"),
        ([[7], [0]], [[1.0], [1.0]], r"`indices` must be in \[0, 1\]; got 0 to 7. .*`n_targets`"),
        ([[-1], [0]], [[1.0], [1.0]], r"`indices` must be in \[0, 1\]; got -1 to 0"),
        ([[1], [0]], [[np.nan], [1.0]], r"`distances` must be finite in float32 and at least 0"),
        ([[1], [0]], [[1e300], [1.0]], r"`distances` must be finite in float32 and at least 0"),
        ([[1], [0]], [[-1.0], [1.0]], r"`distances` must be finite in float32 and at least 0; got -1"),
    ],
)
def test_neighbors_are_checked(indices, distances, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mf.Neighbors(indices, distances)


def test_far_from_the_origin():
    points = np.random.default_rng(0).normal(size=(100, 20))
    near, far = (mf.euclidean_neighbors(points + shift, n_neighbors=5) for shift in (0, 1e8))
    np.testing.assert_allclose(far.distances, near.distances, rtol=1e-6)


def far_clusters(apart: float, n: int = 600, dimensions: int = 20) -> np.ndarray:
    points = np.random.default_rng(0).normal(size=(n, dimensions))
    points[::3, 0] += apart
    points[1::3, 1] -= apart
    return points


class TestDigitsThatProductsLose:
    """Above 15 dimensions: clusters that are so far apart that |x|^2 has no digits left for distances."""

    @pytest.mark.parametrize("apart", [0.0, 1e5, 1e6, 1e7, 1e9])
    def test_equals_all_pairs(self, apart):
        points = far_clusters(apart)
        matrix = cdist(points, points)
        np.fill_diagonal(matrix, np.inf)
        found = mf.euclidean_neighbors(points, n_neighbors=30)
        assert np.array_equal(found.indices, np.argsort(matrix, axis=1)[:, :30])
        np.testing.assert_allclose(found.distances, np.sort(matrix, axis=1)[:, :30], rtol=1e-6)

    @pytest.mark.parametrize("apart", [0.0, 1e7])
    def test_new_points(self, apart):
        points = far_clusters(apart)
        found = mf.euclidean_neighbors(points[:500], n_neighbors=30, queries=points[500:])
        assert np.array_equal(found.indices, np.argsort(cdist(points[500:], points[:500]), axis=1)[:, :30])

    def test_copies(self):
        points = np.repeat(far_clusters(1e7, n=60), 15, axis=0)
        found = mf.euclidean_neighbors(points, n_neighbors=10)
        assert found.distances.max() == 0.0
        assert np.all(found.indices // 15 == np.arange(900)[:, None] // 15)
        assert not np.any(found.indices == np.arange(900)[:, None])
        assert np.all(np.diff(np.sort(found.indices, axis=1), axis=1) > 0)

    def test_strays(self):
        points = far_clusters(0.0)
        points[7] += 1e9
        points[9] -= 1e9
        matrix = cdist(points, points)
        np.fill_diagonal(matrix, np.inf)
        found = mf.euclidean_neighbors(points, n_neighbors=30)
        usual = np.delete(np.arange(600), [7, 9])  # from the strays, all others are as far to many digits
        assert np.array_equal(found.indices[usual], np.argsort(matrix, axis=1)[usual, :30])
        np.testing.assert_allclose(found.distances, np.sort(matrix, axis=1)[:, :30], rtol=1e-6)

    def test_a_grid_full_of_equal_distances(self):
        grid = np.random.default_rng(0).integers(0, 3, size=(900, 16)) + 1000.0
        matrix = cdist(grid, grid, "sqeuclidean")
        np.fill_diagonal(matrix, np.inf)
        found = mf.euclidean_neighbors(grid, n_neighbors=20)
        # of equally near points the first are nearer
        assert np.array_equal(found.indices, np.argsort(matrix, axis=1, kind="stable")[:, :20])


class TestEngine:
    """Sizes, shapes and scales; threads, stores, a progress bar."""

    @pytest.mark.parametrize("dimensions", [1, 2, 4, 5, 63, 64, 65, 300])
    @pytest.mark.parametrize("n", [2, 65, 700])
    def test_any_dimensions(self, n, dimensions):
        random = np.random.default_rng(dimensions)
        points = random.normal(size=(n, dimensions)) * 0.9 ** np.arange(dimensions)
        matrix = cdist(points, points)
        np.fill_diagonal(matrix, np.inf)
        for k in {1, min(30, n - 1), n - 1}:
            found = mf.euclidean_neighbors(points, n_neighbors=k)
            assert np.array_equal(found.indices, np.argsort(matrix, axis=1)[:, :k])
            np.testing.assert_allclose(found.distances, np.sort(matrix, axis=1)[:, :k], rtol=1e-6)

    @pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e28])
    def test_any_scale(self, points, scale):
        plain = mf.euclidean_neighbors(points, n_neighbors=9)
        assert np.array_equal(mf.euclidean_neighbors(points * scale, n_neighbors=9).indices, plain.indices)

    def test_a_line_in_many_dimensions(self):
        points = np.linspace(0, 1, 500)[:, None] * np.ones(40)
        found = mf.euclidean_neighbors(points, n_neighbors=2)
        assert np.array_equal(np.sort(found.indices[1:-1], axis=1)[:, 0], np.arange(498))

    def test_single_precision_is_taken_as_it_is(self, points):
        single = points.astype(np.float32)
        found = mf.euclidean_neighbors(single, n_neighbors=9)
        exact = mf.euclidean_neighbors(single.astype(float), n_neighbors=9)
        assert np.array_equal(found.distances, exact.distances)

    def test_the_bits_of_one_thread_are_those_of_two(self):
        points = np.random.default_rng(1).normal(size=(3000, 12))
        one, two = (mf.euclidean_neighbors(points, n_neighbors=40, n_jobs=n_jobs) for n_jobs in (1, 2))
        assert one.indices.tobytes() == two.indices.tobytes()
        assert one.distances.tobytes() == two.distances.tobytes()

    def test_order_does_not_matter(self):
        points = np.random.default_rng(2).normal(size=(800, 6))
        shuffled = np.random.default_rng(3).permutation(800)
        plain = mf.euclidean_neighbors(points, n_neighbors=10)
        again = mf.euclidean_neighbors(points[shuffled], n_neighbors=10)
        assert np.array_equal(shuffled[again.indices], plain.indices[shuffled])
        assert np.array_equal(again.distances, plain.distances[shuffled])

    def test_finished_blocks_are_kept_and_used(self, points, monkeypatch):
        class Kept(dict):
            def put(self, name, **arrays):
                self[name] = arrays

        monkeypatch.setattr(_euclidean, "BLOCK", 1)
        store = Kept()
        plain = mf.euclidean_neighbors(points, n_neighbors=5, store=store)
        assert sorted(store) == [f"neighbors-5-1-{i:05d}" for i in range(5)]
        del store["neighbors-5-1-00002"]
        store["neighbors-5-1-00001"]["distances"][:] = 7
        again = mf.euclidean_neighbors(points, n_neighbors=5, store=store)
        kept = np.all(again.distances == 7, axis=1)
        assert kept.sum() == 64
        assert np.array_equal(again.indices, plain.indices)
        assert np.array_equal(again.distances[~kept], plain.distances[~kept])

    def test_estimate_and_progress(self, points, capfd, caplog):
        with caplog.at_level("INFO", logger="mdfuzzy"):
            mf.euclidean_neighbors(points, n_neighbors=5, progress=True)
        assert any(message.startswith("neighbours of 300 points: about") for message in caplog.messages)
        assert "300/300" in capfd.readouterr().err

    @pytest.mark.parametrize("recall", [0, -1, 1.5])
    def test_recall(self, points, recall):
        with pytest.raises(ValueError, match=r"`recall` must be .*1 asks for the exact neighbours"):
            mf.euclidean_neighbors(points, n_neighbors=5, recall=recall)


class TestPrecomputed:
    def test_from_scikit_learn(self, points):
        from sklearn.neighbors import NearestNeighbors

        true = mf.euclidean_neighbors(points, n_neighbors=6)
        search = NearestNeighbors(n_neighbors=7).fit(points)
        distances, indices = search.kneighbors(points)  # each point is its own first neighbour
        for given in ((indices, distances), search.kneighbors_graph(mode="distance")):
            found = mf.neighbors_from(given)
            assert np.array_equal(found.indices[:, :6], true.indices)
            np.testing.assert_allclose(found.distances[:, :6], true.distances, rtol=1e-6)
            assert not found.exact

    def test_rows_are_sorted(self):
        found = mf.neighbors_from(([[2, 1], [0, 2], [1, 0]], [[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]]))
        assert found.indices.tolist() == [[1, 2], [0, 2], [1, 0]]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (7, r"`precomputed` must be \(indices, distances\) or a sparse matrix; got int"),
            (([[1], [0]], [[1.0, 2.0], [1.0, 2.0]]), r"same shape \(n, k\); got \(2, 1\)"),
            (([[1.0], [0.0]], [[1.0], [1.0]]), r"integer indices"),
            (([[1], [2]], [[1.0], [1.0]]), r"indices in \[0, 1\]; got 1 to 2"),
            (([[1], [0]], [[-1.0], [1.0]]), r"distances of at least 0; got -1"),
            (([[1], [0]], [[np.nan], [1.0]]), r"`precomputed` must be finite"),
            (([[0, 1], [0, 2], [0, 1]], np.ones((3, 2))), r"once, or none"),
            (([[0], [1]], [[0.0], [0.0]]), r"at least 1 neighbour other than the point itself"),
            (([[1, 1], [0, 2], [0, 1]], np.ones((3, 2))), r"twice in row 0"),
            (
                csr_array([[0, 1.0, 1], [1, 0, 0], [0, 1, 0]]),
                r"same number of neighbours in every row; .*with \[1, 2\] entries",
            ),
            (csr_array((2, 3)), r"must be square"),
        ],
    )
    def test_refused(self, given, message):
        with pytest.raises((ValueError, TypeError), match=message):
            mf.neighbors_from(given)


def test_precomputed_entries_that_would_be_added_up_and_distances_that_are_not_real():
    from scipy.sparse import coo_array

    twice = coo_array(([1.0, 1.0, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    with pytest.raises(ValueError, match="`precomputed` must list a neighbour once; got 1 twice"):
        mf.neighbors_from(twice)
    with pytest.raises(ValueError, match=r"integer indices and real distances .* of complex128"):
        mf.neighbors_from(([[1], [0]], [[1j], [1j]]))

"""Graphs: the container's rules, and the union and directed graphs made of neighbour lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference.graph import compressed, directed_rows, union_rows

import mdfuzzy as mf
from mdfuzzy._kernels import graph as kernels
from mdfuzzy._threads import using_threads
from mdfuzzy.neighbors.graph import reverse_lists


def assert_rows(graph: mf.Graph, expected: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Compare the three arrays bit by bit."""
    for name, array in zip(("indptr", "indices", "distances"), expected, strict=True):
        np.testing.assert_array_equal(getattr(graph, name), array, err_msg=name, strict=True)


@st.composite
def neighbor_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Distinct neighbours other than the point itself, and ascending distances with many ties and zeros.

    The two ends of an edge may see different distances, as they do in the last bit of real ones.
    """
    n = draw(st.integers(2, 12))
    k = draw(st.integers(1, n - 1))
    rows = [
        draw(st.permutations([j for j in range(n) if j != i]).map(lambda order: order[:k])) for i in range(n)
    ]
    lengths = draw(hnp.arrays(np.float32, (n, k), elements=st.sampled_from([0, 0.1, 0.2, 0.3, 1.0])))
    return np.array(rows, np.int32), np.sort(lengths, axis=1)


@pytest.fixture(scope="module")
def cloud() -> mf.Neighbors:
    """Five hundred points in the plane and their 12 nearest."""
    return mf.euclidean_neighbors(np.random.default_rng(5).normal(size=(500, 2)), n_neighbors=12)


# --- analytic answers


def test_union_on_a_line():
    # 0 and 1 are each other's nearest; 3's is 1 and 7's is 3, which are joined from one end only.
    neighbors = mf.euclidean_neighbors(np.array([[0.0], [1.0], [3.0], [7.0]]), n_neighbors=2)
    graph = neighbors.graph(k=1)
    assert_rows(
        graph,
        (
            np.array([0, 1, 3, 5, 6]),
            np.array([1, 0, 2, 1, 3, 2], np.int32),
            np.array([1, 1, 2, 2, 4, 4], np.float32),
        ),
    )
    assert (graph.kind, graph.k, graph.radius, graph.n_targets) == ("union", 1, None, 4)
    assert graph.symmetric
    np.testing.assert_array_equal(graph.degrees, [1, 2, 2, 1])


def test_directed_on_a_line():
    neighbors = mf.euclidean_neighbors(np.array([[0.0], [1.0], [3.0], [7.0]]), n_neighbors=2)
    graph = neighbors.graph(kind="directed")
    assert_rows(graph, (np.arange(5), np.array([1, 0, 1, 2], np.int32), np.array([1, 1, 2, 4], np.float32)))
    assert not graph.symmetric


def test_an_edge_seen_from_both_ends_has_the_smaller_length():
    neighbors = mf.Neighbors([[1], [0]], [[0.5], [0.25]])
    np.testing.assert_array_equal(neighbors.graph(k=1).distances, np.array([0.25, 0.25], np.float32))


def test_identical_points_keep_their_edges_of_length_zero():
    graph = mf.euclidean_neighbors(np.zeros((4, 2)), n_neighbors=3).graph(k=3)
    np.testing.assert_array_equal(graph.degrees, [3, 3, 3, 3])
    np.testing.assert_array_equal(graph.distances, np.zeros(12, np.float32))


# --- the slow twin


@settings(max_examples=200, deadline=None)
@given(neighbor_lists())
def test_union_equals_its_twin(lists):
    assert_rows(mf.Neighbors(*lists).graph(lists[0].shape[1]), compressed(union_rows(*lists)))


@settings(max_examples=100, deadline=None)
@given(neighbor_lists(), st.data())
def test_directed_equals_its_twin(lists, data):
    k = data.draw(st.integers(1, lists[0].shape[1]))
    expected = compressed(directed_rows(lists[0][:, :k], lists[1][:, :k]))
    assert_rows(mf.Neighbors(*lists).graph(k, kind="directed"), expected)


def assert_reversed_equals_its_twin(indices, distances):
    n = len(indices)
    rows = [{} for _ in range(n)]
    for i, row in enumerate(directed_rows(indices, distances)):
        for j, d in row.items():
            rows[j][i] = d
    for got, expected in zip(
        reverse_lists(indices, distances, indices.shape[1]), compressed(rows), strict=True
    ):
        np.testing.assert_array_equal(got, expected, strict=True)


@settings(max_examples=50, deadline=None)
@given(neighbor_lists())
def test_reversed_edges_equal_their_twin(lists):
    assert_reversed_equals_its_twin(*lists)


@pytest.mark.parametrize("n", kernels.BUCKET + np.array([-1, 0, 1, kernels.BUCKET + 99]))
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_reversed_edges_of_several_buckets(n, n_jobs):
    rng = np.random.default_rng(0)
    indices = ((np.arange(n)[:, None] + rng.integers(1, n, (n, 1)) + np.arange(3) * 7) % n).astype(np.int32)
    distances = rng.random(indices.shape).astype(np.float32)
    with using_threads(n_jobs):
        assert_reversed_equals_its_twin(indices, distances)


# --- a peer


def test_union_equals_scipy(cloud):
    from scipy.sparse import csr_array

    n, k = len(cloud), 6
    rows = np.repeat(np.arange(n), k)
    directed = csr_array((cloud.distances[:, :k].ravel(), (rows, cloud.indices[:, :k].ravel())), shape=(n, n))
    union = directed.maximum(directed.T).tocsr()
    union.sort_indices()
    graph = cloud.graph(k)
    np.testing.assert_array_equal(graph.indptr, union.indptr)
    np.testing.assert_array_equal(graph.indices, union.indices)
    np.testing.assert_allclose(graph.distances, union.data, rtol=2e-7)


# --- invariants


def test_union_is_symmetric_to_the_last_bit(cloud):
    graph = cloud.graph()
    edges = {(i, int(j)): d for i in range(len(graph)) for j, d in zip(*graph.edges(i), strict=True)}
    assert len(edges) == len(graph.indices)
    assert all(edges[j, i] == d for (i, j), d in edges.items())
    assert all(i != j for i, j in edges)


@pytest.mark.parametrize("kind", ["union", "directed"])
def test_same_bits_for_any_number_of_threads(cloud, kind):
    graphs = []
    for threads in (1, 2):
        with using_threads(threads):
            graphs.append(cloud.graph(kind=kind))
    assert_rows(graphs[0], (graphs[1].indptr, graphs[1].indices, graphs[1].distances))


def test_half_of_the_neighbours_by_default(cloud):
    assert cloud.graph().k == 6
    assert mf.Neighbors([[1], [0]], [[1], [1]]).graph().k == 1


def test_neighbours_are_left_alone(cloud):
    before = cloud.indices.copy(), cloud.distances.copy()
    cloud.graph(3)
    np.testing.assert_array_equal(cloud.indices, before[0])
    np.testing.assert_array_equal(cloud.distances, before[1])


@pytest.mark.parametrize("kind", ["union", "directed"])
def test_new_points_lead_to_fitted_ones(kind):
    # Two new points among five fitted ones: nothing leads back, so the graph is directed.
    neighbors = mf.Neighbors([[4, 0], [2, 3]], [[0.1, 0.2], [0.3, 0.4]], n_targets=5)
    graph = neighbors.graph(2, kind=kind)
    assert_rows(
        graph,
        (np.array([0, 2, 4]), np.array([0, 4, 2, 3], np.int32), np.array([0.2, 0.1, 0.3, 0.4], np.float32)),
    )
    assert graph.kind == "directed"
    assert graph.n_targets == 5
    assert not graph.symmetric


# --- the container


def test_arrays_have_their_dtypes_and_cannot_be_written():
    graph = mf.Graph([0, 1, 2], [1, 0], [0.5, 0.5], kind="radius", n_targets=2, radius=1.0)
    assert [graph.indptr.dtype, graph.indices.dtype, graph.distances.dtype] == [
        np.int64,
        np.int32,
        np.float32,
    ]
    for array in (graph.indptr, graph.indices, graph.distances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_description():
    assert repr(mf.Graph([0, 1, 2], [1, 0], [1, 1], kind="radius", n_targets=2, radius=0.05)) == (
        "Graph(radius, 2 points, 2 edges, radius=0.05)"
    )
    assert (
        repr(mf.Graph([0, 1, 2], [1, 0], [1, 1], kind="union", n_targets=2, k=1))
        == "Graph(union, 2 points, 2 edges, k=1)"
    )


def test_edges_of_a_point():
    graph = mf.Graph([0, 2, 2, 3], [1, 2, 0], [0.1, 0.2, 0.2], kind="directed", n_targets=3, k=2)
    assert len(graph) == 3
    indices, distances = graph.edges(0)
    np.testing.assert_array_equal(indices, [1, 2])
    np.testing.assert_array_equal(distances, np.array([0.1, 0.2], np.float32))
    assert len(graph.edges(1)[0]) == 0


def test_a_graph_may_have_no_edges():
    assert len(mf.Graph([0, 0, 0], [], [], kind="radius", n_targets=2, radius=0.1)) == 2


@pytest.mark.parametrize("indptr", [[1, 1, 2], [0, 1, 3], [0, 3, 2], [0, 2, 1]])
def test_rows_that_do_not_fit(indptr):
    with pytest.raises(ValueError, match=r"^`indptr` must ascend from 0 to the number of edges \(2\)\.$"):
        mf.Graph(indptr, [1, 0], [1, 1], kind="union", n_targets=2, k=1)


def test_a_length_is_missing():
    with pytest.raises(ValueError, match=r"^`distances` must hold one length per edge; got 1 for 2\.$"):
        mf.Graph([0, 1, 2], [1, 0], [1], kind="union", n_targets=2, k=1)


@pytest.mark.parametrize("indices", [[1, 2], [-1, 0]])
def test_an_edge_to_nowhere(indices):
    with pytest.raises(ValueError, match=r"^`indices` must be in \[0, 1\]\.$"):
        mf.Graph([0, 1, 2], indices, [1, 1], kind="union", n_targets=2, k=1)


# --- bad arguments


@pytest.mark.parametrize(("k", "kind"), [(0, ValueError), (13, ValueError), (2.0, TypeError)])
def test_more_neighbours_than_there_are(cloud, k, kind):
    message = (
        r"^`k` must be an int in \[1, 12\]; got .*\. These neighbours were searched with n_neighbors=12\.$"
    )
    with pytest.raises(kind, match=message):
        cloud.graph(k)


def test_unknown_kind(cloud):
    with pytest.raises(ValueError, match=r"^`kind` must be one of 'union', 'directed'; got 'mutual'\.$"):
        cloud.graph(kind="mutual")


def test_an_edge_to_itself():
    with pytest.raises(ValueError, match=r"`indices` must not lead from a point to itself; got .* point 1"):
        mf.Graph([0, 1, 3, 4], [1, 1, 2, 1], np.ones(4), kind="union", n_targets=3, k=1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_a_length_that_is_none(bad):
    with pytest.raises(ValueError, match="`distances` must be finite and at least 0; got"):
        mf.Graph([0, 1, 2], [1, 0], [1.0, bad], kind="union", n_targets=2, k=1)


def test_a_kind_that_does_not_exist():
    with pytest.raises(ValueError, match="`kind` must be one of 'union', 'directed', 'radius'; got 'mutual'"):
        mf.Graph([0, 1, 2], [1, 0], [1.0, 1.0], kind="mutual", n_targets=2, k=1)


def test_no_rows():
    with pytest.raises(ValueError, match="`indptr` must have one entry more than there are points"):
        mf.Graph([0], [], [], kind="union", n_targets=1, k=1)


@pytest.mark.parametrize("indices", [[2, 1, 0, 0], [1, 1, 0, 0]])
def test_rows_that_do_not_ascend(indices):
    with pytest.raises(
        ValueError, match=r"`indices` must ascend within each row, .* got other ones in row 0"
    ):
        mf.Graph([0, 2, 3, 4], indices, np.ones(4), kind="union", n_targets=3, k=1)


@pytest.mark.parametrize("kind", ["union", "radius"])
def test_a_direction_is_missing(kind):
    rows = [0, 1, 2, 2], [1, 0], np.ones(2)
    assert mf.Graph(*rows, kind=kind, n_targets=3, k=1, radius=1.0).symmetric
    one_way = [0, 1, 2, 3], [1, 0, 1], np.ones(3)
    message = rf"every edge in both directions if `kind` is '{kind}'; got 1 edges from and 2 to point 1"
    with pytest.raises(ValueError, match=message):
        mf.Graph(*one_way, kind=kind, n_targets=3, k=1, radius=1.0)
    assert not mf.Graph(*one_way, kind="directed", n_targets=3, k=1).symmetric
    assert not mf.Graph(
        *one_way, kind=kind, n_targets=4, k=1, radius=1.0
    ).symmetric  # of new points to fitted ones


def test_what_made_the_graph_is_missing():
    for kind in ("union", "directed"):
        with pytest.raises(TypeError, match=r"`k` must be an int of at least 1; got None\. It is the number"):
            mf.Graph([0, 1, 2], [1, 0], [1.0, 1.0], kind=kind, n_targets=2)
    with pytest.raises(
        TypeError, match=r"`radius` must be a finite number > 0; got None\. It is the largest"
    ):
        mf.Graph([0, 1, 2], [1, 0], [1.0, 1.0], kind="radius", n_targets=2)


def test_arrays_and_numbers_of_another_type():
    with pytest.raises(TypeError, match=r"`indices` must be integers; got float64"):
        mf.Graph([0, 1, 2], [1.5, 0], [1.0, 1.0], kind="union", n_targets=2, k=1)
    with pytest.raises(TypeError, match=r"`distances` must be numbers; got <U1"):
        mf.Graph([0, 1, 2], [1, 0], ["a", "b"], kind="union", n_targets=2, k=1)
    with pytest.raises(TypeError, match=r"`n_targets` must be an int of at least 1; got '2'"):
        mf.Graph([0, 1, 2], [1, 0], [1.0, 1.0], kind="union", n_targets="2", k=1)


@pytest.mark.parametrize("graph", [None, np.eye(3), "union"])
def test_something_else_in_place_of_a_graph(graph):
    for step in (mf.compute_persistence, lambda g, f: mf.find_cores(g, f, None, min_prominence=1.0)):
        with pytest.raises(TypeError, match=r"`graph` must be `Graph`; got .*`Neighbors.graph`"):
            step(graph, np.zeros(3))

"""Memberships and their solver: what must hold for every graph, density, kernel and beta."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference.walk import dense_walk

import mdfuzzy as mf

#: Far above what the solve promises (1e-11 of a membership), far below what a wrong step would do.
CLOSE = 1e-8

each_walk = settings(deadline=None, max_examples=60)


@dataclass(frozen=True)
class Walk:
    """All that `solve_memberships` takes."""

    graph: mf.Graph
    log_density: np.ndarray
    core_of: np.ndarray
    beta: float
    bandwidth: float | None

    @property
    def n_states(self):
        return int(self.core_of.max()) + 1

    def solve(self):
        """Return the memberships, (n, K + 1); the last column is what is lost."""
        peaks = [np.argmax(self.core_of == c) for c in range(self.n_states)]
        cores = mf.Cores(np.zeros(len(self.graph)), self.core_of, np.array(peaks), np.ones(self.n_states))
        options = {} if self.bandwidth is None else {"kernel": "gaussian", "bandwidth": self.bandwidth}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* points have no path to any core")
            found = mf.solve_memberships(self.graph, self.log_density, cores, beta=self.beta, **options)
        return np.column_stack([found.values, found.lost])

    def probabilities(self):
        """Return the slow twin's transition probabilities, (n, n)."""
        graph = self.graph
        logs = (1 / self.beta - 1) * self.log_density[graph.indices]
        if self.bandwidth is not None:
            logs = logs - graph.distances.astype(float) ** 2 / (2 * self.bandwidth**2)
        return dense_walk(graph.indptr, graph.indices, logs)


def graph_from(lengths, kind):
    """Return the graph whose edges are the positive entries of a matrix of lengths."""
    rows, indices = np.nonzero(lengths)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(lengths)))])
    size = {"radius": 1.0} if kind == "radius" else {"k": 1}
    return mf.Graph(indptr, indices, lengths[rows, indices], kind=kind, n_targets=len(lengths), **size)


def random_lengths(random, n, kind, k, pieces=1):
    """Lengths of edges between n points, 0 for none: from each to k others, and back if not directed.

    No edge leads from one piece to another; or, if directed, none leads back.
    """
    lengths = random.uniform(0.1, 1.0, (n, n))
    piece = np.arange(n) // 2 % pieces  # of two points at least
    closed = piece[:, None] > piece if kind == "directed" else piece[:, None] != piece
    lengths[closed | np.eye(n, dtype=bool)] = 2.0
    farthest = np.sort(lengths, axis=1)[:, [min(k, n - 1) - 1]]
    lengths[(lengths > farthest) | (lengths == 2.0)] = 0.0
    return np.maximum(lengths, lengths.T) if kind == "radius" else lengths


@st.composite
def walks(draw):
    """Walks on graphs in one or several pieces, of which some may have no core, with two to four cores."""
    kind = draw(st.sampled_from(["radius", "directed"]))
    n_states = draw(st.integers(2, 4))
    n = draw(st.one_of(st.integers(n_states, 12), st.integers(13, 200 if kind == "radius" else 40)))
    k = draw(st.integers(1, 5) if kind == "radius" else st.integers(4, 8))
    pieces = draw(st.integers(1, min(4, n // 2)))
    beta = draw(st.sampled_from([0.5, 1.0, 2.0, 10.0, np.inf, 0.25]))
    bandwidth = draw(st.sampled_from([None, 0.3, 2.0]))
    # Many one-way edges at random with a rough density are traps within traps, which the solver gives up on.
    height = draw(st.sampled_from([0.0, 1.0, 5.0] if kind == "radius" else [0.0, 1.0]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    core_of = np.full(n, -1)
    size = n_states + int(random.integers(0, (n - n_states) // 4 + 1))
    core_of[random.permutation(n)[:size]] = np.arange(size) % n_states
    graph = graph_from(random_lengths(random, n, kind, k, pieces), kind)
    return Walk(graph, height * random.normal(size=n), core_of, beta, bandwidth)


@st.composite
def mirrored_walks(draw):
    """Walks on a graph that equals its mirror image, with a core on either side; and the points between."""
    half, middle = draw(st.integers(2, 60)), draw(st.integers(1, 6))
    beta = draw(st.sampled_from([0.5, 1.0, 2.0, np.inf]))
    bandwidth = draw(st.sampled_from([None, 0.5]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    left, between = np.arange(half), np.arange(2 * half, 2 * half + middle)
    right = left + half
    lengths = np.zeros((2 * half + middle, 2 * half + middle))
    inside = random_lengths(random, half, "radius", 3)
    steps = np.arange(half - 1)
    inside[steps, steps + 1] = inside[steps + 1, steps] = 0.5  # in one piece
    lengths[np.ix_(left, left)] = lengths[np.ix_(right, right)] = inside
    for point in between:
        ends = random.permutation(half)[: random.integers(1, 3)]
        length = random.uniform(0.1, 1.0, len(ends))
        for side in (left, right):
            lengths[point, side[ends]] = lengths[side[ends], point] = length
    density = 2 * random.normal(size=half)
    core_of = np.full(len(lengths), -1)
    peak = int(random.integers(half))
    core_of[left[peak]], core_of[right[peak]] = 0, 1
    log_density = np.concatenate([density, density, 2 * random.normal(size=middle)])
    walk = Walk(graph_from(lengths, "radius"), log_density, core_of, beta, bandwidth)
    return walk, left, right, between


@each_walk
@given(walks())
def test_rows_sum_to_one_with_what_is_lost(walk):
    values = walk.solve()
    assert_allclose(values.sum(axis=1), 1.0, rtol=0, atol=CLOSE)
    inside = walk.core_of >= 0
    assert_allclose(values[inside], np.eye(walk.n_states + 1)[walk.core_of[inside]], rtol=0, atol=0)


@each_walk
@given(walks())
def test_a_free_point_has_the_mean_of_where_it_steps_to(walk):
    values = walk.solve()
    free = (walk.core_of < 0) & (values[:, -1] < 1)  # lost points have no way to anywhere
    assert_allclose(values[free], (walk.probabilities() @ values)[free], rtol=0, atol=CLOSE)


@each_walk
@given(walks())
def test_no_free_point_exceeds_its_neighbours(walk):
    values = walk.solve()
    for i in np.flatnonzero((walk.core_of < 0) & (values[:, -1] < 1)):
        around = values[walk.graph.edges(i)[0]]
        assert np.all(values[i] <= around.max(axis=0) + CLOSE)
        assert np.all(values[i] >= around.min(axis=0) - CLOSE)


@each_walk
@given(walks(), st.integers(0, 2**32 - 1))
def test_permuting_points_and_states_permutes_the_memberships(walk, seed):
    random = np.random.default_rng(seed)
    order, states = random.permutation(len(walk.graph)), random.permutation(walk.n_states)
    rank = np.append(states, -1)  # -1 stays -1
    lengths = np.zeros((len(order), len(order)))
    rows = np.repeat(np.arange(len(order)), walk.graph.degrees)
    lengths[rows, walk.graph.indices] = walk.graph.distances
    shuffled = replace(
        walk,
        graph=graph_from(lengths[np.ix_(order, order)], walk.graph.kind),
        log_density=walk.log_density[order],
        core_of=rank[walk.core_of[order]],
    )
    columns = np.append(states, walk.n_states)
    assert_allclose(shuffled.solve()[:, columns], walk.solve()[order], rtol=0, atol=CLOSE)


@each_walk
@given(walks(), st.floats(-1000, 1000))
def test_a_constant_factor_of_the_density_changes_nothing(walk, constant):
    denser = replace(walk, log_density=walk.log_density + constant)
    assert_allclose(denser.solve(), walk.solve(), rtol=0, atol=CLOSE)


@each_walk
@given(mirrored_walks())
def test_a_point_between_two_equal_peaks_belongs_to_both_alike(mirrored):
    walk, left, right, between = mirrored
    values = walk.solve()
    assert_allclose(values[between], [[0.5, 0.5, 0.0]] * len(between), rtol=0, atol=CLOSE)
    assert_allclose(values[left], values[right][:, [1, 0, 2]], rtol=0, atol=CLOSE)

"""Neighbours under minimum RMSD: the kernels, the bound, the search, and what it refuses."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.rmsd import all_rmsds, rmsd, superpose

import mdfuzzy as mf
from mdfuzzy._kernels.search import candidates, knn, screen
from mdfuzzy._kernels.search.cells import AXES, two_smallest
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.leaves import principal_axes
from mdfuzzy._kernels.search.order import compact_order
from mdfuzzy._kernels.search.rmsd import squared_distance, squared_distances
from mdfuzzy.neighbors._index import build_index

TIE = 1e-6  # nm


def centred(xyz: np.ndarray) -> np.ndarray:
    xyz = np.asarray(xyz, np.float64)
    return (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)


def rotations(n: int, seed: int) -> np.ndarray:
    """Return n proper rotations."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, 3, 3)))
    q = q * np.sign(np.einsum("nii->ni", r))[:, None, :]
    return q * np.sign(np.linalg.det(q))[:, None, None]


def wiggled(n: int, atoms: int, seed: int, amplitude: float = 0.02) -> np.ndarray:
    """Return frames that wiggle about four random shapes, each frame turned at random."""
    random = np.random.default_rng(seed)
    shapes = random.normal(size=(4, atoms, 3)) * 0.2
    xyz = shapes[random.integers(4, size=n)] + amplitude * random.normal(size=(n, atoms, 3))
    return centred(np.einsum("nij,naj->nai", rotations(n, seed), xyz))


def exact(x: np.ndarray, y: np.ndarray) -> float:
    """Return the RMSD of two frames as the kernel for one pair gives it."""
    x, y = (np.ascontiguousarray(frame, np.float32).reshape(-1) for frame in (x, y))
    norms = float(np.sum(x.astype(float) ** 2) + np.sum(y.astype(float) ** 2))
    return float(np.sqrt(squared_distance(x, y, norms) * 3 / len(x)))


def assert_neighbors(found: mf.Neighbors, distances: np.ndarray) -> None:
    """Check neighbours against the matrix of all distances: as sets, up to ties."""
    k = found.k
    sorted_true = np.sort(distances, axis=1)[:, :k]
    np.testing.assert_allclose(found.distances, sorted_true, rtol=0, atol=TIE)
    claimed = np.take_along_axis(distances, found.indices.astype(np.int64), axis=1)
    np.testing.assert_allclose(claimed, found.distances, rtol=0, atol=TIE)
    assert all(len(set(row)) == k for row in found.indices.tolist())
    assert np.all(np.diff(found.distances, axis=1) >= 0)


@pytest.fixture(scope="module")
def peptide() -> mf.Frames:
    return mf.datasets.alanine_dipeptide(stride=24)


@pytest.fixture(scope="module")
def peptide_rmsds(peptide) -> np.ndarray:
    """All RMSDs of the peptide's frames, with themselves left out."""
    matrix = all_rmsds(peptide.xyz, peptide.xyz)
    np.fill_diagonal(matrix, np.inf)
    return matrix


class TestKernel:
    @pytest.mark.parametrize("atoms", [3, 4, 5, 10, 31, 33, 200, 2000])
    def test_equals_kabsch(self, atoms):
        random = np.random.default_rng(atoms)
        x = centred(random.normal(size=(8, atoms, 3)))
        x[4:] = centred(x[:4] + 0.01 * random.normal(size=(4, atoms, 3)))
        for a in x:
            for b in x:
                assert exact(a, b) == pytest.approx(rmsd(a, b), abs=1e-7)

    def test_many_equals_one_by_one(self):
        xyz = wiggled(200, 7, seed=1)
        flat = np.zeros((200, 24), np.float32)
        flat[:, :21] = xyz.reshape(200, -1)
        norms = np.einsum("ij,ij->i", flat, flat, dtype=float)
        targets, out = np.arange(199, -1, -1).astype(np.int32), np.empty(200)
        squared_distances(flat[5], norms[5], flat, norms, targets, out)
        np.testing.assert_allclose(np.sqrt(out / 7), all_rmsds(xyz[5:6], xyz)[0, ::-1], rtol=0, atol=1e-7)

    @pytest.mark.parametrize(
        ("atoms", "shape"), [(3, [1, 1, 1]), (10, [0.2, 0.2, 0.2]), (300, [10, 0.5, 0.5]), (2000, [1, 1, 1])]
    )
    def test_identical_frames_have_distance_zero(self, atoms, shape):
        """The same coordinates exactly, and turned ones up to their rounding, in both kernels."""
        for seed in range(8):
            x = centred(np.random.default_rng(seed).normal(size=(1, atoms, 3)) * shape)[0]
            turned = (x.astype(float) @ rotations(1, seed)[0]).astype(np.float32)
            assert exact(x, x) == 0
            assert exact(x, turned) < 2e-7 * np.sqrt(np.sum(x.astype(float) ** 2) / atoms)
            flat = np.zeros((1, 3 * (atoms + atoms % 2)), np.float32)
            flat[0, : 3 * atoms] = x.reshape(-1)
            out, norms = np.empty(1), np.einsum("ij,ij->i", *[flat.astype(float)] * 2)
            squared_distances(flat[0], norms[0], flat, norms, np.zeros(1, np.int32), out)
            assert out[0] == 0

    def test_small_distances_are_no_zeros(self):
        x = centred(np.random.default_rng(0).normal(size=(1, 10, 3)))[0]
        moved = x[None].copy()
        moved[0, 0, 0] += 1e-4
        moved = centred(moved)[0]
        assert exact(x, moved) == pytest.approx(rmsd(x, moved), rel=1e-2)

    def test_mirror_images_differ(self):
        x = centred(np.random.default_rng(3).normal(size=(1, 8, 3)))[0]
        mirrored = x * np.array([1, 1, -1], np.float32)
        assert exact(x, mirrored) == pytest.approx(rmsd(x, mirrored), abs=1e-7)
        assert exact(x, mirrored) > 0.1

    @pytest.mark.parametrize("thickness", [0.0, 1e-7, 1e-4, 1e-2])
    @pytest.mark.parametrize("thin", [1, 2])  # planar, collinear
    def test_thin_molecules(self, thin, thickness):
        random = np.random.default_rng(7)
        x = random.normal(size=(6, 9, 3))
        x[:, :, 3 - thin :] *= thickness
        x = centred(np.einsum("nij,naj->nai", rotations(6, 2), x))
        for a in x:
            for b in x:
                assert exact(a, b) == pytest.approx(rmsd(a, b), abs=2e-7)

    def test_agrees_with_mdtraj(self, peptide):
        slow = mf.rmsd_neighbors_mdtraj(peptide, n_neighbors=3, queries=peptide.xyz[:50])
        matrix = all_rmsds(peptide.xyz[:50], peptide.xyz)
        np.testing.assert_allclose(slow.distances, np.sort(matrix, axis=1)[:, :3], rtol=0, atol=1e-3)
        np.testing.assert_allclose(slow.distances[:, 1:], np.sort(matrix, axis=1)[:, 1:3], rtol=0, atol=5e-6)


def frames_about(centre: np.ndarray, n: int, amplitude: float, seed: int) -> np.ndarray:
    """Return frames near `centre`, superposed on it."""
    noise = amplitude * np.random.default_rng(seed).normal(size=(n, *centre.shape))
    near = centre + noise - noise.mean(axis=1, keepdims=True)
    return np.array([superpose(frame, centre) for frame in near])


class TestBound:
    """|D|^2 >= atoms RMSD^2 >= |D|^2 - 2 (|D| m)^2 / (s2 - |D|^2), and the limit made of it."""

    @staticmethod
    def check(centre: np.ndarray, frames: np.ndarray) -> None:
        atoms = len(centre)
        shifts = (frames - centre).reshape(len(frames), -1)
        sizes = np.linalg.norm(shifts, axis=1)
        spread = np.linalg.eigvalsh(frames.transpose(0, 2, 1) @ frames)[:, :2].sum(axis=1)
        true = all_rmsds(frames, frames) * np.sqrt(atoms)
        for i in range(len(frames)):
            for j in range(len(frames)):
                d2 = np.sum((shifts[i] - shifts[j]) ** 2)
                m, s2 = min(sizes[i], sizes[j]), spread[i] + spread[j]
                assert d2 >= true[i, j] ** 2 - 1e-12
                if d2 < s2:
                    assert true[i, j] ** 2 >= d2 - 2 * d2 * m**2 / (s2 - d2) - 1e-12
                for t in (true[i, j] * (1 + 1e-9) + 1e-9, 2 * true[i, j] + 1e-6):
                    assert d2 <= screen.screen_limit(t, m, 0.0, s2, 0.0) * (1 + 1e-9)

    @settings(max_examples=60, deadline=None)
    @given(
        atoms=st.integers(3, 12),
        amplitude=st.floats(1e-4, 0.5),
        seed=st.integers(0, 10**6),
        thin=st.booleans(),
    )
    def test_random_frames(self, atoms, amplitude, seed, thin):
        centre = np.random.default_rng(seed).normal(size=(atoms, 3)) * ([1, 0.1, 0.05] if thin else 1)
        centre -= centre.mean(axis=0)
        self.check(centre, frames_about(centre, 6, amplitude, seed))

    def test_real_frames(self, peptide):
        xyz = peptide.xyz.astype(float)
        for pick in range(0, len(xyz), len(xyz) // 20):
            nearest = np.argsort(all_rmsds(xyz[pick : pick + 1], xyz)[0])[[1, 2, 5, 20, 100, 300, 900]]
            frames = np.array([superpose(frame, xyz[pick]) for frame in xyz[nearest]])
            self.check(xyz[pick], frames)

    def test_without_a_bound_nothing_is_refused(self):
        # a frame that is far from the centre compared with its own extent
        assert screen.screen_limit(0.5, 1.0, 0.0, 1.0, 0.0) == screen.NO_LIMIT
        # the same frame near the centre, with a torque left that makes the bound void
        assert screen.screen_limit(0.01, 0.01, 0.0, 1.0, 0.0) < screen.NO_LIMIT
        assert screen.screen_limit(0.01, 0.01, 1.0, 1.0, 0.0) == screen.NO_LIMIT

    def test_torque_and_slack_widen_the_limit(self):
        plain = screen.screen_limit(0.05, 0.05, 0.0, 0.3, 0.0)
        assert screen.screen_limit(0.05, 0.05, 1e-4, 0.3, 0.0) > plain
        assert screen.screen_limit(0.05, 0.05, 0.0, 0.3, 1e-4) == pytest.approx((plain**0.5 + 1e-4) ** 2)

    def test_index_holds_its_promises(self, peptide):
        index = build_index(peptide.xyz)
        cells = index.cells
        assert sorted(cells.order.tolist()) == list(range(len(peptide)))
        for c in range(len(cells.centres)):
            here = slice(cells.cell_start[c], cells.cell_start[c + 1])
            members = cells.order[here]
            assert np.array_equal(cells.flat[here, :30], peptide.xyz[members].reshape(-1, 30))
            centre = cells.centres[c, :30].reshape(1, 10, 3)
            to_centre = all_rmsds(peptide.xyz[members], centre)[:, 0] * np.sqrt(10)
            assert cells.radii[c] >= to_centre.max() - 1e-6
            rows = cells.rows[here]
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), to_centre, rtol=0, atol=3e-6)
            assert cells.spreads[c] <= index.spreads[here].min()
            gram = cells.axes[c] @ cells.axes[c].T
            np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-5)


class TestSearch:
    @pytest.mark.parametrize("atoms", [3, 4, 7, 10, 25, 40])
    @pytest.mark.parametrize("amplitude", [0.003, 0.05])
    def test_equals_brute_force(self, atoms, amplitude):
        xyz = wiggled(500, atoms, seed=atoms, amplitude=amplitude)
        matrix = all_rmsds(xyz, xyz)
        np.fill_diagonal(matrix, np.inf)
        found = mf.rmsd_neighbors(xyz, n_neighbors=30)
        assert found.exact
        assert found.recall is None
        assert_neighbors(found, matrix)

    def test_equals_brute_force_on_a_peptide(self, peptide, peptide_rmsds):
        assert_neighbors(mf.rmsd_neighbors(peptide, n_neighbors=100), peptide_rmsds)

    def test_every_frame_is_a_neighbour_of_every_other(self):
        xyz = wiggled(70, 5, seed=4)
        found = mf.rmsd_neighbors(xyz, n_neighbors=69)
        assert np.array_equal(
            np.sort(found.indices, axis=1), [np.delete(np.arange(70), i) for i in range(70)]
        )

    def test_where_the_bound_does_not_apply(self):
        """Nearly collinear frames: s2 is tiny, so every target falls back to the exact kernel."""
        random = np.random.default_rng(5)
        xyz = random.normal(size=(500, 6, 3)) * [1.0, 0.002, 0.002]
        xyz = centred(np.einsum("nij,naj->nai", rotations(500, 5), xyz))
        matrix = all_rmsds(xyz, xyz)
        np.fill_diagonal(matrix, np.inf)
        assert_neighbors(mf.rmsd_neighbors(xyz, n_neighbors=20), matrix)

    @pytest.mark.parametrize("bend", [0.0, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3])
    def test_linear_triatomic(self, bend):
        """Nearly double roots of the quartic, where rounding makes its slope vanish."""
        random = np.random.default_rng(0)
        xyz = np.zeros((300, 3, 3))
        xyz[:, :, 0] = np.array([-0.116, 0, 0.116]) + 0.004 * random.normal(size=(300, 3))
        xyz[:, 1, 1] = bend * random.normal(size=300)
        for frames in (xyz, np.einsum("nij,naj->nai", rotations(300, 1), xyz)):
            frames = centred(frames)
            matrix = all_rmsds(frames, frames)
            np.fill_diagonal(matrix, np.inf)
            assert_neighbors(mf.rmsd_neighbors(frames, n_neighbors=5), matrix)
            edges = len(mf.rmsd_neighbors_within(frames, radius=0.002).indices)
            assert np.sum(matrix < 0.002 - TIE) <= edges <= np.sum(matrix < 0.002 + TIE)

    def test_all_atoms_in_one_place(self):
        found = mf.rmsd_neighbors(np.zeros((30, 4, 3)), n_neighbors=5)
        assert found.distances.max() == 0
        assert np.all(mf.rmsd_neighbors_within(np.zeros((30, 4, 3)), radius=0.1).degrees == 29)

    def test_planar_frames_and_mirror_images(self):
        random = np.random.default_rng(6)
        xyz = random.normal(size=(400, 6, 3)) * [1.0, 1.0, 0.0]
        chiral = random.normal(size=(200, 6, 3))
        xyz = centred(np.concatenate([xyz, chiral, chiral * [1, 1, -1]]))
        matrix = all_rmsds(xyz, xyz)
        np.fill_diagonal(matrix, np.inf)
        assert_neighbors(mf.rmsd_neighbors(xyz, n_neighbors=20), matrix)

    def test_duplicates(self):
        xyz = np.repeat(wiggled(60, 6, seed=8), 5, axis=0)
        found = mf.rmsd_neighbors(xyz, n_neighbors=4)
        assert found.distances.max() < 1e-7
        assert np.array_equal(np.sort(found.indices // 5, axis=1)[:, 0], np.arange(300) // 5)

    def test_of_equally_near_frames_the_first_are_nearer(self):
        """Every frame stands there nine times, so that the last place is always one of many."""
        xyz = np.repeat(wiggled(400, 6, seed=8), 9, axis=0)[np.random.default_rng(0).permutation(3600)]
        flat = xyz.reshape(len(xyz), -1)
        norms = np.sum(flat.astype(float) ** 2, axis=1)
        found = mf.rmsd_neighbors(xyz, n_neighbors=40)
        exact, everything = np.empty(len(xyz)), np.arange(len(xyz), dtype=np.int32)
        for query in range(0, len(xyz), 37):
            squared_distances(flat[query], norms[query], flat, norms, everything, exact)
            exact[query] = np.inf
            assert np.array_equal(found.indices[query], np.argsort(exact, kind="stable")[:40])

    def test_all_frames_identical(self):
        xyz = np.repeat(wiggled(1, 6, seed=9), 200, axis=0)
        found = mf.rmsd_neighbors(xyz, n_neighbors=10)
        assert found.distances.max() == 0
        assert not np.any(found.indices == np.arange(200)[:, None])

    def test_same_bits_for_any_number_of_threads(self, peptide):
        one, two = (mf.rmsd_neighbors(peptide, n_neighbors=20, n_jobs=jobs) for jobs in (1, 2))
        assert np.array_equal(one.indices, two.indices)
        assert np.array_equal(one.distances, two.distances)

    def test_order_and_orientation_do_not_matter(self, peptide, peptide_rmsds):
        order = np.random.default_rng(1).permutation(len(peptide))
        turned = np.einsum("nij,naj->nai", rotations(len(peptide), 3), peptide.xyz.astype(float)) + 0.7
        plain = mf.rmsd_neighbors(peptide, n_neighbors=20)
        moved = mf.rmsd_neighbors(turned[order], n_neighbors=20)
        np.testing.assert_allclose(moved.distances, plain.distances[order], rtol=0, atol=TIE)
        assert_neighbors(moved, peptide_rmsds[order][:, order])

    def test_new_frames(self, peptide):
        fitted, new = peptide.xyz[:1000], peptide.xyz[1000:]
        found = mf.rmsd_neighbors(fitted, n_neighbors=15, queries=new)
        assert found.n_targets == 1000
        assert_neighbors(found, all_rmsds(new, fitted))
        itself = mf.rmsd_neighbors(fitted, n_neighbors=1, queries=fitted[::7])
        assert itself.distances.max() < 1e-7
        assert mf.rmsd_neighbors(fitted[:5], n_neighbors=5, queries=new[:2]).k == 5

    def test_input_is_not_modified(self):
        xyz = np.random.default_rng(0).normal(size=(100, 5, 3)).astype(np.float32) + 3
        before = xyz.copy()
        mf.rmsd_neighbors(xyz, n_neighbors=3)
        mf.rmsd_neighbors_mdtraj(xyz, n_neighbors=3)
        mf.rmsd_neighbors_within(xyz, radius=0.1)
        assert np.array_equal(xyz, before)

    def test_full_size_frames_against_mdtraj(self, shared_data):
        packed = np.load(shared_data / "ala2" / "ala2_03.npz")["picometres"]
        xyz = packed.T.reshape(-1, 10, 3)[44_000:54_000] / 1000
        found = mf.rmsd_neighbors(xyz, n_neighbors=100)
        pick = np.random.default_rng(0).choice(len(xyz), 200, replace=False)
        peer = mf.rmsd_neighbors_mdtraj(xyz, n_neighbors=101, queries=xyz[pick])
        np.testing.assert_allclose(found.distances[pick], peer.distances[:, 1:], rtol=0, atol=1e-5)


class TestApproximate:
    @pytest.mark.parametrize(
        ("stride", "n_neighbors", "recall"),
        [(3, 50, 0.9), (3, 50, 0.99), (1, 100, 0.8), (2, 20, 0.99)],  # the last two need a careful sample
    )
    def test_reaches_what_was_asked_for(self, stride, n_neighbors, recall, monkeypatch):
        monkeypatch.setattr("mdfuzzy.neighbors._choice.FEW", 10**9)  # by cells
        monkeypatch.setattr("mdfuzzy.neighbors._recall.WORTH", 0)
        frames = mf.datasets.alanine_dipeptide(stride=stride)
        found = mf.rmsd_neighbors(frames, n_neighbors=n_neighbors, recall=recall)
        true = mf.rmsd_neighbors(frames, n_neighbors=n_neighbors)
        reached = np.mean(found.distances <= true.distances[:, -1:] + TIE)
        assert not found.exact
        assert found.recall >= recall
        assert found.recall == pytest.approx(reached, abs=0.5 * (1 - recall))
        assert reached >= recall
        assert reached == pytest.approx(found.recall, abs=0.04)
        assert reached < 1

    def test_few_frames_are_searched_exactly(self, caplog):
        with caplog.at_level("INFO", logger="mdfuzzy"):
            found = mf.rmsd_neighbors(wiggled(50, 5, seed=0), n_neighbors=5, recall=0.5)
        assert found.exact
        assert found.recall is None
        assert "recall 0.5: an exact search takes no longer here, so the search is exact" in caplog.text


class TestWithin:
    def test_equals_brute_force(self, peptide, peptide_rmsds):
        graph, matrix = mf.rmsd_neighbors_within(peptide, radius=0.015), peptide_rmsds
        assert graph.symmetric
        for i in range(0, len(peptide), 7):
            indices, lengths = graph.edges(i)
            sure, unsure = np.flatnonzero(matrix[i] < 0.015 - TIE), np.flatnonzero(matrix[i] < 0.015 + TIE)
            assert set(sure) <= set(indices.tolist()) <= set(unsure)
            np.testing.assert_allclose(lengths, matrix[i, indices], rtol=0, atol=TIE)
            assert np.all(np.diff(indices) > 0)

    def test_more_pairs_than_expected(self, peptide):
        """A radius that joins everything: far more neighbours than the first guess has room for."""
        graph = mf.rmsd_neighbors_within(peptide, radius=1.0)
        assert np.all(graph.degrees == len(peptide) - 1)

    def test_symmetric_with_equal_lengths(self, peptide):
        from scipy.sparse import csr_array

        graph = mf.rmsd_neighbors_within(peptide, radius=0.012)
        matrix = csr_array((graph.distances, graph.indices, graph.indptr), shape=(len(graph), len(graph)))
        assert abs(matrix - matrix.T).max() == 0

    def test_new_frames(self, peptide):
        graph = mf.rmsd_neighbors_within(peptide.xyz[:1000], radius=0.02, queries=peptide.xyz[1000:1100])
        matrix = all_rmsds(peptide.xyz[1000:1100], peptide.xyz[:1000])
        assert len(graph) == 100
        assert graph.n_targets == 1000
        assert abs(int((matrix < 0.02).sum()) - len(graph.indices)) <= 1

    def test_isolated_and_identical_frames(self):
        far, same = wiggled(40, 6, seed=1, amplitude=1.0), np.repeat(wiggled(1, 6, seed=2), 3, axis=0)
        graph = mf.rmsd_neighbors_within(np.concatenate([far, same]), radius=1e-3)
        assert graph.degrees.tolist() == [0] * 40 + [2, 2, 2]


class Kept(dict):
    """A store of blocks in memory."""

    def get(self, name):
        return dict.get(self, name)

    def put(self, name, **arrays):
        self[name] = arrays


class Full(dict):
    """A store that keeps no more than some blocks."""

    def __init__(self, room: int = 0) -> None:
        super().__init__()
        self.room = room

    def put(self, name, **arrays):
        if len(self) == self.room:
            raise OSError("no space left")
        self[name] = arrays


class Counted(Kept):
    """A store that says what is asked for and kept."""

    def __init__(self, blocks=()) -> None:
        super().__init__(blocks)
        self.asked, self.written = [], []

    def get(self, name):
        self.asked.append(name)
        return super().get(name)

    def put(self, name, **arrays):
        self.written.append(name)
        super().put(name, **arrays)


def assert_same_graph(found: mf.Graph, expected: mf.Graph) -> None:
    """Check that two graphs agree to the bit."""
    for name in ("indptr", "indices", "distances"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert (found.kind, found.n_targets, found.radius) == (expected.kind, expected.n_targets, expected.radius)


class TestKeptPairs:
    RADIUS = 0.1 + 0.2 - 0.28  # 0.020000000000000018, not 0.02

    @pytest.fixture(autouse=True)
    def small_blocks(self, monkeypatch):
        monkeypatch.setattr("mdfuzzy.neighbors.rmsd.BLOCK", 4)

    @pytest.mark.parametrize("new", [False, True])
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_only_missing_blocks_are_searched(self, peptide, new, n_jobs):
        fitted, queries = (peptide[:1000], peptide[1000:]) if new else (peptide, None)
        options = {"radius": self.RADIUS, "queries": queries, "n_jobs": n_jobs}
        plain = mf.rmsd_neighbors_within(fitted, **options)
        assert len(plain.indices) > len(plain)
        store = Counted()
        assert_same_graph(mf.rmsd_neighbors_within(fitted, store=store, **options), plain)
        assert store.asked == store.written == [f"within-{self.RADIUS!r}-{i:05d}" for i in range(len(store))]
        assert len(store) > (1 if new else 3)
        rows = np.concatenate([block["rows"] for block in store.values()])
        assert sorted(rows) == list(range(len(plain)))
        lost = store.written[1]
        again = Counted((name, block) for name, block in store.items() if name != lost)
        assert_same_graph(mf.rmsd_neighbors_within(fitted, store=again, **options), plain)
        assert again.written == [lost]
        for name, array in store[lost].items():
            assert np.array_equal(again[lost][name], array)

    def test_a_kept_block_is_taken_as_it_is(self, peptide):
        store = Kept()
        plain = mf.rmsd_neighbors_within(peptide, radius=0.02, store=store)
        block = store[min(store)]
        pairs = np.count_nonzero(block["queries"] < block["indices"])  # taken from the end that is first
        block["distances"][:] = 0.0123
        again = mf.rmsd_neighbors_within(peptide, radius=0.02, store=store)
        assert np.count_nonzero(again.distances != plain.distances) == 2 * pairs > 0

    def test_an_interrupted_search_goes_on(self, peptide):
        plain = mf.rmsd_neighbors_within(peptide, radius=0.02)
        full, before = Full(room=2), threading.active_count()
        with pytest.raises(OSError, match="no space left"):
            mf.rmsd_neighbors_within(peptide, radius=0.02, store=full)
        assert threading.active_count() == before
        store = Counted(full)
        assert_same_graph(mf.rmsd_neighbors_within(peptide, radius=0.02, store=store), plain)
        assert store.written == store.asked[2:]

    def test_a_run_directory_with_other_radii_and_damaged_blocks(self, peptide, tmp_path):
        radii = 0.02, self.RADIUS, np.nextafter(0.02, 0)
        plain = [mf.rmsd_neighbors_within(peptide, radius=radius) for radius in radii]
        store = mf.RunDir(tmp_path)
        for radius, graph in zip(radii, plain, strict=True):
            assert_same_graph(mf.rmsd_neighbors_within(peptide, radius=radius, store=store), graph)
        names = [name for name in store.steps if name.startswith("within-0.02-")]
        assert len(store.steps) == 3 * len(names)
        for file in tmp_path.glob(f"data/{names[1]}-*.npy"):
            file.write_bytes(file.read_bytes()[:-1])
        assert store.get(names[1]) is None
        assert_same_graph(mf.rmsd_neighbors_within(peptide, radius=0.02, store=store), plain[0])
        assert store.get(names[1]) is not None

    def test_the_name_of_a_large_radius(self, peptide, tmp_path):
        graph = mf.rmsd_neighbors_within(peptide[:100], radius=1e16, store=mf.RunDir(tmp_path))
        assert np.all(graph.degrees == 99)
        assert mf.RunDir(tmp_path).steps == ("within-1e16-00000",)

    def test_kept_blocks_count_as_done(self, peptide, capfd, caplog):
        store = Kept()
        mf.rmsd_neighbors_within(peptide, radius=0.02, store=store)
        rows = len(store.pop(min(store))["rows"])
        capfd.readouterr()
        with caplog.at_level("INFO", logger="mdfuzzy"):
            mf.rmsd_neighbors_within(peptide, radius=0.02, store=store, progress=True)
        shown = capfd.readouterr().err
        assert f"{len(peptide) - rows}/{len(peptide)}" in shown.split("\r")[1]
        assert f" {len(peptide)}/{len(peptide)}" in shown.split("\r")[-1]
        assert f"within 0.02 nm ({rows:,} of them remaining)" in caplog.text

    def test_nothing_to_do(self, peptide, capfd, caplog):
        store = Kept()
        plain = mf.rmsd_neighbors_within(peptide, radius=0.02, store=store)
        with caplog.at_level("INFO", logger="mdfuzzy"):
            again = mf.rmsd_neighbors_within(peptide, radius=0.02, store=store, progress=True)
        assert_same_graph(again, plain)
        assert capfd.readouterr().err == caplog.text == ""

    def test_no_store(self, peptide):
        for search in (
            lambda: mf.rmsd_neighbors(peptide, n_neighbors=10, store="out"),
            lambda: mf.rmsd_neighbors_within(peptide, radius=0.02, store="out"),
        ):
            with pytest.raises(AttributeError, match="'str' object has no attribute 'get'"):
                search()


class TestLongWork:
    def test_finished_blocks_are_kept_and_used(self, peptide, monkeypatch):
        monkeypatch.setattr("mdfuzzy.neighbors.rmsd.BLOCK", 4)
        plain = mf.rmsd_neighbors(peptide, n_neighbors=10)
        store = Kept()
        first = mf.rmsd_neighbors(peptide, n_neighbors=10, store=store)
        assert len(store) > 3
        lost = sorted(store)[1]
        del store[lost]
        mark = store[sorted(store)[0]]["distances"]
        mark[:] = 7  # a kept block is taken as it is
        again = mf.rmsd_neighbors(peptide, n_neighbors=10, store=store)
        assert lost in store
        assert np.array_equal(first.indices, plain.indices)
        kept = np.all(again.distances == 7, axis=1)
        assert kept.sum() == len(mark)
        assert np.array_equal(again.indices[~kept], plain.indices[~kept])

    def test_estimate_is_logged_before_the_search(self, peptide, caplog):
        with caplog.at_level("INFO", logger="mdfuzzy"):
            mf.rmsd_neighbors(peptide, n_neighbors=10)
        assert any(" s on " in message and "GB" in message for message in caplog.messages)

    def test_progress(self, peptide, capfd):
        mf.rmsd_neighbors(peptide, n_neighbors=5, progress=True)
        assert f"{len(peptide)}/{len(peptide)}" in capfd.readouterr().err
        mf.rmsd_neighbors(peptide, n_neighbors=5)
        assert capfd.readouterr().err == ""

    def test_estimate_of_pairs_is_logged_before_they_are_searched(self, peptide, caplog):
        with caplog.at_level("INFO", logger="mdfuzzy"):
            graph = mf.rmsd_neighbors_within(peptide, radius=0.02)
        message = next(message for message in caplog.messages if "within 0.02 nm" in message)
        pairs = int(message.split(" pairs")[0].split()[-1].replace(",", ""))
        assert 0.5 < pairs / len(graph.indices) < 2
        assert " s on " in message
        assert "GB" in message

    def test_a_store_that_fails_leaves_nothing_running(self, peptide):
        before = threading.active_count()
        with pytest.raises(OSError, match="no space left"):
            mf.rmsd_neighbors(peptide, n_neighbors=10, store=Full())
        assert threading.active_count() == before

    def test_an_interrupt_leaves_nothing_running(self, peptide):
        def interrupt(count):
            raise KeyboardInterrupt

        index = build_index(peptide.xyz)
        before = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            index.nearest(index.own_chunks(), 10, advance=interrupt)
        time.sleep(0.05)
        assert threading.active_count() == before


class TestBadInput:
    @pytest.mark.parametrize("n_neighbors", [0, -1, 100, 1000])
    @pytest.mark.parametrize("search", [mf.rmsd_neighbors, mf.rmsd_neighbors_mdtraj])
    def test_number_of_neighbours(self, search, n_neighbors):
        with pytest.raises(
            ValueError, match=r"`n_neighbors` must be an int in \[1, 99\]; got .*There are 100 fr"
        ):
            search(wiggled(100, 5, seed=0), n_neighbors=n_neighbors)

    def test_number_of_neighbours_is_an_int(self):
        with pytest.raises(TypeError, match=r"`n_neighbors` must be an int"):
            mf.rmsd_neighbors(wiggled(100, 5, seed=0), n_neighbors=2.5)

    @pytest.mark.parametrize("recall", [0.0, -0.1, 1.01, float("nan")])
    def test_recall(self, recall):
        with pytest.raises(ValueError, match=r"`recall` must be a finite number > 0 and <= 1; got"):
            mf.rmsd_neighbors(wiggled(100, 5, seed=0), n_neighbors=5, recall=recall)

    @pytest.mark.parametrize("radius", [0.0, -1.0, float("inf"), float("nan")])
    def test_radius(self, radius):
        with pytest.raises(ValueError, match=r"`radius` must be a finite number > 0; got .*RMSD in nm"):
            mf.rmsd_neighbors_within(wiggled(100, 5, seed=0), radius=radius)

    def test_not_finite(self):
        xyz = wiggled(10, 5, seed=0)
        xyz[3, 2, 1] = np.nan
        with pytest.raises(ValueError, match=r"`frames` must be finite; got nan at index \(3, 2, 1\)"):
            mf.rmsd_neighbors(xyz, n_neighbors=2)

    def test_too_few_atoms(self):
        with pytest.raises(ValueError, match=r"at least 1 frame of 3 atoms; got shape \(10, 2, 3\)"):
            mf.rmsd_neighbors(np.zeros((10, 2, 3)), n_neighbors=2)

    @pytest.mark.parametrize("shape", [(10, 9), (10, 3, 2), (3,)])
    def test_shape(self, shape):
        with pytest.raises(
            ValueError, match=r"`frames` must be Frames or an array of shape .*euclidean_neighbors"
        ):
            mf.rmsd_neighbors(np.zeros(shape), n_neighbors=2)

    @pytest.mark.parametrize("scale", [1e10, 1e-22])
    def test_unit(self, scale):
        with pytest.raises(
            ValueError, match=r"`frames` must have coordinates between 1e-9 and 1e\+06 nm.*unit"
        ):
            mf.rmsd_neighbors(scale * wiggled(20, 5, seed=0).astype(float), n_neighbors=2)

    def test_a_search_that_finds_too_few_raises(self, monkeypatch):
        nothing = lambda *arguments: arguments[-4].fill(0) or len(arguments[3])  # noqa: E731
        monkeypatch.setattr(knn, "search_groups", nothing)
        with pytest.raises(RuntimeError, match=r"got fewer than 3 neighbours for frame"):
            mf.rmsd_neighbors(wiggled(20, 5, seed=0), n_neighbors=3)

    def test_one_frame(self):
        with pytest.raises(
            ValueError, match=r"`frames` must hold at least 2 frames to have neighbours; got 1"
        ):
            mf.rmsd_neighbors(wiggled(1, 5, seed=0), n_neighbors=1)

    def test_queries_with_other_atoms(self):
        with pytest.raises(
            ValueError, match=r"`queries` must have the atoms of `frames`; got 6 atoms, expected 5"
        ):
            mf.rmsd_neighbors(wiggled(9, 5, seed=0), n_neighbors=2, queries=wiggled(9, 6, seed=0))


def test_kernels_are_cached_on_disk(tmp_path):
    """A second process compiles nothing; another number of atoms needs nothing new."""
    program = (
        "import numpy as np, mdfuzzy._kernels.search.rmsd as k;"
        "x = np.ones((2, {width}), np.float32); n = np.ones(2); out = np.empty(1);"
        "k.squared_distances(x[0], 1.0, x, n, np.zeros(1, np.int32), out);"
        "s = k.squared_distances.stats; print(sum(s.cache_hits.values()), sum(s.cache_misses.values()))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    counts = [
        subprocess.run(
            [sys.executable, "-c", program.format(width=width)],
            env=environment, check=True, capture_output=True, text=True,
        ).stdout.split()
        for width in (12, 12, 30)
    ]  # fmt: skip
    assert counts == [["0", "1"], ["1", "0"], ["1", "0"]]


def test_leaves_are_compact():
    """Median splits: each run of 64 has a box far smaller than all."""
    points = np.random.default_rng(0).uniform(size=(64 * 8, 3))
    order = compact_order(points, LANES)
    assert sorted(order.tolist()) == list(range(len(points)))
    volumes = [np.prod(np.ptp(points[order[i : i + 64]], axis=0)) for i in range(0, len(points), 64)]
    assert np.mean(volumes) < 0.2


def test_bins_are_narrow_and_hold_what_is_counted_in_them():
    squares = 10 ** np.random.default_rng(0).uniform(-12, 6, 500)
    for squared in squares:
        number = candidates.bin_of(squared)
        low, high = candidates.lower_edge(number), candidates.lower_edge(number + 1)
        assert low <= np.float32(squared) < high
        assert high <= low * (1 + 1 / 32)


@pytest.mark.parametrize("n", [0, 1, 2, 63, 300])
@pytest.mark.parametrize("power", [1, 20, 1e-3])  # spread evenly, most in the lowest bin, or in the highest
def test_keys_are_sorted_and_items_follow(n, power):
    keys = (np.random.default_rng(n).integers(0, 50, n) / 50) ** power - 0.3  # with ties
    items, sorted_keys = np.arange(n, dtype=np.int32), keys.copy()
    candidates.sort_together(sorted_keys, items)
    assert np.array_equal(sorted_keys, np.sort(keys))
    assert np.array_equal(keys[items], sorted_keys)
    assert np.array_equal(np.sort(items), np.arange(n))


@pytest.mark.parametrize("keys", [[1.0, 0.0, 5e-324], [1e300, -1e300, 0.0], [2.0, 2.0, 2.0]])
def test_keys_whose_range_is_extreme_are_sorted(keys):
    found, items = np.array(keys), np.arange(3, dtype=np.int32)
    candidates.sort_together(found, items)
    assert np.array_equal(found, np.sort(keys))
    assert np.array_equal(np.array(keys)[items], found)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1e-3, 1e-4), (1, 1, 1e-5), (1e-9, 0, 0)])
def test_the_two_smallest_eigenvalues(shape):
    points = np.random.default_rng(0).normal(size=(200, 10, 3)) * shape @ rotations(200, 1)
    moments = points.transpose(0, 2, 1) @ points
    traces = np.trace(moments, axis1=1, axis2=2)
    found = np.array([two_smallest(*m[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]]) for m in moments])
    true = np.linalg.eigvalsh(moments)[:, :2].sum(axis=1)
    assert np.all(found <= true + 1e-15 * traces)
    assert np.all(found >= true - 3e-14 * traces)


def test_axes_of_a_cell_are_its_principal_directions():
    random = np.random.default_rng(0)
    scales = 0.5 ** np.arange(30)
    directions = np.linalg.qr(random.normal(size=(30, 30)))[0]
    shifted = (random.normal(size=(400, 30)) * scales @ directions).astype(np.float32)
    axes = np.empty((AXES, 30), np.float32)
    principal_axes(shifted, axes)
    np.testing.assert_allclose(axes @ axes.T, np.eye(AXES), rtol=0, atol=1e-6)
    _, variances, _ = np.linalg.svd(shifted)
    left = shifted - shifted @ axes.T @ axes
    assert np.sum(left**2) < 1.01 * np.sum(variances[AXES:] ** 2)


def test_axes_of_too_few_directions():
    """What depends on the axes before it is no axis: the frames lie in the span of the others."""
    random = np.random.default_rng(0)
    shifted = (random.normal(size=(50, 3)) @ random.normal(size=(3, 30))).astype(np.float32)
    axes = np.empty((AXES, 30), np.float32)
    principal_axes(shifted, axes)
    gram = axes @ axes.T
    assert np.all((np.abs(gram) < 1e-6) | (np.abs(gram - 1) < 1e-6))
    assert np.sum((shifted - shifted @ axes.T @ axes) ** 2) < 1e-9 * np.sum(shifted**2)


def test_nearly_exact_searches_find_nearly_all(peptide):
    """Empty places of a leaf are never candidates, however far the first limit is."""
    index = build_index(peptide.xyz)
    chunks = index.own_chunks()
    true, found = (index.nearest(chunks, 100, factor=factor)[1] for factor in (1.0, 0.999))
    assert np.mean(found <= true[:, -1:] + TIE) > 0.997
    assert np.all(found[:, -1] < 1.1 * true[:, -1])

"""Neighbours under RMSD by tiles: the bits of the cells, how pairs are dismissed, the choice between both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.rmsd import all_rmsds

import mdfuzzy as mf
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.tiles import polynomial_signs
from mdfuzzy.neighbors import _choice, _tiles
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.neighbors._search import Aim
from mdfuzzy.neighbors._tiles import build_tiles


def shapes(n: int, atoms: int, seed: int, *, kind: str = "chain") -> np.ndarray:
    """Return centred frames: chains, nearly straight ones, or copies of a few."""
    random = np.random.default_rng(seed)
    steps = random.normal(size=(n, atoms, 3)) + random.normal(size=(4, atoms, 3))[random.integers(4, size=n)]
    if kind == "straight":
        steps = [[0.0, 0.0, 1.0]] + 1e-4 * steps
    xyz = 0.1 * np.cumsum(steps, axis=1)
    if kind == "copies":
        xyz = xyz[random.integers(max(1, n // 10), size=n)]
    if kind == "point":
        xyz = 0 * xyz
    return (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)


def found(build, xyz, k, others=None, n_jobs=None) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and squared norms, in the order of the queries."""
    index = build(xyz)
    chunks = index.own_chunks() if others is None else index.chunks(others, None)
    indices, squares, _ = index.nearest(chunks, k, squared=True, n_jobs=n_jobs)
    back = np.argsort(chunks.order)
    return indices[back], squares[back]


def assert_same_bits(one, other) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


class TestSameBitsAsCells:
    @pytest.mark.parametrize("kind", ["chain", "straight", "copies", "point"])
    @pytest.mark.parametrize(("n", "atoms", "k"), [(300, 3, 20), (500, 10, 30), (260, 36, 80), (90, 301, 12)])
    def test_of_frames_among_themselves(self, n, atoms, k, kind):
        xyz = shapes(n, atoms, seed=atoms, kind=kind)
        assert_same_bits(found(build_tiles, xyz, k), found(build_index, xyz, k))

    @pytest.mark.parametrize("atoms", [4, 40])
    def test_of_other_frames(self, atoms):
        xyz, others = shapes(400, atoms, seed=1), shapes(130, atoms, seed=2)
        assert_same_bits(found(build_tiles, xyz, 25, others), found(build_index, xyz, 25, others))

    def test_many_atoms(self):
        xyz = shapes(70, 2000, seed=3)
        assert_same_bits(found(build_tiles, xyz, 9), found(build_index, xyz, 9))

    @pytest.mark.parametrize("n", [2, 3, 64, 65, 130])
    def test_every_frame_is_a_neighbour_of_every_other(self, n):
        xyz = shapes(n, 30, seed=n)
        assert_same_bits(found(build_tiles, xyz, n - 1), found(build_index, xyz, n - 1))

    def test_a_frame_with_all_atoms_in_one_place(self):
        xyz = shapes(200, 30, seed=4)
        xyz[7] = 0
        assert_same_bits(found(build_tiles, xyz, 20), found(build_index, xyz, 20))

    @pytest.mark.parametrize("scale", [1e-8, 1e5])
    def test_any_size_of_molecule(self, scale):
        xyz = (scale * shapes(300, 30, seed=5)).astype(np.float32)
        assert_same_bits(found(build_tiles, xyz, 20), found(build_index, xyz, 20))

    def test_within_a_radius(self):
        xyz = shapes(300, 26, seed=6)
        limits = np.full(len(xyz), 2.0)
        pairs = []
        for build in (build_tiles, build_index):
            index = build(xyz)
            chunks = index.own_chunks()
            rows, indices, squares = index.within_squares(chunks, limits)
            rows = chunks.order[rows]
            order = np.lexsort((indices, rows))
            pairs.append((rows[order], indices[order], squares[order]))
        assert len(pairs[0][0]) > 1000
        assert_same_bits(*pairs)

    def test_protein(self, shared_data):
        packed = np.load(shared_data / "villin_go" / "villin_go_01.npz")["picometres"]
        xyz = packed.T.reshape(-1, 36, 3)[::30].astype(np.float64) / 1000
        xyz = (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)
        assert_same_bits(found(build_tiles, xyz, 80), found(build_index, xyz, 80))


@pytest.mark.parametrize("atoms", [5, 30])
def test_equals_brute_force(atoms):
    xyz = shapes(400, atoms, seed=0)
    matrix = all_rmsds(xyz, xyz)
    np.fill_diagonal(matrix, np.inf)
    _, squares = found(build_tiles, xyz, 30)
    np.testing.assert_allclose(np.sqrt(squares / atoms), np.sort(matrix, axis=1)[:, :30], rtol=0, atol=1e-6)


def test_same_bits_for_any_number_of_threads():
    xyz = shapes(1500, 30, seed=8)
    assert_same_bits(*(found(build_tiles, xyz, 20, n_jobs=n_jobs) for n_jobs in (1, 2)))


@pytest.mark.parametrize("modes", [0, 1, 4, 12])
def test_any_number_of_modes_gives_the_same(modes, monkeypatch):
    xyz = shapes(300, 30, seed=9)
    expected = found(build_index, xyz, 20)
    monkeypatch.setattr(_tiles, "MODES", modes)
    assert_same_bits(found(build_tiles, xyz, 20), expected)


class TestSigns:
    """The largest root is below a level just where the polynomial and its derivatives are positive."""

    @settings(max_examples=60, deadline=None)
    @given(seed=st.integers(0, 10**6), thin=st.sampled_from([1.0, 1e-2, 1e-5, 0.0]))
    def test_against_eigenvalues(self, seed, thin):
        random = np.random.default_rng(seed)
        m = random.normal(size=(LANES, 3, 3)) * [1, thin, thin]
        m = (m / np.linalg.norm(m, axis=(1, 2), keepdims=True)).astype(np.float32)
        singular = np.linalg.svd(m.astype(float), compute_uv=False)
        singular[:, 2] *= np.sign(np.linalg.det(m.astype(float)))
        root = singular.sum(axis=1)
        off = np.exp(random.uniform(np.log(3e-6), 0, LANES)) * random.choice([-1, 1], LANES)
        level, sign = root + off, np.empty(LANES, np.float32)
        polynomial_signs(np.ascontiguousarray(m.reshape(LANES, 9).T).ravel(), level, sign)
        assert np.array_equal(sign > 0, off > 0)

    def test_no_level_above_zero_dismisses_nothing(self):
        sign = np.empty(LANES, np.float32)
        polynomial_signs(np.zeros(9 * LANES, np.float32), np.linspace(-1, 0, LANES), sign)
        assert np.all(sign <= 0)


class TestChoice:
    @pytest.fixture
    def frames(self, monkeypatch) -> np.ndarray:
        monkeypatch.setattr(_choice, "FEW", 100)
        monkeypatch.setattr("mdfuzzy.neighbors.rmsd.BLOCK", 2)
        return shapes(700, 26, seed=0)

    def favour(self, monkeypatch, way: str, *, ratio: float = 20.0) -> None:
        """Let one way seem so many times as fast as the other, in which a query takes 1 s."""

        def biased(made, aim, groups, *, limit=np.inf):
            return 1.0 if made.name == way else ratio

        monkeypatch.setattr(_choice, "_seconds", biased)

    def test_the_result_does_not_depend_on_it(self, frames, monkeypatch, caplog):
        results = []
        for way, other in (("cells", "tiles"), ("tiles", "cells")):
            self.favour(monkeypatch, way)
            caplog.clear()
            with caplog.at_level("INFO", logger="mdfuzzy"):
                near = mf.rmsd_neighbors(frames, n_neighbors=15, n_jobs=1)
            assert (
                f"search method: {way} ({other} took 20.0 times as long in a test on one frame in 8)"
                in caplog.text
            )
            assert "about 47 minutes on 1 thread" in caplog.text  # 700 frames, 8 ** (2 / 3) s each
            graph = mf.rmsd_neighbors_within(frames, radius=float(near.distances.mean()))
            results.append((near.indices, near.distances, graph.indices, graph.distances))
            monkeypatch.undo()
            monkeypatch.setattr(_choice, "FEW", 100)
        assert_same_bits(*results)

    def test_all_frames_decide_where_the_sample_does_not(self, frames, monkeypatch, caplog):
        def biased(made, aim, groups, *, limit=np.inf):
            """Tiles are faster on the sample, and cells on all frames."""
            return 1.0 if (made.name == "cells") == (len(made.chunks.frames) == 700) else 5.0

        monkeypatch.setattr(_choice, "_seconds", biased)
        monkeypatch.setattr(_choice, "TRIAL", 10.0)
        with caplog.at_level("INFO", logger="mdfuzzy"):
            mf.rmsd_neighbors(frames, n_neighbors=15)
        assert "search method: cells (tiles took 5.0 times as long in a test on some frames)" in caplog.text
        caplog.clear()
        monkeypatch.setattr(_choice, "TRIAL", 0.0)  # a trial would take too long
        with caplog.at_level("INFO", logger="mdfuzzy"):
            mf.rmsd_neighbors(frames, n_neighbors=15)
        assert (
            "search method: tiles (cells took 5.0 times as long in a test on one frame in 8)" in caplog.text
        )

    def test_a_trial_ends_at_its_limit(self, frames):
        way = _choice.Way("tiles", frames - frames.mean(axis=1, keepdims=True), None, 1)
        searched = []

        class Counted(Aim):
            def find(self, index, chunks, n_jobs, **options):
                searched.append(len(chunks))
                return super().find(index, chunks, n_jobs, **options)

        assert _choice._seconds(way, Counted(5), 4, limit=0.0) > 0
        assert searched == [1]
        _choice._seconds(way, Counted(5), 4)
        assert searched == [1] * 5

    def test_a_store_goes_on_the_way_it_began(self, frames, monkeypatch):
        class Kept(dict):
            def put(self, name, **arrays):
                self[name] = arrays

        store = Kept()
        self.favour(monkeypatch, "tiles")
        first = mf.rmsd_neighbors(frames, n_neighbors=15, store=store)
        names = sorted(name for name in store if not name.endswith("way"))
        assert all(name.startswith("neighbors-15-1-t") for name in names)
        assert len(names) > 3
        del store[names[1]]
        store[names[0]]["distances"][:] = 7
        self.favour(monkeypatch, "cells")
        again = mf.rmsd_neighbors(frames, n_neighbors=15, store=store)
        assert sorted(name for name in store if not name.endswith("way")) == names
        kept = np.all(again.distances == 7, axis=1)
        assert kept.sum() == 2 * LANES
        assert np.array_equal(again.indices, first.indices)

    def test_few_frames_are_not_measured(self, monkeypatch):
        monkeypatch.setattr(_choice, "build_tiles", None)
        assert mf.rmsd_neighbors(shapes(200, 26, seed=0), n_neighbors=5).exact

    def test_an_index_that_is_too_large_is_not_used(self, frames):
        options = {"store": None, "threads": 1, "n_jobs": 1}
        assert _choice.choose_way(frames, None, Aim(5), **options, largest=1000).name == "cells"


def test_names_of_blocks_tell_every_recall_apart():
    recalls = [1.0, 0.9999999, 0.99999991, 0.9, 0.95, 1e-12]
    assert len({Aim(10, recall=recall).name for recall in recalls}) == len(recalls)
    assert Aim(10).name == "neighbors-10-1"

"""Approximate neighbours under RMSD by superposed coordinates: recall, bits, and when the search is exact."""

import numpy as np
import pytest
from reference.rmsd import all_rmsds

import mdfuzzy as mf
from mdfuzzy.neighbors import _choice, _recall
from mdfuzzy.neighbors._superposed import superpose_all
from mdfuzzy.neighbors._tiles import build_tiles

K = 20


def shapes(n: int, seed: int = 0, *, tumbling: bool = True) -> np.ndarray:
    """Return centred frames of 30 atoms that fill eight dimensions evenly, in any orientation."""
    random, shape = np.random.default_rng(seed), np.random.default_rng(0)
    modes, base = 0.05 * shape.normal(size=(8, 30, 3)), shape.normal(size=(30, 3))
    xyz = base + np.tensordot(random.normal(size=(n, 8)), modes, 1)
    if tumbling:
        turned, _ = np.linalg.qr(random.normal(size=(n, 3, 3)))
        xyz = xyz @ (turned * np.sign(np.linalg.det(turned))[:, None, None])
    return (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)


class Kept(dict):
    """A store."""

    def put(self, name, **arrays):
        self[name] = arrays


@pytest.fixture(autouse=True)
def by_tiles(monkeypatch):
    class Tiles(_choice.Way):
        def __init__(self, name, *rest, **options):
            super().__init__("tiles", *rest, **options)

    monkeypatch.setattr(_choice, "Way", Tiles)
    monkeypatch.setattr(_choice, "FEW", 100)
    monkeypatch.setattr(_recall, "WORTH_SUPERPOSED", 0)


@pytest.fixture
def always(monkeypatch):
    """Let no exact search seem faster."""
    monkeypatch.setattr(_recall, "_seconds", lambda *rest: 0.0)


def share(found: mf.Neighbors, exact: mf.Neighbors) -> float:
    return float(np.mean(found.distances <= exact.distances[:, -1:]))


class TestRecall:
    @pytest.mark.parametrize("recall", [0.7, 0.95, 0.99])
    def test_reaches_what_was_asked_for(self, recall, always):
        xyz = shapes(4000)
        exact = mf.rmsd_neighbors(xyz, n_neighbors=K)
        found = mf.rmsd_neighbors(xyz, n_neighbors=K, recall=recall)
        reached = share(found, exact)
        assert not found.exact
        assert recall <= reached < 1
        assert found.recall == pytest.approx(reached, abs=0.02)

    def test_of_other_frames(self, always):
        xyz, others = shapes(4000), shapes(1000, seed=1)
        exact = mf.rmsd_neighbors(xyz, n_neighbors=K, queries=others)
        found = mf.rmsd_neighbors(xyz, n_neighbors=K, queries=others, recall=0.9)
        assert not found.exact
        assert 0.9 <= share(found, exact) < 1
        assert found.recall == pytest.approx(share(found, exact), abs=0.02)

    def test_distances_are_exact(self, always):
        xyz = shapes(3000)
        found = mf.rmsd_neighbors(xyz, n_neighbors=K, recall=0.8)
        lengths = np.take_along_axis(all_rmsds(xyz[:50], xyz), found.indices[:50].astype(np.int64), axis=1)
        np.testing.assert_allclose(found.distances[:50], lengths, rtol=0, atol=1e-6)
        assert np.all(np.diff(found.distances, axis=1) >= 0)
        assert not np.any(found.indices == np.arange(len(xyz))[:, None])
        assert np.all(np.diff(np.sort(found.indices, axis=1), axis=1) > 0)


class TestBits:
    def test_any_number_of_threads(self, always):
        xyz = shapes(6000)
        one, two = (mf.rmsd_neighbors(xyz, n_neighbors=K, recall=0.9, n_jobs=n_jobs) for n_jobs in (1, 2))
        assert one.recall == two.recall < 1
        assert one.indices.tobytes() == two.indices.tobytes()
        assert one.distances.tobytes() == two.distances.tobytes()

    @pytest.mark.parametrize("kind", ["all", "copies", "point", "straight", "small", "large"])
    def test_all_candidates_give_the_exact_neighbours(self, kind):
        """Where every frame is a candidate, nothing is missed: those of frames in one place, too."""
        xyz = shapes(300, tumbling=kind != "point")
        if kind == "copies":
            xyz = xyz[np.random.default_rng(0).integers(3, size=300)]
        if kind == "point":
            xyz *= 0
        if kind == "straight":
            xyz = (1e-4 * xyz + np.linspace(-1, 1, 30)[:, None] * [0, 0, 1]).astype(np.float32)
            xyz -= xyz.mean(axis=1, keepdims=True)
        xyz = xyz * np.float32({"small": 1e-8, "large": 1e5}.get(kind, 1))
        found = []
        for index, factor in ((build_tiles(xyz), 1.0), (superpose_all(xyz, 1), K / 299)):
            chunks = index.own_chunks()
            indices, squares, _ = index.nearest(chunks, K, factor=factor, squared=True)
            back = np.argsort(chunks.order)
            found.append((indices[back], squares[back]))
        for exact, superposed in zip(*found, strict=True):
            assert exact.tobytes() == superposed.tobytes()

    def test_every_frame_is_a_neighbour_of_every_other(self):
        index = superpose_all(shapes(65), 1)
        indices, _, _ = index.nearest(index.own_chunks(), 64, factor=0.5)
        assert np.array_equal(np.sort(indices[np.argsort(index.order)], axis=1)[0], np.arange(1, 65))


class TestExactInstead:
    def said(self, caplog, xyz: np.ndarray, **options: object) -> str:
        with caplog.at_level("INFO", logger="mdfuzzy"):
            found = mf.rmsd_neighbors(xyz, n_neighbors=K, **options)
        assert found.exact
        assert found.recall is None
        return caplog.text

    def test_few_frames(self, monkeypatch, caplog):
        monkeypatch.setattr(_recall, "WORTH_SUPERPOSED", 5)
        assert "an exact search takes no longer here" in self.said(caplog, shapes(500), recall=0.9)

    def test_an_exact_search_is_as_fast(self, monkeypatch, caplog):
        monkeypatch.setattr(_recall, "_seconds", lambda *rest: 1e9)
        assert "an exact search takes no longer here" in self.said(caplog, shapes(2000), recall=0.9)

    def test_superposed_coordinates_say_nothing_about_the_rmsd(self, always, caplog):
        """Chains without a common shape: their average structure is none of them."""
        random = np.random.default_rng(0)
        xyz = np.cumsum(random.normal(size=(3000, 30, 3)), axis=1)
        xyz = (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)
        assert "do not reach recall 0.999" in self.said(caplog, xyz, recall=0.999)

    def test_an_index_that_is_too_large(self, caplog):
        xyz = shapes(2000)
        index = build_tiles(xyz)
        aim = _choice.Aim(K, recall=0.9)
        with caplog.at_level("INFO", logger="mdfuzzy"):
            found = _recall.superpose_frames(index, xyz, None, aim, store=None, largest=1000.0, threads=1)
        assert found is None
        assert "an approximate search needs more memory" in caplog.text


class TestStore:
    def test_keeps_blocks_and_the_recall(self, always, monkeypatch):
        monkeypatch.setattr("mdfuzzy.neighbors.rmsd.BLOCK", 8)
        xyz, store = shapes(3000), Kept()
        first = mf.rmsd_neighbors(xyz, n_neighbors=K, recall=0.8, store=store)
        names = sorted(name for name in store if name.startswith(f"neighbors-{K}-0.8-s0"))
        assert len(names) == 6
        del store[names[0]]
        monkeypatch.setattr(_recall, "_choose_candidates", None)  # as it was before
        again = mf.rmsd_neighbors(xyz, n_neighbors=K, recall=0.8, store=store)
        assert again.recall == first.recall
        assert again.indices.tobytes() == first.indices.tobytes()
        assert again.distances.tobytes() == first.distances.tobytes()

    def test_remembers_that_the_search_is_exact(self, monkeypatch):
        xyz, store = shapes(1000), Kept()
        monkeypatch.setattr(_recall, "MOST", 1.0)
        assert mf.rmsd_neighbors(xyz, n_neighbors=K, recall=0.8, store=store).exact
        monkeypatch.setattr(_recall, "_choose_candidates", None)
        assert mf.rmsd_neighbors(xyz, n_neighbors=K, recall=0.8, store=store).exact

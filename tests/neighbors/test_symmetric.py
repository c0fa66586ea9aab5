"""Neighbours under the least RMSD over exchanges of equivalent atoms: every way, against all pairs."""

import mdtraj as md
import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.frames.superposition import Alignment, rotations_onto
from mdfuzzy.frames.symmetry import Equivalence, Symmetry
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.neighbors._symmetric import SymmetricIndex
from mdfuzzy.neighbors._tiles import build_tiles

SYMMETRY = Symmetry(
    (
        Equivalence(np.array([1, 2, 4, 5]), np.array([[0, 1, 2, 3], [1, 0, 3, 2]]), "a ring"),
        Equivalence(np.array([6, 7, 8]), np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]]), "a methyl group"),
    ),
    9,
)


def frames(n=120, kind=mf.Frames, masses=None):
    """Two conformations with noise and random exchanges of equivalent atoms."""
    random = np.random.default_rng(3)
    xyz = random.normal(size=(2, 9, 3))[random.integers(2, size=n)] + random.normal(scale=0.2, size=(n, 9, 3))
    order = SYMMETRY.permutations[random.integers(len(SYMMETRY), size=n)]
    xyz = np.take_along_axis(xyz, order[:, :, None], axis=1)
    common = {"symmetry": SYMMETRY, "masses": masses}
    if kind is mf.AlignedFrames:
        alignment = Alignment(np.arange(3), "three", np.eye(3) - np.eye(3).mean(axis=0), np.full(3, 1 / 3))
        return mf.AlignedFrames(xyz, np.array([n]), alignment=alignment, **common)
    return mf.Frames(xyz - xyz.mean(axis=1, keepdims=True), np.array([n]), **common)


def all_pairs(data, others=None):
    """The distances of all pairs, obviously."""
    targets = data.points.reshape(len(data), 9, 3).astype(np.float64)
    queries = targets if others is None else others.points.reshape(len(others), 9, 3).astype(np.float64)
    found = np.full((len(queries), len(targets)), np.inf)
    for permutation in SYMMETRY.permutations:
        for i, query in enumerate(queries[:, permutation]):
            moved = targets @ rotations_onto(targets, query) if data.metric.superpose else targets
            squares = np.square(moved - query).sum(axis=(1, 2))
            found[i] = np.minimum(found[i], squares / (9 if data.metric.superpose else 1))
    return np.sqrt(found)


def search(data, **options):
    return (mf.rmsd_neighbors if data.metric.superpose else mf.euclidean_neighbors)(data, **options)


@pytest.mark.parametrize("masses", [None, np.array([1.5, 1, 1, 0.5, 1, 1, 1, 1, 1])])
@pytest.mark.parametrize("kind", [mf.Frames, mf.AlignedFrames])
def test_as_all_pairs(kind, masses):
    data = frames(kind=kind, masses=masses)
    true = all_pairs(data)
    np.fill_diagonal(true, np.inf)
    found = search(data, n_neighbors=30)
    np.testing.assert_allclose(found.distances, np.sort(true, axis=1)[:, :30], atol=2e-7)
    np.testing.assert_allclose(
        np.take_along_axis(true, found.indices.astype(int), 1), found.distances, atol=2e-7
    )
    plain = search(mf.Frames(data.xyz - data.xyz.mean(axis=1, keepdims=True), data.lengths), n_neighbors=30)
    assert not np.array_equal(plain.indices, found.indices)


@pytest.mark.parametrize("kind", [mf.Frames, mf.AlignedFrames])
def test_other_queries_as_all_pairs(kind):
    data = frames(kind=kind)
    among, queries = data[:100], data[100:]
    found = search(among, n_neighbors=100, queries=queries)
    np.testing.assert_allclose(found.distances, np.sort(all_pairs(among, queries), axis=1), atol=2e-7)


def test_within_a_radius_as_all_pairs():
    data, radius = frames(), 0.35
    true = all_pairs(data)
    np.fill_diagonal(true, np.inf)
    graph = mf.rmsd_neighbors_within(data, radius=radius)
    assert np.array_equal(np.diff(graph.indptr), (true <= radius).sum(axis=1))
    rows = np.repeat(np.arange(len(data)), np.diff(graph.indptr))
    np.testing.assert_allclose(graph.distances, true[rows, graph.indices], atol=2e-7)


def test_cells_and_tiles_find_the_same_bits():
    data = frames(700)
    found = []
    for build in (build_index, build_tiles):
        for threads in (1, 2):
            index = SymmetricIndex(build(data.points), SYMMETRY.permutations)
            chunks = index.own_chunks()
            indices, distances, _ = index.nearest(chunks, 20, n_jobs=threads)
            order = np.argsort(chunks.order)
            found.append((indices[order], distances[order]))
    for indices, distances in found[1:]:
        assert np.array_equal(indices, found[0][0])
        assert np.array_equal(distances, found[0][1])


def test_as_mdtraj():
    data = frames()
    slow = mf.rmsd_neighbors_mdtraj(data, n_neighbors=10)
    np.testing.assert_allclose(mf.rmsd_neighbors(data, n_neighbors=10).distances, slow.distances, atol=2e-5)


def test_a_flipped_frame_is_the_same_frame():
    for kind in (mf.Frames, mf.AlignedFrames):
        data = frames(60, kind=kind)
        assert search(data, n_neighbors=1, queries=data).distances.max() < 1e-7
        turned = data.xyz[:, SYMMETRY.permutations[4]]
        options = {"alignment": data.alignment} if kind is mf.AlignedFrames else {}
        queries = kind(turned, data.lengths, symmetry=SYMMETRY, **options)
        found = search(data, n_neighbors=1, queries=queries)
        assert np.array_equal(found.indices.ravel(), np.arange(60))
        assert found.distances.max() < 1e-7


def test_recall_below_one_is_kept(monkeypatch):
    monkeypatch.setattr("mdfuzzy.neighbors._recall.WORTH", 0)
    data = frames(3000)
    exact, most = mf.rmsd_neighbors(data, n_neighbors=20), mf.rmsd_neighbors(data, n_neighbors=20, recall=0.9)
    assert np.mean(most.distances <= exact.distances[:, -1:] * (1 + 1e-6)) >= 0.9


def test_blocks_are_kept_under_another_key(tmp_path):
    data = frames(200)
    settings = mf.Settings(k=10, prominence=1.0)
    store = mf.RunDir(tmp_path / "out")
    result = mf.cluster(data, settings, store=store)
    assert np.array_equal(store.load(data).labels, result.labels)
    plain = mf.Frames(data.xyz, data.lengths)
    with pytest.raises(FileExistsError, match=r"compared by symmetry-corrected RMSD, not by RMSD"):
        mf.cluster(plain, settings, store=mf.RunDir(tmp_path / "out"))
    new = mf.assign(result, data)
    assert np.array_equal(new.labels, result.labels)


def test_as_cpptraj(shared_data):
    """All pairs of 150 frames of Ala-Phe-Val; cpptraj's assignment is greedy, up to 0.01 A off the least."""
    folder = shared_data / "real"
    import scipy.io

    xyz = np.array(scipy.io.netcdf_file(folder / "AFV.nc", mmap=False).variables["coordinates"][:]) / 10
    data = mf.load(md.Trajectory(xyz, md.load_prmtop(str(folder / "AFV.parm7"))), symmetry=True)
    assert str(data.symmetry) == "Phe 1: ring, Val 2: carboxylate; group of 4"
    known = np.load(folder / "AFV_srmsd_angstrom.npz")["srmsd"] / 10
    found = mf.rmsd_neighbors(data, n_neighbors=149)
    off = np.abs(np.take_along_axis(known, found.indices.astype(int), 1) - found.distances)
    assert np.median(off) < 5e-5
    assert off.max() < 1.2e-3

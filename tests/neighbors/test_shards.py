"""An index in shards: divided, searched and put together to the bits of one; and what is sent around."""

import itertools
import pickle
from dataclasses import replace

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import peptide_topology, peptide_trajectory
from numpy.testing import assert_array_equal
from reference.merging import merge_slowly

import mdfuzzy as mf
from mdfuzzy.frames.rereading import FrameFiles
from mdfuzzy.neighbors._dask.memory import choose_layout, index_bytes
from mdfuzzy.neighbors._dask.shards import Found, build_shard, divide, merge
from mdfuzzy.neighbors._index import build_index
from mdfuzzy.workers.cluster import Workers

K = 12


@pytest.fixture(scope="module")
def frames() -> mf.Frames:
    return mf.datasets.alanine_dipeptide(stride=20)


# --- putting together


def some_found(seed: int, rows: int = 40, n_frames: int = 200) -> Found:
    """Rows of any length, also empty ones, with many equal distances, in order."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(rows):
        # frames that no other seed has, as those of shards
        frame = random.choice(n_frames, random.integers(0, 25), replace=False) * 8 + seed
        square = random.integers(0, 6, len(frame)) / 4
        order = np.lexsort((frame, square))
        found.append((frame[order], square[order]))
    start = np.concatenate([[0], np.cumsum([len(frame) for frame, _ in found])])
    frame, square = (np.concatenate(part) for part in zip(*found, strict=True))
    return Found(start, frame.astype(np.int32), square)


def assert_same(found: Found, expected: Found) -> None:
    for name in ("start", "frames", "squares"):
        assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("n_neighbors", [1, 7, 30, None])
def test_merging_in_any_order_and_grouping(n_neighbors):
    random = np.random.default_rng(0)
    parts = [some_found(seed) for seed in range(7)]
    expected = merge_slowly(parts, n_neighbors)
    for _ in range(20):
        left = [parts[place] for place in random.permutation(len(parts))]
        while len(left) > 1:  # put some of them together, then go on with the rest
            count = int(random.integers(2, len(left) + 1))
            left = [*left[count:], merge(left[:count], n_neighbors)]
            random.shuffle(left)
        assert_same(left[0], expected)


def test_merging_with_nothing():
    part = some_found(0)
    nothing = Found(np.zeros(len(part) + 1, np.int64), np.empty(0, np.int32), np.empty(0))
    assert_same(merge([nothing, part, nothing], 25), part)
    assert_array_equal(part.rows, np.repeat(np.arange(len(part)), np.diff(part.start)))


# --- dividing


@pytest.mark.parametrize("n_shards", [2, 3, 8])
def test_every_frame_is_in_one_shard(frames, n_shards):
    division = divide(frames.xyz, n_shards, n_jobs=1)
    sizes = [len(members) for members in division.shards]
    assert max(sizes) - min(sizes) <= 1
    assert all(np.all(np.diff(members) > 0) for members in division.shards)
    assert_array_equal(np.sort(np.concatenate(division.shards)), np.arange(len(frames)))
    homes = division.nearest_shards(frames.xyz, 1)
    right = np.mean([np.mean(homes[members] == number) for number, members in enumerate(division.shards)])
    assert right > 0.5  # a group that was cut has one home


def test_shards_hold_frames_that_are_near_each_other():
    random = np.random.default_rng(0)
    shapes = random.normal(size=(4, 8, 3)) * 0.3
    which = random.integers(4, size=4000)
    xyz = shapes[which] + 0.01 * random.normal(size=(4000, 8, 3))
    xyz = (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)
    shares = [
        np.bincount(which[members], minlength=4).max() / len(members)
        for members in divide(xyz, 4, n_jobs=1).shards
    ]
    assert min(shares) > 0.8


# --- searching


@pytest.mark.parametrize("n_shards", [2, 5])
@pytest.mark.parametrize("parts", [1, 3])
def test_shards_find_what_one_index_finds(frames, n_shards, parts):
    expected = mf.rmsd_neighbors(frames, n_neighbors=K)
    shards = [build_shard(frames.xyz[each], each) for each in divide(frames.xyz, n_shards, n_jobs=1).shards]
    seen = []
    for home, part in itertools.product(shards, range(parts)):
        chunks = home.block(part, parts)
        found, visitors = home.nearest(chunks, K)
        others = [shard.receive(visitors, K) for shard in shards if shard is not home]
        assert all(np.all(other.squares <= visitors.limits[other.rows]) for other in others)
        whole, rows = merge([*others, found], K), home.frames[chunks.order]
        assert_array_equal(whole.frames.reshape(-1, K), expected.indices[rows])
        assert_array_equal(home.index.lengths(whole.squares).reshape(-1, K), expected.distances[rows])
        seen.append(rows)
    assert_array_equal(np.sort(np.concatenate(seen)), np.arange(len(frames)))


@pytest.mark.parametrize("shape", ["a point", "one conformation"])
def test_frames_that_are_all_the_same(frames, shape):
    xyz = np.repeat(frames.xyz[:1] * (shape != "a point"), 300, axis=0)
    expected = mf.rmsd_neighbors(xyz, n_neighbors=K).indices
    shards = [build_shard(xyz[part::2], np.arange(part, 300, 2)) for part in (0, 1)]
    for home, other in (shards, shards[::-1]):
        chunks = home.block(0, 1)
        found, visitors = home.nearest(chunks, K)
        whole = merge([found, other.receive(visitors, K)], K)
        assert_array_equal(whole.frames.reshape(-1, K), expected[home.frames[chunks.order]])


def test_a_shard_that_is_far_finds_nothing(frames):
    near, far = frames.xyz[:700], 3 * frames.xyz[700:1400]
    home, other = build_shard(near, np.arange(700)), build_shard(far, np.arange(700, 1400))
    _, visitors = home.nearest(home.block(0, 1), K)
    assert len(other.receive(visitors, K).frames) == 0


# --- sending


def test_what_is_sent_can_be_used_where_it_arrives(frames):
    index = build_index(frames.xyz[:500], n_jobs=1)
    buffers: list[pickle.PickleBuffer] = []
    message = pickle.dumps(index, protocol=5, buffer_callback=buffers.append)
    # as they come out of a network: read-only, or at an odd address
    odd = [memoryview(b"x" + bytes(buffer.raw()))[1:] for buffer in buffers]
    arrived = pickle.loads(message, buffers=odd)
    for array in (*arrived.cells[:-1], arrived.spreads):
        assert array.flags.carray
    assert arrived.__sizeof__() == index.__sizeof__() > 500 * 200
    chunks = arrived.own_chunks()
    for one, other in zip(arrived.nearest(chunks, 5), index.nearest(index.own_chunks(), 5), strict=True):
        assert_array_equal(one, other)


# --- files


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> mf.Frames:
    """Two trajectories with boxes, the second in two pieces, molecules across the boundary."""
    folder = tmp_path_factory.mktemp("files")
    for number in range(3):
        peptide_trajectory(50, seed=number, first=10.0 + 125.0 * number).save(folder / f"run{number}.xtc")
    md.Trajectory(np.zeros((1, peptide_topology().n_atoms, 3)), peptide_topology()).save(folder / "top.pdb")
    names = [str(folder / f"run{number}.xtc") for number in range(3)]
    return mf.load([names[0], names[1:]], top=folder / "top.pdb", stride=3)


def test_frames_are_read_again(files):
    again = FrameFiles.of(files)
    assert files.whole
    assert again.are_here()
    chosen = np.random.default_rng(0).permutation(len(files))[:30]
    assert_array_equal(again.read(chosen), files.xyz[chosen])
    assert_array_equal(pickle.loads(pickle.dumps(again)).read(np.array([0])), files.xyz[:1])


def test_some_of_the_frames_are_read_again(files):
    some = files[np.array([1, 2, 5, 20, 21, 33])]
    assert_array_equal(FrameFiles.of(some).read(np.arange(6)), some.xyz)


def test_frames_that_do_not_come_from_files(files):
    assert FrameFiles.of(mf.load(files.xyz)) is None
    moved = replace(
        FrameFiles.of(files), sources=tuple(replace(each, path="/gone") for each in files.sources)
    )
    assert not moved.are_here()


# --- layout


@pytest.mark.parametrize(("n", "atoms"), [(300, 10), (3000, 10), (30_000, 10), (4000, 33)])
def test_size_of_an_index(n, atoms):
    xyz = np.random.default_rng(0).normal(size=(n, atoms, 3)).astype(np.float32)
    size = build_index(xyz - xyz.mean(axis=1, keepdims=True)).__sizeof__()
    assert 0.97 * size < index_bytes(n, atoms) < 1.15 * size


def cluster_of(n_workers: int, gigabytes: float | None) -> Workers:
    memory = None if gigabytes is None else int(gigabytes * 1e9)
    return Workers(tuple(map(str, range(n_workers))), n_workers, memory)


@pytest.mark.parametrize(
    ("n_workers", "gigabytes", "n", "shards"),
    [
        (4, None, 10**9, 1),  # no limit
        (4, 16, 10**7, 1),
        (4, 8, 10**7, 4),
        (64, 8, 10**8, 32),
        (64, 16, 10**8, 16),
    ],
)
def test_the_layout_follows_the_memory(n_workers, gigabytes, n, shards):
    options = {"n": n, "atoms": 10, "n_others": 0, "n_neighbors": 100, "block": 32_768}
    layout = choose_layout(cluster_of(n_workers, gigabytes), **options)
    assert layout.shards == shards
    assert gigabytes is None or layout.memory <= 0.6e9 * gigabytes
    forced = choose_layout(cluster_of(n_workers, None), layout="sharded", **options)
    assert forced.shards == 2


def test_frames_that_fit_nowhere():
    options = {"n": 10**8, "atoms": 10, "n_others": 0, "n_neighbors": 100, "block": 32_768}
    message = (
        r"enough memory for the frames \(sharded, the index in 4 parts, at most .* GB on a worker, of which "
        r"Dask leaves 4.8 GB to data\); got 4 workers of at least 8.0 GB, 4 threads. Start more of them"
    )
    with pytest.raises(ValueError, match=message):
        choose_layout(cluster_of(4, 8), **options)
    with pytest.raises(ValueError, match=r"\(scattered, the index on each, at most 68.7 GB"):
        choose_layout(cluster_of(4, 8), layout="scattered", **options)

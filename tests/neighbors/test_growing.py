import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.neighbors import growing
from mdfuzzy.neighbors.growing import Earlier, grow_neighbors, with_spare

RNG = np.random.default_rng(5)


def molecules(n):
    return mf.Frames(_centred(RNG.normal(size=(n, 5, 3)) * 0.1), [n])


def _centred(xyz):
    return (xyz - xyz.mean(axis=1, keepdims=True)).astype(np.float32)


def blobs(n):
    return mf.Features(RNG.normal(size=(n, 3)) + 5 * RNG.integers(3, size=(n, 1)))


def lattice(n):  # many equal distances, and many copies
    return mf.Features(RNG.integers(6, size=(n, 2)).astype(float))


def same(found, expected):
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def known_of(data, frames, n_neighbors, spare=8):
    search = mf.rmsd_neighbors if data.metric.superpose else mf.euclidean_neighbors
    found = search(data.subset(frames), n_neighbors=min(n_neighbors + spare, len(frames) - 1))
    return Earlier(with_spare(found, n_neighbors), frames)


@pytest.mark.parametrize("make", [molecules, blobs, lattice])
@pytest.mark.parametrize("old", ["most", "all but one", "scattered", "few"])
@pytest.mark.parametrize("more", [0, 20])
def test_grown_neighbors_have_the_bits_of_a_search_of_all_frames(make, old, more):
    data = make(900)
    frames = {
        "most": np.arange(600),
        "all but one": np.delete(np.arange(900), 333),
        "scattered": np.flatnonzero(RNG.random(900) < 0.8),
        "few": np.arange(860, 900),
    }[old]
    search = mf.rmsd_neighbors if data.metric.superpose else mf.euclidean_neighbors
    grown = grow_neighbors(data, known_of(data, frames, 25), n_neighbors=25 + more)
    same(grown, search(data, n_neighbors=25 + more))
    grown_twice = grow_neighbors(data, Earlier(grown, np.arange(900)), n_neighbors=30 + more)
    same(grown_twice, search(data, n_neighbors=30 + more))


@pytest.mark.parametrize("make", [molecules, blobs, lattice])
@pytest.mark.parametrize("old", ["half", "few", "elsewhere"])
def test_lists_that_new_frames_do_not_fill_are_completed_as_far_as_known(make, old, monkeypatch):
    monkeypatch.setattr(growing, "_NEW", 1.0)
    monkeypatch.setattr(growing, "_MOST", 1.0)
    data = make(900)
    frames = {
        "half": np.arange(450),
        "few": np.arange(820, 900),
        "elsewhere": np.argsort(data.points.reshape(900, -1)[:, 0], kind="stable")[:500],
    }[old]
    search = mf.rmsd_neighbors if data.metric.superpose else mf.euclidean_neighbors
    frames = np.sort(frames)
    same(
        growing.grow_neighbors(data, known_of(data, frames, 25), n_neighbors=29),
        search(data, n_neighbors=29),
    )


def merged_slowly(known, near, reach, width):
    """Merge one row: sort, and end it where a known and a new frame are equally near, or beyond the reach."""
    rows = [(d, f if d == 0 else -1, at, f) for at, (f, d) in enumerate(known + near) if d <= reach]
    both = {d for _, d in known} & {d for _, d in near}
    end = min((d for d in both if d > 0), default=np.inf)
    return [(f, d) for d, _, _, f in sorted(rows) if d < end][:width]


def test_merged_lists_are_those_of_the_obvious_way():
    for _ in range(50):
        steps = np.sort(RNG.integers(8, size=(2, 6)), axis=1).astype(np.float32) / 4
        frames = RNG.permutation(12).astype(np.int32).reshape(2, 6)
        frames = np.array([f[np.lexsort((f, d))] for f, d in zip(frames, steps, strict=True)])
        reach = np.float32(RNG.integers(8) / 4)
        known = growing._Lists(frames[:1], steps[:1])
        near = growing._Near(np.array([0, 6]), frames[1], steps[1])
        found = growing._merged(known, near, np.array([reach]), 9)
        pairs = [list(zip(f.tolist(), d.tolist(), strict=True)) for f, d in zip(frames, steps, strict=True)]
        expected = merged_slowly(*pairs, reach, 9)
        size = np.isfinite(found.distances[0]).sum()
        assert list(zip(found.indices[0, :size], found.distances[0, :size], strict=True)) == expected


def test_spare_neighbors_are_those_that_follow():
    data = blobs(500)
    grown = grow_neighbors(data, known_of(data, np.arange(400), 20), n_neighbors=20)
    fresh = mf.euclidean_neighbors(data, n_neighbors=28)
    known = np.isfinite(grown.spare.distances)
    assert known.mean() > 0.9
    np.testing.assert_array_equal(grown.spare.indices[known], fresh.indices[:, 20:][known])
    np.testing.assert_array_equal(grown.spare.distances[known], fresh.distances[:, 20:][known])


def test_only_what_is_new_is_searched_and_lists_too_short(caplog):
    data = blobs(3000)
    known = known_of(data, np.arange(2900), 40)
    caplog.set_level("INFO", logger="mdfuzzy")
    grow_neighbors(data, known, n_neighbors=46)
    searched = [record.message for record in caplog.records if record.message.startswith("neighbours of")]
    assert [line.split()[2] for line in searched] == ["100"]  # spare neighbours were enough
    assert "100 of 3,000 frames are new; the others were searched before" in caplog.messages


class Blocks(dict):
    def put(self, name, /, **arrays):
        self[name] = arrays


def test_finished_blocks_are_kept():
    data, blocks = molecules(3000), Blocks()
    known = known_of(data, np.arange(2000), 20)
    first = grow_neighbors(data, known, n_neighbors=20, store=blocks)
    assert {name.split("-")[0] for name in blocks} >= {"neighbors", "old"}
    blocks["old-00000"]["distances"] = blocks["old-00000"]["distances"] * 2  # taken from there
    again = grow_neighbors(data, known, n_neighbors=20, store=blocks)
    assert not np.array_equal(first.distances, again.distances)


def test_an_approximate_search_does_not_serve():
    data = blobs(300)
    known = known_of(data, np.arange(200), 20)
    assert known.serves(data)
    few = known.neighbors
    loose = mf.Neighbors(few.indices, few.distances, exact=False)
    assert not Earlier(loose, known.frames).serves(data)

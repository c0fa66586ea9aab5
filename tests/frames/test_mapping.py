"""Arrays in files."""

import numpy as np
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.frames import _column, mapping
from mdfuzzy.pipeline import _cache
from mdfuzzy.store import rundir


def test_a_large_array_is_mapped_and_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(mapping, "LARGE", 100)
    np.save(tmp_path / "a.npy", np.arange(1000))
    array = mapping.open_array(tmp_path / "a.npy")
    assert not array.flags.writeable
    mapping.release()
    assert_array_equal(array, np.arange(1000))


def test_scratch_has_no_name_and_keeps_what_is_written(tmp_path):
    array = mapping.scratch_array(tmp_path / "draft", (1000, 3), np.float32)
    assert list(tmp_path.iterdir()) == []
    array[500:] = 7
    mapping.release()
    assert array.sum() == 7 * 1500


def test_scratch_that_is_given_up_is_removed(tmp_path):
    file = mapping.ScratchFile(tmp_path / "draft")
    file.write(np.arange(3))
    del file
    assert list(tmp_path.iterdir()) == []


def test_frames_in_files_are_those_in_memory(tmp_path, monkeypatch):
    folder = mf.datasets.folder()
    reading = {"top": folder / "ala2.pdb", "stride": 10}
    frames = mf.load(folder / "ala2_*.xtc", **reading)
    monkeypatch.setattr(_column, "LARGE", 1000)
    mapped = mf.load(folder / "ala2_*.xtc", **reading, scratch=tmp_path / "new")
    for name in ("xyz", "times", "phi", "psi", "lengths"):
        assert_array_equal(getattr(mapped, name), getattr(frames, name))
    assert not mapped.xyz.flags.owndata
    assert list((tmp_path / "new").iterdir()) == []


def test_results_in_files_are_those_in_memory(tmp_path, monkeypatch):
    points = np.random.default_rng(0).normal(size=(600, 2)) + 6 * np.repeat([0, 1], 300)[:, None]
    result = mf.cluster(points)
    for module in (mapping, _cache, rundir):
        monkeypatch.setattr(module, "LARGE", 1000)
    mapped = mf.cluster(points, store=mf.RunDir(tmp_path))
    assert_array_equal(mapped.memberships.values, result.memberships.values)
    for name in ("indptr", "indices", "distances"):
        assert_array_equal(getattr(mapped.graph, name), getattr(result.graph, name))
    assert not mapped.neighbors.indices.flags.owndata
    assert not any(name.endswith(".draft") for name in map(str, tmp_path.rglob("*")))


def test_scratch_must_be_a_folder(tmp_path):
    import pytest

    (tmp_path / "file").write_text("")
    folder = mf.datasets.folder()
    with pytest.raises(mf.InputError, match="`scratch` must be a folder; got the file"):
        mf.load(folder / "ala2_03.xtc", top=folder / "ala2.pdb", scratch=tmp_path / "file")

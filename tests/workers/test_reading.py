"""Trajectories are read on the workers of a Dask cluster: the same bits, and lost workers."""

import mmap
import os
import signal
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.frames import _accumulator, _column, _elsewhere

pytest.importorskip("distributed")


def assert_same(there, here) -> None:
    """Check that all that was read agrees to the bit."""
    assert_array_equal(there.points, here.points)
    for name in ("lengths", "times", "phi", "psi"):
        assert_array_equal(getattr(there, name), getattr(here, name))
    assert [vars(each) for each in there.sources] == [vars(each) for each in here.sources]
    assert there.reading == here.reading


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": 3, "atoms": "name CA CB N C"},
        {"begin": 20.0, "end": 55.0},
        {"timestep": 0.5},
        {"align": "name CA N C", "atoms": "name CB O"},
        {"symmetry": [[(0, 1)]]},
    ],
    ids=["all", "stride", "window", "timestep", "aligned", "symmetry"],
)
def test_frames(client, files, options):
    found = []
    for more in ({}, {"client": client}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append((mf.load(**files, **options, **more), [str(each.message) for each in caught]))
    (here, warned), (there, told) = found
    assert_same(there, here)
    assert told == warned
    assert type(there) is type(here)


def test_pieces_of_a_trajectory(client, files):
    paths = [[files["paths"].replace("*", each) for each in group] for group in ("01", "2", "3456")]
    options = {"paths": paths, "top": files["top"]}
    assert_same(mf.load(**options, client=client), mf.load(**options))


def test_frames_in_files(client, files, tmp_path, monkeypatch):
    monkeypatch.setattr(_column, "LARGE", 2**14)
    there = mf.load(**files, client=client, scratch=tmp_path)
    assert_same(there, mf.load(**files))
    base = there.xyz
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)


@pytest.mark.filterwarnings("ignore:1 of 8 trajectories")  # it has one frame
@pytest.mark.parametrize("reduction", [None, mf.features.Reduction.parse("TICA", "2ps")])
def test_features(client, files, reduction):
    options = {"features": "distances:name CA | name O", "reduction": reduction, **files}
    here, there = mf.featurize(**options), mf.featurize(**options, client=client)
    assert_same(there, here)
    assert there.names == here.names
    assert_array_equal(there.values, here.values)


def test_a_worker_that_is_lost_costs_its_trajectories(client, files, monkeypatch):
    absorb, absorbed = _accumulator.Store.absorb, []

    def absorb_and_kill(self, part):
        absorb(self, part)
        absorbed.append(part.count)
        if len(absorbed) == 2:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    monkeypatch.setattr(_accumulator.Store, "absorb", absorb_and_kill)
    assert_same(mf.load(**files, client=client), mf.load(**files))
    assert absorbed == [300, 400, 100, 500, 1, 599, 600, 500]


def test_errors_of_workers_are_those_of_one_machine(client, files, tmp_path):
    broken = tmp_path / "broken.xtc"
    broken.write_bytes(b"")
    paths = [files["paths"].replace("*", "0"), str(broken)]
    errors = []
    for more in ({}, {"client": client}):
        with pytest.raises(ValueError) as caught:
            mf.load(paths, top=files["top"], **more)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_objects_are_read_here(client, files):
    trajectory = mf.load(**files).trajectory()
    assert _elsewhere.are_readable(client, [[]]) is True
    there = mf.load(trajectory, client=client)
    assert_array_equal(there.xyz, mf.load(trajectory).xyz)


def test_not_a_client(files):
    with pytest.raises(TypeError, match=r"`client` must be a `distributed\.Client`"):
        mf.load(**files, client="tcp://127.0.0.1:8786")

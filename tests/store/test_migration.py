"""Run directories of version 0.1, one of which is kept beside this file, open and resume."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.pipeline import _steps
from mdfuzzy.store._migration import OldRun

#: What version 0.1.0 left of cluster(alanine_dipeptide(stride=60), Settings(scan_beta=True, prominence=1.5,
#: scan_k=True, resamples=3, kernel="gaussian")), with a picture of its own, one of a user, and a table.
SAVED = Path(__file__).parent / "data" / "run-0.1.zip"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    shutil.unpack_archive(SAVED, tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture(scope="module")
def frames() -> mf.Frames:
    return mf.datasets.alanine_dipeptide(stride=60)


@pytest.fixture
def done(monkeypatch) -> list[str]:
    """The functions of steps that were called."""
    names: list[str] = []
    for module, name in (
        (_steps.neighbors, "nearest_frames"),
        (_steps.density, "estimate_log_density"),
        (_steps.states, "find_cores"),
        (_steps.memberships, "solve_memberships"),
        (_steps.robustness, "states_by_k"),
    ):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, real=real, name=name, **o: (names.append(name), real(*a, **o))[1]
        )
    return names


def test_opens_with_all_its_results(old, frames, done):
    density = np.load(next(old.glob("log_density-*.value.npy")))
    store = mf.RunDir(old)
    assert store.settings.walk_weights == "power"
    assert store.settings.bootstrap == 3
    assert "2 trajectories" in store.summary()
    result = store.load(frames)
    # The search, the dimension, the density and its peaks are taken over; the states are tested again.
    assert not {"nearest_frames", "estimate_log_density"} & {*done}
    assert_array_equal(result.log_density, density)
    assert result.bandwidth == result.memberships.bandwidth > 0
    assert len(result.bootstrap.n_states) == 3
    assert sorted(path.name for path in old.iterdir()) == ["data", "exports", "plots"]
    done.clear()
    again = mf.RunDir(old).load(frames)
    assert done == []
    assert_array_equal(again.memberships.values, result.memberships.values)


def test_goes_on_with_other_settings(old, frames, done):
    settings = mf.Settings(prominence=1.5, kernel="gaussian", beta=1.0)
    result = mf.cluster(frames, settings, store=mf.RunDir(old))
    assert not {"nearest_frames", "estimate_log_density"} & {*done}
    assert_array_equal(result.memberships.values, mf.cluster(frames, settings).memberships.values)


def test_its_pictures_and_table_are_ours_and_those_of_users_are_not(old, frames):
    result = mf.RunDir(old).load(frames)
    mf.plots.write_plots(old / "plots", result, dpi=20)
    mf.exports.write_exports(old / "exports", result, kinds=["table"])
    assert (old / "plots" / "states.png").read_bytes().startswith(b"\x89PNG")
    assert (old / "plots" / "mine.png").read_text() == "mine"
    assert (old / "exports" / "frames.csv").read_text().startswith("trajectory")


@pytest.mark.parametrize("name", ["neighbors", "log_density"])
def test_results_that_are_out_of_date_or_damaged_are_not_taken_over(old, frames, done, name):
    if name == "log_density":
        for file in old.glob("log_density-*.npy"):
            file.write_bytes(file.read_bytes()[:-8])
    else:
        record = old / "neighbors.json"
        record.write_text(record.read_text().replace('"key": "', '"key": "0'))  # of other settings
    assert name not in OldRun(old).steps(frames)
    mf.cluster(frames, mf.RunDir(old).settings, store=mf.RunDir(old))
    assert ("nearest_frames" in done) == (name == "neighbors")
    assert "estimate_log_density" in done


def test_other_data_is_refused_and_nothing_changes(old, frames):
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    with pytest.raises(FileExistsError, match="holds the results for other data"):
        mf.cluster(frames[::2], store=mf.RunDir(old))
    after = {path: path.read_bytes() for path in old.rglob("*") if path.is_file() and path.name != ".lock"}
    assert after == before

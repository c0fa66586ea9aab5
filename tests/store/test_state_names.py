import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.store.state_names import match_states


def first(labels, n_states):
    return match_states(None, labels, n_states=n_states), labels


def test_names_follow_the_frames_not_the_numbers():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    found = match_states(first(labels, 3), np.array([2, 0, 1])[labels], n_states=3)
    assert found.names == ("B", "C", "A")
    assert found.events == ()


def test_what_happened_is_said():
    labels = np.repeat([0, 1, 2, 3], [60, 40, 30, 20])
    now = labels.copy()
    now[40:60] = 4  # the smaller part of A
    now[labels == 2] = 1  # C merges into B
    now[labels == 3] = 2  # D has another number
    now = np.concatenate([now, np.full(50, 3)])  # new frames only
    found = match_states(first(labels, 4), now, n_states=5)
    assert found.names == ("A", "B", "D", "E", "F")
    assert found.events == (
        "C merged into B",
        "E appeared",
        "F split off from A, with 33 % of its earlier frames",
    )
    assert found.used == 6  # C is not given again
    again = match_states((found, now), np.full(len(now), -1), n_states=1)
    assert again.names == ("G",)
    assert again.events[0] == "A vanished"


def test_a_state_that_falls_apart_vanishes():
    labels = np.repeat([0, 1, 2, 3], [90, 100, 100, 100])
    now = np.concatenate([np.repeat([0, 1, 2], 30), np.repeat([0, 1, 2], 100)])
    found = match_states(first(labels, 4), now, n_states=3)
    assert found.names == ("B", "C", "D")
    assert found.events == ("A vanished: its frames are now in B (33 %), C (33 %), D (33 %)",)
    mixed = np.concatenate([now[:90], np.full(300, -1)])
    later = match_states((found, now), np.where(mixed >= 0, 0, -1), n_states=1)
    assert later.events[-1].startswith("E appeared, of frames of B (33 %)") or later.names == ("B",)


def test_names_after_z():
    found = match_states(None, np.arange(60), n_states=60)
    assert found.names[25:28] == ("Z", "AA", "AB")


def test_frames_must_fit():
    with pytest.raises(
        mf.InputError, match="`frames` must hold the number of each earlier frame; got 1 for 2"
    ):
        match_states(first([0, 1], 2), [0, 1, 1], n_states=2, frames=[0])


def test_a_folder_keeps_the_names(tmp_path):
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(150, 2)), rng.normal(size=(400, 2)) + 8
    run = mf.RunDir(tmp_path)
    assert run.names is None
    with pytest.warns(UserWarning, match="There is one state only"):
        result = mf.cluster([few], mf.Settings(n_states=1), store=run)
    assert run.name_states(result).names == ("A",)
    grown = mf.cluster([few, many], mf.Settings(prominence=1.0), store=run)
    names = run.name_states(grown)
    state = grown.labels[0]
    assert names.names[state] == "A"  # whatever its number is
    assert names.events == ("B appeared",)
    again = mf.RunDir(tmp_path)
    assert again.names == run.names == names
    assert again.name_states(mf.cluster([few, many], mf.Settings(prominence=1.0), store=again)) == names
    assert "names" not in run.steps
    with pytest.raises(mf.InputError, match="`result` must come from the last run with this store"):
        run.name_states(result)

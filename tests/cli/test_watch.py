import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.cli.watch import watch


class Ended(Exception):
    pass


def sleeps(*steps):
    """Return a function that does one step after the other instead of waiting, and then ends."""
    left = list(steps)

    def sleep(seconds):
        assert seconds == 5
        if not left:
            raise Ended
        left.pop(0)()

    return sleep


def test_it_acts_when_files_grow_or_are_added(tmp_path, capsys):
    one, calls = tmp_path / "run1.xtc", []
    one.write_text("a")

    def act():
        calls.append(sorted(path.read_text() for path in tmp_path.glob("run*.xtc")))
        if calls[-1] == ["ab"]:
            raise mf.InputError("half a frame.")

    steps = (
        lambda: None,
        lambda: one.write_text("ab"),
        lambda: None,
        lambda: one.write_text("abc"),
        lambda: (tmp_path / "run2.xtc").write_text("x"),
    )
    with pytest.raises(Ended):
        watch([str(tmp_path / "run*.xtc")], act, seconds=5, sleep=sleeps(*steps))
    assert calls == [["a"], ["ab"], ["abc"], ["abc", "x"]]
    assert "half a frame. mdfuzzy tries again when the files change." in capsys.readouterr().err


def test_an_error_at_once_is_an_error(tmp_path):
    def act():
        raise mf.InputError("no such file")

    with pytest.raises(mf.InputError, match="no such file"):
        watch([str(tmp_path / "*.xtc")], act, seconds=5, sleep=sleeps())


def test_a_run_that_watches(tmp_path, monkeypatch, capsys):
    from mdfuzzy.cli import main

    frames = mf.datasets.alanine_dipeptide(stride=60)
    pieces = np.array_split(np.arange(len(frames)), 2)
    top = mf.datasets.folder() / "ala2.pdb"
    frames.trajectory(pieces[0]).save_xtc(tmp_path / "run1.xtc")
    add = sleeps(lambda: frames.trajectory(pieces[1]).save_xtc(tmp_path / "run2.xtc"))

    def end(_):
        try:
            add(5)
        except Ended:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("time.sleep", end)
    monkeypatch.setattr(watch, "__kwdefaults__", {"sleep": end})
    options = ["--top", str(top), "--bare", "--watch", "5", "-o", str(tmp_path / "out"), "--n-states", "2"]
    assert main(["run", str(tmp_path / "run*.xtc"), *options]) == 130
    said = capsys.readouterr()
    assert said.out.count("states, by number and name:") == 2
    assert f"{len(pieces[1])} of {len(frames)} frames are new" in said.err
    found = mf.RunDir(tmp_path / "out").load()
    fresh = mf.cluster(mf.load(str(tmp_path / "run*.xtc"), top=top), mf.Settings(n_states=2))
    np.testing.assert_array_equal(found.memberships.values, fresh.memberships.values)

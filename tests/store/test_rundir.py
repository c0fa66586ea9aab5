"""The run directory: whole files or none, other data refused, only what changed is computed anew."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.neighbors import growing, rmsd
from mdfuzzy.pipeline import _beta, _steps
from mdfuzzy.pipeline._arrays import pack, unpack
from mdfuzzy.store import _array_folder

STEPS = {
    (_steps.neighbors, "nearest_frames"): "neighbors",
    (growing, "grow_neighbors"): "neighbors",
    (_steps.density, "intrinsic_dimension"): "dimension",
    (_steps.density, "estimate_log_density"): "log_density",
    (_steps.states, "compute_persistence"): "peaks",
    (_steps.states, "find_reached_cores"): "cores",
    (_steps.states, "find_cores"): "cores",
    (_beta, "scan_beta"): "beta_scan",
    (_steps.memberships, "solve_memberships"): "memberships",
}


def blobs(n: int = 240, apart: float = 7.0) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=(n // 2, 2)) + shift for shift in (0.0, apart)]


@pytest.fixture
def done(monkeypatch) -> list[str]:
    """The steps that were computed, in order."""
    names = []
    for (module, function), step in STEPS.items():
        real = getattr(module, function)

        def counted(*args, real=real, step=step, **options):
            names.append(step)
            return real(*args, **options)

        monkeypatch.setattr(module, function, counted)
    return names


def _without_spare(packed):
    """Spare neighbours are no result: only a run directory keeps them."""
    return {name: array for name, array in packed.items() if not name.startswith("spare.")}


def same(first: mf.Clustering, second: mf.Clustering) -> None:
    """Assert that two clusterings have the same numbers, types and words."""
    for name in (
        "neighbors",
        "peaks",
        "gap",
        "cores",
        "memberships",
        "beta_scan",
        "k_scan",
        "bootstrap",
        "transition_regions",
        "visits",
    ):
        a, b = getattr(first, name), getattr(second, name)
        assert type(a) is type(b)
        if a is not None:
            packed, again = _without_spare(pack(a)), _without_spare(pack(b))
            assert packed.keys() == again.keys()
            for key in packed:
                assert packed[key].dtype == again[key].dtype, (name, key)
                assert_array_equal(packed[key], again[key], err_msg=f"{name}.{key}")
    assert_array_equal(first.log_density, second.log_density)
    for name in ("k", "dimension", "bandwidth", "prominence", "chosen", "warnings"):
        assert getattr(first, name) == getattr(second, name)


# --- named arrays


def test_arrays_come_back_as_they_were(tmp_path):
    store = mf.RunDir(tmp_path / "run")
    arrays = {
        "table": np.arange(6, dtype=np.int32).reshape(2, 3),
        "empty": np.zeros((0, 3), np.float32),
        "texts": np.array(["one", "drei und zwanzig", ""]),
        "none": np.array([], dtype=np.str_),
        "number": np.array(0.1 + 0.2),
        "single": np.float32(0.1),
        "infinite": np.array(-np.inf),
        "nan": np.array(np.nan),
        "count": np.array(2**62),
        "flag": np.array(False),
        "word": np.array("uniform"),
    }
    store.put("step", **arrays)
    found = store.get("step")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype, name
        assert found[name].shape == array.shape, name
        assert_array_equal(found[name], array)
    assert store.steps == ("step",)
    assert repr(store).endswith("run', 1 finished steps)")
    json.loads(
        (tmp_path / "run" / "data" / "step.json").read_text(), parse_constant=pytest.fail
    )  # plain JSON


def test_a_name_is_found_with_its_key_only(tmp_path):
    store = mf.RunDir(tmp_path)
    assert store.get("step") is None
    store.put("step", key="old", values=np.zeros(3))
    store.put("step-two", key="old", values=np.full(3, 2.0))
    assert store.get("step", key="new") is None
    store.put("step", key="new", values=np.ones(3))
    assert store.get("step", key="old") is None
    assert_array_equal(store.get("step", key="new")["values"], np.ones(3))
    assert_array_equal(store.get("step-two", key="old")["values"], np.full(3, 2.0))
    assert len(list(tmp_path.glob("data/*.npy"))) == 2  # the replaced one is removed


@pytest.mark.parametrize("damage", ["cut", "gone", "json", "other format", "pickle"])
def test_files_that_are_not_whole_count_as_not_there(tmp_path, damage):
    store = mf.RunDir(tmp_path)
    store.put("step", values=np.arange(1000))
    (file,) = tmp_path.glob("data/*.npy")
    record = tmp_path / "data" / "step.json"
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-5])
    elif damage == "gone":
        file.unlink()
    elif damage == "json":
        record.write_text(record.read_text()[:-10])
    elif damage == "other format":
        content = _array_folder.read_json(record)
        _array_folder.write_json(record, content | {"format": 99})
    else:
        np.save(file, np.array([object()]), allow_pickle=True)
    assert store.get("step") is None


def test_refuses_objects_and_odd_names(tmp_path):
    store = mf.RunDir(tmp_path)
    with pytest.raises(TypeError, match="`values` must be an array of numbers or texts; got one of objects"):
        store.put("step", values=np.array([{}]))
    for name in ("run", "", "../up", "a/b", ".hidden", 3):
        with pytest.raises(ValueError, match="`name` must be made of letters, digits"):
            store.put(name, values=np.zeros(1))
    assert store.get("step") is None


def test_parts_are_kept_until_the_step_is_done(tmp_path):
    store = mf.RunDir(tmp_path)
    store.parts("neighbors", key="a").put("block-0", values=np.zeros(2))
    assert_array_equal(mf.RunDir(tmp_path).parts("neighbors", key="a").get("block-0")["values"], np.zeros(2))
    parts = store.parts("neighbors", key="b")  # other settings: the parts of before are of no use
    assert parts.get("block-0") is None
    assert store.parts("neighbors", key="a").get("block-0") is None
    parts.put("block-0", values=np.ones(2))
    store.put("neighbors", key="b", values=np.ones(4))
    assert store.parts("neighbors", key="b").get("block-0") is None
    assert not (tmp_path / "data" / "neighbors.parts").exists()


WRITER = """
import itertools, numpy as np, sys
from mdfuzzy.store.rundir import RunDir
store = RunDir(sys.argv[1])
for i in itertools.count():
    store.put("step", key=str(i), **{name: np.full(200_000, i) for name in "abcd"}, number=np.array(i))
    print(i, flush=True)
"""


def test_a_killed_writer_leaves_the_old_arrays_or_the_new_ones(tmp_path):
    root = Path(mf.__file__).parents[1]
    rng = np.random.default_rng(0)
    left_over = 0
    for trial in range(20):
        if trial >= 5 and left_over:
            break
        folder = tmp_path / str(trial)
        command = [sys.executable, "-c", WRITER, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as writer:
            last = int(writer.stdout.readline())
            time.sleep(rng.uniform(0.0, 0.05))
            writer.send_signal(signal.SIGKILL) if hasattr(signal, "SIGKILL") else writer.kill()
            last = max([last, *map(int, writer.stdout.read().split())])
        store = mf.RunDir(folder)
        found = [store.get("step", key=str(key)) for key in (last, last + 1)]
        found = [arrays for arrays in found if arrays is not None]
        assert len(found) == 1
        number = int(found[0].pop("number"))
        for array in found[0].values():
            assert_array_equal(array, np.full(200_000, number))
        left_over += len(list(folder.glob("data/*.npy"))) > 4 or bool(list(folder.glob("data/.*.draft")))
        store.put("step", key="after", a=np.zeros(1))
        assert len(list(folder.glob("data/step-*.npy"))) == 1
    assert left_over, "no writer was killed at work, so this proves nothing"


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    store = mf.RunDir(tmp_path)
    store.put("step", values=np.zeros(3))

    def full_disk(file, array, **options):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        store.put("step", values=np.ones(3))
    assert_array_equal(store.get("step")["values"], np.zeros(3))
    assert not list(tmp_path.rglob("*.draft"))


@pytest.mark.skipif(os.name != "posix", reason="folders cannot be synchronised there")
def test_files_are_on_the_disk_before_they_get_their_name(tmp_path, monkeypatch):
    calls = []
    replace, sync = os.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("sync"), sync(handle)))

    def renamed(old, new):
        assert Path(old).parent == Path(new).parent
        assert Path(old).stat().st_size > 0
        calls.append(Path(new).suffix)
        replace(old, new)

    monkeypatch.setattr(os, "replace", renamed)
    mf.RunDir(tmp_path).put("step", values=np.zeros(3))
    # Every file and then its folder, the record of the step last.
    assert calls == ["sync", ".npy", "sync", "sync", ".json", "sync"]


# --- runs


@pytest.mark.filterwarnings("ignore:H ", "ignore:The choice")
def test_nothing_is_computed_twice(tmp_path, done):
    settings = mf.Settings(beta="entropy", scan_k=True, bootstrap=2, kernel="gaussian", bandwidth=0.5)
    first = mf.cluster(blobs(), settings, store=mf.RunDir(tmp_path))
    assert done.count("neighbors") == 1
    done.clear()
    with pytest.warns(UserWarning, match="plateau"):
        again = mf.cluster(blobs(), settings, store=mf.RunDir(tmp_path))
    assert done == []
    same(first, again)
    assert any("plateau" in message for message in again.warnings)
    same(first, mf.cluster(blobs(), settings))


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        ({"n_jobs": 1}, []),
        ({"beta": 1.0}, ["memberships"]),
        ({"core_rule": "share"}, ["cores", "memberships"]),
        ({"prominence": 1.0}, ["cores", "memberships"]),
        ({"dimension": 3.0}, ["log_density", "peaks", "cores", "memberships"]),
        ({"k": 9}, ["neighbors", "dimension", "log_density", "peaks", "cores", "memberships"]),
    ],
    ids=str,
)
def test_only_what_depends_on_a_changed_setting_is_computed_anew(tmp_path, done, change, steps):
    mf.cluster(blobs(), mf.Settings(k=8), store=mf.RunDir(tmp_path))
    done.clear()
    settings = mf.Settings(**({"k": 8} | change))
    resumed = mf.cluster(blobs(), settings, store=mf.RunDir(tmp_path))
    assert done == steps
    same(resumed, mf.cluster(blobs(), settings))
    assert mf.RunDir(tmp_path).settings == settings


def test_an_interrupted_run_goes_on(tmp_path, done, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_steps.states, "find_reached_cores", interrupt)
        with pytest.raises(KeyboardInterrupt):
            mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    assert done == ["neighbors", "dimension", "log_density", "peaks"]
    done.clear()
    result = mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    assert done == ["cores", "memberships"]
    same(result, mf.cluster(blobs()))


def test_a_search_by_rmsd_goes_on_from_its_last_block(tmp_path, monkeypatch):
    monkeypatch.setattr(rmsd, "BLOCK", 8)
    frames = mf.datasets.alanine_dipeptide(stride=20)
    settings = mf.Settings(k=10, prominence=1.0)
    saved, real = [], _array_folder.ArrayFolder.put

    def put(self, name, key="", /, **arrays):
        real(self, name, key, **arrays)
        if name.startswith("neighbors-"):
            saved.append(name)
            if len(saved) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(_array_folder.ArrayFolder, "put", put)
    with pytest.raises(KeyboardInterrupt):
        mf.cluster(frames, settings, store=mf.RunDir(tmp_path))
    assert (tmp_path / "data" / "neighbors.parts").is_dir()
    result = mf.cluster(frames, settings, store=mf.RunDir(tmp_path))
    assert len(saved) == len(set(saved)) > 2  # no block twice
    assert not (tmp_path / "data" / "neighbors.parts").exists()
    same(result, mf.cluster(frames, settings))


def test_the_directory_of_other_data_is_refused_and_left_as_it_is(tmp_path):
    mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    x, y = blobs()
    other = [
        [x, y + 1e-12],
        [np.concatenate([x, y])],  # the same vectors, another boundary
        mf.Features([x, y], periodic=[0]),
        mf.Features([x, y], periodic=[0], period=2.0),
        [y, x],
    ]
    for data in other:
        with pytest.raises(FileExistsError, match="holds the results for other"):
            mf.cluster(data, store=mf.RunDir(tmp_path))
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_another_format_is_refused(tmp_path):
    mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    run = tmp_path / "data" / "run.json"
    _array_folder.write_json(run, _array_folder.read_json(run) | {"format": 3})
    with pytest.raises(ValueError, match=r"is in format 3; this version of mdfuzzy reads format 2"):
        mf.cluster(blobs(), store=mf.RunDir(tmp_path))


def test_a_damaged_run_json_is_named_and_written_again(tmp_path, done, caplog):
    result = mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    run = tmp_path / "data" / "run.json"
    run.write_text(run.read_text()[:-20])
    with pytest.raises(FileNotFoundError, match=r"run.json is damaged .*run the same command again"):
        mf.RunDir(tmp_path).load(blobs())
    done.clear()
    same(mf.cluster(blobs(), store=mf.RunDir(tmp_path)), result)
    assert done == []
    assert any(f"{run} is damaged (JSONDecodeError)" in message for message in caplog.messages)
    same(mf.RunDir(tmp_path).load(blobs()), result)
    run.write_text(run.read_text().replace("fingerprint", "fingerprinT"))
    mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    assert any(f"{run} is damaged (the checksum differs)" in message for message in caplog.messages)


def test_a_damaged_run_json_without_results_is_not_ours(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "run.json").write_text("my own notes")
    with pytest.raises(FileExistsError, match=r"it holds 'data/run.json' and no data/run.json"):
        mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    assert (tmp_path / "data" / "run.json").read_text() == "my own notes"


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(FileExistsError, match=r"it holds 'thesis.tex' and no data/run.json"):
        mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(NotADirectoryError, match=r"`path` must be a folder; .*thesis.tex is a file"):
        mf.cluster(blobs(), store=mf.RunDir(tmp_path / "thesis.tex"))


def test_parts_of_a_step_that_was_done_when_the_run_was_killed_are_removed(tmp_path):
    frames = mf.datasets.alanine_dipeptide(stride=100)
    store = mf.RunDir(tmp_path)
    store.begin(frames, mf.Settings())
    store.put("neighbors", key="a", values=np.zeros(2))
    store.parts("neighbors", key="a").put("block-0", values=np.zeros(2))  # as if not yet removed
    store.parts("scan", key="b").put("block-0", values=np.zeros(2))
    store.begin(frames, mf.Settings())
    assert not (tmp_path / "data" / "neighbors.parts").exists()
    assert store.get("neighbors", key="a") is not None
    assert store.parts("scan", key="b").get("block-0") is not None


def test_what_killed_writers_left_is_removed(tmp_path):
    for folder in ("data", "exports", "plots", "."):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / ".mdfuzzy-0123456789abcdef.draft").write_text("half")
    store = mf.RunDir(tmp_path)
    mf.cluster(blobs(), mf.Settings(beta=np.inf), store=mf.RunDir(tmp_path / "other"))
    (tmp_path / "other" / "data").rename(tmp_path / "data2")
    for file in (tmp_path / "data2").iterdir():
        file.rename(tmp_path / "data" / file.name)
    (tmp_path / "data2").rmdir()
    mf.cluster(blobs(), mf.Settings(beta=np.inf), store=store)
    assert not list(tmp_path.rglob("*.draft"))
    assert store.settings == mf.Settings(beta=np.inf)


def test_settings_under_old_names_are_read(tmp_path):
    store = mf.RunDir(tmp_path)
    mf.cluster(blobs(), mf.Settings(walk_weights="linear", beta=0.5), store=store)
    file = tmp_path / "data" / "run.json"
    run = _array_folder.read_json(file)
    run["settings"]["weights"] = run["settings"].pop("walk_weights")
    run["settings"]["core_reach"] = 0.07
    del run["settings"]["core_agreement"]
    _array_folder.write_json(file, run)
    assert mf.RunDir(tmp_path).settings == mf.Settings(walk_weights="linear", beta=0.5)


def test_files_of_users_are_never_removed(tmp_path):
    store = mf.RunDir(tmp_path)
    mf.cluster(blobs(), store=store)
    mine = [
        *("data.tmp/t.xtc", "notes.tmp", "exports/frames.csv.tmp", "data/mine.npy", "data/.mine.draft"),
        *("data/neighbors.parts/0123/mine.txt", "plots/state-9.png"),
    ]
    for name in mine:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    mf.cluster(blobs(), mf.Settings(k=9, beta=1.0), store=mf.RunDir(tmp_path))
    assert [name for name in mine if not (tmp_path / name).exists()] == []


@pytest.mark.parametrize("bit", [0, 5, 7])
def test_a_flipped_bit_is_found_named_and_computed_again(tmp_path, done, caplog, bit):
    expected = mf.cluster(blobs(), store=mf.RunDir(tmp_path))
    rng = np.random.default_rng(bit)
    names = {file.name.partition("-")[0]: file for file in (tmp_path / "data").iterdir()}
    assert {"neighbors", "cores", "memberships", "cores.json", "run.json"} <= set(names)
    for start in sorted(names.keys() - {".lock"}):
        file = rng.choice(sorted(each for each in (tmp_path / "data").glob(f"{start}*") if each.is_file()))
        content = bytearray(file.read_bytes())
        saved = bytes(content)
        content[rng.integers(len(content))] ^= 1 << bit
        file.write_bytes(content)
        caplog.clear()
        same(mf.cluster(blobs(), store=mf.RunDir(tmp_path)), expected)
        changed = not _harmless(saved, bytes(content))
        assert any(file.name in message for message in caplog.messages) == changed, file
        assert not changed or not file.exists() or file.read_bytes() != bytes(content)


def _harmless(before: bytes, after: bytes) -> bool:
    """Whether a change of a JSON file is none of its content, such as another kind of white space."""
    try:
        return json.loads(before) == json.loads(after)
    except ValueError:
        try:  # padding of the header of an array
            import io

            one, two = np.load(io.BytesIO(before)), np.load(io.BytesIO(after))
            return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
        except Exception:
            return False


@pytest.mark.parametrize("name", ["data", "data/.lock"])
@pytest.mark.skipif(os.name != "posix", reason="links need a permission there")
def test_links_in_the_folder_are_not_followed(tmp_path, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).symlink_to(outside if name == "data" else outside / "precious")
    with pytest.raises(FileExistsError, match="symbolic link"):
        mf.cluster(blobs(), store=mf.RunDir(out))
    assert [file.read_text() for file in outside.iterdir()] == ["precious"]


def test_data_that_has_grown_is_told_from_other_data(tmp_path, done):
    x, y = blobs()
    mf.cluster([x[:100], y], store=mf.RunDir(tmp_path))
    done.clear()
    grown = mf.cluster([x, y], store=mf.RunDir(tmp_path))
    assert "neighbors" in done
    same(grown, mf.cluster([x, y]))
    more = mf.cluster([x, y, x + 1], store=mf.RunDir(tmp_path))
    same(more, mf.cluster([x, y, x + 1]))
    earlier = {file: file.read_bytes() for file in (tmp_path / "data").glob("*.npy")}
    for data, difference in (
        ([x, y], "there were 3 trajectories, and there are 2 now"),
        ([x, y[:50], x + 1], f"trajectory 1 shrank from {len(y)} to 50 frames"),
        ([x, y + 1, x + 1], f"the first {len(y)} frames of trajectory 1 are others now"),
        ([x + 1, y + 1, x + 1], "holds the results for other data"),
    ):
        with pytest.raises(FileExistsError, match=difference):
            mf.cluster(data, store=mf.RunDir(tmp_path))
    assert {file: file.read_bytes() for file in (tmp_path / "data").glob("*.npy")} == earlier


@pytest.mark.parametrize("at", [0, 1, 2])
def test_only_new_frames_are_searched(tmp_path, at, caplog):
    x, y = blobs()
    mf.cluster([x, y], store=mf.RunDir(tmp_path))
    grown = [x, np.concatenate([y, y[:30] + 0.01])]
    grown.insert(at, x[:40] + 0.01)
    caplog.set_level("INFO", logger="mdfuzzy")
    found = mf.cluster(grown, store=mf.RunDir(tmp_path))
    assert f"70 of {len(x) + len(y) + 70} frames are new; the others were searched before" in caplog.messages
    same(found, mf.cluster(grown))
    same(mf.RunDir(tmp_path).load(grown), found)


def test_growing_goes_on_after_a_run_that_was_killed(tmp_path, monkeypatch, caplog):
    x, y = blobs()
    mf.cluster([x, y[:90]], store=mf.RunDir(tmp_path))

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("mdfuzzy.neighbors.growing.grow_neighbors", killed)
        with pytest.raises(KeyboardInterrupt):
            mf.cluster([x, y], store=mf.RunDir(tmp_path))
    caplog.set_level("INFO", logger="mdfuzzy")
    mf.cluster([x, y], store=mf.RunDir(tmp_path))
    assert "30 of 240 frames are new; the others were searched before" in caplog.messages


def test_frames_have_a_fingerprint(tmp_path):
    frames = mf.datasets.alanine_dipeptide(stride=1000)
    store = mf.RunDir(tmp_path)
    key = store.begin(frames, mf.Settings())
    assert store.begin(frames, mf.Settings()) == key
    moved = mf.Frames(-frames.xyz, frames.lengths)
    with pytest.raises(FileExistsError, match="holds the results for other data"):
        store.begin(moved, mf.Settings())


def test_results_survive_packing():
    scan = mf.KScan(np.array([3, 4]), np.array([2, 2]), np.array([True, False]), ("clear", "not clear"))
    again = unpack(mf.KScan, pack(scan))
    assert (again.words, again.well_determined.tolist()) == (scan.words, [True, False])
    share = np.array([0.5, np.nan])
    bootstrap = mf.StateBootstrap(np.array([2, 2]), share[:1], share, "blocks")
    again = unpack(mf.StateBootstrap, pack(bootstrap))
    assert again.drawn == "blocks"
    assert_array_equal(again.n_states, [2, 2])

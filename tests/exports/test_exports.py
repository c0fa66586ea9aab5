"""What is written for other programs: names, contents, and that nothing is ever half-written or lost."""

import csv
import gzip
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.molecules import peptide_trajectory
from helpers.results import result_of
from helpers.states import chain_of_states, memberships_of

import mdfuzzy as mf
from mdfuzzy.exports import table
from mdfuzzy.exports._names import trajectory_names, unique

DATA, CORES, MEMBERSHIPS = chain_of_states([70, 50], n_states=3)
RESULT = result_of(DATA, CORES, MEMBERSHIPS)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if not file.is_dir()
    }


def fail_in_the_middle(monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
    """Let the disk be full after some calls of numpy.save."""
    save, calls = np.save, []

    def full(*arguments: object) -> None:
        calls.append(1)
        if len(calls) > after:
            raise OSError(28, "No space left on device")
        save(*arguments)

    monkeypatch.setattr(np, "save", full)


# --- names


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The same name in two folders, upper case in a third, and another one."""
    paths = [tmp_path / name for name in ("a/run.xtc", "b/run.xtc", "c/RUN.xtc", "c/other.part.xtc")]
    for seed, path in enumerate(paths):
        path.parent.mkdir(exist_ok=True)
        peptide_trajectory(5 + seed, seed=seed).save(path)
    peptide_trajectory(1).save(tmp_path / "top.pdb")
    return paths


def load(files: list) -> mf.Frames:
    first = files[0][0] if isinstance(files[0], list) else files[0]
    return mf.load(files, top=first.parents[1] / "top.pdb")


def test_trajectories_are_named_after_their_files(files: list[Path]):
    assert trajectory_names(load(files[:1])) == ["run"]
    assert trajectory_names(load(files[2:])) == ["RUN", "other.part"]


def test_names_that_repeat_get_their_folders(files: list[Path]):
    assert trajectory_names(load(files)) == ["a_run", "b_run", "c_RUN", "other.part"]


def test_the_same_file_twice_gets_numbers(files: list[Path]):
    with pytest.warns(UserWarning, match="is given twice"):
        names = trajectory_names(load([files[3], files[3]]))
    assert len(set(names)) == 2
    assert names[1] == names[0] + "_1"


def test_a_trajectory_in_pieces_has_the_name_of_the_first(files: list[Path]):
    first = peptide_trajectory(5, first=10.0)
    first.save(files[0])
    peptide_trajectory(4, first=100.0).save(files[3])
    assert trajectory_names(load([[files[0], files[3]]])) == ["run"]


def test_arrays_have_numbers_that_sort():
    assert trajectory_names(mf.Features([np.zeros((1, 1))] * 11))[::10] == ["00", "10"]


def test_names_made_unique_do_not_meet_others():
    assert unique(["a", "a", "a_1", "A"]) == ["a", "a_2", "a_1", "A_3"]


# --- files for PyEMMA


def test_pyemma_files(tmp_path: Path):
    folder = mf.exports.write_pyemma(tmp_path / "some" / "new", RESULT)
    assert folder == tmp_path / "some" / "new"
    for kind, whole in (("cores", CORES.core_of), ("states", MEMBERSHIPS.hard)):
        for name, part in zip(("0", "1"), DATA.split(whole), strict=True):
            text = (folder / kind / f"{name}.dtraj").read_text()
            assert text == "".join(f"{state}\n" for state in part)
            array = np.load(folder / kind / f"{name}.npy", allow_pickle=False)
            assert array.dtype.kind == "i"
            assert np.array_equal(array, part)
    for name, part in zip(("0", "1"), DATA.split(MEMBERSHIPS.values), strict=True):
        assert np.array_equal(np.load(folder / "memberships" / f"{name}.npy", allow_pickle=False), part)
    assert np.array_equal(np.load(folder / "core_set.npy", allow_pickle=False), [0, 1, 2])
    assert (folder / "core_set.txt").read_text() == "0\n1\n2\n"
    assert (tmp_path / "some").stat().st_mode == folder.stat().st_mode  # for all who may read what is written


def test_pyemma_table_of_trajectories(files: list[Path], tmp_path: Path):
    frames = mf.load(files[2:], top=tmp_path / "top.pdb", stride=2)
    labels = np.full(len(frames), -1)
    labels[[1, 2]] = [0, 1]
    cores = mf.Cores(labels > 0, labels, [1, 2], [np.inf, 1.0])
    with pytest.warns(UserWarning, match="1 of 2 trajectories touch no core") as caught:
        folder = mf.exports.write_pyemma(
            tmp_path / "new", result_of(frames, cores, memberships_of(np.full((len(frames), 2), 0.5)))
        )
    assert caught[0].filename == __file__, "it points at the line of the user"
    with open(folder / "trajectories.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["RUN", "other.part"]
    assert [row["frames"] for row in rows] == ["4", "4"]
    assert [row["first_core_frame"] for row in rows] == ["1", ""]
    assert [row["stride"] for row in rows] == ["2", "2"]
    assert [row["files"] for row in rows] == list(map(str, files[2:]))
    text = (folder / "README.txt").read_text()
    assert "Time between frames: 5 ps." in text
    assert "(walk temperature; 2 = simulation temperature); rows sum to 1" in text


@pytest.mark.parametrize(("longest", "lag"), [(2000, 10), (50, 5), (4, 1)])
def test_the_guessed_lag_fits_the_trajectories(tmp_path: Path, longest: int, lag: int):
    data, cores, memberships = chain_of_states([longest], n_states=1, in_core=1.0)
    folder = mf.exports.write_pyemma(
        tmp_path / "new", result_of(data, cores, memberships_of(memberships.values))
    )
    assert f"[LAG]\n\nLAG is in frames, {lag} by default" in (folder / "estimate_msm.py").read_text()


@pytest.mark.parametrize(
    ("lag", "error", "message"),
    [
        (
            70,
            ValueError,
            r"`lag` must be an int in \[1, 6\d\]; got 70. The longest trajectory has \d+ frames",
        ),
        (0, ValueError, "`lag` must be an int in"),
        (1.5, TypeError, "`lag` must be an int in"),
    ],
)
def test_a_lag_that_does_not_fit(tmp_path: Path, lag: object, error: type, message: str):
    with pytest.raises(error, match=message):
        mf.exports.write_pyemma(tmp_path / "new", RESULT, lag=lag)
    assert not (tmp_path / "new").exists()


def test_cores_that_no_trajectory_touches(tmp_path: Path):
    nowhere = mf.Cores(CORES.basins, np.full(len(DATA), -1), CORES.peaks, CORES.prominence)
    with pytest.raises(ValueError, match="`cores` must be touched by at least one trajectory"):
        mf.exports.write_pyemma(tmp_path / "new", result_of(DATA, nowhere, MEMBERSHIPS))


# --- folders


def test_a_folder_with_other_files_is_refused_and_not_touched(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"`folder` must be new or empty; .* holds 'notes.txt'"):
        mf.exports.write_pyemma(tmp_path, RESULT)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_overwriting_replaces_what_is_ours_only(tmp_path: Path):
    mf.exports.write_pyemma(tmp_path, RESULT)
    (tmp_path / "cores" / "notes.txt").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine, too")
    with pytest.raises(FileExistsError, match="overwrite=True to replace the files of an earlier export"):
        mf.exports.write_pyemma(tmp_path, RESULT)
    data, cores, memberships = chain_of_states([90], n_states=2)
    mf.exports.write_pyemma(tmp_path, result_of(data, cores, memberships), overwrite=True)
    new = mf.exports.write_pyemma(tmp_path / "other", result_of(data, cores, memberships))
    expected = {**contents(new), "cores/notes.txt": b"mine", "notes.txt": b"mine, too"}
    found = contents(tmp_path)
    assert {name: text for name, text in found.items() if not name.startswith("other")} == expected
    assert "cores/1.npy" not in found, "it was of the earlier export"


def test_files_of_others_are_never_replaced(tmp_path: Path):
    (tmp_path / "README.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds 'README\.txt', which no earlier export wrote"):
        mf.exports.write_pyemma(tmp_path, RESULT, overwrite=True)
    assert contents(tmp_path) == {"README.txt": b"mine"}


@pytest.mark.parametrize("stranger", ["cores", "cores/0.npy/inside"])
def test_files_and_folders_of_others_in_the_way(tmp_path: Path, stranger: str):
    (tmp_path / stranger).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / stranger).write_text("mine")
    with pytest.raises(FileExistsError, match="which no earlier export wrote"):
        mf.exports.write_pyemma(tmp_path, RESULT, overwrite=True)
    assert contents(tmp_path) == {stranger: b"mine"}


def test_a_list_of_files_cannot_lead_out_of_the_folder(tmp_path: Path):
    (tmp_path / "treasure").write_text("mine")
    folder = mf.exports.write_pyemma(tmp_path / "new", RESULT)
    (folder / ".mdfuzzy-pyemma").write_text(f"../treasure\n{tmp_path}/treasure\n\n")
    with pytest.raises(FileExistsError, match="which no earlier export wrote"):
        mf.exports.write_pyemma(folder, RESULT, overwrite=True)
    for file in folder.rglob("*.*"):
        if file.is_file() and file.name != ".mdfuzzy-pyemma":
            file.unlink()
    mf.exports.write_pyemma(folder, RESULT, overwrite=True)
    assert (tmp_path / "treasure").read_text() == "mine"


@pytest.mark.parametrize("after", [0, 3, 6])
def test_failing_in_the_middle_leaves_no_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
):
    fail_in_the_middle(monkeypatch, after=after)
    with pytest.raises(OSError, match="No space left"):
        mf.exports.write_pyemma(tmp_path / "deep" / "new", RESULT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("after", [0, 3])
def test_failing_in_the_middle_leaves_the_earlier_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
):
    mf.exports.write_pyemma(tmp_path, RESULT)
    (tmp_path / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    fail_in_the_middle(monkeypatch, after=after)
    with pytest.raises(OSError, match="No space left"):
        mf.exports.write_pyemma(tmp_path, result_of(*chain_of_states([90], n_states=2)), overwrite=True)
    assert contents(tmp_path) == before


def test_dying_while_files_are_moved_is_repaired_by_the_next_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mf.exports.write_pyemma(tmp_path, RESULT)
    other = chain_of_states([30, 30, 30], n_states=2)
    replace, calls = os.replace, []

    def die(*arguments: object) -> None:
        calls.append(1)
        if len(calls) > 4:
            raise KeyboardInterrupt
        replace(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            mf.exports.write_pyemma(tmp_path, result_of(*other), overwrite=True)
    mf.exports.write_pyemma(tmp_path, RESULT, overwrite=True)
    again = mf.exports.write_pyemma(tmp_path / "new", RESULT)
    found = contents(tmp_path)
    assert {name: text for name, text in found.items() if not name.startswith("new")} == contents(again)


def test_drafts_of_other_writers_are_left_alone(tmp_path: Path):
    left = tmp_path / "old" / ".mdfuzzy-0123456789abcdef.draft" / "README.txt"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    mf.exports.write_pyemma(tmp_path / "old", RESULT)  # which counts as empty
    assert left.exists()  # another process may be writing it


def test_a_folder_that_is_a_file(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotADirectoryError, match="`folder` must be a folder; got the file"):
        mf.exports.write_pyemma(tmp_path / "file", RESULT)
    with pytest.raises(OSError, match=r"`folder` must be where files can be written; got .*/file"):
        mf.exports.write_pyemma(tmp_path / "file" / "new", RESULT)
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing can be made; also for root, who may do everything."""
    folder = tmp_path / "locked"
    folder.mkdir()

    def refuse(path: Path | str) -> None:
        if folder in Path(path).parents:
            raise PermissionError(13, "Permission denied", str(path))

    mkdir, opened = Path.mkdir, open
    monkeypatch.setattr(Path, "mkdir", lambda path, *args, **more: refuse(path) or mkdir(path, *args, **more))
    monkeypatch.setattr(
        "builtins.open", lambda path, *args, **more: refuse(path) or opened(path, *args, **more)
    )
    return folder


def test_an_unwritable_folder(locked: Path):
    for place in (locked, locked / "new", locked / "deep" / "new"):
        with pytest.raises(PermissionError, match=r"`folder` must be where .*locked.*\(Permission denied\)"):
            mf.exports.write_pyemma(place, RESULT)
    with pytest.raises(PermissionError, match=r"`path` must be where .*locked/a.csv' \(Permission denied\)"):
        mf.exports.write_table(locked / "a.csv", RESULT)
    assert list(locked.iterdir()) == []


def test_a_folder_that_cannot_even_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stat = Path.stat

    def refuse(path: Path, **more: bool) -> os.stat_result:
        if "sealed" in path.parts[:-1]:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(PermissionError, match="`folder` must be where files can be written"):
        mf.exports.write_pyemma(tmp_path / "sealed" / "new", RESULT)
    with pytest.raises(PermissionError, match="`path` must be where files can be written"):
        mf.exports.write_table(tmp_path / "sealed" / "a.csv", RESULT)


# --- arguments that do not belong together


@pytest.mark.parametrize("write", [mf.exports.write_pyemma, mf.exports.write_table])
@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ({"data": None}, ValueError, "`result` must be of frames or features; got a clustering that began"),
        ({"data": MEMBERSHIPS}, TypeError, "`data` must be `Frames` or `Features`; got Memberships"),
        ({"cores": MEMBERSHIPS}, TypeError, "`cores` must be `Cores`; got Memberships"),
        (
            {"memberships": memberships_of(MEMBERSHIPS.values[:-1])},
            ValueError,
            "`memberships` must be of the frames of `data`, 120; got 119",
        ),
        (
            {"memberships": memberships_of(np.full((120, 2), 0.5))},
            ValueError,
            "`memberships` must be in the states of `cores`, 3; got 2 states",
        ),
        (
            {"cores": chain_of_states([10], n_states=3, in_core=0.9, stay=0.5, seed=1)[1]},
            ValueError,
            "`cores` must be of the frames of `data`, 120; got 10",
        ),
    ],
)
def test_parts_of_other_frames_or_states(tmp_path: Path, write, parts: dict, error: type, message: str):
    with pytest.raises(error, match=message):
        write(tmp_path / "new.csv", replace(RESULT, **parts))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [mf.exports.write_pyemma, mf.exports.write_table])
def test_exports_take_a_result(tmp_path: Path, write):
    with pytest.raises(TypeError, match="`result` must be `Clustering` or `Assignment`; got Features"):
        write(tmp_path / "new.csv", DATA)


# --- the table of all frames


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that end in the middle of a trajectory."""
    monkeypatch.setattr(table, "_CHUNK", 32)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_the_table_holds_every_frame(tmp_path: Path, suffix: str):
    path = mf.exports.write_table(tmp_path / f"frames{suffix}", RESULT)
    read = pd.read_parquet if suffix == ".parquet" else pd.read_csv
    found = read(path)
    assert list(found) == ["trajectory", "frame", "state", "core", *(f"membership_{k}" for k in range(3))]
    trajectory, frame = DATA.locate(np.arange(len(DATA)))
    assert np.array_equal(found["trajectory"], trajectory)
    assert np.array_equal(found["frame"], frame)
    assert np.array_equal(found["state"], MEMBERSHIPS.hard)
    assert np.array_equal(found["core"], CORES.core_of)
    tolerance = 0 if suffix == ".parquet" else 5.1e-6
    np.testing.assert_allclose(found.iloc[:, 4:], MEMBERSHIPS.values, rtol=tolerance, atol=0)


@pytest.mark.usefixtures("small_chunks")
def test_times_and_torsions_are_in_the_table(tmp_path: Path):
    frames = mf.load([peptide_trajectory(50, seed=1), peptide_trajectory(40, seed=2)])
    values = memberships_of(np.ones((90, 1)))
    labels = np.zeros(90, int)
    found = pd.read_csv(
        mf.exports.write_table(
            tmp_path / "a.csv", result_of(frames, mf.Cores(labels, labels, [0], [np.inf]), values)
        )
    )
    assert np.array_equal(found["time_ps"], frames.times)
    for name, angles in (("phi", frames.phi), ("psi", frames.psi)):
        np.testing.assert_allclose(found[f"{name}_{frames.residues[0]}"], angles[:, 0], rtol=0, atol=5.1e-4)


def test_residues_of_the_same_name_have_columns_of_their_own(tmp_path: Path):
    frames = mf.load(np.random.default_rng(0).normal(size=(3, 4, 3)))
    angles = np.arange(6.0).reshape(3, 2)
    frames = mf.Frames(frames.xyz, frames.lengths, phi=angles, psi=-angles, residues=("ALA2", "ALA2"))
    labels = np.zeros(3, int)
    values = memberships_of(np.ones((3, 1)))
    found = pd.read_csv(
        mf.exports.write_table(
            tmp_path / "a.csv", result_of(frames, mf.Cores(labels, labels, [0], [np.inf]), values)
        )
    )
    assert found["phi_ALA2"].tolist() == [0, 2, 4]
    assert found["psi_ALA2_1"].tolist() == [-1, -3, -5]


def test_frames_that_reach_no_core_have_no_state(tmp_path: Path):
    values = MEMBERSHIPS.values.copy()
    values[5] = 0.0
    found = pd.read_csv(
        mf.exports.write_table(tmp_path / "a.csv", result_of(DATA, CORES, memberships_of(values)))
    )
    assert found["state"][5] == -1


def test_the_same_table_has_the_same_bytes(tmp_path: Path):
    first, second = (
        mf.exports.write_table(tmp_path / name, RESULT).read_bytes() for name in ("a.csv.gz", "b.csv.gz")
    )
    assert first == second
    assert gzip.decompress(first).startswith(b"trajectory,frame,")


def test_a_table_is_replaced_only_on_demand(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"`path` must be a new file; got .*a.csv.*overwrite=True"):
        mf.exports.write_table(path, RESULT)
    assert path.read_text() == "mine"
    mf.exports.write_table(path, RESULT, overwrite=True)
    assert path.read_text().startswith("trajectory")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="`path` must be a file; got the folder"):
        mf.exports.write_table(tmp_path / "folder.csv", RESULT, overwrite=True)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_table_that_fails_in_the_middle_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
):
    whole, calls = table.frame_columns, []

    def fail(*arguments: object, **options: object) -> dict:
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(table, "frame_columns", fail)
    (tmp_path / f"old{suffix}").write_text("mine")
    for name, overwrite in ((f"old{suffix}", True), (f"deep/new{suffix}", False)):
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            mf.exports.write_table(tmp_path / name, RESULT, overwrite=overwrite)
    assert contents(tmp_path) == {f"old{suffix}": b"mine"}
    assert len(list(tmp_path.iterdir())) == 1


def test_unknown_kind_of_table(tmp_path: Path):
    with pytest.raises(ValueError, match=r"`path` must end in .csv, .csv.gz or .parquet.*got .*frames.xls"):
        mf.exports.write_table(tmp_path / "frames.xls", RESULT)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install 'mdfuzzy\[parquet\]'"):
        mf.exports.write_table(tmp_path / "frames.parquet", RESULT)
    assert list(tmp_path.iterdir()) == []


# --- all kinds


def test_every_kind_of_new_frames(tmp_path: Path):
    frames = mf.datasets.alanine_dipeptide(stride=50)
    result = mf.cluster(frames, mf.Settings(prominence=1.0, n_jobs=1))
    new = mf.assign(result, mf.datasets.alanine_dipeptide(stride=60), n_jobs=1)
    places = mf.exports.write_exports(tmp_path, new)
    assert list(places) == ["tables", "pyemma", "structures", "trajectories", "table"]
    assert all(place.exists() for place in places.values())
    assert len(pd.read_csv(places["table"])) == len(new)


def test_unknown_kind(tmp_path: Path):
    with pytest.raises(ValueError, match=r"`kinds` must be one of .*'table'.*; got 'list'"):
        mf.exports.write_exports(tmp_path, None, kinds=["list"])
    assert not list(tmp_path.iterdir())

"""Damaged and unusual files: nothing kills the process, and nothing wrong is loaded in silence."""

import os
import shutil
import struct
import subprocess
import sys

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import peptide_topology, peptide_trajectory

import mdfuzzy as mf
from mdfuzzy.frames import _formats, _guarded, _records, _text, _xtc
from mdfuzzy.frames._damage import DamageError, WrongAtomsError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Warning. The 'netCDF4' Python package"),
]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(_formats, "_CHUNK_FRAMES", 7)


def save(trajectory, path):
    trajectory.save(str(path))
    return path


def load(path, **options):
    return mf.load(path, **{"top": peptide_topology(), **options})


def refuses(path, words, readable=r"\d+"):
    message = rf"{path.name}' is truncated or corrupt: {readable} frames? could be read,? ?.*{words}"
    return pytest.raises(ValueError, match=message)


def patched(path, place, data):
    whole = bytearray(path.read_bytes())
    whole[place : place + len(data)] = data
    path.write_bytes(whole)
    return path


def frame_size(extension, tmp_path):
    sizes = [save(peptide_trajectory(n), tmp_path / f"n{n}.{extension}").stat().st_size for n in (1, 2)]
    return sizes[1] - sizes[0]


# ------------------------------------------------------------------------------------------------ paths


@pytest.mark.parametrize(
    "extension",
    [
        *("xtc", "trr", "dcd", "nc", "h5", "dtr", "gro", "lammpstrj"),
        *("mdcrd", "pdb", "pdb.gz", "cif", "xyz", "xyz.gz"),
    ],
)
def test_path_that_is_not_in_ascii(tmp_path, extension):
    folder = tmp_path / "müller 数据"
    folder.mkdir()
    trajectory = peptide_trajectory(9)
    plain = save(trajectory, tmp_path / f"a.{extension}")
    path = folder / f"läuft.{extension}"
    copy = shutil.copytree if plain.is_dir() else shutil.copy  # DTR files are folders
    copy(plain, path)
    frames = load(path)
    np.testing.assert_array_equal(frames.xyz, load(plain).xyz)
    back = frames.trajectory([8, 2], atoms="all")
    np.testing.assert_allclose(back.xyz, trajectory.xyz[[8, 2]], atol=2e-6)
    counted = extension in ("xtc", "trr", "dcd", "nc", "h5")
    assert _formats.frame_count(str(path)) == (9 if counted else None)
    assert os.listdir(folder) == [path.name]


def test_link_in_place_of_a_path_that_is_not_in_ascii(tmp_path, monkeypatch):
    from mdfuzzy.frames._plain_path import plain_path

    path = str(tmp_path / "läuft.dcd")
    with plain_path(path) as plain:
        assert plain.isascii()
        assert plain.endswith(".dcd")
        assert os.readlink(plain) == path
    assert not os.path.lexists(plain)
    # where links cannot be made, a path from here
    monkeypatch.setattr(os, "symlink", lambda *_: (_ for _ in ()).throw(OSError))
    monkeypatch.chdir(tmp_path)
    with plain_path(path) as plain:
        assert plain == "läuft.dcd"


@pytest.mark.parametrize("name", ["a\nb.xtc", "a\u2028b.xtc", "a\x1b[31m.xtc", "a\udcff.xtc"])
def test_name_that_no_table_can_hold(tmp_path, name):
    path = str(save(peptide_trajectory(3), tmp_path / "a.xtc").rename(tmp_path / name))
    with pytest.raises(ValueError, match=r"`paths` must be a path in UTF-8 without line breaks.*Rename it"):
        load(path)
    with pytest.raises(ValueError, match=r"`top` must be a path in UTF-8 without line breaks"):
        load(save(peptide_trajectory(3), tmp_path / "good.xtc"), top=path)


def test_what_is_no_regular_file(tmp_path):
    pipe = tmp_path / "pipe.xtc"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match=r"must be a regular file; got '.*pipe\.xtc', a pipe or a device"):
        load(pipe)
    (tmp_path / "device.pdb").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"`top` must be a regular file; got '.*device\.pdb'"):
        load(save(peptide_trajectory(3), tmp_path / "a.xtc"), top=tmp_path / "device.pdb")
    (tmp_path / "folder.xtc").mkdir()
    with pytest.raises(IsADirectoryError, match=r"must be a file; got '.*folder\.xtc', a folder\. Name the"):
        load(tmp_path / "folder.xtc")


def test_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = save(peptide_trajectory(3), tmp_path / "a.xtc")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(
        PermissionError, match=r"must be a file that may be read; got '.*a\.xtc' \(Permission"
    ):
        _formats.check_file(str(path), name="paths")


def test_disk_that_fails_is_no_damage(tmp_path, monkeypatch):
    path = save(peptide_trajectory(3), tmp_path / "a.xtc")

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(_xtc, "chunks", fail)
    with pytest.raises(OSError, match=r"a\.xtc' could not be read: Input/output error"):
        load(path)


# -------------------------------------------------------------------------------------------------- XTC


@pytest.mark.parametrize("box", [True, False])
@pytest.mark.parametrize("atoms", [3, 9, 10, 12])
def test_xtc_as_mdtraj_reads_it(tmp_path, monkeypatch, atoms, box):
    trajectory = peptide_trajectory(30, box=box).atom_slice(range(atoms))
    path = str(save(trajectory, tmp_path / "a.xtc"))
    expected = md.load(path, top=trajectory.topology)
    chunks = list(_xtc.chunks(path, trajectory.topology, 7))
    assert [len(chunk) for chunk in chunks] == [7, 7, 7, 7, 2]
    found = md.join(chunks)
    for name in ("xyz", "time", "unitcell_lengths", "unitcell_angles"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours is theirs is None or (np.array_equal(ours, theirs) and ours.dtype == theirs.dtype), name
    for part_bytes in (1, 1 << 24):
        monkeypatch.setattr(_xtc, "_PART_BYTES", part_bytes)
        chosen = list(_xtc.read(path, trajectory.topology, np.array([0, 10, 11, 12, 29])))
        assert len(chosen) == (5 if part_bytes == 1 else 1)
        np.testing.assert_array_equal(md.join(chosen).xyz, expected.xyz[[0, 10, 11, 12, 29]])
    assert _xtc.count(path) == 30


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 3e3, 8e3])
def test_xtc_of_all_sizes_and_shapes(tmp_path, scale):
    """Water, far atoms, dense ones: runs of every length, and integers of more than 24 and 64 bits."""
    rng = np.random.default_rng(3)
    topology = peptide_topology(waters=40)
    centres = rng.normal(size=(20, 52, 1, 3))
    xyz = (centres + 0.05 * rng.normal(size=(20, 52, 3, 3))).reshape(20, 156, 3)[:, :132]
    xyz[::3] *= 0.01
    xyz[::4, ::7] *= 50
    trajectory = md.Trajectory((scale * xyz).astype(np.float32), topology)
    path = str(save(trajectory, tmp_path / "a.xtc"))
    found = md.join(_xtc.chunks(path, topology, 100))
    np.testing.assert_array_equal(found.xyz, md.load(path, top=topology).xyz)


def test_every_flipped_bit_of_an_xtc_frame_is_survived(tmp_path):
    """In a process of its own, because a crash would end it."""
    whole = save(peptide_trajectory(2), tmp_path / "whole.xtc")
    code = """
import sys, numpy as np, mdtraj as md
from mdfuzzy.frames import _xtc
data, n = np.fromfile(sys.argv[1], np.uint8), 12
topology = md.Topology()
residue = topology.add_residue("X", topology.add_chain())
for _ in range(n):
    topology.add_atom("C", md.element.carbon, residue)
refused = 0
for bit in range(8 * len(data)):
    data[bit >> 3] ^= 1 << (bit & 7)
    data.tofile(sys.argv[2])
    data[bit >> 3] ^= 1 << (bit & 7)
    try:
        for chunk in _xtc.chunks(sys.argv[2], topology, 5):
            assert len(chunk.xyz) <= 2
    except Exception as error:
        assert type(error).__name__ in ("DamageError", "WrongAtomsError"), repr(error)
        refused += 1
print(refused / (8 * len(data)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(whole), str(tmp_path / "flipped.xtc")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert 0.2 < float(done.stdout) < 0.9  # others change a coordinate, or the box


def test_xtc_with_an_absurd_length(tmp_path):
    path = save(peptide_trajectory(3), tmp_path / "a.xtc")
    first = frame_size("xtc", tmp_path)
    place = path.read_bytes().index(struct.pack(">ii", 1995, 12), first // 2) + 88
    for length, words in (
        (2**31 - 1, "what follows is"),
        (-5, "what follows is"),
        (0, "the next one"),
    ):
        with refuses(patched(path, place, struct.pack(">i", length)), words, 1):
            load(path)


def test_xtc_that_shrinks_while_it_is_read(tmp_path):
    path = save(peptide_trajectory(20), tmp_path / "a.xtc")
    chunks = _xtc.chunks(str(path), peptide_topology(), 5)
    next(chunks)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(DamageError, match="ends too early"):
        list(chunks)


# -------------------------------------------------------------------------------------------- TRR and DCD


def test_trr_header_is_checked(tmp_path):
    path = save(peptide_trajectory(3), tmp_path / "a.trr")
    size = path.stat().st_size // 3
    assert _records.check_trr(str(path), 12) == (3, None)
    head = size + 24  # ten sizes, then the atoms
    for place, value, words in (
        (0, 5, "what follows is no frame"),
        (8, 7, "what follows is no frame"),
        (28, 1 << 30, "what follows is no frame"),
        (40, 0, "what follows is no frame"),
        (40, -4, "what follows is no frame"),
    ):
        broken = patched(save(peptide_trajectory(3), path), head + place, struct.pack(">i", value))
        with refuses(broken, words, 1):
            load(broken)
    frames, problem = _records.check_trr(str(save(peptide_trajectory(3), path)), 13)
    assert (frames, problem.atoms) == (0, 12)
    assert isinstance(problem, WrongAtomsError)


def test_dcd_records_are_checked(tmp_path):
    path = save(peptide_trajectory(12), tmp_path / "a.dcd")
    layout = _records.read_dcd_layout(str(path))
    assert (layout.claimed, layout.atoms) == (12, 12)
    assert layout.begin + 12 * layout.size == path.stat().st_size
    assert _records.check_dcd(str(path), 12) == (12, 12, None)
    place = layout.begin + 5 * layout.size + layout.marks[3][0]
    with refuses(patched(path, place, b"\x7f\0\0\0"), "what follows is no frame", 5):
        load(path)
    for place, words in ((88, "its header is damaged"), (92, "its titles"), (layout.begin - 4, "its number")):
        broken = patched(save(peptide_trajectory(12), path), place, b"\xff\xff\xff\x7f")
        with refuses(broken, words, 0):
            load(broken)


@pytest.mark.parametrize("claimed", [0, 5, 20])
def test_dcd_whose_header_counts_other_frames_is_read_with_a_warning(tmp_path, claimed):
    path = patched(save(peptide_trajectory(12), tmp_path / "a.dcd"), 8, struct.pack("<i", claimed))
    with pytest.warns(UserWarning, match=rf"header of '.*a\.dcd' counts {claimed} frames, but .* 12 whole"):
        frames = load(path)
    np.testing.assert_allclose(frames.xyz, mf.load(peptide_trajectory(12)).xyz, atol=1e-6)


# ---------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("extension", ["lammpstrj", "xyz", "mdcrd", "pdb"])
def test_every_cut_within_the_last_frame_is_noticed(tmp_path, extension):
    """However few bytes are missing: the digits of the last number are enough."""
    whole = save(peptide_trajectory(3), tmp_path / f"whole.{extension}")
    expected = load(whole).xyz
    data = whole.read_bytes()
    path = tmp_path / f"a.{extension}"
    noticed = 0
    for less in range(1, 150):
        path.write_bytes(data[:-less])
        try:
            found = load(path).xyz
        except ValueError as error:
            assert f"a.{extension}' is truncated or corrupt: " in str(error)  # noqa: PT017
            noticed += 1
        else:
            np.testing.assert_array_equal(found, expected)  # no digit was missing
    assert noticed > (140 if extension != "pdb" else 40)


def test_pdb_cut_within_the_first_line_of_a_model(tmp_path):
    path = save(peptide_trajectory(3), tmp_path / "a.pdb")
    data = path.read_bytes()
    start = data.index(b"MODEL        2")
    for more in range(1, 14):
        path.write_bytes(data[: start + more])
        with refuses(path, "then the file ends too early", 2):
            load(path)


def test_gro_cut_within_its_box(tmp_path):
    path = save(peptide_trajectory(3), tmp_path / "a.gro")
    path.write_bytes(path.read_bytes().rstrip()[:-2])
    with refuses(path, "then the file ends within a number", 2):
        load(path)


@pytest.mark.parametrize(
    ("extension", "old", "new", "words"),
    [
        ("xyz", b"12\nCreated", b"11\nCreated", None),
        ("xyz", b"\n12\n", b"\n\n12\n", "a blank line follows"),
        ("lammpstrj", b"ITEM: NUMBER OF ATOMS", b"ITEM: BONDS", "'ITEM: NUMBER OF ATOMS' is missing"),
        ("lammpstrj", b"\n5 ", b"\n4 ", "not each of the atoms 1 to 12 once"),
        ("mdcrd", b"\n ", b"\n", "has not the 80 characters of 12 atoms"),
        ("pdb", b"ENDMDL\n", b"", "has no end"),
        ("pdb", b"ATOM      3", b"REMARK    3", "the next one has 11 atoms instead of 12"),
        ("gro", b"\n   3.0", b"\n\n   3.0", "no box of three or nine numbers"),
        ("gro", b"ALA     CA", b"ALA   CA", "a line of the next one is too short"),
    ],
)
def test_text_that_is_damaged_within(tmp_path, extension, old, new, words):
    path = save(peptide_trajectory(3), tmp_path / f"a.{extension}")
    data = path.read_bytes()
    place = data.index(old, len(data) // 3 + 20)
    path.write_bytes(data[:place] + new + data[place + len(old) :])
    if words is None:
        with pytest.raises(ValueError, match=r"`top` must have the atoms .*; got 12 atoms, but .* has 11"):
            load(path)
    else:
        with refuses(path, words):
            load(path)


@pytest.mark.parametrize("extension", ["xyz", "lammpstrj", "gro", "mdcrd"])
def test_blank_lines_at_the_end_are_no_damage(tmp_path, extension):
    path = save(peptide_trajectory(3), tmp_path / f"a.{extension}")
    path.write_bytes(path.read_bytes() + b"\n\n")
    assert _text.check_text(str(path), f".{extension}", 12) == (3, None)


@pytest.mark.parametrize("extension", ["pdb.gz", "xyz.gz"])
def test_compressed_text_that_is_damaged(tmp_path, extension):
    path = save(peptide_trajectory(30), tmp_path / f"a.{extension}")
    size = path.stat().st_size
    with refuses(patched(path, size // 2, bytes(20)), ""):
        load(path)


# ---------------------------------------------------------------------------------------------- HDF5


def test_library_that_crashes_does_not_end_the_process(tmp_path, monkeypatch):
    path = save(peptide_trajectory(9), tmp_path / "a.h5")
    assert len(load(path)) == 9
    monkeypatch.setattr(_guarded, "_CODE", "import os; os.abort()")
    _guarded._end_idle()
    with refuses(path, "the library that reads it crashed", 0):
        load(path)
    with pytest.raises(ValueError, match=r"The topology in '.*a\.h5' could not be read \(DamageError"):
        mf.load(path)
    monkeypatch.undo()
    assert len(load(path)) == 9


def test_one_process_reads_all_files_and_two_at_a_time(tmp_path):
    path = str(save(peptide_trajectory(9), tmp_path / "a.h5"))
    topology = peptide_topology()
    first = _guarded.chunks(path, topology, 4)
    parts = [len(next(first))]
    assert [len(chunk) for chunk in _guarded.chunks(path, topology, 5)] == [5, 4]
    parts += map(len, first)
    assert parts == [4, 4, 1]
    (process,) = _guarded._IDLE
    assert _guarded.count(path) == 9
    assert _guarded.topology(path) == topology
    assert [process] == _guarded._IDLE
    half = _guarded.chunks(path, topology, 4)
    next(half)
    half.close()  # in the middle of an answer
    assert not _guarded._IDLE


# ---------------------------------------------------------------------------------- boxes, times and units


def with_box(lengths, angles=(90, 90, 90)):
    trajectory = peptide_trajectory(12)
    trajectory.unitcell_lengths[9] = lengths
    trajectory.unitcell_angles[9] = angles
    return trajectory


@pytest.mark.parametrize("lengths", [(3, 3, 1e-6), (0, 0, 0), (3, np.nan, 3), (3, 3, np.inf)])
def test_box_that_cannot_be_one(tmp_path, lengths):
    with pytest.raises(ValueError, match=r"must have a volume and no edge shorter .* in frame 9 \(counted"):
        mf.load(with_box(lengths))
    with pytest.raises(ValueError, match=r"a\.dcd' has one of .* nm with angles 90, 90, 90 in frame 9"):
        load(save(with_box(lengths), tmp_path / "a.dcd"))


def test_box_without_angles():
    trajectory = peptide_trajectory(12)
    trajectory.unitcell_angles = None
    with pytest.raises(ValueError, match=r"must have lengths and angles; those of .* lack one of the two"):
        mf.load(trajectory)


def test_box_without_a_volume():
    with pytest.raises(ValueError, match=r"angles 10, 90, 170 in frame 9"):
        mf.load(with_box((3, 3, 3), (10, 90, 170)))
    with pytest.raises(ValueError, match=r"has one of -3 x 3 x 3 nm"):
        mf.load(with_box((-3, 3, 3)))
    # the frames at the ends of pieces are looked at before
    later = peptide_trajectory(12, first=100.0)
    later.unitcell_lengths[0] = 0, 3, 3
    with pytest.raises(ValueError, match=r"has one of 0 x 3 x 3 nm with angles 90, 90, 90 in frame 0"):
        mf.load([[peptide_trajectory(12), later]])


def test_frames_without_a_box_are_no_damage():
    trajectory = peptide_trajectory(12)
    trajectory.unitcell_lengths[:] = 0
    assert not mf.load(trajectory).whole


def test_times_that_are_not_finite(tmp_path):
    trajectory = peptide_trajectory(12)
    trajectory.time[8] = np.nan
    with pytest.raises(ValueError, match=r"Times must be finite; '.*a\.trr' has NaN or infinite .* frame 8"):
        load(save(trajectory, tmp_path / "a.trr"))


def test_files_in_nm_and_angstrom(tmp_path):
    small, large = peptide_trajectory(5, box=False, first=100.0), peptide_trajectory(5, box=False)
    large.xyz *= 10
    paths = [save(small, tmp_path / "nm.xtc"), save(large, tmp_path / "angstrom.xtc")]
    with pytest.warns(UserWarning, match=r"angstrom\.xtc' are 10 times as far apart as those of '.*nm\.xtc'"):
        load(paths)
    with pytest.warns(UserWarning, match=r"nm\.xtc' are 0\.1 times as far apart"):
        load([paths[::-1]])
    small.xyz *= 1.5
    load([paths[0], save(small, tmp_path / "other.xtc")])


def test_same_file_twice(tmp_path):
    path = save(peptide_trajectory(5), tmp_path / "a.xtc")
    with pytest.warns(UserWarning, match=r"a\.xtc' is given twice: its frames are loaded twice and count"):
        load([path, path])
    (tmp_path / "b.xtc").symlink_to(path)
    with pytest.warns(UserWarning, match=r"b\.xtc' is given twice, also as '.*a\.xtc'"):
        load(tmp_path / "*.xtc")


def test_copy_of_a_file(tmp_path):
    path = save(peptide_trajectory(5), tmp_path / "a.dcd")
    other = peptide_trajectory(5)
    other.xyz[4, 0] += 0.01
    load([path, save(other, tmp_path / "other.dcd")])  # of the same size
    shutil.copy(path, tmp_path / "copy.dcd")
    with pytest.warns(UserWarning, match=r"copy\.dcd' is a copy of '.*a\.dcd': its frames are loaded twice"):
        load([path, tmp_path / "copy.dcd"])


# ------------------------------------------------------------------------------------------ reading back


@pytest.mark.parametrize("whole", [True, False])
def test_trajectory_that_was_replaced_since_it_was_loaded(tmp_path, whole):
    path = save(peptide_trajectory(12), tmp_path / "a.xtc")
    frames = load(path, whole=whole)
    assert len(frames.trajectory([3, 11], atoms="all")) == 2
    save(peptide_trajectory(12, seed=1), path)
    with pytest.raises(ValueError, match=r"a\.xtc' was changed since its .*: frame 3 \(counted from 0\)"):
        frames.trajectory([3, 11], atoms="all")


@pytest.mark.parametrize("extension", ["xtc", "dcd", "trr", "pdb"])
def test_trajectory_that_became_shorter_since_it_was_loaded(tmp_path, extension):
    path = save(peptide_trajectory(12), tmp_path / f"a.{extension}")
    frames = load(path)
    save(peptide_trajectory(6), path)
    with pytest.raises(ValueError, match=rf"a\.{extension}' was changed since its frames were loaded"):
        frames.trajectory([2, 11], atoms="all")

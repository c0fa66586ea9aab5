"""COLVAR files: columns by name, restarts, damage, and rows matched to frames by time."""

import gzip

import numpy as np
import pytest

from mdfuzzy.frames.colvar import read_colvar

HEADER = "#! FIELDS time phi metad.bias\n#! SET min_phi -pi\n#! SET max_phi pi\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "COLVAR"
        path.write_text(text)
        return path

    return write


def test_columns_come_by_name_and_the_period_from_the_header(written):
    colvar = read_colvar(written(HEADER + " 0.0 1.5 2.5\n 1.0 -1.5 3.5\n"))
    assert colvar.names == ("phi", "metad.bias")
    assert colvar["phi"].tolist() == [1.5, -1.5]
    assert colvar["time"].tolist() == [0, 1]
    assert colvar.period("phi") == pytest.approx(2 * np.pi)
    assert colvar.period("metad.bias") is None
    with pytest.raises(
        ValueError, match=r"one that .*COLVAR has in all its parts: phi, metad.bias; got 'psi'"
    ):
        colvar["psi"]


def test_a_compressed_file_reads_alike(written, tmp_path):
    packed = tmp_path / "COLVAR.gz"
    packed.write_bytes(gzip.compress((HEADER + "0 1 2\n1 2 3\n").encode()))
    assert read_colvar(packed)["metad.bias"].tolist() == [2, 3]


def test_rows_of_a_restart_replace_those_of_the_same_times(written):
    first = "".join(f"{t} {t}.0 0\n" for t in range(6))
    # restarted at 4, with the columns in another order; the restart crashed and ran again from 6
    second = "#! FIELDS time metad.bias phi\n" + "".join(f"{t} 1 {t}.5\n" for t in range(4, 9))
    third = "#! FIELDS time phi metad.bias\n" + "".join(f"{t} {t}.7 2\n" for t in range(6, 8))
    colvar = read_colvar(written(HEADER + first + second + third))
    assert colvar.times.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert colvar["phi"].tolist() == [0, 1, 2, 3, 4.5, 5.5, 6.7, 7.7]
    assert colvar["metad.bias"].tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def test_a_restart_without_a_header_is_one_too(written):
    colvar = read_colvar(written(HEADER + "0 1 0\n1 2 0\n2 3 0\n1 4 0\n2 5 0\n"))
    assert colvar["phi"].tolist() == [1, 4, 5]


def test_columns_that_a_restart_adds_are_left_out(written):
    colvar = read_colvar(written(HEADER + "0 1 0\n#! FIELDS time phi psi metad.bias\n1 2 3 4\n"))
    assert colvar.names == ("phi", "metad.bias")
    assert colvar["metad.bias"].tolist() == [0, 4]


def test_a_line_that_was_cut_is_left_out_with_a_warning(written):
    for end in ("2 3", "2.0 3.0 1."):
        with pytest.warns(UserWarning, match=r"Line 6 of .*COLVAR was cut short"):
            assert len(read_colvar(written(HEADER + "0.0 1.0 0.25\n1.0 2.0 0.25\n" + end))) == 2
    # a crash in the middle of a line, and the header of the restart on the same line
    with pytest.warns(UserWarning, match=r"Line 5 of .*COLVAR was cut short"):
        colvar = read_colvar(written(HEADER + "0 1 0\n1 2#! FIELDS time phi metad.bias\n1 2 0\n2 3 0\n"))
    assert colvar.times.tolist() == [0, 1, 2]


def test_files_without_names_have_numbered_columns(written):
    colvar = read_colvar(written("# weights\n@ title\n0.5 1\n0.25 2\n"))
    assert colvar.names == ("1", "2")
    assert colvar.times is None
    assert colvar["1"].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold rows of numbers; got none"),
        (HEADER + "0 1 2\n1 2\n2 3 4\n", r"must have 3 numbers \(time phi metad.bias\); got '1 2' in line 5"),
        (HEADER + "0 1 2\n1 x 3\n2 3 4\n", "got '1 x 3' in line 5"),
        (HEADER + "0 1 2 3\n1 2 3 4\n", "got '0 1 2 3' in line 4"),
        (HEADER + "0 1 2\nnan 1 3\n1 2 3\n", "must be finite; got nan in line 5"),
        (HEADER + "0 1 2\n1 2 3\n0 1 2\n", "must go on after a restart; got 0 after 1 in line 6"),
        ("#! FIELDS time phi phi\n0 1 2\n", "must be different names; got 'time phi phi' in line 1"),
        ("#! FIELDS a b\n0 1\n#! FIELDS c d\n0 1\n", "must have a column in common; got a, b and c, d"),
    ],
)
def test_bad_files_are_refused(written, text, message):
    with pytest.raises(ValueError, match=message):
        read_colvar(written(text))


def test_files_that_are_no_text_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must exist"):
        read_colvar(tmp_path / "none")
    binary = tmp_path / "traj.xtc"
    binary.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(ValueError, match="must be a text file"):
        read_colvar(binary)
    broken = tmp_path / "COLVAR.gz"
    broken.write_bytes(gzip.compress((HEADER + "0 1 2\n" * 100).encode())[:40])
    with pytest.raises(ValueError, match="must be a text file"):
        read_colvar(broken)


def test_frames_find_their_rows_by_time(written):
    rows = "".join(f"{0.2 * i:.6f} {i} 0\n" for i in range(1001))
    colvar = read_colvar(written(HEADER + rows))
    times = np.arange(0, 200.1, 2).astype(np.float32)  # ten rows per frame, in single precision
    assert colvar.rows_at(times, len(times)).tolist() == list(range(0, 1001, 10))
    coarse = read_colvar(written(HEADER + "".join(f"{10 * i} {i} 0\n" for i in range(5))))
    assert coarse.rows_at(np.array([10.0, 30.0, 10.0]), 3).tolist() == [1, 3, 1]
    assert coarse.rows_at(None, 5).tolist() == [0, 1, 2, 3, 4]


def test_rows_that_do_not_fit_are_refused(written):
    colvar = read_colvar(written(HEADER + "".join(f"{10 * i} {i} 0\n" for i in range(5))))
    with pytest.raises(
        ValueError, match=r"none for 5 of 9 frames, the first at 5 ps. Its 5 rows: 0 to 40 ps, 10"
    ):
        colvar.rows_at(5.0 * np.arange(1, 10), 9)
    with pytest.raises(
        ValueError, match=r"one row per frame, because the frames have no times; got 5 rows for 4"
    ):
        colvar.rows_at(None, 4)
    plain = read_colvar(written("1\n2\n3\n"))
    with pytest.raises(ValueError, match="it has no column 'time'; got 3 rows for 2 frames"):
        plain.rows_at(np.array([0.0, 1.0]), 2)

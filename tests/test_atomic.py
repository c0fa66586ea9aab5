"""Files appear whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from mdfuzzy._atomic import TEMPORARY, draft_beside, whole_file


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")

    def write_half() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_what_killed_writers_left_is_removed(tmp_path: Path):
    path = tmp_path / "page.html"
    (tmp_path / f".page.html-0123abcd{TEMPORARY}").write_bytes(b"half")
    (tmp_path / f".page.html-4567abcd{TEMPORARY}" / "inside").mkdir(parents=True)
    others = {f".other.html-0123abcd{TEMPORARY}", f".page.html-of-mine{TEMPORARY}"}
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    with whole_file(path) as file:
        file.write(b"new")
    assert set(os.listdir(tmp_path)) == {"page.html", *others}


@pytest.mark.skipif(os.name != "posix", reason="permissions are others there")
def test_whoever_may_read_the_folder_may_read_the_file(tmp_path: Path):
    path = tmp_path / "page.html"
    before = os.umask(0o022)
    try:
        with whole_file(path) as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_drafts_have_names_of_their_own_beside_the_place(tmp_path: Path):
    one, two = draft_beside(tmp_path / "page.html"), draft_beside(tmp_path / "page.html")
    assert one != two
    assert one.parent == two.parent == tmp_path
    assert one.name.startswith(".page.html-")
    assert one.name.endswith(TEMPORARY)

"""Files appear whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from mdfuzzy._atomic import new_file, new_files, refuse_links, remove_drafts, whole_file


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


def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path: Path):
    (tmp_path / ".mdfuzzy-0123456789abcdef.draft").write_bytes(b"half")
    (tmp_path / ".mdfuzzy-fedcba9876543210.draft" / "inside").mkdir(parents=True)
    others = {".mdfuzzy-mine.draft", "data.tmp", ".mdfuzzy-plots", "deep"}
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / ".mdfuzzy-0123456789abcdef.draft").write_bytes(b"of another folder")
    remove_drafts(tmp_path)
    assert set(os.listdir(tmp_path)) == others
    assert all(len(os.listdir(tmp_path / name)) == 1 for name in others)
    remove_drafts(tmp_path / "none")


@pytest.mark.skipif(os.name != "posix", reason="links need a permission there")
def test_links_are_replaced_or_refused_and_never_followed(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"precious")
    inside = tmp_path / "inside"
    (inside / "folder").mkdir(parents=True)
    (inside / "file").symlink_to(outside / "precious")
    with whole_file(inside / "file") as file:
        file.write(b"new")
    assert not (inside / "file").is_symlink()
    (inside / "link").symlink_to(outside / "precious")
    with (
        pytest.raises(FileExistsError, match="is a symbolic link"),
        new_file(inside / "link", overwrite=True),
    ):
        pytest.fail("the file was opened")
    (inside / "there").symlink_to(outside)
    with pytest.raises(FileExistsError, match=r"there must be a folder; it is a symbolic link"):
        refuse_links(inside / "there" / "deeper", inside=inside)
    refuse_links(inside / "folder", inside=inside)
    # A forged record that names a file behind a link.
    (inside / ".mdfuzzy-kind").write_text("there/precious\n../outside/precious\n/etc/hostname\n")
    with new_files(inside, "kind", overwrite=True) as stage:
        (stage / "new").write_bytes(b"new")
    assert (outside / "precious").read_bytes() == b"precious"

    def write_behind_the_link() -> None:
        with new_files(inside, "kind", overwrite=True) as stage:
            (stage / "there").mkdir()
            (stage / "there" / "precious").write_bytes(b"overwritten")

    with pytest.raises(FileExistsError, match=r"holds 'there', which no earlier export wrote"):
        write_behind_the_link()
    assert (outside / "precious").read_bytes() == b"precious"


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

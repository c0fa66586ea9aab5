"""Write files that appear complete or not at all, and folders in which only our own files are replaced.

A file is first written as a draft, under another name in the same folder, and then renamed. A folder that we
fill holds a record of the files that we wrote, and nothing else in it is replaced or removed. Symbolic links
are never followed: a link in place of a file or of a folder inside is an error.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

#: The pattern of the names of drafts, which no other file has.
_DRAFT = re.compile(r"\.mdfuzzy-[0-9a-f]{16}\.draft")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to fill; it appears at `path` after success and is removed after an error.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answer.txt"
    ...     with whole_file(path) as file:
    ...         size, seen = file.write(b"42"), path.exists()
    ...     seen, path.read_text(), len(os.listdir(folder))
    (False, '42', 1)
    """
    draft = draft_in(path.parent)
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(path.parent)


def remove_drafts(folder: Path) -> None:
    """Remove drafts that killed writers left in a folder; only the one writer of it may call this."""
    for left_over in list(folder.iterdir()) if is_folder(folder) else ():
        if _DRAFT.fullmatch(left_over.name):
            if is_folder(left_over):
                shutil.rmtree(left_over, ignore_errors=True)
            else:
                with suppress(PermissionError):  # Windows, if it is mapped
                    left_over.unlink(missing_ok=True)


def is_draft(name: str) -> bool:
    """Return whether a file of this name is a draft."""
    return _DRAFT.fullmatch(name) is not None


def is_folder(path: Path) -> bool:
    """Return whether there is a folder at `path`, and not a link to one."""
    return path.is_dir() and not path.is_symlink()


def refuse_links(folder: Path, *, inside: Path) -> None:
    """Raise if `folder`, or a folder between it and `inside`, is a symbolic link."""
    for each in (folder, *folder.parents):
        if each == inside:
            return
        if each.is_symlink():
            raise FileExistsError(
                f"{each} must be a folder; it is a symbolic link, which mdfuzzy does not write through. "
                "Remove the link, or give another folder."
            )


@contextmanager
def new_file(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[BinaryIO]:
    """Yield a file to fill; it is moved to `path` after success and removed after an error."""
    path = Path(path).expanduser().absolute()
    with _explaining("path", path):
        if path.is_symlink():
            raise FileExistsError(
                f"`path` must be a file; {str(path)!r} is a symbolic link. Give another name."
            )
        if path.is_dir():
            raise IsADirectoryError(f"`path` must be a file; got the folder {str(path)!r}.")
        if path.exists() and not overwrite:
            raise FileExistsError(
                f"`path` must be a new file; got {str(path)!r}, which is there already. Give another name, "
                "or overwrite=True to replace it."
            )
    with _making("path", path.parent), ExitStack() as stack:
        with _explaining("path", path):
            file = stack.enter_context(whole_file(path))
        yield file


@contextmanager
def new_files(
    folder: str | os.PathLike[str],
    kind: str,
    *,
    overwrite: bool,
    keep: bool = False,
    names: Sequence[str] = (),
) -> Iterator[Path]:
    """Yield an empty folder to fill; after success its files appear in `folder`.

    A record of the files is kept there, as ``.mdfuzzy-KIND``. A later call with `overwrite` identifies its
    own files by this record. It replaces them, removes those that it does not write again (unless `keep`),
    and touches no other files: a file of another origin under the name of one to be written is an error.
    With the `names` to be written, this error comes before the work.
    """
    folder = Path(folder).expanduser().absolute()
    with _explaining("folder", folder):
        is_new = not folder.exists()
        if not is_new and not folder.is_dir():
            raise NotADirectoryError(f"`folder` must be a folder; got the file {str(folder)!r}.")
        present = [] if is_new else sorted(each.name for each in folder.iterdir() if not is_draft(each.name))
        if present and not overwrite:
            raise FileExistsError(
                f"`folder` must be new or empty; {str(folder)!r} holds {present[0]!r}. Give another one, or "
                "overwrite=True to replace the files of an earlier export; others are left as they are."
            )
        refuse_others(folder, kind, [Path(name) for name in names])
    with _making("folder", folder.parent):
        with _explaining("folder", folder):
            stage = draft_in(folder.parent if is_new else folder)
            stage.mkdir()
        try:
            yield stage
            files = sorted(each.relative_to(stage) for each in stage.rglob("*") if not each.is_dir())
            _write_record(stage / f".mdfuzzy-{kind}", files)
            if is_new and not folder.exists():
                os.rename(stage, folder)
            else:
                _replace(stage, folder, files, kind, keep=keep)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def remove_recorded(folder: Path) -> int:
    """Remove the files that `new_files` wrote into a folder or its subfolders; return their number.

    Other files stay, and so do folders that hold them.
    """
    removed = 0
    for record in sorted(folder.rglob(".mdfuzzy-*")) if is_folder(folder) else []:
        if any(not is_folder(each) for each in record.parents if each.is_relative_to(folder)):
            continue  # behind a link: not ours
        for file in _read_record(record):
            path = record.parent / file
            if path.is_symlink() or not path.is_file():
                continue
            path.unlink()
            removed += 1
        record.unlink()
    for inside in sorted((each for each in folder.rglob("*") if is_folder(each)), reverse=True):
        with suppress(OSError):  # not empty
            inside.rmdir()
    with suppress(OSError):
        folder.rmdir()
    return removed


def adopt_files(folder: Path, kind: str, files: list[Path]) -> None:
    """Record `files`, relative to `folder`, as written by us, for folders that have no record yet."""
    _write_record(folder / f".mdfuzzy-{kind}", sorted(files))


def refuse_others(folder: Path, kind: str, files: Sequence[Path]) -> None:
    """Raise if one of the files to be written, relative to `folder`, is there and of another origin."""
    old = _read_record(folder / f".mdfuzzy-{kind}")
    for file in files:
        inside = [folder / part for part in file.parents if os.path.lexists(folder / part)]
        taken = next((each for each in inside[:-1] if not is_folder(each)), folder / file)
        if os.path.lexists(taken) and (taken.is_dir() or taken.relative_to(folder) not in old):
            raise FileExistsError(
                f"`folder` must not hold other files under the names to be written; {str(folder)!r} "
                f"holds {str(taken.relative_to(folder))!r}, which no earlier export wrote. Give another "
                "folder."
            )


def _replace(stage: Path, folder: Path, files: list[Path], kind: str, *, keep: bool) -> None:
    """Move files from `stage` to `folder` and remove other files of the earlier record."""
    refuse_others(folder, kind, files)
    record = Path(f".mdfuzzy-{kind}")
    old = _read_record(folder / record)
    # The record names all files at any time, even if the writer is killed.
    _write_record(stage / "record", sorted({*old, *files}))
    os.replace(stage / "record", folder / record)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage / file, folder / file)
    if keep:
        return
    for file in old - set(files):
        if any((folder / part).is_symlink() for part in list(file.parents)[:-1]):
            continue  # it is no longer ours: a link leads elsewhere
        if not (folder / file).is_dir():
            (folder / file).unlink(missing_ok=True)
        for parent in list(file.parents)[:-1]:
            with suppress(OSError):  # not empty
                (folder / parent).rmdir()
    os.replace(stage / record, folder / record)


def draft_in(folder: Path) -> Path:
    """Return an unused name in `folder`; files of `tempfile` would be readable by their owner only."""
    return folder / f".mdfuzzy-{os.urandom(8).hex()}.draft"


def _sync_folder(folder: Path) -> None:
    """Write a rename in the folder to the disk; some systems cannot do this and do not need it."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write_record(path: Path, files: list[Path]) -> None:
    path.write_text("".join(f"{file.as_posix()}\n" for file in files), encoding="utf-8")


def _read_record(path: Path) -> set[Path]:
    """Return the files that an earlier export wrote, without names that lead out of the folder."""
    if path.is_symlink() or not path.is_file():
        return set()
    names = [Path(line) for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    return {name for name in names if name.parts and not name.is_absolute() and ".." not in name.parts}


@contextmanager
def _making(name: str, folder: Path) -> Iterator[None]:
    """Make a folder with its parents; after a later error, remove the folders that were made."""
    with _explaining(name, folder):
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
        raise


@contextmanager
def _explaining(name: str, path: Path) -> Iterator[None]:
    """Name the argument in errors of the operating system (our own errors have no number)."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(
            f"`{name}` must be where files can be written; got {str(path)!r} ({error.strerror}). Give "
            "another one."
        ) from error

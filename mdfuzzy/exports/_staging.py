"""Places to write to: files appear whole or not at all, and what is not ours stays as it is."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mdfuzzy._atomic import draft_beside, whole_file


@contextmanager
def new_file(path: str | os.PathLike[str], *, overwrite: bool) -> Iterator[BinaryIO]:
    """Yield a file to fill, which takes its place at `path` when all went well and else disappears."""
    path = Path(path).expanduser().resolve()
    with _explaining("path", path):
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
def new_files(folder: str | os.PathLike[str], kind: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield an empty folder to fill, whose files appear in `folder` when all went well.

    A list of them is kept there, as ``.mdfuzzy-KIND``: by it a later export with `overwrite` knows which
    files are its own. It replaces or removes these, and touches no others.
    """
    folder = Path(folder).expanduser().resolve()
    with _explaining("folder", folder):
        is_new = not folder.exists()
        if not is_new and not folder.is_dir():
            raise NotADirectoryError(f"`folder` must be a folder; got the file {str(folder)!r}.")
        stage = draft_beside(folder if is_new else folder / kind)
        present = [] if is_new else sorted(each.name for each in folder.iterdir())
        if present and not overwrite:
            raise FileExistsError(
                f"`folder` must be new or empty; {str(folder)!r} holds {present[0]!r}. Give another one, or "
                "overwrite=True to replace the files of an earlier export; others are left as they are."
            )
    with _making("folder", folder.parent):
        with _explaining("folder", folder):
            stage.mkdir()
        try:
            yield stage
            files = sorted(each.relative_to(stage) for each in stage.rglob("*") if not each.is_dir())
            record = Path(f".mdfuzzy-{kind}")
            _write_record(stage / record, files)
            if is_new:
                os.rename(stage, folder)
            else:
                _replace(stage, folder, files, record)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def _replace(stage: Path, folder: Path, files: list[Path], record: Path) -> None:
    """Move files from `stage` to `folder` and remove those of the earlier record that are not among them."""
    old = _read_record(folder / record)
    for file in files:
        inside = [folder / part for part in file.parents if (folder / part).exists()]
        taken = next((each for each in inside if not each.is_dir()), folder / file)
        if os.path.lexists(taken) and (taken.is_dir() or taken.relative_to(folder) not in old):
            raise FileExistsError(
                f"`folder` must not hold files of others under the names to be written; {str(folder)!r} "
                f"holds {str(taken.relative_to(folder))!r}, which no earlier export wrote. Give another "
                "folder."
            )
    # Whenever the writer dies, the record names all of its files.
    _write_record(stage / "record", sorted({*old, *files}))
    os.replace(stage / "record", folder / record)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage / file, folder / file)
    for file in old - set(files):
        (folder / file).unlink(missing_ok=True)
        for parent in list(file.parents)[:-1]:
            with suppress(OSError):  # not empty
                (folder / parent).rmdir()
    os.replace(stage / record, folder / record)


def _write_record(path: Path, files: list[Path]) -> None:
    path.write_text("".join(f"{file.as_posix()}\n" for file in files), encoding="utf-8")


def _read_record(path: Path) -> set[Path]:
    """Return the files that an earlier export wrote; names that lead out of the folder are none of them."""
    if not path.is_file():
        return set()
    names = [Path(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {name for name in names if name.parts and not name.is_absolute() and ".." not in name.parts}


@contextmanager
def _making(name: str, folder: Path) -> Iterator[None]:
    """Make a folder with its parents; when something fails later, remove those that were made."""
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
    """Say which argument it is about when the system refuses (our own errors have no number)."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(
            f"`{name}` must be where files can be written; got {str(path)!r} ({error.strerror}). Give "
            "another one."
        ) from error

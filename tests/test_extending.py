"""The pages on extending the package: each change is made in a copy of the package, and used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.extending import Block, read_blocks

import mdfuzzy

FOLDER = Path(__file__).parents[1] / "docs" / "design" / "extend"
if not FOLDER.is_dir():
    pytest.skip("the tests are run without the documentation", allow_module_level=True)
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "index.md")

#: Runs a script with the package from the current path, and says where that is.
RUN = "import mdfuzzy, runpy, sys; print(mdfuzzy.__file__); runpy.run_path(sys.argv[1], run_name='__main__')"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, with its compiled kernels."""
    return shutil.copytree(Path(mdfuzzy.__file__).parent, tmp_path / "copy" / "mdfuzzy")


def test_every_page_is_listed():
    listed = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert len(PAGES) >= 6
    for page in PAGES:
        assert f"\n{page.stem}\n" in listed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_extension_works(page: Path, package: Path, tmp_path: Path):
    *changes, example = read_blocks(page)
    assert changes
    assert all(change.file for change in changes)
    for change in changes:
        change.apply(package.parent)
    assert (example.language, example.file) == ("python", "")
    script = tmp_path / "example.py"
    script.write_text(example.text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, f"{example.name}\n{done.stderr}"
    assert Path(done.stdout.splitlines()[0]).is_relative_to(package)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" gone\n+new\n", "page.md, block 2: pkg/a.py must hold these lines once, not 0 times:\ngone"),
        (" twice\n+new\n", "not 2 times:\ntwice"),
        (" one\n", "page.md, block 2: nothing is changed"),
        ("one\n+new\n", "page.md, block 2: a line without its sign"),
    ],
)
def test_a_stale_page_is_named(text: str, message: str, tmp_path: Path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text("one\ntwice\ntwice\n")
    block = Block("page.md, block 2", "diff", "pkg/a.py", text)
    with pytest.raises(AssertionError) as error:
        block.apply(tmp_path)
    assert message in str(error.value)


def test_changes_are_made_at_their_places(tmp_path: Path):
    page = tmp_path / "page.md"
    diff = "```diff\n--- a.py\n-one\n+1\n two\n@@\n four\n+5\n```\n"
    page.write_text(f"# A page\n\n{diff}\n```{{code-block}} python\n:caption: b.py\n\nnew\n```\n")
    (tmp_path / "a.py").write_text("one\ntwo\n\nfour\n")
    for block in read_blocks(page):
        block.apply(tmp_path)
    assert (tmp_path / "a.py").read_text() == "1\ntwo\n\nfour\n5\n"
    assert (tmp_path / "b.py").read_text() == "new\n"
    with pytest.raises(AssertionError, match=r"page\.md, block 2: b\.py is not new"):
        read_blocks(page)[1].apply(tmp_path)
    with pytest.raises(AssertionError, match=r"there is no file c\.py"):
        Block("page.md, block 1", "diff", "c.py", "+1\n").apply(tmp_path)

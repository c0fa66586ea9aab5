"""The examples in README.md and in the documentation print what they say."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.exists() and BLOCK.search(page.read_text())
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # what an example writes
    text = page.read_text()
    if "import MDAnalysis" in text:
        pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed: pip install '.[mdanalysis]'")
    names: dict[str, object] = {}  # blocks of a page continue each other
    report: list[str] = []
    for block in BLOCK.finditer(text):
        line = text[: block.start(1)].count("\n")
        test = doctest.DocTestParser().get_doctest(block[1], names, page.name, str(page), line)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "\n".join(report)
        names = test.globs


def test_readme_has_an_example():
    readme = ROOT / "README.md"
    if not readme.exists():
        pytest.skip("the tests are run without the repository around them")
    assert readme in PAGES


def test_readme_starts_with_the_two_commands():
    readme = ROOT / "README.md"
    if not readme.exists():
        pytest.skip("the tests are run without the repository around them")
    code = re.findall(r"^```\n(.*?)^```$", readme.read_text(), re.MULTILINE | re.DOTALL)[0]
    commands = [line.split("#")[0].strip() for line in code.splitlines()]
    assert commands == ["pip install . && mdfuzzy demo", "pip install '.[test]' && pytest"]


def test_pictures_of_the_readme_are_in_the_repository_and_small():
    readme = ROOT / "README.md"
    if not readme.exists():
        pytest.skip("the tests are run without the repository around them")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", readme.read_text())
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).read_bytes().startswith(b"\x89PNG")
        assert (ROOT / picture).stat().st_size < 300_000

"""What the files around the package say about it agrees."""

import re
import tomllib
from pathlib import Path

import pytest

import mdfuzzy

ROOT = Path(__file__).parents[1]
if not (ROOT / ".ci" / "lowest.txt").exists():
    pytest.skip("the tests are run without the repository around them", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = PROJECT["dependencies"]
EXTRAS = {
    extra: [need for need in needs if not need.startswith(("mdfuzzy[", "ruff"))]
    for extra, needs in PROJECT["optional-dependencies"].items()
}
BOUNDS = dict(need.split(">=") for need in [*CORE, *(need for needs in EXTRAS.values() for need in needs)])


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_lower_bounds_are_releases_that_were_run(name: str):
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / ".ci" / "lowest.txt").read_text(), re.MULTILINE))
    run = re.sub(r"(\.0)+$", "", pins[name])
    assert run == re.sub(r"(\.0)+$", "", BOUNDS[name])


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_every_dependency_has_a_reason(name: str):
    assert re.search(rf"^\|.*\b{name}\b", (ROOT / "docs/design/dependencies.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_extra_has_a_reason(extra: str):
    assert f"| `{extra}` |" in (ROOT / "docs/design/dependencies.md").read_text()


def test_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {mdfuzzy.__version__}\n" in citation
    assert "arXiv:1406.7130" in citation


def test_the_registry_of_mdanalysis_gets_what_it_asks_for():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install '.[workflow]'")
    entries = yaml.safe_load((ROOT / "docs" / "metadata.yaml").read_text())
    lists = {"authors", "maintainers", "keywords"}
    texts = {"project_name", "description", "license", "project_home", "documentation_home"}
    texts |= {"documentation_type", "python_requires"}
    optional_lists = {"install", "src_install", "run_tests", "test_dependencies", "publications"}
    optional_texts = {"import_name", "mdanalysis_requires", "project_org", "development_status"}
    optional_texts |= {"community_home", "changelog"}
    assert lists | texts <= set(entries) <= lists | texts | optional_lists | optional_texts
    for name, value in entries.items():
        many = name in lists | optional_lists
        assert isinstance(value, list if many else str), name
        assert value, name
        assert all(isinstance(each, str) and each for each in value), name
    assert entries["project_name"] == entries["import_name"] == PROJECT["name"]
    assert entries["license"] == PROJECT["license"]
    assert entries["python_requires"] == PROJECT["requires-python"]
    assert [f"MDAnalysis{entries['mdanalysis_requires']}"] == PROJECT["optional-dependencies"]["mdanalysis"]
    assert {"UserGuide", "API", "README"} >= set(entries["documentation_type"].split(" + "))
    for test in entries["run_tests"][1].split()[1:]:
        assert (ROOT / test).exists()

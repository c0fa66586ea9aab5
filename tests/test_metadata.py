"""What the files around the package say about it agrees."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import mdfuzzy

ROOT = Path(__file__).parents[1]
if not (ROOT / ".ci" / "lowest.txt").exists():
    pytest.skip("the tests are run without the repository around them", allow_module_level=True)

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
CORE = PROJECT["dependencies"]
EXTRAS = {
    extra: [need for need in needs if not need.startswith(("mdfuzzy[", "mypy", "ruff"))]
    for extra, needs in PROJECT["optional-dependencies"].items()
}
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
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


def read_yaml(path: str) -> dict:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install '.[workflow]'")
    return yaml.safe_load((ROOT / path).read_text())


def test_the_registry_of_mdanalysis_gets_what_it_asks_for():
    entries = read_yaml("docs/metadata.yaml")
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


def test_addresses_are_those_of_the_registry_of_mdanalysis():
    entries = read_yaml("docs/metadata.yaml")
    keys = {
        "Homepage": "project_home",
        "Documentation": "documentation_home",
        "Changelog": "changelog",
        "Issues": "community_home",
    }
    assert PROJECT["urls"] == {name: entries[key] for name, key in keys.items()}


def test_type_checkers_see_the_public_names():
    stub = Path(mdfuzzy.__file__).with_suffix(".pyi").read_text()
    homes = {name: f"mdfuzzy.{home}" for name, home in mdfuzzy._HOME.items()}
    homes |= dict.fromkeys(mdfuzzy._MODULES, "mdfuzzy")
    listed = {name: home for home, name, again in re.findall(r"from (\S+) import (\w+) as (\w+)", stub)}
    assert listed == homes
    assert Path(mdfuzzy.__file__).with_name("py.typed").exists()


# --- Python versions


def test_the_lowest_python_is_the_first_that_is_named():
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert PYPROJECT["tool"]["mypy"]["python_version"] == PYTHONS[0]
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{PYTHONS[0].replace('.', '')}"


def test_workflows_run_every_python_on_every_system():
    jobs = read_yaml(".github/workflows/tests.yml")["jobs"]
    matrix = jobs["newest"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert jobs["newest"]["steps"][-1]["run"] == jobs["lowest"]["steps"][-1]["run"] == "bash .ci/run"
    assert jobs["lowest"]["steps"][1]["with"]["python-version"] == PYTHONS[0]
    constraints = jobs["lowest"]["steps"][-1]["env"]["PIP_CONSTRAINT"]
    assert (ROOT / constraints.replace("${{ github.workspace }}/", "")).exists()


@pytest.mark.parametrize("name", [".github/workflows/docs.yml", ".github/workflows/release.yml"])
def test_other_workflows_run_the_newest_python(name: str):
    used = re.findall(r'python-version: "(.*)"', (ROOT / name).read_text())
    assert used == [PYTHONS[-1]]


def test_the_documentation_is_built_elsewhere_as_here():
    entries = read_yaml(".readthedocs.yaml")
    assert entries["build"]["tools"]["python"] == PYTHONS[-1]
    assert (ROOT / entries["sphinx"]["configuration"]).exists()
    assert entries["python"]["install"][0]["extra_requirements"] == ["docs"]


# --- packages


def test_the_conda_recipe_is_of_this_version_and_its_dependencies():
    recipe = read_yaml(".conda/recipe.yaml")
    assert recipe["context"] == {"version": mdfuzzy.__version__, "python_min": PYTHONS[0]}
    names = {"matplotlib": "matplotlib-base"}  # without the windows of matplotlib, which nothing here opens
    expected = [" >=".join((names.get(name, name), bound)) for name, bound in map(split_bound, CORE)]
    assert recipe["requirements"]["run"] == ["python >=${{ python_min }}", *expected]
    build = " >=".join(split_bound(PYPROJECT["build-system"]["requires"][0]))
    assert build in recipe["requirements"]["host"]
    scripts = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    about = recipe["about"]
    assert about["license"] == PROJECT["license"]
    assert about["summary"] == PROJECT["description"]
    assert about["homepage"] == about["repository"] == PROJECT["urls"]["Homepage"]
    assert about["documentation"] == PROJECT["urls"]["Documentation"]


def split_bound(need: str) -> list[str]:
    return need.split(">=")


def test_the_source_archive_holds_all_that_the_repository_does():
    include = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all((ROOT / entry.removeprefix("/")).exists() for entry in include)
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no clone, or there is no git to ask")
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files"]
    tracked = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    entries = {f"/{path.split('/')[0]}" for path in tracked}
    assert entries - {"/pyproject.toml", "/.gitignore"} == set(include)  # which are always in it

"""The design, enforced: the direction of imports, the place of each library, and documented public names."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import mdfuzzy

PACKAGE = Path(mdfuzzy.__file__).parent
#: The folders in the order of the data flow, as the package itself declares them.
ORDER = list(mdfuzzy._STAGES)

#: Where a third-party library may appear: in these folders, or modules of the top level. A library that is
#: not listed may appear nowhere; an entry that is not used fails, too.
LIBRARIES: dict[str, set[str]] = {
    "numba": {"_kernels", "_threads"},
    "llvmlite": {"_kernels"},  # numba's own compiler
    "mdtraj": {"frames", "features", "neighbors", "exports"},
    "MDAnalysis": {"frames", "mdanalysis"},
    "networkx": {"frames"},
    "tables": {"frames"},
    "sklearn": {"pipeline"},
    "threadpoolctl": {"_threads"},
    "distributed": {"workers"},
    "deeptime": {"features", "kinetics"},
    "matplotlib": {"plots"},
    "plotly": {"report"},
    "pyarrow": {"exports"},
    "click": {"cli"},
}
#: Libraries that every folder may use.
EVERYWHERE = {"numpy", "scipy", "tqdm"}
#: Slow to import: only inside functions, so that importing the package answers at once.
HEAVY = {*LIBRARIES, "scipy"} - {"click"}

#: Public modules whose names need a library that is an extra.
OPTIONAL = {"mdanalysis": "MDAnalysis"}

SOURCES = sorted(PACKAGE.rglob("*.py"))
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))


def module_of(path: Path) -> tuple[str, ...]:
    """The parts of a module's name below the package: ("frames", "loading")."""
    return path.relative_to(PACKAGE).with_suffix("").parts


def folder_of(module: tuple[str, ...]) -> str | None:
    """The folder that holds a module; None for the modules of the top level."""
    return module[0] if (PACKAGE / module[0]).is_dir() else None


def imports(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the dotted name of everything that is imported; `from a import b` counts as a.b."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read and searched for"
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the modules of the package that a source file imports, as `module_of` names them."""
    for name, _ in imports(list(ast.walk(ast.parse(path.read_text())))):
        first, *parts = name.split(".")
        if first != "mdfuzzy":
            continue
        while parts and not is_module(parts):  # what is imported from a module
            parts.pop()
        yield tuple(parts) or ("__init__",)


def is_module(parts: list[str]) -> bool:
    """Whether a dotted name is a module or a folder of the package."""
    place = PACKAGE.joinpath(*parts)
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


# --- the direction of imports


def test_the_declared_order_is_that_of_the_folders_on_disk():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(ORDER) == folders


@each_source
def test_a_folder_imports_only_folders_before_it(path: Path):
    module = module_of(path)
    folder = folder_of(module)
    for used in imported_modules(path):
        other = folder_of(used)
        if other in (None, folder):
            continue
        if folder is None:  # modules of the top level are below all folders, but for those that run a program
            assert module[0] == "__main__", f"{module[0]} must not import {other}"
        else:
            assert ORDER.index(other) < ORDER.index(folder), f"{folder} comes before {other}"


@each_source
def test_an_underscore_inside_a_folder_is_private_to_the_folder(path: Path):
    folder = folder_of(module_of(path))
    for used in imported_modules(path):
        private = folder_of(used) is not None and any(part.startswith("_") for part in used[1:])
        assert not private or folder_of(used) == folder, f"{'.'.join(used)} is private to {used[0]}"


def test_modules_import_each_other_without_a_cycle():
    waiting = {}
    for path in SOURCES:
        module = module_of(path)
        name = module[:-1] if module[-1] == "__init__" and len(module) > 1 else module
        waiting[name] = {used for used in imported_modules(path) if used != name}
    while waiting:
        ready = [name for name, below in waiting.items() if not below & set(waiting)]
        assert ready, f"a cycle among {sorted(waiting)}"
        for name in ready:
            del waiting[name]


@each_source
def test_nothing_asks_which_data_it_has(path: Path):
    """What is compared, and how, is answered by `Trajectories.metric`; only its folder knows the types."""
    if module_of(path)[0] == "frames":
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            asked = ast.unparse(node.args[1])
            assert not re.search(r"\b(Frames|Features)\b", asked), f"line {node.lineno}: ask `data.metric`"


# --- libraries


@each_source
def test_libraries_appear_only_where_they_belong(path: Path):
    place = module_of(path)[0]
    tree = ast.parse(path.read_text())
    used = {name.split(".")[0] for name, _ in imports(list(ast.walk(tree)))}
    for library in sorted(used - set(sys.stdlib_module_names) - EVERYWHERE - {"mdfuzzy"}):
        assert place in LIBRARIES.get(library, ()), f"{library} has no business in {place}"


def test_every_place_of_a_library_is_used():
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        for name, _ in imports(list(ast.walk(ast.parse(path.read_text())))):
            found.setdefault(name.split(".")[0], set()).add(module_of(path)[0])
    for library, places in LIBRARIES.items():
        assert places == found.get(library), f"{library} is used in {sorted(found.get(library, ()))}"


def architecture_table(head: str) -> dict[str, str]:
    """Return the rows of a table of the page on the architecture: the first column and the second."""
    page = Path(__file__).parents[1] / "docs" / "design" / "architecture.md"
    if not page.exists():
        pytest.skip("the tests are run without the documentation")
    table = page.read_text(encoding="utf-8").partition(f"| {head} |")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE))


def test_the_architecture_page_lists_the_folders_in_order():
    assert [name.strip("`/") for name in architecture_table("folder")] == ORDER


def test_the_architecture_page_gives_each_library_its_place():
    rows = architecture_table("library")
    places = {name.split(",")[0]: set(re.findall(r"`(\w+)`", where)) for name, where in rows.items()}
    assert places == LIBRARIES


def loaded_by(code: str) -> set[str]:
    """Return the modules that a new interpreter has loaded after `code`."""
    command = [sys.executable, "-c", f"import sys\n{code}\nprint('loaded', *sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


#: Importing every public name but the classes that inherit from a class of a library.
EVERY_NAME = """
import mdfuzzy
for name in mdfuzzy.__all__:
    if name != "FuzzyModeSeeking":
        getattr(mdfuzzy, name)
"""


@pytest.mark.parametrize(
    "code",
    [
        "import mdfuzzy; dir(mdfuzzy)",
        "from mdfuzzy.cli import main; assert main(['--help']) == 0",
        EVERY_NAME,
    ],
    ids=["import mdfuzzy", "mdfuzzy --help", "every public name"],
)
def test_answers_at_once(code: str):
    loaded = loaded_by(code)
    assert "mdfuzzy" in loaded
    assert not loaded & HEAVY


def test_the_probe_sees_what_is_loaded():
    # Otherwise the test above would prove nothing.
    assert "numba" in loaded_by("import mdfuzzy._kernels.jit")


# --- the public names


def public_objects() -> Iterator[tuple[str, object]]:
    """Yield every public module, function, class and method with its dotted name."""
    for name in mdfuzzy.__all__:
        try:
            value = getattr(mdfuzzy, name)
        except ImportError:
            continue  # reported by test_every_public_name_resolves_and_is_listed
        if isinstance(value, ModuleType):
            yield name, value
            if name in OPTIONAL and find_spec(OPTIONAL[name]) is None:
                continue
            for inner in value.__all__:
                yield from with_methods(f"{name}.{inner}", getattr(value, inner))
        elif callable(value):
            yield from with_methods(name, value)


def with_methods(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield `value` and, of a class, the public methods and properties that it defines itself."""
    yield name, value
    if isinstance(value, type):
        for inner, member in vars(value).items():
            if not inner.startswith("_") and isinstance(
                member, FunctionType | property | classmethod | staticmethod
            ):
                yield f"{name}.{inner}", getattr(member, "__func__", member)


def sections(value: object) -> dict[str, str]:
    """Return the sections of a numpydoc docstring by their headings."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(value) or "", flags=re.MULTILINE)
    return {"Summary": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def documented(section: str) -> set[str]:
    """Return the names that a Parameters or Attributes section explains."""
    heads = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: *:.*)?$", section, flags=re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def parameters(value: object) -> set[str]:
    """Return the names of the parameters of a function or of a class's constructor."""
    if isinstance(value, type) and issubclass(value, Exception):
        return set()
    return set(inspect.signature(value).parameters) - {"self", "cls"}


PUBLIC = dict(public_objects())
each_public = pytest.mark.parametrize("name", PUBLIC)


def test_every_public_name_resolves_and_is_listed():
    assert len(set(mdfuzzy.__all__)) == len(mdfuzzy.__all__)
    for name in mdfuzzy.__all__:
        assert getattr(mdfuzzy, name) is not None
        assert name in dir(mdfuzzy)
    assert set(mdfuzzy.__all__) == {"__version__", *mdfuzzy._HOME, *mdfuzzy._MODULES}


def test_public_names_live_where_they_are_said_to():
    for name, home in mdfuzzy._HOME.items():
        assert getattr(mdfuzzy, name) is getattr(import_module(f"mdfuzzy.{home}"), name)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'mdfuzzy' has no attribute 'nonsense'"):
        mdfuzzy.nonsense  # noqa: B018


@each_public
def test_is_documented(name: str):
    assert sections(PUBLIC[name])["Summary"].strip(), f"{name} has no docstring"


@pytest.mark.parametrize(
    "name", [name for name, value in PUBLIC.items() if not isinstance(value, ModuleType | property)]
)
def test_parameters_are_those_of_the_docstring(name: str):
    value, found = PUBLIC[name], sections(PUBLIC[name])
    known = documented(found.get("Parameters", ""))
    assert known <= parameters(value), f"documented, but not a parameter: {sorted(known - parameters(value))}"
    if dataclasses.is_dataclass(value):
        attributes = documented(found.get("Attributes", ""))
        real = {field.name for field in dataclasses.fields(value)} | set(dir(value))
        assert attributes <= real, f"documented, but not an attribute: {sorted(attributes - real)}"
        known |= attributes
    elif "." in name and "Parameters" not in found:
        # A method that is explained in a sentence names its arguments there, `like this`.
        known = set(re.findall(r"`(\w+)`", found["Summary"]))
    assert parameters(value) <= known, f"not documented: {sorted(parameters(value) - known)}"


#: Functions and classes, of the package itself and of its public modules; not methods.
TOP_LEVEL = [
    name
    for name, value in PUBLIC.items()
    if callable(value) and name.rpartition(".")[0] in ("", *mdfuzzy._MODULES)
]


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_has_an_example(name: str):
    assert ">>>" in sections(PUBLIC[name]).get("Examples", ""), f"{name} has no example"


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_the_signature_in_help_is_readable(name: str):
    try:
        text = str(inspect.signature(PUBLIC[name]))
    except ValueError:  # a class without a signature of its own, such as an exception
        return
    assert "numpy._typing" not in text, f"{name}: `from __future__ import annotations` keeps npt.ArrayLike"
    assert len(text) <= 1000, f"the signature of {name} has {len(text)} characters"


# --- the tests themselves


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.rglob("*.py")), ids=lambda path: path.name)
def test_comparisons_can_fail(path: Path):
    """A comparison on a line of its own throws its answer away; `allclose` without tolerances hides them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func).split(".")[-1]
            assert called not in ("allclose", "array_equal", "isclose"), (
                f"line {node.lineno}: nothing is asserted"
            )
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "allclose":
            given = {word.arg for word in node.keywords}
            assert given & {"rtol", "atol"}, f"line {node.lineno}: allclose without rtol or atol"

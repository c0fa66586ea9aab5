"""The design, held by tests: who imports whom, what is public, and that it is documented."""

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

#: Reading trajectories, and its private parts: each may import only what stands to its right.
READING = (
    *("loading", "recording", "frame_files", "_store", "_plan", "features", "frames", "_pieces"),
    *("_universes", "_universe_topology", "_atoms", "_boxes", "_files", "_claims", "_sources"),
    "_trajectories",
)
#: The search for neighbours under RMSD, and its private parts: the same.
SEARCH = (
    "rmsd",
    "rmsd_mdtraj",
    "_sharded",
    "_scattered",
    "_recall",
    "_layout",
    "_blocks",
    "_shards",
    "workers",
    "rmsd_index",
    "_movable",
)
#: The steps, later ones first: each may import only what stands to its right.
STEPS = (
    *(
        "interfaces",
        "kinetics",
        "scores",
        "beta_scan",
        "extension",
        "memberships",
        "weights",
        "cores",
        "stability",
    ),
    *("persistence", "prominence", "density", "dimension"),
    *(module for module in SEARCH if not module.startswith("_")),
    *("neighbors", "graph"),
    *(module for module in READING if not module.startswith("_")),
)
#: What imports numba when it is imported, and so is imported inside functions only.
COMPILED = {
    "_kernels",
    "_cells",
    "_grouping",
    "rmsd_index",
    "_sharded",
    "_scattered",
    "_layout",
    "_blocks",
    "_shards",
    "_recall",
}
#: All steps in one call.
RUNNING = ("pipeline", "clustering", "state_table", "settings")
#: What every module may use.
COMMON = {"_check", "_warn", "_words", "_threads", "_kernels"}
#: What each module may import from the package. A module that is not named here fails: say where it stands.
LAYERS: dict[str, set[str]] = {
    "__init__": set(),
    "_check": set(),
    "_warn": set(),
    "_words": set(),
    "_drafts": set(),
    "_threads": {"_check"},
    "_kernels": {"_kernels"},
    "_grouping": {"_kernels", "_threads"},
    "_cells": {"_grouping", "_kernels", "_threads"},
    "_hierarchy": {"_kernels", "_threads"},
    "_solve": {"_kernels", "_hierarchy", "_threads"},
    "_conformations": {"_check", "_threads", "frames"},
    "_euclidean": set(),
    "_records": set(),
    "settings": {"_check"},
    **{step: {*COMMON, *STEPS[place + 1 :]} for place, step in enumerate(STEPS)},
    **{module: {*COMMON, *READING[place + 1 :]} for place, module in enumerate(READING)},
    **{
        module: {*COMMON, *SEARCH[place + 1 :], "neighbors", "graph", "frame_files", "frames"}
        for place, module in enumerate(SEARCH)
    },
    "state_table": {*COMMON, *STEPS},
    "clustering": {*COMMON, *STEPS, "settings", "state_table"},
    "_steps": {*COMMON, *STEPS, "settings", "_records"},
    "_states": {*COMMON, *STEPS, "settings", "_steps"},
    "_walk": {*COMMON, *STEPS, "settings", "_steps", "_states"},
    "pipeline": {*COMMON, *STEPS, "settings", "clustering", "_steps", "_states", "_walk"},
    "_distances": {*COMMON, *STEPS},
    "estimator": {*COMMON, *STEPS, *RUNNING, "_distances"},
    **{name: {*COMMON, *STEPS, *RUNNING} for name in ("assignment", "validation", "mdanalysis")},
    "regions": {"frames"},
    "_folder": {"_drafts"},
    "_lock": set(),
    "rundir": {*COMMON, *STEPS, *RUNNING, "_drafts", "_folder", "_lock"},
    **{name: {*COMMON, *STEPS, *RUNNING, "_drafts"} for name in ("plots", "exports")},
    "datasets": {*COMMON, *STEPS, *RUNNING},
    "report": {*COMMON, *STEPS, *RUNNING, "_drafts", "plots", "__init__"},  # the version
}
LAYERS["memberships"] |= {"_solve"}
LAYERS["neighbors"] |= {"_euclidean"}
LAYERS["rmsd_index"] |= {"_cells", "_grouping"}
LAYERS["_layout"] |= {"_cells"}
LAYERS["_shards"] |= {"_grouping"}
LAYERS["workers"] |= {"__init__"}  # the version
for search in ("rmsd", "rmsd_mdtraj"):
    LAYERS[search] |= {"_conformations"}
LAYERS["__main__"] = {"cli"}
LAYERS["cli"] = {name for name in LAYERS if not name.startswith("_")} | {"__init__", "_kernels"}

#: Where a library may appear; one that is not named here may appear nowhere.
LIBRARIES: dict[str, set[str]] = {
    "numpy": set(LAYERS),
    "tqdm": set(LAYERS) - {"_kernels", "_check", "_warn"},
    "scipy": set(LAYERS) - {"__init__", "_check", "_warn", "_threads", "cli"},
    "sklearn": {"_euclidean", "density", "estimator"},
    "numba": {"_kernels", "_threads"},
    "llvmlite": {"_kernels"},  # numba's own compiler, which comes with it
    "mdtraj": {*READING, "exports", "datasets", "rmsd_mdtraj"},
    "matplotlib": {"plots"},
    "plotly": {"report"},
    "deeptime": {"kinetics"},
    "click": {"cli"},
    "distributed": {"workers"},
    "pyarrow": {"exports"},
    "tables": {"_files"},
    "MDAnalysis": {"_universes", "_universe_topology", "recording", "mdanalysis"},
    "pynndescent": {"neighbors"},
}
#: Slow to import: only inside functions, so that importing the package answers at once.
HEAVY = (
    "mdtraj",
    "matplotlib",
    "plotly",
    "deeptime",
    "sklearn",
    "scipy",
    "numba",
    "distributed",
    "MDAnalysis",
)

#: Public modules whose names need a library that is an extra.
OPTIONAL = {"mdanalysis": "MDAnalysis"}


def module_of(path: Path) -> str:
    """The module as the table names it: every kernel is `_kernels`."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


SOURCES = sorted(PACKAGE.rglob("*.py"))
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))


def imports(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the dotted name of everything that is imported; `from a import b` counts as a.b."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read and searched for"
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def at_import_time(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that run at import: not the bodies of functions, nor `if TYPE_CHECKING`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def own_module(dotted: str) -> str | None:
    """The module of the package that `dotted` names; `from mdfuzzy import load` is `__init__`."""
    first, *rest = dotted.split(".")
    if first != "mdfuzzy":
        return None
    if rest and ((PACKAGE / rest[0]).is_dir() or (PACKAGE / f"{rest[0]}.py").exists() or rest[0] in LAYERS):
        return rest[0]
    return "__init__"


# --- who imports whom


@each_source
def test_each_module_imports_only_what_it_stands_on(path: Path):
    module = module_of(path)
    assert module in LAYERS, f"{path.name} stands in no layer: name it in LAYERS and in the design pages"
    tree = ast.parse(path.read_text())
    used = {own_module(name) for name, _ in imports(list(ast.walk(tree)))} - {None, module}
    assert used <= LAYERS[module], f"{module} must not import {sorted(used - LAYERS[module])}"


def test_the_layers_have_no_cycle():
    done: set[str] = {"_kernels", "__init__"}  # a folder, and the lazy names
    waiting = dict(LAYERS)
    while waiting:
        ready = [name for name, below in waiting.items() if below - {name} <= done]
        assert ready, f"a cycle among {sorted(waiting)}"
        done |= set(ready)
        for name in ready:
            del waiting[name]


@each_source
def test_libraries_appear_only_where_they_belong(path: Path):
    module = module_of(path)
    tree = ast.parse(path.read_text())
    used = {name.split(".")[0] for name, _ in imports(list(ast.walk(tree)))}
    for library in sorted(used - set(sys.stdlib_module_names) - {"mdfuzzy"}):
        assert module in LIBRARIES.get(library, ()), f"{library} has no business in {module}"


@each_source
def test_slow_libraries_are_imported_inside_functions(path: Path):
    module = module_of(path)
    # The last two are imported only when their class is used, which inherits from one of the library.
    if module in {*COMPILED, "estimator", "mdanalysis"}:
        return
    nodes = list(at_import_time(ast.parse(path.read_text())))
    for name, node in imports(nodes):
        assert name.split(".")[0] not in HEAVY, (
            f"line {node.lineno}: import {name} inside the function that needs it"
        )
        assert own_module(name) not in COMPILED, (
            f"line {node.lineno}: kernels import numba, so inside functions too"
        )


def loaded_by(code: str) -> set[str]:
    """Return the modules that a new interpreter has loaded after `code`."""
    command = [sys.executable, "-c", f"import sys\n{code}\nprint('loaded', *sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    ["import mdfuzzy; dir(mdfuzzy)", "from mdfuzzy.cli import main; assert main(['--help']) == 0"],
    ids=["import mdfuzzy", "mdfuzzy --help"],
)
def test_answers_at_once(code: str):
    loaded = loaded_by(code)
    assert "mdfuzzy" in loaded
    assert not loaded & set(HEAVY)


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

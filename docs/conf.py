"""Settings of the documentation: ``sphinx-build -W -n docs html``."""

from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment

import mdfuzzy

project = "mdfuzzy"
author = "The mdfuzzy developers"
copyright = f"2026, {author}"
release = mdfuzzy.__version__
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # formulas without a network
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "theory/cores-*-table.md",
    "theory/prominence-alanine.md",
    "theory/prominence-table.md",
    "theory/kinetics-*.md",
    "theory/over-confidence-table.md",
    "theory/weights-table.md",
    "_build",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.zip",
    "gallery/*.md5",
]
templates_path = ["_templates"]
nitpicky = True

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "py:name"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Scripts named plot_... are run when the documentation is built; the others are shown.
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "capture_repr": (),  # what is to be seen is printed
    "download_all_examples": False,
    "show_memory": False,
    "plot_gallery": True,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "mdfuzzy"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# Pages that stand alone have nothing to list at their side.
html_sidebars = {page: [] for page in ("index", "install", "changelog", "paper/index", "performance/index")}


#: The names that most programs need.
_FIRST = ("load", "cluster", "Settings", "Clustering", "StateTable", "assign", "RunDir")
#: Titles of the groups of the reference, by folder, and what is in them.
_GROUPS = {
    "": ("First", "Load trajectories, find the states, look at the result."),
    "frames": ("Trajectories", "What can be clustered."),
    "neighbors": ("Neighbours", "Nearest neighbours and their graph."),
    "states": ("States", "Density, its peaks, and how robust they are."),
    "memberships": ("Memberships", "The random walk to the cores, and scores."),
    "pipeline": ("Pipeline", "All steps in one call, new frames, models."),
    "store": ("Run directory", "What a run keeps."),
    "_check": ("Errors", "What is raised for input that cannot be used."),
}


def write_reference(page: Path) -> None:
    """Write the contents of the reference: the public names, under the modules that hold them."""
    names: dict[str, list[str]] = {"": list(_FIRST)}
    for name, home in mdfuzzy._HOME.items():
        if name not in _FIRST:
            names.setdefault(home.partition(".")[0], []).append(name)
    for home in mdfuzzy._MODULES:
        inside = [f"{home}.{name}" for name in import_module(f"mdfuzzy.{home}").__all__]
        names[home] = [*names.get(home, []), *inside]
    lines = ["Reference", "=========", "", ".. module:: mdfuzzy", ""]
    lines += ["Every name is an attribute of the package: ``import mdfuzzy as mf``, then ``mf.load(...)``;"]
    lines += ["what is in a public module is reached through it: ``mf.kinetics.visits(...)``."]
    for home, public in names.items():
        title, summary = _GROUPS.get(home) or (home, import_module(f"mdfuzzy.{home}").__doc__.splitlines()[0])
        lines += ["", title, "-" * len(title), "", summary, ""]
        if home in mdfuzzy._MODULES:  # so that pages can refer to it
            lines += [f".. module:: mdfuzzy.{home}", ".. currentmodule:: mdfuzzy", ""]
        lines += [".. autosummary::", "   :toctree: generated", "", *(f"   {name}" for name in public)]
    text = "\n".join(lines) + "\n"
    if not page.exists() or page.read_text() != text:  # an unchanged page is not built again
        page.parent.mkdir(exist_ok=True)
        page.write_text(text)


class Name(PyXRefRole):
    """A name in a docstring: a link if it is in the reference, code if not, such as that of a parameter."""

    def result_nodes(
        self, document: nodes.document, env: BuildEnvironment, node: nodes.Element, is_ref: bool
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Mark the reference as one that need not lead anywhere."""
        node["may_be_missing"] = True
        return [node], []


def find_name(
    app: Sphinx, env: BuildEnvironment, node: nodes.Element, content: nodes.TextElement
) -> nodes.Element | None:
    """Link a name of the package from the pages of its modules, too; one that is none is shown as code."""
    if node.get("refdomain") != "py":
        return None
    target = f"mdfuzzy.{node['reftarget']}"
    python = env.domains.python_domain
    link = python.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)
    return link or (content if node.get("may_be_missing") else None)


def setup(app: Sphinx) -> None:
    """Make links of the names that docstrings have in single backticks."""
    app.add_role_to_domain("py", "name", Name())
    app.connect("missing-reference", find_name)


write_reference(Path(__file__).parent / "reference" / "index.rst")

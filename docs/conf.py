"""Settings of the documentation: ``sphinx-build -W -n docs html``."""

from importlib import import_module
from importlib.metadata import version as installed_version

import mdfuzzy

project = "mdfuzzy"
author = "The mdfuzzy developers"
copyright = f"2026, {author}"
release = installed_version("mdfuzzy")
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "gallery/*.md5"]
templates_path = ["_templates"]
nitpicky = True
# Types in docstrings are written for readers ("(n, k) int32"), not as links.
nitpick_ignore_regex = [(r"py:.*", r"(?!mdfuzzy).*")]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3


def public_names() -> dict[str, tuple[str, list[str]]]:
    """Return the summary and the public names of each module, for the reference pages."""
    names: dict[str, list[str]] = {}
    for name, home in mdfuzzy._HOME.items():
        names.setdefault(home, []).append(name)
    for module in mdfuzzy._MODULES:
        members = vars(import_module(f"mdfuzzy.{module}")).items()
        own = [n for n, v in members if getattr(v, "__module__", None) == f"mdfuzzy.{module}" and n[0] != "_"]
        names[module] = [f"{module}.{name}" for name in own]
    return {home: (import_module(f"mdfuzzy.{home}").__doc__.splitlines()[0], names[home]) for home in names}


autosummary_generate = True
autosummary_context = {"homes": public_names()}
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Scripts named plot_... are run when the documentation is built; the others are shown.
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
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

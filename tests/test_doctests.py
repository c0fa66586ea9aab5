"""Every example in a docstring of the package that is imported here, installed or not, gives what it says."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import mdfuzzy

MODULES = ["mdfuzzy", *(found.name for found in pkgutil.walk_packages(mdfuzzy.__path__, "mdfuzzy."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str):
    if name.startswith("mdfuzzy.mdanalysis."):
        pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed: pip install '.[mdanalysis]'")
    module = import_module(name)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in doctest.DocTestFinder().find(module, name):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "\n".join(report)

"""The notebook in examples/: its cells run, and give the outputs that it shows."""

import ast
import contextlib
import io
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "alanine_dipeptide.ipynb"
#: A number in an output. Other releases of the libraries change the last digits.
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def run_cell(source: str, names: dict[str, Any]) -> tuple[str, object]:
    """Run a cell and return what it prints, and the value of its last line unless a semicolon hides it."""
    body, last = ast.parse(source).body, None
    if isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(body.pop().value)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), names)
        value = None if last is None else eval(compile(last, str(NOTEBOOK), "eval"), names)
    return printed.getvalue(), value


def assert_same(found: str, shown: str) -> None:
    """Compare two texts: the words exactly, the numbers with a tolerance."""
    assert NUMBER.sub("N", found).split() == NUMBER.sub("N", shown).split()
    numbers = [[float(each.replace(",", "")) for each in NUMBER.findall(text)] for text in (found, shown)]
    np.testing.assert_allclose(*numbers, rtol=0.05, atol=0.01)


def test_the_notebook_shows_what_its_cells_give(tmp_path, monkeypatch: pytest.MonkeyPatch):
    if not NOTEBOOK.exists():
        pytest.skip("the tests are run without the examples")
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    shell = types.SimpleNamespace(kernel=None)  # as in a notebook, in which figures show as they are made
    ipython = types.SimpleNamespace(get_ipython=lambda: shell, version_info=(9, 0))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells, start=1):
        assert cell["execution_count"] == number, "run: jupyter nbconvert --execute --inplace"
        printed, value = run_cell("".join(cell["source"]), names)
        kinds = [output["output_type"] for output in cell["outputs"]]
        assert kinds.count("display_data") == len(pyplot.get_fignums())
        assert "error" not in kinds
        pyplot.close("all")
        stream = ["".join(each["text"]) for each in cell["outputs"] if each["output_type"] == "stream"]
        assert_same(printed, "".join(stream))
        results = [each["data"] for each in cell["outputs"] if each["output_type"] == "execute_result"]
        assert len(results) == (value is not None)
        for data in results:
            assert_same(repr(value), "".join(data["text/plain"]))
            assert ("text/html" in data) == hasattr(value, "_repr_html_")
            if hasattr(value, "_repr_html_"):
                images = ["".join(html).count("<img") for html in (value._repr_html_(), data["text/html"])]
                assert images[0] == images[1]

"""The example of a protein that folds: from its simulation to a Markov model."""

import runpy
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plot_folding_protein.py"
if not EXAMPLE.exists():
    pytest.skip("the tests are run without the repository around them", allow_module_level=True)


def test_a_protein_that_folds(tmp_path, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = runpy.run_path(str(EXAMPLE))
    plt.close("all")
    labels, fraction = names["labels"], names["fraction"]
    assert labels.max() == 1
    folded, unfolded = sorted((fraction[labels == state].mean() for state in (0, 1)), reverse=True)
    assert folded > 0.65
    assert unfolded < 0.5
    assert names["validation"].passed

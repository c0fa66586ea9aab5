"""Results in a notebook: tables, a picture, and figures that show."""

import sys
import types

import numpy as np
import pytest

import mdfuzzy as mf


def test_a_clustering_has_a_table_and_a_picture(peptide_result: mf.Clustering):
    html = peptide_result._repr_html_()
    assert html.count("<tr>") == peptide_result.n_states + 1
    assert "data:image/png;base64," in html
    assert f"{peptide_result.states[0].frames:,}" in html
    assert "<script" not in html
    assert len(html) < 300_000


def test_tables_and_assignments(peptide_result: mf.Clustering):
    assert peptide_result.states._repr_html_().startswith("<table")
    new = mf.assign(peptide_result, peptide_result.data[:200])
    html = new._repr_html_()
    assert "Assignment(200 frames" in html
    assert html.count("<img") == 1


def test_neighbours_alone_have_no_picture():
    points = np.repeat([[0.0], [9.0]], 150, axis=0) + np.random.default_rng(0).normal(size=(300, 2))
    result = mf.cluster(mf.euclidean_neighbors(points, n_neighbors=40))
    assert "<img" not in result._repr_html_()


def test_figures_show_in_a_notebook_and_nowhere_else(
    peptide_result: mf.Clustering, monkeypatch: pytest.MonkeyPatch, tmp_path
):
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    mf.plots.persistence_diagram(peptide_result)
    assert pyplot.get_fignums() == []
    shell = types.SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    figure = mf.plots.persistence_diagram(peptide_result).figure
    assert [pyplot.figure(number) for number in pyplot.get_fignums()] == [figure]
    pyplot.close("all")
    mf.plots.write_plots(tmp_path, peptide_result, kinds=["persistence"])
    peptide_result._repr_html_()
    assert pyplot.get_fignums() == []

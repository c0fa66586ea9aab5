"""Pictures and the report of an assignment: new frames beside the fitted ones."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.plots import pictures
from mdfuzzy.report.maps import describe_maps
from mdfuzzy.report.structures import describe_structures


@pytest.fixture(scope="module")
def new(peptide_result: mf.Clustering) -> mf.Assignment:
    """A hundred frames of the largest state only."""
    members = np.flatnonzero(peptide_result.labels == 0)[:100]
    found = mf.assign(peptide_result, peptide_result.data[members])
    assert found.occupied == [0]
    return found


def test_the_report_has_the_fractions_of_the_run(new: mf.Assignment, tmp_path: Path):
    text = mf.report.write_report(tmp_path / "report.html", new).read_text(encoding="utf-8")
    sections = re.findall(r'<section id="(\w+)">', text)
    assert sections == [
        *("states", "map", "structures", "network", "transition_regions", "timeline", "about"),
    ]
    rows = re.findall(r"<tr>(.*?)</tr>", text.partition('<section id="map">')[0], re.DOTALL)[1:]
    assert len(rows) == new.n_states
    for row, fitted in zip(rows, new.fitted, strict=True):
        widths = re.findall(r'class="bar"><i style="width:([\d.]+)%', row)
        assert widths == [f"{100 * (fitted.state == 0):.1f}", f"{100 * fitted.fraction:.1f}"]
    data = json.loads(re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["peaks"] is None
    assert "$" not in text.partition('<script type="application/json"')[0].replace("$(", "")


def test_states_without_new_frames_are_not_marked(new: mf.Assignment, peptide_result: mf.Clustering):
    (plane,) = describe_maps(new)["planes"]
    assert plane["peaks"]["states"] == [0]
    assert len(plane["peaks"]["x"]) == len(plane["peaks"]["labels"]["x"]) == 1
    assert [each["states"] for each in describe_structures(new)["structures"]][:1] == [[0]]
    assert describe_maps(peptide_result)["planes"][0]["peaks"]["states"] == list(range(new.n_states))
    ax = mf.plots.ramachandran(new.data, new)
    assert [text.get_text() for text in ax.texts] == ["0"]


def test_pictures_are_those_of_frames_and_memberships(new: mf.Assignment, tmp_path: Path):
    names = [path.stem for path in mf.plots.write_plots(tmp_path, new)]
    maps = ["overview", "density", "free-energy", "states", "transitions"]
    states = [f"state-{state}" for state in range(new.n_states)]
    assert names == [*maps, *states, "fractions", "network", "timeline-0"]
    with pytest.raises(ValueError, match=r"`kinds` must be one of 'overview', .*; got 'persistence'"):
        mf.plots.write_plots(tmp_path, new, kinds=["persistence"])
    assert set(pictures._pictures(new, mf.plots.torsions(new.data))) == {*names}


def test_bars_are_the_fractions(new: mf.Assignment):
    ax = mf.plots.assigned_fractions(new)
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, new.n_states)
    np.testing.assert_allclose(heights[0], [100 * row.fraction for row in new.fitted])
    np.testing.assert_allclose(heights[1], [100, *[0] * (new.n_states - 1)])
    with pytest.raises(TypeError, match=r"`assignment` must be `Assignment`; got int\. `assign` makes it"):
        mf.plots.assigned_fractions(5)


def test_weights_are_those_of_the_new_frames(peptide_result: mf.Clustering):
    weights = np.linspace(1, 2, len(peptide_result))
    new = mf.assign(peptide_result, peptide_result.data.weighted(weights))
    np.testing.assert_allclose(new.weights / new.weights[0], weights)
    legend = mf.plots.overview(new).axes[1].get_legend()
    assert legend.get_title().get_text() == "state: population"
    assert legend.get_texts()[0].get_text() == f"0: {100 * new.fractions.values[0]:.0f} %"


def test_far_frames_are_a_warning_of_the_report(peptide_result: mf.Clustering, tmp_path: Path):
    xyz = peptide_result.data.xyz[:60] * np.float32(1.3)
    with pytest.warns(UserWarning, match="of the new frames are more than") as caught:
        new = mf.assign(peptide_result, mf.load(xyz))
    assert np.all(new.milestones.core_of < 0)
    assert new.visits is None
    assert np.all(new.transition_regions.transitions == 0)
    assert new.warnings == (str(caught[0].message),)
    text = mf.report.write_report(tmp_path / "report.html", new).read_text(encoding="utf-8")
    assert "They may be in states that the fitted trajectories did not visit" in text

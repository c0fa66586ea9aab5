"""The report in a real browser: what a person who opens the page sees and can do."""

from pathlib import Path

import pytest
from helpers.browser import use_page

#: What a person does, from top to bottom. `paint` returns what a plot shows, as an image.
_ACTIONS = """
const pause = (time) => new Promise((done) => setTimeout(done, time));
while (document.body?.dataset.ready !== "yes") await pause(50);
const get = (id) => document.getElementById(id);
const paint = (id) => Plotly.toImage(id, { format: "png", width: 500, height: 500 });
const act = (plot, action) => new Promise((done) => { get(plot).once("plotly_afterplot", done); action(); });
const change = (plot, element, kind, value) => act(plot, () => {
  element.value = value;
  element.dispatchEvent(new Event(kind, { bubbles: true }));
});
const view = async (name) => {
  const button = document.querySelector(`input[name="view"][value="${name}"]`);
  await act("map-plot", () => button.click());
};
const colors = async (picture) => {
  const image = new Image();
  image.src = picture;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 500;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  return new Set(new Uint32Array(pen.getImageData(0, 0, 500, 500).data.buffer)).size;
};

// The map: three views, and two temperatures.
findings.views = {};
for (const name of ["second", "density", "one", "states"]) {
  await view(name);
  findings.views[name] = await paint("map-plot");
}
await view("second");
const slider = get("map-beta");
findings.betas = [];
for (const place of [slider.min, slider.max]) {
  await change("map-plot", slider, "input", place);
  const [text, words] = [get("map-beta-text").textContent, get("map-words").textContent];
  findings.betas.push({ text, words, picture: await paint("map-plot") });
}
findings.hover = get("map-plot").data[0].text.flat().find((text) => text.includes("frame"));

// The peaks: another threshold, and a click on a peak.
const count = () => [get("peaks-count").textContent, get("peaks-words").textContent];
const threshold = get("peaks-threshold");
findings.counts = [count()];
for (const place of [threshold.min, threshold.max]) {
  await change("peaks-plot", threshold, "input", place);
  findings.counts.push(count());
}
const point = { customdata: DATA.peaks.prominences.findIndex((value) => value !== null) };
await act("peaks-plot", () => get("peaks-plot").emit("plotly_click", { points: [point] }));
findings.counts.push(count());
await act("peaks-plot", () => get("peaks-reset").click());
findings.counts.push(count());

// The structures: the first and the last.
const choice = get("structure-choice");
findings.structures = [];
for (const place of [0, choice.options.length - 1]) {
  choice.value = String(place);
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  await pause(200);
  const picture = get("structure-plot").viewer.pngURI();
  const name = get("structure-name").textContent;
  findings.structures.push({ name, picture, colors: await colors(picture) });
}

// The other plots, and what the buttons above plots offer.
const all = (selector) => [...document.querySelectorAll(selector)];
const parts = "svg.main-svg, canvas";
findings.drawn = all(".plot").map((plot) => [plot.id, plot.querySelectorAll(parts).length]);
findings.buttons = all(".modebar-btn").map((button) => button.getAttribute("data-title"));
const wide = document.documentElement;
findings.overflow = wide.scrollWidth - wide.clientWidth;
"""


@pytest.fixture(scope="module")
def findings(peptide_report: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    return use_page(peptide_report, tmp_path_factory.mktemp("browser"), _ACTIONS)


def test_everything_is_drawn_without_a_word_on_the_console(findings: dict):
    assert findings["problems"] == []
    assert findings["overflow"] <= 0
    drawn = dict(findings["drawn"])
    assert {"map-plot", "structure-plot", "peaks-plot", "network-plot", "timeline-plot"} <= set(drawn)
    assert {"beta-plot", "timescales-plot", "prediction-plot"} <= set(drawn)
    assert all(number > 0 for number in drawn.values()), drawn


def test_nothing_is_fetched_nor_sent_anywhere(findings: dict):
    assert findings["fetched"] == []
    assert findings["buttons"]
    local = ("Download", "Zoom", "Pan", "Reset", "Orbital", "Turntable")
    assert [name for name in findings["buttons"] if not name.startswith(local)] == []


def test_the_views_of_the_map_differ(findings: dict):
    assert len(set(findings["views"].values())) == 4


def test_the_slider_over_beta_changes_the_picture(findings: dict):
    cold, hot = findings["betas"]
    assert cold["text"] == "beta = 0.3, colder than the simulation"
    assert hot["text"] == "beta = ∞, density ignored"
    assert cold["picture"] != hot["picture"]
    assert cold["words"] != hot["words"]
    assert "kT above the lowest bin" in findings["hover"]


def test_the_threshold_changes_the_number_of_states(findings: dict, peptide_result):
    used, least, most, clicked, reset = findings["counts"]
    n_states, peaks = peptide_result.n_states, peptide_result.peaks
    assert used == [f"{n_states} states", "as in this report."]
    assert least[0] == f"{len(peaks)} states"
    assert most[0] == f"{peaks.n_components} state" + "s" * (peaks.n_components != 1)
    assert "joins state" in most[1]
    assert clicked[0] == f"{peaks.n_components + 1} states"  # the most prominent of those that die
    assert reset == used


def test_structures_are_drawn(findings: dict):
    first, last = findings["structures"]
    assert first["name"] == "State 0"
    assert last["name"].startswith("Between ")
    assert first["picture"] != last["picture"]
    for structure in (first, last):
        assert structure["colors"] > 50, "an empty canvas has one colour; shaded balls have hundreds"


def test_no_script_runs_but_those_of_the_page(peptide_report: Path, tmp_path: Path):
    """Were a text not escaped, the policy of the page would still keep its script from running."""
    page = tmp_path / "report.html"
    text = peptide_report.read_text(encoding="utf-8")
    inside = '<script>window.forged = "script"</script><img src="x" onerror="window.forged = 1">'
    page.write_text(text.replace("</header>", f"{inside}</header>", 1), encoding="utf-8")
    actions = """
    while (document.body?.dataset.ready !== "yes") await new Promise((done) => setTimeout(done, 50));
    findings.forged = window.forged ?? null;
    """
    findings = use_page(page, tmp_path, actions)
    assert findings["forged"] is None
    assert any("Content Security Policy" in problem for problem in findings["problems"])

"""The report: complete, correct, self-contained, and safe whatever is in the data."""

import base64
import dataclasses
import json
import os
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import peptide_topology, peptide_xyz, residue_topology
from scipy.spatial.transform import Rotation

import mdfuzzy as mf
from mdfuzzy.pipeline.run import cluster_neighbors
from mdfuzzy.report import maps, words
from mdfuzzy.report.figures import beta_figure, prediction_figure, timescales_figure
from mdfuzzy.report.kinetics import describe_kinetics
from mdfuzzy.report.maps import describe_maps, solutions
from mdfuzzy.report.network import network_figure
from mdfuzzy.report.page import render
from mdfuzzy.report.series import describe_peaks, describe_timeline
from mdfuzzy.report.structures import describe_structures, find_molecule


class Page(HTMLParser):
    """What a page holds: its tags, and the texts of its cells, scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data

    @property
    def data(self) -> dict:
        """The numbers for the plots."""
        place = [tag for tag in self.tags if tag[0] == "script"].index(
            ("script", {"type": "application/json", "id": "report-data"})
        )
        return json.loads(self.texts["script"][place])


def unpack(packed: dict) -> np.ndarray:
    """Undo `pack`, as the page does."""
    data = zlib.decompress(base64.b64decode(packed["packed"]))
    return np.frombuffer(data, dtype=packed["type"]).reshape(packed["shape"])


@pytest.fixture(scope="module")
def page(peptide_report: Path) -> Page:
    return Page(peptide_report.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def blobs() -> mf.Clustering:
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6]
    return mf.cluster(parts, mf.Settings(n_jobs=1))


# --- the file


def test_needs_nothing_from_elsewhere(page: Page):
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "audio", "video")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"@import|url\(|https?:", "".join(page.texts["style"]))
    libraries = ("plotly.js v", "3Dmol-min.js")
    ours = [text for text in page.texts["script"] if not any(name in text[:90] for name in libraries)]
    assert len(page.texts["script"]) == 4
    assert len(ours) == 2
    assert not re.search(r"https?://|\bfetch\(|XMLHttpRequest|\bimport\b", ours[-1])
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy


def test_is_small(peptide_report: Path, page: Page):
    library = max(page.texts["script"], key=len)
    assert peptide_report.stat().st_size < 10_000_000
    assert peptide_report.stat().st_size - len(library.encode()) < 1_000_000


def test_the_same_input_gives_the_same_bytes(peptide_result: mf.Clustering, tmp_path: Path):
    first, second = (mf.report.write_report(tmp_path / name, peptide_result) for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_is_whole_or_not_there(blobs: mf.Clustering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = mf.report.write_report(tmp_path / "report.html", blobs, title="the old one")
    old = path.read_bytes()

    def fail(draft: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        mf.report.write_report(path, blobs)
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert path.read_bytes() == old
    monkeypatch.undo()
    assert mf.report.write_report(path, blobs) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_of_others_is_not_replaced(blobs: mf.Clustering, tmp_path: Path):
    path = tmp_path / "thesis.html"
    path.write_text("<html>years of work</html>")
    with pytest.raises(FileExistsError, match=r"must be a new file or an earlier report; got .*thesis.html"):
        mf.report.write_report(path, blobs)
    assert path.read_text() == "<html>years of work</html>"


def test_refuses_what_it_cannot_show(blobs: mf.Clustering, tmp_path: Path):
    with pytest.raises(
        TypeError,
        match=r"`result` must be `Clustering` or `Assignment`; got int\. `cluster` and `assign` make it\.",
    ):
        mf.report.write_report(tmp_path / "report.html", 5)
    with pytest.raises(TypeError, match=r"`timescales` must be `ImpliedTimescales` or None; got list\."):
        mf.report.write_report(tmp_path / "report.html", blobs, timescales=[1])
    with pytest.raises(TypeError, match=r"`test` must be `ChapmanKolmogorov` or None; got list\."):
        mf.report.write_report(tmp_path / "report.html", blobs, test=[1])
    with pytest.raises(FileNotFoundError, match=r"`path` must be in an existing folder; got .*Make "):
        mf.report.write_report(tmp_path / "no" / "report.html", blobs)
    with pytest.raises(
        IsADirectoryError, match=r"`path` must be a file; got .*, a folder\. Use .*report\.html"
    ):
        mf.report.write_report(tmp_path, blobs)
    assert not list(tmp_path.iterdir())


# --- what it says


def test_all_states_and_transition_regions_are_named(page: Page, peptide_result: mf.Clustering):
    cells = page.texts["td"]
    for row in peptide_result.states:
        assert f"{row.frames:,}" in cells
        assert f"{row.phi[0]:.0f}°, {row.psi[0]:.0f}°".replace("-", "−") in cells
    visits = peptide_result.visits
    assert cells.count("yes") == np.count_nonzero(visits.metastable)
    for reason in filter(None, visits.reasons):
        assert reason in page.texts["section"][0]
    transition_regions = peptide_result.transition_regions
    assert len(transition_regions) > 0
    for (a, b), size in zip(transition_regions.pairs, transition_regions.sizes, strict=True):
        assert f"{a} – {b}" in cells
        assert f"{size:,}" in cells
    for place, word in enumerate(
        ("states", "transition_regions", "frames", "trajectories", "simulated", "beta")
    ):
        assert page.texts["b"][place].strip(), word
    words = " ".join(page.texts["dd"])
    for why in peptide_result.chosen.values():
        assert why in words
    text = " ".join(" ".join(page.texts["section"]).split())
    assert "2 is the temperature of the simulation. Smaller values are colder" in text
    assert "population" not in " ".join(page.texts["th"]), "a fraction of frames is not a population"


def test_warnings_come_first(peptide_result: mf.Clustering):
    text = render(dataclasses.replace(peptide_result, warnings=("Mind the gap.", "Mind the gap.")))
    assert text.count("Mind the gap.") == 1
    assert text.index("Mind the gap.") < text.index("<section")
    assert "Warnings" not in render(dataclasses.replace(peptide_result, warnings=()))


def test_nothing_in_the_data_becomes_markup(peptide_result: mf.Clustering):
    evil = "</script><script>alert('1 & 2')</script>"
    data = dataclasses.replace(peptide_result.data, residues=(evil,))
    changed = dataclasses.replace(peptide_result, data=data, warnings=(evil,), chosen={evil: evil})
    text = render(changed, title=evil)
    assert evil not in text
    found = Page(text)
    assert found.texts["h1"] == [evil]
    assert evil in found.texts["dd"]
    assert found.data["map"]["planes"][0]["name"] == evil
    assert len(found.texts["script"]) == 4


# --- what it shows


def test_the_map_shows_the_means_of_its_bins(peptide_result: mf.Clustering):
    shown = describe_maps(peptide_result)
    plane = shown["planes"][0]
    data, bins = peptide_result.data, plane["bins"]
    cells, counts, layers = (unpack(plane[name]) for name in ("cells", "counts", "layers"))
    angles = np.stack([data.phi[:, 0], data.psi[:, 0]], axis=1).astype(np.float64)
    places = np.floor((angles + 180) / (360 / bins)).astype(int) % bins
    of_frame = places[:, 0] * bins + places[:, 1]
    assert counts.sum() == len(data)
    scan = peptide_result.beta_scan
    assert shown["betas"][0] == "0.3"
    assert shown["betas"][-1] == "∞"
    for beta in (0, len(scan.betas) - 1):
        values = scan.memberships[beta]
        for at in range(0, len(cells), 7):
            inside = values[of_frame == cells[at]]
            ordered = np.sort(inside, axis=1)
            assert layers[beta, 1, at] / 250 == pytest.approx(ordered[:, -2].mean(), abs=0.0021)
            assert layers[beta, 2:, at] / 250 == pytest.approx(inside.mean(axis=0), abs=0.0021)
            votes = np.bincount(inside.argmax(axis=1), minlength=values.shape[1])
            assert votes[layers[beta, 0, at]] == votes.max()
    used = shown["chosen"]
    assert shown["betas"][used] == "2"
    assert shown["fractions"][used] == pytest.approx(peptide_result.memberships.values.mean(axis=0), rel=1e-3)
    assert shown["between"][used] == pytest.approx(
        np.mean(peptide_result.memberships.values.max(axis=1) < 0.9), rel=1e-2
    )


def test_a_scan_that_kept_some_frames_is_shown_with_these(peptide_result: mf.Clustering):
    scan = peptide_result.beta_scan
    frames = np.arange(0, len(peptide_result), 2)
    some = dataclasses.replace(scan, memberships=scan.memberships[:, frames], frames=frames)
    found = solutions(dataclasses.replace(peptide_result, beta_scan=some))
    assert [each.beta for each in found] == sorted({*scan.betas, 2.0})
    for each, values in zip(found, scan.memberships, strict=True):
        if each.frames is not None:
            assert np.array_equal(each.values, values[frames])
        else:
            assert each.beta == 2
            assert each.values is peptide_result.memberships.values
    shown = describe_maps(dataclasses.replace(peptide_result, beta_scan=some))
    cold = scan.memberships[0][frames].mean(axis=0)
    assert shown["fractions"][0] == pytest.approx(cold, rel=1e-3)


def test_maps_of_many_residues_stay_small(peptide_result: mf.Clustering, monkeypatch: pytest.MonkeyPatch):
    angles = {name: np.tile(getattr(peptide_result.data, name), (1, 12)) for name in ("phi", "psi")}
    residues = tuple(f"ALA{number}" for number in range(12))
    data = dataclasses.replace(peptide_result.data, residues=residues, **angles)
    result = dataclasses.replace(peptide_result, data=data)

    def size(shown: dict) -> int:
        return sum(int(np.prod(plane["layers"]["shape"])) for plane in shown["planes"])

    full = describe_maps(result)
    names = [plane["name"] for plane in full["planes"]]
    assert names == ["principal components", *residues]
    assert full["planes"][0]["betas"] == [*range(len(full["betas"]))]
    assert all(plane["betas"] == [full["chosen"]] for plane in full["planes"][1:])
    assert full["planes"][0]["bins"] > full["planes"][1]["bins"]
    assert not full["panels"]
    first = int(np.prod(full["planes"][0]["layers"]["shape"]))
    for budget, betas, planes in ((first, len(full["betas"]), 13), (first // 8, 1, range(2, 13))):
        monkeypatch.setattr(maps, "_BUDGET", budget)
        shown = describe_maps(result)
        assert size(shown) <= 2 * budget
        assert len(shown["betas"]) == betas
        assert len(shown["planes"]) in ([planes] if isinstance(planes, int) else planes)
        assert shown["hidden"] == 13 - len(shown["planes"])


def test_a_small_peptide_has_a_panel_for_each_residue(peptide_result: mf.Clustering):
    angles = {name: np.tile(getattr(peptide_result.data, name), (1, 3)) for name in ("phi", "psi")}
    data = dataclasses.replace(peptide_result.data, residues=("ALA1", "ALA2", "ALA3"), **angles)
    shown = describe_maps(dataclasses.replace(peptide_result, data=data))
    assert shown["panels"]
    assert len(shown["planes"]) == 4
    assert not describe_maps(peptide_result)["panels"]


@pytest.mark.parametrize(
    ("names", "planes"),
    [
        (["phi ALA1", "psi ALA1", "phi ALA2", "psi ALA2"], ["ALA1", "ALA2"]),
        (["TIC 1", "TIC 2", "TIC 3", "TIC 4"], ["features", "ALA1", "ALA2"]),
    ],
)
def test_features_of_a_peptide_have_panels_of_its_residues(peptide_result: mf.Clustering, names, planes):
    angles = {name: np.tile(getattr(peptide_result.data, name), (1, 2)) for name in ("phi", "psi")}
    frames = dataclasses.replace(peptide_result.data, residues=("ALA1", "ALA2"), **angles)
    columns = np.stack([frames.phi[:, 0], frames.psi[:, 0], frames.phi[:, 1], frames.psi[:, 1]], axis=1)
    data = mf.Features(frames.split(columns), names=names, periodic=range(4), frames=frames)
    shown = describe_maps(dataclasses.replace(peptide_result, data=data))
    assert [plane["name"] for plane in shown["planes"]] == planes
    assert shown["panels"]
    assert data.title.startswith("ACE-ALA-NME; ")


@pytest.mark.parametrize("number", [2, 3])
def test_many_reasons_are_a_list_to_unfold(number: int):
    found = words._reasons("Not shown", [f"state {at}: too few" for at in range(number)])
    if number == 2:
        assert found == '\n<p class="note reasons">Not shown: state 0: too few; state 1: too few.</p>'
    else:
        assert found.startswith(
            "\n<details><summary>Not shown: 3 states</summary><ul><li>state 0: too few.</li>"
        )
    assert words._reasons("Not shown", []) == ""


def test_the_lag_time_is_given_once(peptide_result: mf.Clustering):
    found = mf.estimate_model(peptide_result)
    reason = describe_kinetics(found)["kinetics_reason"]
    assert reason.startswith("At a lag time of ")
    longer = dataclasses.replace(found, equilibrium=dataclasses.replace(found.equilibrium, lag_time=1e3))
    assert describe_kinetics(longer)["kinetics_reason"].startswith(
        "Lag time of the model: 1 ns. At a lag time"
    )
    assert "reference" in describe_kinetics(found)["populations"]


def test_the_numbers_of_states_do_not_cover_each_other(peptide_result: mf.Clustering):
    peaks = np.repeat(peptide_result.cores.peaks[:1], 2)  # two states with one peak
    plane = mf.plots.torsions(peptide_result.data)
    x, y = (np.array(maps._labels(plane, peaks)[axis]) for axis in "xy")
    assert np.hypot(x[0] - x[1], y[0] - y[1]) > 0.07 * 360


def test_the_peaks_count_the_states(peptide_result: mf.Clustering):
    peaks, shown = peptide_result.peaks, describe_peaks(peptide_result)
    prominences = np.array([np.inf if value is None else value for value in shown["prominences"]])
    assert np.all(np.diff(prominences[np.isfinite(prominences)]) <= 0)
    for threshold in (0.01, 0.1, peptide_result.prominence, 3.0, 100.0):
        assert np.count_nonzero(prominences >= threshold) == len(peaks.states(threshold))
    kept = np.argsort(-peaks.prominences, kind="stable")
    for at, number in enumerate(kept):
        assert kept[shown["parents"][at]] == peaks.parents[number]
    assert sorted(state for state in shown["states"] if state >= 0) == list(range(peptide_result.n_states))


def test_a_model_that_failed_its_test_is_named_beside_the_populations():
    rng = np.random.default_rng(0)
    hops = [np.cumsum(rng.random(800) < 0.02) % 2 for _ in range(6)]
    points = [8 * hop[:, None] + rng.normal(size=(800, 2)) for hop in hops]
    result = mf.cluster(points, mf.Settings(validate=True, n_jobs=1))
    found = describe_kinetics(result)
    assert found is not None
    assert "failed" not in found["kinetics_reason"]
    validation = result.validation
    wrong = dataclasses.replace(validation.test, predicted=1 - validation.test.predicted)
    validation = dataclasses.replace(validation, test=wrong)
    found = describe_kinetics(dataclasses.replace(result, validation=validation))
    assert "<b>The Chapman-Kolmogorov test failed:" in found["kinetics_reason"]


def test_only_the_most_prominent_peaks_are_drawn(
    peptide_result: mf.Clustering, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("mdfuzzy.report.series._MAX_PEAKS", 7)
    shown = describe_peaks(peptide_result)
    assert len(shown["births"]) == len(shown["parents"]) == 7
    assert shown["hidden"] == len(peptide_result.peaks) - 7
    assert all(0 <= parent < 7 for parent in shown["parents"])


def test_the_timeline_shows_means_over_time(peptide_result: mf.Clustering):
    shown = describe_timeline(peptide_result)
    assert shown["unit"] == "ns"
    assert len(shown["trajectories"]) == 2
    values = peptide_result.data.split(peptide_result.memberships.values)[1]
    totals = unpack(shown["trajectories"][1]["totals"])
    assert totals.shape == (500, peptide_result.n_states)
    means = values.reshape(500, -1, values.shape[1]).mean(axis=1)
    assert totals / 250 == pytest.approx(np.cumsum(means, axis=1), abs=0.0021)
    times = peptide_result.data.split(peptide_result.data.times)[1]
    assert shown["trajectories"][1]["times"][:2] == pytest.approx(
        [times[0] / 1000, times[4] / 1000], rel=1e-4
    )


def test_figures_are_valid(peptide_result: mf.Clustering):
    from plotly.graph_objects import Figure

    validation = mf.validate_model(peptide_result, n_bootstrap=3)
    kinetic = dataclasses.replace(peptide_result, settings=mf.Settings(beta="kinetic"))
    test = validation.test
    wide = {
        name: np.tile(getattr(test, name), (1, 4, 4)) for name in ("predicted", "estimated", "lower", "upper")
    }
    many = dataclasses.replace(test, states=np.arange(4 * len(test.states)), **wide)
    for figure in (
        beta_figure(peptide_result),
        beta_figure(kinetic),
        network_figure(peptide_result),
        timescales_figure(validation.timescales, None),
        timescales_figure(validation.timescales, test.lag_times[0]),
        prediction_figure(test),
        prediction_figure(many),
    ):
        json.dumps(figure, allow_nan=False)
        assert Figure(figure).data


def test_the_lag_of_the_model_is_marked(peptide_result: mf.Clustering):
    scales = mf.validate_model(peptide_result, n_bootstrap=3).timescales
    layout = timescales_figure(scales, 5.0)["layout"]
    assert layout["shapes"][0]["x0"] == layout["shapes"][0]["x1"] == 5.0  # ps, as the lag times
    assert layout["annotations"][0]["text"] == "lag time of the model: 5 ps"
    assert "shapes" not in timescales_figure(scales, None)["layout"]


def test_lines_between_states_say_what_is_known_of_them(peptide_result: mf.Clustering):
    """Solid: they touch; dashed: no trajectory crossed there; dotted: crossed, but no frames between."""
    transition_regions = mf.TransitionRegions(
        pairs=[[0, 1], [1, 2]],
        sizes=[50, 10],
        fractions=[0.05, 0.01],
        mixing=[0.7, 0.6],
        transitions=[12, 0],
        frames=(np.arange(50), np.arange(10)),
        threshold=0.5,
        others=[[0, 2, 3]],
    )
    result = dataclasses.replace(peptide_result, transition_regions=transition_regions)
    traces = network_figure(result)["data"]
    assert [trace["line"]["dash"] for trace in traces if trace["mode"] == "lines"] == ["solid", "dot", "dash"]
    numbers = next(trace for trace in traces if "meta" in trace)
    assert numbers["text"] == numbers["meta"]["narrow"]["text"] == ["12", "3", "0"]
    assert (
        'between states without a transition region: <span class="whole">3 between 0 and 2</span>.'
        in words.transition_regions_table(result)
    )
    assert "without a transition region" not in words.transition_regions_table(
        dataclasses.replace(
            result, transition_regions=dataclasses.replace(transition_regions, others=np.zeros((0, 3), int))
        )
    )


# --- structures


def distances(xyz: np.ndarray) -> np.ndarray:
    return np.linalg.norm(xyz[..., :, None, :] - xyz[..., None, :, :], axis=-1)


def test_structures_are_those_of_peaks_and_transitions(peptide_result: mf.Clustering):
    shown = describe_structures(peptide_result)
    transition_regions, peaks = peptide_result.transition_regions, peptide_result.cores.peaks
    names = [f"State {state}" for state in range(len(peaks))]
    names += [f"Between {a} and {b}" for a, b in transition_regions.pairs]
    assert [each["name"] for each in shown["structures"]] == names
    frames = [*peaks, *(found[0] for found in transition_regions.frames)]
    xyz, original = unpack(shown["positions"]) / 1000, peptide_result.data.xyz[frames]
    assert distances(xyz) == pytest.approx(distances(original), abs=2e-3)  # rounded to 0.001 nm
    # No mirror images: the alpha carbon keeps its hand.
    for at, hand in zip(xyz, original, strict=True):
        assert np.sign(np.linalg.det(at[4:7] - at[3])) == np.sign(np.linalg.det(hand[4:7] - hand[3]))
    assert np.ptp(xyz[0], axis=0).argmin() == 2, "the thinnest side faces the reader"
    assert shown["elements"] == tuple("CCONCCCONC")
    assert len(unpack(shown["bonds"])) == 9
    assert shown["view"] == "sticks"
    assert shown["residues"][3] == "ALA2"


def chain(residues: int, *, gap: int | None = None) -> md.Trajectory:
    """A straight backbone with side chains, 0.38 nm a residue; 1.5 nm wider after the residue `gap`."""
    topology = residue_topology(["SER"] * residues)
    places = np.array([[atom.residue.index * 0.38, 0.02 * at, 0] for at, atom in enumerate(topology.atoms)])
    places[:, 1] %= 0.1
    if gap is not None:
        places[[atom.residue.index > gap for atom in topology.atoms], 0] += 1.5
    return md.Trajectory(places[None] + np.zeros((4, 1, 1)), topology)


def test_proteins_are_cartoons_and_alphas_traces():
    whole = chain(80)
    molecule = find_molecule(mf.load(whole), whole.xyz)
    assert molecule.view == "cartoon"
    assert set(molecule.pieces) == {0}
    alphas = mf.load(whole, atoms="name CA")
    found = find_molecule(alphas, alphas.xyz)
    assert found.view == "trace"
    assert found.bonds.tolist() == [[at, at + 1] for at in range(79)]
    assert found.residues[3] == ("SER", found.residues[3][1], 3)
    assert find_molecule(mf.load(chain(8))).view == "sticks"


def test_alphas_are_drawn_with_the_atoms_of_their_residues_if_the_files_are_there(tmp_path: Path):
    rng = np.random.default_rng(0)
    whole = chain(30)
    turns = [Rotation.from_rotvec([0, 0, angle]).as_matrix() for angle in rng.uniform(0, 6, 200)]
    shifts = np.where(np.arange(200) % 2 == 0, 0.0, 1.5)
    xyz = np.repeat(whole.xyz[:1], 200, axis=0) + rng.normal(scale=0.02, size=(200, whole.n_atoms, 3))
    bent = [atom.residue.index >= 15 for atom in whole.topology.atoms]
    xyz[:, bent, 1] += shifts[:, None]
    moving = np.einsum("fai,fij->faj", xyz, turns)
    path, top = tmp_path / "chain.xtc", tmp_path / "chain.pdb"
    md.Trajectory(moving, whole.topology).save_xtc(str(path))
    whole[0].save_pdb(str(top))
    result = mf.cluster(mf.load(path, top=top, atoms="name CA"), mf.Settings(n_states=2, n_jobs=1))
    shown = describe_structures(result)
    assert shown["view"] == "cartoon"
    assert {"N", "CA", "C", "O", "CB"} <= {*shown["names"]}
    found = unpack(shown["positions"]) / 1000
    frames = [int(peak) for peak in result.cores.peaks]
    heavy = whole.topology.select("element != H")
    assert distances(found[:2]) == pytest.approx(distances(moving[frames][:, heavy]), abs=0.02)
    # The alphas are superposed: as near as rotations and shifts can bring them.
    alphas = [at for at, name in enumerate(shown["names"]) if name == "CA"]
    nearest = md.Trajectory(moving[frames][:, whole.topology.select("name CA")], None)
    apart = np.sqrt(np.square(found[1][alphas] - found[0][alphas]).sum(axis=1).mean())
    assert apart == pytest.approx(md.rmsd(nearest, nearest, 0)[1], abs=0.01)
    path.unlink()
    assert describe_structures(result)["view"] == "trace"


def test_a_gap_breaks_the_chain():
    alphas = mf.load(chain(40, gap=24), atoms="name CA")
    found = find_molecule(alphas, alphas.xyz)
    assert found.pieces.tolist() == [0] * 25 + [1] * 15
    assert [24, 25] not in found.bonds.tolist()
    assert len(found.bonds) == 38


def test_side_chains_are_left_out_of_very_many_positions(monkeypatch):
    monkeypatch.setattr("mdfuzzy.report.structures._MAX_POSITIONS", 1400)
    large = chain(80)
    assert {*find_molecule(mf.load(large), large.xyz).names} == {"N", "CA", "C", "O"}
    monkeypatch.setattr("mdfuzzy.report.structures._MAX_POSITIONS", 400)
    assert {*find_molecule(mf.load(large), large.xyz).names} == {"CA"}


def test_bonds_without_a_topology_are_guessed_from_distances():
    trajectory = md.Trajectory(peptide_xyz(3, turn=0.001), peptide_topology())
    whole = find_molecule(mf.load(trajectory, atoms="all"))
    bare = find_molecule(mf.load(trajectory.xyz))
    true = {tuple(sorted(pair)) for pair in whole.bonds.tolist()}
    assert {tuple(pair) for pair in bare.bonds.tolist()} == true
    assert set(bare.elements) == {""}


# --- other data


def sections(text: str) -> set[str]:
    return set(re.findall(r'<section id="(\w+)">', text))


def test_features(blobs: mf.Clustering):
    text = render(blobs)
    assert sections(text) == {
        "states",
        "transition_regions",
        "choices",
        "map",
        "peaks",
        "network",
        "timeline",
        "about",
    }
    plane = Page(text).data["map"]["planes"][0]
    assert plane["labels"] == ["feature 0", "feature 1"]
    assert len(Page(text).data["map"]["betas"]) == 1


def test_one_feature_has_no_map():
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(size=(200, 1)), rng.normal(size=(200, 1)) + 9])
    assert "map" not in sections(render(mf.cluster(values, mf.Settings(n_jobs=1))))


def test_neighbours_only(blobs: mf.Clustering):
    result = cluster_neighbors(blobs.neighbors, mf.Settings(n_jobs=1))
    text = render(result)
    assert sections(text) == {"states", "choices", "peaks", "about"}
    assert "the trajectories are not known" in text


def test_frames_without_torsions(peptide_result: mf.Clustering):
    data = mf.load(peptide_result.data.xyz)
    text = render(dataclasses.replace(peptide_result, data=data))
    found = Page(text).data
    assert found["map"]["planes"][0]["labels"] == list(mf.plots.project(data).labels)
    assert found["structures"]["structures"][0]["torsions"] == ""


@pytest.mark.filterwarnings("ignore:.*one state")
def test_one_state():
    points = np.random.default_rng(2).normal(size=(400, 2))
    result = mf.cluster(points, mf.Settings(prominence=50.0, n_jobs=1))
    assert result.n_states == 1
    text = render(result)
    assert "There are no transition regions" in text
    assert Page(text).data["map"]["fractions"] == [[1.0]]

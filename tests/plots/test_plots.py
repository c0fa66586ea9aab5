"""Pictures of peaks, beta, states, time and models; figures and files; and that pyplot is left alone."""

import dataclasses
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import mdfuzzy as mf
from mdfuzzy._messages import time_unit
from mdfuzzy.plots import pictures
from mdfuzzy.plots.projections import project
from mdfuzzy.report.figures import timescales_figure
from mdfuzzy.report.network import network_figure


@pytest.fixture(scope="module")
def result() -> mf.Clustering:
    """Three states, two trajectories, a scan over beta."""
    rng = np.random.default_rng(0)
    blobs = np.repeat([[0, 0], [4, 0], [9, 0]], 300, axis=0) + rng.normal(size=(900, 2))
    rng.shuffle(blobs)
    data = mf.Features([blobs[:600], blobs[600:]])
    with pytest.warns(UserWarning, match="plateau"):
        return mf.cluster(data, mf.Settings(beta="entropy"))


@pytest.fixture
def transition_regions() -> mf.TransitionRegions:
    """A chain of three states; no trajectory crossed the second transition region."""
    return mf.TransitionRegions(
        pairs=[[0, 1], [1, 2]],
        sizes=[50, 10],
        fractions=[0.05, 0.01],
        mixing=[0.7, 0.6],
        transitions=[12, 0],
        frames=(np.arange(50), np.arange(10)),
        threshold=0.5,
    )


def hard_memberships(labels, n_states: int) -> mf.Memberships:
    """Each frame belongs to one state, or with a label of -1 to none."""
    labels = np.asarray(labels)
    values = (labels[:, None] == np.arange(n_states)).astype(float)
    return mf.Memberships(
        values=values, lost=1 - values.sum(axis=1), beta=2.0, log_weights=np.zeros(len(labels)), exponent=1.0
    )


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def scattered(ax) -> list[np.ndarray]:
    """The points of each call of scatter."""
    from matplotlib.collections import PathCollection

    return [each.get_offsets().data for each in ax.collections if isinstance(each, PathCollection)]


# --- peaks


def test_persistence_diagram_has_every_peak_at_its_birth_and_death(result):
    ax = mf.plots.persistence_diagram(result)
    noise, *states = scattered(ax)
    peaks = result.peaks
    number = {int(point): at for at, point in enumerate(peaks.peaks)}
    chosen = np.array([number[int(point)] for point in result.cores.peaks])
    others = np.setdiff1d(np.arange(len(peaks)), chosen)
    np.testing.assert_allclose(noise, np.stack([peaks.births, peaks.deaths], axis=1)[others])
    np.testing.assert_allclose(np.concatenate(states)[:, 0], peaks.births[chosen])
    bottom = ax.get_ylim()[0]
    for point, death in zip(np.concatenate(states), peaks.deaths[chosen], strict=True):
        if np.isfinite(death):
            assert point[1] == death
        else:  # at the line of those that never die, below all others
            assert bottom < point[1] < peaks.deaths[np.isfinite(peaks.deaths)].min()
    assert [text for text in texts(ax) if text.isdigit()] == ["0", "1", "2"]
    assert legend(ax) == [f"{len(others)} peaks of noise", f"threshold {result.prominence:.2g}: 3 states"]


def test_another_threshold_gives_other_states(result):
    ax = mf.plots.persistence_diagram(result.peaks, prominence=100.0)
    assert legend(ax)[-1] == "threshold 100: 1 state"
    assert len(scattered(ax)) == 2
    suggested = mf.plots.persistence_diagram(result.peaks)
    assert legend(suggested)[-1].endswith(": 3 states")


def test_prominences_fall_and_the_threshold_divides_them(result):
    ax = mf.plots.prominences(result)
    points = np.concatenate(scattered(ax))
    assert points[:, 0].tolist() == list(range(1, min(len(result.peaks), 40) + 1))
    assert np.all(np.diff(points[:, 1]) <= 0)
    finite = np.sort(result.peaks.prominences[np.isfinite(result.peaks.prominences)])[::-1]
    np.testing.assert_allclose(points[1:, 1], finite[: len(points) - 1])
    (threshold,) = (line for line in ax.lines if line.get_linestyle() == "--")
    assert np.count_nonzero(points[:, 1] > threshold.get_ydata()[0]) == 3
    assert ax.get_yscale() == "log"


def test_prominences_say_how_many_are_not_shown(result):
    ax = mf.plots.prominences(result, shown=4)
    assert f"({len(result.peaks) - 4} more not shown)" in ax.get_xlabel()
    assert len(scattered(ax)) == 4


# --- beta


def test_beta_scan_shows_entropy_score_and_choice(result):
    ax = mf.plots.beta_scan(result)
    scan, (_, right) = result.beta_scan, ax.figure.axes
    finite = np.isfinite(scan.betas)
    drawn = np.stack([scan.betas, -scan.entropy], axis=1)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), drawn[finite])
    np.testing.assert_allclose(right.lines[0].get_ydata(), scan.scores[finite])
    assert ax.lines[1].get_xdata() > scan.betas[finite].max()  # infinity has a place
    assert [label.get_text() for label in ax.get_xticklabels()][-1] == "∞"
    assert texts(ax) == [f"chosen: {scan.beta:.3g}"]
    assert right.get_ylabel() == "steepness, d entropy / d ln beta"


def test_beta_scan_shows_the_beta_that_was_used(result):
    used = dataclasses.replace(result.memberships, beta=0.5)
    ax = mf.plots.beta_scan(dataclasses.replace(result, memberships=used))
    assert texts(ax) == ["used: 0.5", f"largest score: {result.beta_scan.beta:.3g}"]


def test_beta_scan_names_its_score(result):
    scan = dataclasses.replace(result.beta_scan, scores=np.arange(len(result.beta_scan.betas)), beta=np.inf)
    ax = mf.plots.beta_scan(scan)
    assert ax.figure.axes[1].get_ylabel() == "score of the criterion"
    assert texts(ax) == ["chosen: ∞"]
    kinetic = dataclasses.replace(result, beta_scan=scan, settings=mf.Settings(beta="kinetic"))
    ax = mf.plots.beta_scan(kinetic)
    assert ax.figure.axes[1].get_ylabel() == "mean log probability of the next state (nats)"


# --- the network


def test_network_has_a_circle_per_state_and_a_line_per_transition_region(transition_regions):
    ax = mf.plots.state_network(transition_regions, [0.64, 0.16, 0.2])
    radii = [circle.radius for circle in ax.patches]
    assert len(radii) == 3
    assert radii[0] / radii[1] == pytest.approx(2.0)  # areas as fractions
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    assert ax.lines[0].get_linewidth() > ax.lines[1].get_linewidth()
    assert texts(ax) == ["12", "0", "64 %", "0", "16 %", "1", "20 %", "2"]
    assert legend(ax) == [
        "transition region, with the number of transitions",
        "transition region that no trajectory crossed",
    ]
    first, middle, last = (np.array(circle.center) for circle in ax.patches)
    assert np.linalg.norm(first - middle) == pytest.approx(1.0, rel=0.01)
    farther = np.linalg.norm(last - middle)
    assert farther == pytest.approx(1 + 0.5 * np.log10(12), rel=0.01)  # 12 transitions, and none
    np.testing.assert_allclose(last - first, (1 + farther) * (middle - first), atol=0.02)  # a straight chain
    assert max(radii) < 0.5


def test_network_draws_transitions_without_a_transition_region(transition_regions):
    transition_regions = dataclasses.replace(transition_regions, others=[[0, 2, 3]])
    ax = mf.plots.state_network(transition_regions, [0.6, 0.3, 0.1])
    assert texts(ax)[:3] == ["12", "3", "0"]
    assert ax.lines[2].get_linestyle() == ":"
    assert legend(ax)[-1] == "transitions without a transition region"


def test_networks_count_every_passage_by_the_milestones(result):
    counts = mf.kinetics.transition_counts(result.data, result.milestones)
    touching = {tuple(pair) for pair in result.transition_regions.pairs.tolist()}
    assert touching < {
        (0, 1),
        (0, 2),
        (1, 2),
    }  # otherwise every number would come from the transition regions
    picture = pictures._pictures(result, project(result.data))["network"]()
    drawn = [int(text) for text in texts(picture.axes[0])[:3]]
    assert sum(drawn) == counts.sum() - np.trace(counts)
    links = network_figure(result)["data"]
    assert sorted(next(each["text"] for each in links if "text" in each)) == sorted(map(str, drawn))


def test_network_at_given_places(transition_regions):
    places = np.array([[-150.0, 150.0], [-150.0, 50.0], [60.0, 50.0]])
    ax = mf.plots.state_network(transition_regions, [0.6, 0.3, 0.1], positions=places)
    np.testing.assert_allclose([circle.center for circle in ax.patches], places / 100)


def test_numbers_on_a_network_cover_neither_each_other_nor_states():
    pairs = np.array([(a, b) for a in range(12) for b in range(a)])
    moves = np.random.default_rng(0).integers(1, 5000, len(pairs))
    everywhere = mf.TransitionRegions(
        pairs=pairs, sizes=moves, fractions=moves / 1e6, mixing=np.full(len(pairs), 0.7), transitions=moves,
        frames=tuple(np.arange(size) for size in moves), threshold=0.5,
    )  # fmt: skip
    ax = mf.plots.state_network(everywhere, np.full(12, 1 / 12))
    ax.figure.canvas.draw()
    numbers = [text for text in ax.texts if text.get_fontweight() != "bold" and "%" not in text.get_text()]
    assert 30 < len(numbers) < len(pairs)  # there is no room for all of them
    assert numbers[0].get_text() == f"{moves.max():,}"
    boxes = [text.get_window_extent() for text in (*numbers, *(t for t in ax.texts if "%" in t.get_text()))]
    assert not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])
    boxes = boxes[: len(numbers)]
    for circle in ax.patches:
        x, y = ax.transData.transform(circle.center)
        reach = ax.transData.transform(np.add(circle.center, [circle.radius, 0]))[0] - x
        outside = [np.hypot(max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0)) for box in boxes]
        assert min(outside) > reach


@pytest.mark.parametrize("n_states", [1, 2, 7])
def test_network_of_states_that_do_not_touch(n_states: int):
    nothing = mf.TransitionRegions(
        pairs=[], sizes=[], fractions=[], mixing=[], transitions=[], frames=(), threshold=0.5
    )
    ax = mf.plots.state_network(nothing, np.full(n_states, 1 / n_states))
    places = np.array([circle.center for circle in ax.patches])
    assert len(np.unique(places.round(6), axis=0)) == n_states
    assert ax.get_legend() is None


# --- time


def test_timeline_has_the_color_of_the_state_at_the_time():
    from matplotlib.colors import to_rgb

    data = mf.Features([np.zeros((5, 1)), np.zeros((4, 1))])
    memberships = hard_memberships([0, 0, 0, 0, 0, 0, 1, 1, -1], 2)
    ax = mf.plots.membership_timeline(data, memberships, trajectory=1)
    picture = ax.images[0].get_array()
    assert picture.shape[1] == 4
    blue, red = (to_rgb(color) for color in mf.plots.state_colors(2))
    for frame, color in enumerate([blue, red, red, to_rgb("#bbbbbb")]):
        np.testing.assert_allclose(picture[:, frame], np.tile(color, (len(picture), 1)))
    assert ax.get_xlim() == (-0.5, 3.5)
    assert ax.get_xlabel() == "frame"
    assert legend(ax) == ["0", "1", "none"]


def test_timeline_heights_are_memberships():
    data = mf.Features(np.zeros((10, 1)))
    values = np.tile([0.25, 0.75], (10, 1))
    memberships = mf.Memberships(
        values=values, lost=np.zeros(10), beta=2.0, log_weights=np.zeros(10), exponent=1.0
    )
    picture = mf.plots.membership_timeline(data, memberships).images[0].get_array()
    lowest = np.all(picture == picture[0], axis=2).mean()
    assert lowest == pytest.approx(0.25, abs=0.01)


def test_timeline_of_many_frames_averages_and_of_times_leaves_gaps_white():
    rng = np.random.default_rng(0)
    frames = mf.Frames(np.zeros((6000, 4, 3)), lengths=[6000], times=np.arange(6000) * 0.5)
    labels = rng.integers(0, 2, 6000)
    ax = mf.plots.membership_timeline(frames, hard_memberships(labels, 2))
    picture = ax.images[0].get_array()
    assert picture.shape[1] == 1200
    assert ax.get_xlabel() == "time (ns)"
    first = np.all(picture == picture[0, np.flatnonzero(labels[:5] == 0)[0]], axis=2).mean(axis=0)
    assert first[:5].std() > 0  # five frames a column: shares, not one state
    late = mf.Frames(np.zeros((4, 4, 3)), lengths=[4], times=[0.0, 1.0, 2.0, 9.0])
    gap = mf.plots.membership_timeline(late, hard_memberships([0, 0, 0, 0], 1)).images[0].get_array()
    assert np.all(gap[:, 2] == 1.0)


@pytest.mark.parametrize(("longest", "unit"), [(999.0, "ps"), (1e3, "ns"), (2e6, "µs"), (np.nan, "ps")])
def test_times_have_units_that_fit(longest: float, unit: str):
    assert time_unit(longest, "ps")[1] == unit


# --- models


def timescales(**changes) -> mf.kinetics.ImpliedTimescales:
    values = {
        "lags": [1, 10, 100],
        "lag_times": [20.0, 200.0, 2000.0],
        "values": [[5000.0, 90.0], [5100.0, 250.0], [5200.0, np.nan]],
        "lower": [[4000.0, 80.0], [4100.0, np.nan], [4200.0, np.nan]],
        "upper": [[6000.0, 99.0], [6100.0, np.nan], [6200.0, np.nan]],
        "unit": "ps",
    }
    return mf.kinetics.ImpliedTimescales(**(values | changes))


def test_implied_timescales_in_a_unit_that_fits():
    ax = mf.plots.implied_timescales(timescales())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lag time (ns)", "implied timescale (ns)")
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0.02, 5.0], [0.2, 5.1], [2.0, 5.2]])
    assert ax.get_xscale() == ax.get_yscale() == "log"
    labels = [ax.yaxis.get_major_formatter()(value) for value in ax.yaxis.get_majorticklocs()]
    assert {"0.1", "1", "10"} <= set(labels)
    marked = mf.plots.implied_timescales(timescales(), lag=2000.0)
    assert marked.get_title() == "lag of the model: 2 ns"
    assert [2.0, 2.0] in [list(line.get_xdata()) for line in marked.lines]
    with pytest.raises(
        ValueError, match=r"`lag` must be a finite number > 0; got -1.*unit of the timescales"
    ):
        mf.plots.implied_timescales(timescales(), lag=-1.0)
    in_frames = mf.plots.implied_timescales(timescales(unit="frames"))
    assert in_frames.get_xlabel() == "lag time (frames)"


def test_intervals_end_where_timescales_are_shorter_than_the_lag():
    lower = [[4000.0, 80.0], [0.0, np.nan], [0.0, np.nan]]  # 0: some samples lack the process
    ax = mf.plots.implied_timescales(timescales(lower=lower))
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.2)  # at a lag of 0.2 ns
    assert ax.get_ylim()[1] > 6.2, "the upper ends are inside"
    figure = timescales_figure(timescales(lower=lower), None)
    assert min(figure["data"][1]["y"]) == pytest.approx(0.2)


def test_timescales_without_an_interval_are_hollow_and_the_hidden_region_is_shaded():
    ax = mf.plots.implied_timescales(timescales())
    hollow = [
        line for line in ax.lines if str(line.get_markerfacecolor()) == "white" and len(line.get_xdata())
    ]
    np.testing.assert_allclose(np.concatenate([line.get_ydata() for line in hollow])[0], 0.25)
    region = ax.collections[-1].get_paths()[0]
    assert region.contains_point((1.0, 0.5))  # a timescale of half the lag
    assert not region.contains_point((1.0, 2.0))
    assert legend(ax) == ["1", "2", "interval\nunknown"]


def test_timescales_that_are_all_unknown_can_be_drawn():
    unknown = np.full((3, 2), np.nan)
    ax = mf.plots.implied_timescales(timescales(values=unknown, lower=unknown, upper=unknown))
    assert np.all(np.isfinite(ax.get_ylim()))


def chapman_kolmogorov_test(n_states: int) -> mf.kinetics.ChapmanKolmogorov:
    rng = np.random.default_rng(1)
    shape = (4, n_states, n_states)
    return mf.kinetics.ChapmanKolmogorov(
        lag_times=[500.0, 1000.0, 1500.0, 2000.0],
        predicted=rng.random(shape),
        estimated=rng.random(shape),
        lower=np.zeros(shape),
        upper=np.ones(shape),
        states=np.arange(n_states) + 2,
        unit="ps",
    )


def test_chapman_kolmogorov_has_a_panel_per_pair():
    test = chapman_kolmogorov_test(3)
    axes = mf.plots.chapman_kolmogorov(test)
    assert axes.shape == (3, 3)
    assert axes[2, 0].get_title() == "4 → 2"
    estimated, predicted = axes[2, 0].lines
    np.testing.assert_allclose(estimated.get_ydata(), test.estimated[:, 2, 0])
    np.testing.assert_allclose(predicted.get_ydata(), test.predicted[:, 2, 0])
    np.testing.assert_allclose(predicted.get_xdata(), [0.5, 1, 1.5, 2])
    assert axes[0, 0].figure.get_supxlabel() == "time (ns)"


def test_chapman_kolmogorov_of_many_states_shows_some():
    test = chapman_kolmogorov_test(9)
    assert mf.plots.chapman_kolmogorov(test).shape == (6, 6)
    figure = Figure(layout="constrained")
    axes = mf.plots.chapman_kolmogorov(test, states=[10, 3], figure=figure)
    assert axes[0, 0].figure is figure
    assert axes[0, 1].get_title() == "10 → 3"


def test_reliability_draws_what_came_true():
    diagram = mf.kinetics.reliability([[0.75, 0.25]] * 4, [0, 0, 0, 1], [0, 1, 2, 3], n_bins=4)
    ax = mf.plots.reliability(diagram)
    (bars,) = ax.containers
    np.testing.assert_allclose(bars.lines[0].get_xydata(), [[0.25, 0.25], [0.75, 0.75]])
    assert ax.get_xlim() == ax.get_ylim() == (0, 1)
    assert legend(ax) == ["calibrated", "what came true"]


def test_reliability_of_a_calibration():
    rng = np.random.default_rng(0)
    walks = np.abs((np.cumsum(rng.choice([-1, 1], (6, 1000)), axis=1) + 4) % 16 - 8)
    labels = np.where(walks == 0, 0, np.where(walks == 8, 1, -1)).ravel()
    committor = np.stack([1 - walks.ravel() / 8, walks.ravel() / 8], axis=1)
    found = mf.kinetics.calibration(mf.Features(list(walks[:, :, None])), committor, labels)
    (first,) = (name for name in legend(mf.plots.reliability(found)) if name.startswith("memberships"))
    assert first == f"memberships: skill {found.skills[found.names.index('memberships')]:.2f}"
    assert "constant guess: skill 0.00" in legend(mf.plots.reliability(found, forecast="constant guess"))
    with pytest.raises(ValueError, match=r"`forecast` must be one of 'constant guess', .*; got 'luck'"):
        mf.plots.reliability(found, forecast="luck")


# --- whole figures and files


def test_overview_shows_frames_states_and_transitions(result):
    figure = mf.plots.overview(result)
    assert [ax.get_title() for ax in figure.axes] == ["frames", "states", "transitions"]
    assert {ax.get_xlabel() for ax in figure.axes} == {"feature 0"}
    assert [len(ax.images) for ax in figure.axes] == [1, 1, 1]


def frames_of(residues: tuple[str, ...]) -> mf.Frames:
    rng = np.random.default_rng(2)
    xyz = rng.normal(scale=0.01, size=(900, 5, 3)) + rng.normal(size=(5, 3))
    angles = rng.uniform(-180, 180, size=(2, 900, len(residues)))
    xyz -= xyz.mean(axis=1, keepdims=True)
    return mf.Frames(xyz, [900], phi=angles[0], psi=angles[1], residues=residues)


def test_overview_chooses_torsions_or_principal_components(result):
    one, two = (dataclasses.replace(result, data=frames_of(each)) for each in (("ALA2",), ("ALA2", "GLY3")))
    assert mf.plots.overview(one).axes[0].get_xlabel() == "φ (degrees)"
    assert mf.plots.overview(two).axes[0].get_xlabel().startswith("PC 1 (nm), ")
    assert mf.plots.overview(two, residue="GLY3").axes[0].get_xlabel() == "φ of GLY3 (degrees)"
    own = mf.plots.Projection(result.data.values, ("a", "b"))
    assert mf.plots.overview(two, projection=own).axes[0].get_xlabel() == "a"


def test_overview_of_one_feature(result):
    lone = dataclasses.replace(result, data=mf.Features(result.data.values[:, :1]))
    assert mf.plots.overview(lone).axes[0].get_ylabel() == "log density"


def test_write_plots_writes_every_picture_and_leaves_pyplot_alone(result, tmp_path: Path):
    import matplotlib.pyplot as plt

    plt.close("all")
    before = dict(matplotlib.rcParams)
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "state-7.png").write_text("mine")
    more = {"timescales": timescales(), "test": chapman_kolmogorov_test(2)}
    paths = mf.plots.write_plots(folder, result, dpi=30, **more)
    names = ["overview", "density", "free-energy", "states", "transitions", "state-0", "state-1", "state-2"]
    names += ["persistence", "prominences", "tree", "beta", "network", "timeline-0", "timeline-1"]
    names += ["timescales", "chapman-kolmogorov"]
    of_features = ("series", "difference")  # they have tests of their own
    drawn = [path.name for path in paths if not path.name.startswith(of_features)]
    assert drawn == [f"{name}.png" for name in names]
    assert sorted(folder.iterdir()) == sorted([*paths, folder / "state-7.png", folder / ".mdfuzzy-plots"])
    assert (folder / "state-7.png").read_text() == "mine"
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_write_plots_writes_only_what_is_asked_for(result, tmp_path: Path):
    paths = mf.plots.write_plots(tmp_path, result, kinds=["timeline", "state-1"], dpi=20)
    assert [path.name for path in paths] == ["state-1.png", "timeline-0.png", "timeline-1.png"]
    with pytest.raises(ValueError, match=r"`kinds` must be one of 'overview', .*'state', .*; got 'movie'"):
        mf.plots.write_plots(tmp_path, result, kinds=["movie"])


def test_a_picture_that_fails_leaves_the_old_ones(result, tmp_path: Path, monkeypatch):
    mf.plots.write_plots(tmp_path, result, kinds=["states"], dpi=20)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*arguments, **options):
        raise OSError("no space left on device")

    monkeypatch.setattr(pictures, "draw", full)
    with pytest.raises(OSError, match="no space left"):
        mf.plots.write_plots(tmp_path, result, kinds=["states"], dpi=30)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_pictures_of_others_are_not_replaced_and_old_ones_of_ours_are_removed(result, tmp_path: Path):
    mf.plots.write_plots(tmp_path / "ours", result, dpi=20)
    (tmp_path / "ours" / "mine.png").write_text("mine")
    two = mf.cluster(result.data, mf.Settings(prominence=np.sort(result.cores.prominence)[-2]))
    assert two.n_states < result.n_states
    mf.plots.write_plots(tmp_path / "ours", two, dpi=20)
    assert not (tmp_path / "ours" / f"state-{result.n_states - 1}.png").exists()
    assert (tmp_path / "ours" / "mine.png").exists()
    (tmp_path / "states.png").write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds 'states.png', which no earlier export wrote"):
        mf.plots.write_plots(tmp_path, result, dpi=20)
    assert (tmp_path / "states.png").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.name != "ours"] == ["states.png"]


def test_pictures_of_others_are_refused_before_anything_is_drawn(result, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(pictures, "draw", lambda *arguments, **options: pytest.fail("a picture was drawn"))
    (tmp_path / "states.png").write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds 'states.png', which no earlier export wrote"):
        mf.plots.write_plots(tmp_path, result, kinds=["density", "states"])
    with pytest.raises(FileExistsError, match=r"holds 'states.png', which no earlier export wrote"):
        pictures.refuse_pictures(tmp_path)
    (tmp_path / "states.png").rename(tmp_path / "my-states.png")
    pictures.refuse_pictures(tmp_path)


# --- pathways and residues


@pytest.fixture(scope="module")
def ring() -> mf.Clustering:
    """Four states in a ring: two pathways from a state to the one opposite."""
    rng = np.random.default_rng(0)
    places = np.array([[0, 0], [9, 0], [9, 9], [0, 9]])
    steps = rng.choice([-1, 0, 1], p=[0.02, 0.96, 0.02], size=(6, 2000))
    hops = np.cumsum(steps, axis=1) % 4
    return mf.cluster([places[each] + rng.normal(size=(2000, 2)) for each in hops])


def test_pathways_show_committors_fluxes_shares_and_times(ring):
    labels = ring.memberships.hard
    first = int(labels[0])
    opposite = next(
        state
        for state in range(4)
        if np.abs(ring.data.values[ring.cores.peaks[state]] - ring.data.values[ring.cores.peaks[first]]).min()
        > 4
    )
    found = mf.estimate_model(ring, source=first, target=opposite, lag_time=1)
    figure = mf.plots.state_pathways(found)
    fluxes, shares, times = figure.axes
    assert fluxes.get_xlabel() == f"committor: probability of reaching state {opposite} before state {first}"
    assert f"from state {first} to state {opposite} in " in fluxes.get_title()
    numbers = [text for text in fluxes.texts if text.get_text() in "0123" and text.get_text()]
    at = {int(text.get_text()): text.get_position() for text in numbers}
    assert at[first] == (0.0, 0.0)
    assert at[opposite] == (1.0, 0.0)
    for state in set(range(4)) - {first, opposite}:
        assert at[state][0] == pytest.approx(found.pathways.committor[state])
        assert 0.3 < at[state][0] < 0.7
    paths = [label.get_text() for label in shares.get_yticklabels()]
    assert len(paths) == len(found.pathways)
    widths = [bar.get_width() for bar in shares.patches]
    np.testing.assert_allclose(widths, found.pathways.shares)
    assert [label.get_text() for label in times.get_yticklabels()][-1] == f"{opposite} to {first}"
    assert times.get_xlabel() == "mean first-passage time (frames)"
    one = mf.plots.state_pathways(found, n_pathways=1)
    assert one.axes[1].get_title().startswith(f"1 of {len(paths)} pathways, ")


def test_numbers_of_states_cover_no_mark():
    from mdfuzzy.plots.places import push_apart

    marks = np.array([[0.5, 0.5], [0.53, 0.52], [0.52, 0.54], [0.1, 0.1]])
    moved = push_apart(marks + np.array([0.03, 0.025]), 0.04, fixed=marks)
    assert moved.shape == (4, 2)
    everything = np.concatenate([moved, marks])
    apart = np.linalg.norm(everything[:, None] - everything[None], axis=2)
    labels = apart[:4] + np.eye(4, 8)
    assert labels.min() > 0.039
    np.testing.assert_allclose(moved[3], [0.13, 0.125], atol=0.01)


def test_arrows_bend_away_from_states_in_their_way():
    from mdfuzzy.plots.passages import _bend

    radii, every = np.full(3, 10.0), np.arange(3)
    for aside, bend in ((-5, 0.5), (5, -0.5), (15, 0.0)):  # left, right, and beside the way up
        assert _bend(np.array([[0.0, 0], [0, 100], [aside, 50]]), radii, every, 0, 1) == bend
    assert _bend(np.array([[0.0, 0], [0, 100], [0, 130]]), radii, every, 0, 1) == 0  # behind the end


def test_pathways_need_a_model(result):
    with pytest.raises(
        ValueError, match=r"`result` must have pathways; got a clustering without .*estimate_model"
    ):
        mf.plots.state_pathways(result)
    with pytest.raises(ValueError, match=r"`n_pathways` must be an int of at least 1; got 0"):
        mf.plots.state_pathways(result, n_pathways=0)


@pytest.mark.parametrize(("residues", "shape"), [(("ALA2", "GLY3"), (2, 4)), (("ALA2",), (1, 4))])
def test_residues_have_a_panel_for_every_state(result, residues, shape):
    found = dataclasses.replace(result, data=frames_of(residues))
    figure = mf.plots.residue_panels(found)
    panels = np.array(figure.axes).reshape(shape)
    assert [ax.get_ylabel() for ax in panels[:, 0]] == list(residues)
    assert panels[0, 0].get_title() == "all frames"
    assert panels[0, 1].get_title().startswith("state 0, ")
    for row, residue in enumerate(residues):
        grid = mf.plots.torsions(found.data, residue).bin(60)
        for state in range(found.n_states):
            there = np.zeros(grid.counts.size, bool)
            there[grid.index[found.memberships.hard == state]] = True
            picture = np.asarray(panels[row, 1 + state].images[0].get_array())
            grey = np.ptp(picture, axis=2) < 1e-9
            np.testing.assert_array_equal(~grey, there.reshape(grid.counts.shape).T)


def test_many_states_are_below_each_other(result):
    from mdfuzzy.plots import residues

    two = dataclasses.replace(result, data=frames_of(("ALA2", "GLY3")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(residues, "_ACROSS", 2)
        figure = mf.plots.residue_panels(two)
    panels = np.array(figure.axes).reshape(4, 2)
    assert [ax.get_title() for ax in panels[0]] == ["ALA2", "GLY3"]
    assert panels[0, 0].get_ylabel() == "all frames"


def test_residues_need_torsions(result):
    with pytest.raises(
        ValueError, match=r"`result` must be of a molecule with phi and psi; got .*`plots.plane`"
    ):
        mf.plots.residue_panels(result)


def test_pathways_and_residues_are_among_the_pictures(ring, result, tmp_path: Path):
    found = mf.estimate_model(ring, lag_time=1)
    written = mf.plots.write_plots(tmp_path, found, kinds=["pathways"], dpi=30)
    peptide = dataclasses.replace(result, data=frames_of(("ALA2", "GLY3")))
    written += mf.plots.write_plots(tmp_path, peptide, kinds=["residues"], dpi=30)
    assert [path.name for path in written] == ["pathways.png", "residues.png"]
    assert all(path.stat().st_size > 1000 for path in written)
    for data in (frames_of(("ALA2",)), result.data):
        with pytest.raises(ValueError, match="`kinds` must be one of"):
            mf.plots.write_plots(tmp_path, dataclasses.replace(result, data=data), kinds=["residues"])


def test_every_function_draws_on_the_axes_that_it_is_given(result, transition_regions):
    diagram = mf.kinetics.reliability([[0.75, 0.25]] * 4, [0, 0, 0, 1], [0, 1, 2, 3], n_bins=2)
    for draw in (
        lambda ax: mf.plots.persistence_diagram(result, ax=ax),
        lambda ax: mf.plots.prominences(result, ax=ax),
        lambda ax: mf.plots.beta_scan(result, ax=ax),
        lambda ax: mf.plots.state_network(transition_regions, [0.5, 0.3, 0.2], ax=ax),
        lambda ax: mf.plots.membership_timeline(result.data, result.memberships, ax=ax),
        lambda ax: mf.plots.implied_timescales(timescales(), ax=ax),
        lambda ax: mf.plots.reliability(diagram, ax=ax),
        lambda ax: mf.plots.plane(result.data, result, ax=ax),
    ):
        left, right = Figure().subplots(1, 2)
        assert draw(right) is right
        assert right.has_data()
        assert not left.has_data()


# --- bad input


def test_peaks_and_beta_refuse_bad_input(result):
    with pytest.raises(TypeError, match=r"`peaks` must be `Persistence` or `Clustering`; got list"):
        mf.plots.persistence_diagram([1])
    with pytest.raises(ValueError, match=r"`prominence` must be a finite number > 0; got 0"):
        mf.plots.prominences(result, prominence=0)
    with pytest.raises(ValueError, match=r"`shown` must be an int of at least 1; got 0"):
        mf.plots.prominences(result, shown=0)
    with pytest.raises(TypeError, match=r"`scan` must be `BetaScan` or `Clustering`; got "):
        mf.plots.beta_scan(2)
    with pytest.raises(ValueError, match=r"`scan` must hold a scan over beta; got a Clustering without"):
        mf.plots.beta_scan(dataclasses.replace(result, beta_scan=None))


def test_network_refuses_bad_input(transition_regions):
    draw = mf.plots.state_network
    with pytest.raises(
        TypeError,
        match=r"`transition_regions` must be `TransitionRegions`; got NoneType. `find_transition_regions`",
    ):
        draw(None, [1.0])
    with pytest.raises(
        ValueError, match=r"`fractions` must have one share per state, at least 3; got .*\(2,\)"
    ):
        draw(transition_regions, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"`fractions` must be shares of all frames.*Divide counts"):
        draw(transition_regions, [10, 20, 30])
    with pytest.raises(ValueError, match=r"`fractions` must have one share per state, at least 4; got"):
        draw(dataclasses.replace(transition_regions, others=[[0, 3, 1]]), [0.5, 0.3, 0.2])
    with pytest.raises(ValueError, match=r"`positions` must be 3 finite points, one per state"):
        draw(transition_regions, [0.5, 0.3, 0.2], positions=[[0, 0]])
    with pytest.raises(ValueError, match=r"`positions` must be different for every state"):
        draw(transition_regions, [0.5, 0.3, 0.2], positions=np.zeros((3, 2)))


def test_time_and_models_refuse_bad_input(result):
    with pytest.raises(TypeError, match=r"`data` must be `Frames` or `Features`; got NoneType"):
        mf.plots.membership_timeline(None, result.memberships)
    with pytest.raises(TypeError, match=r"`memberships` must be `Memberships`; got Clustering"):
        mf.plots.membership_timeline(result.data, result)
    with pytest.raises(
        ValueError, match=r"`memberships` must be of the same frames, 3; got Memberships\(900"
    ):
        mf.plots.membership_timeline(mf.Features(np.zeros((3, 1))), result.memberships)
    with pytest.raises(ValueError, match=r"`trajectory` must be an int in \[0, 1\]; got 2"):
        mf.plots.membership_timeline(result.data, result.memberships, trajectory=2)
    with pytest.raises(TypeError, match=r"`timescales` must be `ImpliedTimescales`; got int"):
        mf.plots.implied_timescales(3)
    with pytest.raises(TypeError, match=r"`test` must be `ChapmanKolmogorov`; got int"):
        mf.plots.chapman_kolmogorov(3)
    with pytest.raises(
        ValueError, match=r"`states` must be different states of the test, \[2, 3\]; got \[0\]"
    ):
        mf.plots.chapman_kolmogorov(chapman_kolmogorov_test(2), states=[0])
    with pytest.raises(TypeError, match=r"`figure` must be a matplotlib Figure; got 3"):
        mf.plots.chapman_kolmogorov(chapman_kolmogorov_test(2), figure=3)
    with pytest.raises(TypeError, match=r"`calibration` must be `Calibration` or `Reliability`; got int"):
        mf.plots.reliability(3)
    diagram = mf.kinetics.reliability([[0.75, 0.25]] * 4, [0, 0, 0, 1], [0, 1, 2, 3], n_bins=2)
    with pytest.raises(ValueError, match=r"`forecast` must be None for a single diagram; got 'luck'"):
        mf.plots.reliability(diagram, forecast="luck")


def test_figures_refuse_bad_input(result, tmp_path: Path):
    with pytest.raises(TypeError, match=r"`result` must be `Clustering` or `Assignment`; got int"):
        mf.plots.overview(3)
    with pytest.raises(ValueError, match=r"`result` must be of frames or features.*Give a `projection`"):
        mf.plots.overview(dataclasses.replace(result, data=None))
    with pytest.raises(ValueError, match=r"`dpi` must be an int in \[20, 2000\]; got 1"):
        mf.plots.write_plots(tmp_path, result, dpi=1)
    assert not list(tmp_path.iterdir())


def test_of_many_states_the_first_get_pictures(result, tmp_path, monkeypatch):
    """Hundreds of pictures would take longer than to find the states."""
    monkeypatch.setattr(pictures, "_STATES", 1)
    assert result.n_states > 1
    last = f"state-{result.n_states - 1}"
    with pytest.warns(
        UserWarning, match=rf"{result.n_states} states\. Only the first 1 get pictures .* such as {last}"
    ):
        paths = mf.plots.write_plots(tmp_path, result, kinds=["state"])
    assert [path.name for path in paths] == ["state-0.png"]
    assert [path.stem for path in mf.plots.write_plots(tmp_path, result, kinds=[last])] == [last]

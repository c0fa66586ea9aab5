"""The pages that benchmarks make: they are what their results say, and fuzzy c-means is what it should be."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(autouse=True)
def benchmarks_on_the_path(monkeypatch):
    if not BENCHMARKS.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name, module in list(sys.modules.items()):
        if str(BENCHMARKS) in str(getattr(module, "__file__", None)):
            del sys.modules[name]


@pytest.mark.parametrize("name", ["paper", "performance"])
def test_page_is_what_its_results_say(name, tmp_path):
    if name == "paper":
        from bonis_oudot.page import write_page
    else:
        from performance import write_page
    folder = ROOT / "docs" / name
    for result in folder.glob("*.json"):
        shutil.copy(result, tmp_path)
    page = write_page(tmp_path).read_text(encoding="utf-8")
    assert page == (folder / "index.md").read_text(encoding="utf-8"), "made by hand? See benchmarks/README.md"
    sections = [
        path.stem for path in folder.glob("*.json") if not path.stem.endswith("_01")
    ]  # older versions
    assert page.count("\n## ") == len(sections)


def test_fuzzy_c_means_is_a_fixed_point():
    from bonis_oudot.fuzzy_c_means import fuzzy_c_means

    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3)) + 5 * np.repeat(np.eye(3), 100, axis=0)
    for m in (1.5, 2.0):
        mu = fuzzy_c_means(points, 3, fuzzifier=m, tolerance=1e-10, max_iterations=2_000)
        np.testing.assert_allclose(mu.sum(axis=1), 1.0, rtol=1e-12)
        centres = (mu**m).T @ points / (mu**m).sum(axis=0)[:, None]
        distances = np.linalg.norm(points[:, None] - centres, axis=2)
        ratios = (distances[:, :, None] / distances[:, None, :]) ** (2 / (m - 1))  # Bezdek's formula
        np.testing.assert_allclose(mu, 1 / ratios.sum(axis=2), rtol=0, atol=1e-7)


def test_fuzzy_c_means_of_two_points_is_half_way_in_between():
    from bonis_oudot.fuzzy_c_means import fuzzy_c_means

    points = np.array([[0.0], [0.0], [4.0], [4.0], [2.0]])
    mu = fuzzy_c_means(points, 2, fuzzifier=2.0, tolerance=1e-10)
    np.testing.assert_allclose(mu[4], 0.5, rtol=0, atol=1e-6)


@pytest.mark.parametrize("apart", [0.0, 5.0, 20.0])
def test_widest_gap_is_taken_unless_several_states_are_well_determined(apart):
    from bonis_oudot.table import choose_prominence

    import mdfuzzy as mf

    points = np.random.default_rng(0).normal(size=(400, 2)) + apart * (np.arange(400) % 2)[:, None]
    neighbors = mf.euclidean_neighbors(points, n_neighbors=20)
    graph, log_density = neighbors.graph(), mf.dtm_log_density(neighbors)
    peaks = mf.compute_persistence(graph, log_density)
    gap, threshold = choose_prominence(graph, log_density, peaks)
    assert gap.n_states == (1 if apart == 0 else 2)
    found = np.sort(peaks.prominences[np.isfinite(peaks.prominences)])[::-1]
    if gap.well_determined and gap.n_states > 1:
        assert threshold == gap.threshold
    else:
        upper, lower = found[:-1], found[1:]
        assert any(np.isclose(threshold, np.sqrt(upper * lower))) or threshold == gap.threshold


def test_exponents_of_growth():
    from growth import exponent

    sizes = np.array([1e3, 1e4, 1e5])
    assert exponent(sizes, 3 * sizes**1.5) == pytest.approx(1.5)


def test_clock_shares_out_the_time():
    from measuring import Clock

    clock = Clock()
    clock.lap("one")
    clock.lap("two")
    clock.lap("one")
    assert [row["name"] for row in clock.rows()] == ["one", "two"]
    assert all(row["seconds"] >= 0 and row["memory"] > 0 for row in clock.rows())


def test_partitions_are_compared_up_to_names():
    from peers import same_partition

    assert same_partition(np.array([0, 0, 1]), np.array([5, 5, 2]))
    assert not same_partition(np.array([0, 0, 1]), np.array([5, 2, 2]))
    assert not same_partition(np.array([0, 1, 2]), np.array([5, 2, 2]))


def test_calls_between_modules_are_counted_once():
    from module_calls import Recorder

    import mdfuzzy as mf

    recorder = Recorder()
    mf.suggest_k(50)  # imports
    sys.setprofile(recorder)
    for n in (50, 60, 70):
        mf.suggest_k(n)
    sys.setprofile(None)
    assert recorder.calls == {(("pipeline.settings", "suggest_k"), ("_check", "check_int"))}
    assert recorder.sequence == [("pipeline.settings", "_check")]


def test_rows_of_the_table_of_states_that_are_not_measured_stay():
    from made_molecules import all_made
    from prominence import HEADER, Trial, render

    former = (ROOT / "docs" / "theory" / "prominence-table.md").read_text(encoding="utf-8")
    assert former.startswith(HEADER)
    assert render({}, former) == former
    names = [name for name, *_ in all_made()]
    row = names.index("Gaussian, few frames")
    trials = [Trial(row, 9, 2, True, announced) for announced in (True, True, False)]
    table = render({row: [*trials, Trial(row, 9, 1, True, False)]}, former)
    assert [new for new, old in zip(table.splitlines(), former.splitlines(), strict=True) if new != old] == [
        "| Gaussian, few frames | 2 | 50 | 9 | 1 | 1 of 4 | 1 to 2 | 4 of 4 | 3 (2 announced) |"
    ]

"""Tables for a paper: what they hold, and that LaTeX can read them."""

import csv
import shutil
import subprocess

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.exports.state_tables import states_latex


@pytest.fixture(scope="module")
def result() -> mf.Clustering:
    rng = np.random.default_rng(0)
    hops = [np.cumsum(rng.random(2000) < 0.02) % 2 for _ in range(6)]
    data = mf.Features([8 * hop[:, None] + rng.normal(size=(2000, 2)) for hop in hops])
    return mf.estimate_model(mf.cluster(data), lag_time=1)


def read(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_tables_hold_what_the_result_holds(tmp_path, result):
    folder = mf.exports.write_state_tables(tmp_path / "tables", result)
    assert sorted(path.name for path in folder.iterdir() if path.suffix) == [
        *("differences.csv", "passage_times.csv", "passage_times.tex", "pathways.csv", "pathways.tex"),
        *("states.csv", "states.tex"),
    ]
    for row, state in zip(read(folder / "states.csv"), result.states, strict=True):
        assert int(row["frames"]) == state.frames
        for name in ("fraction", "fraction_low", "fraction_high", "population", "population_low"):
            assert float(row[name]) == pytest.approx(getattr(state, name), rel=1e-5)
        assert float(row["free_energy_kT"]) == pytest.approx(state.free_energy, rel=1e-5)
    comparison = mf.compare_states(result, 0, 1)
    rows = read(folder / "differences.csv")
    assert [row["feature"] for row in rows] == [comparison.names[at] for at in comparison.order]
    assert float(rows[0]["effect_low"]) == pytest.approx(comparison.low[comparison.order[0]], rel=1e-5)
    times = read(folder / "passage_times.csv")
    assert [(row["from"], row["to"]) for row in times] == [("0", "1"), ("1", "0")]
    assert float(times[0]["mfpt_frames"]) == pytest.approx(result.equilibrium.mfpt[0, 1], rel=1e-5)
    (path,) = read(folder / "pathways.csv")
    assert sorted(path["pathway"].split("-")) == ["0", "1"]
    assert float(path["share"]) == 1.0


def test_latex_has_a_cell_for_every_column(result):
    text = states_latex(result.states)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 3
    assert len({row.count("&") for row in rows}) == 1
    assert r"\toprule" in text
    assert "%" not in text.replace(r"\%", "")  # it would begin a comment


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path, result):
    folder = mf.exports.write_state_tables(tmp_path / "tables", result)
    inputs = "".join(rf"\input{{{path.name}}}" for path in sorted(folder.glob("*.tex")))
    head = r"\documentclass{article}\usepackage{booktabs,textcomp}"
    page = rf"{head}\begin{{document}}{inputs}\end{{document}}"
    (folder / "page.tex").write_text(page)
    done = subprocess.run(["pdflatex", "-halt-on-error", "page.tex"], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:]


def test_an_assignment_has_no_model(tmp_path, result):
    new = mf.assign(result, result.data.split(result.data.columns)[0])
    folder = mf.exports.write_state_tables(tmp_path / "tables", new)
    assert [path.name for path in sorted(folder.glob("*.*"))][-2:] == ["states.csv", "states.tex"]
    assert "population" not in (folder / "states.csv").read_text()


def test_a_model_needs_trajectories_and_states(result):
    points = np.repeat([[0.0], [9.0]], 200, axis=0) + np.random.default_rng(0).normal(size=(400, 2))
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    with pytest.raises(ValueError, match="`result` must be of unweighted trajectories; got a cl"):
        mf.estimate_model(mf.cluster(neighbors))
    with pytest.raises(ValueError, match="`source` must be a state of the Markov model; got 5"):
        mf.estimate_model(result, lag_time=1, source=5)
    rng = np.random.default_rng(0)
    data = mf.Features([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])  # no transitions
    with pytest.raises(ValueError, match="`lag_time` must be given: none can be chosen"):
        mf.estimate_model(mf.cluster(data))
    with pytest.raises(ValueError, match="got weighted frames"):
        mf.estimate_model(mf.cluster(data.weighted(rng.uniform(0.5, 1.0, size=500))))

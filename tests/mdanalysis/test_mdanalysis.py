"""The analysis for MDAnalysis: the results of the pipeline, by the rules of its analyses."""

import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.frames import _formats

mda = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed: pip install '.[mdanalysis]'")

from MDAnalysis.analysis.base import AnalysisBase  # noqa: E402

from mdfuzzy.mdanalysis import FuzzyModeSeekingAnalysis  # noqa: E402

QUICK = {"prominence": 1.0, "n_jobs": 1}


@pytest.fixture
def universe(copied_peptide):
    universe = mda.Universe(copied_peptide / "ala2.pdb", copied_peptide / "ala2_00.xtc")
    universe.trajectory[7]
    return universe


@pytest.fixture
def both(copied_peptide):
    """Both files, which are not pieces of one simulation."""
    files = [str(copied_peptide / name) for name in ("ala2_00.xtc", "ala2_03.xtc")]
    return mda.Universe(copied_peptide / "ala2.pdb", files)


@pytest.fixture(scope="module")
def everything(copied_peptide):
    """All frames of the backbone in the first file."""
    universe = mda.Universe(copied_peptide / "ala2.pdb", copied_peptide / "ala2_00.xtc")
    return mf.load(universe.select_atoms("name N CA C O"))


def test_it_is_an_analysis_with_the_results_of_the_pipeline(both, peptide_result):
    analysis = FuzzyModeSeekingAnalysis(both.atoms, n_jobs=1)
    assert isinstance(analysis, AnalysisBase)
    assert analysis.run(step=5) is analysis
    results, known = analysis.results, peptide_result
    np.testing.assert_array_equal(results.labels, known.labels)
    np.testing.assert_array_equal(results.cores, known.cores.core_of)
    np.testing.assert_allclose(results.memberships, known.memberships.values, rtol=0, atol=1e-6)
    np.testing.assert_allclose(results.log_density, known.log_density, rtol=0, atol=1e-4)
    assert results.n_states == len(results.states) == known.n_states
    assert results.beta == 2.0
    assert results["labels"] is results.labels
    assert results.clustering.data.lengths.tolist() == known.data.lengths.tolist()
    np.testing.assert_array_equal(analysis.frames, np.arange(0, 30_000, 5))
    np.testing.assert_allclose(analysis.times, known.data.times, rtol=0, atol=0)
    documented = inspect.getdoc(FuzzyModeSeekingAnalysis)
    assert all(f"results.{name} :" in documented for name in results)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"start": 100, "stop": 2100, "step": 10}, np.arange(100, 2100, 10)),
        ({"start": -1500, "step": 7}, np.arange(18_500, 20_000, 7)),
        ({"frames": [3, 5, 900, *range(1000, 3000, 9)]}, [3, 5, 900, *range(1000, 3000, 9)]),
        ({"frames": (np.arange(20_000) % 71 == 2).tolist()}, np.arange(2, 20_000, 71)),
    ],
    ids=["slice", "from the end", "numbers", "mask"],
)
@pytest.mark.filterwarnings("ignore:There is one state only")
def test_the_frames_are_those_that_were_asked_for(universe, everything, options, numbers):
    analysis = FuzzyModeSeekingAnalysis(universe.select_atoms("name N CA C O"), **QUICK).run(**options)
    np.testing.assert_array_equal(analysis.frames, numbers)
    frames = analysis.results.clustering.data
    np.testing.assert_array_equal(frames.xyz, everything.xyz[numbers])
    np.testing.assert_array_equal(frames.times, everything.times[numbers])
    np.testing.assert_array_equal(frames.phi, everything.phi[numbers])
    read = frames.trajectory([0, 2, len(numbers) - 1], atoms="all")
    assert read.n_atoms == 10
    np.testing.assert_allclose(read.time, everything.times[[numbers[0], numbers[2], numbers[-1]]], rtol=1e-6)
    expected = everything.trajectory([numbers[0], numbers[2], numbers[-1]], atoms="all").xyz
    np.testing.assert_array_equal(read.xyz, expected)


def test_boundaries_between_files_are_kept(both):
    data = FuzzyModeSeekingAnalysis(both, **QUICK).run(start=19_000, step=20).results.clustering.data
    assert data.lengths.tolist() == [50, 500]
    only_one = FuzzyModeSeekingAnalysis(both, **QUICK).run(start=20_000, step=20).results.clustering.data
    assert only_one.lengths.tolist() == [500]
    assert [(source.trajectory, source.first) for source in only_one.sources] == [(0, 20_000)]


def test_the_universe_stays_where_it_was(universe):
    analysis = FuzzyModeSeekingAnalysis(universe, **QUICK)
    analysis.run(step=40)
    assert universe.trajectory.frame == 7
    first = analysis.results.labels
    analysis.run(step=80)  # again, with other frames
    assert len(analysis.results.labels) == len(analysis.frames) == 250
    assert len(first) == 500
    with pytest.raises(ValueError, match="at least 3 frames; got 2 of 20000"):
        analysis.run(stop=2)
    assert universe.trajectory.frame == 7


def test_parameters_are_the_settings(universe):
    signature = inspect.signature(FuzzyModeSeekingAnalysis)
    settings = {each.name: each.default for each in fields(mf.Settings)}
    assert {name: signature.parameters[name].default for name in settings} == settings
    own = ["atomgroup", "align", "reference", "mass_weighted", "symmetry", "whole"]
    own += ["weights", "log_weights", "temperature", "features", "reduction", "verbose"]
    assert list(signature.parameters)[: len(own)] == own
    found = FuzzyModeSeekingAnalysis(universe, k=9, beta=0.5, **QUICK).run(step=40).results.clustering
    assert found.settings == mf.Settings(k=9, beta=0.5, **QUICK)
    with pytest.raises(ValueError, match="`beta` must be a number > 0; got -1"):
        FuzzyModeSeekingAnalysis(universe, beta=-1)
    with pytest.raises(TypeError, match="`neighbours` must be one of the settings; got an unknown name"):
        FuzzyModeSeekingAnalysis(universe, neighbours=9)


def test_verbose_shows_progress(universe, capsys):
    FuzzyModeSeekingAnalysis(universe, **QUICK).run(step=40)
    assert capsys.readouterr().err == ""
    FuzzyModeSeekingAnalysis(universe, verbose=True, **QUICK).run(step=40)
    assert "500/500" in capsys.readouterr().err
    FuzzyModeSeekingAnalysis(universe, verbose=True, **QUICK).run(step=40, verbose=False)
    assert capsys.readouterr().err == ""


def test_warnings_point_at_the_line_of_the_user(universe):
    with pytest.warns(UserWarning, match="There is one state only") as caught:
        FuzzyModeSeekingAnalysis(universe, prominence=50.0, n_jobs=1).run(step=40)
    assert Path(caught[0].filename) == Path(__file__)


def test_frames_without_a_direction(universe):
    for options in ({"frames": [5, 3, 9]}, {"frames": [3, 3, 9]}, {"step": -1}):
        with pytest.raises(ValueError, match=r"in ascending order, each once.*got frame \d+ after frame \d+"):
            FuzzyModeSeekingAnalysis(universe, **QUICK).run(**options)
        assert universe.trajectory.frame == 7


def test_a_frame_that_is_not_finite(universe, monkeypatch):
    monkeypatch.setattr(_formats, "_CHUNK_FRAMES", 7)
    universe.transfer_to_memory(stop=40)
    universe.trajectory.get_array()[30] = np.nan
    with pytest.raises(ValueError, match=r"\(an MDAnalysis Universe\) has NaN or infinite ones in frame 30"):
        FuzzyModeSeekingAnalysis(universe).run(step=2)


def test_what_cannot_be_analysed(universe):
    with pytest.raises(TypeError, match="`atomgroup` must be one AtomGroup or Universe; got 2 of them"):
        FuzzyModeSeekingAnalysis([universe.atoms, universe.atoms])
    with pytest.raises(ValueError, match="at least 3 atoms"):
        FuzzyModeSeekingAnalysis(universe.atoms[:2])
    with pytest.raises(TypeError, match=r"`atomgroup` must be an AtomGroup or a Universe.*got str"):
        FuzzyModeSeekingAnalysis("run.xtc")
    with pytest.raises(TypeError, match="`whole` must be True, False or None; got 'yes'"):
        FuzzyModeSeekingAnalysis(universe, whole="yes")
    with pytest.raises(ValueError, match="parallelize"):  # by MDAnalysis: not an analysis frame by frame
        FuzzyModeSeekingAnalysis(universe).run(backend="multiprocessing", n_workers=2)
    with pytest.raises(ValueError, match="start/stop/step cannot be combined with frames"):
        FuzzyModeSeekingAnalysis(universe).run(start=3, frames=[3, 4])


def test_without_the_library():
    code = """
import sys
sys.modules["MDAnalysis"] = None
import mdfuzzy as mf
from mdfuzzy import *
assert "FuzzyModeSeekingAnalysis" in dir(mf.mdanalysis)
try:
    mf.mdanalysis.FuzzyModeSeekingAnalysis
except ImportError as error:
    print(error)
try:
    mf.mdanalysis.nonsense
except AttributeError as error:
    print(error)
"""
    root = Path(mf.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert "needs the package `MDAnalysis`: pip install 'mdfuzzy[mdanalysis]'" in run.stdout
    assert "module 'mdfuzzy.mdanalysis' has no attribute 'nonsense'" in run.stdout


def test_weights_of_the_analysed_frames_or_of_all():
    positions = 10 * mf.datasets.alanine_dipeptide(stride=40).xyz
    universe = mda.Universe(mf.datasets.folder() / "ala2.pdb", positions)
    atoms = universe.select_atoms("not name H*")
    weights = np.random.default_rng(0).random(len(positions))
    whole = FuzzyModeSeekingAnalysis(atoms, weights=weights, n_states=2).run(step=2)
    part = FuzzyModeSeekingAnalysis(atoms, log_weights=np.log(weights[::2]), n_states=2).run(step=2)
    for analysis in (whole, part):
        found = analysis.results.clustering.weights
        np.testing.assert_allclose(found, weights[::2] / weights[::2].max())
    assert whole.results.states[0].population is not None
    with pytest.raises(ValueError, match="`weights` must have one value per frame"):
        FuzzyModeSeekingAnalysis(atoms, weights=weights[:7]).run(step=2)

"""Features on the command line: from files to states, new files, and what is refused."""

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.cli import main

FILES = mf.datasets.folder()
ALA2 = [
    str(FILES / "ala2_00.xtc"),
    str(FILES / "ala2_03.xtc"),
    "--top",
    str(FILES / "ala2.pdb"),
    "--stride",
    "20",
]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_run_assign_and_load_again(tmp_path, capsys):
    out = str(tmp_path / "out")
    options = ["--features", "torsions", "--features", "distances:name C", "--tica", "4ps:2"]
    assert main(["run", *ALA2, *options, "-o", out, "--bare"]) == 0
    text = capsys.readouterr().out
    assert "TIC 1: timescale" in text
    assert "phi ALA2" in text
    loaded = mf.RunDir(out).load()
    assert loaded.data.names == ("TIC 1", "TIC 2")
    assert loaded.data.has_structures
    found = mf.compare_states(loaded, 0, 1)
    every = mf.featurize([ALA2[0], ALA2[1]], ["torsions", "distances:name C"], top=ALA2[3], stride=20)
    chosen = mf.compare_states(loaded, 0, 1, features=every)
    assert found.names == every.names
    np.testing.assert_allclose(found.effect, chosen.effect, rtol=1e-6)
    np.testing.assert_allclose(found.low, chosen.low, rtol=1e-6)
    assert main(["info", out]) == 0
    assert "TIC 1: timescale" in capsys.readouterr().out
    assert main(["assign", out, ALA2[0], "--stride", "20"]) == 0
    assert "1,000 frames" in capsys.readouterr().out
    rows = np.genfromtxt(tmp_path / "out/exports/assigned/frames.csv", delimiter=",", names=True)
    np.testing.assert_allclose(rows["TIC_1"], loaded.data.values[: len(rows), 0], rtol=1e-5)
    assert main(["assign", out, ALA2[0], "--align", "name CA"]) == 2
    assert "--align is for runs by RMSD" in capsys.readouterr().err
    assert main(["run", *ALA2, *options, "-o", out, "--bare"]) == 0  # resumes
    again = mf.RunDir(out).load()
    np.testing.assert_array_equal(again.data.values, loaded.data.values)
    assert main(["run", *ALA2, *options[:-1], "4ps:1", "-o", out, "--bare"]) == 2
    assert "Components (TICA) and scales of several units change" in capsys.readouterr().err


def test_info_lists_features(capsys, monkeypatch):
    monkeypatch.setattr("mdfuzzy.features.available._MOST_RESIDUES", 1)  # a large molecule
    assert main(["info", *ALA2]) == 0
    text = capsys.readouterr().out
    assert "phi and psi [of the residues of a SELECTION]" in text
    assert "  contacts               soft contacts of residues" in text  # without their number


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tica", "1ns"], "--tica needs features"),
        (["--max-features", "9"], "--max-features needs features"),
        (["--features", "torsions", "--max-features", "1"], "at most 1 columns (--max-features); got 2"),
        (["--features", "torsions", "--tica", "1ps", "--pca", "2"], "cannot be combined"),
        (["--features", "torsions", "--align", "name CA"], "--align is for RMSD"),
        (
            ["--features", "torsions", "--tica", "1ps"],
            "--tica must be at least the time between frames, 4 ps",
        ),
        (["--features", "torsions", "--tica", "1us"], "--tica must be shorter than the longest trajectory"),
        (["--features", "torsions", "--tica", "long"], "--tica must be a lag time above 0 with a unit"),
        (
            ["--features", "torsions", "--tica", "8ps", "--watch", "1"],
            "--watch cannot be combined with --tica",
        ),
        (["--features", "angles"], "--features must be one of torsions"),
    ],
)
def test_what_is_refused(tmp_path, capsys, options, message):
    assert main(["run", *ALA2, *options, "-o", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


def test_two_states_differ_in_what_was_shifted():
    rng = np.random.default_rng(0)
    state = np.arange(4000) // 200 % 2
    angle = np.where(state == 1, 175.0, -165.0) + 5 * rng.normal(size=4000)
    values = np.column_stack(
        [rng.normal(size=4000), 3 * state + rng.normal(size=4000), (angle + 180) % 360 - 180]
    )
    data = mf.Features(values, names=["same", "shifted", "angle"], periodic=[2], times=np.arange(4000.0))
    clustered = mf.Features(10.0 * state[:, None] + rng.normal(size=(4000, 1)))
    result = mf.cluster(clustered, mf.Settings(n_states=2, beta=0.5))
    a = int(result.memberships.hard[0])
    found = mf.compare_states(result, 1 - a, a, features=data)
    np.testing.assert_allclose(found.difference, [0, 3, -20], atol=0.3)
    np.testing.assert_allclose(found.effect, [0, 3, -4], atol=0.2)
    assert found.low[1] < 3 < found.high[1]
    assert found.names[found.order[-1]] == "same"
    assert "shifted" in found.table(n_features=2)
    with pytest.raises(mf.InputError, match=r"`a` and `b` must be different states; got 1 twice"):
        mf.compare_states(result, 1, 1)
    with pytest.raises(mf.InputError, match=r"`features` must be of the frames of `result`, 4,000; got 5"):
        mf.compare_states(result, 0, 1, features=mf.Features(np.zeros((5, 1))))

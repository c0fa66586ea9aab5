"""`mdfuzzy run --weights`: from COLVAR files to populations, and what weights rule out."""

import re
import shutil

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with run0.xtc and run1.xtc, 0.5 ps between frames, and a COLVAR of each, every 0.25 ps."""
    import mdtraj as md

    folder = tmp_path_factory.mktemp("files")
    frames = mf.datasets.alanine_dipeptide(stride=20)
    for number, part in enumerate(frames.split(np.arange(len(frames)))):
        times = 0.5 * np.arange(len(part))
        md.Trajectory(frames.xyz[part], frames.topology, time=times).save(folder / f"run{number}.xtc")
        bias = 2.5 * (1 + np.cos(np.radians(frames.phi[part, 0])))
        rows = np.column_stack(
            [0.25 * np.arange(2 * len(part)), np.repeat(bias, 2), np.repeat(bias / 2.494, 2)]
        )
        text = "#! FIELDS time restraint.bias log.logweight\n"
        (folder / f"COLVAR{number}").write_text(
            text + "\n".join(" ".join(map(repr, row.tolist())) for row in rows)
        )
    frames.trajectory([0]).save(folder / "top.pdb")
    return folder


def arguments(files, out, *more: str) -> list[str]:
    options = ["--top", str(files / "top.pdb"), "--n-states", "4", "--no-scan-beta", "-o", str(out)]
    return ["run", str(files / "run*.xtc"), *options, *more]


@pytest.fixture(scope="module")
def finished(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("finished") / "out"
    weights = [each for number in (0, 1) for each in ("--weights", f"{files}/COLVAR{number}")]
    assert main(arguments(files, out, *weights)) == 0
    return out


def test_weights_come_from_one_file_for_each_trajectory(finished):
    text = (finished / "summary.txt").read_text()
    assert "weighted, " in text
    assert re.search(
        r"effective frames of 1,500. The 95 % intervals come from a bootstrap of \d+ blocks of", text
    )
    assert "Kinetics are left out" in text
    assert "effective  population        interval" in text
    assert (
        (finished / "exports" / "frames.csv")
        .read_text()
        .startswith("trajectory,frame,time_ps,phi_ALA2,psi_ALA2,weight,")
    )
    assert not (finished / "exports" / "pyemma").exists()
    result = mf.RunDir(finished).load()
    bias = 1 + np.cos(np.radians(result.data.phi[:, 0]))
    np.testing.assert_allclose(np.log(result.weights), 2.5 / 2.494 * (bias - bias.max()), atol=1e-4)


def test_a_bias_needs_a_temperature_and_may_be_named(files, tmp_path, capsys):
    columns = [each for number in (0, 1) for each in ("--weights", f"{files}/COLVAR{number}:restraint.bias")]
    assert main(arguments(files, tmp_path / "out", *columns)) == 2
    assert "--temperature must be given" in capsys.readouterr().err
    assert main(arguments(files, tmp_path / "out", "--bare", "--temperature", "300", *columns)) == 0
    assert "effective frames of 1,500" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--validate"], "--validate must be False if frames have weights"),
        (["--beta", "kinetic"], "--beta must be a number or 'entropy' if frames have weights"),
        (["--log-weights", "LOGS"], "--log-weights must be None if --weights are given"),
    ],
)
def test_what_weights_rule_out_is_an_error(files, tmp_path, capsys, more, message):
    weights = [each for number in (0, 1) for each in ("--weights", f"{files}/COLVAR{number}")]
    assert main(arguments(files, tmp_path / "out", *weights, *more)) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_one_file_for_two_trajectories_is_refused(files, tmp_path, capsys):
    assert main(arguments(files, tmp_path / "out", "--weights", f"{files}/COLVAR0")) == 2
    assert "must be a list of one file per trajectory" in capsys.readouterr().err


def test_commands_on_the_run_know_the_weights(finished, files, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    assert main(["export", str(out), "--pyemma"]) == 2
    assert "must have no weights for kinetics" in capsys.readouterr().err
    assert main(["export", str(out), "--table", "-o", str(tmp_path / "table")]) == 0
    assert main(["plot", str(out), "--kind", "free-energy"]) == 0
    assert main(["plot", str(out), "--kind", "timescales"]) == 2
    assert "must have no weights for kinetics" in capsys.readouterr().err
    assert main(["info", str(out)]) == 0
    assert "effective frames" in capsys.readouterr().out
    assert main(["assign", str(out), str(files / "run1.xtc"), "--weights", str(files / "COLVAR1")]) == 0
    text = capsys.readouterr().out
    assert "effective frames" in text
    assert not (out / "exports" / "assigned" / "pyemma").exists()
    assert main(["assign", str(out), str(files / "run0.xtc"), "-o", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "pyemma").is_dir()  # of an unbiased run there are kinetics

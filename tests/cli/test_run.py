"""`mdfuzzy run` and the commands on a finished run: what they print and write, resuming, bad input."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import mdtraj as md
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf
from mdfuzzy.cli import main
from mdfuzzy.cli.options import take_settings
from mdfuzzy.cli.run import command as run_command
from mdfuzzy.pipeline import _steps

ROOT = Path(mf.__file__).parents[1]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with run0.xtc, run1.xtc (together 1,500 frames) and top.pdb."""
    folder = tmp_path_factory.mktemp("files")
    frames = mf.datasets.alanine_dipeptide(stride=20)
    for number, part in enumerate(frames.split(np.arange(len(frames)))):
        frames.trajectory(part).save(folder / f"run{number}.xtc")
    frames.trajectory([0]).save(folder / "top.pdb")
    return folder


def arguments(files: Path, out: Path, *more: str) -> list[str]:
    """The command `run`, without the scan over beta, which takes most of its time."""
    options = ["--top", str(files / "top.pdb"), "--prominence", "1", "--no-scan-beta", "-o", str(out)]
    return ["run", str(files / "run*.xtc"), *options, *more]


@pytest.fixture(scope="module")
def finished(files, tmp_path_factory) -> Path:
    """The folder of a finished run, with everything that a run writes."""
    out = tmp_path_factory.mktemp("finished") / "out"
    assert main(arguments(files, out, "--scan-beta")) == 0
    return out


def the_line(text: str) -> str:
    """Return the last line of `text`, which is the only error."""
    errors = [line for line in text.splitlines() if line.startswith("mdfuzzy: error: ")]
    assert len(errors) == 1
    assert text.splitlines()[-1] == errors[0]
    return errors[0]


# --- options are made from the settings


def parsed(*options: str) -> mf.Settings:
    """Return the settings that the options of `run` stand for."""
    context = run_command.make_context("run", ["a.xtc", *options])
    return take_settings(dict(context.params))


def test_every_setting_has_an_option_with_its_help_and_default(capsys):
    assert main(["run", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    options = {option.name: option for option in run_command.params}
    for field in fields(mf.Settings):
        option = options[field.name]
        assert " ".join(field.metadata["help"].split()) in text.replace("- ", "-"), field.name
        assert option.help == field.metadata["help"]
        if field.name not in (
            "scan_beta",
            "validate",
        ):  # the report shows both, so the command line makes them
            assert option.default == field.default
    assert parsed() == mf.Settings(scan_beta=True, validate=True)


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["-k", "9"], {"k": 9}),
        (["--k", "9", "--n-jobs", "1"], {"k": 9, "n_jobs": 1}),
        (["--beta", "0.5"], {"beta": 0.5}),
        (["--beta", "inf"], {"beta": np.inf}),
        (["--beta", "entropy"], {"beta": "entropy"}),
        (["--beta", "kinetic"], {"beta": "kinetic"}),
        (["--core-rule", "share", "--core-share", "0.2"], {"core_rule": "share", "core_share": 0.2}),
        (["--scan-k", "--unit-density"], {"scan_k": True, "unit_density": True}),
        (["--no-scan-beta"], {"scan_beta": False}),
        (["--density", "kde", "--bandwidth", "0.02"], {"density": "kde", "bandwidth": 0.02}),
    ],
    ids=str,
)
def test_options_become_settings(options, settings):
    assert parsed(*options) == mf.Settings(**({"scan_beta": True, "validate": True} | settings))


def test_a_long_scan_over_beta_is_left_out_unless_requested(files, tmp_path, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "mdfuzzy.cli.run.find_states",
        lambda session, frames, settings, *_, **__: seen.append(settings.scan_beta),
    )
    monkeypatch.setattr("mdfuzzy.cli.run._SCANNED", 10)
    basic = ["run", *(str(path) for path in sorted(files.glob("*.xtc"))), "--top", str(files / "top.pdb")]
    for options in ([], ["--scan-beta"], ["--beta", "entropy"], ["--fit-frames", "10"]):
        assert main([*basic, "-o", str(tmp_path / "out"), *options]) == 0
        told = (
            "No scan over beta with more than 10 frames; --scan-beta computes it." in capsys.readouterr().out
        )
        assert told is (options == [])
    assert seen == [False, True, True, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--beta", "best"],
            "Invalid value for '--beta': 'best' is neither a number nor 'entropy' or 'kinetic'",
        ),
        (["--beta", "0"], "--beta must be a number > 0; got 0.0. 2 is the temperature of the simulation"),
        (["-k", "many"], "Invalid value for '-k' / '--k': 'many' is not a valid integer"),
        (
            ["--memory", "1MB"],
            "--memory must be at least 0.5 GB for 1,500 frames, states found on few of them",
        ),
        (["-k", "0"], "--k must be an int of at least 1; got 0"),
        (["-k", "4000"], "--k must be an int in [1, 749]; got 4000. The density uses 2k neighbours"),
        (
            ["--core-rule", "top"],
            "Invalid value for '--core-rule': 'top' is not one of 'reach', 'prominence'",
        ),
        (["--density", "kde", "--bandwidth", "-1"], "--bandwidth must be a finite number > 0; got -1"),
        (["--atoms", "name XX"], "--atoms"),
        (["--stride", "0"], "--stride must be an int of at least 1; got 0"),
        (["--timestep", "-1"], "--timestep must be a finite number > 0; got -1.0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options_are_one_line(files, tmp_path, capsys, options, message):
    assert main(arguments(files, tmp_path / "out", *options)) == 2
    assert message in the_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


# --- run


def test_run_says_what_it_found_and_chose(files, tmp_path, capsys):
    assert main(arguments(files, tmp_path / "out", "--bare", "--scan-beta")) == 0
    out, err = capsys.readouterr()
    result = mf.RunDir(tmp_path / "out").load()
    assert str(result.states) in out
    assert result.transition_regions.table() in out
    for sentence in result.chosen.values():
        assert sentence in out
    assert "1,500 frames of 10 atoms in 2 trajectories" in out
    assert "mdfuzzy: searching for the nearest neighbours of every frame" in err
    assert "mdfuzzy: solving for memberships over a range of beta" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["data", "summary.txt"]


def test_run_writes_everything(finished):
    assert (finished / "report.html").stat().st_size > 100_000
    assert len(list((finished / "plots").glob("*.png"))) >= 6
    assert (finished / "exports" / "frames.csv").read_text().count("\n") == 1501
    assert list((finished / "exports" / "pyemma").iterdir())
    assert list((finished / "exports" / "structures").rglob("*.pdb"))
    assert list((finished / "exports" / "trajectories").rglob("state_*.xtc"))
    assert not list(finished.rglob("*.draft"))
    top = ["data", "exports", "plots", "report.html", "summary.txt"]
    assert sorted(path.name for path in finished.iterdir()) == top
    assert str(mf.RunDir(finished).load().states) in (finished / "summary.txt").read_text()


def test_running_again_computes_nothing_and_other_settings_only_what_depends_on_them(
    files, tmp_path, monkeypatch, capsys
):
    out, done = tmp_path / "out", []
    assert main(arguments(files, out, "--bare")) == 0
    first = capsys.readouterr().out
    for module, name in (
        (_steps.neighbors, "nearest_frames"),
        (_steps.states, "find_reached_cores"),
        (_steps.memberships, "solve_memberships"),
    ):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, real=real, name=name, **o: (done.append(name), real(*a, **o))[1]
        )
    assert main(arguments(files, out, "--bare")) == 0
    assert done == []
    assert capsys.readouterr().out == first
    assert main(arguments(files, out, "--bare", "--beta", "0.5")) == 0
    assert done == ["solve_memberships"]
    assert mf.RunDir(out).settings.beta == 0.5


def test_nothing_of_other_settings_is_left(files, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(arguments(files, out, "--no-validate", "--no-scan-beta", "--no-report")) == 0
    assert sorted(each.name for each in out.iterdir()) == ["data", "exports", "plots", "summary.txt"]
    (out / "plots" / "mine.txt").write_text("a note")
    assert main(arguments(files, out, "--no-validate", "--no-scan-beta", "--bare")) == 0
    assert (out / "plots" / "states.png").exists(), "the same settings: all of it is right"
    assert main(arguments(files, out, "--no-validate", "--no-scan-beta", "--bare", "--beta", "0.5")) == 0
    assert "files of the previous run, which had other settings or data" in capsys.readouterr().err
    assert sorted(each.name for each in out.iterdir()) == ["data", "plots", "summary.txt"]
    assert [each.name for each in (out / "plots").iterdir()] == ["mine.txt"]


def test_pictures_in_other_formats(finished, tmp_path, capsys):
    kinds = ["--kind", "persistence", "--format", "svg"]
    assert main(["plot", str(finished), *kinds, "-o", str(tmp_path / "figures")]) == 0
    assert (tmp_path / "figures" / "persistence.svg").read_text().startswith("<?xml")
    assert main(["plot", str(finished), "--residue", "LYS99", *kinds]) == 2
    assert "--residue must be one of those with phi and psi, ALA2; got 'LYS99'" in capsys.readouterr().err


def test_kinetics(finished, tmp_path, capsys):
    assert main(["kinetics", str(finished), "--lag", "8", "-o", str(tmp_path / "tables")]) == 0
    out = capsys.readouterr().out
    assert "mean first-passage times, lag time 8 ps" in out
    assert "pathways from" in out
    assert (tmp_path / "tables" / "states.tex").exists()
    assert (tmp_path / "tables" / "pathways.png").exists()
    options = ["--from", "0", "--to", "1", "--lag", "8", "--format", "pdf"]
    assert main(["kinetics", str(finished), *options, "-o", str(tmp_path / "own")]) == 0
    assert (tmp_path / "own" / "pathways.pdf").read_bytes().startswith(b"%PDF")
    capsys.readouterr()
    for lag, words in [
        ("0", "--lag must be a finite number > 0; got 0"),
        ("9ms", "trajectory, 4 ns; got 9 ms"),
    ]:
        assert main(["kinetics", str(finished), "--lag", lag]) == 2
        assert words in capsys.readouterr().err
    assert main(["kinetics", str(finished), "--from", "99"]) == 2
    assert "--from must be a state of the Markov model; got 99" in the_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plots/state-0.png", "'state-0.png', which no earlier export wrote"),
        ("report.html", "which mdfuzzy did not write"),
        ("summary.txt", "must not be a file that mdfuzzy did not write"),
    ],
)
def test_files_of_the_user_under_names_of_outputs_are_refused_before_anything_is_read(
    files, tmp_path, capsys, monkeypatch, name, message
):
    out = tmp_path / "out"
    assert main(arguments(files, out, "--bare")) == 0
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(mf, "load", lambda *arguments, **options: pytest.fail("the files were read"))
        assert main(arguments(files, out)) == 2
    assert message in the_line(capsys.readouterr().err)
    assert (out / name).read_text() == "mine"


def test_a_folder_with_other_files_is_refused_before_anything_is_read(files, tmp_path, capsys, monkeypatch):
    (tmp_path / "thesis.tex").write_text("years of work")
    monkeypatch.setattr(mf, "load", lambda *arguments, **options: pytest.fail("the files were read"))
    assert main(arguments(files, tmp_path)) == 2
    assert "thesis.tex" in the_line(capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_another_input_is_refused_and_nothing_is_changed(files, finished, capsys):
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*") if path.name != ".lock"}
    assert main(arguments(files, finished, "--stride", "2")) == 2
    line = the_line(capsys.readouterr().err)
    assert re.search(
        r"holds the results for other data: Frames\(1,500 frames.*, not Frames\(750 frames", line
    )
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*") if path.name != ".lock"} == before


def test_a_folder_with_other_files_is_refused(files, tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("precious")
    assert main(arguments(files, tmp_path)) == 2
    assert "it holds 'thesis.tex' and no data/run.json. Give another folder." in the_line(
        capsys.readouterr().err
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_in_use_is_refused(files, tmp_path, capsys):
    run = mf.RunDir(tmp_path / "out")
    with run.lock():
        assert main(arguments(files, tmp_path / "out")) == 2
    line = the_line(capsys.readouterr().err)
    assert f"is in use by process {os.getpid()} on " in line
    assert "Wait until it has ended, or give another folder." in line


def test_without_output_there_is_a_default(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*arguments(files, tmp_path)[:-2], "--bare"]) == 0
    assert mf.RunDir(tmp_path / "mdfuzzy-run").load().n_states > 1


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_says_that_it_can_go_on(files, tmp_path):
    program = (
        "import os, signal, sys\n"
        "from mdfuzzy.pipeline import _steps\n"
        "from mdfuzzy.cli import main\n"
        "_steps.states.find_reached_cores = lambda *a, **o: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments(files, out, "--bare")],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 130
    kept = f"finished steps are kept in {out}: rerun the command to resume"
    assert done.stderr.splitlines()[-1] == f"mdfuzzy: error: interrupted; {kept}"
    assert "peaks" in mf.RunDir(out).steps
    assert main(arguments(files, out, "--bare")) == 0


def test_files_that_end_while_a_sampled_run_reads_them(files, tmp_path, monkeypatch, capsys):
    """An interrupted run, a file that is cut, and the whole file again: the run resumes with the same fit."""
    copies, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(files, copies)
    command, whole = arguments(copies, out, "--bare", "--fit-frames", "500"), copies / "run1.xtc"
    content, extend, searched = whole.read_bytes(), _steps.memberships.extend_to_all, []

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_steps.memberships, "extend_to_all", interrupt)
    assert main(command) == 130
    monkeypatch.setattr(_steps.memberships, "extend_to_all", extend)
    whole.write_bytes(content[: len(content) // 2 + 3])
    capsys.readouterr()
    assert main(command) != 0
    line = the_line(capsys.readouterr().err)
    assert re.search(r"run1\.xtc' is truncated or corrupt: \d+ frames could be read", line)
    whole.write_bytes(content)
    search = _steps.neighbors.nearest_frames
    monkeypatch.setattr(
        _steps.neighbors, "nearest_frames", lambda *a, **o: (searched.append(a), search(*a, **o))[1]
    )
    assert main(command) == 0
    assert len(mf.RunDir(out).load()) == 1500
    assert len(searched) == 2, "only for the error of the memberships: of twice, and of half of the sample"


# --- a finished run


def test_info_of_a_run(finished, capsys):
    assert main(["info", str(finished)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"run directory {finished}\ndata: Frames(1,500 frames")
    assert "changed settings: prominence=1.0, scan_beta=True, validate=True" in out
    assert str(mf.RunDir(finished).load().states) in out


@pytest.mark.parametrize("command", ["info", "plot", "export", "report", "assign"])
def test_a_folder_that_is_no_run(command, files, tmp_path, capsys):
    assert main([command, str(tmp_path), *([str(files / "run0.xtc")] if command == "assign" else [])]) == 2
    assert "must be the folder of a run; there is no data/run.json in it." in the_line(
        capsys.readouterr().err
    )


@pytest.mark.parametrize("command", ["plot", "export", "report", "assign"])
def test_a_folder_that_is_not_there(command, tmp_path, capsys):
    assert main([command, str(tmp_path / "none"), *(["a.xtc"] if command == "assign" else [])]) == 2
    assert "Invalid value for 'RUN': Directory" in the_line(capsys.readouterr().err)


def test_an_unfinished_run(files, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(arguments(files, out, "--bare")) == 0
    (out / "data" / "memberships.json").unlink()
    capsys.readouterr()
    assert main(["report", str(out)]) == 2
    assert "is not finished: the step 'memberships' is missing. Run it again" in the_line(
        capsys.readouterr().err
    )


def test_plot(finished, tmp_path, capsys):
    kinds = ["--kind", "prominences", "--kind", "state"]
    assert main(["plot", str(finished), *kinds, "-o", str(tmp_path / "some")]) == 0
    names = sorted(path.name for path in (tmp_path / "some").iterdir() if path.suffix == ".png")
    states = [f"state-{number}.png" for number in range(mf.RunDir(finished).load().n_states)]
    assert names == ["prominences.png", *states]
    assert set(names) < {path.name for path in (finished / "plots").glob("*.png")}
    assert f"{len(names)} pictures in {tmp_path / 'some'}" in capsys.readouterr().out
    assert main(["plot", str(finished), "--kind", "nonsense", "-o", str(tmp_path / "none")]) == 2
    assert "'nonsense'" in the_line(capsys.readouterr().err)


def test_export(finished, tmp_path, capsys):
    assert main(["export", str(finished), "--table", "-o", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mdfuzzy-table", "frames.csv"]
    assert (tmp_path / "frames.csv").read_bytes() == (finished / "exports" / "frames.csv").read_bytes()
    assert main(["export", str(finished), "-o", str(tmp_path)]) == 0  # all, over what is there
    written = {path.name for path in tmp_path.glob("[!.]*")}
    assert written >= {"frames.csv", "pyemma", "structures", "tables", "trajectories"}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["export", "--table"], "frames.csv"),
        (["plot", "--kind", "states"], "states.png"),
        (["report"], "r.html"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_files_of_others_are_not_replaced(finished, tmp_path, capsys, command, name):
    (tmp_path / name).write_text("mine")
    place = tmp_path / name if command == ["report"] else tmp_path
    assert main([command[0], str(finished), *command[1:], "-o", str(place)]) == 2
    assert name in the_line(capsys.readouterr().err)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


@pytest.mark.parametrize(
    ("command", "name"), [("plot", "plots"), ("export", "exports"), ("assign", "exports")]
)
def test_links_in_the_run_directory_are_not_followed(files, finished, tmp_path, capsys, command, name):
    run, outside = tmp_path / "run", tmp_path / "outside"
    shutil.copytree(finished, run)
    shutil.rmtree(run / name)
    outside.mkdir()
    (run / name).symlink_to(outside)
    more = [str(files / "a.xtc")] if command == "assign" else []
    assert main([command, str(run), *more]) == 2
    assert f"{name} must be a folder; it is a symbolic link" in the_line(capsys.readouterr().err)
    assert list(outside.iterdir()) == []


def test_a_table_of_others_is_not_replaced_by_the_rmsd_to_a_reference(files, finished, tmp_path, capsys):
    (tmp_path / "reference.csv").write_text("mine")
    command = ["export", str(finished), "--reference", str(files / "top.pdb"), "-o", str(tmp_path)]
    assert main(command) == 2
    assert "'reference.csv', which no earlier export wrote" in capsys.readouterr().err
    assert (tmp_path / "reference.csv").read_text() == "mine"
    (tmp_path / "reference.csv").unlink()
    assert [main(command), main(command)] == [0, 0]


def test_inputs_below_the_output_folder_are_left_alone(files, tmp_path, capsys):
    place = tmp_path / "w" / "data.tmp"
    shutil.copytree(files, place)
    before = {path: path.read_bytes() for path in place.iterdir()}
    assert main(arguments(place, tmp_path / "w", "--bare")) == 2  # the folder holds other files
    assert "must be a new or empty folder" in the_line(capsys.readouterr().err)
    assert main(arguments(place, tmp_path / "w" / "out", "--bare")) == 0
    assert {path: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.parametrize("command", ["plot", "export", "report"])
def test_outputs_take_the_lock(finished, capsys, command):
    with mf.RunDir(finished).lock():
        assert main([command, str(finished)]) == 2
    assert "is in use by process" in the_line(capsys.readouterr().err)


def test_one_picture_does_not_test_markov_models(files, tmp_path, capsys, monkeypatch):
    assert main(arguments(files, tmp_path / "out", "--bare")) == 0
    monkeypatch.setattr(mf, "validate_model", lambda *a, **o: pytest.fail("the models were tested"))
    assert main(["plot", str(tmp_path / "out"), "--kind", "states"]) == 0


def test_the_tests_of_the_model_are_saved(finished, tmp_path, monkeypatch):
    result = mf.RunDir(finished).load()
    assert result.validation is not None
    assert result.validation.reason in (finished / "summary.txt").read_text()


def test_report(finished, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", str(finished), "-o", str(page), "--title", "Two trajectories"]) == 0
    assert "Two trajectories" in page.read_text(encoding="utf-8")
    assert str(page) in capsys.readouterr().out


def test_export_of_trajectories(finished, tmp_path, capsys):
    out = tmp_path / "out"
    assert (
        main(["export", str(finished), "--trajectories", "--format", "dcd", "-n", "7", "-o", str(out)]) == 0
    )
    assert f"{out / 'trajectories'}" in capsys.readouterr().out
    found = md.load(out / "trajectories" / "state_0.dcd", top=out / "trajectories" / "topology.pdb")
    assert found.n_frames == 7
    assert {path.name for path in out.iterdir()} == {"trajectories"}


def test_export_of_the_rmsd_to_a_reference(files, finished, tmp_path, capsys):
    command = ["export", str(finished), "--reference", str(files / "top.pdb"), "-o", str(tmp_path / "out")]
    assert main(command) == 0
    assert "RMSD to top.pdb in nm, 10 atoms" in capsys.readouterr().out
    assert (tmp_path / "out" / "reference.csv").read_text().startswith("state,rmsd_mean_nm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table", "-n", "5"], "-n is an option of --trajectories"),
        (["--trajectories", "-n", "5", "--every", "2"], "-n and --every cannot be combined"),
        (["--trajectories", "--format", "docx"], "'docx' is not one of 'xtc', 'dcd', 'pdb'"),
        (["--reference", "none.pdb"], "--reference must be an existing file; got 'none.pdb'"),
    ],
)
def test_export_options_that_do_not_fit(finished, tmp_path, capsys, arguments, message):
    assert main(["export", str(finished), *arguments, "-o", str(tmp_path / "out")]) == 2
    assert message in the_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_assign(files, finished, tmp_path, capsys):
    new = mf.datasets.alanine_dipeptide()[7::20]
    new.trajectory().save(tmp_path / "new.xtc")
    assert main(["assign", str(finished), str(tmp_path / "new.xtc"), "-o", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert re.search(
        r"Assignment\(1,500 frames to \d states, \d\.\d% of them far from every fitted frame", text
    )
    assert (tmp_path / "out" / "frames.csv").read_text().count("\n") == 1501
    found = mf.assign(mf.RunDir(finished).load(), mf.load(tmp_path / "new.xtc", top=files / "top.pdb"))
    assert found.summary() in text
    assert (tmp_path / "out" / "plots" / "fractions.png").stat().st_size > 5_000
    assert "New frames in known states" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    states = np.genfromtxt(tmp_path / "out/tables/states.csv", delimiter=",", names=True)
    np.testing.assert_allclose(states["fitted_fraction"], [row.fraction for row in found.fitted], atol=1e-5)
    # Discrete trajectories by the larger cores, as those of the run itself; the table by the walk's.
    assert_array_equal(np.load(tmp_path / "out/pyemma/cores/new.npy"), found.milestones.core_of)
    table = np.genfromtxt(tmp_path / "out/frames.csv", delimiter=",", names=True)
    assert_array_equal(table["core"], found.cores.core_of)
    assert 0 < np.count_nonzero(found.cores.core_of >= 0) < np.count_nonzero(found.milestones.core_of >= 0)


def test_assign_without_a_report_leaves_no_old_one(files, finished, tmp_path):
    command = ["assign", str(finished), str(files / "run0.xtc"), "--stride", "5", "-o", str(tmp_path / "out")]
    assert main(command) == 0
    assert (tmp_path / "out" / "report.html").is_file()
    assert main([*command, "--no-report"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("[!.]*")) == [
        *("frames.csv", "plots", "pyemma", "tables"),
    ]


def test_assign_refuses_other_atoms(files, finished, tmp_path, capsys):
    arguments = [str(files / "run0.xtc"), "--atoms", "name CA C N", "-o", str(tmp_path / "out")]
    assert main(["assign", str(finished), *arguments]) == 2
    message = "FILES must have the atoms of RUN; got 6 atoms instead of 10"
    assert message in the_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


# --- reading a run back


def test_loading_gives_what_was_computed(files, tmp_path):
    frames = mf.load(files / "run*.xtc", top=files / "top.pdb", atoms="name C or name CA or name N")
    settings = mf.Settings(prominence=1.0, bootstrap=2)
    result = mf.cluster(frames, settings, store=mf.RunDir(tmp_path / "out"))
    loaded = mf.RunDir(tmp_path / "out").load()
    assert_array_equal(loaded.memberships.values, result.memberships.values)
    assert_array_equal(loaded.data.xyz, frames.xyz)
    assert_allclose(loaded.data.times, frames.times, rtol=0, atol=0)
    assert loaded.data.selection == frames.selection
    assert loaded.summary() == result.summary()
    assert loaded.settings == settings


def test_files_that_moved_with_the_folder_are_found(files, tmp_path):
    project, copy = tmp_path / "project", tmp_path / "elsewhere" / "copy"
    project.mkdir()
    for name in ("run0.xtc", "run1.xtc", "top.pdb"):
        (project / name).write_bytes((files / name).read_bytes())
    assert main(arguments(project, project / "out", "--bare")) == 0
    copy.parent.mkdir()
    project.rename(copy)
    assert mf.RunDir(copy / "out").load().n_states > 1
    (copy / "run1.xtc").unlink()
    with pytest.raises(FileNotFoundError, match=r"run1.xtc"):
        mf.RunDir(copy / "out").load()


def test_loading_data_that_are_no_files(tmp_path):
    rng = np.random.default_rng(0)
    points = [rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 7]
    result = mf.cluster(points, store=mf.RunDir(tmp_path))
    with pytest.raises(ValueError, match=r"`data` must be given: .* does not come from files. Use RunDir"):
        mf.RunDir(tmp_path).load()
    assert_array_equal(mf.RunDir(tmp_path).load(points).memberships.values, result.memberships.values)
    with pytest.raises(FileExistsError, match="holds the results for other data"):
        mf.RunDir(tmp_path).load(points[::-1])


def test_run_json_is_plain(finished, files):
    run = json.loads((finished / "data" / "run.json").read_text(), parse_constant=pytest.fail)
    assert run["reading"]["paths"] == [[str(files / f"run{n}.xtc")] for n in (0, 1)]
    assert run["reading"]["top"] == str(files / "top.pdb")
    assert run["settings"]["beta"] == 2.0


# --- the lock


def test_a_killed_process_gives_its_lock_back(tmp_path):
    program = (
        "import sys, time, mdfuzzy as mf\n"
        "with mf.RunDir(sys.argv[1]).lock():\n"
        "    print('locked', flush=True)\n"
        "    time.sleep(60)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout.readline() == "locked\n"
        with (
            pytest.raises(BlockingIOError, match=rf"is in use by process {process.pid} on "),
            mf.RunDir(tmp_path / "out").lock(),
        ):
            pass
        process.kill()
    run = mf.RunDir(tmp_path / "out")
    with run.lock(), run.lock():  # its own lock does not stop it
        assert run.steps == ()


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def unsupported(*args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with mf.RunDir(tmp_path).lock():
        pass

"""The command line: what it prints, and how it fails."""

import logging
import os
import re
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdfuzzy as mf
from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.cli import main
from mdfuzzy.frames.regions import ramachandran_regions


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Return a function that makes reading raise the given error."""

    def fail_with(error: BaseException) -> None:
        def load(*args, **options):
            raise error

        monkeypatch.setattr(mf, "load", load)

    return fail_with


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a.xtc (30 frames), b.xtc (20 frames) and ala2.pdb, cut from the bundled trajectories."""
    folder = tmp_path_factory.mktemp("files")
    frames = mf.datasets.alanine_dipeptide()
    frames.trajectory(np.arange(30)).save(folder / "a.xtc")
    frames.trajectory(np.arange(20)).save(folder / "b.xtc")
    frames.trajectory([0]).save(folder / "ala2.pdb")
    return folder


def the_line(text: str) -> str:
    """Return the only line of `text`."""
    (line,) = text.splitlines()
    return line


# --- what it prints


def test_as_a_module():
    command = [sys.executable, "-m", "mdfuzzy", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"mdfuzzy {mf.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(arguments, capsys):
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Usage: mdfuzzy [OPTIONS]")
    commands = re.findall(r"^  (\w+)   *[A-Z]", out[out.index("Commands:") :], re.MULTILINE)
    assert commands == [
        *("demo", "run", "compare", "assign", "kinetics", "plot", "export", "seeds", "report", "info"),
    ]
    assert err == ""


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mdfuzzy {mf.__version__}\n"


@pytest.mark.parametrize("command", ["demo", "run", "assign", "kinetics", "plot", "export", "report", "info"])
def test_help_of_commands(command, capsys):
    assert main([command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Usage: mdfuzzy {command} [OPTIONS]")
    assert ("Examples:" in out) == (command != "demo")
    assert max(map(len, out.splitlines())) <= 90
    assert err == ""


def test_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    frames = mf.datasets.alanine_dipeptide()
    result = mf.RunDir("mdfuzzy-demo").load()
    assert out.startswith("Alanine dipeptide")
    assert frames.summary() in out
    names, shares = out[out.index("share of frames") :].splitlines()[:2]
    assert names.split() == ["share", "of", "frames", "alpha-R", "PII", "beta", "alpha-L", "epsilon"]
    residue, *values = shares.split()
    assert residue == "ALA2"
    # Every state of the molecule is in the bundled data.
    assert all(float(value.rstrip("%")) > 0 for value in values)
    assert sum(float(value.rstrip("%")) for value in values) == pytest.approx(100, abs=0.03)
    # and every one is found
    assert result.n_states == 5
    assert str(result.states) in out
    assert sum(state.frames for state in result.states) == 30_000
    assert "Chapman-Kolmogorov test: passed" in out
    # It says what to look at, and that is there.
    for name in ("report.html", "plots", "exports"):
        assert f"  {Path('mdfuzzy-demo', name)}" in out
        assert Path("mdfuzzy-demo", name).exists()
    assert "mdfuzzy run traj*.xtc --top molecule.pdb -o out" in out
    # Once more: the same, from what is there.
    monkeypatch.setattr("mdfuzzy.cli.run.write_outputs", lambda folder, result, **options: iter([]))
    assert main(["demo"]) == 0
    again, messages = capsys.readouterr()
    assert again.startswith(out[: out.index("Markov model: ")].rstrip())
    assert "searching" not in messages


def test_info(files, capsys):
    paths = [str(files / "a.xtc"), str(files / "b.xtc")]
    assert main(["info", *paths, "--top", str(files / "ala2.pdb")]) == 0
    out = capsys.readouterr().out
    assert "50 frames of 10 atoms in 2 trajectories" in out
    assert re.search(r"a\.xtc: 30 frames", out)
    assert re.search(r"b\.xtc: 20 frames", out)
    assert re.search(r"^ALA2( +\d+\.\d\d%){5}$", out, re.MULTILINE)


def test_info_with_other_atoms_and_stride(files, capsys):
    arguments = ["--top", str(files / "ala2.pdb"), "--atoms", "name CA C N", "--stride", "10"]
    assert main(["info", str(files / "a.xtc"), *arguments]) == 0
    assert "3 frames of 6 atoms in 1 trajectory" in capsys.readouterr().out


def test_info_takes_the_time_step(files, capsys):
    import mdtraj as md

    md.load(files / "a.xtc", top=files / "ala2.pdb").save(files / "a.dcd")
    arguments = ["info", str(files / "a.dcd"), "--top", str(files / "ala2.pdb")]
    assert main([*arguments, "--timestep", "0.5"]) == 0
    assert "every 0.5 ps" in capsys.readouterr().out


def test_info_of_a_span_of_time(files, capsys):
    arguments = ["info", str(files / "a.xtc"), "--top", str(files / "ala2.pdb")]
    assert main([*arguments, "--begin", "1", "--end", "3"]) == 0
    assert "11 frames of 10 atoms in 1 trajectory; 2 ps, a frame every 0.2 ps" in capsys.readouterr().out


def test_join(files, tmp_path, capsys):
    import mdtraj as md

    whole = md.load(files / "a.xtc", top=files / "ala2.pdb")
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        whole.xyz = whole.xyz + 0.01  # a copy would give a warning
        whole[:11].save(tmp_path / run / "part1.xtc")
        whole[10:].save(tmp_path / run / "part2.xtc")
    top = ["--top", str(files / "ala2.pdb"), "--join"]
    assert main(["info", *(str(tmp_path / "one" / f"part{n}.xtc") for n in (1, 2)), *top]) == 0
    assert "30 frames of 10 atoms in 1 trajectory;" in capsys.readouterr().out
    assert main(["info", *(str(tmp_path / run / "*.xtc") for run in ("one", "two")), *top]) == 0
    assert "60 frames of 10 atoms in 2 trajectories;" in capsys.readouterr().out


# --- how it fails


def test_unknown_command(capsys):
    assert main(["cluster"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert the_line(err) == "mdfuzzy: error: No such command 'cluster'. See `mdfuzzy --help`."


def test_unknown_option(capsys):
    assert main(["info", "--nonsense", "a.xtc"]) == 2
    assert re.match(
        r"mdfuzzy: error: .*--nonsense.* See `mdfuzzy info --help`\.$", the_line(capsys.readouterr().err)
    )


def test_no_files(capsys):
    assert main(["info"]) == 2
    assert "Missing argument 'FILES...'" in the_line(capsys.readouterr().err)


def test_missing_file(capsys, tmp_path):
    assert main(["info", str(tmp_path / "none.xtc"), "--top", str(tmp_path / "none.pdb")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    line = the_line(err)
    assert line.startswith("mdfuzzy: error: ")
    assert "none." in line


def test_bad_value(files, capsys):
    assert main(["info", str(files / "a.xtc"), "--top", str(files / "ala2.pdb"), "--stride", "0"]) == 2
    assert "--stride must be an int of at least 1; got 0." in the_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    "error",
    [InputValueError("wrong\n  value"), InputTypeError("wrong value"), FileNotFoundError("wrong value")],
)
def test_bad_input_is_one_line_and_status_2(error, failing, capsys):
    failing(error)
    assert main(["info", "a.xtc"]) == 2
    assert the_line(capsys.readouterr().err) == "mdfuzzy: error: wrong value"


@pytest.mark.parametrize("error", [RuntimeError("no\nluck"), OSError("no luck"), MemoryError("no luck")])
def test_other_failures_are_one_line_and_status_1(error, failing, capsys):
    failing(error)
    assert main(["info", "a.xtc"]) == 1
    name = type(error).__name__
    expected = f"mdfuzzy: error: {name}: no luck (mdfuzzy --debug ... shows where)"
    assert the_line(capsys.readouterr().err) == expected


def test_debug_shows_where(failing, capsys):
    failing(InputValueError("wrong value"))
    assert main(["--debug", "info", "a.xtc"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):")
    assert "in load" in err
    assert err.endswith("mdfuzzy: error: wrong value\n")


def test_interrupt(failing, capsys):
    failing(KeyboardInterrupt())
    assert main(["info", "a.xtc"]) == 130
    assert capsys.readouterr().err.strip() == "mdfuzzy: error: interrupted"


def test_warnings_and_messages_are_single_lines(monkeypatch, capsys):
    def load(*args, **options):
        warnings.warn("two\nlines", UserWarning, stacklevel=2)
        logging.getLogger("mdfuzzy").info("loading")
        return mf.datasets.alanine_dipeptide()

    monkeypatch.setattr(mf, "load", load)
    before = list(logging.getLogger("mdfuzzy").handlers), logging.getLogger("mdfuzzy").level
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["info", "a.xtc"]) == 0
    assert capsys.readouterr().err.splitlines()[:2] == ["mdfuzzy: warning: two lines", "mdfuzzy: loading"]
    assert (list(logging.getLogger("mdfuzzy").handlers), logging.getLogger("mdfuzzy").level) == before


# --- regions


@pytest.mark.parametrize(
    ("phi", "psi", "region"),
    [
        (-72, -13, "alpha-R"),
        (-76, 158, "PII"),
        (-150, 157, "beta"),
        (-150, -170, "beta"),
        (57, 16, "alpha-L"),
        (57, -171, "epsilon"),
    ],
)
def test_peaks_of_alanine_dipeptide(phi, psi, region):
    regions = ramachandran_regions(np.array([phi]), np.array([psi]))
    assert [name for name, inside in regions.items() if inside[0]] == [region]


@given(st.floats(-180, 180), st.floats(-180, 180))
def test_regions_cover_the_plot_once(phi, psi):
    regions = ramachandran_regions(np.array([phi]), np.array([psi]))
    assert sum(int(inside[0]) for inside in regions.values()) == 1


#: Interrupts the process while a class is made in an import, which turns the interrupt into a RuntimeError.
INTERRUPTED_IMPORT = """
import os, signal, sys
from mdfuzzy.cli import main

class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == "mdfuzzy.cli.commands":
            class Named:
                def __set_name__(self, owner, name):
                    os.kill(os.getpid(), signal.SIGINT)
            type("Owner", (), {"attribute": Named()})

sys.meta_path.insert(0, Impatient())
sys.exit(main(["--version"]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill that sends an interrupt to one process")
def test_ctrl_c_while_the_commands_are_imported():
    command = [sys.executable, "-c", INTERRUPTED_IMPORT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "mdfuzzy: error: interrupted\n")


def test_the_handler_of_interrupts_is_left_as_it_was():
    handler = signal.getsignal(signal.SIGINT)
    assert main(["--version"]) == 0
    assert signal.getsignal(signal.SIGINT) is handler
    with ThreadPoolExecutor(1) as pool:  # where handlers cannot be set
        assert pool.submit(main, ["--version"]).result() == 0


@pytest.mark.parametrize(
    ("error", "words", "status"),
    [
        (OSError(36, "File name too long", "xx"), "'xx': file name too long", 2),
        (OSError(28, "No space left on device"), "no space left on device: free some space and rerun the", 1),
        (OSError("360000 requested and 2016 written"), "the disk may be full (360000 requested and 2016", 1),
        (OSError(5, "Input/output error", "a.npy"), "'a.npy': input/output error", 1),
    ],
)
def test_errors_of_the_system_name_the_file_and_no_number(failing, capsys, error, words, status):
    failing(error)
    assert main(["run", "a.xtc", "-o", "nowhere"]) == status
    assert the_line(capsys.readouterr().err).startswith(f"mdfuzzy: error: {words}")


@pytest.mark.parametrize("error", [ValueError, TypeError, IndexError])
def test_faults_of_the_program_are_not_told_as_bad_input(error, monkeypatch, capsys):
    def fail(*arguments, **options):
        raise error("operands could not be broadcast")

    monkeypatch.setattr(mf, "load", fail)
    assert main(["info", "a.xtc"]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"{error.__name__}: operands could not be broadcast" in line
    assert "please report it" in line


# --- what users of other programs type


@pytest.mark.parametrize(
    ("option", "hint"), [("-f", "without an option"), ("-s", "--top"), ("-b", "--begin")]
)
def test_options_of_other_programs_get_a_hint(option, hint, capsys):
    assert main(["run", option, "a.xtc"]) == 2
    line = the_line(capsys.readouterr().err)
    assert "No such option" in line
    assert hint in line


def test_a_report_is_html(tmp_path, capsys):
    (tmp_path / "run").mkdir()
    assert main(["report", str(tmp_path / "run"), "-o", "page.pdf"]) == 2
    assert "--output must be an HTML file, such as report.html; got 'page.pdf'" in capsys.readouterr().err


@pytest.mark.parametrize("begin", ["1", "1ps", "1e-3 ns", "1000fs"])
def test_times_take_units(begin, files, capsys):
    arguments = ["info", str(files / "a.xtc"), "--top", str(files / "ala2.pdb")]
    assert main([*arguments, "--begin", begin, "--end", "3ps"]) == 0
    assert "11 frames of 10 atoms in 1 trajectory; 2 ps, a frame every 0.2 ps" in capsys.readouterr().out


@pytest.mark.parametrize("bad", ["soon", "3 parsec", "1.2.3ns"])
def test_what_is_no_time(bad, files, capsys):
    assert main(["info", str(files / "a.xtc"), "--begin", bad]) != 0
    rule = f"'--begin': '{bad}' is no time. Give a number of ps, or one with a unit (fs, ps, ns, us, ms)."
    assert rule in capsys.readouterr().err

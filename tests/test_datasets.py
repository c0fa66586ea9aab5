"""The bundled data: what it must hold, and that it is what was simulated."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mdfuzzy as mf

#: The peaks of the density, (phi, psi) in degrees.
PEAKS = np.array([(-72, -13), (57, 16), (57, -171), (-150, 157), (-76, 158)])
ORIGINAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "ala2"


@pytest.fixture(scope="module")
def frames():
    return mf.datasets.alanine_dipeptide()


def test_size_and_shape(frames):
    files = list(mf.datasets.folder().iterdir())
    assert sum(file.stat().st_size for file in files) <= 5e6
    assert frames.lengths.tolist() == [20_000, 10_000]
    assert frames.xyz.shape == (30_000, 10, 3)
    assert frames.residues == ("ALA2",)
    assert frames.selection == "heavy atoms of the solute (10 of 10 atoms)"


def test_pieces_are_contiguous_and_finer_than_a_picosecond(frames):
    for times in frames.split(frames.times):
        np.testing.assert_allclose(np.diff(times), 0.2, rtol=0, atol=2e-3)  # times are float32 in the file


def test_phi_above_zero_is_entered_and_left(frames):
    first, second = ((phi > 0) & (phi < 130) for phi in frames.split(frames.phi[:, 0]))
    assert np.flatnonzero(np.diff(first.astype(int))).tolist() == [12_439]
    assert first[0]
    assert np.flatnonzero(np.diff(second.astype(int))).tolist() == [3_057, 7_192]
    assert not second[0]


def test_all_five_states_have_frames(frames):
    angles = np.column_stack([frames.phi[:, 0], frames.psi[:, 0]])
    apart = np.linalg.norm((angles[:, None] - PEAKS + 180) % 360 - 180, axis=2)
    assert np.bincount(apart.argmin(axis=1)).min() > 600
    assert (apart < 25).sum(axis=0).min() > 300


def test_provenance_says_what_the_data_cannot_show(frames):
    text = mf.datasets.provenance()
    assert "exchange within about 2 ps" in text
    assert "What it cannot show" in text
    share = np.mean((frames.phi > 0) & (frames.phi < 130))
    assert f"{100 * share:.0f} % of the frames" in text


def test_frames_are_those_of_the_simulation(frames):
    if not ORIGINAL.is_dir():
        pytest.skip("the full simulation data is not here")
    starts = {0: 0, 3: 44_000}
    for (number, start), xyz, times in zip(
        starts.items(), frames.split(frames.xyz), frames.split(frames.times), strict=True
    ):
        packed = np.load(ORIGINAL / f"ala2_{number:02d}.npz")["picometres"][:, start : start + len(xyz)]
        original = packed.T.reshape(-1, 10, 3) / 1000
        original -= original.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(xyz, original, rtol=0, atol=1e-7)
        np.testing.assert_allclose(times, 0.2 * np.arange(start + 1, start + 1 + len(xyz)), rtol=0, atol=1e-3)


def test_stride():
    assert mf.datasets.alanine_dipeptide(stride=5).lengths.tolist() == [4_000, 2_000]


def test_simulation_is_seeded_and_resumable(tmp_path):
    pytest.importorskip("openmm", reason="OpenMM is not installed: pip install 'mdfuzzy[simulate]'")
    script = Path(__file__).resolve().parents[1] / "examples" / "simulate_alanine_dipeptide.py"
    environment = {**os.environ, "PYTHONPATH": str(Path(mf.__file__).parents[1])}

    def simulate(folder, *options):
        length = ["--trajectories", "1", "--nanoseconds", "0.006", "--piece", "0.002"]
        command = [sys.executable, script, folder, *length, *options]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)

    first, second = tmp_path / "first", tmp_path / "second"
    run = simulate(first)
    assert run.returncode == 0, run.stderr
    shutil.copytree(first, second)
    for name in ("0001.xtc", "0001.chk", "0002.xtc", "0002.chk"):
        (second / "run00" / name).unlink()
    assert simulate(second).returncode == 0
    for piece in range(3):
        name = f"run00/000{piece}.xtc"
        assert (first / name).read_bytes() == (second / name).read_bytes()
    frames = mf.load([sorted(first.glob("run00/*.xtc"))], top=first / "ala2.pdb")
    np.testing.assert_allclose(frames.times, 0.2 * np.arange(1, 31), rtol=1e-5)
    assert "was begun with" in simulate(second, "--seed", "1").stderr

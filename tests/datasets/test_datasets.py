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
ORIGINAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "ala2"


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
    script = Path(__file__).resolve().parents[2] / "examples" / "simulate_alanine_dipeptide.py"
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


# --- points in the plane


DRAWN = (mf.datasets.unbalanced_gaussians, mf.datasets.two_links, mf.datasets.spirals)
each_drawn = pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)


@each_drawn
def test_drawn_points_depend_on_the_seed_alone(draw):
    points, labels = draw(1_003, seed=3)
    assert points.shape == (1_003, 2)
    assert labels.shape == (1_003,)
    again, same = draw(1_003, seed=3)
    np.testing.assert_array_equal(points, again)
    np.testing.assert_array_equal(labels, same)
    assert not np.array_equal(points, draw(1_003, seed=4)[0])


@each_drawn
def test_too_few_points(draw):
    with pytest.raises(ValueError, match="`n` must be an int of at least 50; got 10"):
        draw(10)
    with pytest.raises(ValueError, match="`seed` must be an int of at least 0; got -1"):
        draw(100, seed=-1)


def test_gaussians_have_the_moments_they_are_said_to_have():
    points, labels = mf.datasets.unbalanced_gaussians(200_000, dimensions=3)
    for label, centre, spread, share in ((0, 0.0, 1.0, 0.85), (1, 4.0, 0.6, 0.15)):
        mine = points[labels == label]
        assert len(mine) == share * len(points)
        np.testing.assert_allclose(mine.mean(axis=0), [centre, 0, 0], rtol=0, atol=0.02)
        np.testing.assert_allclose(mine.std(axis=0), spread, rtol=0.02)
    with pytest.raises(ValueError, match="`dimensions` must be an int of at least 1; got 0"):
        mf.datasets.unbalanced_gaussians(100, dimensions=0)


def test_one_link_is_uniform_and_the_other_has_a_gap():
    points, parts = mf.datasets.two_links(400_000)
    places = np.linspace(-3, 3, 31)
    middles = (places[1:] + places[:-1]) / 2
    uniform = np.histogram(points[parts == 2, 0], places)[0]
    np.testing.assert_allclose(uniform / uniform.mean(), 1.0, rtol=0, atol=0.08)
    gap = np.histogram(points[parts == 3, 0], places, density=True)[0]
    profile = 1 - 0.95 * np.exp(-0.5 * (middles / 0.8) ** 2)
    expected = profile / profile.mean() / 6
    np.testing.assert_allclose(gap, expected, rtol=0, atol=0.01)
    for part, level in ((2, -1.0), (3, 1.0)):
        across = points[parts == part, 1] - level
        assert np.abs(across).max() <= 0.3
        np.testing.assert_allclose(across.std(), 0.6 / np.sqrt(12), rtol=0.01)


def test_spirals_are_each_other_turned_half_round_and_densest_at_the_head():
    points, labels = mf.datasets.spirals(200_000)
    radii = np.linalg.norm(points, axis=1)
    first, second = (np.quantile(radii[labels == arm], np.linspace(0.01, 0.99, 50)) for arm in (0, 1))
    np.testing.assert_allclose(first, second, rtol=0, atol=0.01)
    # One turn from 0.6 to 1.4; the density along it falls in a straight line to 0.3 of what it is first.
    counts = np.histogram(radii[labels < 2], np.linspace(0.7, 1.3, 7))[0]
    along = (np.linspace(0.75, 1.25, 6) - 0.6) / 0.8
    np.testing.assert_allclose(
        counts / counts[0], (1 - 0.7 * along) / (1 - 0.7 * along[0]), rtol=0, atol=0.02
    )
    np.testing.assert_allclose(points[labels == 0].mean(axis=0), -points[labels == 1].mean(axis=0), atol=0.02)


def test_with_small_cores_a_cold_walk_tells_the_spirals_apart_and_a_plain_one_does_not():
    points, labels = mf.datasets.spirals(6_000)
    arms = labels < 2
    found = {
        beta: mf.cluster(points, mf.Settings(beta=beta, core_rule="prominence", n_jobs=1)).labels[arms]
        for beta in (1.0, 0.3)
    }
    assert mf.purity(found[1.0], labels[arms]) < 0.85
    assert mf.purity(found[0.3], labels[arms]) > 0.97

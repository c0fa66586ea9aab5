import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.cli import main
from mdfuzzy.pipeline.seeds import local_visits


@pytest.fixture(scope="module")
def result():
    """Three heaps, of which the third is visited once only."""
    rng = np.random.default_rng(0)
    first = [6.0 * (np.arange(400) // 20 % 2)[:, None] + rng.normal(size=(400, 2)) for _ in range(3)]
    rare = rng.normal(size=(60, 2)) * 0.5 + [20, 0]
    return mf.cluster([*first, rare], mf.Settings(n_states=3))


def test_what_was_visited_once_comes_first(result):
    seeds = mf.suggest_seeds(result, n=12)
    assert len(set(seeds.frames.tolist())) == 12
    assert np.all(np.diff(seeds.scores) <= 1e-12)
    assert seeds.frames[0] >= 1200
    assert "few visits to state" in seeds.reasons[0] or "visit nearby" in seeds.reasons[0]
    assert len(set(seeds.states.tolist())) > 1  # each seed counts as a visit: the others get their turn


def test_visits_are_separate_in_time():
    points = np.tile(np.repeat([0.0, 9.0], 10), 5)[:, None] + np.linspace(0, 0.1, 100)[:, None]
    neighbors = mf.euclidean_neighbors(points, n_neighbors=60)
    np.testing.assert_array_equal(local_visits(neighbors, np.array([100]), 1.0, 5), 5)
    np.testing.assert_array_equal(local_visits(neighbors, np.array([100]), 1.0, 15), 1)
    np.testing.assert_array_equal(local_visits(neighbors, np.repeat(20, 5), 1.0, 15), 5)


def test_bad_input(result):
    with pytest.raises(mf.InputError, match=r"`n` must be an int in \[1, 1260\]; got 0"):
        mf.suggest_seeds(result, 0)
    alone = mf.cluster(result.neighbors, mf.Settings(n_states=3))
    with pytest.raises(mf.InputError, match="`result` must be of trajectories; got one of neighbours alone"):
        mf.suggest_seeds(alone)


def test_bad_structures(result, tmp_path):
    seeds = mf.suggest_seeds(result, 2)
    with pytest.raises(mf.InputError, match="`result` must be of frames with structures"):
        mf.exports.write_seeds(tmp_path, result, seeds)
    with pytest.raises(mf.InputError, match="`format` must be one of 'gro', 'pdb'; got 'xyz'"):
        mf.exports.write_seeds(tmp_path, result, seeds, format="xyz")


def test_command(tmp_path, capsys):
    md = pytest.importorskip("mdtraj")
    frames = mf.datasets.alanine_dipeptide(stride=40)
    path = tmp_path / "run.xtc"
    frames.trajectory().save_xtc(path)
    loaded = mf.load(path, top=mf.datasets.folder() / "ala2.pdb")
    mf.cluster(loaded, mf.Settings(prominence=1.0), store=mf.RunDir(tmp_path / "out"))
    assert (
        main(["seeds", str(tmp_path / "out"), "-n", "3", "--format", "pdb", "-o", str(tmp_path / "s")]) == 0
    )
    printed = capsys.readouterr().out
    assert "3 structures and seeds.csv" in printed
    assert "because the PDB format has none" in printed
    rows = (tmp_path / "s" / "seeds.csv").read_text().splitlines()
    assert len(rows) == 4
    number = int(rows[1].split(",")[1])
    seed = md.load(str(tmp_path / "s" / "seed-01.pdb"))
    assert md.rmsd(seed, loaded.trajectory([number], atoms="all"))[0] < 2e-3

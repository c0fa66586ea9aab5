"""Features: what the columns are called, how they are compared, and which frames they describe."""

import numpy as np
import pytest

import mdfuzzy as mf
from tests.helpers.molecules import peptide_topology, peptide_xyz


def test_each_periodic_column_has_its_own_period():
    values = np.array([[179.0, 89.0, 0.0], [-179.0, -89.0, 0.0]])
    features = mf.Features(values, periodic=[0, 1], period=[360, 180])
    assert features.periods == (360.0, 180.0, None)
    a, b = features.embedded
    # Two degrees apart in both columns, across the end of the period: nearly the length of two sides.
    assert np.linalg.norm(a - b) == pytest.approx(np.sqrt(8), rel=1e-3)


def test_weights_of_columns_multiply_the_distance():
    values = np.array([[0.0, 10.0], [3.0, 14.0]])
    features = mf.Features(values, column_weights=[2.0, 1.0])
    a, b = features.embedded
    assert np.linalg.norm(a - b) == pytest.approx(np.hypot(6, 4))
    angles = mf.Features(values, periodic=[1], column_weights=[1.0, 0.5])
    assert np.hypot(*angles.embedded[0, 1:]) == pytest.approx(0.5 * 360 / (2 * np.pi))


def test_names_units_and_times():
    features = mf.Features(
        [np.zeros((2, 2)), np.ones((3, 2))],
        names=["N-O", "phi"],
        units=["nm", "degrees"],
        periodic=[1],
        times=[[0, 2], [0, 2, 4]],
    )
    assert features.labels == ("N-O (nm)", "phi (degrees)")
    assert features.timestep == 2
    assert features.title == "N-O, phi"
    assert repr(features) == "Features(5 vectors of 2 in 2 trajectories: N-O, phi; 6 ps, a frame every 2 ps)"
    assert mf.Features(np.zeros((2, 2)), units="nm").labels == ("feature 0 (nm)", "feature 1 (nm)")


def test_single_precision_stays():
    single = mf.Features(np.zeros((2, 2), np.float32))
    assert single.values.dtype == np.float32
    assert single.embedded.dtype == np.float64
    assert mf.Features([np.zeros((2, 2), np.float32), np.zeros((2, 2))]).values.dtype == np.float64


def frames_and_features():
    import mdtraj as md

    trajectory = md.Trajectory(peptide_xyz(12), peptide_topology())
    frames = mf.load([trajectory[:5], trajectory[5:]], timestep=2.0)
    return frames, mf.Features(frames.split(frames.phi), periodic=[0], frames=frames)


def test_features_of_frames_know_their_structures():
    frames, features = frames_and_features()
    assert features.has_structures
    np.testing.assert_array_equal(features.times, frames.times)
    np.testing.assert_allclose(features.trajectory([7, 2]).xyz, frames.trajectory([7, 2]).xyz, atol=1e-6)
    every = features.trajectory([7, 2], atoms="all")
    np.testing.assert_array_equal(every.xyz, frames.trajectory([7, 2], atoms="all").xyz)


def test_some_of_the_frames():
    frames, features = frames_and_features()
    some = features[[1, 6, 8]]
    assert some.lengths.tolist() == [1, 2]
    np.testing.assert_array_equal(some.times, frames.times[[1, 6, 8]])
    np.testing.assert_array_equal(some.trajectory().xyz, features.trajectory([1, 6, 8]).xyz)
    assert not mf.Features(np.zeros((3, 1)))[1:].has_structures


def test_data_with_other_columns_is_refused():
    named = mf.Features(np.zeros((3, 2)), names=["a", "b"])
    assert named.like(np.ones((4, 2))).names == ("a", "b")
    with pytest.raises(ValueError, match=r"`data` must have the 2 features of `result`; got 3"):
        named.like(np.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"got 'c' instead of 'b' as column 1"):
        named.like(mf.Features(np.zeros((3, 2)), names=["a", "c"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": [360, 180], "periodic": [0]}, r"`period` must be a number, or one for each of the 1"),
        ({"names": ["a"]}, r"`names` must be 2 texts, one per column; got a"),
        ({"names": ["a", "a"]}, r"`names` must differ; got 'a' twice"),
        ({"units": ["nm", 3]}, r"`units` must be 2 texts"),
        ({"column_weights": [1.0, 0.0]}, r"`column_weights` must be 2 finite numbers > 0"),
        ({"column_weights": [1.0]}, r"`column_weights` must be 2 finite numbers > 0"),
        ({"times": [0.0, 1.0]}, r"`times` must be one number per frame, 3 in all"),
        ({"times": [0.0, np.nan, 1.0]}, r"`times` must be finite"),
        ({"frames": mf.Features(np.zeros((2, 1)))}, r"`frames` must be of the same trajectories, of 3 fr"),
        ({"frames": "traj.xtc"}, r"`frames` must be `Trajectories`; got str"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mf.Features(np.zeros((3, 2)), **options)

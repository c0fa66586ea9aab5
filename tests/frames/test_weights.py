"""Weights of frames: arrays, logarithms, COLVAR files; bad input is refused with the reason."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mdfuzzy as mf
from mdfuzzy.frames.weights import frame_weights, split_column

KT = 0.00831446261815324 * 300


@pytest.fixture
def features():
    return mf.Features([np.zeros((3, 2)), np.ones((2, 2))])


def colvar(folder, names, *columns, start="COLVAR"):
    path = folder / start
    rows = "\n".join(" ".join(f"{value:.9f}" for value in row) for row in np.column_stack(columns))
    path.write_text(f"#! FIELDS {names}\n{rows}\n")
    return str(path)


def test_weights_are_scaled_to_a_largest_of_one(features):
    joined = features.weighted([1, 2, 4, 0, 1])
    assert joined.weights.tolist() == [0.25, 0.5, 1, 0, 0.25]
    parted = features.weighted([[1, 2, 4], [0, 1]])
    assert parted.weights.tolist() == joined.weights.tolist()
    assert joined.n_effective == pytest.approx(4 / 1.375)
    assert "weighted, 3 effective frames" in repr(joined)
    assert features.weights is None
    assert features.n_effective == 5
    again = joined.weighted(joined.weights)
    assert again.weights.tobytes() == joined.weights.tobytes()
    assert joined.weighted().weights is None
    with pytest.raises(ValueError, match="read-only"):
        joined.weights[0] = 2


def test_log_weights_of_any_size_are_weights(features):
    log_weights = np.array([-1000.0, -1001.0, -1002.0, -np.inf, -1000.0])
    found = features.weighted(log_weights=log_weights).weights
    np.testing.assert_allclose(found, [1, np.exp(-1), np.exp(-2), 0, 1])
    parted = mf.Features([np.zeros((3, 2)), np.ones((2, 2))], log_weights=[log_weights[:3], log_weights[3:]])
    assert parted.weights.tobytes() == found.tobytes()


def test_columns_of_mbar_are_weights(features):
    matrix = np.array([[0.1], [0.2], [0.2], [0.4], [0.1]])
    np.testing.assert_allclose(features.weighted(matrix).weights, matrix[:, 0] / 0.4)


def test_weights_follow_the_frames(features):
    frames = mf.load(np.random.default_rng(0).random((6, 4, 3)), weights=np.arange(1.0, 7.0))
    assert frames[2:5].weights.tolist() == pytest.approx([3 / 5, 4 / 5, 1])
    assert frames.subset(np.array([5, 0])).weights.tolist() == pytest.approx([1, 1 / 6])
    assert features.weighted(np.arange(1.0, 6.0)).subset(np.array([0, 3])).weights.tolist() == pytest.approx(
        [0.25, 1]
    )
    copied = pickle.loads(pickle.dumps(frames))
    assert copied.weights.tolist() == frames.weights.tolist()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, -1, 1, 1], "must be at least 0; got -1 for frame 2 .* as `log_weights`"),
        ([1, 2, np.nan, 1, 1], "must be finite; got nan for frame 2"),
        ([1, 2, np.inf, 1, 1], "must be finite; got inf for frame 2"),
        (np.zeros(5), "must not all be 0"),
        (np.ones(4), r"one value per frame, shape \(5,\), .*; got shape \(4,\)"),
        (np.ones((5, 2)), r"one value per frame, shape \(5,\), .*; got shape \(5, 2\)"),
        ([np.ones(3), np.ones(3)], r"got shape \(3,\) for trajectory 1, which has 2 frames"),
        ([np.ones(3), np.ones(1), np.ones(1)], "one for each of the 2 trajectories; got 3"),
    ],
)
def test_bad_weights_are_refused(features, weights, message):
    with pytest.raises(ValueError, match=message):
        features.weighted(weights)


def test_bad_arguments_are_refused(features):
    with pytest.raises(ValueError, match="must not all be -inf"):
        features.weighted(log_weights=np.full(5, -np.inf))
    with pytest.raises(ValueError, match="`log_weights` must be finite; got nan"):
        features.weighted(log_weights=[0, 0, np.nan, 0, 0])
    with pytest.raises(TypeError, match="must be None if `weights` are given"):
        features.weighted(np.ones(5), log_weights=np.ones(5))
    with pytest.raises(TypeError, match="`weights` must be an array of real numbers"):
        features.weighted({"a": 1})
    with pytest.raises(ValueError, match="`temperature` must be left out without `weights`"):
        features.weighted(temperature=300)
    with pytest.raises(ValueError, match="`temperature` must be a finite number > 0"):
        features.weighted(np.ones(5), temperature=-1)


def test_a_frame_with_more_than_half_of_the_weight_is_warned_of():
    weights = np.ones(11)
    weights[3] = 30
    with pytest.warns(UserWarning, match="Frame 3 holds 75% of the weight of all 11 frames"):
        mf.Features(np.zeros((11, 2)), weights=weights)


def test_a_file_gives_weights_by_the_names_of_its_columns(tmp_path):
    times, logs = np.arange(6.0), np.linspace(0, 2, 6)
    lengths = np.array([3])
    options = {"lengths": lengths, "times": np.array([1.0, 3.0, 5.0])}
    expected = np.exp(logs[[1, 3, 5]] - logs[5])
    path = colvar(tmp_path, "time phi m.bias m.rbias logweight", times, times, 9 * times, logs * KT, logs)
    np.testing.assert_allclose(frame_weights(path, None, **options), expected)
    found = frame_weights(f"{path}:m.rbias", None, temperature=300, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(frame_weights(None, f"{path}:logweight", **options), expected)
    np.testing.assert_allclose(frame_weights(f"{path}:phi", None, **options), [0.2, 0.6, 1])
    with pytest.raises(ValueError, match=r"`temperature` must be given, because the column 'm.rbias'"):
        frame_weights(f"{path}:m.rbias", None, **options)
    with pytest.raises(ValueError, match=r"got 'psi'"):
        frame_weights(f"{path}:psi", None, **options)
    with pytest.raises(ValueError, match="`log_weights` must name the column"):
        frame_weights(None, path, **options)
    unnamed = colvar(tmp_path, "time phi a.bias b.bias", times, times, logs, logs)
    with pytest.raises(ValueError, match=r"must name the column of .*; its columns are phi, a.bias, b.bias"):
        frame_weights(unnamed, None, **options)
    alone = colvar(tmp_path, "time lw", times, logs)
    np.testing.assert_allclose(frame_weights(None, alone, **options), expected)


def test_each_trajectory_has_a_file_of_its_own(tmp_path):
    one = colvar(tmp_path, "time logweight", [0, 1], [0, 1], start="one")
    two = colvar(tmp_path, "time logweight", [0, 1, 2], [2, 1, 0], start="two")
    lengths, times = np.array([2, 3]), np.array([0.0, 1, 0, 1, 2])
    found = frame_weights([one, two], None, lengths=lengths, times=times)
    np.testing.assert_allclose(found, np.exp([-2, -1, 0, -1, -2]))
    mixed = frame_weights([one, [2.0, 1.0, 1.0]], None, lengths=lengths, times=times)
    np.testing.assert_allclose(mixed, np.array([1, np.e, 2, 1, 1]) / np.e)
    with pytest.raises(ValueError, match="one file for several trajectories"):
        frame_weights(one, None, lengths=lengths, times=times)
    plain = tmp_path / "plain.txt"
    plain.write_text("1\n2\n4\n2\n1\n")
    assert frame_weights(plain, None, lengths=lengths, times=times).tolist() == [0.25, 0.5, 1, 0.5, 0.25]


def test_arrays_of_numpy_are_read(tmp_path):
    path = tmp_path / "mbar.npy"
    np.save(path, [[1.0, 4.0], [2.0, 2.0]])
    lengths = np.array([2])
    assert frame_weights(f"{path}:2", None, lengths=lengths).tolist() == [1, 0.5]
    with pytest.raises(ValueError, match=r"number from 1 to the number of columns .*; got '3'"):
        frame_weights(f"{path}:3", None, lengths=lengths)
    with pytest.raises(ValueError, match=r"one value per frame, shape \(2,\); got shape \(2, 2\)"):
        frame_weights(path, None, lengths=lengths)
    path.write_text("no array")
    with pytest.raises(ValueError, match="must be an array that NumPy saved"):
        frame_weights(path, None, lengths=lengths)


def test_the_bias_of_the_moment_is_no_weight(tmp_path):
    rng = np.random.default_rng(0)
    times = np.arange(400.0)
    steady = rng.normal(size=400)
    growing = 4 * np.log1p(times / 40) + steady
    options = {"lengths": np.array([400]), "times": times, "temperature": 300}
    for bias, message in ((growing, r"must not grow with time.* whose mean grows by \d\.\d kT.*rbias"),):
        path = colvar(tmp_path, "time metad.bias", times, KT * bias)
        with pytest.raises(ValueError, match=message):
            frame_weights(path, None, **options)
    with pytest.warns(UserWarning, match=r"falls by \d\.\d kT in the course of the run"):
        frame_weights(colvar(tmp_path, "time metad.rbias", times, -0.5 * KT * growing), None, **options)
    found = frame_weights(colvar(tmp_path, "time metad.bias", times, KT * steady), None, **options)
    np.testing.assert_allclose(found, np.exp(steady - steady.max()), rtol=1e-6)


def test_a_file_whose_name_has_a_colon_is_found(tmp_path):
    path = tmp_path / "run:1"
    path.write_text("1\n")
    assert split_column(str(path)) == (str(path), None)
    assert split_column(f"{path}:w") == (str(path), "w")
    assert split_column("C:\\run\\COLVAR") == ("C:\\run\\COLVAR", None)


@pytest.mark.parametrize("kind", ["features", "frames"])
def test_some_frames_without_weight_are_no_error(kind):
    frames = mf.datasets.alanine_dipeptide(stride=100)
    weights = np.linspace(0.0, 1.0, len(frames)).clip(0.2) - 0.2
    data = frames if kind == "frames" else mf.Features(np.column_stack([frames.phi, frames.psi]))
    data = data.weighted(weights)
    assert data.subset(np.arange(3)).weights is None
    assert_allclose(data.subset(np.arange(len(data) - 2, len(data))).weights, weights[-2:] / weights[-1])
    assert mf.cluster(data, mf.Settings(n_states=2)).n_states == 2
    with pytest.raises(ValueError, match=r"`weights` must not all be 0 in the sample of 3 of the 300 frames"):
        data.sample(np.arange(3))

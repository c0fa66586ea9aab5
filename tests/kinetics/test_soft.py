"""The soft model of memberships, and VAMP-2 scores."""

import numpy as np
import pytest
from helpers.chains import TWO_STATES, as_data, as_memberships, double_well, relaxation, sample_chain
from helpers.molecules import peptide_trajectory
from numpy.testing import assert_allclose

import mdfuzzy as mf
from mdfuzzy import kinetics
from mdfuzzy.kinetics.soft import _propagator
from mdfuzzy.kinetics.vamp import time_lagged_moments, vamp2


def committor(matrix: np.ndarray) -> np.ndarray:
    """Return the probability to reach the right well of the double well before the left."""
    inner, right = np.arange(9, 31), np.arange(31, 40)
    q = np.zeros(40)
    q[right] = 1
    to_right = matrix[np.ix_(inner, right)].sum(axis=1)
    q[inner] = np.linalg.solve(np.eye(len(inner)) - matrix[np.ix_(inner, inner)], to_right)
    return q


@pytest.fixture(scope="module")
def well():
    """Trajectories in the double well and the memberships of their frames."""
    matrix, _ = double_well()
    q = committor(matrix)
    dtrajs = sample_chain(matrix, [20_000] * 8)
    return dtrajs, [np.column_stack([1 - q[part], q[part]]) for part in dtrajs], relaxation(matrix)


def test_the_double_well_with_endless_data():
    matrix, weights = double_well()
    q = committor(matrix)
    values = np.column_stack([1 - q, q])
    exact, lag = relaxation(matrix), 20
    c00 = values.T @ (weights[:, None] * values)
    c0t = values.T @ (weights[:, None] * (np.linalg.matrix_power(matrix, lag) @ values))
    soft = -lag / np.log(np.linalg.eigvals(_propagator(np.array([c00, c0t, c00]))).min())
    assert 0.97 * exact < soft < exact  # never slower than the slowest process
    rows = -lag / np.log(np.linalg.eigvals(c0t / c0t.sum(axis=1, keepdims=True)).min())
    assert rows < 0.6 * exact  # why soft counts are not normalised by rows


def test_the_double_well_with_data(well):
    dtrajs, series, exact = well
    model = kinetics.soft_model(as_data(dtrajs), as_memberships(np.concatenate(series)), lag=20)
    assert model.lower[0] < exact < model.upper[0]
    assert_allclose(model.timescales, exact, rtol=0.2)
    assert_allclose(model.matrix.sum(axis=1), 1, atol=1e-9)
    assert repr(model).startswith("SoftModel(2 states, lag 20 frames, slowest timescale")


def test_hard_memberships_give_the_chain():
    dtrajs = sample_chain(TWO_STATES, [20_000] * 2)
    values = np.eye(2)[np.concatenate(dtrajs)]
    model = kinetics.soft_model(as_data(dtrajs), as_memberships(values), lag=1)
    counts = kinetics.markov_model(dtrajs, lag=1).count_matrix
    assert_allclose(model.matrix, counts / counts.sum(axis=1, keepdims=True), atol=1e-12)
    assert_allclose(model.timescales, -1 / np.log(0.93), rtol=0.05)


def test_blurring_the_memberships_changes_no_timescale():
    # K of mu B is B^-1 K B, whatever the invertible B: this is what row-normalised counts get wrong.
    dtrajs = sample_chain(np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]), [2000] * 5)
    blur = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    values = np.eye(3)[np.concatenate(dtrajs)]
    sharp, soft = (
        kinetics.soft_model(as_data(dtrajs), as_memberships(each), lag=2) for each in (values, values @ blur)
    )
    assert_allclose(soft.timescales, sharp.timescales, rtol=1e-9)
    assert_allclose(soft.matrix, np.linalg.solve(blur, sharp.matrix @ blur), atol=1e-10)
    assert soft.vamp2 == pytest.approx(sharp.vamp2, rel=1e-9)
    assert_allclose(soft.upper, sharp.upper, rtol=1e-8)


def test_pairs_do_not_cross_boundaries():
    dtrajs = sample_chain(TWO_STATES, [300, 200, 2])
    values = np.eye(2)[np.concatenate(dtrajs)]
    one = kinetics.soft_model(as_data(dtrajs), as_memberships(values), lag=2)
    same = kinetics.soft_model(as_data(dtrajs[:2]), as_memberships(values[:-2]), lag=2)
    assert_allclose(one.matrix, same.matrix, atol=1e-12)


def test_times_in_ps():
    frames = mf.load([peptide_trajectory(400)])  # a frame every 2.5 ps
    values = np.eye(2)[sample_chain(TWO_STATES, [400])[0]]
    model = kinetics.soft_model(frames, as_memberships(values), lag=1)
    in_frames = kinetics.soft_model(as_data([values[:, 0]]), as_memberships(values), lag=1)
    assert (model.unit, in_frames.unit) == ("ps", "frames")
    assert_allclose(model.timescales, 2.5 * in_frames.timescales, rtol=1e-12)
    assert np.all((model.lower < model.timescales) & (model.timescales < model.upper))


def test_resamples_without_a_state_leave_the_end_open():
    visit = np.repeat([0, 2, 0, 1], 100)
    dtrajs = [*sample_chain(TWO_STATES, [1000] * 3), visit]
    values = np.eye(3)[np.concatenate(dtrajs)]
    model = kinetics.soft_model(as_data(dtrajs), as_memberships(values), lag=1)
    assert np.isfinite(model.timescales).all()
    assert np.isnan(model.upper).all()


# --- VAMP-2


def test_deeptime_scores_the_same():
    from deeptime.decomposition import VAMP, vamp_score

    rng = np.random.default_rng(0)
    series = [
        np.cumsum(rng.normal(size=(500, 4)), axis=0) * 0.05 + rng.normal(size=(500, 4)) for _ in range(4)
    ]
    train, test = (
        time_lagged_moments(series[:2], 3).sum(axis=0),
        time_lagged_moments(series[2:], 3).sum(axis=0),
    )
    # deeptime's own covariances without removal of the mean are the same moments, divided by the pairs.
    from deeptime.covariance import Covariance

    def estimate(parts):
        estimator = Covariance(
            3, compute_c0t=True, compute_ctt=True, remove_data_mean=False, bessels_correction=False
        )
        for part in parts:
            estimator.partial_fit((part[:-3], part[3:]))
        return estimator.fetch_model()

    model = VAMP(epsilon=1e-12).fit(estimate(series[:2])).fetch_model()
    for dim in (1, 2, 4):
        expected = vamp_score(model, 2, covariances_test=estimate(series[2:]), dim=dim)
        assert vamp2(train, test, dim) == pytest.approx(expected, rel=1e-6)


def test_the_score_of_a_chain_in_closed_form():
    # Indicators of a reversible chain at lag t: the sum of the squares of the eigenvalues of T^t.
    dtrajs = sample_chain(TWO_STATES, [10_000] * 8)
    score = kinetics.vamp2_score(dtrajs, lag=4)
    assert score.mean == pytest.approx(1 + 0.93**8, abs=0.03)
    assert score.dim == 1
    assert score.std < 0.1
    assert "1 process at lag 4" in repr(score)


def test_memberships_hold_more_of_the_slow_process_than_a_hard_cut(well):
    _, series, _ = well
    soft = kinetics.vamp2_score(series, lag=20, dim=1)
    hard = kinetics.vamp2_score([np.rint(part[:, 1]).astype(int) for part in series], lag=20, dim=1)
    assert np.all(soft.scores > hard.scores)  # the same splits
    assert 1 < hard.mean < soft.mean < 2


def test_noise_does_not_raise_the_score():
    rng = np.random.default_rng(0)
    dtrajs = sample_chain(TWO_STATES, [400] * 6)
    plain = [np.eye(2)[part] for part in dtrajs]
    noisy = [np.column_stack([part, rng.normal(size=(400, 40))]) for part in plain]
    fitted = vamp2(*[time_lagged_moments(noisy, 5).sum(axis=0)] * 2, 2)
    assert fitted > kinetics.vamp2_score(plain, lag=5, dim=1).mean
    assert kinetics.vamp2_score(noisy, lag=5, dim=1).mean < kinetics.vamp2_score(plain, lag=5, dim=1).mean


def test_the_score_knows_no_units():
    dtrajs = sample_chain(TWO_STATES, [500] * 4)
    rng = np.random.default_rng(0)
    series = [np.column_stack([part, rng.normal(size=500)]) for part in dtrajs]
    scaled = [part * [1e-6, 1e6] + [1e-6, 3.0] for part in series]
    one, other = kinetics.vamp2_score(series, lag=2), kinetics.vamp2_score(scaled, lag=2)
    assert_allclose(other.scores, one.scores, rtol=1e-5)


# --- bad input


def test_a_lag_longer_than_every_trajectory():
    values = np.full((10, 2), 0.5)
    with pytest.raises(ValueError, match=r"`lag` must be an int in \[1, 9\]; got 10. The longest of 1"):
        kinetics.soft_model(as_data([values[:, 0]]), as_memberships(values), lag=10)
    with pytest.raises(ValueError, match=r"`lag` must be an int in \[1, 9\]; got 12. The longest of 2"):
        kinetics.vamp2_score([values, values], lag=12)


def test_one_state_and_dependent_states():
    with pytest.raises(ValueError, match="`memberships` must be of at least 2 states; got 1"):
        kinetics.soft_model(as_data([np.zeros(9)]), as_memberships(np.ones((9, 1))), lag=1)
    with pytest.raises(ValueError, match="linearly independent over the frames that have another 1 frames"):
        kinetics.soft_model(as_data([np.zeros(9)]), as_memberships(np.full((9, 2), 0.5)), lag=1)


@pytest.mark.parametrize(
    ("series", "error", "message"),
    [
        (np.zeros((5, 2)), TypeError, "`series` must be a list with one array per trajectory, at least two"),
        (
            [np.zeros((5, 2))],
            TypeError,
            "`series` must be a list with one array per trajectory, at least two",
        ),
        ([np.zeros((5, 2)), np.zeros((5, 3))], ValueError, "with the same number of columns"),
        ([np.zeros(5), np.zeros(5)], ValueError, r"none empty; got shapes \[\(5,\), \(5,\)\]"),
        ([np.zeros((5, 2)), np.full((5, 2), np.nan)], ValueError, "`series` must be finite; got nan"),
    ],
)
def test_wrong_series(series, error, message):
    with pytest.raises(error, match=message):
        kinetics.vamp2_score(series, lag=1)

"""Which lag is chosen for a Markov model, and when there is none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.kinetics import ImpliedTimescales
from mdfuzzy.validation import level_from

NAN = np.nan


def scales(values: list[float], lower: list[float] | None = None, upper: list[float] | None = None):
    unknown = [NAN] * len(values)
    column = [np.array(each)[:, None] for each in (values, lower or unknown, upper or unknown)]
    lags = 2 ** np.arange(len(values))
    return ImpliedTimescales(lags, lags, *column, "frames")


@pytest.mark.parametrize(
    ("values", "lower", "upper", "place"),
    [
        ([10, 10, 10], None, None, 0),
        ([5, 8, 10, 10.5], None, None, 2),  # within a tenth from the third on
        ([5, 8, 10, 12], None, None, 3),  # never level
        ([NAN, 10, 10], None, None, 1),
        ([10, 10, NAN], None, None, 0),
        ([NAN, NAN], None, None, None),
        ([5, 8, 10, 12], [4, 6, 6, 6], [7, 13, 14, 15], 1),  # inside its interval from the second on
        ([5, 8, 10, 12], [4, 9, 6, 6], [7, 13, 14, 15], 2),
        ([5, 8, 10, 12], [4, NAN, 6, 6], [7, NAN, 14, 15], 2),  # an unknown interval counts as a tenth
    ],
)
def test_the_first_lag_from_which_on_the_timescale_is_level(values, lower, upper, place):
    assert level_from(scales(values, lower, upper)) == place


def hopping(rate: float, n: int = 4000, trajectories: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    hops = [np.cumsum(rng.random(n) < rate) % 2 for _ in range(trajectories)]
    return [8 * hop[:, None] + rng.normal(size=(n, 2)) for hop in hops]


def test_a_markov_chain_is_one_at_the_shortest_lag():
    result = mf.cluster(hopping(0.01))
    validation = mf.validate_model(result, n_resamples=20)
    assert validation.lag == 1
    exact = -1 / np.log(1 - 2 * 0.01)
    assert validation.timescales.values[0, 0] == pytest.approx(exact, rel=0.25)
    assert_array_equal(validation.test.states, [0, 1])
    assert len(validation.test) == 5
    assert validation.reason.startswith("The slowest timescale, ")
    assert validation.reason.endswith(" frames at a lag of 1 frames, is level from there on.")


def test_no_passages_no_model():
    rng = np.random.default_rng(0)
    result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 7])
    validation = mf.validate_model(result)
    assert (validation.timescales, validation.lag, validation.test) == (None, None, None)
    assert validation.reason.startswith("There is no Markov model: ")


def test_no_trajectories_no_model():
    from mdfuzzy.pipeline import cluster_neighbors

    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 7])
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    validation = mf.validate_model(cluster_neighbors(neighbors, mf.Settings()))
    assert validation.reason == "There are no trajectories: the clustering began with neighbours."

"""Which lag is chosen for a Markov model, and when there is none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mdfuzzy as mf
from mdfuzzy.kinetics import ImpliedTimescales
from mdfuzzy.kinetics.validation import choose_lag

NAN = np.nan


def scales(values: list[float], upper: list[float] | None = None) -> ImpliedTimescales:
    unknown = [NAN] * len(values)
    column = {"values": values, "lower": unknown, "upper": upper or unknown}
    column = {name: np.array(each)[:, None] for name, each in column.items()}
    lags = 2 ** np.arange(len(values))
    return ImpliedTimescales(lags=lags, lag_times=lags, **column, unit="frames")


@pytest.mark.parametrize(
    ("values", "upper", "place", "level"),
    [
        ([10, 10, 10], None, 0, True),
        ([5, 8, 10, 10.5], None, 2, True),  # rises by less than a tenth from the third on
        ([10, 10, 6, 3], None, 0, True),  # a fall does not count
        ([5, 8, 10, 12], None, 3, False),  # rises to the end
        ([NAN, 10, 10], None, 1, True),
        ([10, 10, NAN], None, 0, True),
        ([NAN, 10, NAN], None, 1, True),
        ([NAN, NAN], None, None, False),
        ([5, 8, 10, 12], [7, 13, 14, 15], 1, True),  # inside its interval from the second on
        ([5, 8, 10, 12], [7, NAN, 14, 15], 2, True),  # an unknown interval counts as a tenth
        ([100, 100, 100, 100], None, 1, True),  # lag 2 is the first of which five steps are a tenth
        ([900, 900, 900], None, 2, True),  # none is: the longest
    ],
)
def test_the_first_lag_from_which_on_the_timescale_is_level(values, upper, place, level):
    assert choose_lag(scales(values, upper)) == (place, level)


def hopping(rate: float, n: int = 4000, trajectories: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    hops = [np.cumsum(rng.random(n) < rate) % 2 for _ in range(trajectories)]
    return [8 * hop[:, None] + rng.normal(size=(n, 2)) for hop in hops]


def test_a_markov_chain_is_one_at_the_shortest_lag():
    result = mf.cluster(hopping(0.01))
    validation = mf.validate_model(result, n_bootstrap=20)
    assert validation.lag <= 2  # five steps of 1 are just a tenth of the timescale, or just not
    exact = -1 / np.log(1 - 2 * 0.01)
    assert validation.timescales.values[0, 0] == pytest.approx(exact, rel=0.25)
    assert_array_equal(validation.test.states, [0, 1])
    assert len(validation.test) == 5
    assert validation.reason.startswith("The slowest timescale, ")
    assert validation.reason.endswith(f"at a lag of {validation.lag} frames, does not rise from there on.")


def test_no_passages_no_model():
    rng = np.random.default_rng(0)
    result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 7])
    validation = mf.validate_model(result)
    assert (validation.timescales, validation.lag, validation.test) == (None, None, None)
    assert validation.reason.startswith("There is no Markov model: ")


def test_no_trajectories_no_model():
    from mdfuzzy.pipeline.run import cluster_neighbors

    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 7])
    neighbors = mf.euclidean_neighbors(points, n_neighbors=40)
    validation = mf.validate_model(cluster_neighbors(neighbors, mf.Settings()))
    assert validation.reason == "There are no trajectories: the clustering began with neighbours."

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
    ("values", "upper", "place", "converged"),
    [
        ([30, 30, 30], None, 0, 1),
        ([15, 24, 30, 31, 31], None, 2, 1),  # changes by less than a tenth from the third on
        ([60, 60, 36, 28], None, 3, 0),  # falls to the end
        ([15, 24, 30, 36], None, 3, 0),  # rises to the end
        ([NAN, 30, 30], None, 1, 1),
        ([30, 30, NAN], None, 0, 1),
        ([NAN, 30, NAN], None, 1, 0),  # no longer lag shows that it has converged
        ([NAN, NAN], None, None, None),
        ([2.9, 5.9], None, None, None),  # shorter than three lags
        ([15, 24, 30, 36], [21, 39, 42, 45], 1, 1),  # inside its interval from the second on
        ([15, 24, 30, 36], [21, NAN, 42, 45], 2, 1),  # an unknown interval counts as a tenth
        ([100, 100, 100, 100], None, 1, 1),  # lag 2 is the first of which five steps are a tenth
        ([900, 900, 900], None, 1, 1),  # none is: the longest that another one confirms
    ],
)
def test_the_lag_at_which_the_slowest_timescale_has_converged(values, upper, place, converged):
    assert choose_lag(scales(values, upper)) == (None if place is None else (place, converged))


def test_the_most_processes_count():
    found = scales([100, 100, 100, 100, 100])
    values = np.column_stack([found.values[:, 0], [10, 20, 20, 20, NAN]])
    unknown = np.full((5, 2), NAN)
    both = ImpliedTimescales(
        lags=found.lags, lag_times=found.lag_times, values=values, lower=unknown, upper=unknown, unit="frames"
    )
    assert choose_lag(both) == (1, 2)  # the second process has converged at lag 2, and 4 confirms it


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
    assert validation.passed
    assert validation.reason.startswith(
        f"At a lag time of {validation.lag} frames, 1 of 1 implied timescale has converged"
    )
    assert "Chapman-Kolmogorov test: passed, with 16 of 16 predictions inside" in validation.words


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
    assert validation.reason == "There are no trajectories: the clustering started from given neighbours."

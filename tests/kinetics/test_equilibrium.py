"""Populations and passage times with intervals: closed forms, coverage, and samples that lack a state."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mdfuzzy import kinetics
from mdfuzzy.kinetics.equilibrium import _counts, _units
from mdfuzzy.kinetics.markov import pair_counts

THREE = np.array([[0.96, 0.03, 0.01], [0.03, 0.95, 0.02], [0.02, 0.04, 0.94]])


def chains(number: int, length: int, matrix: np.ndarray = THREE, seed: int = 0) -> list[np.ndarray]:
    """Return trajectories of a chain, begun in state 0, 1, 2, ... in turn; all take a step at a time."""
    rng = np.random.default_rng(seed)
    sums = np.cumsum(matrix, axis=1)
    found = np.empty((length, number), np.int64)
    found[0] = np.arange(number) % len(matrix)
    for step in range(1, length):
        found[step] = (rng.random(number)[:, None] > sums[found[step - 1]]).sum(axis=1)
    return list(np.minimum(found, len(matrix) - 1).T)


def stationary(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eig(matrix.T)
    found = vectors[:, np.argmax(values.real)].real
    return found / found.sum()


def test_the_numbers_are_those_of_the_model():
    dtrajs = chains(6, 4000)
    found = kinetics.estimate_equilibrium(dtrajs, lag=2, timestep=0.5, n_bootstrap=20)
    model = kinetics.markov_model(dtrajs, lag=2, timestep=0.5)
    assert_array_equal(found.states, model.states)
    for name, other in (("populations", "stationary"), ("mfpt", "mfpt"), ("timescales", "timescales")):
        assert_allclose(getattr(found, name), getattr(model, other), rtol=1e-12)
    assert_allclose(found.free_energies, np.log(model.stationary.max() / model.stationary), rtol=1e-12)
    assert (found.lag_time, found.unit, found.n_bootstrap) == (1.0, "ps", 20)
    for name in ("populations", "mfpt", "free_energies", "timescales"):
        value, low, high = (getattr(found, f"{name}{side}") for side in ("", "_low", "_high"))
        inside = (low <= value) & (value <= high)
        assert inside.all(), name


def test_the_intervals_cover():
    # 30 experiments of known answer; 95 % intervals of whole trajectories miss a little more often than they
    # should. Fewer than 20 of 30 hits has a probability below 1e-6 even at a coverage of 90 %.
    exact, hits = stationary(THREE), np.zeros(3)
    for seed in range(30):
        found = kinetics.estimate_equilibrium(chains(20, 600, seed=seed), lag=1, n_bootstrap=60)
        hits += (found.populations_low <= exact) & (exact <= found.populations_high)
    assert hits.min() >= 20


def test_blocks_of_one_trajectory_keep_every_pair():
    dtrajs = chains(2, 5000)
    units = _units(dtrajs, np.arange(3))
    assert units.block is not None
    counts = _counts(dtrajs, 3, units)
    assert len(counts) == len(units) > 10
    assert_array_equal(counts.sum(axis=0), pair_counts(dtrajs, 3).sum(axis=0))
    found = kinetics.estimate_equilibrium(dtrajs, lag=1, n_bootstrap=20)
    assert found.drawn == f"{len(units)} blocks of {units.block:,} frames"
    assert np.isfinite(found.mfpt_high).all()


def test_a_sample_without_a_state_opens_the_interval():
    # Only the first of six trajectories visits state 2: a third of the samples do not have it.
    dtrajs = [np.array([0, 0, 2, 2, 0, 0, 1, 1] * 20), *[np.array([0, 0, 1, 1] * 40)] * 5]
    found = kinetics.estimate_equilibrium(dtrajs, lag=1, n_bootstrap=100)
    assert found.populations_low[2] == 0 < found.populations_high[2]
    assert np.isfinite(found.free_energies_low[2])
    assert np.isnan(found.free_energies_high[2])
    assert np.isnan(found.mfpt_high[0, 2])
    assert np.isfinite(found.mfpt_high[0, 1])


def test_no_bootstrap():
    found = kinetics.estimate_equilibrium(chains(1, 3000), lag=1, n_bootstrap=0)
    assert np.isnan(found.populations_low).all()
    assert repr(found) == "Equilibrium(3 states, lag 1 frames, no intervals)"


@pytest.mark.parametrize("confidence", [0.0, 1.5])
def test_confidence_is_checked(confidence):
    with pytest.raises(ValueError, match=r"`confidence` must be"):
        kinetics.estimate_equilibrium(chains(2, 100), lag=1, confidence=confidence)


# --- pathways


def ladder(left: float, right: float) -> np.ndarray:
    """A square 0 - 1 - 3, 0 - 2 - 3 whose two sides are of different ease; symmetric, so uniform."""
    matrix = np.zeros((4, 4))
    for a, b, rate in ((0, 1, left), (1, 3, left), (0, 2, right), (2, 3, right)):
        matrix[a, b] = matrix[b, a] = rate
    return matrix + np.diag(1 - matrix.sum(axis=1))


def test_two_parallel_ways_in_closed_form():
    # Populations 1/4 each, committor 1/2 in the middle: a side carries left / 8 of the flux.
    left, right = 0.03, 0.01
    matrix = ladder(left, right)
    found = kinetics.find_pathways(
        chains(200, 5000, matrix), 0, 3, lag=1, timestep=2.0, n_bootstrap=10, fraction=1.0
    )
    assert_allclose(found.committor, [0, 0.5, 0.5, 1], atol=0.03)
    assert_allclose(found.flux, (left + right) / 8 / 2.0, rtol=0.05)
    assert [path.tolist() for path in found.paths] == [[0, 1, 3], [0, 2, 3]]
    assert_allclose(found.shares, [0.75, 0.25], atol=0.03)
    passage = np.linalg.solve(np.eye(3) - matrix[:3, :3], np.ones(3))
    assert_allclose(found.time, 2.0 * passage[0], rtol=0.05)
    for value, low, high in (
        (found.flux, found.flux_low, found.flux_high),
        (found.time, found.time_low, found.time_high),
        *zip(found.shares, found.shares_low, found.shares_high, strict=True),
    ):
        assert low <= value <= high
    assert "75" in str(found).splitlines()[1] or "74" in str(found) or "76" in str(found)


def test_times_are_independent_of_the_unit_of_the_lag():
    dtrajs = chains(5, 20_000)
    model = kinetics.markov_model(dtrajs, lag=4, timestep=0.5)
    found = kinetics.find_pathways(dtrajs, 2, 0, lag=4, timestep=0.5, n_bootstrap=0)
    assert_allclose(found.time, model.mfpt[model.states.tolist().index(2), 0], rtol=1e-7)
    assert np.isnan(found.flux_low)


def test_the_slowest_process_is_the_default():
    # Two pairs of states with fast exchange inside and slow exchange between; state 3 is the rarest.
    matrix = np.array(
        [[0.79, 0.2, 0.01, 0.0], [0.4, 0.6, 0.0, 0.0], [0.02, 0.0, 0.78, 0.2], [0.0, 0.0, 0.5, 0.5]]
    )
    found = kinetics.find_pathways(chains(5, 20_000, matrix), lag=1, n_bootstrap=0)
    assert (found.source, found.target) == (2, 0)
    assert repr(found).startswith("Pathways(2 to 0: 1 pathways")


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [(7, 0, r"`source` must be a state"), (0, 9, r"`target` must be a state"), (1, 1, "must differ; got 1")],
)
def test_states_must_be_in_the_model(source, target, words):
    with pytest.raises(ValueError, match=words):
        kinetics.find_pathways(chains(2, 1000), source, target, lag=1)


def test_a_passage_time_has_the_same_interval_in_pathways_and_in_the_table():
    rng = np.random.default_rng(3)
    dtrajs = [np.abs(np.cumsum(rng.integers(-1, 2, size=800)) % 6 - 3) for _ in range(6)]
    table = kinetics.estimate_equilibrium(dtrajs, lag=2, timestep=0.5)
    paths = kinetics.find_pathways(dtrajs, 0, 3, lag=2, timestep=0.5)
    cell = table.states.tolist().index(0), table.states.tolist().index(3)
    assert paths.time == pytest.approx(table.mfpt[cell])
    assert paths.time_low == pytest.approx(table.mfpt_low[cell])
    assert paths.time_high == pytest.approx(table.mfpt_high[cell])

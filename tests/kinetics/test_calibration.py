"""Memberships against the dynamics: chains with a known committor, slow twins, and what is left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf
from mdfuzzy.kinetics._forecasts import best_power, raised

EPSILON = 1e-3


class Chain:
    """Trajectories of a Markov chain of 12 states, of which the first three are cores, and its committor."""

    def __init__(self, n_trajectories: int = 20, length: int = 1500, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.matrix = rng.random((12, 12)) ** 4
        self.matrix /= self.matrix.sum(axis=1, keepdims=True)
        inner = self.matrix[3:, 3:]
        self.committor = np.vstack([np.eye(3), np.linalg.solve(np.eye(9) - inner, self.matrix[3:, :3])])
        values, vectors = np.linalg.eig(self.matrix.T)
        self.stationary = np.real(vectors[:, np.argmax(values.real)])
        self.stationary /= self.stationary.sum()
        steps = np.cumsum(self.matrix, axis=1)
        state = rng.integers(12, size=n_trajectories)
        paths = np.empty((n_trajectories, length), np.int64)
        for at in range(length):
            paths[:, at] = state
            state = np.minimum((steps[state] < rng.random((n_trajectories, 1))).sum(axis=1), 11)
        self.states = paths.ravel()
        self.data = mf.Features(list(paths[:, :, None].astype(float)))
        self.labels = np.where(self.states < 3, self.states, -1)

    @property
    def predictions(self) -> np.ndarray:
        return self.committor[self.states]

    @property
    def skill(self) -> float:
        """The skill of the committor, exactly: expected in the stationary chain outside the cores."""
        share = self.stationary[3:] / self.stationary[3:].sum()
        q = self.committor[3:]
        marginal = share @ q
        score = share @ np.sum(q * np.log(EPSILON + q), axis=1)
        return 1 - score / np.sum(marginal * np.log(EPSILON + marginal))


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain()


@pytest.fixture(scope="module")
def judged(chain):
    one_hot = np.eye(12)[chain.states]
    return mf.kinetics.calibration(
        chain.data, chain.predictions, chain.labels, coordinates=one_hot, n_centers=12
    )


# --- the next and the last core


def slow_outcomes(lengths, labels):
    """Look ahead and back, frame by frame."""
    after, before, start = [], [], 0
    for length in lengths:
        part = labels[start : start + length]
        for at in range(length):
            after.append(next((c for c in part[at:] if c >= 0), -1))
            before.append(next((c for c in part[at::-1] if c >= 0), -1))
        start += length
    return after, before


@pytest.mark.parametrize("seed", range(5))
def test_outcomes_are_those_of_looking_ahead_and_back(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, size=30)
    labels = rng.choice([-1, -1, -1, -1, 0, 1, 2], size=lengths.sum())
    data = mf.Features([np.zeros((n, 1)) for n in lengths])
    found = mf.kinetics.find_outcomes(data, labels)
    after, before = slow_outcomes(lengths, labels)
    assert_array_equal(found.next, after)
    assert_array_equal(found.last, before)
    assert_array_equal(found.transitions < 0, labels >= 0)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    for number in range(found.n_transitions):
        run = np.flatnonzero(found.transitions == number)
        assert_array_equal(run, np.arange(run[0], run[-1] + 1))
        assert len(np.unique(owner[run])) == 1
        assert len(np.unique(found.next[run])) == 1
    turned = mf.kinetics.find_outcomes(mf.Features([np.zeros((n, 1)) for n in lengths[::-1]]), labels[::-1])
    assert_array_equal(turned.last[::-1], found.next)


def test_a_trajectory_is_not_followed_into_the_next():
    labels = [0, -1, -1, -1, -1, 1]
    two = mf.kinetics.find_outcomes(mf.Features([np.zeros((3, 1)), np.zeros((3, 1))]), labels)
    assert_array_equal(two.next, [0, -1, -1, 1, 1, 1])
    assert_array_equal(two.last, [0, 0, 0, -1, -1, 1])
    assert_array_equal(two.transitions, [-1, 0, 0, 1, 1, -1])


# --- a chain whose committor is known


def test_skill_of_the_committor_is_the_analytic_one(chain, judged):
    at = judged.row("memberships")
    assert judged.skills[at] == pytest.approx(chain.skill, abs=0.01)
    assert judged.lower[at] < chain.skill < judged.upper[at]
    assert judged.upper[at] - judged.lower[at] < 0.05
    assert judged.skills[judged.row("constant guess")] == 0.0


def test_committor_lies_on_the_diagonal(judged):
    diagram = judged.diagrams[judged.row("memberships")]
    full = diagram.transitions > 30
    assert full.sum() >= 4
    assert np.all(diagram.lower[full] < diagram.predicted[full])
    assert np.all(diagram.predicted[full] < diagram.upper[full])
    at = judged.row("memberships")
    assert abs(judged.powers[at] - 1) < 3 * judged.power_errors[at] < 0.2


def test_markov_model_that_sees_the_states_finds_the_committor(chain, judged):
    at, bar = judged.row("memberships"), judged.row("k-means Markov model")
    assert judged.skills[bar] == pytest.approx(judged.skills[at], abs=0.005)
    assert abs(judged.powers[bar] - 1) < 4 * judged.power_errors[bar]


@pytest.mark.parametrize("lag", [2, 5])
def test_stopped_chain_has_the_same_committor_at_every_lag(chain, judged, lag):
    one_hot = np.eye(12)[chain.states]
    later = mf.kinetics.calibration(
        chain.data, chain.predictions, chain.labels, coordinates=one_hot, n_centers=12, lag=lag
    )
    bar = judged.row("k-means Markov model")
    assert later.skills[bar] == pytest.approx(judged.skills[bar], abs=0.01)


def test_backwards_it_is_the_committor_of_the_chain_turned_around(chain):
    stationary = chain.stationary
    turned = chain.matrix.T * stationary / stationary[:, None]
    assert_allclose(turned.sum(axis=1), 1, rtol=1e-10)
    inner = np.linalg.solve(np.eye(9) - turned[3:, 3:], turned[3:, :3])
    committor = np.vstack([np.eye(3), inner])[chain.states]
    found = mf.kinetics.calibration(
        chain.data,
        committor,
        chain.labels,
        direction="last",
        coordinates=np.eye(12)[chain.states],
        n_centers=12,
    )
    at, bar = found.row("memberships"), found.row("k-means Markov model")
    assert abs(found.powers[at] - 1) < 3 * found.power_errors[at]
    assert found.skills[bar] == pytest.approx(found.skills[at], abs=0.005)
    ahead = mf.kinetics.calibration(chain.data, committor, chain.labels)
    assert ahead.skills[ahead.row("memberships")] < found.skills[at] - 0.01  # the chain is not reversible
    assert str(found).startswith("last core of ")


def test_over_confident_memberships_are_seen_and_put_right(chain, judged):
    found = mf.kinetics.calibration(chain.data, raised(chain.predictions, 3.0), chain.labels)
    at, right = found.row("memberships"), found.row("memberships, sharpened")
    assert found.powers[at] == pytest.approx(1 / 3, abs=0.03)
    assert found.skills[at] < judged.skills[judged.row("memberships")] - 0.05
    assert found.skills[right] == pytest.approx(judged.skills[judged.row("memberships")], abs=0.005)
    diagram = found.diagrams[at]
    assert diagram.observed[-1] < diagram.predicted[-1] - 0.01
    assert diagram.observed[0] > diagram.predicted[0] + 0.01


def test_best_power_of_a_coin():
    # Three of four: 3/4 = 0.9^a / (0.9^a + 0.1^a) for a = log 3 / log 9.
    assert best_power(np.array([[0.9, 0.1]] * 4), np.array([0, 0, 0, 1])) == pytest.approx(0.5, abs=1e-5)
    assert best_power(np.array([[0.9, 0.1]] * 2), np.array([0, 1])) == pytest.approx(0.0, abs=1e-5)
    assert best_power(np.array([[0.9, 0.1]] * 2), np.array([0, 0])) == 20.0


# --- by hand


def four_ways():
    """Four trajectories of two frames on their way to a core each: 0, 0, 1, 1."""
    labels = np.array([-1, -1, 0] * 2 + [-1, -1, 1] * 2)
    return mf.Features([np.arange(3.0)[:, None]] * 4), labels


def test_everything_fitted_is_scored_on_trajectories_left_out():
    data, labels = four_ways()
    values = np.tile([0.8, 0.2], (12, 1))
    found = mf.kinetics.calibration(data, values, labels, n_folds=4)
    # Without the trajectory that is asked about, the others go to its core once in three times.
    assert found.scores[found.row("constant guess")] == pytest.approx(np.log(EPSILON + 1 / 3))
    assert found.scores[found.row("memberships")] == pytest.approx(
        (np.log(EPSILON + 0.8) + np.log(EPSILON + 0.2)) / 2
    )
    assert found.scores[found.row("hard assignment")] == pytest.approx(
        (np.log(EPSILON + 1.0) + np.log(EPSILON)) / 2
    )
    # All are in one hard state, which has been seen six times, and once as often as the constant guess.
    fitted = np.log(EPSILON + (2 + 1 / 3) / 7)
    assert found.scores[found.row("hard assignment, fitted")] == pytest.approx(fitted)
    assert (found.n_frames, found.n_transitions, found.n_trajectories) == (8, 4, 4)


def test_core_frames_and_censored_ends_do_not_count():
    data, labels = four_ways()
    rng = np.random.default_rng(0)
    values = rng.dirichlet([1, 1], size=12)
    found = mf.kinetics.calibration(data, values, labels, n_folds=2)
    longer = [np.concatenate([part, np.zeros((5, 1))]) for part in data.split(data.values)]
    padded = np.concatenate([[*part, -1, -1, -1, -1, -1] for part in data.split(labels)])
    others = np.concatenate([[*part, *rng.dirichlet([1, 1], size=5)] for part in data.split(values)])
    others[padded >= 0] = 0.5
    again = mf.kinetics.calibration(mf.Features(longer), others, padded, n_folds=2)
    at = found.row("memberships")
    assert again.n_frames == 8
    assert again.scores[at] == pytest.approx(found.scores[at], rel=1e-12)


def test_scores_only_the_frames_that_are_asked_for(chain):
    mask = chain.states == 7
    found = mf.kinetics.calibration(chain.data, chain.predictions, chain.labels, frames=mask)
    ends = mf.kinetics.find_outcomes(chain.data, chain.labels).next
    use = mask & (ends >= 0)
    assert found.n_frames == use.sum()
    expected = np.log(EPSILON + chain.predictions[use, ends[use]]).mean()
    assert found.scores[found.row("memberships")] == pytest.approx(expected, rel=1e-12)


def test_a_scan_gives_a_row_for_every_beta_and_one_for_the_choice(chain):
    tables = np.stack([raised(chain.predictions, power) for power in (3.0, 1.0, 0.3)]).astype(np.float32)
    nothing = np.zeros(3)
    scan = mf.BetaScan(
        betas=[1, 2, np.inf],
        entropy=nothing,
        scores=nothing,
        beta=2.0,
        n_plateaus=1,
        notes=(),
        frames=None,
        residuals=nothing,
        row_sum_errors=nothing,
        memberships=tables,
    )
    found = mf.kinetics.calibration(chain.data, scan, chain.labels)
    rows = [found.row(f"memberships, beta = {beta}") for beta in ("1", "2", "inf")]
    assert np.argmax(found.skills[rows]) == 1
    assert found.skills[found.row("memberships, beta by calibration")] == found.skills[rows[1]]
    assert "memberships, sharpened" not in found.names
    assert (
        str(found)
        .splitlines()[0]
        .endswith(" trajectories; beta: walk temperature; 2 = simulation temperature")
    )
    assert "(beta: walk temperature; 2 = simulation temperature)" in str(
        [text.get_text() for text in mf.plots.reliability(found).get_legend().get_texts()]
    )


def test_renumbering_the_states_changes_nothing(chain, judged):
    order = np.array([2, 0, 1])
    labels = np.where(chain.labels >= 0, order[chain.labels], -1)
    found = mf.kinetics.calibration(
        chain.data,
        chain.predictions[:, np.argsort(order)],
        labels,
        coordinates=np.eye(12)[chain.states],
        n_centers=12,
    )
    assert_allclose(found.skills, judged.skills, atol=1e-8)
    assert_allclose(found.powers, judged.powers, atol=1e-4)
    assert_allclose(found.diagrams[3].observed, judged.diagrams[3].observed, atol=1e-8)


def test_error_bars_count_passages_and_not_frames():
    predicted = np.tile([0.7, 0.3], (20, 1))
    outcomes, transitions = np.array([0] * 14 + [1] * 6), np.arange(20)
    once = mf.kinetics.reliability(predicted, outcomes, transitions)
    many = mf.kinetics.reliability(np.repeat(predicted, 9, axis=0), outcomes.repeat(9), transitions.repeat(9))
    for name in ("predicted", "observed", "lower", "upper", "transitions"):
        assert_allclose(getattr(many, name), getattr(once, name), rtol=1e-12, equal_nan=True)
    assert many.pairs[7] == 9 * once.pairs[7] == 180
    z = 1.959964
    centre, half = (0.7 + z**2 / 40) / (1 + z**2 / 20), z / (1 + z**2 / 20) * np.sqrt(0.21 / 20 + z**2 / 1600)
    assert_allclose([once.lower[7], once.upper[7]], [centre - half, centre + half], rtol=1e-12)
    assert np.isnan(once.observed[5])
    assert once.transitions[5] == 0


def test_uneven_passages_count_as_fewer():
    predicted = np.tile([0.65, 0.35], (10, 1))
    found = mf.kinetics.reliability(predicted, np.zeros(10, int), np.array([0] * 9 + [1]))
    # (9 + 1)^2 / (81 + 1) = 1.22 independent ones, of which all came true.
    n, z = 100 / 82, 1.959964
    assert found.lower[6] == pytest.approx(1 / (1 + z**2 / n))
    assert found.transitions[6] == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"predicted": [0.5, 0.5]},
            r"`predicted` must have shape \(frames, states\), not empty; got shape \(2,\)",
        ),
        ({"predicted": [[2.0, 0.0]] * 2}, r"`predicted` must be probabilities, in \[0, 1\]; got 0 to 2"),
        (
            {"outcomes": [0.0, 1.0]},
            r"`outcomes` must be integers, one per row of `predicted`, 2; got .* float64",
        ),
        (
            {"transitions": [0]},
            r"`transitions` must be integers, one per row of `predicted`, 2; got shape \(1,\)",
        ),
        ({"n_bins": 0}, r"`n_bins` must be an int of at least 1; got 0"),
    ],
)
def test_a_diagram_of_bad_predictions(changed, message):
    given = {"predicted": [[0.5, 0.5]] * 2, "outcomes": [0, 1], "transitions": [0, 1]} | changed
    with pytest.raises(ValueError, match=message):
        mf.kinetics.reliability(**given)


# --- choosing beta by it


def test_criterion_is_the_skill_of_the_next_core(chain):
    score = mf.kinetics.kinetic_criterion(chain.data, chain.labels)
    memberships = mf.Memberships(
        values=chain.predictions,
        lost=np.zeros(len(chain.data)),
        beta=2.0,
        log_weights=np.zeros(len(chain.data)),
        exponent=0.0,
    )
    assert score(memberships) == pytest.approx(chain.skill, abs=0.01)


def test_few_transitions_are_few_reasons():
    data, labels = mf.Features(np.zeros((6, 1))), [0, -1, 1, 1, -1, 0]
    with pytest.warns(
        UserWarning,
        match=r"too few transitions to distinguish one beta from another: .* go 2 times from",
    ):
        score = mf.kinetics.kinetic_criterion(data, labels)
    with pytest.raises(ValueError, match=r"`memberships` must have shape \(6, 2\), .*; got \(5, 2\)"):
        score(
            mf.Memberships(
                values=np.full((5, 2), 0.5), lost=np.zeros(5), beta=2.0, log_weights=np.zeros(5), exponent=0.0
            )
        )


# --- bad input


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"direction": "sideways"}, r"`direction` must be one of 'next', 'last'; got 'sideways'"),
        ({"n_bins": 1}, r"`n_bins` must be an int of at least 2; got 1"),
        ({"n_folds": 1}, r"`n_folds` must be an int of at least 2; got 1"),
        ({"n_centers": 0}, r"`n_centers` must be an int of at least 1; got 0"),
        ({"lag": 0}, r"`lag` must be an int of at least 1; got 0"),
        ({"epsilon": 0.0}, r"`epsilon` must be a finite number > 0; got 0"),
        ({"frames": [1, 2]}, r"`frames` must be a bool array with one entry per frame, shape \(12,\)"),
        ({"coordinates": np.zeros(12)}, r"`coordinates` must have one row per frame, shape \(12, d\)"),
    ],
    ids=str,
)
def test_bad_options(options, match):
    data, labels = four_ways()
    with pytest.raises(ValueError, match=match):
        mf.kinetics.calibration(data, np.full((12, 2), 0.5), labels, **options)


def test_memberships_must_fit_the_cores():
    data, labels = four_ways()
    with pytest.raises(
        ValueError, match=r"`memberships` must have one row per frame .* shape \(12, 2\); got \(12, 3\)"
    ):
        mf.kinetics.calibration(data, np.full((12, 3), 0.5), labels)
    with pytest.raises(ValueError, match="`memberships` must be finite; got nan"):
        mf.kinetics.calibration(data, np.full((12, 2), np.nan), labels)
    nothing = np.zeros(3)
    scan = mf.BetaScan(
        betas=[1, 2, 3],
        entropy=nothing,
        scores=nothing,
        beta=2.0,
        n_plateaus=1,
        notes=(),
        frames=None,
        residuals=nothing,
        row_sum_errors=nothing,
    )
    with pytest.raises(ValueError, match="`memberships` must be a scan of all frames that has kept its"):
        mf.kinetics.calibration(data, scan, labels)


def test_cores_must_be_of_the_frames():
    data, labels = four_ways()
    for bad in (labels[:-1], labels.astype(float), labels - 1):
        with pytest.raises(
            ValueError, match="`cores` must be Cores or an int array of the core of each of the 12"
        ):
            mf.kinetics.find_outcomes(data, bad)


def test_data_without_usable_passages():
    data, labels = four_ways()
    with pytest.raises(
        ValueError, match=r"`data` must hold transitions to at least 2 different cores.* to cores \[0\]"
    ):
        mf.kinetics.kinetic_criterion(data, np.where(labels > 0, 0, labels))
    with pytest.raises(ValueError, match=r"got 0 usable transitions, to cores \[\]\. Take larger cores"):
        mf.kinetics.kinetic_criterion(data, np.full(12, -1))
    with pytest.raises(
        ValueError, match=r"`data` must hold transitions from one core to another; .* go 0 times"
    ):
        mf.kinetics.kinetic_criterion(data, labels)
    one = mf.Features(data.values)
    with pytest.raises(
        ValueError, match=r"`data` must hold at least 2 trajectories with transitions.*; got 1"
    ):
        mf.kinetics.calibration(one, np.full((12, 2), 0.5), labels)


def test_unknown_row():
    data, labels = four_ways()
    found = mf.kinetics.calibration(data, np.full((12, 2), 0.5), labels)
    with pytest.raises(ValueError, match=r"`name` must be one of 'constant guess', .*; got 'oracle'"):
        found.row("oracle")

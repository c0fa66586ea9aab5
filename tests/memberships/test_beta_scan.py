"""The scan over beta: grid, choice, reservations."""

import numpy as np
import pytest
from helpers.graphs import path, two_wells
from numpy.testing import assert_allclose, assert_array_equal

import mdfuzzy as mf
from mdfuzzy.memberships import beta_scan


def fake_entropy(monkeypatch, shape):
    """Let the solver return memberships whose entropy is a given function of beta."""

    def solve(graph, log_density, cores, *, beta, start=None, **options):
        share = shape(beta)
        values = np.tile([share, 1.0 - share], (len(graph), 1))
        return mf.Memberships(
            values=values,
            lost=np.zeros(len(graph)),
            beta=beta,
            log_weights=np.zeros(len(graph)),
            exponent=0.0,
        )

    monkeypatch.setattr(beta_scan, "solve_memberships", solve)


def test_default_grid_is_even_in_log_beta_with_three_guests():
    grid = beta_scan.default_betas()
    assert_array_equal(grid, np.unique(grid))
    assert {1.0, 2.0, np.inf} < set(grid)
    even = np.array([b for b in grid if b not in (1.0, 2.0, np.inf)])
    assert_allclose(np.diff(np.log(even)), np.log(20 / 0.3) / 12, rtol=1e-12)
    assert even[0] == pytest.approx(0.3)
    assert even[-1] == pytest.approx(20)


def test_scan_equals_separate_solves_and_entropy_falls():
    _, _, graph, log_density, cores = two_wells(400)
    scan = mf.scan_beta(graph, log_density, cores, betas=[4, 0.5, 1, 2, np.inf], dimension=2)
    assert_array_equal(scan.betas, [0.5, 1, 2, 4, np.inf])
    for beta, entropy in zip(scan.betas, scan.entropy, strict=True):
        mu = mf.solve_memberships(graph, log_density, cores, beta=beta, dimension=2)
        assert entropy == pytest.approx(mf.clustering_entropy(mu.values), abs=1e-6)
    assert np.all(np.diff(scan.entropy) < 0)
    assert np.all(scan.entropy <= 0)
    assert scan.row_sum_errors.max() < 1e-5
    assert "walk temperature" in repr(scan)


def test_choice_is_the_steepest_fall_against_log_beta(monkeypatch):
    graph, cores = path()
    fake_entropy(monkeypatch, lambda beta: 0.25 + 0.2499 * np.tanh(8 * np.log(beta / 3.0)))
    scan = mf.scan_beta(graph, np.zeros(5), cores, betas=[*np.geomspace(0.3, 20, 40), np.inf])
    assert 2.7 < scan.beta < 3.3
    assert np.isnan(scan.scores[-1])
    assert scan.n_plateaus == 2
    assert "2 plateaus" in " ".join(scan.notes)


def test_three_plateaus_raise_no_reservation(monkeypatch):
    graph, cores = path()
    fake_entropy(
        monkeypatch,
        lambda beta: 0.25 + 0.1 * np.tanh(8 * np.log(beta)) + 0.14 * np.tanh(8 * np.log(beta / 5.0)),
    )
    scan = mf.scan_beta(graph, np.zeros(5), cores, betas=np.geomspace(0.3, 20, 40))
    assert scan.n_plateaus == 3
    assert scan.notes == ()


@pytest.mark.parametrize(("middle", "end"), [(0.2, "lowest"), (40.0, "highest")])
def test_a_choice_on_the_end_of_the_grid_is_reported(monkeypatch, middle, end):
    graph, cores = path()
    fake_entropy(monkeypatch, lambda beta: 0.25 + 0.2 * np.tanh(np.log(beta / middle)))
    scan = mf.scan_beta(graph, np.zeros(5), cores)
    assert f"(walk temperature; 2 = simulation temperature), sits on the {end} end of the grid" in " ".join(
        scan.notes
    )


def test_an_entropy_that_does_not_fall_is_reported(monkeypatch):
    graph, cores = path()
    fake_entropy(monkeypatch, lambda beta: 0.5)
    assert "H does not fall" in " ".join(mf.scan_beta(graph, np.zeros(5), cores).notes)


def test_another_criterion_decides():
    graph, cores = path()
    scan = mf.scan_beta(graph, np.arange(5.0), cores, criterion=lambda mu: -abs(1 / mu.beta - 0.5))
    assert scan.beta == 2.0
    assert scan.scores[list(scan.betas).index(2.0)] == 0.0


def test_infinite_beta_can_be_chosen_and_two_is_always_there():
    graph, cores = path()
    scan = mf.scan_beta(
        graph, np.arange(5.0), cores, betas=[0.5, 1, 3, np.inf], criterion=lambda mu: -1 / mu.beta
    )
    assert scan.beta == np.inf
    assert_array_equal(scan.betas, [0.5, 1, 2, 3, np.inf])
    assert scan.notes == (
        "The choice is infinite beta: the density does not improve the prediction, only the metric does.",
    )
    inside = mf.scan_beta(
        graph,
        np.arange(5.0),
        cores,
        betas=[0.5, 1, 3, np.inf],
        criterion=lambda mu: -abs(1 / mu.beta - 1 / 3),
    )
    assert inside.beta == 3
    assert inside.notes == ()  # infinity lies beyond it


def test_memberships_are_kept():
    graph, cores = path()
    scan = mf.scan_beta(graph, np.arange(5.0), cores, betas=[1, 2, 4])
    for values, beta in zip(scan.memberships, scan.betas, strict=True):
        mu = mf.solve_memberships(graph, np.arange(5.0), cores, beta=beta)
        assert_allclose(values, mu.values, atol=1e-6)
    assert scan.memberships.dtype == np.float32
    assert not scan.memberships.flags.writeable


def test_rows_are_divided_by_their_sums_so_that_scores_take_them(monkeypatch):
    graph, cores = path()
    exact = np.array([[1.0, 0.0], [0.7, 0.3], [0.25, 0.25], [0.0, 0.0], [0.0, 1.0]])
    lost = 1.0 - exact.sum(axis=1)
    rough = np.array([1.0, 1 + 9e-5, 1 - 9e-5, 1.0, 1.0])  # what the tolerance of a scan allows

    def solve(graph, log_density, cores, *, beta, **options):
        values = exact * rough[:, None]
        return mf.Memberships(
            values=values,
            lost=lost * rough,
            beta=beta,
            log_weights=np.zeros(5),
            exponent=0.0,
            row_sum_error=9e-5,
        )

    monkeypatch.setattr(beta_scan, "solve_memberships", solve)
    seen = []

    def criterion(mu):
        seen.append(mu)
        return mf.entropic_purity(mu.values, [0, 0, 0, 1, 1]).value

    scan = mf.scan_beta(graph, np.zeros(5), cores, betas=[1, 2, 4], criterion=criterion)
    for mu, values in zip(seen, scan.memberships, strict=True):
        assert_allclose(mu.values, exact, rtol=0, atol=1e-15)
        assert_allclose(mu.lost, lost, rtol=0, atol=1e-15)
        assert_array_equal(mu.unreachable, [False, False, False, True, False])
        assert_allclose(values, exact, rtol=0, atol=1e-7)
        assert mf.clustering_entropy(values) == pytest.approx(scan.entropy[0], abs=1e-6)
    assert_array_equal(scan.row_sum_errors, 9e-5)


def test_keeps_the_memberships_of_a_limited_number_of_frames():
    assert beta_scan.kept_frames(100_000) is None
    frames = beta_scan.kept_frames(1_420_738)
    assert len(np.unique(frames)) == 100_000
    assert set(np.diff(frames)) <= {14, 15}
    graph, cores = path()
    whole = mf.scan_beta(graph, np.zeros(5), cores, betas=[1, 2, 3])
    some = mf.scan_beta(graph, np.zeros(5), cores, betas=[1, 2, 3], max_kept=3)
    assert whole.frames is None
    assert_array_equal(some.frames, [0, 2, 4])
    assert_array_equal(some.memberships, whole.memberships[:, [0, 2, 4]])
    assert_array_equal(some.entropy, whole.entropy)
    with pytest.raises(ValueError, match="`max_kept` must be"):
        mf.scan_beta(graph, np.zeros(5), cores, max_kept=0)


@pytest.mark.parametrize("betas", [[1, 2], [1, 2, np.inf], [1, 2, -3], [1, 2, np.nan], [[1, 2, 3]]])
def test_bad_betas(betas):
    graph, cores = path()
    with pytest.raises(ValueError, match="`betas` must hold at least 3 different finite numbers > 0"):
        mf.scan_beta(graph, np.zeros(5), cores, betas=betas)


@pytest.mark.parametrize("betas", ["abc", ["a", "b"], [1, 2j, 3], [[1], [2, 3]]])
def test_betas_that_are_no_numbers(betas):
    graph, cores = path()
    with pytest.raises(
        TypeError, match=r"`betas` must hold at least 3 different finite numbers > 0 .*; got "
    ):
        mf.scan_beta(graph, np.zeros(5), cores, betas=betas)


def test_a_criterion_that_is_no_function():
    graph, cores = path()
    with pytest.raises(
        TypeError,
        match=r"`criterion` must be None or a function that takes `Memberships` and returns a number; got "
        r"7\. `kinetics\.kinetic_criterion` makes one",
    ):
        mf.scan_beta(graph, np.zeros(5), cores, criterion=7)


def test_a_criterion_that_gives_no_number():
    graph, cores = path()
    with pytest.raises(ValueError, match=r"`criterion\(memberships\)` must be a finite number; got nan"):
        mf.scan_beta(graph, np.zeros(5), cores, betas=[1, 2, 3], criterion=lambda mu: np.nan)


@pytest.mark.parametrize(
    ("unit_density", "left"),
    [(True, [np.inf]), (False, beta_scan.default_betas()[5:])],
    ids=["unit", "given"],
)
def test_betas_without_positive_linear_weights_are_left_out(unit_density, left):
    _, _, graph, log_density, cores = two_wells(300)
    logf = log_density - log_density.max() + np.log(6.0)  # positive up to beta = 6 / 5
    scan = mf.scan_beta(graph, logf, cores, walk_weights="linear", unit_density=unit_density)
    grid = beta_scan.default_betas()
    assert_array_equal(scan.betas, grid[~np.isin(grid, left)])
    listed = ", ".join(f"{beta:.3g}" for beta in left)
    assert scan.notes[-1] == (
        f"Left out of the scan: beta = {listed} (walk temperature; 2 = simulation temperature), where "
        "linear weights are not positive."
    )
    for beta in left:
        with pytest.raises(ValueError, match="`beta` must keep linear weights positive"):
            mf.solve_memberships(
                graph, logf, cores, beta=beta, walk_weights="linear", unit_density=unit_density
            )


def test_the_end_of_a_linear_scan_is_not_to_be_passed():
    _, _, graph, log_density, cores = two_wells(300)
    scan = mf.scan_beta(graph, log_density + 50, cores, walk_weights="linear", criterion=lambda mu: mu.beta)
    assert scan.beta == 1.0  # 2, with which a choice is compared, is left out too
    assert "sits on the highest end of the grid: linear weights go no further" in scan.notes[0]


def test_too_few_betas_with_positive_linear_weights():
    graph, cores = path()
    with pytest.raises(
        ValueError,
        match=r"`betas` must hold at least 3 different finite numbers at which linear weights are positive; "
        r"got 1 of 1, 2, 3 \(walk temperature.*Use smaller ones, `walk_weights='power'`, or "
        r"`unit_density=True`\.$",
    ):
        mf.scan_beta(graph, np.full(5, 50.0), cores, betas=[1, 2, 3], walk_weights="linear")
    assert (
        len(mf.scan_beta(graph, np.full(5, 50.0), cores, betas=[0.5, 0.7, 1], walk_weights="linear").betas)
        == 3
    )

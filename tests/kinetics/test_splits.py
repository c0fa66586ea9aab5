"""The evidence for every split: verdicts on data whose states and kinetics are known, and its tables."""

import csv

import numpy as np
import pytest

import mdfuzzy as mf


@pytest.fixture(scope="module")
def result():
    # Two wells that exchange slowly, one of them double: its halves exchange within two frames.
    rng = np.random.default_rng(0)
    slow = [np.cumsum(rng.random(1500) < 0.02) % 2 for _ in range(5)]
    fast = [rng.integers(2, size=1500) for _ in range(5)]
    points = [
        np.column_stack([9.0 * s, 5.0 * s * f]) + rng.normal(size=(1500, 2))
        for s, f in zip(slow, fast, strict=True)
    ]
    return mf.cluster(points, mf.Settings(bootstrap=6))


def test_slow_and_fast_splits_are_told_apart(result):
    splits = result.splits
    assert result.n_states == 3
    assert splits.verdicts[:3].count("kinetic") == 2
    assert splits.verdicts[:3].count("structural") == 1
    assert set(splits.verdicts[3:]) == {"noise"}
    fast = splits.verdicts.index("structural")
    assert splits.exchange[fast] < 2
    assert splits.dwell[fast] < 5 * splits.shuffled[fast]
    assert "as long as with the frames in random order (lower bound" in splits.reasons[fast]
    # The graph falls apart at the slow split, which is therefore no split of the tree, but two components.
    assert splits.slowest[1] == pytest.approx(-1 / np.log(1 - 2 * 0.02), rel=0.2)
    assert splits.slowest[2] == pytest.approx(splits.slowest[1], rel=0.1)
    assert splits.slowest_before[2] == splits.slowest[1]


def test_every_split_has_its_evidence(result):
    splits = result.splits
    assert splits.support[:3].tolist() == [1.0] * 3
    assert np.mean(splits.support[3:]) < 0.5
    assert np.all(splits.p_values[:3] < 0.01)
    assert np.all(splits.clearance[:3] > 1)
    assert np.all(splits.clearance[3:] < 1)
    assert splits.basin_frames[:3].sum() == len(result)
    assert sorted(splits.states[:3].tolist()) == [0, 1, 2]
    table = str(splits)
    assert [word for word in ("support", "dwell", "exits", "exchange", "verdict") if word not in table] == []
    assert table in result.summary()


def test_another_level_has_the_same_evidence(result):
    two = result.at(n_states=2)
    assert two.splits.peaks[:3].tolist() == result.splits.peaks[:3].tolist()
    assert two.splits.verdicts[:3] == result.splits.verdicts[:3]
    assert two.splits.states[2] == -1


def test_weighted_frames_and_neighbours_alone_have_no_kinetics(result):
    splits = mf.kinetics.audit_splits(result.tree, result.graph, result.log_density, result.peaks)
    assert splits.verdicts[:3] == ("structural",) * 3
    assert np.isnan(splits.dwell).all()
    assert "dwell" not in str(splits)


def test_the_table_as_a_file(result, tmp_path):
    path = mf.exports.write_splits(tmp_path / "splits.csv", result)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result.splits)
    assert [row["verdict"] for row in rows] == list(result.splits.verdicts)
    assert float(rows[2]["exchange_frames"]) == result.splits.exchange[2]
    with pytest.raises(FileExistsError):
        mf.exports.write_splits(path, result)


def test_merged_states_have_no_splits(result, tmp_path):
    merged = result.merge([0, 1])
    assert merged.splits is None
    with pytest.raises(ValueError, match=r"`result` must have splits; got .* merged by hand"):
        mf.exports.write_splits(tmp_path / "splits.csv", merged)
    with pytest.raises(ValueError, match=r"`result` must have splits; got .* merged by hand"):
        mf.plots.state_tree(merged)


def test_no_branches_of_the_picture_cross(result):
    from mdfuzzy.plots.trees import _places

    splits = result.splits
    places, row_of = _places(splits), {int(peak): row for row, peak in enumerate(splits.peaks)}
    spans = [sorted((places[row], places[row_of[int(parent)]])) for row, parent in enumerate(splits.parents)]
    for row, (low, high) in enumerate(spans):
        # A trunk inside the span of a branch ends below it.
        inside = [other for other in range(len(spans)) if low < places[other] < high]
        assert all(other > row for other in inside)
    ax = mf.plots.state_tree(result)
    assert len(ax.get_xticks()) == len(splits)


def test_more_states_than_components_allow_is_an_error():
    rng = np.random.default_rng(0)
    apart = [rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 50]
    with pytest.raises(ValueError, match=r"`n_states` must be an int in \[2, .*; got 1\. .* 2 components"):
        mf.cluster(apart, mf.Settings(n_states=1))

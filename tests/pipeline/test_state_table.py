"""The table of states: what it counts, and how it prints."""

import dataclasses

import numpy as np
import pytest

import mdfuzzy as mf


@pytest.fixture(scope="module")
def result() -> mf.Clustering:
    return mf.cluster(mf.datasets.alanine_dipeptide(stride=20), mf.Settings(prominence=1.0))


def test_rows_hold_what_the_steps_found(result):
    states = result.states
    assert len(states) == result.n_states
    assert [state.state for state in states] == list(range(result.n_states))
    assert sum(state.frames for state in states) == len(result)
    for state in states:
        assert state.fraction_low <= state.fraction <= state.fraction_high
        assert state.population is None  # no Markov model was asked for
    assert sum(state.fraction for state in states) == pytest.approx(1)
    for number, state in enumerate(states):
        assert state.frames == np.count_nonzero(result.labels == number)
        assert state.core == np.count_nonzero(result.cores.core_of == number)
        assert state.peak == result.cores.peaks[number]
        assert state.phi == (pytest.approx(result.data.phi[state.peak, 0]),)
        assert state.psi == (pytest.approx(result.data.psi[state.peak, 0]),)
        assert state.visits == result.visits.visits[number]
        assert state.dwell == pytest.approx(result.visits.mean_dwell[number], nan_ok=True)
    assert states[0].prominence == np.inf
    assert states[-1] == list(states)[-1]
    assert len(states[:2]) == 2


def test_prints_a_line_for_each(result):
    head, *lines = str(result.states).splitlines()
    assert head.split()[:7] == ["state", "frames", "fraction", "interval", "core", "prominence", "peak"]
    assert "phi, psi of ALA2" in head
    assert head.endswith("visits       dwell")
    assert all(line.endswith((" ps", " ns", "-")) for line in lines)
    assert len(lines) == result.n_states
    assert {len(line) for line in lines} == {len(head)}
    assert str(result.states) in repr(result.states)
    assert str(result.states) in result.summary()


def test_without_torsions_or_times():
    rng = np.random.default_rng(0)
    result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    head = str(result.states).splitlines()[0]
    assert "phi" not in head
    assert "frames" not in head.split("dwell")[1]
    assert result.states[0].phi == ()
    bare = dataclasses.replace(result, data=None, visits=None)
    assert bare.states[0].visits is None
    assert "visits" not in str(bare.states)


def test_is_a_data_frame(result):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(result.states)
    assert table["frames"].sum() == len(result)
    assert list(table.columns) == [field.name for field in dataclasses.fields(mf.State)]


def test_many_residues_are_left_out_of_the_print():
    row = mf.State(
        state=0, frames=1, fraction=1.0, core=1, prominence=np.inf, peak=0, phi=(1.0,) * 9, psi=(2.0,) * 9
    )
    text = str(mf.StateTable([row], residues=[f"ALA{n}" for n in range(9)]))
    assert "phi" not in text

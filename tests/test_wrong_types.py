"""Something else in place of a result of an earlier step is named, whatever it is."""

import numpy as np
import pandas as pd
import pytest

import mdfuzzy as mf
from mdfuzzy import kinetics


@pytest.fixture(scope="module")
def result() -> mf.Clustering:
    rng = np.random.default_rng(0)
    return mf.cluster([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6], mf.Settings(prominence=1.0))


#: What each call needs, by the names that the error is to say.
CALLS = {
    "compute_persistence": (mf.compute_persistence, ["graph", "log_density"], {}),
    "find_cores": (mf.find_cores, ["graph", "log_density", "peaks"], {"min_prominence": 1.0}),
    "find_milestones": (mf.find_milestones, ["graph", "log_density", "peaks"], {"min_prominence": 1.0}),
    "solve_memberships": (mf.solve_memberships, ["graph", "log_density", "cores"], {"beta": 1.0}),
    "scan_beta": (mf.scan_beta, ["graph", "log_density", "cores"], {}),
    "find_transition_regions": (mf.find_transition_regions, ["data", "memberships", "cores"], {}),
    "states_by_k": (mf.states_by_k, ["neighbors"], {}),
    "bootstrap_states": (mf.bootstrap_states, ["neighbors"], {"lengths": [60, 60]}),
    "dtm_log_density": (mf.dtm_log_density, ["neighbors"], {}),
    "intrinsic_dimension": (mf.intrinsic_dimension, ["neighbors"], {}),
    "extend_memberships": (mf.extend_memberships, ["memberships", "neighbors"], {}),
    "assign": (mf.assign, ["result", "data"], {}),
    "validate_model": (mf.validate_model, ["result"], {}),
    "core_dtrajs": (kinetics.core_dtrajs, ["data", "cores"], {}),
    "milestoned_dtrajs": (kinetics.milestoned_dtrajs, ["data", "cores"], {}),
    "hard_dtrajs": (kinetics.hard_dtrajs, ["data", "memberships"], {}),
    "visits": (kinetics.visits, ["data", "cores"], {}),
    "transition_counts": (kinetics.transition_counts, ["data", "cores"], {}),
    "soft_model": (kinetics.soft_model, ["data", "memberships"], {"lag": 1}),
    "timestep": (kinetics.timestep, ["data"], {}),
    "kinetic_criterion": (kinetics.kinetic_criterion, ["data", "cores"], {}),
    "calibration": (kinetics.calibration, ["data", "memberships", "cores"], {}),
}
#: Those that take arrays too, whose shape is then wrong.
ARRAYS = {
    ("assign", "data"),
    ("kinetic_criterion", "cores"),
    ("calibration", "cores"),
    ("calibration", "memberships"),
}


def arguments(result: mf.Clustering, names: list[str]) -> list[object]:
    return [result if name == "result" else getattr(result, name) for name in names]


@pytest.mark.parametrize(
    ("call", "place"), [(call, place) for call, (_, names, _) in CALLS.items() for place in range(len(names))]
)
@pytest.mark.parametrize(
    "wrong", [None, 3, "text", [1, 2], np.eye(3)], ids=lambda wrong: type(wrong).__name__
)
def test_the_argument_and_what_it_must_be_are_named(result, call, place, wrong):
    function, names, options = CALLS[call]
    given = arguments(result, names)
    given[place] = wrong
    name = names[place]
    if name == "log_density":
        with pytest.raises((TypeError, ValueError), match="`log_density` must "):
            function(*given, **options)
    elif (call, name) in ARRAYS:
        with pytest.raises((TypeError, ValueError), match=rf"`({name}|arrays|points|queries)` must"):
            function(*given, **options)
    else:
        with pytest.raises(TypeError, match=rf"^`{name}` must be `\w+`.*; got {type(wrong).__name__}\."):
            function(*given, **options)


@pytest.mark.parametrize("wrong", [None, 3])
def test_data_to_cluster_that_is_no_array(wrong):
    with pytest.raises(
        ValueError, match=r"`arrays` must be one or more arrays of shape .* got shapes \[\(\)\]"
    ):
        mf.cluster(wrong)


def test_a_table_is_one_array():
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [3.0, 4.0, 5.0]})
    np.testing.assert_array_equal(mf.Features(table).values, table.to_numpy())
    with pytest.raises(
        TypeError, match="`arrays` must be an array of real numbers; got DataFrame: could not"
    ):
        mf.Features(table.assign(z="text"))
    assert mf.Features([table, table]).n_trajectories == 2


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (mf.Features, "arrays"),
        (mf.cluster, "arrays"),
        (lambda points: mf.euclidean_neighbors(points, n_neighbors=1), "points"),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_complex_numbers_are_not_cast(function, name, kind):
    with pytest.raises(
        TypeError,
        match=f"`{name}` must be an array of real numbers; got .*: complex numbers; take their real part",
    ):
        function(kind(np.eye(9) + 0j))


@pytest.mark.parametrize(
    "function", [mf.rmsd_neighbors, mf.rmsd_neighbors_mdtraj], ids=["rmsd_neighbors", "rmsd_neighbors_mdtraj"]
)
def test_frames_of_different_atoms(function):
    frames, ragged = np.zeros((4, 5, 3)), [np.zeros((5, 3)), np.zeros((4, 3))]
    message = (
        r"` must be Frames or an array of shape \(frames, atoms, 3\); got list: .* All frames need the same"
    )
    with pytest.raises(TypeError, match="`frames" + message):
        function(ragged, n_neighbors=1)
    with pytest.raises(TypeError, match="`queries" + message):
        function(frames, n_neighbors=1, queries=ragged)

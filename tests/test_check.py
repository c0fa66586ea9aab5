"""Argument checks: what passes is returned unchanged, what does not is named."""

import pickle

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy._check import (
    check_choice,
    check_finite,
    check_int,
    check_numbers,
    check_optional_bool,
    check_real,
    check_type,
    read_only,
)


@pytest.mark.parametrize("value", [1, 7, 10, np.int32(7), np.uint8(10)])
def test_int_inside_is_returned_as_an_int(value):
    result = check_int("k", value, 1, 10)
    assert result == value
    assert type(result) is int


@pytest.mark.parametrize("value", [0, 11, -3])
def test_int_outside(value):
    with pytest.raises(
        ValueError, match=rf"^`k` must be an int in \[1, 10\]; got {value}\. There are 11 frames\.$"
    ):
        check_int("k", value, 1, 10, remedy="There are 11 frames.")


def test_int_without_an_upper_limit():
    assert check_int("k", 10**12, 1) == 10**12
    with pytest.raises(ValueError, match=r"^`k` must be an int of at least 1; got 0\.$"):
        check_int("k", 0, 1)


@pytest.mark.parametrize("value", [2.0, "2", None, True, np.True_, np.float64(2)])
def test_int_of_another_type(value):
    with pytest.raises(TypeError, match=r"^`k` must be an int in \[1, 10\]; got "):
        check_int("k", value, 1, 10)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), np.int64(1)])
def test_real_inside_is_returned_as_a_float(value):
    result = check_real("beta", value, above=0, at_most=1)
    assert result == value
    assert type(result) is float


@pytest.mark.parametrize(
    ("limits", "value", "rule"),
    [
        ({"above": 0}, 0, "a finite number > 0"),
        ({"above": 0}, -1.5, "a finite number > 0"),
        ({"at_least": 2}, 1.999, "a finite number >= 2"),
        ({"at_most": 1}, 1.001, "a finite number <= 1"),
        ({"above": 0, "at_most": 1}, 2.0, "a finite number > 0 and <= 1"),
        ({}, float("nan"), "a finite number"),
        ({}, float("inf"), "a finite number"),
        ({"above": 0, "finite": False}, float("nan"), "a number > 0"),
    ],
)
def test_real_outside(limits, value, rule):
    with pytest.raises(ValueError, match=rf"^`beta` must be {rule}; got {float(value)}\.$"):
        check_real("beta", value, **limits)


def test_real_may_be_infinite_on_request():
    assert check_real("beta", float("inf"), above=0, finite=False) == float("inf")


def test_real_on_its_limits():
    assert check_real("x", 2, at_least=2) == 2
    assert check_real("x", 2, at_most=2) == 2


@pytest.mark.parametrize("value", ["2", None, True, np.False_, 1j, [1.0]])
def test_real_of_another_type(value):
    with pytest.raises(TypeError, match=r"^`beta` must be a finite number; got .*\. Large is hot\.$"):
        check_real("beta", value, remedy="Large is hot.")


def test_optional_bool():
    assert [check_optional_bool("whole", value) for value in (True, False, None)] == [True, False, None]
    for value in (1, 0, "yes"):
        with pytest.raises(TypeError, match=f"`whole` must be True, False or None; got {value!r}"):
            check_optional_bool("whole", value)


def test_choice():
    assert check_choice("kind", "union", ("union", "directed")) == "union"
    with pytest.raises(
        ValueError, match=r"^`kind` must be one of 'union', 'directed'; got 'both'\. Say which\.$"
    ):
        check_choice("kind", "both", ("union", "directed"), remedy="Say which.")


def test_finite_array_is_returned_itself():
    array = np.arange(6.0).reshape(2, 3)
    assert check_finite("points", array) is array


def test_first_bad_entry_of_a_vector():
    bad = np.array([0.0, 1.0, np.nan, np.inf])
    with pytest.raises(ValueError, match=r"^`logf` must be finite; got nan at index 2 \(2 such entries\)\.$"):
        check_finite("logf", bad)


def test_first_bad_entry_of_a_matrix():
    bad = np.zeros((3, 4))
    bad[1, 2] = -np.inf
    message = r"^`points` must be finite; got -inf at index \(1, 2\) \(1 such entries\)\. Drop it\.$"
    with pytest.raises(ValueError, match=message):
        check_finite("points", bad, remedy="Drop it.")


def test_read_only_view_shares_memory_and_leaves_the_original_writeable():
    array = np.zeros(3)
    view = read_only(array)
    assert np.shares_memory(view, array)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    array[0] = 2
    assert view[0] == 2


def test_another_type_is_named_with_what_was_expected():
    check_type("k", 3, int)
    check_type("k", 3, str, int)
    with pytest.raises(TypeError, match=r"^`graph` must be `str`; got NoneType\. Make one\.$"):
        check_type("graph", None, str, remedy="Make one.")
    with pytest.raises(TypeError, match=r"^`data` must be `str` or `bytes`; got int\.$"):
        check_type("data", 3, str, bytes)
    check_type("data", None, str, None)
    with pytest.raises(TypeError, match=r"^`data` must be `str` or None; got int\.$"):
        check_type("data", 3, str, None)


def test_numbers_are_returned_as_floats():
    array = np.arange(3.0)
    assert check_numbers("x", array) is array
    assert check_numbers("x", [1, 2]).dtype == np.float64


@pytest.mark.parametrize("values", [np.ones(2, complex), [1.0, 2j], np.array([1j, 1.0], dtype=object)])
def test_complex_numbers_are_refused(values):
    with pytest.raises(
        TypeError, match=r"^`x` must be an array of real numbers; got (ndarray|list): .*complex"
    ):
        check_numbers("x", values)


@pytest.mark.parametrize("values", ["abc", [[1.0], [1.0, 2.0]], {1: 2}])
def test_what_is_no_array_of_numbers_is_refused(values):
    with pytest.raises(
        TypeError, match=rf"^`x` must be an array of real numbers; got {type(values).__name__}: "
    ):
        check_numbers("x", values)


@pytest.mark.parametrize("kind", [mf.InputError, mf.InputIndexError, mf.InputTypeError, mf.InputValueError])
def test_errors_come_back_from_other_processes(kind):
    error = pickle.loads(pickle.dumps(kind("`k` must be an int; got 1.5.")))
    assert type(error) is kind
    assert str(error) == "`k` must be an int; got 1.5."

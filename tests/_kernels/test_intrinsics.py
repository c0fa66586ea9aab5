"""Intrinsics of the kernels, each against what it replaces."""

import sys

import numpy as np
import pytest
from numba import njit

from mdfuzzy._kernels.intrinsics import borrowed, first_member, member_count, members_within, transpose_rows


@njit
def first(bits):
    return first_member(bits)


@njit
def count(bits):
    return member_count(bits)


@njit
def within(values, limits):
    return members_within(values, limits)


@njit
def transpose(matrix, rows, column, out, at, stride):
    transpose_rows(matrix, rows, column, out, at, stride)


@njit
def doubled(arrays):
    arrays = borrowed(arrays)
    (values, (more,), number) = arrays
    for _ in range(100):
        part = more[1:]
    values += number * part


@pytest.mark.parametrize("member", [0, 1, 31, 32, 63])
def test_first_member(member):
    assert first(np.uint64(1 << member)) == member
    assert first(np.uint64((1 << member) | (1 << 63))) == member


def test_member_count():
    assert count(np.uint64(0)) == 0
    assert count(np.uint64(0b1011) | np.uint64(1 << 63)) == 4
    assert count(~np.uint64(0)) == 64


def test_members_within():
    random = np.random.default_rng(0)
    values, limits = random.random((2, 64)).astype(np.float32)
    limits[[3, 60]] = values[[3, 60]]  # equal is within
    values[5], limits[6], limits[7] = np.nan, -1, np.inf
    one_each = sum(1 << int(i) for i in np.flatnonzero(values <= limits))
    assert within(values, limits) == one_each
    one_for_all = sum(1 << int(i) for i in np.flatnonzero(values <= np.float32(0.5)))
    assert within(values, np.float32(0.5)) == one_for_all


def test_transpose_rows():
    random = np.random.default_rng(0)
    matrix = random.random((20, 12)).astype(np.float32)
    rows, out = (3, 19, 0, 0, 7, 11, 2, 18), np.full(200, -1, np.float32)
    transpose(matrix, rows, 4, out, 5, 20)
    expected = np.full(200, -1, np.float32)
    for j in range(8):
        expected[5 + 20 * j : 13 + 20 * j] = matrix[list(rows), 4 + j]
    assert np.array_equal(out, expected)


def test_borrowed_arrays_are_used_and_not_counted():
    values, more = np.ones(3), np.arange(4.0)
    before = sys.getrefcount(values), sys.getrefcount(more)
    doubled((values, (more,), 2.0))
    assert np.array_equal(values, [3, 5, 7])
    assert (sys.getrefcount(values), sys.getrefcount(more)) == before

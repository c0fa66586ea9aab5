"""The number of threads: what is asked for, at most what there is, and put back afterwards."""

import numba
import pytest

from mdfuzzy._threads import thread_count, using_threads

CORES = numba.config.NUMBA_NUM_THREADS


@pytest.mark.parametrize("n_jobs", [None, -1])
def test_every_core(n_jobs):
    assert thread_count(n_jobs) == CORES


def test_no_more_than_there_are():
    assert thread_count(1) == 1
    assert thread_count(CORES + 5) == CORES


@pytest.mark.parametrize(
    ("n_jobs", "kind"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_not_a_number_of_threads(n_jobs, kind):
    with pytest.raises(
        kind, match=r"^`n_jobs` must be an int of at least 1; got .*None or -1 uses every core\.$"
    ):
        thread_count(n_jobs)


def test_restored_after_the_block():
    before = numba.get_num_threads()
    with using_threads(1) as count:
        assert count == numba.get_num_threads() == 1
    assert numba.get_num_threads() == before


def test_restored_after_an_error():
    before = numba.get_num_threads()
    with pytest.raises(ZeroDivisionError), using_threads(1):
        1 / 0  # noqa: B018
    assert numba.get_num_threads() == before


def test_nothing_changes_when_the_number_is_refused():
    before = numba.get_num_threads()
    with pytest.raises(ValueError, match="`n_jobs`"), using_threads(0):
        pass
    assert numba.get_num_threads() == before

"""The number of threads: what is asked for, at most what there is, and put back afterwards."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import pytest

import mdfuzzy as mf
from mdfuzzy import _threads
from mdfuzzy._threads import run_ranges, share, thread_count, using_threads

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


def note(first: int, last: int, calls: list) -> None:
    calls.append((first, last, threading.get_ident()))


def test_ranges_of_a_shared_job_make_up_the_whole():
    for total in (0, 1, 5, 1000):
        calls = []
        with using_threads(None):
            share(note, total, calls)
        covered = sorted(i for first, last, _ in calls for i in range(first, last))
        assert covered == list(range(total))


def test_outside_of_the_block_and_on_one_thread_the_caller_works():
    calls = []
    share(note, 7, calls)
    with using_threads(1):
        share(note, 7, calls)
    assert calls == [(0, 7, threading.get_ident())] * 2


def fail(first: int, last: int) -> None:
    raise ArithmeticError(f"at {first}")


def test_an_error_ends_a_shared_job():
    with using_threads(None), pytest.raises(ArithmeticError, match="at 0"):
        share(fail, 1000)
    with pytest.raises(ArithmeticError, match="at 0"):
        run_ranges(fail, 1000, 10, None)


def test_a_limit_holds_for_every_step_and_picture(monkeypatch, tmp_path):
    asked: list[int] = []

    class Counting(ThreadPoolExecutor):
        def __init__(self, max_workers: int) -> None:
            asked.append(max_workers)
            super().__init__(max_workers)

    frames = mf.datasets.alanine_dipeptide(stride=20)  # files are read with all threads
    monkeypatch.setattr(_threads, "ThreadPoolExecutor", Counting)
    data = mf.Frames(frames.xyz, frames.lengths)  # without torsions, for principal components
    settings = mf.Settings(n_jobs=1, scan_k=True, bootstrap=2, prominence=1.0)
    result = mf.cluster(data, settings)
    mf.plots.write_plots(tmp_path, result, kinds=["states"], dpi=20)
    mf.report.write_report(tmp_path / "report.html", result)
    assert set(asked) == {1}
    with _threads.limited_threads(None):
        assert _threads.thread_count(None) == _threads.thread_count(-1) >= 1

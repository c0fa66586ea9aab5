"""How many threads the kernels use."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from mdfuzzy._check import check_int


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for (None or -1: every core this process may use).

    Examples
    --------
    >>> thread_count(1)
    1
    """
    from numba import config

    if n_jobs is None or n_jobs == -1:
        return config.NUMBA_NUM_THREADS
    remedy = "None or -1 uses every core."
    return min(check_int("n_jobs", n_jobs, 1, remedy=remedy), config.NUMBA_NUM_THREADS)


@contextmanager
def using_threads(n_jobs: int | None) -> Iterator[int]:
    """Run the kernels called inside the block on `n_jobs` threads, then restore what was set before."""
    import numba

    before = numba.get_num_threads()
    count = thread_count(n_jobs)
    numba.set_num_threads(count)
    try:
        yield count
    finally:
        numba.set_num_threads(before)


def run_ranges(work: Callable[[int, int], object], total: int, step: int, n_jobs: int | None) -> None:
    """Call ``work(first, last)`` for the ranges of at most `step` that make up ``range(total)``, in threads.

    For kernels that release the interpreter lock and write only to their own range. An exception, Ctrl-C
    among them, cancels the ranges that have not begun and is raised when those under way have ended:
    nothing goes on running.

    Examples
    --------
    >>> squares = [0] * 5
    >>> def work(first, last):
    ...     squares[first:last] = [i * i for i in range(first, last)]
    >>> run_ranges(work, 5, 2, n_jobs=1)
    >>> squares
    [0, 1, 4, 9, 16]
    """
    ranges = [(first, min(total, first + step)) for first in range(0, total, step)]
    with ThreadPoolExecutor(thread_count(n_jobs)) as pool:
        futures = [pool.submit(work, *limits) for limits in ranges]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise

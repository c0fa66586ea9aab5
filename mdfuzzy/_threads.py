"""How many threads the kernels use."""

from collections.abc import Iterator
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

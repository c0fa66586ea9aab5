"""Control the number of threads that the kernels use."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar

from mdfuzzy._check import check_int

#: The threads that `share` uses: their number and their pool.
_THREADS: ContextVar[tuple[int, ThreadPoolExecutor | None]] = ContextVar("threads", default=(1, None))
#: The largest number of threads where none is given; None for every core.
_LIMIT: ContextVar[int | None] = ContextVar("limit", default=None)
#: The number of parts per thread, so that no thread waits long for the last part.
_PARTS = 4


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` requests.

    None or -1 requests every core that this process may use, or as many as `limited_threads` allows.

    Examples
    --------
    >>> thread_count(1)
    1
    """
    from numba import config

    if n_jobs is None or n_jobs == -1:
        return min(_LIMIT.get() or config.NUMBA_NUM_THREADS, config.NUMBA_NUM_THREADS)
    remedy = "None or -1 uses every core."
    return min(check_int("n_jobs", n_jobs, 1, remedy=remedy), config.NUMBA_NUM_THREADS)


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit our kernels and the linear algebra to `n_jobs` threads inside the block.

    A number of threads given by the user then applies to every step, at any depth of calls.

    Examples
    --------
    >>> with limited_threads(1):
    ...     thread_count(None)
    1
    """
    if n_jobs is None or n_jobs == -1:
        yield
        return
    from threadpoolctl import threadpool_limits

    outer = _LIMIT.set(thread_count(n_jobs))
    try:
        with threadpool_limits(_LIMIT.get()):
            yield
    finally:
        _LIMIT.reset(outer)


@contextmanager
def serial_algebra() -> Iterator[None]:
    """Use one thread for the linear algebra inside the block, so that its rounding is always the same.

    Examples
    --------
    >>> import numpy as np
    >>> with serial_algebra():
    ...     int(np.trace(np.eye(3) @ np.eye(3)))
    3
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@contextmanager
def using_threads(n_jobs: int | None) -> Iterator[int]:
    """Use `n_jobs` threads inside the block, for calls of `share` and for parallel code of numba."""
    import numba

    before = numba.get_num_threads()
    count = thread_count(n_jobs)
    with ThreadPoolExecutor(count) as pool:  # it starts a thread only when there is work
        numba.set_num_threads(count)
        outer = _THREADS.set((count, pool))
        try:
            yield count
        finally:
            _THREADS.reset(outer)
            numba.set_num_threads(before)


def share(kernel: Callable[..., object], total: int, *arguments: object) -> None:
    """Call ``kernel(first, last, *arguments)`` for ranges that make up ``range(total)``, in threads.

    The threads are those of `using_threads`; outside of its block the calling thread does all the work. The
    kernels must release the interpreter lock and write only to their own range. The result then does not
    depend on the ranges.

    Examples
    --------
    >>> squares = [0] * 5
    >>> def square(first, last, out):
    ...     out[first:last] = [i * i for i in range(first, last)]
    >>> with using_threads(1):
    ...     share(square, 5, squares)
    >>> squares
    [0, 1, 4, 9, 16]
    """
    count, pool = _THREADS.get()
    if pool is None or count == 1:
        kernel(0, total, *arguments)
    else:
        step = max(1, -(-total // (count * _PARTS)))
        _run(pool, lambda first, last: kernel(first, last, *arguments), total, step)


def run_ranges(work: Callable[[int, int], object], total: int, step: int, n_jobs: int | None) -> None:
    """Call ``work(first, last)`` for the ranges of at most `step` that make up ``range(total)``, in threads.

    The kernels must release the interpreter lock and write only to their own range. An exception, including
    Ctrl-C, cancels the ranges that have not begun. It is raised when the running ranges have ended, so that
    nothing continues in the background.

    Examples
    --------
    >>> squares = [0] * 5
    >>> def work(first, last):
    ...     squares[first:last] = [i * i for i in range(first, last)]
    >>> run_ranges(work, 5, 2, n_jobs=1)
    >>> squares
    [0, 1, 4, 9, 16]
    """
    if 0 < total <= step:  # threads would take longer to begin
        thread_count(n_jobs)  # it checks the number
        work(0, total)
        return
    for _ in run_in_turn(work, [slice(0, total)], step, n_jobs):
        pass


def run_in_turn(
    work: Callable[[int, int], object], parts: Sequence[slice], step: int, n_jobs: int | None
) -> Generator[int, None, None]:
    """Call work on ranges of several parts in threads; yield the number of each finished part, in order.

    Meanwhile the threads continue with the next parts. They end when the generator is closed.

    Examples
    --------
    >>> done = []
    >>> list(run_in_turn(lambda first, last: done.append((first, last)), [slice(0, 3), slice(7, 9)], 2, 1))
    [0, 1]
    >>> done
    [(0, 2), (2, 3), (7, 9)]
    """
    with ThreadPoolExecutor(thread_count(n_jobs)) as pool:
        futures = [_submit(pool, work, part, step) for part in parts]
        try:
            for number, part in enumerate(futures):
                for future in part:
                    future.result()
                yield number
        finally:
            _cancel([future for part in futures for future in part])


def _run(pool: ThreadPoolExecutor, work: Callable[[int, int], object], total: int, step: int) -> None:
    futures = _submit(pool, work, slice(0, total), step)
    try:
        for future in futures:
            future.result()
    finally:
        _cancel(futures)


def _submit(
    pool: ThreadPoolExecutor, work: Callable[[int, int], object], part: slice, step: int
) -> list[Future[object]]:
    starts = range(part.start, part.stop, step)
    return [pool.submit(work, first, min(part.stop, first + step)) for first in starts]


def _cancel(futures: list[Future[object]]) -> None:
    """Cancel calls that have not begun, and wait for running ones."""
    for future in futures:
        future.cancel()
    wait(futures)

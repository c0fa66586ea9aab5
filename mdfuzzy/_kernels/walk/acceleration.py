"""Kernels of Anderson acceleration: the changes made by earlier steps, and the next step.

Threads share them by ranges of rows, or of blocks of rows: sums over all points go through blocks of a fixed
size. Columns are taken eight at a time (see `columns`).
"""

import numpy as np

from mdfuzzy._kernels.intrinsics import borrowed
from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.walk.columns import add, by_columns, load, multiply, store, subtract

#: Rows per partial sum; fixed, so that sums do not depend on the number of threads.
BLOCK = 4096


@compiled(nogil=True)
def block_largest(first: int, last: int, values: np.ndarray, largest: np.ndarray) -> None:  # OUT largest
    """Find the largest absolute value of each column in each block of rows; NaN if there is one."""
    for b in range(first, last):
        largest[b] = 0.0
        for i in range(b * BLOCK, min(len(values), (b + 1) * BLOCK)):
            for c in range(values.shape[1]):
                size = abs(values[i, c])
                if size > largest[b, c] or size != size:  # NaN is kept: no comparison with it is true
                    largest[b, c] = size


@compiled(nogil=True)
def block_dots(
    first: int,
    last: int,
    correction: np.ndarray,
    known: int,
    at: int,
    moves: np.ndarray,  # IN, OUT: (history, n, columns)
    changes: np.ndarray,  # IN, OUT: (history, n, columns)
    sums: np.ndarray,  # OUT: (blocks, known, 2, columns)
) -> None:
    """Complete change number `at`, which holds the previous correction, and its move; set inner products.

    A move is a step together with the change of the correction that it caused. The inner products are sums
    over the rows of each block: of each of the `known` changes with this change, and with the correction.
    """
    n, columns = correction.shape
    width = np.uint64(columns)
    job = borrowed((correction.reshape(-1), changes.reshape(-1), sums.reshape(-1), at, n, width))
    for b in range(first, last):
        start, stop = b * BLOCK, min(n, (b + 1) * BLOCK)
        for i in range(start, stop):
            for c in range(columns):
                changes[at, i, c] = correction[i, c] - changes[at, i, c]
                moves[at, i, c] += changes[at, i, c]
        for u in range(known):
            by_columns(_dots, width, (start, stop, u, b * known + u), job)


@compiled(nogil=True)
def _dots(like, c, where, job):
    start, stop, u, place = where
    correction, changes, sums, at, n, width = job
    with_change, with_correction = like, like
    for i in range(np.uint64(start), np.uint64(stop)):
        value = load(like, changes, (np.uint64(u * n) + i) * width + c)
        change = load(like, changes, (np.uint64(at * n) + i) * width + c)
        with_change = add(with_change, multiply(value, change))
        with_correction = add(with_correction, multiply(value, load(like, correction, i * width + c)))
    store(with_change, sums, np.uint64(2 * place) * width + c)
    store(with_correction, sums, np.uint64(2 * place + 1) * width + c)


@compiled(nogil=True)
def take_step(
    first: int,
    last: int,
    correction: np.ndarray,
    shares: np.ndarray,
    at: int,
    x: np.ndarray,  # IN, OUT
    moves: np.ndarray,  # IN, OUT: (history, n, columns)
    changes: np.ndarray,  # OUT: (history, n, columns)
) -> None:
    """Move `x` by the correction minus a combination of earlier moves.

    The step and the correction then replace the oldest entry of the history, number `at`.
    """
    n, width = len(x), np.uint64(x.shape[1])
    arrays = correction.reshape(-1), shares.reshape(-1), x.reshape(-1), moves.reshape(-1), changes.reshape(-1)
    job = borrowed((*arrays, len(shares), np.uint64(at * n), np.uint64(n), width))
    for i in range(np.uint64(first), np.uint64(last)):
        by_columns(_step, width, i, job)


@compiled(nogil=True)
def _step(like, c, i, job):
    correction, shares, x, moves, changes, known, oldest, n, width = job
    here = i * width + c
    found = load(like, correction, here)
    value = found
    for u in range(np.uint64(known)):
        move = load(like, moves, (u * n + i) * width + c)
        value = subtract(value, multiply(load(like, shares, u * width + c), move))
    there = (oldest + i) * width + c
    store(value, moves, there)
    store(found, changes, there)
    store(add(load(like, x, here), load(like, moves, there)), x, here)

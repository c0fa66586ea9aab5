"""An order of points in which points near each other are side by side."""

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.candidates import sort_together
from mdfuzzy._kernels.search.lanes import LANES


@compiled(forceinline=True)
def widest_axis(coordinates, rows, low, high):  # OUT low, high
    """Return the first of the columns in which some rows span most; `low` and `high` are their ends."""
    axis = 0
    for p in range(len(low)):
        low[p] = high[p] = coordinates[rows[0], p]
    for i in rows:
        for p in range(len(low)):
            low[p], high[p] = min(low[p], coordinates[i, p]), max(high[p], coordinates[i, p])
    for p in range(len(low)):
        axis = p if high[p] - low[p] > high[axis] - low[axis] else axis
    return axis


@compiled(nogil=True)
def compact_order(coordinates, part):
    """Return an order of the rows in which each run of 64, and in it each run of `part`, is compact.

    Rows are split at the median along the widest axis, repeatedly.
    """
    order, keys = np.arange(len(coordinates)), np.empty(len(coordinates))
    first, last = np.zeros(128, np.int64), np.full(128, len(coordinates))  # parts that wait to be split
    low, high = np.empty_like(coordinates[:1]).ravel(), np.empty_like(coordinates[:1]).ravel()
    waiting = 1
    while waiting:
        waiting -= 1
        a, b = first[waiting], last[waiting]
        size = LANES if b - a > LANES else part
        parts = -(-(b - a) // size)
        if parts < 2:
            continue
        axis = widest_axis(coordinates, order[a:b], low, high)
        for i in range(a, b):
            keys[i] = coordinates[order[i], axis]
        sort_together(keys[a:b], order[a:b])
        middle = a + size * ((parts + 1) // 2)
        first[waiting], last[waiting] = a, middle
        first[waiting + 1], last[waiting + 1] = middle, b
        waiting += 2
    return order

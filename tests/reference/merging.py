"""Rows of neighbours put together, slowly and obviously."""

import itertools

import numpy as np

from mdfuzzy.neighbors._dask.shards import Found


def merge_slowly(parts: list[Found], n_neighbors: int | None) -> Found:
    """The obvious way: everything of a row, sorted, and cut."""
    rows = []
    for row in range(len(parts[0])):
        pairs = [
            pair
            for part in parts
            for pair in zip(
                part.squares[part.start[row] : part.start[row + 1]].tolist(),
                part.frames[part.start[row] : part.start[row + 1]].tolist(),
                strict=True,
            )
        ]
        rows.append(sorted(pairs)[:n_neighbors])
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    squares, found = np.array(list(itertools.chain(*rows))).T
    return Found(start, found.astype(np.int32), squares)

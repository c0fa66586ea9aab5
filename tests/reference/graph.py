"""Graphs from neighbour lists, by dictionaries."""

import numpy as np

Rows = list[dict[int, np.float32]]


def directed_rows(indices: np.ndarray, distances: np.ndarray) -> Rows:
    """Return {neighbour: distance} of every point."""
    return [
        {int(j): d for j, d in zip(row, lengths, strict=True)}
        for row, lengths in zip(indices, distances, strict=True)
    ]


def union_rows(indices: np.ndarray, distances: np.ndarray) -> Rows:
    """Return {other end: distance} of every point: joined if either has the other as a neighbour.

    Where both have each other, the smaller of the two distances counts.
    """
    rows: Rows = [{} for _ in indices]
    for i, row in enumerate(directed_rows(indices, distances)):
        for j, d in row.items():
            for a, b in ((i, j), (j, i)):
                rows[a][b] = min(d, rows[a].get(b, d))
    return rows


def compressed(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (indptr, indices, distances) with ascending indices in each row."""
    indptr = np.array([0, *np.cumsum([len(row) for row in rows])], dtype=np.int64)
    indices = np.array([j for row in rows for j in sorted(row)], dtype=np.int32)
    distances = np.array([row[j] for row in rows for j in sorted(row)], dtype=np.float32)
    return indptr, indices, distances

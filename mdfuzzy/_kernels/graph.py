"""Neighbour lists to compressed rows: transpose, and union of a directed graph with its transpose."""

import numpy as np

from mdfuzzy._kernels.jit import kernel


@kernel()
def transpose_lists(indices: np.ndarray, distances: np.ndarray, n_targets: int):
    """Return (indptr, sources, distances) of the reversed edges; sources ascend within a row."""
    n, k = indices.shape
    indptr = np.zeros(n_targets + 1, np.int64)
    for i in range(n):
        for c in range(k):
            indptr[indices[i, c] + 1] += 1
    for j in range(n_targets):
        indptr[j + 1] += indptr[j]
    fill = indptr[:-1].copy()
    sources = np.empty(n * k, np.int32)
    lengths = np.empty(n * k, np.float32)
    for i in range(n):
        for c in range(k):
            j = indices[i, c]
            sources[fill[j]] = i
            lengths[fill[j]] = distances[i, c]
            fill[j] += 1
    return indptr, sources, lengths


@kernel(nogil=True)
def union_counts(
    first: int,
    last: int,
    indices: np.ndarray,
    in_indptr: np.ndarray,
    in_sources: np.ndarray,
    counts: np.ndarray,  # OUT
) -> None:
    """Count how many different points each point is joined to, in either direction.

    Here and below the rows of `indices` ascend, and a kernel works on those from `first` to `last`.
    """
    k = indices.shape[1]
    for i in range(first, last):
        a, b, stop, total = 0, in_indptr[i], in_indptr[i + 1], 0
        while a < k or b < stop:
            if b == stop or (a < k and indices[i, a] < in_sources[b]):
                a += 1
            elif a == k or in_sources[b] < indices[i, a]:
                b += 1
            else:
                a += 1
                b += 1
            total += 1
        counts[i] = total


@kernel(nogil=True)
def union_fill(
    first: int,
    last: int,
    indices: np.ndarray,
    distances: np.ndarray,
    in_indptr: np.ndarray,
    in_sources: np.ndarray,
    in_distances: np.ndarray,
    indptr: np.ndarray,
    union_indices: np.ndarray,  # OUT
    union_distances: np.ndarray,  # OUT
) -> None:
    """Merge each point's neighbours with the points that have it as a neighbour, ascending by index.

    An edge found from both ends gets the smaller of the two distances (they may differ in the last
    bit), so that the graph is exactly symmetric.
    """
    k = indices.shape[1]
    for i in range(first, last):
        a, b, stop, at = 0, in_indptr[i], in_indptr[i + 1], indptr[i]
        while a < k or b < stop:
            if b == stop or (a < k and indices[i, a] < in_sources[b]):
                union_indices[at] = indices[i, a]
                union_distances[at] = distances[i, a]
                a += 1
            elif a == k or in_sources[b] < indices[i, a]:
                union_indices[at] = in_sources[b]
                union_distances[at] = in_distances[b]
                b += 1
            else:
                union_indices[at] = in_sources[b]
                union_distances[at] = min(distances[i, a], in_distances[b])
                a += 1
                b += 1
            at += 1

"""Convert neighbour lists to compressed rows: transpose, and union of a graph with its transpose."""

import numpy as np

from mdfuzzy._kernels.jit import compiled

#: Points whose edges are transposed together: the data of this many points fit into the cache.
BITS = 13
BUCKET = 1 << BITS


@compiled(nogil=True)
def bucket_counts(
    first: int,
    last: int,
    indices: np.ndarray,
    k: int,
    counts: np.ndarray,  # OUT, zero before
) -> None:
    """Count the edges from each bucket of points to each other bucket.

    Here and below a kernel works on the buckets from `first` to `last`, and the first k entries of each row.
    """
    for b in range(first, last):
        for i in range(b * BUCKET, min(len(indices), (b + 1) * BUCKET)):
            for c in range(k):
                counts[b, indices[i, c] >> BITS] += 1


@compiled(nogil=True)
def fill_buckets(
    first: int,
    last: int,
    indices: np.ndarray,
    distances: np.ndarray,
    k: int,
    starts: np.ndarray,
    targets: np.ndarray,  # OUT
    sources: np.ndarray,  # OUT
    lengths: np.ndarray,  # OUT
) -> None:
    """Write the edges from bucket b to t, from ``starts[b, t]`` on; `targets` count within the bucket."""
    for b in range(first, last):
        fill = starts[b].copy()
        for i in range(b * BUCKET, min(len(indices), (b + 1) * BUCKET)):
            for c in range(k):
                t = indices[i, c] >> BITS
                at = fill[t]
                fill[t] = at + 1
                targets[at] = indices[i, c] - t * BUCKET
                sources[at] = i
                lengths[at] = distances[i, c]


@compiled(nogil=True)
def sort_buckets(
    first: int,
    last: int,
    bounds: np.ndarray,
    targets: np.ndarray,
    indptr: np.ndarray,  # OUT, except its last entry
    sources: np.ndarray,  # IN, OUT
    lengths: np.ndarray,  # IN, OUT
) -> None:
    """Sort the edges to each bucket by the point that they lead to; sources ascend within a row."""
    fill = np.empty(BUCKET + 1, np.int64)
    for b in range(first, last):
        start, stop = bounds[b], bounds[b + 1]
        fill[:] = 0
        for e in range(start, stop):
            fill[targets[e] + 1] += 1
        fill[0] = start
        for t in range(BUCKET):
            fill[t + 1] += fill[t]
        for t in range(min(BUCKET, len(indptr) - 1 - b * BUCKET)):
            indptr[b * BUCKET + t] = fill[t]
        old_sources, old_lengths = sources[start:stop].copy(), lengths[start:stop].copy()
        for e in range(start, stop):
            at = fill[targets[e]]
            fill[targets[e]] = at + 1
            sources[at] = old_sources[e - start]
            lengths[at] = old_lengths[e - start]


@compiled(nogil=True)
def union_counts(
    first: int,
    last: int,
    indices: np.ndarray,
    in_indptr: np.ndarray,
    in_sources: np.ndarray,
    counts: np.ndarray,  # OUT
) -> None:
    """Count the different points to which each point is joined, in either direction.

    Here and below the rows of `indices` ascend, and a kernel works on the rows from `first` to `last`.
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


@compiled(nogil=True)
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

"""Frames as the kernels take them, and their division among the nearest of some of them."""

import numpy as np

from mdfuzzy._kernels import cells as kernels
from mdfuzzy._threads import run_ranges


def flatten(xyz: np.ndarray, n_jobs: int | None) -> kernels.Queries:
    """Return frames flat, padded to an even number of atoms, with what the kernels need to know of each."""
    n, atoms, _ = xyz.shape
    flat, norms, spreads = np.zeros((n, 3 * (atoms + atoms % 2)), np.float32), np.empty(n), np.empty(n)

    def fill(first: int, last: int) -> None:
        part = xyz[first:last].astype(np.float64)
        flat[first:last, : 3 * atoms] = part.reshape(len(part), -1)
        # from float64: a sum that converts on the way has other bits wherever its buffer ends
        norms[first:last] = np.einsum("ij,ij->i", *[part.reshape(len(part), -1)] * 2)
        spreads[first:last] = two_smallest(part.transpose(0, 2, 1) @ part, norms[first:last])

    run_ranges(fill, n, 16_384, n_jobs)
    return kernels.Queries(flat, norms, spreads)


def two_smallest(moments: np.ndarray, traces: np.ndarray) -> np.ndarray:
    """Return lower bounds, to within rounding, of the sums of the two smaller eigenvalues of symmetric 3 x 3
    matrices with these traces.

    The trace less the largest eigenvalue, q + 2 p cos(phi / 3) with q a third of the trace, 6 p^2 the squared
    norm of A = moments - q and cos(phi) = det(A) / 2 p^3 (Smith 1961). Where phi loses digits, near 0, its
    cosine does not depend on it.
    """
    (a, d, e), (_, b, f), (_, _, c) = moments.transpose(1, 2, 0)
    third = traces / 3
    a, b, c = a - third, b - third, c - third
    p = np.sqrt((a * a + b * b + c * c + 2 * (d * d + e * e + f * f)) / 6)
    determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    cosine = np.clip(determinant / np.maximum(2 * p**3, 1e-300), -1, 1)
    smaller = traces - third - 2 * p * np.cos(np.arccos(cosine) / 3)
    return np.maximum(smaller - 1e-14 * traces, 0.0)  # a smaller sum is always safe


def group_frames(
    queries: kernels.Queries,
    members: np.ndarray,
    count: int,
    random: np.random.Generator,
    n_jobs: int | None,
) -> list[tuple[np.ndarray, int]]:
    """Divide frames among `count` of them, each to the nearest; return the (members, seed) of what is not
    empty.
    """
    seeds = random.choice(members, max(1, min(count, len(members))), replace=False)
    label = nearest_centres(queries, members, queries.flat[seeds], queries.norms[seeds], n_jobs)
    parts = np.split(
        members[np.argsort(label, kind="stable")], np.cumsum(np.bincount(label, minlength=len(seeds)))[:-1]
    )
    return [(part, int(seed)) for part, seed in zip(parts, seeds, strict=True) if len(part)]


def nearest_centres(
    queries: kernels.Queries,
    members: np.ndarray,
    centres: np.ndarray,
    centre_norms: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Return the nearest of `centres` (flat frames) for each of `members`."""
    labels = np.empty(len(members), np.int32)

    def assign(first: int, last: int) -> None:
        kernels.nearest_centres(
            queries.flat, queries.norms, members, centres, centre_norms, first, last, labels
        )

    run_ranges(assign, len(members), 4096, n_jobs)
    return labels

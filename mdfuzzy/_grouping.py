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
        # eigenvalues to within rounding; a smaller spread is always safe
        smallest = np.linalg.eigvalsh(part.transpose(0, 2, 1) @ part)[:, :2].sum(axis=1)
        spreads[first:last] = np.maximum(smallest - 1e-14 * norms[first:last], 0.0)

    run_ranges(fill, n, 16_384, n_jobs)
    return kernels.Queries(flat, norms, spreads)


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

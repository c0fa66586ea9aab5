"""Flatten frames for the kernels, and assign frames to their nearest seed."""

import numpy as np

from mdfuzzy._kernels.search import cells as kernels
from mdfuzzy._threads import run_ranges


def flatten(xyz: np.ndarray, n_jobs: int | None) -> kernels.Queries:
    """Return flat frames, padded to an even number of atoms, with the data that the kernels need for each."""
    n, atoms, _ = xyz.shape
    queries = kernels.Queries(np.zeros((n, 3 * (atoms + atoms % 2)), np.float32), np.empty(n), np.empty(n))
    coordinates = np.ascontiguousarray(xyz, np.float32).reshape(n, -1)
    run_ranges(lambda *rows: kernels.describe_frames(*rows, coordinates, queries), n, 16_384, n_jobs)
    return queries


def permute(flat: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """Return flat frames with their atoms in another order; a padded atom stays."""
    places = np.arange(flat.shape[1])
    places[: 3 * len(atoms)] = (3 * atoms[:, None] + np.arange(3)).ravel()
    return np.ascontiguousarray(flat[:, places])


def group_frames(
    queries: kernels.Queries,
    members: np.ndarray,
    count: int,
    random: np.random.Generator,
    n_jobs: int | None,
) -> list[tuple[np.ndarray, int]]:
    """Assign frames to the nearest of `count` seeds; return (members, seed) of non-empty groups."""
    seeds = random.choice(members, max(1, min(count, len(members))), replace=False)
    label = nearest_centres(queries, members, queries.flat[seeds], queries.norms[seeds], n_jobs)
    if len(seeds) < 2**16:
        label = label.astype(np.uint16)  # numpy sorts this type by radix sort
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

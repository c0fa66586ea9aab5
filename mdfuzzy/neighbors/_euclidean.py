"""Find the nearest points in Euclidean distance, in this process or on a Dask cluster."""

from typing import TYPE_CHECKING

import numpy as np

from mdfuzzy._threads import thread_count
from mdfuzzy.frames.symmetry import Symmetry
from mdfuzzy.neighbors.blocks import BlockStore, Search, run_blocks

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client

#: The number of groups of 64 queries in a block, the unit that is kept when a run is killed.
BLOCK = 512


def nearest_points(
    points: np.ndarray,
    queries: np.ndarray | None,
    n_neighbors: int,
    *,
    symmetry: Symmetry | None = None,
    parts: float = 1.0,
    recall: float = 1.0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
    client: "Client | None" = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) of the nearest points of each query, or of each point other than itself.

    The search is always exact. Distances are Euclidean, divided by the square root of `parts`. If the vectors
    are the coordinates of `parts` atoms, fitted on other atoms, the distances are RMSDs without
    superposition. With `symmetry` they are the minimum over permutations of equivalent atoms.
    """
    from mdfuzzy.neighbors._points import build_points
    from mdfuzzy.neighbors._search import Aim, LocalSearch, Nearest, name_blocks

    index = build_points(points, symmetry=symmetry, parts=parts, n_jobs=n_jobs)
    chunks = index.own_chunks() if queries is None else index.chunks(queries, n_jobs)
    aim = Aim(n_neighbors, recall=recall, what="neighbours of {} points")
    blocks, threads = name_blocks(aim, chunks, BLOCK), thread_count(n_jobs)
    search: Search = LocalSearch(index, chunks, aim, blocks, threads, None)
    if client is not None:
        from mdfuzzy.neighbors._dask.memory import whole_layout
        from mdfuzzy.neighbors._dask.replicated import ScatteredSearch
        from mdfuzzy.workers.cluster import find_workers

        workers = find_workers(client)
        layout = whole_layout(workers, index.__sizeof__(), n_neighbors)
        search = ScatteredSearch(**vars(search), client=client, workers=workers, layout=layout)
    n = len(points if queries is None else queries)
    found = Nearest(n, n_neighbors)
    run_blocks(search, n, found, store, progress)
    return found.indices, found.distances

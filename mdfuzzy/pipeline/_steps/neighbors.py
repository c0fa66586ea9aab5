"""Steps from the data to the graph of neighbours."""

from typing import TYPE_CHECKING, Literal

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.copies import count_different
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline._cache import EarlierStep, step
from mdfuzzy.pipeline.settings import resolve_k
from mdfuzzy.states.noise import mean_copies

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client


@step(saved=False)
def n_neighbors(data: Trajectories, *, k: int | None) -> int:
    """Return the number of neighbours to search: 2k, as the density needs."""
    different = count_different(data.points) if k is None else None
    return 2 * resolve_k(k, len(data), n_different=different)


@step(message="searching for the nearest neighbours of every frame")
def neighbors(
    data: Trajectories,
    n_neighbors: int,
    *,
    recall: float,
    n_jobs: int | None,
    progress: bool | None,
    blocks: BlockStore | None,
    client: "Client | None",
    layout: Literal["scattered", "sharded"] | None,
    earlier: EarlierStep | None,
) -> Neighbors:
    """Search by the metric of the data; a saved search keeps spare neighbours, so that it can be extended."""
    from mdfuzzy.neighbors.growing import SPARE, Earlier, grow_neighbors, with_spare

    exact_here = recall == 1 and client is None
    if earlier is not None and exact_here:
        known = Earlier(earlier.result, earlier.frames)
        if known.serves(data):
            return grow_neighbors(
                data, known, n_neighbors=n_neighbors, n_jobs=n_jobs, progress=progress, store=blocks
            )
    spare = SPARE if recall == 1 and blocks is not None else 0
    found = nearest_frames(
        data,
        n_neighbors=min(n_neighbors + spare, len(data) - 1),
        recall=recall,
        n_jobs=n_jobs,
        progress=progress,
        store=blocks,
        client=client,
        layout=layout,
    )
    return with_spare(found, n_neighbors)


@step(saved=False)
def k(neighbors: Neighbors, *, k: int | None) -> int:
    """Return the number of neighbours per frame in the graph."""
    different = round(len(neighbors) / mean_copies(neighbors))
    return resolve_k(k, len(neighbors), n_neighbors=neighbors.k, n_different=different)


@k.explained
def _(result: int, neighbors: Neighbors, *, k: int | None) -> str | None:
    if k is None:
        different = round(len(neighbors) / mean_copies(neighbors))
        copies = "" if different == len(neighbors) else f", {different:,} of them different"
        by = f"set by the number of frames ({len(neighbors):,}{copies})"
        return f"k = {result} neighbours per frame, {by}; the density estimate uses {2 * result} neighbours."
    return None


@step(saved=False)
def graph(neighbors: Neighbors, k: int) -> Graph:
    """Build the union graph: an edge joins two frames if either is among the k nearest of the other."""
    return neighbors.graph(k=k)

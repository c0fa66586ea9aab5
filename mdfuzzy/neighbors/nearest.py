"""Find the nearest neighbours of every frame by the metric of the data."""

from typing import TYPE_CHECKING, Literal

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.neighbors import Neighbors, euclidean_neighbors
from mdfuzzy.neighbors.rmsd import rmsd_neighbors

if TYPE_CHECKING:
    from mdfuzzy.workers.cluster import Client


def nearest_frames(
    data: Trajectories,
    *,
    n_neighbors: int,
    queries: Trajectories | None = None,
    recall: float = 1.0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
    client: "Client | None" = None,
    layout: Literal["scattered", "sharded"] | None = None,
) -> Neighbors:
    """Find the nearest frames by the metric of `data`: see `rmsd_neighbors` and `euclidean_neighbors`.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> nearest_frames(mf.Features([[[0.0], [1.0], [3.0]]]), n_neighbors=1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    if data.metric.superpose:
        return rmsd_neighbors(
            data,
            n_neighbors=n_neighbors,
            queries=queries,
            recall=recall,
            n_jobs=n_jobs,
            progress=progress,
            store=store,
            client=client,
            layout=layout,
        )
    return euclidean_neighbors(
        data,
        n_neighbors=n_neighbors,
        queries=queries,
        recall=recall,
        n_jobs=n_jobs,
        progress=progress,
        store=store,
        client=client,
    )

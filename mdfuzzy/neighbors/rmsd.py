"""Find neighbours under minimum RMSD, with optimal rotation and translation and without reflection.

Distances are computed in float64 from the float32 coordinates and returned as float32. They agree with a
float64 Kabsch superposition to 1e-7 of the radius of gyration (2e-8 nm for alanine dipeptide) and to the
rounding of float32. Distances below 2e-7 of the radius of gyration are 0, because they are less than the
rounding of the coordinates. ``md.rmsd`` uses float32 throughout and differs by about 2e-6 nm for ten atoms,
3e-5 nm for 2,000 atoms in a globule, and more for long molecules.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from mdfuzzy._check import InputValueError, check_int, check_real
from mdfuzzy._threads import thread_count
from mdfuzzy.frames.rereading import FrameFiles
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors._coordinates import check_conformations
from mdfuzzy.neighbors.blocks import BlockStore, run_blocks
from mdfuzzy.neighbors.copies import find_copies
from mdfuzzy.neighbors.graph import Graph
from mdfuzzy.neighbors.neighbors import Neighbors

if TYPE_CHECKING:
    from mdfuzzy.neighbors._dask.memory import Layout
    from mdfuzzy.neighbors._search import Aim
    from mdfuzzy.neighbors.blocks import Search
    from mdfuzzy.workers.cluster import Client, Workers

logger = logging.getLogger("mdfuzzy")

#: The number of queries in a group.
GROUP = 64
#: The number of groups of queries in a block, the unit that is kept when a run is killed.
BLOCK = 512


def rmsd_neighbors(
    frames: Trajectories | npt.ArrayLike,
    *,
    n_neighbors: int = 100,
    recall: float = 1.0,
    queries: Trajectories | npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
    client: Client | None = None,
    layout: Literal["scattered", "sharded"] | None = None,
) -> Neighbors:
    """Find the nearest other frames of every frame under minimum RMSD.

    The result is exact: as sets, the neighbours equal those from a comparison of all pairs, up to ties within
    1e-6 nm. The result is bitwise the same for any number of threads, and on a Dask cluster.

    Parameters
    ----------
    frames : Frames or (n, atoms, 3) array
        The conformations, in nm. If they were loaded with `symmetry`, the RMSD is the least over exchanges of
        symmetry-equivalent atoms.
    n_neighbors : int
        The number of neighbours to find, in [1, n - 1].
    recall : float
        The required share of true neighbours, in (0, 1]. Below 1 the search shrinks cells of frames, or
        compares only frames that are near each other after superposition on the average structure, as far as
        the recall on a sample of queries allows, and reports the measured recall. If an exact search takes no
        longer, the search is exact.
    queries : Frames or (m, atoms, 3) array, optional
        Find the neighbours of these frames instead, among `frames`; n_neighbors may then be n.
    n_jobs : int, optional
        The number of threads; by default one for every core.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    store : BlockStore, optional
        Keeps finished blocks of queries, so that a search that was killed can resume.
    client : distributed.Client, optional
        Search on the workers of this Dask cluster, with all of their threads. `n_jobs` then applies only to
        the work in this process.
    layout : {"scattered", "sharded"}, optional
        The layout of the index on a cluster: ``"scattered"`` puts the whole index on every worker,
        ``"sharded"`` puts some shards of it on each. The default is ``"scattered"`` if the memory of the
        workers allows it. Shards require an exact search.

    Returns
    -------
    Neighbors
        The indices and distances (nm), nearest first.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> neighbors = mf.rmsd_neighbors(frames, n_neighbors=10)
    >>> neighbors.indices.shape, neighbors.exact
    ((1500, 10), True)
    """
    from mdfuzzy.neighbors._search import Aim, Nearest

    xyz, others = check_conformations(frames, queries, n_jobs)
    remedy = f"There are {len(xyz)} frames."
    n_neighbors = check_int("n_neighbors", n_neighbors, 1, len(xyz) - (others is None), remedy=remedy)
    recall = check_real("recall", recall, above=0, at_most=1, remedy="1 asks for the exact neighbours.")
    copies = find_copies(xyz, n_neighbors + 1)
    if copies is not None:
        few = rmsd_neighbors(
            frames.subset(copies.kept) if isinstance(frames, Trajectories) else xyz[copies.kept],
            n_neighbors=n_neighbors,
            recall=recall,
            queries=queries,
            n_jobs=n_jobs,
            progress=progress,
            store=store,
            client=client,
            layout=layout,
        )
        spread = copies.spread(few.indices, few.distances, queries=others is not None)
        return Neighbors(*spread, exact=few.exact, recall=few.recall, n_targets=len(xyz))
    n = len(xyz if others is None else others)
    aim, found = Aim(n_neighbors, recall=recall), Nearest(n, n_neighbors)
    search, reached = _search(frames, xyz, others, aim, n_jobs, client, layout, store)
    run_blocks(search, n, found, store, progress)
    return Neighbors(
        found.indices, found.distances, exact=reached is None, recall=reached, n_targets=len(xyz)
    )


def rmsd_neighbors_within(
    frames: Trajectories | npt.ArrayLike,
    *,
    radius: float,
    queries: Trajectories | npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
    client: Client | None = None,
    layout: Literal["scattered", "sharded"] | None = None,
) -> Graph:
    """Find all pairs of frames within a radius under minimum RMSD.

    The result is bitwise the same for any number of threads, and on a Dask cluster.

    Parameters
    ----------
    frames : Frames or (n, atoms, 3) array
        The conformations, in nm.
    radius : float
        The largest RMSD of a pair, in nm.
    queries : Frames or (m, atoms, 3) array, optional
        Find the pairs of these frames with `frames` instead.
    n_jobs : int, optional
        The number of threads; by default one for every core.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    store : BlockStore, optional
        Keeps the pairs of finished blocks of queries, under names with the radius, so that a search that was
        killed can resume.
    client : distributed.Client, optional
        Search on the workers of this Dask cluster.
    layout : {"scattered", "sharded"}, optional
        The layout of the index on a cluster: the whole index, or some shards of it, on each worker.

    Returns
    -------
    Graph
        A graph of kind ``"radius"``, symmetric unless `queries` are given.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> graph = mf.rmsd_neighbors_within(frames, radius=0.02)
    >>> graph.kind, len(graph), float(graph.distances.max()) <= 0.02
    ('radius', 1500, True)
    """
    from mdfuzzy.neighbors._search import Aim, Pairs

    xyz, others = check_conformations(frames, queries, n_jobs)
    radius = check_real("radius", radius, above=0, remedy="It is an RMSD in nm, such as 0.02.")
    n = len(xyz if others is None else others)
    search, _ = _search(frames, xyz, others, Aim(0, radius), n_jobs, client, layout, store)
    found = Pairs()
    run_blocks(search, n, found, store, progress)
    return _radius_graph(*found.join(), n, len(xyz), radius, symmetric=others is None)


def _search(
    frames: Trajectories | npt.ArrayLike,
    xyz: np.ndarray,
    others: np.ndarray | None,
    aim: Aim,
    n_jobs: int | None,
    client: Client | None,
    layout: Literal["scattered", "sharded"] | None,
    store: BlockStore | None,
) -> tuple[Search, float | None]:
    """Return the search, and its measured recall; None if the search is exact."""
    symmetry = frames.symmetry if isinstance(frames, Trajectories) else None
    there = _on_workers(client, xyz, others, max(1, aim.n_neighbors), layout)
    if there is not None and there[1].sharded:
        from mdfuzzy.neighbors._dask.sharded import ShardedSearch

        if symmetry is not None:
            raise InputValueError(
                "`layout` must be 'scattered' for frames with equivalent atoms; this cluster needs shards. "
                "Give the workers more memory, or load the frames without `symmetry`."
            )
        if aim.recall < 1:
            raise InputValueError(
                f"`recall` must be 1 where the index is sharded; got {aim.recall:g}. What is missed would "
                "depend on the shards: give the workers more memory for layout 'scattered'."
            )
        return ShardedSearch(
            client=client,
            workers=there[0],
            layout=there[1],
            files=FrameFiles.of(frames) if isinstance(frames, Trajectories) else None,
            xyz=xyz,
            others=others,
            aim=aim,
            size=GROUP * BLOCK,
            n_jobs=n_jobs,
        ), None
    from mdfuzzy.neighbors._choice import choose_way
    from mdfuzzy.neighbors._search import LocalSearch, name_blocks

    largest = np.inf if there is None else there[1].room_for_index(there[0])
    way = choose_way(
        xyz,
        others,
        aim,
        permutations=None if symmetry is None else symmetry.permutations,
        store=store,
        threads=thread_count(n_jobs),
        n_jobs=n_jobs,
        largest=largest,
    )
    index, chunks, reached = way.index, way.chunks, None
    mark = "" if way.name == "cells" else "t"  # blocks of other queries
    if aim.recall < 1:
        from mdfuzzy.neighbors._recall import choose_factor, superpose_frames

        factor = 1.0
        if way.name == "cells":
            factor, reached = choose_factor(index, chunks, aim.n_neighbors, aim.recall, n_jobs)
        else:
            found = superpose_frames(
                index, xyz, others, aim, store=store, largest=largest, threads=thread_count(n_jobs)
            )
            if found is not None:
                (index, chunks, factor, reached), mark = found, "s"
        aim = aim._replace(factor=factor)
    blocks = name_blocks(aim, chunks, BLOCK, mark)
    search: Search = LocalSearch(index, chunks, aim, blocks, thread_count(n_jobs), way.seconds)
    if there is not None:
        from mdfuzzy.neighbors._dask.replicated import ScatteredSearch

        search = ScatteredSearch(**vars(search), client=client, workers=there[0], layout=there[1])
    return search, reached


def _on_workers(
    client: Client | None,
    xyz: np.ndarray,
    others: np.ndarray | None,
    n_neighbors: int,
    layout: Literal["scattered", "sharded"] | None,
) -> tuple[Workers, Layout] | None:
    """Return the resources of the workers and the layout of the index; None without a cluster."""
    if client is None:
        if layout is not None:
            raise InputValueError(f"`layout` must be None without `client`; got {layout!r}.")
        return None
    from mdfuzzy.neighbors._dask.memory import choose_layout
    from mdfuzzy.workers.cluster import find_workers

    workers = find_workers(client)
    return workers, choose_layout(
        workers,
        n=len(xyz),
        atoms=xyz.shape[1],
        n_others=0 if others is None else len(others),
        n_neighbors=n_neighbors,
        block=GROUP * BLOCK,
        layout=layout,
    )


def _radius_graph(
    rows: np.ndarray,
    columns: np.ndarray,
    lengths: np.ndarray,
    n: int,
    n_targets: int,
    radius: float,
    *,
    symmetric: bool,
) -> Graph:
    """Return the pairs as compressed rows.

    A symmetric graph takes each pair from the end with the smaller index. The length of the same pair, found
    from the other end, may differ in the last bit and lie on the other side of the radius.
    """
    from scipy.sparse import coo_array

    if symmetric:
        upper = rows < columns
        rows, columns, lengths = rows[upper], columns[upper], lengths[upper]
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        lengths = np.concatenate([lengths, lengths])
    # numbers of edges, not lengths, as entries: a length of 0 must survive
    number = coo_array((np.arange(1, len(rows) + 1), (rows, columns)), shape=(n, n_targets)).tocsr()
    number.sort_indices()
    return Graph(
        number.indptr,
        number.indices,
        lengths[number.data - 1],
        kind="radius",
        n_targets=n_targets,
        radius=radius,
    )

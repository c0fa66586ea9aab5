"""Neighbours under minimum RMSD: optimal rotation and translation, no reflection.

Distances are computed in float64 from the float32 coordinates and returned as float32. They agree with a
float64 Kabsch superposition to 1e-7 nm, and with ``md.rmsd``, which is float32 throughout, to about 2e-6 nm.
"""

import logging
import time
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from mdfuzzy._check import check_int, check_real
from mdfuzzy._conformations import check_conformations
from mdfuzzy._threads import thread_count
from mdfuzzy.frames import Frames
from mdfuzzy.graph import Graph
from mdfuzzy.neighbors import Neighbors

if TYPE_CHECKING:
    from mdfuzzy.rmsd_index import Chunks, RmsdIndex

logger = logging.getLogger("mdfuzzy")

#: Groups of 64 queries in a block: what is kept when a run is killed, and what could be sent to another
#: machine.
BLOCK = 512
#: Groups of queries on which recall is measured, twice.
SAMPLE = 24


class BlockStore(Protocol):
    """Where finished blocks of a search are kept; a run directory is one."""

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the arrays kept under `name`, or None."""

    def put(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays under `name`."""


def rmsd_neighbors(
    frames: Frames | npt.ArrayLike,
    *,
    n_neighbors: int = 100,
    recall: float = 1.0,
    queries: Frames | npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
) -> Neighbors:
    """Find the nearest other frames of every frame under minimum RMSD.

    The result is exact: as sets it equals a comparison of all pairs, up to ties within 1e-6 nm. It is the
    same, to the bit, for any number of threads.

    Parameters
    ----------
    frames : Frames or (n, atoms, 3) array
        The conformations, nm.
    n_neighbors : int
        How many neighbours to find, in [1, n - 1].
    recall : float
        The share of true neighbours that is enough, in (0, 1]. Below 1 the search takes cells of frames
        to be smaller than they are, by as much as a sample of queries allows, and reports the recall that
        it measured.
    queries : Frames or (m, atoms, 3) array, optional
        Find the neighbours of these instead, among `frames`; n_neighbors may then be n.
    n_jobs : int, optional
        Threads; every core by default.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    store : BlockStore, optional
        Keeps finished blocks of queries, so that a search that was killed goes on from there.

    Returns
    -------
    Neighbors
        Indices and distances (nm), nearest first.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> neighbors = mf.rmsd_neighbors(frames, n_neighbors=10)
    >>> neighbors.indices.shape, neighbors.exact
    ((1500, 10), True)
    """
    from mdfuzzy.rmsd_index import build_index

    xyz, others = check_conformations(frames, queries)
    remedy = f"There are {len(xyz)} frames."
    n_neighbors = check_int("n_neighbors", n_neighbors, 1, len(xyz) - (others is None), remedy=remedy)
    recall = check_real("recall", recall, above=0, at_most=1, remedy="1 asks for the exact neighbours.")
    threads = thread_count(n_jobs)
    index = build_index(xyz, n_jobs=n_jobs)
    chunks = index.own_chunks() if others is None else index.chunks(others, n_jobs)
    factor, reached = (1.0, None) if recall == 1 else _calibrate(index, chunks, n_neighbors, recall, n_jobs)
    n = len(chunks.frames)
    indices, distances = np.empty((n, n_neighbors), np.int32), np.empty((n, n_neighbors), np.float32)
    waiting, found = {}, 0
    for number, first in enumerate(range(0, len(chunks), BLOCK)):
        groups = np.arange(first, min(first + BLOCK, len(chunks)))
        name = f"neighbors-{n_neighbors}-{recall:g}-{number:05d}"
        done = store.get(name) if store is not None else None
        if done is None:
            waiting[name] = groups
        else:
            order = chunks.take(groups).order
            indices[order], distances[order] = done["indices"], done["distances"]
            found += len(order)
    if waiting:
        _announce(index, chunks, n - found, n_neighbors, factor, threads)
    with tqdm(
        total=n,
        initial=found,
        unit=" frames",
        desc="neighbours",
        disable=None if progress is None else not progress,
    ) as bar:
        for name, groups in waiting.items():
            block = chunks.take(groups)
            near, far, _ = index.nearest(block, n_neighbors, factor=factor, n_jobs=n_jobs, advance=bar.update)
            indices[block.order], distances[block.order] = near, far
            if store is not None:
                store.put(name, indices=near, distances=far)
    return Neighbors(indices, distances, exact=factor == 1, recall=reached, n_targets=len(xyz))


def rmsd_neighbors_within(
    frames: Frames | npt.ArrayLike,
    *,
    radius: float,
    queries: Frames | npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Graph:
    """Find all pairs of frames within a radius under minimum RMSD.

    Parameters
    ----------
    frames : Frames or (n, atoms, 3) array
        The conformations, nm.
    radius : float
        The largest RMSD of a pair, nm.
    queries : Frames or (m, atoms, 3) array, optional
        Find the pairs of these with `frames` instead.
    n_jobs : int, optional
        Threads; every core by default.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.

    Returns
    -------
    Graph
        Of kind ``"radius"``; symmetric, unless `queries` are given.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> frames = mf.datasets.alanine_dipeptide(stride=20)
    >>> graph = mf.rmsd_neighbors_within(frames, radius=0.02)
    >>> graph.kind, len(graph), float(graph.distances.max()) <= 0.02
    ('radius', 1500, True)
    """
    from mdfuzzy.rmsd_index import build_index

    xyz, others = check_conformations(frames, queries)
    radius = check_real("radius", radius, above=0, remedy="It is an RMSD in nm, such as 0.02.")
    index = build_index(xyz, n_jobs=n_jobs)
    chunks = index.own_chunks() if others is None else index.chunks(others, n_jobs)
    n = len(chunks.frames)
    with tqdm(
        total=n, unit=" frames", desc="neighbours", disable=None if progress is None else not progress
    ) as bar:
        rows, columns, lengths = index.within(chunks, radius, n_jobs=n_jobs, advance=bar.update)
    return _radius_graph(rows, columns, lengths, n, len(xyz), radius, symmetric=others is None)


def _calibrate(
    index: "RmsdIndex", chunks: "Chunks", n_neighbors: int, recall: float, n_jobs: int | None
) -> tuple[float, float | None]:
    """Return the smallest factor by which cells may be shrunk, and the recall measured with it.

    One sample of queries chooses: its mean recall, less twice the standard error over groups of queries,
    has to reach what was asked for. Another one confirms, and is what is reported.
    """
    chosen = np.random.default_rng(1).permutation(len(chunks))[: 2 * SAMPLE]
    sample = chunks.take(chosen)
    exact = index.nearest(sample, n_neighbors, n_jobs=n_jobs)[1][:, -1:]
    group = np.repeat(np.arange(len(chosen)), sample.sizes)
    best = 1.0, None
    low, high = 10, 100 if len(chosen) > 1 else 10  # hundredths: `high` is enough, and `low` the least tried
    while low < high:  # recall grows with the factor
        middle = (low + high) // 2
        distances = index.nearest(sample, n_neighbors, factor=middle / 100, n_jobs=n_jobs)[1]
        found = np.mean(distances <= exact * (1 + 1e-6), axis=1)
        by_group = np.bincount(group, found) / np.bincount(group)
        first, second = by_group[0::2], by_group[1::2]
        margin = 2 * first.std() / np.sqrt(len(first))
        if first.mean() - margin >= recall and second.mean() >= recall:
            best, high = (middle / 100, float(second.mean())), middle
        else:
            low = middle + 1
    return best


def _announce(
    index: "RmsdIndex", chunks: "Chunks", to_do: int, n_neighbors: int, factor: float, threads: int
) -> None:
    """Log how long the search of the rest will take and how much memory it needs, from a few queries."""
    sample = chunks.take(np.random.default_rng(2).permutation(len(chunks))[: 4 * threads])
    index.nearest(sample.take(np.arange(1)), n_neighbors, factor=factor, n_jobs=1)  # compiled by now
    begin = time.perf_counter()
    index.nearest(sample, n_neighbors, factor=factor, n_jobs=threads)
    seconds = (time.perf_counter() - begin) * to_do / len(sample.order)
    arrays = sum(array.nbytes for array in index.cells if isinstance(array, np.ndarray))
    gigabytes = (arrays + 8 * n_neighbors * len(chunks.frames)) / 1e9
    duration = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
    rest = "" if to_do == len(chunks.frames) else f" ({to_do:,} of them still to do)"
    logger.info(
        f"RMSD neighbours of {len(chunks.frames):,} frames{rest} among {len(index):,}: about {duration} "
        f"on {threads} threads, {gigabytes:.1f} GB"
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

    A symmetric graph takes each pair from the end with the smaller index: found from the other end, its
    length may differ in the last bit and lie on the other side of the radius.
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
    return Graph(number.indptr, number.indices, lengths[number.data - 1], "radius", n_targets, scale=radius)

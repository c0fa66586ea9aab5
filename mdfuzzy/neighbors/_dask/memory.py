"""Choose the layout of the index on the workers of a Dask cluster by its memory."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from mdfuzzy._check import InputValueError, check_choice
from mdfuzzy._kernels.search import cells as kernels
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy.neighbors._cells import CELL_SIZE
from mdfuzzy.workers.cluster import Workers

#: The number of groups of 64 queries in a task of the scattered layout. A task takes about half a second, so
#: that all workers end at about the same time, and a hundred times the overhead of Dask.
TASK = 64
#: The memory of a worker without data, in bytes: Python, its libraries and the compiled kernels.
PROCESS = 400_000_000
#: The share of its limit at which a worker begins to move data to its disk (Dask's default).
USABLE = 0.6


def index_bytes(n: int, atoms: int) -> int:
    """Return an upper estimate of the size of an index of `n` frames, in bytes.

    Examples
    --------
    >>> round(index_bytes(1_000_000, 10) / 1e6)
    341
    """
    width = 3 * (atoms + atoms % 2)
    n_cells = 1.1 * n / CELL_SIZE + 1
    leaves = n / LANES + n_cells  # the last leaf of a cell is half empty, and there are small cells
    by_frame = 4 * width + 4 * (-(-width // 8) * 8) + 3 * 8
    by_leaf = 4 * kernels.ROWS * (LANES + 2)
    by_cell = 4 * width * (kernels.AXES + 1) + 6 * 8
    return int(n * by_frame + leaves * by_leaf + n_cells * by_cell)


@dataclass(frozen=True)
class Layout:
    """The layout of the index on the workers.

    Attributes
    ----------
    shards : int
        The number of parts of the index; 1 if every worker has a copy of the whole.
    memory : int
        The largest memory on a worker in bytes.
    """

    shards: int
    memory: int

    @property
    def sharded(self) -> bool:
        """Whether the index is divided among the workers."""
        return self.shards > 1

    def room_for_index(self, workers: Workers) -> float:
        """Return the allowed size of an index on each worker in bytes, as an object and as a message."""
        return inf if workers.memory is None else max(0.0, USABLE * workers.memory - PROCESS) / 3

    def __str__(self) -> str:
        how = f"sharded, the index in {self.shards} parts" if self.sharded else "scattered, the index on each"
        return f"{how}, at most {self.memory / 1e9:.1f} GB on a worker"


def choose_layout(
    workers: Workers,
    *,
    n: int,
    atoms: int,
    n_others: int,
    n_neighbors: int,
    block: int,
    layout: Literal["scattered", "sharded"] | None = None,
) -> Layout:
    """Choose how the index is laid out: on every worker if it fits there, otherwise in shards.

    Parameters
    ----------
    workers : Workers
        The resources of the workers.
    n, atoms : int
        The numbers of frames and of atoms.
    n_others : int
        The number of queries that are not these frames.
    n_neighbors : int
        The number of neighbours to find.
    block : int
        The number of queries in a block.
    layout : {"scattered", "sharded"}, optional
        The required layout, instead of a choice.

    Returns
    -------
    Layout

    Raises
    ------
    ValueError
        If neither fits, or there are too few frames for shards.

    Examples
    --------
    >>> small = Workers(("tcp://a:1", "tcp://b:1"), threads=2, memory=8_000_000_000)
    >>> size = {"atoms": 10, "n_others": 0, "n_neighbors": 100, "block": 32_768}
    >>> print(choose_layout(small, n=1_000_000, **size))
    scattered, the index on each, at most 1.1 GB on a worker
    >>> print(choose_layout(small, n=7_000_000, **size))
    sharded, the index in 2 parts, at most 4.7 GB on a worker
    """
    if layout is not None:
        check_choice(
            "layout", layout, ("scattered", "sharded"), remedy="None chooses by the workers' memory."
        )
    limit = None if workers.memory is None else USABLE * workers.memory
    threads = -(-workers.threads // len(workers.addresses))
    frame = 12 * (atoms + 1) + 24  # flat, with its norm, spread and limit
    chosen = Layout(1, _memory_of_all(workers, index_bytes(n, atoms) + frame * n_others, n_neighbors))
    if layout == "sharded" or (layout is None and limit is not None and chosen.memory > limit):
        for shards in _possible_shards(len(workers.addresses), n, n_neighbors):
            size = -(-n // shards)
            held = -(-shards // len(workers.addresses)) + 1  # and a copy of the shard of another worker
            # for each block in progress: its queries and its results, on arrival and on departure
            passing = 2 * (threads + 1) * min(block, size) * (2 * frame + n_neighbors * 60)
            memory = PROCESS + held * index_bytes(size, atoms) + 2 * frame * size + passing
            if not chosen.sharded or memory < chosen.memory:
                chosen = Layout(shards, memory)
            if limit is None or memory <= limit:
                break
    return _checked(chosen, workers)


def whole_layout(workers: Workers, index_size: int, n_neighbors: int) -> Layout:
    """Return the layout with an index of a given size (bytes) on every worker, or raise if it does not fit.

    Examples
    --------
    >>> small = Workers(("tcp://a:1", "tcp://b:1"), threads=2, memory=8_000_000_000)
    >>> print(whole_layout(small, 300_000_000, 100))
    scattered, the index on each, at most 1.0 GB on a worker
    """
    return _checked(Layout(1, _memory_of_all(workers, index_size, n_neighbors)), workers)


def _memory_of_all(workers: Workers, index_size: int, n_neighbors: int) -> int:
    """Return the bytes on a worker that has the whole index.

    The message and the index made from it are in memory at the same time, and so are the indices and squares
    of a part.
    """
    threads = -(-workers.threads // len(workers.addresses))
    return PROCESS + 2 * index_size + threads * TASK * LANES * n_neighbors * 40


def _checked(layout: Layout, workers: Workers) -> Layout:
    """Return the layout, or raise if the workers have too little memory for it."""
    limit = None if workers.memory is None else USABLE * workers.memory
    if limit is not None and layout.memory > limit:
        raise InputValueError(
            f"The workers of `client` must have enough memory for the frames ({layout}, of which Dask leaves "
            f"{limit / 1e9:.1f} GB to data); got {workers}. Start more of them, or with more memory each."
        )
    return layout


def _possible_shards(n_workers: int, n: int, n_neighbors: int) -> list[int]:
    """Return the possible numbers of shards, powers of two; few shards are faster."""
    most = n // (n_neighbors + 2)
    if most < 2:
        raise InputValueError(
            f"`layout` must be 'scattered' for so few frames: a shard needs {n_neighbors + 2} of them; got "
            f"{n} in all."
        )
    powers = [2]
    while powers[-1] < n_workers and 2 * powers[-1] <= most:
        powers.append(2 * powers[-1])
    return powers

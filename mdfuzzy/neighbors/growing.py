"""Update neighbours after data have grown: search new frames and complete earlier lists.

The earlier list of a frame holds its nearest frames, in order, up to some distance. A new frame belongs in
the list if it is nearer than the last one. So the old frames are searched only among the new ones, each
within the distance that its list reaches. A list that is then too short is searched again. This may happen if
the number of neighbours grew and no new frame is near.

Lists are kept with float32 distances, but ordered by float64 distances. So a list ends where an old and a new
neighbour agree in float32 (except for zeros, which are exact). Hence the result is bitwise the same as from a
search of all frames.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mdfuzzy._kernels.search.merging import merge_with_new
from mdfuzzy._threads import run_ranges, thread_count
from mdfuzzy.frames.metric import EUCLIDEAN, rmsd_metric
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.neighbors._cells import offsets
from mdfuzzy.neighbors._coordinates import check_conformations
from mdfuzzy.neighbors._groups import Chunks, Index
from mdfuzzy.neighbors._search import Aim
from mdfuzzy.neighbors.blocks import BlockStore
from mdfuzzy.neighbors.copies import find_copies
from mdfuzzy.neighbors.nearest import nearest_frames
from mdfuzzy.neighbors.neighbors import Neighbors, SpareNeighbors

#: The number of neighbours that are kept beyond the requested ones. k is 3.5 ln n, so 2k grows by 7 ln 2 =
#: 4.9 when the number of frames doubles, and by 7 when it grows by a factor of e.
SPARE = 8
#: The number of groups of queries that are completed together.
_BLOCK = 512
_STRETCH = 1024  # rows merged together
#: With a larger share of new frames than this, all frames are searched. The sum of both searches then takes
#: as long: for a half 1 to 4 % less processor time, for 70 % a third more (alanine dipeptide, 100,000
#: frames).
_NEW = 0.4
#: If more than this share of the frames remains to be searched, all frames are searched, which is faster.
_MOST = 0.75
#: How far earlier lists are completed at first: to the number of old frames that is expected in the new list,
#: plus so many standard deviations of a binomial distribution.
_MARGIN = 3.0
#: Metrics for which earlier lists can be completed.
_KNOWN = (
    EUCLIDEAN,
    *(rmsd_metric(aligned=fit, mass_weighted=heavy) for fit in (False, True) for heavy in (False, True)),
)
_END = np.float32(np.inf)  # the distance of entries beyond the end of a list

logger = logging.getLogger("mdfuzzy")


@dataclass(frozen=True, eq=False)
class Earlier:
    """The result of an earlier search among some of the frames.

    Attributes
    ----------
    neighbors : Neighbors
        The neighbours of these frames among themselves, in the numbering of the earlier search.
    frames : (m,) int64
        The numbers of these frames in the data, ascending.
    """

    neighbors: Neighbors
    frames: np.ndarray

    def serves(self, data: Trajectories) -> bool:
        """Return whether the search of `data` can use this earlier search."""
        known = self.neighbors
        return known.exact and known.n_targets == len(known) == len(self.frames) and data.metric in _KNOWN


class _Lists(NamedTuple):
    """Neighbours in rows; entries beyond the end of a row have an infinite distance."""

    indices: np.ndarray
    distances: np.ndarray

    def put(self, rows: np.ndarray, found: "_Lists") -> None:
        self.indices[rows], self.distances[rows] = found


def grow_neighbors(
    data: Trajectories,
    earlier: Earlier,
    *,
    n_neighbors: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
    store: BlockStore | None = None,
) -> Neighbors:
    """Return the exact neighbours of all frames, using an earlier search of some of them.

    Parameters
    ----------
    data : Trajectories
        All frames.
    earlier : Earlier
        The earlier search of some of the frames.
    n_neighbors : int
        The number of neighbours to find.
    n_jobs : int, optional
        The number of threads; by default one for every core.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal only.
    store : BlockStore, optional
        Keeps finished blocks.

    Returns
    -------
    Neighbors
        The neighbours, bitwise the same as from a search of all frames, with spare neighbours.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = mf.Features(np.random.default_rng(0).normal(size=(500, 2)))
    >>> first = mf.euclidean_neighbors(points.points[:400], n_neighbors=20)
    >>> grown = grow_neighbors(points, Earlier(first, np.arange(400)), n_neighbors=20)
    >>> fresh = mf.euclidean_neighbors(points, n_neighbors=20)
    >>> np.array_equal(grown.indices, fresh.indices), np.array_equal(grown.distances, fresh.distances)
    (True, True)
    """
    n, width = len(data), min(n_neighbors + SPARE, len(data) - 1)
    found = _Lists(np.empty((n, width), np.int32), np.empty((n, width), np.float32))
    data = data.weighted()  # distances do not depend on weights
    new = np.setdiff1d(np.arange(n), earlier.frames, assume_unique=True)

    way = None
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "store": store}
    if len(new) > _NEW * n:
        logger.info(f"{len(new):,} of {n:,} frames are new: too many to update, so all are searched")
        return with_spare(nearest_frames(data, n_neighbors=width, **options), n_neighbors)
    if len(new):
        logger.info(f"{len(new):,} of {n:,} frames are new; the others were searched before")
        kept = None if store is None else _Named(store, "old")
        way = _complete(data, earlier, new, n_neighbors, found, n_jobs, kept)
    else:
        _copy(earlier, found)
    short = earlier.frames[found.distances[earlier.frames, n_neighbors - 1] == _END]
    if len(short):
        logger.info(f"{len(short):,} of the earlier neighbour lists are too short and are searched again")
    left = np.union1d(new, short)
    if len(left) > _MOST * n:
        return with_spare(nearest_frames(data, n_neighbors=width, **options), n_neighbors)
    if len(left):
        if way is not None:
            options["store"] = _Chosen(store, way)
        found.put(left, _among_all(data, left, width, **options))
    spare = SpareNeighbors(found.indices[:, n_neighbors:], found.distances[:, n_neighbors:])
    return Neighbors(found.indices[:, :n_neighbors], found.distances[:, :n_neighbors], spare=spare)


def with_spare(found: Neighbors, n_neighbors: int) -> Neighbors:
    """Return the first `n_neighbors` neighbours, with the others as spare neighbours.

    The result takes over the memory of `found`, which must not be used any more.
    """
    if found.k == n_neighbors:
        return found
    spare = SpareNeighbors(found.indices[:, n_neighbors:], found.distances[:, n_neighbors:])
    indices, distances = (_narrowed(each, n_neighbors) for each in (found.indices, found.distances))
    return replace(found, indices=indices, distances=distances, spare=spare)


def _narrowed(array: np.ndarray, width: int) -> np.ndarray:
    """Move the first columns of all rows together, in the same memory, and return them."""
    array.flags.writeable = True
    narrow = array.reshape(-1)[: len(array) * width].reshape(len(array), width)
    for start in range(0, len(array), _STRETCH):
        narrow[start : start + _STRETCH] = array[start : start + _STRETCH, :width].copy()
    return narrow


class _Named:
    """A store of blocks whose names begin with a prefix."""

    def __init__(self, store: BlockStore, word: str) -> None:
        self._store, self._word = store, word

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        return self._store.get(f"{self._word}-{name}")

    def put(self, name: str, /, **arrays: np.ndarray) -> None:
        self._store.put(f"{self._word}-{name}", **arrays)


class _Chosen:
    """A store of blocks that knows the search method; without another store it keeps no blocks."""

    def __init__(self, store: BlockStore | None, way: str) -> None:
        self._store, self._way = store, {"tiles": np.array([way == "tiles"])}

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        if name.endswith("-way"):
            return self._way
        return None if self._store is None else self._store.get(name)

    def put(self, name: str, /, **arrays: np.ndarray) -> None:
        if self._store is not None:
            self._store.put(name, **arrays)


def _among_all(data: Trajectories, frames: np.ndarray, width: int, **options: Any) -> _Lists:
    """Search some frames among all frames, with one more neighbour because each also finds itself."""
    nearest = nearest_frames(data, n_neighbors=width + 1, queries=data.subset(frames), **options)
    itself = nearest.indices == frames[:, None]
    itself[~itself.any(axis=1), -1] = True  # it has many duplicates: the last is one too many
    kept = ~itself
    return _Lists(*(a[kept].reshape(len(frames), width) for a in (nearest.indices, nearest.distances)))


def _copy(earlier: Earlier, found: _Lists) -> None:
    """Fill in the earlier lists unchanged."""
    indices, distances = _known(earlier, np.arange(len(earlier.frames)))
    width = min(indices.shape[1], found.indices.shape[1])
    found.indices[:, :width], found.distances[:, :width] = indices[:, :width], distances[:, :width]
    found.indices[:, width:], found.distances[:, width:] = 0, _END


def _known(earlier: Earlier, rows: np.ndarray) -> _Lists:
    """Return the earlier lists of some frames, in the numbering of all frames."""
    known, spare = earlier.neighbors, earlier.neighbors.spare
    indices, distances = known.indices[rows], known.distances[rows]
    if spare is not None:
        indices = np.concatenate([indices, spare.indices[rows]], axis=1)
        distances = np.concatenate([distances, spare.distances[rows]], axis=1)
    return _Lists(earlier.frames[indices].astype(np.int32), distances)


def _complete(
    data: Trajectories,
    earlier: Earlier,
    new: np.ndarray,
    n_neighbors: int,
    found: _Lists,
    n_jobs: int | None,
    store: BlockStore | None,
) -> str | None:
    """Fill in the lists of the old frames: the earlier lists merged with the new frames.

    Return the search method if there is a choice.

    The new frames push the last of an earlier list out of it. So each frame is first searched only as far
    as the list will probably reach, and again as far as the earlier list reaches if it is then too short.
    """
    width = found.indices.shape[1]
    way, index, chunks, targets = _index(data, earlier.frames, new, width, n_jobs, store)
    share = len(earlier.frames) / len(data)
    kept = int(np.ceil(width * share + _MARGIN * np.sqrt(width * share * (1 - share))))
    for number, first in enumerate(range(0, len(chunks), _BLOCK)):
        part = chunks.take(slice(first, first + _BLOCK))
        saved = None if store is None else store.get(f"{number:05d}")
        if saved is not None:
            found.put(saved["rows"], _Lists(saved["indices"], saved["distances"]))
            continue
        rows = part.order
        known = _known(earlier, rows)
        last = np.where(known.distances < _END, known.distances, np.float32(0)).max(axis=1)
        reach = np.minimum(last, known.distances[:, min(kept, known.distances.shape[1]) - 1])
        block = _merged(known, _near(index, part, targets, reach, width, n_jobs), reach, width, n_jobs)
        short = (block.distances[:, n_neighbors - 1] == _END) & (reach < last)
        groups = np.flatnonzero(np.logical_or.reduceat(short, offsets(part.sizes)[:-1]))
        if len(groups):
            again = part.take(groups)
            of = np.flatnonzero(np.repeat(np.isin(np.arange(len(part)), groups), part.sizes))
            farther = np.where(short[of], last[of], np.float32(0))
            near = _near(index, again, targets, farther, width, n_jobs)
            more = _merged(_Lists(*(a[of] for a in known)), near, farther, width, n_jobs)
            block.put(of[short[of]], _Lists(*(a[short[of]] for a in more)))
        found.put(earlier.frames[rows], block)
        if store is not None:
            arrays = {"indices": block.indices, "distances": block.distances}
            store.put(f"{number:05d}", rows=earlier.frames[rows], **arrays)
    return way


def _index(
    data: Trajectories,
    old: np.ndarray,
    new: np.ndarray,
    width: int,
    n_jobs: int | None,
    store: BlockStore | None,
) -> tuple[str | None, Index, Chunks, np.ndarray]:
    """Return the search method, if there is a choice, an index of the new frames, the old frames as queries,
    and the frames of the targets.
    """
    from mdfuzzy.neighbors._choice import choose_way
    from mdfuzzy.neighbors._points import build_points

    among, others = data.subset(new), data.subset(old)
    if data.metric.superpose:
        xyz, queries = check_conformations(among, others, n_jobs)
        assert queries is not None, "they are given"
    else:
        xyz, queries = among.points, others.points
    copies = find_copies(xyz, width)
    if copies is not None:
        xyz, new = xyz[copies.kept], new[copies.kept]
    if not data.metric.superpose:
        index = build_points(np.asarray(xyz, np.float64), n_jobs=n_jobs)
        return None, index, index.chunks(np.asarray(queries, np.float64), n_jobs), new
    aim = Aim(min(width, len(xyz)))
    way = choose_way(xyz, queries, aim, store=store, threads=thread_count(n_jobs), n_jobs=n_jobs)
    return way.name, way.index, way.chunks, new


class _Near(NamedTuple):
    """Lists of new frames in turn: list i is at start[i] to start[i + 1]."""

    start: np.ndarray
    indices: np.ndarray
    distances: np.ndarray


def _near(
    index: Index, queries: Chunks, targets: np.ndarray, reach: np.ndarray, width: int, n_jobs: int | None
) -> _Near:
    """Return the nearest new frames of some queries, at most `width`, complete within their `reach`.

    They are in the order of their exact distances and then of their frames.
    """
    # A float64 bound of the distances that may round to the float32 reach.
    limits = reach.astype(np.float64) * (1 + 1e-6) * np.sqrt(index.atoms)
    most = min(width, len(targets))
    rows, indices, squares = index.within_squares(queries, limits, n_neighbors=most, n_jobs=n_jobs)
    start = offsets(np.bincount(rows, minlength=len(reach)))
    return _Near(start, targets.astype(np.int32)[indices], index.lengths(squares))


def _merged(known: _Lists, near: _Near, reach: np.ndarray, width: int, n_jobs: int | None = None) -> _Lists:
    """Merge two lists and return the first `width` entries within `reach`; a row ends where their order is
    not known.

    Examples
    --------
    >>> known = _Lists(np.array([[1, 2, 3]], np.int32), np.array([[0.0, 0.5, 0.7]], np.float32))
    >>> near = _Near(np.array([0, 2]), np.array([0, 4], np.int32), np.array([0.0, 0.6], np.float32))
    >>> far = np.array([1.0], np.float32)
    >>> _merged(known, near, far, 4)  # of equal points the first is nearer
    _Lists(indices=array([[0, 1, 2, 4]], dtype=int32), distances=array([[0. , 0. , 0.5, 0.6]], dtype=float32))
    >>> near = _Near(np.array([0, 1]), np.array([0], np.int32), np.array([0.5], np.float32))
    >>> _merged(known, near, far, 4).distances  # which of 0 and 2 is nearer is lost
    array([[ 0., inf, inf, inf]], dtype=float32)
    """
    n = len(reach)
    found = _Lists(np.empty((n, width), np.int32), np.empty((n, width), np.float32))
    run_ranges(lambda a, b: merge_with_new(a, b, *known, reach, *near, *found), n, _STRETCH, n_jobs)
    return found

"""An index of frames that are superposed on a few average structures, for approximate neighbour searches."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._kernels.search import superposed as kernels
from mdfuzzy._kernels.search.boxes import PART, Boxes, Sketches
from mdfuzzy._kernels.search.cells import Queries, superpose_on
from mdfuzzy._kernels.search.leaves import superpose_on_mean
from mdfuzzy._kernels.search.order import compact_order
from mdfuzzy._threads import run_ranges, serial_algebra
from mdfuzzy.neighbors._groups import Chunks, Index, Kernel, group_queries
from mdfuzzy.neighbors._seeding import flatten, nearest_centres
from mdfuzzy.neighbors._sketches import Axes, put_in_boxes

#: Rows of the sketch of a frame.
ROWS = 32
#: Average structures. With 1, 2, 4 and 8 of them, 3 candidates per neighbour held 0.985, 0.988, 0.994 and
#: 0.994 of the neighbours in 60,000 frames of villin.
STRUCTURES = 4
#: Frames that define the structures and the axes, and how often they are superposed on their averages.
SAMPLE, TIMES = 4096, 6
#: The size of the boxes around leaves, as a share of their own: the corners hold hardly any frames. Halves
#: miss 2 in 1,000 of the candidates and save a third of the time (300,000 frames of villin).
BOX = 0.5
#: Frames that are superposed at a time.
_HELD = 4096


@dataclass(frozen=True, eq=False)
class View:
    """All frames superposed on one structure, as flat frames, in coordinates on principal axes."""

    centre: np.ndarray  # (width,)
    axes: Axes

    def sketch(self, flat: np.ndarray, norms: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return sketches of some frames, (members, ROWS) float32."""
        rows = np.zeros((len(members), ROWS), np.float32)
        for first in range(0, len(members), _HELD):
            part = members[first : first + _HELD]
            shifted = np.empty((len(part), flat.shape[1]), np.float32)
            superpose_on(flat, norms, part, self.centre, shifted, np.empty(len(part)))
            rows[first : first + _HELD, : self.axes.rows] = self.axes.sketch(shifted)
        return rows


@dataclass(frozen=True, eq=False)
class SuperposedIndex(Index):
    """Frames by the structure that each is nearest to; and all of them in leaves, for each structure."""

    frames: kernels.SuperposedFrames
    targets: tuple[kernels.SuperposedTargets, ...]  # for each structure
    queries: kernels.SuperposedQueries  # the same frames
    sizes: np.ndarray  # (structures,) how many are nearest to each
    views: tuple[View, ...]

    @property
    def order(self) -> np.ndarray:
        """Which frame each target is."""
        return self.frames.order

    @property
    def atoms(self) -> float:
        """The number of atoms."""
        return self.frames.atoms

    def own_chunks(self) -> Chunks:
        """Return the frames of the index themselves as queries."""
        return group_queries(self.queries, self.order, self.sizes, own=True)

    def chunks(self, others: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other frames, (n, atoms, 3) and centred, as queries."""
        flat = flatten(others, n_jobs)
        queries, order, sizes = _by_structure(flat, self.views, n_jobs)
        return group_queries(queries, order, sizes, own=False)

    def kernel(self, queries: kernels.SuperposedQueries, factor: float) -> Kernel:
        """See `Index`: neighbours are a share `factor` of the candidates that get an exact distance."""

        def search(chunks: Chunks, limits: np.ndarray, n_neighbors: int, *rest: object) -> int:
            structure = chunks.cell[0]
            others = np.flatnonzero(chunks.cell != structure)
            part = chunks.take(slice(0, others[0] if len(others) else len(chunks)))
            return kernels.search_superposed(
                part.queries, part.first, part.last, part.own, self.frames,
                self.targets[structure], int(np.ceil(n_neighbors / factor)), limits, n_neighbors, *rest,
            )  # fmt: skip

        return Kernel(lambda room: kernels.superposed_work(self.frames, self.targets[0], room), search)


def superpose_all(xyz: np.ndarray, n_jobs: int | None) -> SuperposedIndex:
    """Index centred frames, (n, atoms, 3) float32."""
    flat = flatten(xyz, n_jobs)
    views = _views(flat, n_jobs)
    queries, order, sizes = _by_structure(flat, views, n_jobs)
    targets: list[kernels.SuperposedTargets | None] = [None] * len(views)
    everything = np.arange(len(order))

    def fill(number: int, _: int) -> None:
        rows = views[number].sketch(queries.flat, queries.norms, everything)
        boxes, sketches = put_in_boxes(Sketches(rows, _lengths(rows)))
        targets[number] = kernels.SuperposedTargets(sketches.rows, _smaller(boxes))

    with serial_algebra():
        run_ranges(fill, len(views), 1, n_jobs)
    largest, atoms = float(queries.norms.max()), float(xyz.shape[1])
    frames = kernels.SuperposedFrames(queries.flat, queries.norms, order, largest, atoms)
    return SuperposedIndex(frames, tuple(filter(None, targets)), queries, sizes, views)


def _views(flat: Queries, n_jobs: int | None) -> tuple[View, ...]:
    """Return the average structures of groups of a sample, each frame being nearest to that of its group, and
    the axes of these groups.
    """
    sample = np.arange(0, len(flat.flat), -(-len(flat.flat) // SAMPLE))
    count = min(STRUCTURES, len(sample))
    centres = flat.flat[np.random.default_rng(0).choice(sample, count, replace=False)]
    shifted, torques = np.empty((len(sample), flat.flat.shape[1]), np.float32), np.empty(len(sample))
    for _ in range(TIMES):
        label = _nearest(flat, sample, centres, n_jobs)
        for structure in np.unique(label):
            members = sample[label == structure]
            superpose_on_mean(
                flat.flat, flat.norms, members, centres[structure], shifted[: len(members)], torques
            )
    views = []
    with serial_algebra():
        for structure in range(count):
            members = sample[label == structure]
            members = members if len(members) >= ROWS else sample
            moved = shifted[: len(members)]
            superpose_on(flat.flat, flat.norms, members, centres[structure], moved, torques)
            views.append(View(centres[structure], Axes(moved, ROWS)))
    return tuple(views)


def _nearest(flat: Queries, members: np.ndarray, centres: np.ndarray, n_jobs: int | None) -> np.ndarray:
    norms = np.einsum("ij,ij->i", centres, centres, dtype=np.float64)
    return nearest_centres(flat, members, centres, norms, n_jobs)


def _by_structure(
    flat: Queries, views: tuple[View, ...], n_jobs: int | None
) -> tuple[kernels.SuperposedQueries, np.ndarray, np.ndarray]:
    """Return frames as queries of the structure that each is nearest to, which frame each is, and how many
    are nearest to each structure.
    """
    label = _nearest(flat, np.arange(len(flat.flat)), np.array([view.centre for view in views]), n_jobs)
    groups: list[tuple[np.ndarray, np.ndarray]] = [(np.empty(0), np.empty(0))] * len(views)

    def sketch(number: int, _: int) -> None:
        members = np.flatnonzero(label == number)
        rows = views[number].sketch(flat.flat, flat.norms, members)
        order = compact_order(rows, PART)
        groups[number] = members[order], rows[order]

    with serial_algebra():
        run_ranges(sketch, len(views), 1, n_jobs)
    order, rows = map(np.concatenate, zip(*groups, strict=True))
    queries = kernels.SuperposedQueries(flat.flat[order], flat.norms[order], Sketches(rows, _lengths(rows)))
    return queries, order, np.array([len(members) for members, _ in groups])


def _smaller(boxes: Boxes) -> Boxes:
    """Return leaves whose boxes are smaller than their members need."""
    middle, half = 0.5 * (boxes.low + boxes.high), np.float32(0.5 * BOX) * (boxes.high - boxes.low)
    return boxes._replace(low=middle - half, high=middle + half)


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))

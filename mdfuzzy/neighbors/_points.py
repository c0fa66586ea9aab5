"""An index of points for neighbour searches in Euclidean distance."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._kernels.search import points as kernels
from mdfuzzy._kernels.search.boxes import PART, Sketches
from mdfuzzy._kernels.search.order import compact_order
from mdfuzzy.frames.symmetry import Symmetry
from mdfuzzy.neighbors._exchanged import Exchanged
from mdfuzzy.neighbors._groups import Chunks, Index, Kernel, group_queries
from mdfuzzy.neighbors._sketches import Axes, put_in_boxes

#: The largest number of rows of a sketch.
ROWS = 64


@dataclass(frozen=True, eq=False)
class PointIndex(Index):
    """Points in leaves by their coordinates on principal axes; all coordinates are multiplied by `scale`."""

    targets: kernels.PointTargets
    queries: kernels.PointQueries
    axes: Axes
    layout: Exchanged
    scale: float
    parts: float  # the divisor of squared distances: the number of atoms, for coordinates

    @property
    def order(self) -> np.ndarray:
        """Which point each target is."""
        return self.targets.boxes.order

    @property
    def atoms(self) -> float:
        """The divisor of squared norms."""
        return self.scale**2 * self.parts

    def own_chunks(self) -> Chunks:
        """Return the points of the index themselves as queries: its leaves."""
        return group_queries(self.queries, self.order, np.array([len(self)]), own=True)

    def chunks(self, others: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other points, (n, dimensions), as queries."""
        sketches, scaled = _sketched(others, self.axes, self.layout, self.scale)
        order = compact_order(sketches.rows, PART)
        ordered = Sketches(*(part[order] for part in sketches))
        return group_queries(
            kernels.PointQueries(scaled[order], ordered), order, np.array([len(others)]), own=False
        )

    def kernel(self, queries: kernels.PointQueries, factor: float) -> Kernel:
        """See `Index`; always exact."""

        def search(chunks: Chunks, limits: np.ndarray, n_neighbors: int, *rest: object) -> int:
            limits = limits * self.scale if n_neighbors == 0 else limits
            return kernels.search_points(
                chunks.queries, chunks.first, chunks.last, chunks.own, self.targets, limits, n_neighbors,
                *rest,
            )  # fmt: skip

        return Kernel(lambda room: kernels.point_work(self.targets, room), search)


def build_points(
    points: np.ndarray, *, symmetry: Symmetry | None = None, parts: float = 1.0, n_jobs: int | None = None
) -> PointIndex:
    """Index points, (n, dimensions).

    With `symmetry` the points are coordinates of atoms, and the distance is the minimum over its
    permutations. The distance is Euclidean, divided by the square root of `parts`; for the coordinates of
    `parts` atoms this is the RMSD without superposition. Points are scaled to at most 1 by a power of two,
    which changes no digit, so that squares neither overflow nor vanish.
    """
    largest = float(max(points.max(), -points.min()))
    scale = 2.0 ** -np.clip(np.ceil(np.log2(largest)), -500, 500) if largest > 0 else 1.0
    layout = Exchanged.of(symmetry, points.shape[1])
    axes = Axes(layout.invariants(layout.arranged(points * scale)), ROWS)
    sketches, scaled = _sketched(points, axes, layout, scale)
    boxes, sketches = put_in_boxes(sketches)
    ordered = scaled[boxes.order]
    targets = kernels.PointTargets(ordered, boxes, layout.exchanges)
    queries = kernels.PointQueries(ordered, sketches)
    return PointIndex(targets, queries, axes, layout, float(scale), parts)


def _sketched(points: np.ndarray, axes: Axes, layout: Exchanged, scale: float) -> tuple[Sketches, np.ndarray]:
    """Return the sketches of points with their norms, and the points scaled, float64."""
    scaled = layout.arranged(np.ascontiguousarray(points, np.float64) * scale)
    rows = axes.sketch(layout.invariants(scaled))
    return Sketches(rows, np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))), scaled

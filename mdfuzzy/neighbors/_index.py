"""An index of frames for neighbour searches under RMSD: cells of similar frames, superposed on their
centres.
"""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._kernels.search import cells as kernels
from mdfuzzy._kernels.search import knn
from mdfuzzy._kernels.search.screen import Slack
from mdfuzzy.neighbors._cells import build_cells
from mdfuzzy.neighbors._groups import Chunks, Index, Kernel, group_queries
from mdfuzzy.neighbors._seeding import flatten, nearest_centres, permute


@dataclass(frozen=True, eq=False)
class RmsdIndex(Index):
    """Frames in cells, ready to be searched."""

    cells: kernels.Cells
    spreads: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """Which frame each target is."""
        return self.cells.order

    @property
    def atoms(self) -> float:
        """The number of atoms."""
        return self.cells.atoms

    def own_chunks(self) -> Chunks:
        """Return the frames of the index themselves as queries: its leaves."""
        queries = kernels.Queries(self.cells.flat, self.cells.norms, self.spreads)
        return group_queries(queries, self.cells.order, np.diff(self.cells.cell_start), own=True)

    def chunks(self, others: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other frames, (n, atoms, 3) and centred, as queries."""
        queries = flatten(others, n_jobs)
        everything = np.arange(len(others))
        label = nearest_centres(queries, everything, self.cells.centres, self.cells.centre_norms, n_jobs)
        order = np.argsort(label, kind="stable")
        sizes = np.bincount(label, minlength=len(self.cells.centres))
        return group_queries(kernels.Queries(*(part[order] for part in queries)), order, sizes, own=False)

    def permuted(
        self, queries: kernels.Queries, rows: np.ndarray, atoms: np.ndarray, first: np.ndarray
    ) -> tuple[kernels.Queries, np.ndarray]:
        """See `Index`."""
        flat = permute(queries.flat[rows], atoms)
        turned = kernels.Queries(flat, queries.norms[rows], queries.spreads[rows])
        cells = self.cells
        near = nearest_centres(turned, first, cells.centres, cells.centre_norms, 1)
        return turned, near.astype(np.int64)

    def slack(self, queries: kernels.Queries) -> Slack:
        """Return worst-case bounds of the rounding errors of float32 sums over the atoms."""
        width = self.cells.flat.shape[1]
        norm = float(max(self.cells.norms.max(), queries.norms.max()))
        unit = float(np.finfo(np.float32).eps)
        return Slack(unit * (width + 32) * np.sqrt(norm), unit * width * norm, norm)

    def shrunk(self, factor: float) -> kernels.Cells:
        """Return the cells with the boxes of their leaves shrunk by a factor; 1 leaves them unchanged."""
        if factor == 1:
            return self.cells
        middle = 0.5 * (self.cells.low + self.cells.high)
        half = np.float32(0.5 * min(1.0, 1.3 * factor)) * (self.cells.high - self.cells.low)
        return self.cells._replace(low=middle - half, high=middle + half)

    def kernel(self, queries: kernels.Queries, factor: float) -> Kernel:
        """See `Index`; cells are treated as smaller than they are by `factor`."""
        cells, slack = self.shrunk(factor), self.slack(queries)

        def search(chunks: Chunks, limits: np.ndarray, n_neighbors: int, *rest: object) -> int:
            return knn.search_groups(
                chunks.queries, chunks.first, chunks.last, chunks.cell, chunks.own, cells, slack, factor,
                limits, n_neighbors, *rest,
            )  # fmt: skip

        return Kernel(lambda room: knn.workspace(cells, room), search)


def build_index(xyz: np.ndarray, *, n_jobs: int | None = None) -> RmsdIndex:
    """Index centred frames, (n, atoms, 3) float32."""
    return RmsdIndex(*build_cells(xyz, n_jobs=n_jobs))

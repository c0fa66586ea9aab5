"""An index of frames for RMSD neighbour searches by tiles, without cells or superposition."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._kernels.search import tiles as kernels
from mdfuzzy._kernels.search.boxes import PART, Sketches
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.order import compact_order
from mdfuzzy._threads import run_ranges
from mdfuzzy.neighbors._groups import Chunks, Index, Kernel, group_queries
from mdfuzzy.neighbors._seeding import flatten, permute
from mdfuzzy.neighbors._sketches import Axes, put_in_boxes

#: The number of rows of the sketch of a frame.
ROWS = 12
#: The number of leading modes, if frames have at least twice as many atoms.
MODES = 12


@dataclass(frozen=True, eq=False)
class TileIndex(Index):
    """Frames in leaves by the distances of their atoms from the centroid."""

    targets: kernels.TileTargets
    queries: kernels.TileQueries
    axes: Axes
    modes: np.ndarray  # (width, modes) orthonormal combinations of atoms that hold most of the frames

    @property
    def order(self) -> np.ndarray:
        """Which frame each target is."""
        return self.targets.boxes.order

    @property
    def atoms(self) -> float:
        """The number of atoms."""
        return self.targets.atoms

    def own_chunks(self) -> Chunks:
        """Return the frames of the index themselves as queries: its leaves."""
        return group_queries(self.queries, self.order, np.array([len(self)]), own=True)

    def chunks(self, others: np.ndarray, n_jobs: int | None) -> Chunks:
        """Return other frames, (n, atoms, 3) and centred, as queries."""
        flat = flatten(others, n_jobs)
        sketches = Sketches(self.axes.sketch(radii(others)), np.sqrt(flat.norms))
        order = compact_order(sketches.rows, PART)
        ordered = Sketches(*(part[order] for part in sketches))
        queries = _queries(flat.flat[order], flat.norms[order], ordered, self.modes, n_jobs)
        return group_queries(queries, order, np.array([len(others)]), own=False)

    def permuted(
        self, queries: kernels.TileQueries, rows: np.ndarray, atoms: np.ndarray, first: np.ndarray
    ) -> tuple[kernels.TileQueries, np.ndarray]:
        """See `Index`."""
        flat, reach = permute(queries.flat[rows], atoms), queries.sketches.reach[rows]
        xyz = flat[:, : 3 * len(atoms)].reshape(len(flat), -1, 3)
        sketches = Sketches(self.axes.sketch(radii(xyz)), reach)
        return _queries(flat, queries.norms[rows], sketches, self.modes, 1), np.zeros(len(first), np.int64)

    @property
    def slack(self) -> float:
        """An upper bound of the rounding error of the largest eigenvalue, for frames of norm 1."""
        atoms = self.queries.unit.shape[1] // 3
        # of a sum of so many products, and of the scaled coordinates; see docs/theory/neighbours
        rounded = min(atoms, kernels.RUN) + atoms // kernels.RUN + 8
        return float(np.sqrt(3) * np.finfo(np.float32).eps * rounded)

    def kernel(self, queries: kernels.TileQueries, factor: float) -> Kernel:
        """See `Index`; with a factor below 1, only this fraction of the leaves is visited."""
        slack = self.slack
        most = int(np.ceil(factor * len(self.targets.boxes.reach)))

        def search(chunks: Chunks, limits: np.ndarray, n_neighbors: int, *rest: object) -> int:
            return kernels.search_tiles(
                chunks.queries,
                chunks.first,
                chunks.last,
                chunks.own,
                self.targets,
                slack,
                most,
                limits,
                n_neighbors,
                *rest,
            )

        return Kernel(lambda room: kernels.tile_work(self.targets, room), search)


def radii(xyz: np.ndarray) -> np.ndarray:
    """Return the distances of atoms from the centroid, (n, atoms), of centred frames."""
    squares = np.einsum("nak,nak->na", xyz, xyz, dtype=np.float64)
    return np.sqrt(squares, out=squares)


def leading_modes(xyz: np.ndarray, count: int) -> np.ndarray:
    """Return orthonormal combinations of atoms, (atoms, count), that hold most of the norm of frames.

    They are eigenvectors of the mean (atoms, atoms) matrix of products of coordinates, which rotations do not
    change.
    """
    sample = xyz[:: -(-len(xyz) // max(16, 2 * xyz.shape[1] // 3))].astype(np.float64)
    columns = sample.transpose(1, 0, 2).reshape(xyz.shape[1], -1)
    return np.ascontiguousarray(np.linalg.svd(columns, full_matrices=False)[0][:, :count])


def build_tiles(xyz: np.ndarray, *, n_jobs: int | None = None) -> TileIndex:
    """Index centred frames, (n, atoms, 3) float32."""
    flat, lengths = flatten(xyz, n_jobs), radii(xyz)
    axes = Axes(lengths, ROWS)
    boxes, sketches = put_in_boxes(Sketches(axes.sketch(lengths), np.sqrt(flat.norms)))
    modes = leading_modes(xyz, MODES if xyz.shape[1] >= 2 * MODES else 0)
    queries = _queries(flat.flat[boxes.order], flat.norms[boxes.order], sketches, modes, n_jobs)
    targets = kernels.TileTargets(
        flat=queries.flat,
        norms=_padded(queries.norms),
        inverse=_padded(queries.inverse),
        parts=_side_by_side(queries.unit, n_jobs),
        lead_parts=_side_by_side(queries.lead, n_jobs),
        rest=_padded(queries.rest),
        boxes=boxes,
        atoms=float(xyz.shape[1]),
    )
    return TileIndex(targets, queries, axes, modes)


def _padded(numbers: np.ndarray) -> np.ndarray:
    """Return numbers with zeros up to a whole leaf."""
    return np.append(numbers, np.zeros(-len(numbers) % LANES))


def _side_by_side(rows: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Return rows eight side by side, up to a whole leaf."""
    parts = np.zeros(-(-len(rows) // LANES) * LANES * rows.shape[1], np.float32)
    run_ranges(lambda a, b: kernels.fill_parts(a, b, rows, parts), -(-len(rows) // PART), 1024, n_jobs)
    return parts


def _queries(
    flat: np.ndarray, norms: np.ndarray, sketches: Sketches, modes: np.ndarray, n_jobs: int | None
) -> kernels.TileQueries:
    """Return frames as queries, given in their order."""
    n, atoms, count = len(flat), *modes.shape
    unit, inverse = np.empty_like(flat), np.empty(n)
    run_ranges(lambda a, b: kernels.fill_units(a, b, flat, norms, unit, inverse), n, 16_384, n_jobs)
    lead, rest = np.zeros((n, 3 * count), np.float32), np.zeros(n)

    def split(first: int, last: int) -> None:
        part = unit[first:last, : 3 * atoms].reshape(-1, atoms, 3).astype(np.float64)
        along = np.matmul(modes.T, part)
        lead[first:last] = along.reshape(last - first, -1)
        part -= np.matmul(modes, along)
        rest[first:last] = np.sqrt(np.einsum("nak,nak->n", part, part))

    if count:
        run_ranges(split, n, max(16, 200_000 // atoms), n_jobs)
    return kernels.TileQueries(flat, norms, unit, lead, rest, inverse, sketches)

"""Build cells of similar frames, superposed on their mean, projected on principal axes, in leaves of 64."""

import numpy as np

from mdfuzzy._kernels.search.cells import AXES, ROWS, Cells, Queries
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.leaves import fill_leaves, principal_axes, superpose_on_mean
from mdfuzzy._threads import run_ranges
from mdfuzzy.neighbors._seeding import flatten, group_frames

#: The average number of frames per cell, at which visiting cells and searching them cost about the same.
CELL_SIZE = 350


def build_cells(xyz: np.ndarray, *, n_jobs: int | None = None) -> tuple[Cells, np.ndarray]:
    """Return centred frames, (n, atoms, 3) float32, in cells, and the spread of each frame in their order.

    Seeds are drawn at random (always the same ones) and every frame is assigned to its nearest seed. Two such
    rounds give cells of about `CELL_SIZE` frames, smaller where frames are dense. Any partition is valid and
    affects only the speed of searches.
    """
    queries = flatten(xyz, n_jobs)
    flat, norms = queries.flat, queries.norms
    random = np.random.default_rng(0)
    count = int(np.sqrt(len(flat) / CELL_SIZE))
    groups = group_frames(queries, np.arange(len(flat)), count, random, n_jobs)
    cells = [
        cell
        for members, _ in groups
        for cell in group_frames(queries, members, -(-len(members) // CELL_SIZE), random, n_jobs)
    ]
    sizes = np.array([len(members) for members, _ in cells])
    n_cells, width = len(cells), flat.shape[1]
    leaf_start = offsets(-(-sizes // LANES))
    n_leaves = leaf_start[-1]
    index = Cells(
        flat,
        norms,
        order=np.concatenate([members for members, _ in cells]),
        cell_start=offsets(sizes),
        leaf_start=leaf_start,
        centres=flat[[seed for _, seed in cells]],
        centre_norms=np.zeros(n_cells),
        radii=np.zeros(n_cells),
        torques=np.zeros(n_cells),
        spreads=np.zeros(n_cells),
        axes=np.zeros((n_cells, AXES, width), np.float32),
        blocks=np.zeros(n_leaves * ROWS * LANES, np.float32),
        low=np.zeros((n_leaves, ROWS), np.float32),
        high=np.zeros((n_leaves, ROWS), np.float32),
        rows=np.zeros((len(flat), -(-width // 8) * 8), np.float32),
        atoms=float(xyz.shape[1]),
    )
    run_ranges(lambda c, _: fill_cell(index, queries.spreads, c), n_cells, 1, n_jobs)
    # frames that are compared with each other are adjacent in memory, which is read in runs
    ordered = Queries(*(np.empty_like(part) for part in queries))

    def put_in_order(first: int, last: int) -> None:
        for part, place in zip(queries, ordered, strict=True):
            place[first:last] = part[index.order[first:last]]

    run_ranges(put_in_order, len(flat), 65_536, n_jobs)
    return index._replace(flat=ordered.flat, norms=ordered.norms), ordered.spreads


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Return where runs of these sizes start, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def fill_cell(cells: Cells, spreads: np.ndarray, c: int) -> None:
    """Fill one cell of the index, given its members (`order`) and its seed (`centres`)."""
    members = cells.order[cells.cell_start[c] : cells.cell_start[c + 1]]
    shifted = np.empty((len(members), cells.flat.shape[1]), np.float32)
    torques = np.empty(len(members))
    centre = cells.centres[c]
    superpose_on_mean(cells.flat, cells.norms, members, centre, shifted, torques)
    cells.centre_norms[c] = centre @ centre.astype(np.float64)
    cells.torques[c], cells.spreads[c] = torques.max(), spreads[members].min()
    principal_axes(shifted, cells.axes[c])
    fill_leaves(cells, c, shifted)

"""Compute sketches: a few coordinates whose distances are lower bounds of the true distances."""

import numpy as np

from mdfuzzy._kernels.search.boxes import PART, Boxes, Sketches, fill_boxes
from mdfuzzy._kernels.search.lanes import LANES
from mdfuzzy._kernels.search.order import compact_order

#: The number of rows from which principal axes are computed.
_SAMPLE = 4096
#: The number of values that are projected at a time.
_HELD = 4_000_000


class Axes:
    """Principal axes of some vectors, on which other vectors can be sketched, too.

    Parameters
    ----------
    vectors : (n, dimensions) array
        The vectors that define the axes, float64; if there are many, a sample is used.
    most : int
        The most rows a sketch may have, a multiple of 4. If there are more dimensions, the last row is the
        norm of what the axes leave out.
    """

    def __init__(self, vectors: np.ndarray, most: int) -> None:
        dimensions = vectors.shape[1]
        sample = vectors[:: -(-len(vectors) // _SAMPLE)].astype(np.float64)
        self.centre = sample.mean(axis=0)
        kept = dimensions if dimensions <= most else most - 1
        if dimensions > len(sample):  # at most as many directions as the sample has rows
            values = np.linalg.svd(sample - self.centre, full_matrices=False)[2]
            kept = min(kept, len(values), most - 1)
            self.axes = values[:kept].T
        else:
            moments = (sample - self.centre).T @ (sample - self.centre)
            self.axes = np.linalg.eigh(moments)[1][:, ::-1][:, :kept]
        self.complete = kept == dimensions
        self.rows = -(-(kept + (not self.complete)) // 4) * 4

    def sketch(self, vectors: np.ndarray) -> np.ndarray:
        """Return the sketches of vectors, (n, rows) float32."""
        found = np.zeros((len(vectors), self.rows), np.float32)
        step = max(1, _HELD // vectors.shape[1])
        kept = self.axes.shape[1]
        for first in range(0, len(vectors), step):
            part = slice(first, first + step)
            moved = vectors[part] - self.centre
            along = moved @ self.axes
            found[part, :kept] = along
            if not self.complete:
                moved -= along @ self.axes.T
                found[part, kept] = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        return found


def put_in_boxes(sketches: Sketches) -> tuple[Boxes, Sketches]:
    """Return targets in leaves, and the sketches of the targets in the order of the leaves."""
    order = compact_order(sketches.rows, PART)
    ordered = Sketches(sketches.rows[order], sketches.reach[order])
    n, rows = ordered.rows.shape
    leaves = -(-n // LANES)
    boxes = Boxes(
        order=order,
        blocks=np.empty(leaves * rows * LANES, np.float32),
        low=np.empty((rows, leaves), np.float32),
        high=np.empty((rows, leaves), np.float32),
        reach=np.empty(leaves),
    )
    fill_boxes(ordered, boxes)
    return boxes, ordered

"""Arrange coordinates of equivalent atoms for a search, and compute their invariants."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._kernels.search.points import Exchanges
from mdfuzzy.frames.symmetry import Symmetry
from mdfuzzy.neighbors._dask.transfer import Movable


@dataclass(frozen=True, eq=False)
class Exchanged(Movable):
    """The coordinates of points that belong to equivalent atoms; none for plain vectors.

    Attributes
    ----------
    columns : (dimensions,) int64
        The coordinates in the order of the search: first those that stay, then one group after the other.
    exchanges : Exchanges
        The groups in that order.
    """

    columns: np.ndarray
    exchanges: Exchanges

    @classmethod
    def of(cls, symmetry: Symmetry | None, dimensions: int) -> "Exchanged":
        """Return the arrangement for points of this many coordinates; with a symmetry, three an atom."""
        parts = () if symmetry is None else symmetry.parts
        moved = [(3 * part.members[:, None] + np.arange(3)).ravel() for part in parts]
        stay = np.setdiff1d(np.arange(dimensions), np.concatenate([np.empty(0, np.int64), *moved]))
        start = len(stay) + np.concatenate([[0], np.cumsum([len(each) for each in moved])]).astype(np.int64)
        table = [
            first + (3 * part.permutations[:, :, None] + np.arange(3)).ravel()
            for part, first in zip(parts, start[:-1], strict=True)
        ]
        return cls(
            np.concatenate([stay, *moved]).astype(np.int64),
            Exchanges(
                fixed=np.array([len(stay)]),
                start=start,
                table=np.concatenate([[0], np.cumsum([len(each) for each in table])]).astype(np.int64),
                permutations=np.concatenate([np.empty(0, np.int64), *table]).astype(np.int64),
            ),
        )

    def arranged(self, points: np.ndarray) -> np.ndarray:
        """Return the coordinates of points in the order of the search."""
        return points if len(self.exchanges.start) == 1 else np.ascontiguousarray(points[:, self.columns])

    def invariants(self, points: np.ndarray) -> np.ndarray:
        """Return vectors whose distances are never longer than the minimum distance over all permutations.

        The mean P x over the permutations g is a projection with P g = P, so |P x - P y| = |P (x - g y)|. The
        norm of the remainder (1 - P) x of each group is the same for all permutations, so the norms of two
        points differ by at most |(1 - P) (x - g y)|. Together these distances are at most |x - g y|.

        Parameters
        ----------
        points : (n, dimensions) array
            In the order of the search.

        Returns
        -------
        (n, dimensions + groups) array
            The points themselves if there are no groups.
        """
        start, table = self.exchanges.start, self.exchanges.table
        if len(start) == 1:
            return points
        found = np.empty((len(points), points.shape[1] + len(start) - 1))
        found[:, : points.shape[1]] = points
        for group in range(len(start) - 1):
            own = slice(start[group], start[group + 1])
            images = self.exchanges.permutations[table[group] : table[group + 1]]
            mean = np.zeros((len(points), own.stop - own.start))
            for image in images.reshape(-1, own.stop - own.start):
                mean += points[:, image]
            mean *= (own.stop - own.start) / len(images)
            found[:, own] = mean
            found[:, points.shape[1] + group] = np.linalg.norm(points[:, own] - mean, axis=1)
        return found

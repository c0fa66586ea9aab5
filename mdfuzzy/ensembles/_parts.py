"""Independent parts of the trajectories of an ensemble: whole trajectories, or blocks if these are few."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.frames.bootstrap import (
    ENOUGH_TRAJECTORIES,
    BootstrapUnits,
    bootstrap_units,
    statistical_inefficiency,
)

#: Blocks are at least so many statistical inefficiencies long: with 3 to 200 blocks on either side the test
#: then rejects 3 to 8 % of generated two-state trajectories that do not differ
#: (benchmarks/false_positives.py).
_LONG = 5.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """The independent parts of the trajectories of one ensemble, and the weight of each state in them."""

    trajectories: np.ndarray
    frames: np.ndarray  # (n,) of the ensemble
    number: np.ndarray  # (n,) the part of each frame
    sums: np.ndarray  # (U, K)
    totals: np.ndarray  # (U,)
    visitors: np.ndarray  # (K,)
    units: BootstrapUnits

    @property
    def fractions(self) -> np.ndarray:
        return self.sums.sum(axis=0) / self.totals.sum()

    @classmethod
    def of(
        cls,
        labels: np.ndarray,
        weights: np.ndarray,
        lengths: np.ndarray,
        trajectory: np.ndarray,
        trajectories: np.ndarray,
        n_states: int,
    ) -> "Parts":
        frames = np.flatnonzero(np.isin(trajectory, trajectories))
        if len(frames) == 0:
            raise InputValueError("`ensembles` must give every ensemble a trajectory; got one without.")
        inside = (labels[frames, None] == np.arange(n_states)) * weights[frames, None]
        own = lengths[trajectories]
        units = independent_parts(own, inside, weights[frames])
        number = np.repeat(np.arange(len(units)), units.lengths)
        starts = np.cumsum(units.lengths) - units.lengths
        first = np.cumsum(own) - own
        return cls(
            trajectories=trajectories,
            frames=frames,
            number=number,
            sums=np.add.reduceat(inside, starts, axis=0),
            totals=np.add.reduceat(weights[frames], starts),
            visitors=(np.add.reduceat(inside, first, axis=0) > 0).sum(axis=0),
            units=units,
        )

    def bootstrap(self, n_bootstrap: int, seed: int) -> np.ndarray:
        """Return the fractions of bootstrap samples, (n_bootstrap, K); no rows if there is only one part."""
        drawn = self.units.draw(n_bootstrap, seed=seed)
        totals = drawn @ self.totals
        return drawn @ self.sums / np.where(totals > 0, totals, np.nan)[:, None]


def independent_parts(lengths: np.ndarray, inside: np.ndarray, weights: np.ndarray) -> BootstrapUnits:
    """Return whole trajectories if there are five or more; otherwise blocks that are long enough for a test.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> inside = np.repeat(rng.integers(2, size=(300, 1)), 20, axis=0).astype(float)  # inefficiency 20
    >>> independent_parts(np.array([6000]), inside, np.ones(6000)).words
    '45 blocks of 133 frames'
    """
    if len(lengths) >= ENOUGH_TRAJECTORIES:
        return bootstrap_units(lengths, inefficiency=1.0)
    residuals = inside - weights[:, None] * (inside.sum(axis=0) / weights.sum())
    g = statistical_inefficiency(np.split(residuals, np.cumsum(lengths)[:-1]))
    n = int(lengths.sum())
    block = int(min(max(np.ceil(g * (n / g) ** (1 / 3)), np.ceil(_LONG * g)), max(n // 2, 1)))
    counts = np.maximum(lengths // block, 1)
    edges = [np.linspace(0, m, c + 1).astype(int) for m, c in zip(lengths, counts, strict=True)]
    return BootstrapUnits(
        trajectories=np.repeat(np.arange(len(lengths)), counts),
        starts=np.concatenate([each[:-1] for each in edges]),
        lengths=np.concatenate([np.diff(each) for each in edges]),
        block=block,
    )

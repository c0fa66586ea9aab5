"""The frames on which states were found, and how far the memberships of the others can be trusted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mdfuzzy._check import ReadOnly, read_only


@dataclass(frozen=True, kw_only=True)
class ExtensionError:
    r"""How much memberships by extension differ from those of a fit that contains the frames.

    The states are found once more on every second fitted frame, and the other half gets its memberships
    from these. If an estimate from n frames has the variance :math:`\sigma^2 / n`, that from half of
    them differs from it by :math:`2\sigma^2/n - \sigma^2/n`: as much as it differs itself from the estimate
    that all frames would give, if these are many more. So half of the sample shows the random part of the
    error. It cannot show what only more frames change. In a fit of 142,074 frames of alanine dipeptide the
    mean membership in one state is 0.31, in fits of fewer 0.41: its memberships differ by 0.13 on average
    from those of a sample of half of the frames, for which 0.02 was measured here.

    Attributes
    ----------
    frames : int
        The number of frames that were compared.
    mean, most : float
        The difference of two memberships of a frame, :math:`\frac12 \sum_s |u_s - v_s|`: the mean, and what
        99 % of the frames do not exceed.
    agreement : float
        The fraction of frames whose highest membership is in the same state.
    n_states, n_states_half : int
        States in the sample, and in half of it.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> error = mf.ExtensionError(
    ...     frames=50_000, mean=0.01, most=0.12, agreement=0.991, n_states=5, n_states_half=5
    ... )
    >>> print(error)
    memberships of 50,000 frames by extension ... 0.01 on average, ... 99.10% have the same state
    """

    frames: int
    mean: float
    most: float
    agreement: float
    n_states: int
    n_states_half: int

    def __str__(self) -> str:
        text = (
            f"memberships of {self.frames:,} frames by extension from as many others differ from those of a "
            f"fit that contains them by {self.mean:.3g} on average, and by at most {self.most:.3g} for 99 % "
            f"of the frames; {self.agreement:.2%} have the same state"
        )
        if self.n_states != self.n_states_half:
            text += f" ({self.n_states_half} states in half of the sample, {self.n_states} in the sample)"
        return text


@dataclass(frozen=True, eq=False, kw_only=True)
class FitSample(ReadOnly):
    """Some of the frames of a clustering, on which its states were found.

    Attributes
    ----------
    frames : (m,) int64
        Which frames they are, ascending.
    nearest : (n,) int32
        For every frame the nearest of these, counted among them.
    distances : (n,) float32
        How far it is (nm for RMSD).
    fit : Clustering
        The clustering of these frames alone.
    error : ExtensionError
        How much the memberships of the other frames differ from those of a fit that contains them.

    See Also
    --------
    assign : Memberships of new frames.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> points = np.random.default_rng(0).normal(size=(4000, 2)) + 6 * np.repeat([0, 1], 2000)[:, None]
    >>> result = mf.cluster(points, mf.Settings(fit_frames=1000))
    >>> result.sample, result.sample.fit
    (FitSample(1,000 of 4,000 frames), Clustering(2 states of 1,000 frames, ...))
    """

    frames: np.ndarray
    nearest: np.ndarray
    distances: np.ndarray
    fit: Any
    error: ExtensionError

    def __post_init__(self) -> None:
        for name in ("frames", "nearest", "distances"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"FitSample({len(self):,} of {len(self.nearest):,} frames)"

    def __str__(self) -> str:
        return (
            f"States found on {len(self):,} of {len(self.nearest):,} frames, evenly spaced; the others have "
            f"memberships by extension. Measured on half of the sample: {self.error}."
        )


def evenly_spaced(n: int, m: int) -> np.ndarray:
    """Return m of n frames, the middle of each of m equal parts.

    Examples
    --------
    >>> evenly_spaced(10, 3)
    array([1, 5, 8])
    """
    return (2 * np.arange(m, dtype=np.int64) + 1) * n // (2 * m)

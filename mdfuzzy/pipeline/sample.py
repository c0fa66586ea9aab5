"""The frames on which the states were found, and the error of the memberships of all other frames."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mdfuzzy._check import ReadOnly, read_only


@dataclass(frozen=True, kw_only=True)
class ExtensionError:
    r"""Estimate how much extended memberships differ from the memberships of a fit to all frames.

    The states are found again on every second fitted frame, and the memberships are extended from these to
    the other half. If an estimate from n frames has the variance :math:`\sigma^2 / n`, the estimate from half
    of the frames differs from it with the variance :math:`2\sigma^2/n - \sigma^2/n`. The estimate from n
    frames differs as much from the estimate from all frames, if these are many more. The half sample
    therefore shows the random part of the error. It cannot show a bias that only more frames remove. For
    example, in a fit of 142,074 frames of alanine dipeptide the mean membership in one state is 0.31, and in
    fits of fewer frames it is 0.41. The memberships of that fit differ by 0.13 on average from the
    memberships of a sample of half of the frames, while this estimate was 0.02.

    Attributes
    ----------
    frames : int
        The number of compared frames.
    mean, most : float
        The mean and the 99th percentile, over the frames, of the difference between the two membership
        vectors of a frame, :math:`\frac12 \sum_s |u_s - v_s|`.
    agreement : float
        The fraction of frames whose highest membership is in the same state.
    n_states, n_states_half : int
        The numbers of states in the sample, and in half of the sample.

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
    """Hold the sample of frames on which the states of a clustering were found.

    Attributes
    ----------
    frames : (m,) int64
        The frames of the sample, in ascending order.
    nearest : (n,) int32
        The nearest frame of the sample for every frame, as an index into `frames`.
    distances : (n,) float32
        The distance to that frame (nm for RMSD).
    fit : Clustering
        The clustering of the sample alone.
    error : ExtensionError
        The estimated error of the memberships of the other frames.

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
    """Return m evenly spaced frames of n: the middle of each of m equal parts.

    Examples
    --------
    >>> evenly_spaced(10, 3)
    array([1, 5, 8])
    """
    return (2 * np.arange(m, dtype=np.int64) + 1) * n // (2 * m)

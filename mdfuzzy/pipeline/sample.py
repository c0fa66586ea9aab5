"""The frames on which the states were found, and the error of the memberships of all other frames."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mdfuzzy._check import ReadOnly, read_only


@dataclass(frozen=True, kw_only=True)
class ExtensionError:
    r"""Estimate how much extended memberships differ from the memberships of a fit to all frames.

    The states are found again on more frames: the fitted ones and as many others, whose memberships are then
    compared. If memory suffices only for as many frames as were fitted, half of these are replaced instead.
    The states are also found on half of the fitted frames, and compared in the other half. `all_frames`
    extrapolates the larger of the two differences to a fit of all frames. For alanine dipeptide (142,074
    frames; a tenth, a quarter and half of them fitted) it is 0.24, 0.19 and 0.13, and the difference from the
    fit of all frames is 0.15, 0.15 and 0.13. For a tenth of 1,420,738 frames it is 0.46, and the difference
    is 0.27. It is a bound from experience, not an unbiased estimate: every doubling counts as if it added as
    much, and in the same direction.

    Attributes
    ----------
    frames : int
        The number of compared frames.
    fitted : int
        The number of frames of the fit that contains them.
    mean, most : float
        The mean and the 99th percentile, over these frames, of the difference between the two membership
        vectors of a frame, :math:`\frac12 \sum_s |u_s - v_s|`.
    agreement : float
        The fraction of these frames whose highest membership is in the same state.
    n_states, n_states_other : int
        The numbers of states in the sample, and in the fit that contains the compared frames.
    half : float
        The mean difference between half of the sample and the sample.
    growth : float
        How often the number of frames doubles from the sample to the fit that contains the compared frames: 1
        for twice as many.
    doublings : float
        How often it doubles from the sample to all frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> error = mf.ExtensionError(
    ...     frames=50_000, fitted=100_000, mean=0.01, most=0.12, agreement=0.991, n_states=5,
    ...     n_states_other=5, half=0.008, growth=1.0, doublings=3.0,
    ... )  # fmt: skip
    >>> error.all_frames
    0.03
    >>> print(error)
    memberships of 50,000 frames by extension differ ... by up to about 0.03 on average
    """

    frames: int
    fitted: int
    mean: float
    most: float
    agreement: float
    n_states: int
    n_states_other: int
    half: float
    growth: float
    doublings: float

    @property
    def all_frames(self) -> float:
        """The mean difference from a fit of all frames, at most, if every doubling adds as much.

        The difference that one doubling makes is the larger of the two that were measured.
        """
        if self.growth == 0:  # only the random part is known from the fit of as many frames
            return min(max(self.mean, self.half * self.doublings), 1.0)
        if self.growth == self.doublings:  # it is the fit of all frames
            return self.mean
        return min(max(self.mean / self.growth, self.half) * self.doublings, 1.0)

    def __str__(self) -> str:
        states = ""
        if self.n_states != self.n_states_other:
            states = f" (which has {self.n_states_other} states, not {self.n_states})"
        text = (
            f"memberships of {self.frames:,} frames by extension differ from those of a fit of "
            f"{self.fitted:,} frames that contains them{states} by {self.mean:.3g} on average, and by at "
            f"most {self.most:.3g} for 99 % of the frames; {self.agreement:.2%} have the same state"
        )
        if self.growth < self.doublings:
            text += f". A fit of all frames may differ by up to about {self.all_frames:.2g} on average"
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
    error : ExtensionError or None
        The estimated error of the memberships of the other frames; None for states that were chosen after
        the run (`Clustering.at`).

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
    error: ExtensionError | None

    def __post_init__(self) -> None:
        for name in ("frames", "nearest", "distances"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"FitSample({len(self):,} of {len(self.nearest):,} frames)"

    def __str__(self) -> str:
        text = (
            f"States found on {len(self):,} of {len(self.nearest):,} frames, evenly spaced; the others have "
            "memberships by extension."
        )
        if self.error is None:
            return text
        measured = str(self.error)
        return f"{text} {measured[0].upper()}{measured[1:]}."


def evenly_spaced(n: int, m: int) -> np.ndarray:
    """Return m evenly spaced frames of n: the middle of each of m equal parts.

    Examples
    --------
    >>> evenly_spaced(10, 3)
    array([1, 5, 8])
    """
    return (2 * np.arange(m, dtype=np.int64) + 1) * n // (2 * m)

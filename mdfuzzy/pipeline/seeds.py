"""Seeds of new simulations: the frames from which a new trajectory is expected to be most informative."""

from dataclasses import dataclass, replace

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_type, read_only
from mdfuzzy.neighbors.neighbors import Neighbors
from mdfuzzy.pipeline.clustering import Clustering
from mdfuzzy.states.correlation import neighbors_in_time

_PART = 16_384  # rows processed together


@dataclass(frozen=True, eq=False, kw_only=True)
class Seeds(ReadOnly):
    """Hold frames from which to start new simulations, the best first, as ranked by `suggest_seeds`.

    Attributes
    ----------
    frames : (n,) int64
        The frames, numbered over all trajectories.
    scores : (n,) float64
        The relative variance that one more visit would reduce: see `suggest_seeds`.
    states : (n,) int64
        The state that each frame belongs to most; -1 for none.
    reasons : tuple of str
        The reason for the choice of each frame.

    See Also
    --------
    suggest_seeds : Choose the frames.
    exports.write_seeds : Write the structures of the frames.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 6])
    >>> len(mf.suggest_seeds(result, n=5))
    5
    """

    frames: np.ndarray
    scores: np.ndarray
    states: np.ndarray
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, kind in (("frames", np.int64), ("scores", np.float64), ("states", np.int64)):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), kind)))

    def __len__(self) -> int:
        return len(self.frames)

    def __str__(self) -> str:
        lines = [f"{'rank':<6}{'frame':>10}{'state':>7}{'score':>8}  reason"]
        rows = zip(self.frames, self.states, self.scores, self.reasons, strict=True)
        lines += [
            f"{at + 1:<6}{f:>10}{s:>7}{score:>8.3g}  {why}" for at, (f, s, score, why) in enumerate(rows)
        ]
        return "\n".join(lines)


def suggest_seeds(result: Clustering, n: int = 20) -> Seeds:
    r"""Rank frames by the information expected from a new trajectory that starts there.

    The score of frame i is :math:`1/v_i + (1 - \sum_s m_{is}^2)/v_i + 1/V_s`. Here :math:`v_i` is the number
    of visits to the surroundings of the frame (the median distance to the kth neighbour), :math:`m_{is}` are
    its memberships, and :math:`V_s` is the number of visits to its state. These are the relative variances of
    the local density, of the memberships, and of the exits from the state, if visits are independent. Frames
    are chosen one after another. Each chosen frame then counts as a visit already made, so that the next one
    is chosen elsewhere.

    Parameters
    ----------
    result : Clustering
        A clustering of frames or features of trajectories. If its states were found on a sample, the seeds
        are frames of this sample.
    n : int
        The number of seeds, at least 1.

    Returns
    -------
    Seeds

    Raises
    ------
    ValueError
        If the clustering is not of trajectories, or has fewer than `n` frames.

    See Also
    --------
    exports.write_seeds : Write the structures of the frames.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> result = mf.cluster(mf.datasets.alanine_dipeptide(stride=20), mf.Settings(n_states=4))
    >>> seeds = mf.suggest_seeds(result, n=3)
    >>> len(set(seeds.frames.tolist())), len(seeds.reasons)
    (3, 3)
    """
    check_type("result", result, Clustering, remedy="`cluster` makes it.")
    if result.data is None:
        raise InputValueError("`result` must be of trajectories; got one of neighbours alone.")
    if result.sample is not None:
        found = suggest_seeds(result.sample.fit, n)
        return replace(found, frames=result.sample.frames[found.frames])
    n = check_int("n", n, 1, len(result), remedy="There are no more frames.")
    neighbors = result.neighbors
    radius = float(np.median(neighbors.distances[:, result.k - 1]))
    lengths = result.data.lengths
    window = neighbors_in_time(neighbors, lengths).window
    visits = local_visits(neighbors, lengths, radius, window)
    values, labels = result.memberships.values, result.labels
    mixed = 1 - np.einsum("ns,ns->n", values, values)
    state_visits = np.array(
        [_runs(np.flatnonzero(labels == s), lengths, window) for s in range(result.n_states)], float
    )
    frames, scores, reasons = [], [], []
    left = np.ones(len(result), bool)
    for _ in range(n):
        rare = np.where(labels >= 0, 1 / np.maximum(state_visits, 1)[labels], 1.0)
        score = np.where(left, (1 + mixed) / visits + rare, -np.inf)
        best = int(score.argmax())
        terms = {"few": 1 / visits[best], "mixed": mixed[best] / visits[best], "state": rare[best]}
        frames.append(best)
        scores.append(float(score[best]))
        reasons.append(
            _reason(max(terms, key=lambda name: terms[name]), result, best, visits[best], state_visits)
        )
        left[best] = False
        near = neighbors.indices[best][neighbors.distances[best] <= radius]
        visits[near] += 1
        visits[best] += 1
        if labels[best] >= 0:
            state_visits[labels[best]] += 1
    chosen = np.array(frames)
    return Seeds(frames=chosen, scores=np.array(scores), states=labels[chosen], reasons=tuple(reasons))


def _reason(why: str, result: Clustering, frame: int, visits: float, state_visits: np.ndarray) -> str:
    values, state = result.memberships.values[frame], int(result.labels[frame])
    if why == "state" and state >= 0:
        return f"few visits to state {state} ({state_visits[state]:.0f})"
    first, second = np.argsort(-values, kind="stable")[:2] if len(values) > 1 else (0, 0)
    between = f"between states {first} and {second} ({values[first]:.2f}, {values[second]:.2f})"
    seen = f"{visits:.0f} visit{'' if visits == 1 else 's'} nearby"
    if why == "mixed" or (len(values) > 1 and values[second] > 0.25):
        return f"{between}, {seen}"
    return f"edge of what was sampled: {seen}"


def local_visits(neighbors: Neighbors, lengths: np.ndarray, radius: float, window: int) -> np.ndarray:
    """Return the number of visits to the surroundings of each frame, including the visit of the frame itself.

    Neighbours within the radius belong to one visit if they are at most `window` frames apart in the same
    trajectory.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> points = np.array([0.0, 0.1, 5.0, 0.2, 9.0])[:, None]
    >>> local_visits(mf.euclidean_neighbors(points, n_neighbors=2), np.array([5]), 0.5, 1)
    array([2., 2., 1., 2., 1.])
    """
    n = len(neighbors)
    trajectory = np.repeat(np.arange(len(lengths)), lengths)
    # Frames of different trajectories are farther apart than any window.
    place = np.arange(n) + trajectory * (window + 1)
    far = int(place[-1]) + window + 2
    visits = np.empty(n)
    for first in range(0, n, _PART):
        rows = slice(first, first + _PART)
        near = np.where(neighbors.distances[rows] <= radius, place[neighbors.indices[rows]], far)
        near = np.sort(np.column_stack([near, place[rows]]), axis=1)
        gaps = (np.diff(near, axis=1) > window) & (near[:, 1:] < far)
        visits[rows] = 1 + gaps.sum(axis=1)
    return visits


def _runs(frames: np.ndarray, lengths: np.ndarray, window: int) -> int:
    """Return the number of visits that frames in ascending order belong to."""
    if len(frames) == 0:
        return 0
    trajectory = np.searchsorted(np.cumsum(lengths), frames, side="right")
    return 1 + int(np.count_nonzero((np.diff(frames) > window) | (np.diff(trajectory) > 0)))

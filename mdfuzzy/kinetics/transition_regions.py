"""Transition regions: the pairs of states that touch, and the transition frames between them."""

from dataclasses import dataclass, field

import numpy as np

from mdfuzzy._check import InputValueError, ReadOnly, check_int, check_real, read_only
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.kinetics.dtrajs import check_cores, check_memberships, transition_counts
from mdfuzzy.memberships.memberships import Memberships
from mdfuzzy.states.cores import Cores

_STRETCH = 1_048_576  # frames processed together


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransitionRegions(ReadOnly):
    """Hold the pairs of states that touch, the largest transition region first.

    Attributes
    ----------
    pairs : (m, 2) int64
        The two states of each transition region, the smaller number first.
    sizes : (m,) int64
        The number of transition frames.
    fractions : (m,) float64
        The fraction of all frames that are transition frames; of the total weight, if frames have weights.
    mixing : (m,) float64
        The mean mixing of the transition frames.
    transitions : (m,) int64 or None
        The number of observed transitions from the core of one state to the core of the other, in either
        direction, with no other core in between. None if frames have weights, because a bias changes the
        kinetics.
    frames : tuple of (sizes_i,) int64
        The transition frames of each, the most mixed first.
    threshold : float
        The smallest mixing of a transition frame.
    others : (q, 3) int64
        Transitions between pairs of states that have no transition region: the two states and the number of
        transitions, most frequent first.

    See Also
    --------
    find_transition_regions : Compute the transition regions.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster(np.where(rng.random(900) < 0.5, 0, 3)[:, None] + rng.normal(size=(900, 2)))
    >>> mf.find_transition_regions(result.data, result.memberships, result.cores)
    TransitionRegions(1 of ... transition frames: 0-1)
    """

    pairs: np.ndarray
    sizes: np.ndarray
    fractions: np.ndarray
    mixing: np.ndarray
    transitions: np.ndarray | None
    frames: tuple[np.ndarray, ...]
    threshold: float
    others: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int64))

    def __post_init__(self) -> None:
        types = {"fractions": np.float64, "mixing": np.float64}
        counted = () if self.transitions is None else ("transitions",)
        for name in ("pairs", "sizes", "fractions", "mixing", "others", *counted):
            array = np.asarray(getattr(self, name), types.get(name, np.int64))
            object.__setattr__(self, name, read_only(array))
        object.__setattr__(self, "pairs", self.pairs.reshape(-1, 2))
        frames = tuple(read_only(np.asarray(each, np.int64)) for each in self.frames)
        object.__setattr__(self, "frames", frames)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{a}-{b}" for a, b in self.pairs)
        return f"TransitionRegions({len(self)} of {self.sizes.sum():,} transition frames: {pairs or 'none'})"

    def table(self) -> str:
        """Return a table of the transition regions, with the transitions outside them below."""
        lines = [f"{'states':>7}  {'transition frames':>17}  {'fraction':>8}  {'mixing':>7}"]
        for (a, b), size, share, mixing in zip(
            self.pairs, self.sizes, self.fractions, self.mixing, strict=True
        ):
            lines.append(f"{f'{a}-{b}':>7}  {size:>17,}  {share:>8.3%}  {mixing:>7.2f}")
        if self.transitions is not None:
            counts = ["transitions", *(f"{moves:>11,}" for moves in self.transitions)]
            lines = [f"{line}  {count}" for line, count in zip(lines, counts, strict=True)]
        if len(self.others):
            listed = ", ".join(f"{moves:,} between {a} and {b}" for a, b, moves in self.others)
            lines.append(f"transitions between states without a transition region: {listed}")
        return "\n".join(lines)


def find_transition_regions(
    data: Trajectories,
    memberships: Memberships,
    cores: Cores,
    *,
    threshold: float = 0.5,
    min_frames: int = 3,
) -> TransitionRegions:
    """Find the pairs of states that touch, and the transition frames between them.

    The mixing of a frame is its second-highest membership divided by its highest: 1 half-way between two
    states, 0 in the core of one. A transition frame of two states has its two highest memberships in these
    states, and a mixing of at least `threshold`. Two states touch if they have at least `min_frames`
    transition frames. The regions do not depend on the dynamics. The observed transitions are listed in
    addition, unless frames have weights.

    Parameters
    ----------
    data : Frames or Features
        The clustered data.
    memberships : Memberships
        Of its frames.
    cores : Cores
        The cores of these frames, between which transitions are counted.
    threshold : float
        In (0, 1]. By default 1/2: the odds between the two states are 2 to 1 or closer, so that from such a
        frame neither end can be called the likely one.
    min_frames : int
        One or two frames may be there by chance; the theory page on transition regions has measurements.

    Returns
    -------
    TransitionRegions

    Raises
    ------
    ValueError
        If `cores` and `memberships` have different numbers of states, or are not of the frames of `data`.

    See Also
    --------
    solve_memberships : The memberships that the regions are taken from.
    plots.state_network : Draw states, regions and transitions.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> values = [[1, 0, 0], [0.6, 0.4, 0], [0, 1, 0], [0, 0.45, 0.55], [0, 0, 1.0]]
    >>> data = mf.Features(np.arange(5.0)[:, None])
    >>> memberships = mf.Memberships(
    ...     values=values, lost=np.zeros(5), beta=2.0, log_weights=np.zeros(5), exponent=1.0
    ... )
    >>> cores = mf.Cores([0, 0, 1, 2, 2], [0, -1, 1, -1, 2], [0, 2, 4], [np.inf, 1.0, 1.0])
    >>> print(mf.find_transition_regions(data, memberships, cores, min_frames=1).table())
     states  transition frames  fraction  mixing  transitions
        0-1                  1  20.000%     0.67            1
        1-2                  1  20.000%     0.82            1
    """
    check_memberships(data, memberships)
    check_cores(data, cores)
    states = memberships.values.shape[1]
    if len(cores) != states:
        raise InputValueError(f"`cores` must have the states of `memberships`, {states}; got {len(cores)}.")
    threshold = check_real("threshold", threshold, above=0, at_most=1)
    min_frames = check_int("min_frames", min_frames, 1)
    between, pair_of, mixing = _transition_frames(memberships.values, threshold)
    ranked = np.argsort(-mixing, kind="stable")
    between, pair_of, mixing = between[ranked], pair_of[ranked], mixing[ranked]
    pairs, which, sizes = np.unique(pair_of, axis=0, return_inverse=True, return_counts=True)
    # The larger transition region first; frames keep their order by mixing.
    weights = np.ones(len(data)) if data.weights is None else data.weights
    held = np.bincount(which.ravel(), weights[between], minlength=len(sizes))
    order = [each for each in np.argsort(-held, kind="stable") if sizes[each] >= min_frames]
    rows = [np.flatnonzero(which.ravel() == each) for each in order]
    frames = tuple(between[each] for each in rows)
    pairs, sizes = pairs[order].reshape(-1, 2), sizes[order]
    transitions, others = None, np.zeros((0, 3), np.int64)
    if data.weights is None:
        touched = bool(np.any(cores.core_of >= 0))
        counts = transition_counts(data, cores) if touched else np.zeros((states, states), np.int64)
        moves = np.triu(counts + counts.T)
        transitions = moves[tuple(pairs.T)]
        moves[tuple(pairs.T)] = 0
        others = np.column_stack([*np.nonzero(moves), moves[moves > 0]])
    return TransitionRegions(
        pairs=pairs,
        sizes=sizes,
        fractions=held[order] / weights.sum(),
        mixing=np.array([mixing[each].mean() for each in rows]),
        transitions=transitions,
        frames=frames,
        threshold=threshold,
        others=others[np.argsort(-others[:, 2], kind="stable")],
    )


def _transition_frames(values: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the frames whose mixing is at least `threshold`, their two states, ascending, and the mixing."""
    parts = []
    for start in range(0, len(values), _STRETCH):  # to spare memory
        first, second, mixing = two_highest(values[start : start + _STRETCH])
        here = np.flatnonzero(mixing >= threshold)
        pairs = np.sort(np.column_stack([first, second])[here], axis=1)
        parts.append((here + start, pairs, mixing[here]))
    frames, pairs, mixing = (np.concatenate(each) for each in zip(*parts, strict=True))
    return frames, pairs, mixing


def two_highest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the states of the highest and the second-highest membership of every frame, and the mixing.

    Examples
    --------
    >>> first, second, mixing = two_highest(np.array([[0.5, 0.1, 0.4]]))
    >>> first, second, mixing
    (array([0]), array([2]), array([0.8]))
    """
    if values.shape[1] == 1:
        values = np.column_stack([values, np.zeros(len(values))])  # for a single state
    order = np.argsort(-values, axis=1, kind="stable")[:, :2]
    highest, next_highest = np.take_along_axis(values, order, axis=1).T
    mixing = np.divide(next_highest, highest, out=np.zeros(len(values)), where=highest > 0)
    return order[:, 0], order[:, 1], mixing

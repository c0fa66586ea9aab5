"""Interfaces: which pairs of states touch, and which frames are the transitions between them."""

from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import check_int, check_real, read_only
from mdfuzzy.cores import Cores
from mdfuzzy.features import Features
from mdfuzzy.frames import Frames
from mdfuzzy.kinetics.dtrajs import check_memberships, transition_counts
from mdfuzzy.memberships import Memberships


@dataclass(frozen=True, eq=False, repr=False)
class Interfaces:
    """The pairs of states that touch, the largest interface first.

    Attributes
    ----------
    pairs : (m, 2) int64
        The two states of each interface, the smaller number first.
    sizes : (m,) int64
        The number of transition frames.
    populations : (m,) float64
        Their share of all frames.
    balance : (m,) float64
        Their mean balance.
    transitions : (m,) int64
        How often the trajectories really went from the core of one to the core of the other, in either
        direction, with no other core between.
    frames : tuple of (sizes_i,) int64
        The transition frames of each, the most balanced first.
    threshold : float
        The smallest balance of a transition frame.

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> rng = np.random.default_rng(0)
    >>> result = mf.cluster(np.where(rng.random(900) < 0.5, 0, 3)[:, None] + rng.normal(size=(900, 2)))
    >>> mf.find_interfaces(result.data, result.memberships, result.cores)
    Interfaces(1 of ... transition frames: 0-1)
    """

    pairs: np.ndarray
    sizes: np.ndarray
    populations: np.ndarray
    balance: np.ndarray
    transitions: np.ndarray
    frames: tuple[np.ndarray, ...]
    threshold: float

    def __post_init__(self) -> None:
        types = {"populations": np.float64, "balance": np.float64}
        for name in ("pairs", "sizes", "populations", "balance", "transitions"):
            array = np.asarray(getattr(self, name), types.get(name, np.int64))
            object.__setattr__(self, name, read_only(array))
        object.__setattr__(self, "pairs", self.pairs.reshape(-1, 2))
        frames = tuple(read_only(np.asarray(each, np.int64)) for each in self.frames)
        object.__setattr__(self, "frames", frames)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{a}-{b}" for a, b in self.pairs)
        return f"Interfaces({len(self)} of {self.sizes.sum():,} transition frames: {pairs or 'none'})"

    def table(self) -> str:
        """Return the interfaces as a text, one per line."""
        lines = [f"{'states':>7}  {'frames':>8}  {'share':>7}  {'balance':>7}  transitions"]
        for (a, b), size, share, balance, moves in zip(
            self.pairs, self.sizes, self.populations, self.balance, self.transitions, strict=True
        ):
            lines.append(f"{f'{a}-{b}':>7}  {size:>8,}  {share:>7.2%}  {balance:>7.2f}  {moves:>11,}")
        return "\n".join(lines)


def find_interfaces(
    data: Frames | Features,
    memberships: Memberships,
    cores: Cores,
    *,
    threshold: float = 0.5,
    min_frames: int = 10,
) -> Interfaces:
    """Find the pairs of states that touch and the transition frames between them.

    The balance of a frame is its second-highest membership divided by its highest: 1 half-way between two
    states, 0 in the core of one.

    Parameters
    ----------
    data : Frames or Features
        What was clustered.
    memberships : Memberships
        Of its frames.
    cores : Cores
        Of its frames.
    threshold : float
        The smallest balance of a transition frame, in (0, 1].
    min_frames : int
        Fewer transition frames are no interface.

    Returns
    -------
    Interfaces

    Examples
    --------
    >>> import numpy as np, mdfuzzy as mf
    >>> values = [[1, 0, 0], [0.6, 0.4, 0], [0, 1, 0], [0, 0.45, 0.55], [0, 0, 1.0]]
    >>> data = mf.Features(np.arange(5.0)[:, None])
    >>> memberships = mf.Memberships(values, np.zeros(5), 2.0, np.zeros(5), 1.0)
    >>> cores = mf.Cores([0, 0, 1, 2, 2], [0, -1, 1, -1, 2], [0, 2, 4], [np.inf, 1.0, 1.0])
    >>> print(mf.find_interfaces(data, memberships, cores, min_frames=1).table())
     states    frames    share  balance  transitions
        1-2         1   20.00%     0.82            1
        0-1         1   20.00%     0.67            1
    """
    check_memberships(data, memberships)
    counts = transition_counts(data, cores)
    threshold = check_real("threshold", threshold, above=0, at_most=1)
    min_frames = check_int("min_frames", min_frames, 1)
    states = memberships.values.shape[1]
    found = []
    if states > 1:
        first, second, balance = two_highest(memberships.values)
        a, b = np.minimum(first, second), np.maximum(first, second)
        between = np.flatnonzero(balance >= threshold)
        between = between[np.argsort(-balance[between], kind="stable")]
        code = (a * states + b)[between]
        for pair in np.unique(code):
            frames = between[code == pair]
            if len(frames) >= min_frames:
                found.append((*divmod(int(pair), states), frames, float(balance[frames].mean())))
    found.sort(key=lambda each: (-len(each[2]), -each[3]))
    pairs = np.array([each[:2] for each in found], np.int64).reshape(-1, 2)
    sizes = np.array([len(each[2]) for each in found], np.int64)
    return Interfaces(
        pairs,
        sizes,
        sizes / len(data),
        np.array([each[3] for each in found]),
        (counts + counts.T)[pairs[:, 0], pairs[:, 1]],
        tuple(each[2] for each in found),
        threshold,
    )


def two_highest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the states of the highest and the second-highest membership of every frame, and the balance.

    Examples
    --------
    >>> first, second, balance = two_highest(np.array([[0.5, 0.1, 0.4]]))
    >>> first, second, balance
    (array([0]), array([2]), array([0.8]))
    """
    order = np.argsort(-values, axis=1, kind="stable")[:, :2]
    highest, next_highest = np.take_along_axis(values, order, axis=1).T
    balance = np.divide(next_highest, highest, out=np.zeros(len(values)), where=highest > 0)
    return order[:, 0], order[:, 1], balance

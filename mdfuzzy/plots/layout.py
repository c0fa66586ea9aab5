"""The layout of a network of states: its links, the places of the states, and the places of the labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mdfuzzy._check import InputValueError
from mdfuzzy.kinetics.transition_regions import TransitionRegions
from mdfuzzy.plots.places import push_apart

#: The least distance of two states, in units of the mean length of a link.
_CLOSEST = 0.75
#: The additional length of a link with ten times fewer transitions, in units of the shortest link.
_LONGER = 0.5
#: Where a label may be on its line, from one end (0) to the other, the best place first.
_ON_LINE = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)


@dataclass(frozen=True)
class Link:
    """Two states, the number of frames between them, and the number of transitions, if known."""

    pair: tuple[int, int]
    size: int
    transitions: int | None


def list_links(transition_regions: TransitionRegions) -> list[Link]:
    """List the transition regions, and then the pairs of states with transitions but no transition region."""
    pairs, moves = transition_regions.pairs.tolist(), transition_regions.transitions
    counts = [None] * len(pairs) if moves is None else moves.tolist()
    rows = zip(pairs, transition_regions.sizes.tolist(), counts, strict=True)
    links = [Link((a, b), size, times) for (a, b), size, times in rows]
    return links + [Link((a, b), 0, times) for a, b, times in transition_regions.others.tolist()]


def ends_of(links: Sequence[Link]) -> np.ndarray:
    """Return the two states of each link, (L, 2) int64."""
    return np.array([link.pair for link in links], dtype=np.int64).reshape(-1, 2)


def link_lengths(links: Sequence[Link]) -> np.ndarray:
    """Return the length of each link, (L,): 1 for the most transitions, more for fewer; 1 if unknown.

    Examples
    --------
    >>> link_lengths([Link((0, 1), 9, 1000), Link((1, 2), 9, 10), Link((0, 2), 9, 0)]).tolist()
    [1.0, 2.0, 2.5]
    """
    counts = np.array([link.transitions or 0 for link in links], dtype=np.float64)
    if any(link.transitions is None for link in links) or not counts.any():
        return np.ones(len(links))
    return 1 + _LONGER * np.log10(counts.max() / np.maximum(counts, 1))


def layout_states(n_states: int, links: Sequence[Link]) -> np.ndarray:
    """Place the states so that their distances follow the lengths of the links between them, (K, 2).

    The sum of squared relative errors of all distances is minimised, beginning with states on a circle
    (Kamada and Kawai). The two nearest states are 1 apart.

    Examples
    --------
    >>> chain = [Link((0, 1), 9, None), Link((1, 2), 9, None)]
    >>> np.abs(layout_states(3, chain)).round(2).tolist()  # state 1 in the middle
    [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    angles = 2 * np.pi * np.arange(n_states) / n_states
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if n_states < 3:
        return spread(circle[:, [0, 1]])
    pairs = ends_of(links)
    ends = tuple(pairs.astype(np.int32).T)  # the paths of SciPy 1.14 know no other type
    graph = csr_array((link_lengths(links), ends), shape=(n_states, n_states))
    steps = shortest_path(graph, directed=False)
    apart = np.isinf(steps)
    steps[apart] = steps[~apart].max() + 1
    i, j = np.triu_indices(n_states, 1)

    def stress(flat: np.ndarray) -> tuple[float, np.ndarray]:
        places = flat.reshape(-1, 2)
        difference = places[i] - places[j]
        length = np.maximum(np.linalg.norm(difference, axis=1), 1e-9)
        error = length / steps[i, j] - 1
        slope = (2 * error / (steps[i, j] * length))[:, None] * difference
        gradient = np.zeros_like(places)
        np.add.at(gradient, i, slope)
        np.add.at(gradient, j, -slope)
        return float(np.sum(error**2)), gradient.ravel()

    # A bend of a straight chain changes the stress only in fourth order, so iterate until nothing is gained.
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 1000}
    start = steps.max() / 2 * circle.ravel()
    found = minimize(stress, start, jac=True, method="L-BFGS-B", options=options)
    places = found.x.reshape(-1, 2)
    places -= places.mean(axis=0)
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    axes *= np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    places = places @ axes.T  # the longer side of the network lies flat
    drawn = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    return spread(push_apart(places, _CLOSEST * (drawn.mean() if len(drawn) else 1.0)))


def spread(places: np.ndarray) -> np.ndarray:
    """Scale places so that the two nearest are 1 apart: circles do not overlap."""
    if len(places) < 2:
        return places - places.mean(axis=0)
    i, j = np.triu_indices(len(places), 1)
    nearest = np.linalg.norm(places[i] - places[j], axis=1).min()
    if nearest == 0:
        raise InputValueError("`positions` must be different for every state; got two that are the same.")
    return places / nearest


def label_places(
    ends: np.ndarray, widths: np.ndarray, height: float, circles: np.ndarray, radii: np.ndarray
) -> np.ndarray:
    """Return the centres of labels on lines, (L, 2); NaN for a label that would cover a circle or another.

    Parameters
    ----------
    ends : (L, 2, 2)
        The two ends of each line. Earlier lines choose their places first.
    widths : (L,)
        The widths of the labels; a label of width 0 is left out.
    height : float
        The height of every label.
    circles, radii : (K, 2), (K,)
        The centres and the radii of the circles to keep free.

    Examples
    --------
    >>> lines = np.array([[[0.0, 0], [8, 0]], [[4, -4], [4, 4]]])  # they cross in the middle
    >>> label_places(lines, np.full(2, 2.0), 1.0, np.empty((0, 2)), np.empty(0)).round(2).tolist()
    [[4.0, 0.0], [4.0, 1.28]]
    """
    found = np.full((len(ends), 2), np.nan)
    for line, ((start, end), width) in enumerate(zip(ends, widths, strict=True)):
        half = np.array([width, height]) / 2
        for at in _ON_LINE if width else ():
            middle = end + at * (start - end)
            outside = np.maximum(np.abs(circles - middle) - half, 0)
            apart = np.abs(found[:line] - middle)
            reach = np.column_stack([(widths[:line] + width) / 2, np.full(line, height)])
            covered = np.all(apart < reach, axis=1)  # False for labels that were left out
            if np.all(np.hypot(*outside.T) >= radii) and not covered.any():
                found[line] = middle
                break
    return found

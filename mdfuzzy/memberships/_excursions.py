"""The walk between basins as a chain of excursions, and the labels that it predicts."""

import numpy as np

from mdfuzzy.memberships._growing_core import GrowingCore

_LARGEST_ODDS = 60.0  # the logarithm of odds that count as infinite
_RESOLUTION = 0.02  # of the logarithm of a factor of the odds


class Excursions:
    """The walk between the basins: a chain of the steps across the borders.

    Its nodes are pairs of adjacent states: a step into the first from the second. From each node the walk
    reaches the core of the first state, or takes a step into another basin.
    """

    def __init__(self, growing: dict[int, GrowingCore]) -> None:
        self.growing = growing
        self.column = {state: place for place, state in enumerate(growing)}
        self.node: dict[tuple[int, int], int] = {}
        for state, core in growing.items():
            for other in core.adjacent.tolist():
                self.node[state, other] = len(self.node)

    def outside(self, state: int) -> np.ndarray:
        """Return what follows a step out of a state to each adjacent one, (a, S + a).

        The walk either reaches the core of one of the S states, or returns to the state from one of the a
        adjacent states. None of this depends on the core of the state itself.
        """
        n, n_states = len(self.node), len(self.growing)
        steps, ends = np.zeros((n, n)), np.zeros((n, n_states))
        for each, core in self.growing.items():
            rows, columns = self._into(each), self._out_of(each)
            ends[rows, self.column[each]] = core.entries[:, 0]
            steps[rows[:, None], columns] = core.entries[:, 1:]
        inside = self._into(state)
        others = np.delete(np.arange(n), inside)
        elsewhere = np.eye(len(others)) - steps[others[:, None], others]
        followed = np.linalg.solve(elsewhere, np.hstack([ends[others], steps[others[:, None], inside]]))
        return followed[np.searchsorted(others, self._out_of(state))]

    def _into(self, state: int) -> np.ndarray:
        """Return the nodes of the steps into a state, by the adjacent states of origin, (a,)."""
        return np.array([self.node[state, each] for each in self.growing[state].adjacent.tolist()])

    def _out_of(self, state: int) -> np.ndarray:
        """Return the nodes of the steps out of a state, by the adjacent states, (a,)."""
        return np.array([self.node[each, state] for each in self.growing[state].adjacent.tolist()])

    def kept(self, state: int, outside: np.ndarray, factor: float = 1.0) -> float:
        """Return the predicted share of a basin whose largest membership is in its state.

        The odds of reaching its core are multiplied by `factor`.
        """
        core, own = self.growing[state], self.column[state]
        n_states = len(self.growing)
        entries, ends = with_odds(core.entries, factor), with_odds(core.shown, factor)
        reached, returned = outside[:, :n_states], outside[:, n_states:]
        absorbed = entries[:, 1:] @ reached
        absorbed[:, own] += entries[:, 0]
        # From a step into the basin: an end in a core, or further excursions that return.
        entered = np.linalg.solve(np.eye(len(entries)) - entries[:, 1:] @ returned, absorbed)
        values = ends[:, 1:] @ (reached + returned @ entered)
        values[:, own] += ends[:, 0]
        return float(np.average(values.argmax(axis=1) == own, weights=core.weights))

    def needed(self, state: int, outside: np.ndarray, agreement: float) -> float:
        """Return the factor by which the odds of reaching the core of a state are too small."""
        low, high = 0.0, np.log(2.0)
        while high < _LARGEST_ODDS and self.kept(state, outside, np.exp(high)) < agreement:
            low, high = high, 2 * high
        while high - low > _RESOLUTION:
            middle = 0.5 * (low + high)
            enough = self.kept(state, outside, np.exp(middle)) >= agreement
            low, high = (low, middle) if enough else (middle, high)
        return float(np.exp(high))


def with_odds(ends: np.ndarray, factor: float) -> np.ndarray:
    """Return probabilities with the odds of the first column multiplied by a factor."""
    if factor == 1.0:
        return ends
    changed = np.array(ends)
    changed[:, 0] *= factor
    return changed / changed.sum(axis=1, keepdims=True)
